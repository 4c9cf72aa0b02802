"""The base of all our models: what pydantic builds of a model is built when it is first used."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class DeferredModel(BaseModel):
    """A model whose schema, validator and serializer are built by the first thread that needs them.

    Built at import, those of all models were a sixth of the import of `function_app`, and a request
    needs few of them.
    """

    model_config = ConfigDict(defer_build=True)

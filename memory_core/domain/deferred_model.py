"""The base of all models, whose validators are built when first used."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class DeferredModel(BaseModel):
    """A model whose schema, validator and serializer are built when first needed.

    The first thread that needs them builds them. Built at import, those of all models took a sixth
    of the import of `function_app`, and a request needs few of them.
    """

    model_config = ConfigDict(defer_build=True)

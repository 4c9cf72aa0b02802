"""A pydantic model as the JSON schema that structured outputs take.

They want every field required and no field beside, and the services differ in what they allow further: llama.cpp needs every text and
list bounded, or it writes without end; Azure refuses bounds. So there are both forms.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pydantic import BaseModel

_BOUNDS = frozenset({"minLength", "maxLength", "format", "minItems", "maxItems", "minimum", "maximum"})
_NOT_FOR_MODELS = frozenset({"title", "description", "default", "$defs"})


@lru_cache(maxsize=32)
def strict_schema(model: type[BaseModel], *, bounded: bool) -> dict[str, Any]:
    """The schema of `model` without references, titles and defaults; every object closed, every field required.

    bounded: with the limits of texts, lists and numbers.
    """
    schema = model.model_json_schema()
    strict: dict[str, Any] = _strict(schema, schema.get("$defs", {}), bounded)
    return strict


def _strict(node: Any, named: dict[str, Any], bounded: bool) -> Any:
    if "$ref" in node:
        return _strict(named[node["$ref"].rsplit("/", 1)[-1]], named, bounded)
    strict = {name: value for name, value in node.items() if name not in _NOT_FOR_MODELS and (bounded or name not in _BOUNDS)}
    if "properties" in strict:
        strict["properties"] = {name: _strict(value, named, bounded) for name, value in strict["properties"].items()}
        strict["required"] = list(strict["properties"])
        strict["additionalProperties"] = False
    if "items" in strict:
        strict["items"] = _strict(strict["items"], named, bounded)
    if "anyOf" in strict:
        strict["anyOf"] = [_strict(branch, named, bounded) for branch in strict["anyOf"]]
    return strict

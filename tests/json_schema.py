"""As much of JSON Schema as the OpenAPI document of this project uses: whether a value is one that
a schema describes.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

_KINDS: dict[str, Any] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}
_NOTES = {"title", "description", "default", "examples", "readOnly", "then"}


def fits(value: Any, schema: dict[str, Any], document: dict[str, Any]) -> bool:
    """Whether the schema describes the value. Raises KeyError for a keyword that is
    not known here.
    """

    def inside(part: Any, of: dict[str, Any]) -> bool:
        return fits(part, of, document)

    checks: dict[str, Any] = {
        "$ref": lambda name: inside(value, _at(document, name)),
        "type": lambda kind: any(
            _KINDS[name](value) for name in ([kind] if isinstance(kind, str) else kind)
        ),
        "enum": lambda values: value in values,
        "const": lambda constant: value == constant,
        "anyOf": lambda branches: any(inside(value, branch) for branch in branches),
        "oneOf": lambda branches: sum(inside(value, branch) for branch in branches) == 1,
        "allOf": lambda branches: all(inside(value, branch) for branch in branches),
        "not": lambda branch: not inside(value, branch),
        "if": lambda branch: not inside(value, branch) or inside(value, schema["then"]),
        "minLength": lambda least: not isinstance(value, str) or len(value) >= least,
        "maxLength": lambda most: not isinstance(value, str) or len(value) <= most,
        "pattern": lambda pattern: (
            not isinstance(value, str) or re.search(pattern, value) is not None
        ),
        "format": lambda name: (
            not isinstance(value, str) or name != "date-time" or _is_moment(value)
        ),
        "minimum": lambda least: not _KINDS["number"](value) or value >= least,
        "maximum": lambda most: not _KINDS["number"](value) or value <= most,
        "minItems": lambda least: not isinstance(value, list) or len(value) >= least,
        "maxItems": lambda most: not isinstance(value, list) or len(value) <= most,
        "items": lambda item: (
            not isinstance(value, list) or all(inside(part, item) for part in value)
        ),
        "required": lambda names: not isinstance(value, dict) or set(names) <= value.keys(),
        "properties": lambda known: (
            not isinstance(value, dict)
            or all(inside(value[name], known[name]) for name in known.keys() & value.keys())
        ),
        "minProperties": lambda least: not isinstance(value, dict) or len(value) >= least,
        "maxProperties": lambda most: not isinstance(value, dict) or len(value) <= most,
        "propertyNames": lambda names: (
            not isinstance(value, dict) or all(inside(name, names) for name in value)
        ),
        "additionalProperties": lambda others: (
            not isinstance(value, dict) or _others(value, schema, others, document)
        ),
    }
    return all(
        checks[keyword](argument) for keyword, argument in schema.items() if keyword not in _NOTES
    )


def _others(
    value: dict[str, Any],
    schema: dict[str, Any],
    allowed: bool | dict[str, Any],
    document: dict[str, Any],
) -> bool:
    others = value.keys() - schema.get("properties", {}).keys()
    return (
        not others
        if allowed is False
        else allowed is True or all(fits(value[name], allowed, document) for name in others)
    )


def _is_moment(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _at(document: dict[str, Any], reference: str) -> dict[str, Any]:
    place: Any = document
    for part in reference.removeprefix("#/").split("/"):
        place = place[part]
    schema: dict[str, Any] = place
    return schema

"""Filters on the metadata of memories: equal values, or ranges of values.

A field is named by a dotted path into the metadata's objects. A dot within a name has a backslash
before it. Values of two types are never equal, and never in the same range. Null means that the
field is null or missing. Stores evaluate the conditions in their own way; `matches` gives the same
answer for a memory.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, get_args

import orjson
from pydantic import GetJsonSchemaHandler, PlainSerializer, PlainValidator, ValidationInfo
from pydantic_core import CoreSchema

Operator = Literal["eq", "ne", "gt", "gte", "lt", "lte", "in"]
Scalar = str | int | float | bool | None
MOST_CONDITIONS: Final = 20
MOST_CHOICES: Final = 50
MOST_CHARACTERS: Final = 500
"""Characters of a text that is compared."""
PATH_PATTERN: Final = r"^([A-Za-z0-9_-]|\\\.){1,64}(\.([A-Za-z0-9_-]|\\\.){1,64}){0,7}$"
"""Pattern of paths whose names need no escapes between quotes.

They are part of a query's text where a store can't take them as parameters.
"""
_PATH: Final = re.compile(r"(?:[A-Za-z0-9_-]|\\\.){1,64}(?:\.(?:[A-Za-z0-9_-]|\\\.){1,64}){0,7}")
_STEP: Final = re.compile(r"(?<!\\)\.")
_RANGES: Final = frozenset({"gt", "gte", "lt", "lte"})


@dataclass(frozen=True, slots=True)
class MetadataCondition:
    """A condition on a field of the metadata.

    `value` is a scalar, and a tuple of scalars for the operator `in`.
    """

    path: tuple[str, ...]
    operator: Operator
    value: Any

    @property
    def choices(self) -> tuple[Scalar, ...]:
        """The values that the operator `in` allows."""
        return self.value if isinstance(self.value, tuple) else (self.value,)


Conditions = tuple[MetadataCondition, ...]


def matches(conditions: Conditions, metadata: Mapping[str, Any]) -> bool:
    """Whether metadata meets all the conditions.

    Args:
        conditions: The conditions.
        metadata: A memory's metadata.

    """
    return all(_meets(condition, _value_at(metadata, condition.path)) for condition in conditions)


def kind_of(value: Any) -> str:
    """The JSON type of a value: null, boolean, number, text, or other.

    Lists and objects are "other".
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return "text" if isinstance(value, str) else "other"


def _value_at(metadata: Mapping[str, Any], path: Sequence[str]) -> Any:
    value: Any = metadata
    for name in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value


def _meets(condition: MetadataCondition, value: Any) -> bool:
    match condition.operator:
        case "eq" | "in":
            return any(_is_equal(value, choice) for choice in condition.choices)
        case "ne":
            return not _is_equal(value, condition.value)
    if kind_of(value) != kind_of(condition.value):
        return False
    match condition.operator:
        case "gt":
            return bool(value > condition.value)
        case "gte":
            return bool(value >= condition.value)
        case "lt":
            return bool(value < condition.value)
        case _:
            return bool(value <= condition.value)


def _is_equal(value: Any, other: Scalar) -> bool:
    return kind_of(value) == kind_of(other) and bool(value == other)


def _read(given: Any, info: ValidationInfo) -> Conditions:
    if isinstance(given, str) and info.mode == "json":
        raise ValueError("should be an object")
    return read_conditions(given)


def read_conditions(given: Any) -> Conditions:
    """Read the conditions of a request. Raises ValueError.

    They are `{"path.to.field": value}` or `{"path.to.field": {"gte": 3, "lt": 9}}`. A text is read
    as JSON, since a query string holds only text.
    """
    if isinstance(given, tuple):
        return given
    if isinstance(given, str):
        try:
            given = orjson.loads(given)
        except orjson.JSONDecodeError:
            raise ValueError("should be a JSON object") from None
    if not isinstance(given, Mapping):
        raise ValueError("should be an object")
    conditions = tuple(
        condition for name, wanted in given.items() for condition in _of_field(name, wanted)
    )
    if len(conditions) > MOST_CONDITIONS:
        raise ValueError(f"may have at most {MOST_CONDITIONS} conditions")
    return conditions


def _of_field(name: Any, wanted: Any) -> list[MetadataCondition]:
    if not isinstance(name, str) or not _PATH.fullmatch(name):
        raise ValueError(
            "names a field by other characters than letters, digits, _ and - (\\. for a dot), with "
            "dots between, in at most 8 steps"
        )
    path = tuple(step.replace("\\.", ".") for step in _STEP.split(name))
    if not isinstance(wanted, Mapping):
        return [MetadataCondition(path, "eq", _scalar(name, wanted))]
    if not wanted:
        raise ValueError(f"{name}: says nothing of the field")
    return [_of_operator(name, path, operator, value) for operator, value in wanted.items()]


def _of_operator(name: str, path: tuple[str, ...], operator: Any, value: Any) -> MetadataCondition:
    if operator not in get_args(Operator):
        raise ValueError(f"{name}: knows the comparisons {', '.join(get_args(Operator))}")
    if operator == "in":
        if (
            not isinstance(value, Sequence)
            or isinstance(value, str)
            or not 0 < len(value) <= MOST_CHOICES
        ):
            raise ValueError(f"{name}: in needs a list of 1 to {MOST_CHOICES} values")
        return MetadataCondition(path, operator, tuple(_scalar(name, choice) for choice in value))
    if operator in _RANGES and kind_of(value) not in ("number", "text"):
        raise ValueError(f"{name}: {operator} needs a number or a text")
    return MetadataCondition(path, operator, _scalar(name, value))


def _scalar(name: str, value: Any) -> Scalar:
    kind = kind_of(value)
    if kind == "other":
        raise ValueError(f"{name}: is compared with a text, a number, true, false or null")
    if kind == "text" and (len(value) > MOST_CHARACTERS or "\x00" in value):
        raise ValueError(
            f"{name}: is compared with a text of at most {MOST_CHARACTERS} characters, without NUL"
        )
    if kind == "text":
        _check_unicode(name, value)
    if kind == "number" and not abs(value) <= 2**53:  # NaN, too
        raise ValueError(f"{name}: is compared with a finite number within 2^53")
    result: Scalar = value
    return result


def _check_unicode(name: str, value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name}: is compared with valid Unicode text") from None


def _named(path: Sequence[str]) -> str:
    """A path as callers write it."""
    return ".".join(step.replace(".", "\\.") for step in path)


class _Documented:
    """Gives the field its JSON schema."""

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        text = {"type": "string", "maxLength": MOST_CHARACTERS, "pattern": r"^[^\u0000]*$"}
        number = {"type": "number", "minimum": -(2**53), "maximum": 2**53}
        scalar = {"anyOf": [text, number, {"type": "boolean"}, {"type": "null"}]}
        bound = {"anyOf": [text, number]}
        choices = {"type": "array", "items": scalar, "minItems": 1, "maxItems": MOST_CHOICES}
        compared = {
            "eq": scalar,
            "ne": scalar,
            **dict.fromkeys(sorted(_RANGES), bound),
            "in": choices,
        }
        ranges = {
            "type": "object",
            "properties": compared,
            "additionalProperties": False,
            "minProperties": 1,
        }
        return {
            "type": "object",
            "propertyNames": {"pattern": PATH_PATTERN},
            "additionalProperties": {"anyOf": [scalar, ranges]},
            "maxProperties": MOST_CONDITIONS,
            "description": (
                "Conditions on metadata by dotted paths (\\. for a dot within a name): a value, or "
                'like {"gte": 3, "lt": 9}'
            ),
        }


MetadataFilter = Annotated[
    Conditions,
    PlainValidator(_read),
    PlainSerializer(
        lambda conditions: [
            [_named(condition.path), condition.operator, condition.value]
            for condition in conditions
        ]
    ),
    _Documented(),
]
"""Conditions on metadata as callers give them."""

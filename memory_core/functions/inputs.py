"""From JSON fields and query strings to the checked inputs of `domain.requests`, and from pydantic's errors to named fields.

JSON is checked strictly ("5" is no number, 1 is no truth value); a query string has only text, so there it is not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import parse_qsl, urlsplit

import orjson
from pydantic import BaseModel, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from memory_core.domain.errors import FieldError, Invalid, Malformed
from memory_core.domain.fields import Fraction, Input, Limit, Name, Text
from memory_core.domain.moments import Moment

Model = TypeVar("Model", bound=BaseModel)
MAX_ERRORS = 50
MAX_FIELD_CHARACTERS = 200
_OF_A_FIELD = re.compile(r"\A([A-Za-z_][\w.]*): (.+)", re.DOTALL)


class Nothing(Input):
    """A call that takes nothing but its scope."""


class GetInput(Input):
    """Which moment of a memory to read, and whether with its vector."""

    at: Moment | None = None
    known_at: Moment | None = None
    include: Literal["embedding"] | None = None

    @model_validator(mode="after")
    def _vectors_are_not_in_the_log(self) -> GetInput:
        if self.known_at is not None and self.include is not None:
            raise ValueError("include: no embedding is in the log, which known_at is told from")
        return self


class EvolutionInput(Input):
    """Which way to follow a memory's evolution."""

    direction: Literal["forward", "backward", "both"] = "forward"


class GraphInput(Input):
    """In which format to draw a memory's evolution."""

    format: Literal["mermaid", "dot", "html"] = "mermaid"


class QueryInput(Input):
    """The short form of a retrieve, for a query string."""

    query: Annotated[Text, Field(min_length=1, max_length=10_000)]
    session_id: Name | None = None
    n_results: Limit | None = None
    similarity_threshold: Fraction | None = None


class SessionsInput(Input):
    """Where to go on listing sessions, and how many at once."""

    cursor: Annotated[str, Field(max_length=1000)] | None = None
    limit: Limit = 20


class BulkInput(Input):
    """Up to 100 memories. Each is checked on its own, so that one bad item does not refuse the others."""

    memories: Annotated[list[Any], Field(min_length=1, max_length=100)]


def from_json(model: type[Model], fields: Mapping[str, Any], prefix: str = "", *, now: datetime | None = None) -> Model:
    """`fields` as `model`. Raises Invalid naming each refused field; `prefix` ("memories.3.") stands before its name.

    now: nothing is said to have happened long after it.
    """
    try:
        return model.model_validate_json(orjson.dumps(fields), strict=True, context={"now": now})
    except ValidationError as error:
        raise _refusal(error, fields, prefix) from None


def from_query(model: type[Model], fields: Mapping[str, str]) -> Model:
    """`fields` of a query string as `model`. Raises Invalid naming each refused field."""
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        raise _refusal(error, fields, "") from None


def query_fields(url: str) -> dict[str, str]:
    """The query string of `url`, read from the URL itself: a host's parsed form hides that a name came twice.

    Raises Malformed (no UTF-8, over 50 fields) or Invalid (a name twice).
    """
    text = urlsplit(url).query
    if not text:
        return {}
    try:
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=50)
    except ValueError as error:
        raise Malformed(f"The query string can't be read: {error}", errors=(FieldError("query string", str(error)),)) from None
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        doubles = sorted({name for name in names if names.count(name) > 1})
        raise invalid(*(FieldError(name[:MAX_FIELD_CHARACTERS], "is given more than once") for name in doubles))
    return fields


def invalid(*errors: FieldError) -> Invalid:
    """The refusal of these fields; `detail` reads them out."""
    return Invalid("; ".join(f"{error.field}: {error.message}" for error in errors[:5]), errors=errors[:MAX_ERRORS])


def _refusal(error: ValidationError, given: Mapping[str, Any], prefix: str) -> Invalid:
    messages: dict[str, list[str]] = {}
    for one in error.errors(include_url=False)[:MAX_ERRORS]:
        field, message = _named(one, given)
        messages.setdefault(prefix + field, []).append(message)
    # A field of a union type has one error for each of its types.
    return invalid(*(FieldError(field, ", or ".join(dict.fromkeys(texts))) for field, texts in messages.items()))


def _named(error: ErrorDetails, given: Any) -> tuple[str, str]:
    """Field path and message of one pydantic error. Rules across fields say their field in the message ("key: …")."""
    path: list[str] = []
    value = given
    for part in error["loc"]:
        # Past a leaf, the location only names branches of a union type.
        if not isinstance(value, (dict, list)):
            break
        path.append(str(part))
        known = (isinstance(value, dict) and part in value) or (isinstance(value, list) and isinstance(part, int) and part < len(value))
        value = value[part] if known else None  # type: ignore[index]
    message = _words(error)
    if error["type"] == "value_error" and isinstance(value, dict) and (split := _OF_A_FIELD.fullmatch(message)):
        path.append(split[1])
        message = split[2]
    return ".".join(path)[:MAX_FIELD_CHARACTERS] or "body", message


def _words(error: ErrorDetails) -> str:
    match error["type"]:
        case "missing":
            return "is required"
        case "extra_forbidden":
            return "is not a field of this request"
        case "value_error":
            return str(error["ctx"]["error"])
        case "too_short" | "string_too_short" if error["ctx"]["min_length"] == 1:
            return "must not be empty"
        case "too_long" | "string_too_long":
            # Said of a list and of a text alike, in words about its own inner steps.
            return f"may have at most {error['ctx']['max_length']:,} {'entries' if isinstance(error['input'], list) else 'characters'}"
        case _:
            return error["msg"].replace("Input should", "should", 1)

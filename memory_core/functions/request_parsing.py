"""Read a request's body and query, and check its fields.

JSON is checked strictly ("5" is no number, 1 is no truth value). A query string holds only text, so
its values are converted.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar, get_args
from urllib.parse import parse_qsl, urlsplit

import orjson
from pydantic import BaseModel, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from memory_core.domain.errors import (
    FieldError,
    Invalid,
    Malformed,
    MemoryCoreError,
    TooLarge,
    UnsupportedMediaType,
    is_plain_name,
    shown_name,
)
from memory_core.domain.fields import Cursor, Fraction, Input, Limit, Name, Query
from memory_core.domain.requests.memories import ListInput, NamedInput, RetrieveInput, SaveInput
from memory_core.domain.text.timestamps import Timestamp
from memory_core.functions.suggestions import suggest_field, suggest_value
from memory_core.functions.views import Fields, Shape, View, shape_of

Model = TypeVar("Model", bound=BaseModel)
MAX_ERRORS = 50
MAX_FIELD_CHARACTERS = 200
_UNKNOWN = "is not a field of this request"
_QUOTED = re.compile(r"'([^']+)'")
_OF_A_FIELD = re.compile(r"\A([A-Za-z_][\w.]*): (.+)", re.DOTALL)


class Nothing(Input):
    """A call that takes no input but its scope."""


class GetInput(Input):
    """Which moment of a memory to read, and whether with its vector."""

    at: Timestamp | None = None
    known_at: Timestamp | None = None
    include: Literal["embedding"] | None = None

    @model_validator(mode="after")
    def _vectors_are_not_in_the_log(self) -> GetInput:
        if self.known_at is not None and self.include is not None:
            raise ValueError("include: no embedding is in the log, which known_at is told from")
        return self


class EvolutionInput(Input):
    """Direction in which to follow a memory's evolution."""

    direction: Literal["forward", "backward", "both"] = "forward"


class GraphInput(Input):
    """Format of the drawing of a memory's evolution."""

    format: Literal["mermaid", "dot", "html"] = "mermaid"


class SaveViewInput(SaveInput):
    """A memory to save, and how much of it the answer shows."""

    view: View = "brief"


class RetrieveViewInput(RetrieveInput):
    """A query, and how much of its results the answer shows."""

    view: View = "brief"


class ListViewInput(ListInput):
    """Which memories to list, and how much of each.

    The answer shows a view, or the named fields.
    """

    view: View = "brief"
    fields: Fields | None = None

    @property
    def shape(self) -> Shape:
        """How memories are shown."""
        return shape_of(self.view, None if self.fields is None else tuple(self.fields.split(",")))


class FetchInput(NamedInput):
    """Memories by name, and how much of each the answer shows."""

    view: View = "brief"


class QueryInput(Input):
    """The short form of a retrieve, for a query string."""

    query: Query
    session_id: Name | None = None
    n_results: Limit | None = None
    similarity_threshold: Fraction | None = None
    view: View = "brief"


class SessionsInput(Input):
    """Where to go on listing sessions, and how many at once."""

    cursor: Cursor | None = None
    limit: Limit = 20


class SessionMessagesInput(Input):
    """Where to go on reading a session's messages, how many, and from which end."""

    cursor: Cursor | None = None
    limit: Limit = 50
    order: Literal["asc", "desc"] = "asc"


class TakeBackInput(Input):
    """How many of a session's last messages to take back.

    Without a number it is the last turn: the last message in the role user and all after it.
    """

    count: Limit | None = None


class BulkInput(Input):
    """Up to 100 memories.

    Each is checked by itself, so that a bad item does not refuse the other items. With atomic, all
    are saved or none.
    """

    atomic: bool = False
    view: View = "brief"
    memories: Annotated[list[Any], Field(min_length=1, max_length=100)]


def from_json(
    model: type[Model],
    fields: Mapping[str, Any],
    prefix: str = "",
    *,
    now: datetime | None = None,
    also: Collection[str] = (),
) -> Model:
    """Check the fields of a body as an input.

    Args:
        model: The input of the call.
        fields: The fields of the body.
        prefix: Text before the name of a refused field, such as "memories.3.".
        now: Refuse a time long after this moment; None for no check.
        also: Further fields of the call, which its model does not have.

    Raises:
        Invalid: Some fields are refused; the error names each.

    """
    try:
        return model.model_validate_json(orjson.dumps(fields), strict=True, context={"now": now})
    except ValidationError as error:
        raise _refusal(error, model, fields, prefix, also, "body") from None


def from_query(model: type[Model], fields: Mapping[str, str], also: Collection[str] = ()) -> Model:
    """Check the fields of a query string as an input.

    Args:
        model: The input of the call.
        fields: The fields of the query string.
        also: Further fields of the call, which its model does not have.

    Raises:
        Invalid: Some fields are refused; the error names each.

    """
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        raise _refusal(error, model, fields, "", also, "query string") from None


def query_fields(url: str) -> dict[str, str]:
    """Parse the query string of `url`.

    It is read from the URL itself, since a host's parsed form hides that a name came twice. Raises
    Malformed (no UTF-8, over 50 fields) or Invalid (a name twice).
    """
    text = urlsplit(url).query
    if not text:
        return {}
    try:
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=50)
    except ValueError:
        message = "is no UTF-8, or has more than 50 fields"
        raise Malformed(
            f"The query string can't be read: it {message}",
            errors=(FieldError("query string", message),),
        ) from None
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        doubles = sorted({name for name in names if names.count(name) > 1})
        shown_names = dict.fromkeys(
            name if is_plain_name(name) else "query string" for name in doubles
        )
        raise invalid(*(FieldError(name, "is given more than once") for name in shown_names))
    return fields


def invalid(*errors: FieldError) -> Invalid:
    """Build the refusal of these fields; `detail` lists them."""
    return Invalid(
        "; ".join(f"{error.field}: {error.message}" for error in errors[:5]),
        errors=errors[:MAX_ERRORS],
    )


def unknown_field(path: str, name: str, fields: Collection[str], whole: str = "body") -> FieldError:
    """Build the refusal of a field that the call does not know, with a suggestion.

    Args:
        path: Text before its name: "", or "messages.0.".
        name: As the caller wrote it; a name that is no short identifier is not repeated.
        fields: Fields that the call knows at this place.
        whole: Name for the place where it has no path.

    """
    if not is_plain_name(name):
        return FieldError(path.rstrip(".") or whole, "has a field that is not known")
    return _suggesting(FieldError(path + name, _UNKNOWN), suggest_field(name, fields))


def _suggesting(error: FieldError, suggestion: str | None) -> FieldError:
    """The error with a suggestion, if there is one."""
    if suggestion is None:
        return error
    message = f"{error.message}; did you mean {suggestion}?"
    return replace(error, message=message, did_you_mean=suggestion)


def _refusal(
    error: ValidationError,
    model: type[BaseModel],
    given: Mapping[str, Any],
    prefix: str,
    also: Collection[str],
    whole: str,
) -> Invalid:
    by_field: dict[str, list[FieldError]] = {}
    values: dict[str, str] = {}
    for details in error.errors(include_url=False)[:MAX_ERRORS]:
        if details["type"] == "extra_forbidden":
            *parents, name = details["loc"]
            path = prefix + "".join(f"{part}." for part in parents)
            known = [*_fields_at(model, parents), *(() if parents else also)]
            field_error = unknown_field(path, str(name), known, whole)
        else:
            field, message = _named(details, given, whole)
            field_error = FieldError(
                prefix + field,
                message,
                getattr(details.get("ctx", {}).get("error"), "did_you_mean", None),
            )
            if details["type"] in ("enum", "literal_error"):
                allowed = _QUOTED.findall(details["ctx"]["expected"])
                if suggestion := suggest_value(details["input"], allowed):
                    values[prefix + field] = suggestion
        by_field.setdefault(field_error.field, []).append(field_error)
    return invalid(
        *(_suggesting(_merge_errors(errors), values.get(name)) for name, errors in by_field.items())
    )


def _merge_errors(errors: Sequence[FieldError]) -> FieldError:
    """Merge the errors of a field: a union type has an error for each type."""
    return replace(
        errors[0], message=", or ".join(dict.fromkeys(error.message for error in errors))
    )


def _fields_at(model: type[BaseModel], path: Sequence[int | str]) -> list[str]:
    """Names of the fields of the model at `path` within another model.

    Names in the path that are no fields name branches of a union.
    """
    models = [model]
    for part in path:
        inner = [
            outer.model_fields[part].annotation
            for outer in models
            if isinstance(part, str) and part in outer.model_fields
        ]
        models = (
            [kind for annotation in inner for kind in _models_in(annotation)] if inner else models
        )
    return [name for kind in models for name in kind.model_fields]


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [kind for argument in get_args(annotation) for kind in _models_in(argument)]


def _named(error: ErrorDetails, given: Any, whole: str) -> tuple[str, str]:
    """Field path and message of an error of pydantic.

    Rules across fields name their field in the message ("key: …").
    """
    path: list[str] = []
    value = given
    for part in error["loc"]:
        # Past a leaf, the location only names branches of a union type. A name of a caller's own
        # that is no identifier is not repeated.
        if not isinstance(value, (dict, list)) or (
            isinstance(part, str) and not is_plain_name(part)
        ):
            break
        path.append(str(part))
        known = (isinstance(value, dict) and part in value) or (
            isinstance(value, list) and isinstance(part, int) and part < len(value)
        )
        value = value[part] if known else None  # type: ignore[index]
    message = _words(error)
    if (
        error["type"] == "value_error"
        and isinstance(value, dict)
        and (split := _OF_A_FIELD.fullmatch(message))
    ):
        path.append(split[1])
        message = split[2]
    return ".".join(path)[:MAX_FIELD_CHARACTERS] or whole, message


def _words(error: ErrorDetails) -> str:
    match error["type"]:
        case "missing":
            return "is required"
        case "value_error":
            return str(error["ctx"]["error"])
        case "too_short" | "string_too_short" if error["ctx"]["min_length"] == 1:
            return "must not be empty"
        case "too_long" | "string_too_long":
            # Said of a list and of a text alike, in words about its own inner steps.
            return (
                f"may have at most {error['ctx']['max_length']:,} "
                f"{'entries' if isinstance(error['input'], list) else 'characters'}"
            )
        case _:
            return error["msg"].replace("Input should", "should", 1)


# Read a request's body: a JSON object, or an error with the reason.
#
# It is stricter than a JSON library on purpose: a repeated name, NaN and 65 nested levels are
# refused. Two readers may read such a text differently, and one of them may be the reader that
# checks the scope.


MAX_DEPTH = 64
# A string of a JSON text without escapes, and the colon after it when it is a name.
_STRING = re.compile(rb'"[^"]*+"(\s*+:)?')
# What the names of an object end with. A string may hold it too, so there are at least as many of
# these as there are names.
_END_OF_NAME = re.compile(rb'"\s*+:')
# The parser reads a whole number beyond 64 bits as a fraction near it, and says nothing.
_LONG_NUMBER = re.compile(rb"[0-9]{19}")
_LONGEST = 20


def read_object(body: bytes, content_type: str | None, limit_bytes: int) -> dict[str, Any]:
    """Parse the JSON object in a body.

    Args:
        body: The bytes.
        content_type: The header `Content-Type`.
        limit_bytes: The most bytes.

    Raises:
        TooLarge: The body is over the limit.
        UnsupportedMediaType: The body is not `application/json` in UTF-8.
        Malformed: The body is not JSON, is nested too deeply, or gives a name twice.
        Invalid: The body is JSON, but no object.

    """
    if len(body) > limit_bytes:
        raise too_large(limit_bytes)
    _check_media_type(content_type)
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        _refuse_numbers(body)
        raise _refused(Malformed, f"is not JSON as RFC 8259 has it: {error}") from None
    if not isinstance(value, dict):
        raise _refused(Invalid, "must be a JSON object")
    _check_shape(value, body)
    if _LONG_NUMBER.search(body):
        _refuse_numbers(body)
    return value


def check_raw(body: bytes, content_type: str | None, media: str, limit_bytes: int) -> None:
    """Check a body that is no JSON object.

    Args:
        body: The bytes.
        content_type: The header `Content-Type`.
        media: The media type of the call.
        limit_bytes: The most bytes.

    Raises:
        TooLarge: The body is over the limit.
        UnsupportedMediaType: The body is of another type.
        Malformed: The body is empty.

    """
    if len(body) > limit_bytes:
        raise too_large(limit_bytes)
    _check_media_type(content_type, media)
    if not body:
        raise _refused(Malformed, "must not be empty")


def too_large(limit_bytes: int) -> TooLarge:
    """Error for a body over the limit.

    The development host raises it before it has read the body.
    """
    return TooLarge(
        f"body: is over {limit_bytes} bytes",
        errors=(FieldError("body", f"may have at most {limit_bytes} bytes"),),
    )


def _check_media_type(content_type: str | None, media: str = "application/json") -> None:
    kind, _, parameters = (content_type or "").partition(";")
    charset = parameters.strip().lower().removeprefix("charset=").strip('"')
    if kind.strip().lower() != media or charset not in ("", "utf-8"):
        message = f"must be {media}, in UTF-8"
        raise UnsupportedMediaType(
            f"Content-Type: {message}", errors=(FieldError("Content-Type", message),)
        )


def _check_shape(value: dict[str, Any], body: bytes) -> None:
    """Refuse depth over MAX_DEPTH and names given twice.

    The parser keeps the last of two equal names, so the text then has more names than the value.
    """
    names, depth = 0, 0
    level: list[Any] = [value]
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise _refused(Malformed, f"is nested deeper than {MAX_DEPTH} levels")
        inside: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                names += len(item)
                inside.extend(item.values())
            else:
                inside.extend(item)
        level = [item for item in inside if isinstance(item, (dict, list))]
    if len(_END_OF_NAME.findall(body)) == names:
        return
    without_escapes = body.replace(rb"\\", b"").replace(rb"\"", b"")
    if sum(map(bool, _STRING.findall(without_escapes))) != names:
        json.loads(body, object_pairs_hook=_refuse_doubles)


def _refuse_numbers(body: bytes) -> None:
    """Raise Malformed for a number that no reader takes as it is written.

    The error names the field. The rest of the text is JSON.
    """
    try:
        left: list[tuple[str, Any]] = [
            (
                "",
                json.loads(
                    body, parse_constant=_no_number, parse_float=_fraction, parse_int=_whole
                ),
            )
        ]
    except (ValueError, RecursionError):
        return
    while left:
        path, value = left.pop()
        if isinstance(value, _NoNumber):
            raise Malformed(
                f"{path or 'body'}: {value.why}", errors=(FieldError(path or "body", value.why),)
            )
        if isinstance(value, (dict, list)):
            inside = value.items() if isinstance(value, dict) else enumerate(value)
            left += [
                (f"{path}.{shown_name(name)}" if path else shown_name(name), item)
                for name, item in inside
            ]


@dataclass(frozen=True, slots=True)
class _NoNumber:
    """Stand-in for a value that is no number, with the reason."""

    why: str


def _no_number(_: str) -> _NoNumber:
    return _NoNumber("must be a finite number, which JSON has no NaN and no Infinity for")


def _fraction(text: str) -> float | _NoNumber:
    value = float(text)
    return value if math.isfinite(value) else _NoNumber("is too large for a number of 64 bits")


def _whole(text: str) -> int | _NoNumber:
    value = int(text) if len(text) <= _LONGEST else None
    return (
        value
        if value is not None and -(2**63) <= value < 2**64
        else _NoNumber("is too large for a whole number of 64 bits; say it as a text")
    )


def _refuse_doubles(pairs: list[tuple[str, Any]]) -> None:
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            raise _refused(
                Malformed, f"has the name {json.dumps(shown_name(name))} twice in one object"
            )
        seen.add(name)


def _refused(kind: type[MemoryCoreError], message: str) -> MemoryCoreError:
    return kind(f"body: {message}", errors=(FieldError("body", message),))

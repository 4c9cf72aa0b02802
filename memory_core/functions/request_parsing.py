"""Check the fields of a request, which its body or its query has.

JSON is checked strictly ("5" is no number, 1 is no truth value). A query string holds only text, so
its values are converted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar, get_args
from urllib.parse import parse_qsl, urlsplit

import orjson
from pydantic import BaseModel, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from memory_core.domain.errors import FieldError, Invalid, Malformed, is_plain_name
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

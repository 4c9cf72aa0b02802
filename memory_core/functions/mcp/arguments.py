"""Arguments of the tools, described for a model, and their JSON schemas.

The schemas leave out all parts that a model does not need. The fields are named as in the HTTP API,
whose models check the values. Only the fields that a model needs in most calls are offered here.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, Field

from memory_core.domain.chat.messages import MAX_MESSAGES
from memory_core.domain.errors import FieldError, Invalid
from memory_core.domain.fields import Input, Query
from memory_core.functions.request_parsing import from_json, invalid

Model = TypeVar("Model", bound=BaseModel)
SHORT_CONTEXT = 1000
"""Tokens of a context where the model names no other number."""
TOOLS_BY_CALL = {
    "POST /api/v1/memories": "memory_converse",
    "POST /api/v1/memories/save": "memory_save",
    "POST /api/v1/memories/bulk": "memory_save",
    "POST /api/v1/memories/retrieve": "memory_search",
    "POST /api/v1/context": "memory_context",
}
"""A call of the HTTP API that a suggestion names → the tool that does the same."""
_CALL = re.compile(r"\b[A-Z]{3,7} /api/v1/[^\s,]+")
MOMENT = "Like 2026-05-08T13:56:00Z."


def _whole(value: Any) -> Any:
    """Convert a float without a fraction to a whole number.

    JSON has a single kind of number, and some clients write 5.0 for 5.
    """
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[int, BeforeValidator(_whole)]
Kind = Literal["semantic", "episodic", "procedural"]
Tags = Annotated[list[str] | None, Field(description="Only memories with one of these tags.")]
Session = Annotated[str | None, Field(description="Only memories of this conversation.")]


class SaveArguments(Input):
    """A memory to save."""

    content: str = Field(
        description=(
            'One statement that is understood alone, with names and dates: "Ana moved to Lisbon in '
            'May 2026".'
        )
    )
    type: Literal[Kind, "instruction"] = Field(
        "semantic",
        description=(
            "semantic: a lasting fact or preference. episodic: something that happened once. "
            "instruction: a rule for all later answers, such as Always use metric units, which is "
            "part of every context. procedural: how something is done; needs key."
        ),
    )
    subject: str | None = Field(
        None,
        description=(
            "With attribute, names something that has one value at a time, such as user and home "
            "city: a new value replaces the old. The person who talks is user."
        ),
    )
    attribute: str | None = Field(
        None,
        description=(
            "See subject. Conversations use name, age, birthday, home city, address, occupation, "
            "employer, school, marital status, spouse, diet, car, phone number, email address, "
            "favourite …: the same name replaces what was told there."
        ),
    )
    key: str | None = Field(
        None,
        description=(
            "Name of a procedural memory, such as code-style. Saving to a known key replaces it."
        ),
    )
    tags: list[str] | None = Field(None, description="Words to find or forget it by.")
    event_timestamp: str | None = Field(
        None, description=f"When it happened or became true; now if left out. {MOMENT}"
    )
    valid_until: str | None = Field(
        None, description=f"When it stops being true, if that is known. {MOMENT}"
    )
    session_id: str | None = Field(None, description="The conversation that it comes from.")


class SearchArguments(Input):
    """A search."""

    query: str = Field(description="A question or a few words; a whole message works too.")
    limit: Whole = Field(5, ge=1, le=20, description="Most results.")
    types: list[Kind] | None = Field(None, description="Only memories of these types.")
    tags: Tags = None
    session_id: Session = None
    at: str | None = Field(
        None, description=f"What was true at that moment instead of now. {MOMENT}"
    )
    detail: Literal["short", "full"] = Field(
        "short", description="full: whole texts instead of their beginnings."
    )


class ContextArguments(Input):
    """The topic of the turn."""

    query: str | None = Field(
        None, description="What the user just said or asked. Left out: what is known in general."
    )
    session_id: str | None = Field(
        None, description="The conversation that goes on: its last turns are included."
    )
    exclude_session_id: str | None = Field(
        None, description="The conversation that you see yourself, so that it is not repeated."
    )
    max_tokens: Whole = Field(SHORT_CONTEXT, ge=100, le=16_000, description="Longest answer.")


class TurnArgument(Input):
    """A turn of a conversation."""

    role: Literal["user", "assistant", "system", "tool"]
    content: str
    timestamp: str | None = Field(None, description=f"When it was said; now if left out. {MOMENT}")
    actor: str | None = Field(None, description="Name of the speaker.")


class ConverseArguments(Input):
    """A conversation to remember."""

    messages: list[TurnArgument] = Field(
        min_length=1,
        max_length=MAX_MESSAGES,
        description="The turns in order. Turns that are known are left out.",
    )
    session_id: str | None = Field(
        None, description="Names the conversation, so that later calls go on with it."
    )


class TimelineArguments(Input):
    """Which changes to list."""

    since: str | None = Field(
        None,
        description=(
            f"From then on; the last seven days if neither this nor memory_id is given. {MOMENT}"
        ),
    )
    until: str | None = Field(None, description=f"Before then. {MOMENT}")
    memory_id: str | None = Field(None, description="Only changes of this memory.")
    types: list[str] | None = Field(
        None,
        description="Only these memory types (semantic) or changes (created, superseded, deleted).",
    )
    limit: Whole = Field(10, ge=1, le=100, description="Most changes.")
    cursor: str | None = Field(
        None, description="From an earlier answer, to go on; with all else as it was."
    )


class ForgetArguments(Input):
    """A filter for the memories to forget: those that match all given fields."""

    ids: list[str] | None = Field(None, description="Ids from memory_search.")
    tags: list[str] | None = Field(None, description="Memories with one of these tags.")
    session_id: str | None = Field(None, description="Everything of this conversation.")
    before: str | None = Field(None, description=f"Only what was told before then. {MOMENT}")
    mode: Literal["soft", "hard"] = Field(
        "soft",
        description="soft: hidden, and can be restored. hard: gone for good, with its history.",
    )
    confirm: str | None = Field(
        None, description="The code that the first call answered with, once the user has agreed."
    )


class RecallArguments(Input):
    """The topic that a prompt is to recall."""

    topic: Query


def checked_arguments(
    model: type[Model], given: Mapping[str, Any] | None, *, now: datetime | None = None
) -> Model:
    """Check the arguments of a tool.

    Args:
        model: The model of the arguments.
        given: The arguments; None for none.
        now: Refuse a time long after this moment.

    Raises:
        Invalid: Some arguments are refused; the error names each.

    """
    try:
        return from_json(model, given or {}, now=now)
    except Invalid as refused:
        raise invalid(*map(_suggesting_tools, refused.errors)) from None
    except TypeError:  # a number beyond 64 bits, or a text that is no Unicode
        raise invalid(
            FieldError("arguments", "hold a number beyond 64 bits, or a text that is no Unicode")
        ) from None


def _suggesting_tools(error: FieldError) -> FieldError:
    """The error with tools in the place of the calls that its suggestion names.

    A suggestion without such a tool, or of a setting, is left out: a model can't follow it.
    """
    call = error.did_you_mean
    if call is None or not (_CALL.search(call) or call.startswith("the setting")):
        return error
    message = error.message.removesuffix(f"; did you mean {call}?")
    names = [TOOLS_BY_CALL.get(name) for name in _CALL.findall(call)]
    if not names or None in names:
        return replace(error, message=message, did_you_mean=None)
    tool = _CALL.sub(lambda match: TOOLS_BY_CALL[match[0]], call)
    return replace(error, message=f"{message}; did you mean {tool}?", did_you_mean=tool)


@functools.cache
def input_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a tool's arguments.

    It has no titles and no references. A field that may be left out is not shown as null too.
    """
    whole = model.model_json_schema()
    schema = _plain(whole, whole.get("$defs", {}))
    return {
        name: schema[name]
        for name in ("type", "properties", "required", "additionalProperties")
        if name in schema
    }


def _plain(schema: dict[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        definition = _plain(definitions[schema["$ref"].rpartition("/")[2]], definitions)
        return {name: value for name, value in definition.items() if name != "description"}
    plain = {
        name: value
        for name, value in schema.items()
        if name not in ("title", "$defs") and not (name == "default" and value is None)
    }
    if "anyOf" in plain:
        (kind,) = (branch for branch in plain.pop("anyOf") if branch != {"type": "null"})
        plain = {**_plain(kind, definitions), **plain}
    if "properties" in plain:
        plain["properties"] = {
            name: _plain(field, definitions) for name, field in plain["properties"].items()
        }
    if "items" in plain:
        plain["items"] = _plain(plain["items"], definitions)
    return plain

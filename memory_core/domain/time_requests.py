"""What a caller may ask of the log: which events, and what memories were at a time past."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from memory_core.domain.fields import Cursor, Input, Limit, Name, require_fields
from memory_core.domain.models import MemoryType
from memory_core.domain.moments import Moment

EventType = Annotated[str, Field(pattern=r"^[a-z_]{1,40}$")]


def _as_list(value: Any) -> Any:
    return [one.strip() for one in value.split(",")] if isinstance(value, str) else value


Types = Annotated[list[MemoryType | EventType], Field(max_length=20), BeforeValidator(_as_list, json_schema_input_type=str)]


class TimelineInput(Input):
    """Which events to read, in order. since ≤ occurred_at < until.

    types: of memories (`semantic`), of events (`superseded`), or of both, with commas between them in a query string; an event has to
    be of one of each kind that is named.
    """

    since: Moment | None = None
    until: Moment | None = None
    types: Types | None = None
    memory_id: Name | None = None
    correlation_id: Annotated[str, Field(min_length=1, max_length=128)] | None = None
    cursor: Cursor | None = None
    limit: Limit = 20


class ReplayInput(Input):
    """What all memories were at a sequence of the log, or at the last event of a moment; with `at`, those that were true then."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [require_fields("known_at"), require_fields("sequence")]})

    known_at: Moment | None = None
    sequence: Annotated[int, Field(ge=0, le=2**53)] | None = None
    at: Moment | None = None
    cursor: Cursor | None = None
    limit: Limit = 20

    @model_validator(mode="after")
    def _names_one_time(self) -> ReplayInput:
        if (self.known_at is None) == (self.sequence is None):
            raise ValueError("known_at: give either known_at or sequence")
        return self

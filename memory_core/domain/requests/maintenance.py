"""Requests beside those about memories.

They are about batches, decay, the archive, forgetting, conflicts, scenes, the log and settings.
Note: an empty filter does not mean all memories. It is refused, because forgetting all of a user's
memories is another call, with a receipt of its own.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from memory_core.domain.chat.read_message import timed
from memory_core.domain.conflict import ConflictStatus, Decision
from memory_core.domain.conversation import Message, Role
from memory_core.domain.deferred_model import DeferredModel
from memory_core.domain.fields import (
    MAX_NAME,
    CallbackUrl,
    Cursor,
    Input,
    Label,
    Labels,
    Limit,
    Name,
    TimeZone,
    check_period,
    require_fields,
)
from memory_core.domain.memory import EventType, MemoryType
from memory_core.domain.requests.chat_input import ChatMessages, SpokenMessages
from memory_core.domain.text.timestamps import Timestamp

MAX_IDS = 1000
"""Memories named by their ids in a call: 33 KB."""


class DecayInput(Input):
    """Apply decay to all of a user's memories, or to those of a session.

    `dry_run` only counts.
    """

    session_id: Name | None = None
    dry_run: bool = False


class ConsolidateInput(Input):
    """Consolidate the events since the last run, of a user's or a session's memories.

    `dry_run` only counts.
    """

    session_id: Name | None = None
    dry_run: bool = False


class ReembedInput(Input):
    """Replace the vectors that another embedder made, of all of a user's memories.

    `dry_run` only counts.
    """

    dry_run: bool = False


class ForgetFilter(Input):
    """Memories that fit all of the given fields.

    Attributes:
        types: Memories of any of these types.
        tags: Memories with any of these tags.
        before: Memories told before this moment.
        ids: Memories with any of these ids.

    """

    types: Annotated[list[MemoryType], Field(min_length=1, max_length=3)] | None = None
    tags: Annotated[Labels, Field(min_length=1)] | None = None
    session_id: Name | None = None
    before: Timestamp | None = None
    ids: Annotated[list[Name], Field(min_length=1, max_length=MAX_IDS)] | None = None

    def in_session(self, session_id: str) -> ForgetFilter:
        """The filter for memories of one session."""
        return self.model_copy(update={"session_id": session_id})


class ForgetInput(Input):
    """Forget the memories that a filter fits.

    Attributes:
        mode: `soft` sets them to `deleted`, and they may be restored. `hard` removes them for good,
            with their history and all that was made of them.
        dry_run: Only count.

    """

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [
                require_fields("session_id"),
                {
                    "required": ["filter"],
                    "properties": {
                        "filter": {
                            "anyOf": [require_fields(name) for name in ForgetFilter.model_fields]
                        }
                    },
                },
            ]
        }
    )

    session_id: Name | None = None
    filter: ForgetFilter = Field(default_factory=ForgetFilter)
    mode: Literal["soft", "hard"] = "soft"
    dry_run: bool = False

    @model_validator(mode="after")
    def _says_what(self) -> ForgetInput:
        if self.session_id is not None and self.filter.session_id not in (None, self.session_id):
            raise ValueError("session_id: differs from filter.session_id")
        if self.session_id is None and not any(
            value is not None for value in self.filter.model_dump().values()
        ):
            raise ValueError("filter: says nothing; to forget all that a user has, delete the user")
        return self

    @property
    def chosen(self) -> ForgetFilter:
        """The filter, with the session that was named beside it."""
        return self.filter if self.session_id is None else self.filter.in_session(self.session_id)


# Requests about the log: its events, and memories at an earlier time.


def _as_list(value: Any) -> Any:
    return [part.strip() for part in value.split(",")] if isinstance(value, str) else value


Types = Annotated[
    list[MemoryType | EventType],
    Field(max_length=20),
    BeforeValidator(_as_list, json_schema_input_type=str),
]


class TimelineInput(Input):
    """Which events to read, in order: since ≤ occurred_at < until.

    Attributes:
        types: Types of memories (`semantic`), of events (`superseded`), or both. In a query string
            they are separated by commas. An event must have a named type of each of the two kinds
            that are named.

    """

    since: Timestamp | None = None
    until: Timestamp | None = None
    types: Types | None = None
    memory_id: Name | None = None
    correlation_id: Annotated[str, Field(min_length=1, max_length=128)] | None = None
    cursor: Cursor | None = None
    limit: Limit = 20

    @model_validator(mode="after")
    def _period_in_order(self) -> TimelineInput:
        check_period(self.since, self.until)
        return self


class ReplayInput(Input):
    """All memories as they were at a sequence of the log.

    `known_at` names the sequence of the last event at a moment. `at` selects the memories that were
    true at that moment.
    """

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [require_fields("known_at"), require_fields("sequence")]}
    )

    known_at: Timestamp | None = None
    sequence: Annotated[int, Field(ge=0, le=2**53)] | None = None
    at: Timestamp | None = None
    cursor: Cursor | None = None
    limit: Limit = 20

    @model_validator(mode="after")
    def _names_one_time(self) -> ReplayInput:
        if (self.known_at is None) == (self.sequence is None):
            raise ValueError("known_at: give either known_at or sequence")
        return self


# Requests about conflicts: to list them, and to decide one.


class ConflictsInput(Input):
    """Which conflicts to list, newest first."""

    status: ConflictStatus | None = None
    cursor: Cursor | None = None
    limit: Limit = 20


class ResolveInput(Input):
    """How to decide a conflict, and why.

    Attributes:
        decision: `supersede`: the new memory holds. `reject_new`: the old memory holds.
            `keep_both`: both hold. `merge`: a single memory with both texts holds.
        reason: Why; the record keeps its own reason where none is given.

    """

    decision: Decision
    reason: Label | None = None


# Requests about scenes and profiles.


class ScenesInput(Input):
    """Where to continue a list of scenes, and how many at once."""

    cursor: Cursor | None = None
    limit: Limit = 20


class ProfileInput(Input):
    """The moment at which the profile is to be true; now where none is given."""

    at: Timestamp | None = None


# Requests about data rights.


MAX_PARTS = 2_000
"""Parts of a file, which are 2 GB together.

The operation names each part in 50 bytes, so it stays small enough to be written with each uploaded
part.
"""
PartNumber = Annotated[int, Field(ge=1, le=MAX_PARTS)]


class PartInput(Input):
    """Which part of a file, counted from 1."""

    part: PartNumber


class ImportInput(Input):
    """The kind of the file's lines: an export of Memory Core, or conversations."""

    of: Literal["export", "conversations"] = "export"


class ConversationLine(Input):
    """A line of a file of conversations."""

    session_id: Name | None = None
    agent_id: Name | None = None
    messages: ChatMessages
    time_zone: TimeZone | None = None


class ImportCommitInput(Input):
    """The number of a file's parts, and the SHA-256 of the whole file.

    The SHA-256 is written as hex digits.
    """

    parts: PartNumber
    sha256: Annotated[str, Field(pattern=r"^[0-9a-fA-F]{64}$")]


class ArchiveInput(Input):
    """An archive run over a user's memories, or a session's.

    `dry_run` only says which memories would move.
    """

    session_id: Name | None = None
    dry_run: bool = False


# A user's settings: the time zone.


SETTINGS_ID: Final = "set_settings"
"""The id of the document of a user's settings; each user has a single document."""


class UserSettings(DeferredModel):
    """The settings of a user.

    Attributes:
        time_zone: None is UTC, and so is a name that this machine's database does not know.

    """

    model_config = ConfigDict(extra="forbid")

    time_zone: Annotated[str, Field(min_length=1, max_length=MAX_NAME)] | None = None

    def public(self) -> dict[str, Any]:
        """The settings as the API shows them."""
        return self.model_dump(mode="json")


class SettingsInput(Input):
    """The settings as they are to be from now on.

    `time_zone` is null for UTC.
    """

    time_zone: TimeZone | None


# Requests besides whole conversations: an agent's own words, messages to summarise, and messages to
# gather.
#
# For an agent's own words only the content is needed, since the speaker and the time are known.


class _Spoken(Input):
    messages: SpokenMessages

    def told(self, now: datetime, role: Role, actor: str | None = None) -> list[Message]:
        """The messages with their times, roles and actors.

        A message without a role gets `role`. A message in that role without an actor gets `actor`.
        """
        messages = timed(self.messages, now, role)
        return [
            message if message.actor or message.role != role else message.changed(actor=actor)
            for message in messages
        ]


class AgentMemoryInput(_Spoken):
    """An agent's own words, to be kept as a memory."""

    session_id: Name | None = None
    agent_id: Name | None = None
    time_zone: TimeZone | None = None


class SummaryInput(_Spoken):
    """Messages to sum up, which are not kept.

    Attributes:
        mode: `fast` gives a text. `full` adds the summariser's whole answer.
        callback_url: Where to send the summary.

    """

    mode: Literal["fast", "full"] = "fast"
    callback_url: CallbackUrl | None = None


class BatchInput(Input):
    """Messages to gather until there are enough of them, or no more come."""

    session_id: Name
    messages: ChatMessages
    time_zone: TimeZone | None = None


class SessionInput(Input):
    """The session that a call is about."""

    session_id: Name

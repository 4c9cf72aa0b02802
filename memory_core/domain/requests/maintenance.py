"""Requests beside memories: batches, decay, the archive, forgetting, conflicts, scenes,
the log, settings.

Note: an empty filter is no filter for everything. It is refused, because forgetting all that a user
has is another call, with a receipt of its own.
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
    require_fields,
)
from memory_core.domain.memory import MemoryType
from memory_core.domain.requests.chat_input import ChatMessages, SpokenMessages
from memory_core.domain.scope import Timestamp

MAX_IDS = 1000
"""Memories named one by one in one call: 33 KB."""


class DecayInput(Input):
    """Let time take its course: for all of a user's memories, or those of a session. dry_run:
    only count.
    """

    session_id: Name | None = None
    dry_run: bool = False


class ConsolidateInput(Input):
    """Settle what has happened since the last run: for all of a user's memories,
    or a session's. dry_run: only count.
    """

    session_id: Name | None = None
    dry_run: bool = False


class ReembedInput(Input):
    """Replace the vectors that another embedder made, of all of a user's memories. dry_run:
    only count.
    """

    dry_run: bool = False


class ForgetFilter(Input):
    """Which memories: those that all of the given fields fit; tags, types and ids: any of them.
    before: told before that moment.
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
    """Forget what a filter fits. soft: it is `deleted` and may be restored; hard: it is gone, its
    history and what was made of it too.
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


# What a caller may ask of the log: which events, and what memories were at a time past.


EventType = Annotated[str, Field(pattern=r"^[a-z_]{1,40}$")]


def _as_list(value: Any) -> Any:
    return [part.strip() for part in value.split(",")] if isinstance(value, str) else value


Types = Annotated[
    list[MemoryType | EventType],
    Field(max_length=20),
    BeforeValidator(_as_list, json_schema_input_type=str),
]


class TimelineInput(Input):
    """Which events to read, in order. since ≤ occurred_at < until.

    types: of memories (`semantic`), of events (`superseded`), or of both, with commas between them
    in a query string; an event has to be of one of each kind that is named.
    """

    since: Timestamp | None = None
    until: Timestamp | None = None
    types: Types | None = None
    memory_id: Name | None = None
    correlation_id: Annotated[str, Field(min_length=1, max_length=128)] | None = None
    cursor: Cursor | None = None
    limit: Limit = 20


class ReplayInput(Input):
    """What all memories were at a sequence of the log, or at the last event of a moment;
    with `at`, those that were true then.
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


# What a caller may ask about conflicts: which to list, and how to decide one.


class ConflictsInput(Input):
    """Which conflicts to list, newest first."""

    status: ConflictStatus | None = None
    cursor: Cursor | None = None
    limit: Limit = 20


class ResolveInput(Input):
    """How to decide a conflict, and why; the record keeps its own reason where none is given.

    supersede: the new one holds. reject_new: the old one holds. keep_both: both do. merge:
    one memory with both texts holds.
    """

    decision: Decision
    reason: Label | None = None


# What a caller may ask about scenes and profiles.


class ScenesInput(Input):
    """Where to go on listing scenes, and how many at once."""

    cursor: Cursor | None = None
    limit: Limit = 20


class ProfileInput(Input):
    """At which moment the profile is to be true; now where none is given."""

    at: Timestamp | None = None


# What a caller may ask for about people's rights.


MAX_PARTS = 2_000
"""2 GB; the operation, which names each part in 50 bytes, stays small enough to be written with
each that comes.
"""
PartNumber = Annotated[int, Field(ge=1, le=MAX_PARTS)]


class PartInput(Input):
    """Which part of a file, counted from 1."""

    part: PartNumber


class ImportInput(Input):
    """What the lines of the file are: an export of Memory Core, or conversations."""

    of: Literal["export", "conversations"] = "export"


class ConversationLine(Input):
    """A line of a file of conversations."""

    session_id: Name | None = None
    agent_id: Name | None = None
    messages: ChatMessages
    time_zone: TimeZone | None = None


class ImportCommitInput(Input):
    """How many parts a file has, and the SHA-256 of all of them together, as hex digits."""

    parts: PartNumber
    sha256: Annotated[str, Field(pattern=r"^[0-9a-fA-F]{64}$")]


class ArchiveInput(Input):
    """An archive run over a user's memories, or a session's. dry_run: only say what would move."""

    session_id: Name | None = None
    dry_run: bool = False


# What a user has set: today their time zone.


SETTINGS_ID: Final = "set_settings"
"""The document of a user's settings; there is one."""


class UserSettings(DeferredModel):
    """The settings of a user. time_zone: None is UTC, and so is a name that this machine's database
    does not know.
    """

    model_config = ConfigDict(extra="forbid")

    time_zone: Annotated[str, Field(min_length=1, max_length=MAX_NAME)] | None = None

    def public(self) -> dict[str, Any]:
        """The settings as the API shows them."""
        return self.model_dump(mode="json")


class SettingsInput(Input):
    """The settings as they are to be from now on. time_zone: null for UTC."""

    time_zone: TimeZone | None


# What is told besides whole conversations: an agent's own words, messages to sum up,
# and messages to gather.
#
# Of an agent's own words only the content is needed: who says them and when is known
# without being told.


class _Spoken(Input):
    messages: SpokenMessages

    def told(self, now: datetime, role: Role, actor: str | None = None) -> list[Message]:
        """The messages; what names no role is `role`'s, and what that role says is
        said by `actor`.
        """
        messages = timed(self.messages, now, role)
        return [
            message if message.actor or message.role != role else message.changed(actor=actor)
            for message in messages
        ]


class AgentMemoryInput(_Spoken):
    """An agent's own words, to be kept as one memory."""

    session_id: Name | None = None
    agent_id: Name | None = None
    time_zone: TimeZone | None = None


class SummaryInput(_Spoken):
    """Messages to sum up, kept nowhere. fast: in a text; full: with what it is about besides.
    callback_url: where to send it.
    """

    mode: Literal["fast", "full"] = "fast"
    callback_url: CallbackUrl | None = None


class BatchInput(Input):
    """Messages to gather until there are enough of them, or nothing more comes."""

    session_id: Name
    messages: ChatMessages
    time_zone: TimeZone | None = None


class SessionInput(Input):
    """One session."""

    session_id: Name

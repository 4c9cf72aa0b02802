"""Answers of the calls of `MemoryCore`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple

from memory_core.domain.conflict import ConflictRecord
from memory_core.domain.conversation import Task
from memory_core.domain.memory import Event, Memory, Outcome, public_part
from memory_core.domain.serialized_memory import SerializedMemory


@dataclass(frozen=True, slots=True)
class Call:
    """What a call carries beside its input: who asked, and the idempotency key with the hash of
    what was asked.

    route: the template of the call ("POST /api/v1/memories/save"), part of the receipt's id. actor
    goes into events. route and body_hash may be left out: `MemoryCore` fills them in.
    """

    correlation_id: str | None = None
    idempotency_key: str | None = None
    route: str = ""
    body_hash: str = ""
    actor: str = "system"


@dataclass(frozen=True, slots=True)
class Saved:
    """One save's outcome.

    replayed: whether it is that of an earlier call with the same idempotency key; for programs that
    use the library, HTTP does not tell it.
    degraded: the dependencies that had to be done without, while the memory itself is durable.
    body: the memory's document, where this call wrote it.
    """

    outcome: Outcome
    memory: Memory
    conflict: ConflictRecord | None = None
    replayed: bool = False
    degraded: tuple[str, ...] = ()
    body: Mapping[str, Any] | None = field(default=None, repr=False, compare=False)

    @property
    def public(self) -> dict[str, Any]:
        """The memory as `Memory.public` shows it, taken from its document where that is at hand."""
        return self.memory.public() if self.body is None else public_part(self.body)

    @property
    def status(self) -> int:
        """201 where something new is kept, 200 where an existing memory answers."""
        return (
            200 if self.outcome in (Outcome.REINFORCED, Outcome.UPSERTED, Outcome.REJECTED) else 201
        )


@dataclass(frozen=True, slots=True)
class Deleted:
    """A memory that is deleted now. already_deleted: it was so before this call,
    which changed nothing.
    """

    memory: Memory
    outcome: Literal["deleted", "already_deleted"]


class Passage(NamedTuple):
    """A message, or the part of a long one, that matched. message: the id of its memory."""

    text: str
    actor: str | None
    at: datetime
    message: str
    relevance_score: float

    def public(self) -> dict[str, Any]:
        """As a result shows it."""
        return self._asdict()


Tier = Literal["short", "long", "cold", "faded"]
"""Where a result was found: in the session's working set, the store, the archive,
or in the store among what has faded.
"""


class Hit(NamedTuple):
    """One result of a retrieve. A score that the recipe does not use is None; `composite_score` is
    always there.

    rank: the place among the results, which `score` alone does not decide.
    age_days: of a memory that has faded (tier "faded"), whole days since what it tells of;
    else None.
    """

    rank: int
    serialized: SerializedMemory
    similarity_score: float | None
    lexical_score: float
    relevance_score: float
    recency_score: float | None
    importance_score: float
    frequency_score: float | None
    confidence_score: float | None
    score: float
    composite_score: float
    tier: Tier
    matched_by: tuple[str, ...]
    also: tuple[str, ...] = ()
    stale_facts: tuple[dict[str, Any], ...] = ()
    explain: dict[str, Any] | None = None
    passages: tuple[Passage, ...] = ()
    age_days: int | None = None

    @property
    def memory(self) -> Memory:
        """The memory that was found."""
        return self.serialized.memory


@dataclass(frozen=True, slots=True)
class Nearest:
    """How near the nearest memory came to being an answer, and how near it had to come."""

    relevance_score: float
    answer_threshold: float


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The answer to a query. `degraded` names the dependencies it had to do without.

    nearest: of an answer without results, the memory that came nearest; None where there was none
    to compare with. next_cursor: where to go on; None where nothing follows.

    The rest is of the mode `reconstruct` alone. context: to be put before a model, empty when
    nothing was found; None in the mode `fast`. citations: the ids that its numbers stand for, `[1]`
    first. rounds: how often was asked, at most 3. sufficient, why: whether the context answers the
    query, as the agents judge.
    """

    results: tuple[Hit, ...]
    as_of_sequence: int
    degraded: tuple[str, ...] = ()
    explain: dict[str, Any] | None = None
    context: str | None = None
    citations: tuple[str, ...] = ()
    rounds: int = 1
    sufficient: bool = False
    why: str = ""
    nearest: Nearest | None = None
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """One page of a list; `next_cursor` is None on the last.

    as_of_sequence: the log's last event that it knows of; None when others wrote all the while, so
    that it can't be said. damaged: ids of memories that belong on this page and can't be read from
    what is stored.
    """

    memories: tuple[Memory, ...]
    next_cursor: str | None
    as_of_sequence: int | None = 0
    damaged: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OwnedTaskPage:
    """One page of tasks with the users whose they are, newest first; it may be short though more
    follow. None: the last.
    """

    tasks: tuple[tuple[str, Task], ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class AgentView:
    """One agent of a user. memories: the active and compressed ones. last_active_at:
    when one of all was last made or changed.
    """

    user_id: str
    agent_id: str
    memories: int
    last_active_at: datetime


@dataclass(frozen=True, slots=True)
class AgentPage:
    """One page of an app's agents by (user_id, agent_id); it may be short though more follow.
    None: the last.
    """

    agents: tuple[AgentView, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class Settled:
    """A memory as it was at `as_of_sequence`, which is as in `MemoryPage`."""

    memory: Memory
    as_of_sequence: int | None


@dataclass(frozen=True, slots=True)
class Fetched:
    """Memories by name, in the order of asking. missing: ids and keys of which there is none;
    damaged: ids of those that can't be read.
    """

    memories: tuple[Memory, ...]
    missing: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TagPage:
    """One page of the tags that a user's memories have, in order of their characters;
    `next_cursor` is None on the last.
    """

    tags: tuple[str, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class EventPage:
    """One page of the log, oldest first; `next_cursor` is None on the last."""

    events: tuple[Event, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class Evolution:
    """Memories along `next_id`, in order; complete: False when there are more than one
    answer holds.
    """

    memories: tuple[Memory, ...]
    complete: bool


@dataclass(frozen=True, slots=True)
class VersionView:
    """One version of a memory, the newest being the memory itself."""

    version: int
    content: str
    confidence: float
    valid_from: datetime
    valid_until: datetime | None
    change_reason: str | None
    metadata_snapshot: dict[str, Any]
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class SessionView:
    """One session: when it ran, how many memories of each type it has, and its title,
    if it was told one.
    """

    session_id: str
    started_at: datetime
    last_active_at: datetime
    counts: dict[str, int] = field(default_factory=dict)
    title: str | None = None


@dataclass(frozen=True, slots=True)
class SessionPage:
    """One page of sessions, the latest first."""

    sessions: tuple[SessionView, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class SessionMessage:
    """A message as it was told in its session.

    id: the teller's own, or else that of its memory. memory_id: what the calls on memories know it
    by. parts: the content as a list: the parts of an item as they were appended, else one text part
    for each text that the content was joined from; none where it says nothing. sent: an item of a
    session as it was appended, where that is more than role and content.
    """

    id: str
    memory_id: str
    role: str
    actor: str | None
    content: str
    parts: list[dict[str, Any]]
    timestamp: datetime
    sent: dict[str, Any] | None = None

    def public(self) -> dict[str, Any]:
        """The message as the API shows it."""
        fields = {
            "id": self.id,
            "memory_id": self.memory_id,
            "role": self.role,
            "actor": self.actor,
            "content": self.content,
            "parts": self.parts,
            "timestamp": self.timestamp,
        }
        return fields if self.sent is None else {**fields, "sent": self.sent}


@dataclass(frozen=True, slots=True)
class Appended:
    """What was appended to a session: the ids of the memories, in order. task_id:
    of the task that forms memories of them.

    degraded: as in `Saved` and `Accepted`.
    """

    memory_ids: tuple[str, ...]
    task_id: str | None = None
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What was taken back out of a session: its messages, the oldest first, and how many memories
    went with them besides.
    """

    messages: tuple[SessionMessage, ...]
    memories: int


@dataclass(frozen=True, slots=True)
class MessagePage:
    """One page of a session's messages."""

    messages: tuple[SessionMessage, ...]
    next_cursor: str | None


class Told(NamedTuple):
    """How many messages of a call were new, and how many were known of their session."""

    new: int
    known: int


@dataclass(frozen=True, slots=True)
class Accepted:
    """Work that was accepted and goes on by itself.

    degraded: `queue` when no worker could be notified; then the hourly sweep does that. `search`
    when not all messages are found yet. messages: of a conversation, how many were new.
    """

    task_id: str
    degraded: tuple[str, ...] = ()
    messages: Told | None = None


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What a dry run says would be done, counted. capped: there is more than one task does;
    another one goes on.
    """

    counts: Mapping[str, int]
    capped: bool


@dataclass(frozen=True, slots=True)
class ForeseenMemories:
    """The first memories that would be forgotten, oldest first. more_until: where the log stood,
    if there are more of them.
    """

    memories: tuple[Memory, ...]
    more_until: int | None


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary; structured: the summariser's whole answer, when a full one was asked for.
    degraded: `agents` when rules had to answer.
    """

    text: str
    structured: dict[str, Any] | None = None
    degraded: tuple[str, ...] = ()

    def public(self) -> dict[str, Any]:
        """The summary as the API shows it."""
        body: dict[str, Any] = {"summary": self.text, "degraded": list(self.degraded)}
        return body if self.structured is None else {**body, "structured": self.structured}


@dataclass(frozen=True, slots=True)
class Buffered:
    """What a session's buffer holds now. flush_at: when it is flushed if nothing more comes;
    None for an empty one.

    task_id: the task that this call handed the messages to, when it flushed them. degraded:
    as in `Accepted`.
    """

    buffered: int
    flush_at: datetime | None
    task_id: str | None = None
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskPage:
    """One page of tasks, newest first; `next_cursor` is None on the last."""

    tasks: tuple[Task, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep found.

    users: those with work that waits; due: tasks that no worker had taken; sent: how many of these
    it sent again. capped: it stopped at its limit, and the next one goes on.
    """

    users: int
    due: int
    sent: int
    capped: bool

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
    """Data that a call carries beside its input.

    `MemoryCore` fills in `route` and `body_hash` where they are left out.

    Attributes:
        correlation_id: Id by which logs and events of the call are connected.
        idempotency_key: The caller's key, by which a repeated call gets the same answer.
        route: Template of the call ("POST /api/v1/memories/save"), part of the receipt's id.
        body_hash: Hash of the request, so that a key is not used for two requests.
        actor: The caller's name in events.

    """

    correlation_id: str | None = None
    idempotency_key: str | None = None
    route: str = ""
    body_hash: str = ""
    actor: str = "system"


@dataclass(frozen=True, slots=True)
class Saved:
    """The outcome of a save.

    Attributes:
        replayed: Whether the outcome is that of an earlier call with the same idempotency key. Only
            programs that use the library see it. HTTP does not show it.
        degraded: Dependencies that were down while the memory itself is durable.
        body: The memory's document, where this call wrote it.

    """

    outcome: Outcome
    memory: Memory
    conflict: ConflictRecord | None = None
    replayed: bool = False
    degraded: tuple[str, ...] = ()
    body: Mapping[str, Any] | None = field(default=None, repr=False, compare=False)

    @property
    def public(self) -> dict[str, Any]:
        """The memory as `Memory.public` shows it, taken from its document if possible."""
        return self.memory.public() if self.body is None else public_part(self.body)

    @property
    def status(self) -> int:
        """201 where something new is stored, 200 where an existing memory answers."""
        return (
            200 if self.outcome in (Outcome.REINFORCED, Outcome.UPSERTED, Outcome.REJECTED) else 201
        )


@dataclass(frozen=True, slots=True)
class Deleted:
    """A deleted memory.

    The outcome is `already_deleted` when it was deleted before this call, which changed no memory.
    """

    memory: Memory
    outcome: Literal["deleted", "already_deleted"]


class Passage(NamedTuple):
    """A message, or the part of a long message, that matched.

    `message` is the id of the message's memory.
    """

    text: str
    actor: str | None
    at: datetime
    message: str
    relevance_score: float

    def public(self) -> dict[str, Any]:
        """The passage as a result shows it."""
        return self._asdict()


Tier = Literal["short", "long", "cold", "faded"]
"""Where a result was found.

It is the session's working set, the store, the archive, or the faded memories of the store.
"""


class Hit(NamedTuple):
    """A result of a retrieve.

    A score that the recipe does not use is None. `composite_score` is always set.

    Attributes:
        rank: Place among the results, which `score` alone does not decide.
        age_days: For a faded memory (tier "faded"), whole days since the event that it is about;
            else None.
        replaced_by: Later messages that replace a statement of it: `{replaced, text, at,
            memory_id}`.
        disputed_by: The other sides of its open conflicts: `{conflict_id, memory_id, text, at}`.

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
    replaced_by: tuple[dict[str, Any], ...] = ()
    disputed_by: tuple[dict[str, Any], ...] = ()

    @property
    def memory(self) -> Memory:
        """The memory that was found."""
        return self.serialized.memory


@dataclass(frozen=True, slots=True)
class Nearest:
    """How near the nearest memory came to being an answer.

    `answer_threshold` is the relevance that it needed.
    """

    relevance_score: float
    answer_threshold: float


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The answer to a query.

    The fields `context`, `citations`, `rounds`, `sufficient` and `why` belong to the mode
    `reconstruct`.

    Attributes:
        degraded: Dependencies that were down.
        context: Text to put before a model; empty without results. None in the mode `fast`.
        citations: Ids of the memories that the context's numbers cite, `[1]` first.
        rounds: Searches that were made, at most 3.
        sufficient: Whether the context answers the query, as the agents judge.
        why: The agents' reason for that judgement.
        nearest: For an answer without results, the memory that came nearest. None where no memory
            could be compared.
        next_cursor: Where the next page begins; None where no results follow.

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
    """A page of a list of memories.

    Attributes:
        next_cursor: Where the next page begins; None on the last page.
        as_of_sequence: The log's last event that the page reflects. None when other writers changed
            the log all the while, so that the sequence is unknown.
        damaged: Ids of memories that belong on this page and can't be read from the store.

    """

    memories: tuple[Memory, ...]
    next_cursor: str | None
    as_of_sequence: int | None = 0
    damaged: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OwnedTaskPage:
    """A page of tasks with their users, newest first.

    A page may be short though more follow. `next_cursor` is None on the last page.
    """

    tasks: tuple[tuple[str, Task], ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class AgentView:
    """An agent of a user.

    Attributes:
        memories: Number of active and compressed memories.
        last_active_at: When a memory of any status was last made or changed.

    """

    user_id: str
    agent_id: str
    memories: int
    last_active_at: datetime


@dataclass(frozen=True, slots=True)
class AgentPage:
    """A page of an app's agents, ordered by (user_id, agent_id).

    A page may be short though more follow. `next_cursor` is None on the last page.
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
    """Memories that a call named, in the order of the request.

    Attributes:
        missing: Ids and keys without a memory.
        damaged: Ids of memories that can't be read.

    """

    memories: tuple[Memory, ...]
    missing: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TagPage:
    """A page of the tags of a user's memories, in the order of their characters.

    `next_cursor` is None on the last page.
    """

    tags: tuple[str, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class EventPage:
    """A page of the log, oldest event first; `next_cursor` is None on the last page."""

    events: tuple[Event, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class Evolution:
    """Memories along `next_id`, in order.

    `complete` is False when there are more memories than an answer holds.
    """

    memories: tuple[Memory, ...]
    complete: bool


@dataclass(frozen=True, slots=True)
class VersionView:
    """A version of a memory; the newest version is the memory itself."""

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
    """A session: its times, its number of memories of each type, and its title.

    `title` is None where no title was given.
    """

    session_id: str
    started_at: datetime
    last_active_at: datetime
    counts: dict[str, int] = field(default_factory=dict)
    title: str | None = None


@dataclass(frozen=True, slots=True)
class SessionPage:
    """A page of sessions, the latest session first."""

    sessions: tuple[SessionView, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class SessionMessage:
    """A message as it was sent in its session.

    Attributes:
        id: The sender's own id, or else the id of the message's memory.
        memory_id: The id by which the calls on memories know the message.
        parts: The content as a list: the parts of an item as they were appended, or else a text
            part for each text that the content was joined from. Empty where the content is empty.
        sent: An item of a session as it was appended, where it has more than role and content.

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
    """The items that were appended to a session.

    Attributes:
        memory_ids: Ids of their memories, in order.
        task_id: The task that forms memories of the items.
        degraded: As in `Saved` and `Accepted`.

    """

    memory_ids: tuple[str, ...]
    task_id: str | None = None
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TakenBack:
    """Messages that were taken back out of a session, the oldest first.

    `memories` is the number of other memories that were removed with them.
    """

    messages: tuple[SessionMessage, ...]
    memories: int


@dataclass(frozen=True, slots=True)
class MessagePage:
    """A page of a session's messages."""

    messages: tuple[SessionMessage, ...]
    next_cursor: str | None


class Told(NamedTuple):
    """How many messages of a call were new, and how many its session had already."""

    new: int
    known: int


@dataclass(frozen=True, slots=True)
class Accepted:
    """Work that was accepted and goes on after the call.

    Attributes:
        degraded: `queue` when no worker could be notified: the hourly sweep notifies a worker
            later. `search` when not all messages can be found yet.
        messages: For a conversation, how many messages were new.

    """

    task_id: str
    degraded: tuple[str, ...] = ()
    messages: Told | None = None


@dataclass(frozen=True, slots=True)
class Foreseen:
    """Counts of the changes that a dry run predicts.

    Attributes:
        capped: Whether there is more work than a single task does. Another task would do the rest.
        not_found: The requested ids that no memory of the user has.

    """

    counts: Mapping[str, int]
    capped: bool
    not_found: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ForeseenMemories:
    """The first memories that would be forgotten, oldest first.

    `more_until` is the log's sequence if there are more such memories, else None.
    """

    memories: tuple[Memory, ...]
    more_until: int | None


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary of messages.

    Attributes:
        structured: The summariser's whole answer, when a full summary was requested.
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
    """The state of a session's buffer.

    Attributes:
        buffered: Number of messages in the buffer.
        flush_at: When the buffer is flushed if no more messages come; None for an empty buffer.
        task_id: The task that received the messages, when this call flushed the buffer.
        degraded: As in `Accepted`.

    """

    buffered: int
    flush_at: datetime | None
    task_id: str | None = None
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskPage:
    """A page of tasks, newest first; `next_cursor` is None on the last page."""

    tasks: tuple[Task, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class Swept:
    """The result of a sweep.

    Attributes:
        users: Users with work that waits.
        due: Tasks that no worker had taken.
        sent: Due tasks that the sweep sent again.
        capped: Whether the sweep stopped at its limit, so that the next sweep continues.

    """

    users: int
    due: int
    sent: int
    capped: bool

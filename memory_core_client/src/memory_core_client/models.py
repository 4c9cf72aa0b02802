"""What the service answers. Fields that a later version adds are kept as they come;
fields that were left out are None.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Answer(BaseModel):
    """Base of all answers."""

    model_config = ConfigDict(extra="allow", protected_namespaces=())


class Memory(Answer):
    """A memory; in a brief view what is null, empty or a default is not there."""

    id: str
    type: str | None = None
    content: str | None = None
    status: str | None = None
    category: str | None = None
    subject: str | None = None
    attribute: str | None = None
    key: str | None = None
    value: Any = None
    actor: str | None = None
    session_id: str | None = None
    agent_id: str | None = None
    event_timestamp: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    tags: list[str] = Field(default_factory=list)
    metadata: dict[str, Any] = Field(default_factory=dict)
    version: int = 1
    confidence: float = 1.0
    pinned: bool = False
    searchable: bool = True
    etag: str | None = None
    """The revision, where the answer named it: `if_match` of the next change."""


class Saved(Answer):
    """What a save did. `conflict` is the record of what the new memory contradicts."""

    outcome: str
    memory: Memory
    conflict: dict[str, Any] | None = None
    degraded: list[str] = Field(default_factory=list)


class BulkResult(Answer):
    """The result of one memory of several: what was done, or the problem."""

    status: int
    outcome: str | None = None
    memory: Memory | None = None
    problem: dict[str, Any] | None = None
    id: str | None = None
    key: str | None = None

    @property
    def ok(self) -> bool:
        """Whether it was done."""
        return self.status < 300


class Passage(Answer):
    """What was said that matched."""

    text: str
    message: str
    actor: str | None = None
    at: datetime | None = None


class LaterMessage(Answer):
    """A later message that replaces a statement of a result.

    `replaced` is that statement, `text` what was said later, `at` when it was replaced.
    """

    replaced: str
    text: str
    at: datetime
    memory_id: str


class OtherSide(Answer):
    """The memory with which a result is in an open conflict."""

    conflict_id: str
    memory_id: str
    text: str
    at: datetime


class Result(Answer):
    """One result of a search, best first.

    `replaced_by`: what was said later of a statement of it. `disputed_by`: with what it is in an
    open conflict.
    """

    rank: int
    memory: Memory
    score: float
    relevance_score: float
    passages: list[Passage] = Field(default_factory=list)
    tier: str | None = None
    stale_facts: list[dict[str, Any]] = Field(default_factory=list)
    replaced_by: list[LaterMessage] = Field(default_factory=list)
    disputed_by: list[OtherSide] = Field(default_factory=list)


class Retrieved(Answer):
    """One page of results. `nearest`: of an empty one, how near the nearest memory came."""

    results: list[Result]
    next_cursor: str | None = None
    nearest: dict[str, float] | None = None
    degraded: list[str] = Field(default_factory=list)
    context: str | None = None


class Fetched(Answer):
    """Memories by name, and the names of which there is none."""

    memories: list[Memory]
    missing: list[str] = Field(default_factory=list)


class Context(Answer):
    """What an agent should know before its turn."""

    context: str
    parts: list[dict[str, Any]] = Field(default_factory=list)
    left_out: list[dict[str, Any]] = Field(default_factory=list)
    degraded: list[str] = Field(default_factory=list)


class Accepted(Answer):
    """Work that goes on by itself. `messages`: how many were new, and how many known."""

    task_id: str
    messages: dict[str, int] | None = None
    degraded: list[str] = Field(default_factory=list)


class Task(Answer):
    """A task as it is now."""

    task_id: str
    kind: str
    status: str
    step: str | None = None
    progress: float = 0.0
    attempts: int = 0
    result: dict[str, Any] | None = None
    error: str | None = None

    @property
    def finished(self) -> bool:
        """Whether nothing more will happen by itself."""
        return self.status in ("succeeded", "failed", "poisoned", "cancelled")


class Forgotten(Answer):
    """What was forgotten, or would be.

    `counts`: memories by why they went, `forgotten` those that were asked for. `capped`: there are
    more. `not_found`: ids that no memory of this user has. `damaged`: ids of memories that can't be
    read, and stay.
    """

    counts: dict[str, int]
    capped: bool = False
    not_found: list[str] = Field(default_factory=list)
    damaged: list[str] = Field(default_factory=list)


class Imported(Answer):
    """What an import brought: the `counts` of an export, or how many `conversations`.

    `ignored`: fields of messages that the service does not know. `forming`: tasks that still form
    memories.
    """

    counts: dict[str, int] = Field(default_factory=dict)
    conversations: int | None = None
    messages: dict[str, int] = Field(default_factory=dict)
    ignored: list[str] = Field(default_factory=list)
    forming: int | None = None


class Erased(Answer):
    """The receipt of an erasure.

    `user`: a keyed hash in the user's place. `counts`: what was erased, by kind. `remains`: what is
    kept, in sentences.
    """

    user: str
    counts: dict[str, int]
    began_at: datetime
    erased_at: datetime
    remains: list[str] = Field(default_factory=list)


class Message(Answer):
    """A message of a session.

    `parts`: the content as a list of parts, those of an item as they came. `sent`: the item as it
    was appended, where that is more than role and content.
    """

    id: str
    memory_id: str
    role: str
    content: str
    parts: list[dict[str, Any]] = Field(default_factory=list)
    actor: str | None = None
    timestamp: datetime | None = None
    sent: dict[str, Any] | None = None

    @property
    def item(self) -> dict[str, Any]:
        """The item as an agent framework appended it."""
        return self.sent if self.sent is not None else {"role": self.role, "content": self.content}


class Appended(Answer):
    """What was appended to a session."""

    memory_ids: list[str]
    task_id: str | None = None
    degraded: list[str] = Field(default_factory=list)

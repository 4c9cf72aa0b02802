"""A conversation and its messages, and a task that goes on after its call.

The conversation is the truth of formation; tasks are projections of it. Note: `cells` is empty
until the boundaries are frozen, and grows while `messages` never does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal, TypedDict, Unpack

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field

from memory_core.domain.deferred_model import DeferredModel
from memory_core.domain.fields import MAX_NAME, local, zone_of
from memory_core.domain.scope import Owner, Timestamp, check_app_id, check_name

Role = Literal["user", "assistant", "system", "tool"]
_OTHER_NAMES = {
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
    "developer": "system",
    "function": "tool",
}


def _role_of(value: Any) -> Any:
    return _OTHER_NAMES.get(value, value) if isinstance(value, str) else value


GivenRole = Annotated[
    Role,
    BeforeValidator(
        _role_of,
        json_schema_input_type=Literal[
            "user", "assistant", "system", "tool", "human", "ai", "model", "developer", "function"
        ],
    ),
]
"""A role as callers name it: `human` is the user, `ai` and `model` the assistant,
`developer` the system, `function` a tool.
"""
Path = Literal["converse", "agent"]
ConversationState = Literal["pending", "formed", "cancelled", "poisoned"]


class MessageFields(TypedDict, total=False):
    """Fields of a message that a change replaces."""

    content: str
    timestamp: Timestamp
    actor: str | None
    memory_id: str | None


class Message(DeferredModel):
    """One message. `actor` names who speaks where the role alone does not.

    id: the caller's own. A message that became several has it on the first; on the others `#1`,
    `#2` and so on follow it. memory_id: its memory, where an earlier conversation has written that;
    None where it follows from the message. part_lengths: characters of each text that the content
    was joined from, where it was several.
    """

    model_config = ConfigDict(extra="forbid")

    role: Role
    content: str
    timestamp: Timestamp
    actor: str | None = None
    id: str | None = Field(default=None, exclude_if=lambda value: value is None)
    memory_id: str | None = Field(default=None, exclude_if=lambda value: value is None)
    part_lengths: list[int] = Field(default_factory=list, exclude_if=lambda value: not value)

    def changed(self, **fields: Unpack[MessageFields]) -> Message:
        """The message with these fields replaced, without validation."""
        return self.model_copy(update=fields)

    @property
    def by_person(self) -> bool:
        """Whether a person says it: the user, or an actor with a name."""
        return self.role == "user" or self.actor is not None


class CellRecord(DeferredModel):
    """What one cell became: its message span [first, last], memories and counts.

    The ids of its memories begin with the cell's own. The counts are stored here, in the forming
    commit, and are only summed up in tasks: a worker that dies right after it loses none of them.
    """

    model_config = ConfigDict(extra="forbid")

    first: int
    last: int
    memory_ids: list[str] = Field(default_factory=list)
    counts: dict[str, int] = Field(default_factory=dict)

    def public(self) -> dict[str, Any]:
        """The cell as a task's result names it; the counts stand there once for all cells."""
        return self.model_dump(exclude={"counts"})


class ConversationFields(TypedDict, total=False):
    """Fields of a conversation that a change replaces."""

    embedded: int
    expected_cells: list[str]
    id: str
    messages: list[Message]
    task_id: str
    created_at: datetime
    state: ConversationState
    clears: dict[str, int]
    time_zone: str | None
    written: int
    cells: int | None
    formed_cells: list[CellRecord]
    continued_by: str | None
    cuts: list[int] | None


class Conversation(DeferredModel):
    """The stored conversation. `formed_cells` advances with each forming commit, in order;
    `formed` is set by the last.

    Its messages are stored apart, since no commit writes them again. state: pending while work is
    to be done, and only then counted by the head; poisoned when that failed too often, until a
    retry makes it pending again. clears: how often its session had been cleared, by type, when it
    was accepted; when that is more by now, what was told here is not to come back. written,
    embedded: how many of its messages, from the first, are memories of their own, and how many of
    these have their vectors. time_zone: of those who speak in it; None is UTC. continued_by: the
    latest conversation that forms what is left of it, since messages of it were taken back.
    expected_cells: the cells that the head named for its messages when it was accepted. cuts: the
    numbers of the messages after which rules cut it then, where no model is asked; None: unknown.
    """

    model_config = ConfigDict(extra="forbid")

    id: str
    session_id: str | None = None
    agent_id: str | None = None
    path: Path = "converse"
    messages: list[Message] = Field(default_factory=list)
    task_id: str
    correlation_id: str | None = None
    created_at: datetime
    state: ConversationState = "pending"
    clears: dict[str, int] = Field(default_factory=dict)
    time_zone: str | None = Field(
        default=None, max_length=MAX_NAME, exclude_if=lambda value: value is None
    )
    written: int = 0
    embedded: int = 0
    cells: int | None = None
    formed_cells: list[CellRecord] = Field(default_factory=list)
    continued_by: str | None = Field(default=None, exclude_if=lambda value: value is None)
    expected_cells: list[str] = Field(default_factory=list, exclude_if=lambda value: not value)
    cuts: list[int] | None = Field(default=None, exclude_if=lambda value: value is None)

    def changed(self, **fields: Unpack[ConversationFields]) -> Conversation:
        """The conversation with these fields replaced, without validation."""
        return self.model_copy(update=fields)


@dataclass(frozen=True, slots=True)
class Cell:
    """A stretch of a conversation about one thing: messages `first` to `last` of it,
    both included, numbered from 0.

    number: its place among the conversation's cells. reason: why it ends where it ends.
    """

    number: int
    first: int
    messages: tuple[Message, ...]
    reason: str

    @property
    def last(self) -> int:
        """The number of its last message within the conversation."""
        return self.first + len(self.messages) - 1

    @property
    def started_at(self) -> datetime:
        """The moment of its first message."""
        return min(message.timestamp for message in self.messages)

    @property
    def ended_at(self) -> datetime:
        """The moment of its last message: the event time of what it says."""
        return max(message.timestamp for message in self.messages)


def counts_of(cells: Iterable[CellRecord]) -> dict[str, int]:
    """What was done with several cells, counted together."""
    total: dict[str, int] = {}
    for cell in cells:
        for name, count in cell.counts.items():
            total[name] = total.get(name, 0) + count
    return total


def as_named(messages: Sequence[Message], conversation: Sequence[Message]) -> list[Message]:
    """Some of a conversation's messages with the actors by which agents tell speakers apart.

    A speaker in the role `user` without a name is "the user", with truths of his own. An actor
    called "User" is the user too, where no actor with another name speaks in that role: it is a
    client's label for the user. Beside others, or in another role, it is a name, and is told apart
    ("Actor User"), so that no other actor's truths become the user's.
    """
    users = {
        _called_user(message)
        for message in conversation
        if message.role == "user" and message.actor
    }
    return [
        _renamed(message, label=False not in users) if _called_user(message) else message
        for message in messages
    ]


def in_its_zone(messages: Sequence[Message], time_zone: str | None) -> list[Message]:
    """The messages with their moments as clocks in the zone of the conversation show them:
    "yesterday" is a day there.
    """
    if time_zone is None:
        return [*messages]
    zone = zone_of(time_zone)
    return [message.changed(timestamp=local(message.timestamp, zone)) for message in messages]


def _called_user(message: Message) -> bool:
    return message.actor is not None and message.actor.strip().casefold() == "user"


def _renamed(message: Message, *, label: bool) -> Message:
    actor = None if label and message.role == "user" else f"Actor {(message.actor or '').strip()}"
    return message.changed(actor=actor)


# A task: work that goes on after its call was answered.
#
# Any caller of its owner may watch, retry or cancel it. It is a projection: what was really done is
# in the conversation, the memories and the log. `attempts` counts unexpected failures only (of a
# webhook, tries that came to nothing); waiting for a dependency that is down spends none.


TaskKind = Literal[
    "converse", "agent_memory", "summary", "webhook", "flush", "decay", "archive", "forget",
    "export", "import", "erase", "consolidate", "reembed",
]  # fmt: skip
TaskStatus = Literal["accepted", "running", "succeeded", "failed", "poisoned", "cancelled"]
FINISHED: frozenset[TaskStatus] = frozenset({"succeeded", "failed", "poisoned", "cancelled"})
TASK_FIELDS = (
    "task_id",
    "kind",
    "status",
    "step",
    "progress",
    "attempts",
    "result",
    "error",
    "created_at",
    "updated_at",
)
"""The public ones."""


class TaskFields(TypedDict, total=False):
    """Fields of a task that a change replaces."""

    subject_id: str
    status: TaskStatus
    step: str | None
    progress: float
    attempts: int
    result: dict[str, Any] | None
    error: str | None
    updated_at: datetime
    generation: int
    waits: int
    waiting_for: str | None
    next_enqueue_at: datetime | None
    leased_until: datetime | None
    leased_by: str | None
    delivery_ids: list[str]


class Task(DeferredModel):
    """One task. Public fields are those of the API; the others steer it.

    subject_id: what it is about (a conversation, a delivery, a buffer, messages to sum up, an
    operation). generation: messages of an older one are dropped. callback_url, delivery_ids: whom
    to tell of its end, and the deliveries that did or do so. next_enqueue_at: when its last message
    is there to be received; None once a worker has it. leased_until, leased_by: who works on it, as
    an optimisation. waits, waiting_for: how often it waited for a dependency that was down, and for
    which it waits now.
    """

    model_config = ConfigDict(extra="forbid")

    task_id: str
    kind: TaskKind
    status: TaskStatus = "accepted"
    step: str | None = None
    progress: float = Field(0.0, ge=0, le=1)
    attempts: int = 0
    result: dict[str, Any] | None = None
    error: str | None = None
    created_at: datetime
    updated_at: datetime
    # steering
    subject_id: str
    generation: int = 0
    waits: int = 0
    waiting_for: str | None = None
    next_enqueue_at: datetime | None = None
    leased_until: datetime | None = None
    leased_by: str | None = None
    callback_url: str | None = None
    delivery_ids: list[str] = Field(default_factory=list)
    correlation_id: str | None = None

    def changed(self, **fields: Unpack[TaskFields]) -> Task:
        """The task with these fields replaced, without validation."""
        return self.model_copy(update=fields)

    def begun_again(self, subject_id: str, now: datetime) -> Task:
        """The task as it is accepted once more, about another subject.

        Args:
            subject_id: The id of that subject.
            now: The moment of the change; the task's message is due at once.

        """
        return self.changed(
            subject_id=subject_id,
            status="accepted",
            step=None,
            error=None,
            attempts=0,
            waits=0,
            leased_by=None,
            leased_until=None,
            waiting_for=None,
            next_enqueue_at=now,
            updated_at=now,
        )

    def succeeded(self, result: dict[str, Any], now: datetime) -> Task:
        """The task as it has ended well, without a lease and without a message.

        Args:
            result: The result that callers see.
            now: The moment of the end.

        """
        return self.changed(
            status="succeeded",
            step=None,
            progress=1.0,
            result=result,
            error=None,
            leased_by=None,
            leased_until=None,
            next_enqueue_at=None,
            updated_at=now,
        )

    @property
    def finished(self) -> bool:
        """Whether nothing more will happen by itself."""
        return self.status in FINISHED

    def public(self) -> dict[str, Any]:
        """The task as the API shows it."""
        return self.model_dump(mode="json", include=set(TASK_FIELDS))


class TaskMessage(DeferredModel):
    """What a queue carries: whose task it is and of which generation. Ids only, since anybody who
    may read a queue may read this.

    waits: how often this very message was put off because the task could not even be read.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    app_id: Annotated[str, AfterValidator(check_app_id)]
    user_id: Annotated[str, AfterValidator(check_name)]
    # a store would take "../x" for a way to somewhere else
    task_id: Annotated[str, AfterValidator(check_name)]
    generation: int
    waits: int = 0

    def put_off(self) -> TaskMessage:
        """The message as it is sent again after a wait."""
        return self.model_copy(update={"waits": self.waits + 1})

    @property
    def owner(self) -> Owner:
        """Whose task it is."""
        return Owner(self.app_id, self.user_id)

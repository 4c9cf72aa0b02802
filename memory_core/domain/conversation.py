"""A conversation and its messages, and a task that goes on after its call.

The conversation is the truth of formation; tasks are projections of it. Note: `formed_cells` is
empty at first and grows with each forming commit, while `messages` never grows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final, Literal, TypedDict, Unpack

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field

from memory_core.domain.deferred_model import DeferredModel
from memory_core.domain.fields import MAX_NAME, local, zone_of
from memory_core.domain.scope import Owner, check_app_id, check_name
from memory_core.domain.text.timestamps import Timestamp

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
"""A role as callers name it.

`human` means the user, `ai` and `model` the assistant, `developer` the system, `function` a tool.
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
    """A message of a conversation.

    Attributes:
        actor: The speaker, where the role alone does not name the speaker.
        id: The caller's own id. Where a message became several, the first has this id, and the ids
            of the rest end with `#1`, `#2` and so on.
        memory_id: The message's memory, where an earlier conversation has written it. None where
            the id follows from the message.
        part_lengths: Characters of each text that the content was joined from, where there were
            several.

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
    """The result of a cell: its messages from `first` to `last`, memories and counts.

    The ids of its memories begin with the cell's own id. The forming commit stores the counts here,
    and tasks only add them up. A worker that dies right after the commit loses none of them.
    """

    model_config = ConfigDict(extra="forbid")

    first: int
    last: int
    memory_ids: list[str] = Field(default_factory=list)
    counts: dict[str, int] = Field(default_factory=dict)

    def public(self) -> dict[str, Any]:
        """The cell as a task's result names it.

        The counts are left out: the task's result has them once for all cells.
        """
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
    """The stored conversation.

    Its messages are stored apart, since no commit writes them again.

    Attributes:
        state: `pending` while work is to be done, and only then counted by the head. `poisoned`
            when the work failed too often, until a retry makes the conversation pending again.
            `formed` is set by the last forming commit.
        clears: How often the session had been cleared when the conversation was accepted, by type.
            When the session has been cleared more often since, these messages must not come back.
        time_zone: Time zone of the speakers; None is UTC.
        written: Number of messages, from the first, that are memories of their own.
        embedded: Number of these messages that have vectors.
        formed_cells: Cells in order; each forming commit adds to them.
        continued_by: The latest conversation that forms the rest of this conversation, since
            messages of it were taken back.
        expected_cells: Cells that the head named for the messages when they were accepted.
        cuts: Numbers of the messages after which rules cut the conversation when it was accepted,
            where no model is asked. None means unknown.

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
    """A stretch of a conversation about a single topic.

    It holds the messages `first` to `last`, both included, numbered from 0.

    Attributes:
        number: Place among the conversation's cells.
        reason: Why the cell ends after its last message.

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
        """The moment of its earliest message."""
        return min(message.timestamp for message in self.messages)

    @property
    def ended_at(self) -> datetime:
        """The moment of its latest message, which is the cell's event time."""
        return max(message.timestamp for message in self.messages)


def counts_of(cells: Iterable[CellRecord]) -> dict[str, int]:
    """The counts of several cells, added up by name."""
    total: dict[str, int] = {}
    for cell in cells:
        for name, count in cell.counts.items():
            total[name] = total.get(name, 0) + count
    return total


def as_named(messages: Sequence[Message], conversation: Sequence[Message]) -> list[Message]:
    """Messages with the actors by which agents tell speakers apart.

    A speaker in the role `user` without a name is "the user", with truths of his own. An actor
    called "User" or by an account ("ben_77", "u-1042") is the user too, where no other actor speaks
    in that role: that is a client's label for the user. Beside other actors, or in another role, an
    account is a name, and "User" becomes "Actor User". So no other actor's truths become the
    user's.

    Args:
        messages: Some of the conversation's messages.
        conversation: All of its messages.

    """
    label = only_person(conversation)
    if label is not None and not (_is_called_user(label) or _ACCOUNT.fullmatch(label)):
        label = None
    return [_renamed(message, label) for message in messages]


def only_person(messages: Iterable[Message]) -> str | None:
    """The only actor who speaks in the role `user`, in small letters; else None."""
    actors = {
        message.actor.strip().casefold()
        for message in messages
        if message.role == "user" and message.actor
    }
    return actors.pop() if len(actors) == 1 else None


def in_its_zone(messages: Sequence[Message], time_zone: str | None) -> list[Message]:
    """Messages with their moments as the clocks of a time zone show them.

    "Yesterday" is a day in that zone.

    Args:
        messages: Messages with moments in any zone.
        time_zone: The conversation's zone; None leaves the messages as they are.

    """
    if time_zone is None:
        return [*messages]
    zone = zone_of(time_zone)
    return [message.changed(timestamp=local(message.timestamp, zone)) for message in messages]


_ACCOUNT: Final = re.compile(r"(?=\D{0,200}\d|[^_]{0,200}_|[^@]{0,200}@)[\w@.+|:-]{1,200}")
"""The name of an account, which is no name of a person: it has a digit, "_" or "@"."""


def _is_called_user(actor: str) -> bool:
    return actor.strip().casefold() == "user"


def _renamed(message: Message, label: str | None) -> Message:
    actor = (message.actor or "").strip()
    if message.role == "user" and actor.casefold() == label:
        return message.changed(actor=None)
    return message.changed(actor=f"Actor {actor}") if _is_called_user(actor) else message


# A task: work that continues after its call was answered.
#
# Any caller of its owner may watch, retry or cancel it. It is a projection: the conversation, the
# memories and the log say what was really done. `attempts` counts only unexpected failures (for a
# webhook, failed tries). A wait for a dependency that is down is no attempt.


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
"""Fields of a task that the API shows."""


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
    """A task. The public fields are those of the API; the other fields steer it.

    Attributes:
        subject_id: The task's subject: a conversation, a delivery, a buffer, messages to sum up or
            an operation.
        generation: Queue messages of an older generation are dropped.
        waits: How often the task waited for a dependency that was down.
        waiting_for: The dependency that the task waits for now.
        next_enqueue_at: When the task's last queue message can be received; None once a worker has
            it.
        leased_until: End of the lease, which is an optimisation.
        leased_by: The worker with the lease.
        callback_url: Where the task's end is reported.
        delivery_ids: Deliveries that report the end.

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
        """Whether the task makes no more progress by itself."""
        return self.status in FINISHED

    def public(self) -> dict[str, Any]:
        """The task as the API shows it."""
        return self.model_dump(mode="json", include=set(TASK_FIELDS))


class TaskMessage(DeferredModel):
    """A queue message: the task, its owner and its generation.

    It holds ids only, since any reader of a queue can read it. `waits` is how often this very
    message was put off because the task could not even be read.
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
        """The app and the user whose task it is."""
        return Owner(self.app_id, self.user_id)

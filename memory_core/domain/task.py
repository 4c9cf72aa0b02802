"""A task: work that goes on after its call was answered.

Any caller of its owner may watch, retry or cancel it. It is a projection: what was really done is in the conversation, the memories and the
log. `attempts` counts unexpected failures only (of a webhook, tries that came to nothing); waiting for a dependency that is down spends
none.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from memory_core.domain.scope import Owner, check_app_id, check_name

TaskKind = Literal[
    "converse", "agent_memory", "summary", "webhook", "flush", "decay", "archive", "forget", "export", "import", "erase",
    "consolidate", "reembed",
]  # fmt: skip
TaskStatus = Literal["accepted", "running", "succeeded", "failed", "poisoned", "cancelled"]
FINISHED: frozenset[TaskStatus] = frozenset({"succeeded", "failed", "poisoned", "cancelled"})
TASK_FIELDS = ("task_id", "kind", "status", "step", "progress", "attempts", "result", "error", "created_at", "updated_at")
"""The public ones."""


class Task(BaseModel):
    """One task. Public fields are those of the API; the others steer it.

    subject_id: what it is about (a conversation, a delivery, a buffer, messages to sum up, an operation). generation: messages of an
    older one are dropped. callback_url, delivery_ids: whom to tell of its end, and the deliveries that did or do so.
    next_enqueue_at: when its last message is there to be received. leased_until, leased_by: who works on it, as an optimisation.
    waits, waiting_for: how often it waited for a dependency that was down, and for which it waits now.
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

    @property
    def finished(self) -> bool:
        """Whether nothing more will happen by itself."""
        return self.status in FINISHED

    def public(self) -> dict[str, Any]:
        """The task as the API shows it."""
        return self.model_dump(mode="json", include=set(TASK_FIELDS))


class TaskMessage(BaseModel):
    """What a queue carries: whose task it is and of which generation. Ids only, since anybody who may read a queue may read this.

    waits: how often this very message was put off because the task could not even be read.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    app_id: Annotated[str, AfterValidator(check_app_id)]
    user_id: Annotated[str, AfterValidator(check_name)]
    task_id: Annotated[str, AfterValidator(check_name)]  # a store would take "../x" for a way to somewhere else
    generation: int
    waits: int = 0

    @property
    def owner(self) -> Owner:
        """Whose task it is."""
        return Owner(self.app_id, self.user_id)

"""A delivery: what a callback address is told when a task has ended, and a log of the tries to tell it.

Note: what is told is written down in the very commit that ends the task, so it can neither be forgotten nor change
afterwards. A task that ends twice (poisoned, retried, succeeded) has two deliveries.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from memory_core.domain.task import Task
from memory_core.ledger.ids import derived
from memory_core.ledger.tasks import written
from memory_core.ports import Document

KEPT_TRIES = 20
"""Of the log; a delivery that is retried by hand again and again keeps the latest."""
DeliveryState = Literal["pending", "delivered", "failed", "cancelled", "poisoned"]


class Try(BaseModel):
    """One POST: when, the status of the answer (None when there was none), and why that was no success."""

    model_config = ConfigDict(extra="forbid")

    at: datetime
    status_code: int | None = None
    error: str | None = None


class Delivery(BaseModel):
    """What goes to `url`: `body`, the public form of the task `task_id` as it ended."""

    model_config = ConfigDict(extra="forbid")

    id: str
    task_id: str
    url: str
    body: dict[str, Any]
    state: DeliveryState = "pending"
    tries: list[Try] = Field(default_factory=list)
    created_at: datetime

    @classmethod
    def of(cls, document: Document) -> Delivery:
        """The delivery in a document."""
        return cls.model_validate({name: value for name, value in document.body.items() if name not in ("epoch", "sequence")})

    def tried(self, attempt: Try) -> list[dict[str, Any]]:
        """The log with one more try, as it is stored."""
        return [entry.model_dump(mode="json") for entry in (*self.tries, attempt)][-KEPT_TRIES:]

    def public(self) -> dict[str, Any]:
        """The delivery as a task's result shows it."""
        last = self.tries[-1] if self.tries else None
        return {
            "delivery_id": self.id,
            "task_id": webhook_task_id(self.id),
            "url": self.url,
            "status": self.state,
            "attempts": len(self.tries),
            "status_code": last.status_code if last else None,
            "error": last.error if last else None,
            "tries": [attempt.model_dump(mode="json") for attempt in self.tries],
        }


def webhook_task_id(delivery_id: str) -> str:
    """The id of the task that delivers."""
    return derived("tsk", delivery_id)


def announced(task: Task, now: datetime) -> tuple[Task, tuple[Document, ...]]:
    """A task that has just ended and names the delivery that follows, and the documents of that. Without callback as it is, and none."""
    if task.callback_url is None or not task.finished:
        return task, ()
    identity = derived("dlv", task.task_id, str(task.generation), task.status)
    delivery = Delivery(id=identity, task_id=task.task_id, url=task.callback_url, body=task.public(), created_at=now)
    webhook = Task(
        task_id=webhook_task_id(identity),
        kind="webhook",
        created_at=now,
        updated_at=now,
        subject_id=identity,
        next_enqueue_at=now,
        correlation_id=task.correlation_id,
    )
    ended = task.model_copy(update={"delivery_ids": [*task.delivery_ids, identity]})
    return ended, (Document(identity, "delivery", delivery.model_dump(mode="json")), written(webhook))

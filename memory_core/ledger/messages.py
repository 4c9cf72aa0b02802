"""Messages that say that there is work: what is in one, which queue a task's go to, and telling it.

Note: a queue that can't be told refuses nothing. What is stored is found by the sweep.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime, timedelta

from pydantic import BaseModel, ConfigDict, ValidationError

from memory_core.domain.errors import FieldError, Malformed, Unavailable
from memory_core.domain.scope import Owner
from memory_core.domain.task import Task, TaskKind, TaskMessage
from memory_core.ports import QueueName, TaskQueue

OPERATIONS: frozenset[TaskKind] = frozenset({"decay", "archive", "forget", "export", "import", "erase", "consolidate", "reembed"})
"""Kinds whose work is an operation over many memories (`operations`)."""
TELL_WITHIN_S = 2.0
"""What a caller waits at most for the queue."""
log = logging.getLogger(__name__)


def queue_of(kind: TaskKind) -> QueueName:
    """The queue that tasks of a kind are worked from."""
    if kind == "webhook":
        return "webhooks"
    return "consolidation" if kind in OPERATIONS else "formation"


def message_for(owner: Owner, task: Task) -> TaskMessage:
    """The message that asks for the work on a task."""
    return TaskMessage(app_id=owner.app_id, user_id=owner.user_id, task_id=task.task_id, generation=task.generation)


def message_of(body: str) -> TaskMessage:
    """The message in a queue's body. Raises Malformed."""
    try:
        return TaskMessage.model_validate_json(body)
    except ValidationError as error:
        fields = tuple(
            FieldError(".".join(map(str, problem["loc"])), problem["msg"])
            for problem in error.errors(include_url=False, include_input=False)
        )
        raise Malformed("a message that is not one of ours", errors=fields) from None


class DueMessage(BaseModel):
    """Says that a user's consolidation is due: its receiver begins the run, if it still is.

    tick: when this was found, of the hour's message or of a save. waits: how often it was put off because the store was away.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    app_id: str
    user_id: str
    tick: datetime
    waits: int = 0

    @property
    def owner(self) -> Owner:
        """Whose run it is."""
        return Owner(self.app_id, self.user_id)


async def tell(queue: TaskQueue, name: QueueName, message: TaskMessage, delay: timedelta = timedelta(0)) -> tuple[str, ...]:
    """Put a task's message into its queue: nothing, or `("queue",)` when that was not possible; then the sweep does it."""
    failed = await _failed(queue, name, message.model_dump_json(), delay)
    if failed is not None:
        log.warning("the task %s waits for the sweep, because the queue could not be told: %s", message.task_id, failed)
        return ("queue",)
    return ()


async def tell_due(queue: TaskQueue, owner: Owner, now: datetime, delay: timedelta = timedelta(0)) -> None:
    """Say that a user's consolidation is due, without waiting for the hour; when the queue can't be told, the hour does it."""
    message = DueMessage(app_id=owner.app_id, user_id=owner.user_id, tick=now)
    failed = await _failed(queue, "consolidation", message.model_dump_json(), delay)
    if failed is not None:
        log.warning("a consolidation waits for the hour, because the queue could not be told: %s", failed)


async def _failed(queue: TaskQueue, name: QueueName, body: str, delay: timedelta) -> Exception | None:
    try:
        async with asyncio.timeout(TELL_WITHIN_S):
            await queue.send(name, body, delay=delay)
    except (Unavailable, TimeoutError) as error:
        return error
    return None

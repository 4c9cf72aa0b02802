"""Converse: a conversation is stored with its task in one commit, and answered; the rest happens by itself.

One would get wrong: the queue is told after the commit and may be down. That refuses nothing: what is stored is found by the sweep.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from memory_core.domain.conversation import Conversation, Message
from memory_core.domain.errors import Unavailable
from memory_core.domain.models import Head
from memory_core.domain.requests import ConverseInput
from memory_core.domain.results import Accepted, Call
from memory_core.domain.scope import Owner
from memory_core.domain.task import Task, TaskMessage
from memory_core.formation.conversations import documents_of
from memory_core.ledger.changes import Changes
from memory_core.ledger.commit import Ledger, Look
from memory_core.ledger.receipts import earlier_result, receipt, receipt_id
from memory_core.ledger.tasks import written
from memory_core.ports import Clock, IdSource, TaskQueue

QUEUE = "formation"
TELL_WITHIN_S = 2.0
"""What a caller waits at most for the queue."""
log = logging.getLogger(__name__)


async def tell(queue: TaskQueue, message: TaskMessage, delay: timedelta = timedelta(0)) -> tuple[str, ...]:
    """Put a task's message into its queue: nothing, or `("queue",)` when that was not possible; then the sweep does it."""
    try:
        async with asyncio.timeout(TELL_WITHIN_S):
            await queue.send(QUEUE, message.model_dump_json(), delay=delay)
    except (Unavailable, TimeoutError) as error:
        log.warning("the task %s waits for the sweep, because the queue could not be told: %s", message.task_id, error)
        return ("queue",)
    return ()


class Converser:
    """Takes conversations in."""

    def __init__(self, ledger: Ledger, queue: TaskQueue, clock: Clock, ids: IdSource) -> None:
        self._ledger, self._queue, self._clock, self._ids = ledger, queue, clock, ids

    async def converse(self, owner: Owner, told: ConverseInput, call: Call) -> Accepted:
        """Store a conversation and send it on its way. Durable when it returns.

        The same again is another conversation, unless it has the same idempotency key. Raises Conflict, TooLarge, Unavailable.
        """
        conversation, task = self._begun(told, call)
        name = receipt_id(owner, call)

        def decide(look: Look) -> Changes[str]:
            earlier = earlier_result(look.documents, owner, call)
            if earlier is not None:
                return Changes(str(earlier["task_id"]))
            if task.task_id in look.documents:
                return Changes(task.task_id)  # an earlier try, whose answer was lost
            creates = (*documents_of(conversation), written(task), *receipt(owner, call, task.created_at, {"task_id": task.task_id}))
            return Changes(task.task_id, creates=creates, head_fields=_one_more)

        committed = await self._ledger.commit(owner, decide, ids=[task.task_id, *([name] if name else [])], call=call)
        if committed.result != task.task_id:
            return Accepted(committed.result)
        message = TaskMessage(app_id=owner.app_id, user_id=owner.user_id, task_id=task.task_id, generation=task.generation)
        return Accepted(task.task_id, await tell(self._queue, message))

    def _begun(self, told: ConverseInput, call: Call) -> tuple[Conversation, Task]:
        now, task_id = self._clock.now(), self._ids.new("tsk")
        conversation = Conversation(
            id=self._ids.new("cnv"),
            session_id=told.session_id,
            agent_id=told.agent_id,
            messages=[Message.model_validate(message.model_dump()) for message in told.messages],
            task_id=task_id,
            correlation_id=call.correlation_id,
            created_at=now,
        )
        task = Task(
            task_id=task_id,
            kind="converse",
            created_at=now,
            updated_at=now,
            subject_id=conversation.id,
            next_enqueue_at=now,
            callback_url=told.callback_url,
            correlation_id=call.correlation_id,
        )
        return conversation, task


def _one_more(head: Head) -> Mapping[str, Any]:
    return {"pending_tasks": head.pending_tasks + 1}

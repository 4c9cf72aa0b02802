"""The work on one task, as a queue's message asks for it: cell by cell, each in one commit, stopped and gone on with at any point.

One would get wrong: returning acknowledges the message. So whoever can't finish sends another message first, or has written down
when the sweep is to send one; and what is raised comes back by itself, and too often ends in the poison queue.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import timedelta
from typing import Any

from pydantic import ValidationError

from memory_core.domain.conversation import Cell, Conversation
from memory_core.domain.errors import FieldError, HeadMoved, Malformed, NotFound, Unavailable
from memory_core.domain.results import Call
from memory_core.domain.task import TaskMessage
from memory_core.formation.conversations import Pair, conversation_of, messages_id
from memory_core.formation.converse import QUEUE, tell
from memory_core.formation.former import Formed, Former
from memory_core.ledger.changes import Changes
from memory_core.ledger.commit import Ledger, Look
from memory_core.ledger.leases import MOMENT, Later, Lease, Leases, TaskLost, pause, said
from memory_core.ledger.steps import Steps
from memory_core.ledger.tasks import HeldTask, written
from memory_core.ports import POISON, Clock, Document, TaskQueue

PASSING = (Unavailable, HeadMoved, TimeoutError)
"""What is worth waiting for: a dependency that is down, too many writers, no answer in time."""
ACTOR = "formation"
GAVE_UP = "its message was taken up too often without an end: the worker was killed, or ran out of time"
log = logging.getLogger(__name__)


class Worker:
    """Works on tasks of the queue `formation`."""

    def __init__(self, ledger: Ledger, leases: Leases, former: Former, steps: Steps, queue: TaskQueue, clock: Clock) -> None:
        self._ledger, self._leases, self._former, self._steps = ledger, leases, former, steps
        self._queue, self._clock = queue, clock

    async def work(self, body: str) -> None:
        """Do what a message asks for, or see to it that it comes again. Raises Malformed; Unavailable when not even that is possible."""
        message = message_of(body)
        try:
            lease = await self._leases.take(message)
        except Unavailable as error:
            return await self._put_off(message, error)
        if isinstance(lease, Later):
            return await self._send(message, lease.delay)
        if lease is None:
            log.debug("a message of the task %s has nothing left to do", message.task_id)
            return None
        try:
            await self._work(lease, message)
        except TaskLost:
            log.info("the task %s went on without this worker", message.task_id)
        except Unavailable as error:  # of the store, which can't be told why
            await self._put_off(message, error)
        return None

    async def give_up(self, body: str) -> None:
        """A message came too often: its task is poisoned, unless that is finished or has a newer message. Raises Unavailable.

        One that is not ours has no task that could say so: it is logged, and gone.
        """
        try:
            message = message_of(body)
        except Malformed:
            log.error("dropped from the poison queue: %.200s", body)
            return
        pair = await self._pair(message)
        if pair is None:
            return
        alive = (pair.task.leased_until or self._clock.now()) - self._clock.now()
        if alive > timedelta(0):
            await self._queue.send(QUEUE + POISON, body, delay=alive + MOMENT)
        else:
            await self._poison(message, pair, GAVE_UP)

    async def _work(self, lease: Lease, message: TaskMessage) -> None:
        try:
            async with lease.kept_alive():
                await self._form(lease)
        except TaskLost:
            raise
        except PASSING as error:
            log.info("the task %s waits: %s", message.task_id, error)
            await tell(self._queue, message, await lease.wait(error))
        except Exception as error:
            log.exception("the task %s failed, correlation id %s", message.task_id, lease.task.correlation_id)
            delay = await lease.fail(error)
            if delay is not None:
                await tell(self._queue, message, delay)
            elif (pair := await self._pair(message)) is not None:
                await self._poison(message, pair, said(error), attempts=lease.task.attempts + 1)

    async def _form(self, lease: Lease) -> None:
        """Form what is left of the conversation; its last commit ends the task."""
        owner, task = lease.owner, lease.task
        conversation = await self._conversation(lease)
        if conversation.state != "pending":
            return
        call = Call(correlation_id=task.correlation_id, actor=ACTOR)
        await lease.report("boundary", task.progress)
        cells = await self._former.cells(owner, conversation, self._steps)
        left = cells[len(conversation.formed_cells) :]
        if not left:
            raise RuntimeError(f"of {len(cells)} cells none is left, but the conversation is not formed")
        counts = dict((task.result or {}).get("counts", {}))
        for cell in left:
            formed = await self._cell(lease, conversation, cell, len(cells), call, counts)
            if formed is None:
                return
            counts = _added(counts, formed.counts)

    async def _conversation(self, lease: Lease) -> Conversation:
        name = lease.task.subject_id
        look = await self._ledger.look(lease.owner, [name, messages_id(name)])
        found = conversation_of(look, name)
        if found is None:
            raise NotFound("the conversation of this task is gone")
        return found

    async def _cell(
        self, lease: Lease, conversation: Conversation, cell: Cell, total: int, call: Call, counts: dict[str, int]
    ) -> Formed | None:
        async def report(step: str, share: float) -> None:
            shown = {"conversation_id": conversation.id, "counts": counts}
            await lease.report(f"cell {cell.number + 1} of {total}: {step}", (cell.number + share) / total, result=shown)

        def finish(formed_conversation: Conversation, formed: Formed) -> tuple[Document, ...]:
            return (self._ended(lease.held, formed_conversation, _added(counts, formed.counts)),)

        return await self._former.form(lease.owner, conversation, cell, total, self._steps, call, finish=finish, report=report)

    def _ended(self, held: HeldTask, conversation: Conversation, counts: dict[str, int]) -> Document:
        """The task as the last forming commit leaves it, whoever else is still writing that it is on its way."""
        result = {
            "conversation_id": conversation.id,
            "cells": [cell.model_dump() for cell in conversation.formed_cells],
            "counts": counts,
        }
        task = held.task.model_copy(
            update={
                "status": "succeeded",
                "step": None,
                "progress": 1.0,
                "result": result,
                "error": None,
                "leased_by": None,
                "leased_until": None,
                "next_enqueue_at": None,
                "updated_at": self._clock.now(),
            }
        )
        return replace(written(task, onto=held.document), tag=None)

    async def _pair(self, message: TaskMessage) -> Pair | None:
        return Pair.of(await self._ledger.look(message.owner, [message.task_id]), message.task_id)

    async def _poison(self, message: TaskMessage, seen: Pair, why: str, **fields: Any) -> None:
        """End the task as poisoned, while the message's generation is its latest."""

        def decide(look: Look) -> Changes[Any]:
            pair = Pair.of(look, message.task_id)
            if pair is None or pair.task.finished or pair.task.generation != message.generation:
                return Changes(None)
            return pair.turned("poisoned", self._clock.now(), status="poisoned", error=why, next_enqueue_at=None, **fields)

        ids = [message.task_id, seen.task.subject_id]
        committed = await self._ledger.commit(message.owner, decide, ids=ids, call=Call(actor=ACTOR))
        if committed.result is not None:
            log.error("the task %s is poisoned: %s", message.task_id, why)

    async def _put_off(self, message: TaskMessage, error: Unavailable) -> None:
        """Nothing can be written down, so the message itself counts how often it came in vain. Raises Unavailable when it can't be sent."""
        log.info("the task %s is put off: %s", message.task_id, error.detail)
        await self._send(message.model_copy(update={"waits": message.waits + 1}), pause(message.waits, error))

    async def _send(self, message: TaskMessage, delay: timedelta) -> None:
        await self._queue.send(QUEUE, message.model_dump_json(), delay=delay)


def message_of(body: str) -> TaskMessage:
    """The message in a queue's body. Raises Malformed."""
    try:
        return TaskMessage.model_validate_json(body)
    except ValidationError as error:
        fields = tuple(
            FieldError(".".join(map(str, one["loc"])), one["msg"]) for one in error.errors(include_url=False, include_input=False)
        )
        raise Malformed("a message that is not one of ours", errors=fields) from None


def _added(counts: dict[str, int], more: Any) -> dict[str, int]:
    return {name: counts.get(name, 0) + more.get(name, 0) for name in (*counts, *(name for name in more if name not in counts))}

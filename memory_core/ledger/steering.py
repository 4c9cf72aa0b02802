"""What people may do to a task: retry one that gave up or waits, cancel one that is not done.

Note: cancelling undoes nothing. What was formed stays; what is being formed stops within a second, and could not be
committed any more, since the commit finds the conversation in another state than it was read in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from memory_core.domain.errors import Conflict, NotFound
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.domain.task import Task
from memory_core.ledger.changes import Changes
from memory_core.ledger.commit import Ledger, Look
from memory_core.ledger.conversations import unread
from memory_core.ledger.ends import Ends
from memory_core.ledger.messages import message_for, queue_of, tell
from memory_core.ledger.pair import Pair
from memory_core.ledger.receipts import earlier_result, receipt, receipt_id
from memory_core.ledger.tasks import Tasks
from memory_core.ports import Clock, TaskQueue

LEAVING_SOMETHING = frozenset({"export", "import"})
"""Kinds of tasks whose files and staged documents have to go when they are cancelled."""
Turn = Callable[[Pair], Changes[Task]]


class _AboutSomethingElse(Exception):
    """The messages that a task waited for became a conversation meanwhile: look again."""


class Steering:
    """Retries and cancels tasks."""

    def __init__(self, ledger: Ledger, tasks: Tasks, ends: Ends, queue: TaskQueue, clock: Clock) -> None:
        self._ledger, self._tasks, self._ends, self._queue, self._clock = ledger, tasks, ends, queue, clock

    async def retry(self, owner: Owner, task_id: str, call: Call) -> Task:
        """Begin again with a task that failed, is poisoned or waits: with fresh attempts, from what is formed already.

        Raises NotFound; Conflict for one that is done, cancelled or being worked on.
        """

        def turn(pair: Pair) -> Changes[Task]:
            task, now = pair.task, self._clock.now()
            if task.kind == "import" and task.status == "failed":
                raise Conflict("what was brought has been refused and is gone; begin another import")
            if task.status in ("succeeded", "cancelled"):
                raise Conflict(f"this task is {task.status}; only one that failed, is poisoned or waits can be retried")
            if task.leased_until is not None and task.leased_until > now:
                raise Conflict("this task is being worked on; it can be retried when that has failed")
            return pair.turned(
                "pending", now, status="accepted", generation=task.generation + 1, attempts=0, waits=0, error=None, next_enqueue_at=now
            )

        task, changed = await self._turn(owner, task_id, turn, call)
        if changed:
            await tell(self._queue, queue_of(task.kind), message_for(owner, task))
        return task

    async def cancel(self, owner: Owner, task_id: str, call: Call) -> Task:
        """End a task before it is done, or the waiting for a retry. One that is cancelled already stays so.

        Messages that waited in a buffer are dropped, and so are those of a conversation of which nothing is formed. An export or an
        import takes away first what it has left lying; it is cancelled when that is done. Raises NotFound, Conflict.
        """

        def turn(pair: Pair) -> Changes[Task]:
            if pair.task.kind == "erase":
                raise Conflict("an erasure can't be taken back: from its first moment on nothing can be read any more")
            if pair.task.status == "cancelled":
                return Changes(pair.task)
            if pair.task.kind in LEAVING_SOMETHING and pair.task.status not in ("succeeded", "failed"):
                return _cancelling(pair, self._clock.now())
            if pair.task.status in ("succeeded", "failed"):
                raise Conflict(f"this task is {pair.task.status}; there is nothing left to cancel")
            if _half_forgotten(pair):
                raise Conflict("what is gone for good has to go from the log and from what mentions it too; this can't be stopped half-way")
            return _cancelled(pair, self._clock.now())

        task, changed = await self._turn(owner, task_id, turn, call)
        if changed and task.finished:
            await self._ends.announce(owner, task)
        elif changed:
            await tell(self._queue, queue_of(task.kind), message_for(owner, task))
        return task

    async def _turn(self, owner: Owner, task_id: str, turn: Turn, call: Call) -> tuple[Task, bool]:
        """Commit what `turn` makes of the task, with its receipt: the task, and whether anything was committed by this call."""
        while True:
            subject = (await self._tasks.get(owner, task_id)).subject_id
            try:
                return await self._turn_beside(subject, owner, task_id, turn, call)
            except _AboutSomethingElse:
                continue

    async def _turn_beside(self, subject: str, owner: Owner, task_id: str, turn: Turn, call: Call) -> tuple[Task, bool]:
        name = receipt_id(owner, call)

        def decide(look: Look) -> Changes[Task]:
            pair = Pair.of(look, task_id)
            if pair is None:
                raise NotFound("no task of this id for this user")
            if earlier_result(look.documents, owner, call) is not None:
                return Changes(pair.task)
            if pair.task.subject_id != subject:
                raise _AboutSomethingElse
            turned = turn(pair)
            return Changes(
                turned.result,
                puts=turned.puts,
                creates=receipt(owner, call, self._clock.now(), {"task_id": task_id}),
                head_fields=turned.head_fields,
                deletes=turned.deletes,
            )

        ids = [task_id, subject, *([name] if name else [])]
        committed = await self._ledger.commit(owner, decide, ids=ids, call=call, while_erasing=True)
        return committed.result, committed.changes is not None


def _half_forgotten(pair: Pair) -> bool:
    """Whether it has begun to forget for good: no filter finds what is gone then, so no other task would strike its words elsewhere."""
    work = pair.subject.body if pair.task.kind == "forget" and pair.subject is not None else None
    return work is not None and work["plan"].get("mode") == "hard" and work["cursor"] is not None


def _cancelled(pair: Pair, now: datetime) -> Changes[Task]:
    about = pair.subject
    deletes = unread(about.body) if about is not None and about.kind == "conversation" else ()
    return replace(pair.turned("cancelled", now, status="cancelled", next_enqueue_at=None), deletes=deletes)


def _cancelling(pair: Pair, now: datetime) -> Changes[Task]:
    """The task goes on, under a new message, to clear up after itself."""
    generation = pair.task.generation + 1
    return pair.turned("cancelling", now, status="accepted", step="cancelling", generation=generation, next_enqueue_at=now)

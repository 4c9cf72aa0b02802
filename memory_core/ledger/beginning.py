"""How a task begins: stored with what it is about in one commit, then told to the queue.

Note: the queue is told after the commit and may be down. That refuses nothing: what is stored is found by the sweep.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memory_core.domain.models import Head
from memory_core.domain.results import Accepted, Call
from memory_core.domain.scope import Owner
from memory_core.domain.task import Task
from memory_core.ledger.changes import Changes
from memory_core.ledger.commit import Ledger, Look
from memory_core.ledger.messages import message_for, queue_of, tell
from memory_core.ledger.pair import counted
from memory_core.ledger.receipts import earlier_result, receipt, receipt_id
from memory_core.ledger.tasks import written
from memory_core.ports import Document, TaskQueue


class Beginning:
    """Stores new tasks with what they are about, and sends them on their way."""

    def __init__(self, ledger: Ledger, queue: TaskQueue) -> None:
        self._ledger, self._queue = ledger, queue

    async def begin(
        self,
        owner: Owner,
        task: Task,
        subject: Callable[[Look], Sequence[Document]],
        call: Call,
        *,
        reads: Sequence[str] = (),
        fragile: bool = False,
        head_fields: Callable[[Head], Mapping[str, Any]] = lambda head: {},
        beside: Callable[[Look], Changes[Any]] | None = None,
        basis: Look | None = None,
        result: Mapping[str, Any] | None = None,
    ) -> Accepted:
        """One commit, and one message unless the task is to wait. The earlier task when this very call was made before.

        subject: what the task is about, from a look that shows the documents `reads`; it raises when what it sees forbids the task.
        fragile: any other commit of this user means looking again. head_fields: what of the head changes with it. beside: documents and
        memories that are written with it, by the same look, and what they change in the head. basis: what `look` showed. result: what the
        receipt says besides the task's id. Raises Conflict, TooLarge, Unavailable.
        """

        def decide(look: Look) -> Changes[str]:
            earlier = earlier_result(look.documents, owner, call)
            if earlier is not None:
                return Changes(str(earlier["task_id"]))
            if task.task_id in look.documents:
                return Changes(task.task_id)  # an earlier try, whose answer was lost
            creates = (*subject(look), written(task), *receipt(owner, call, task.created_at, {"task_id": task.task_id, **(result or {})}))
            more = Changes(None) if beside is None else beside(look)

            def fields(head: Head) -> Mapping[str, Any]:
                counts = {**counted(+1)(head), **head_fields(head)}
                return {**counts, **more.head_fields(head.model_copy(update=counts))}

            return Changes(
                task.task_id,
                more.changes,
                more.puts,
                (*creates, *more.creates),
                reads=more.reads,
                sessions=more.sessions,
                head_fields=fields,
                fragile=fragile,
            )

        ids = _read_ids(owner, task, reads, call)
        committed = await self._ledger.commit(owner, decide, ids=ids, basis=basis, call=call)
        waits = task.next_enqueue_at is not None and task.next_enqueue_at > task.created_at
        if committed.result != task.task_id or waits:
            return Accepted(committed.result)
        return Accepted(task.task_id, await self.tell(owner, task))

    async def look(self, owner: Owner, task: Task, reads: Sequence[str], call: Call) -> Look:
        """What a task that reads these documents is begun on."""
        return await self._ledger.look(owner, _read_ids(owner, task, reads, call))

    async def tell(self, owner: Owner, task: Task) -> tuple[str, ...]:
        """Put the task's message into its queue: nothing, or `("queue",)` when that was not possible; then the sweep does it."""
        return await tell(self._queue, queue_of(task.kind), message_for(owner, task))


def _read_ids(owner: Owner, task: Task, reads: Sequence[str], call: Call) -> list[str]:
    name = receipt_id(owner, call)
    return [task.task_id, *reads, *([name] if name else [])]

"""Ending tasks that no forming commit ends, and telling those who asked to be told of an end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.domain.task import Task, TaskMessage
from memory_core.ledger.changes import Changes
from memory_core.ledger.commit import Ledger, Look
from memory_core.ledger.delivery import webhook_task_id
from memory_core.ledger.messages import tell
from memory_core.ledger.pair import Pair
from memory_core.ports import Clock, TaskQueue

ACTOR = "formation"


class Ends:
    """Ends tasks."""

    def __init__(self, ledger: Ledger, queue: TaskQueue, clock: Clock) -> None:
        self._ledger, self._queue, self._clock = ledger, queue, clock

    async def end(self, owner: Owner, task: Task, state: str, *, subject: Mapping[str, Any] | None = None, **fields: Any) -> Task | None:
        """End a task while it is of `task`'s generation: it gets `fields`, what it is about `state` and the fields `subject`.

        None when another worker ended it, or began it again. Raises Unavailable, HeadMoved.
        """

        def decide(look: Look) -> Changes[Task | None]:
            pair = Pair.of(look, task.task_id)
            if pair is None or pair.task.finished or (pair.task.generation, pair.task.subject_id) != (task.generation, task.subject_id):
                return Changes(None)
            turned = pair.turned(state, self._clock.now(), subject=subject or {}, next_enqueue_at=None, **fields)
            return Changes(turned.result, puts=turned.puts, head_fields=turned.head_fields)

        ids = [task.task_id, task.subject_id]
        committed = await self._ledger.commit(owner, decide, ids=ids, call=Call(task.correlation_id, actor=ACTOR), while_erasing=True)
        if committed.result is not None:
            await self.announce(owner, committed.result)
        return committed.result

    async def announce(self, owner: Owner, task: Task) -> None:
        """Tell the queue of the delivery that follows a task's end, if one does. When it can't be told, the sweep does it."""
        if task.finished and task.delivery_ids:
            identity = webhook_task_id(task.delivery_ids[-1])
            await tell(self._queue, "webhooks", TaskMessage(app_id=owner.app_id, user_id=owner.user_id, task_id=identity, generation=0))

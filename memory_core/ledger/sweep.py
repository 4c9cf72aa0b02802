"""The sweep: tasks whose message got lost, or was never sent, are sent again. Hourly, over the users for whom work waits.

Note: the generation is raised before the message is sent. A message that was only late, and comes after all, then
finds that it is an old one; sent first, both would be worked on.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from memory_core.domain.models import Head
from memory_core.domain.results import Swept
from memory_core.domain.scope import Owner
from memory_core.domain.task import Task
from memory_core.ledger.bookkeeping import kept
from memory_core.ledger.messages import message_for, queue_of
from memory_core.ledger.tasks import HeldTask, Tasks
from memory_core.ports import Clock, IdSource, LongTermStore, Place, TaskQueue

GRACE = timedelta(minutes=5)
"""How late a message may be before it counts as lost; doubled with each generation, since a queue may just be long."""
MAX_SENT = 2_000
OWNERS_A_PAGE = 100
log = logging.getLogger(__name__)


class Sweep:
    """Finds tasks that no worker came for."""

    def __init__(self, store: LongTermStore, tasks: Tasks, queue: TaskQueue, clock: Clock, ids: IdSource) -> None:
        self._store, self._tasks, self._queue, self._clock, self._ids = store, tasks, queue, clock, ids

    async def run(self, *, dry_run: bool = False, limit: int = MAX_SENT) -> Swept:
        """Send again what is due, at most `limit` tasks; with `dry_run` only count. Raises Unavailable when store or queue is down."""
        users = due = sent = 0
        after: Owner | None = None
        while page := await self._store.waiting(after, OWNERS_A_PAGE):
            for owner, head in page:
                users += 1
                for held_task in await self._due(owner, head):
                    if due == limit:
                        return Swept(users, due, sent, capped=True)
                    due += 1
                    sent += not dry_run and await self._send_again(owner, held_task)
            after = page[-1][0]
        return Swept(users, due, sent, capped=False)

    async def _due(self, owner: Owner, head: Head) -> list[HeldTask]:
        """The user's unfinished tasks that are overdue; it looks no further back than to as many as the head counts."""
        waiting: list[HeldTask] = []
        after: Place | None = None
        while (missing := head.pending_tasks - len(waiting)) > 0:
            unfinished, after = await self._tasks.some(owner, head, lambda task: not task.finished, after, missing)
            waiting += unfinished
            if after is None:
                break
        now = self._clock.now()
        return [held_task for held_task in waiting if overdue(held_task.task, now)]

    async def _send_again(self, owner: Owner, held_task: HeldTask) -> bool:
        """Raise the generation, then send; False when another process came first."""
        task, now = held_task.task, self._clock.now()
        generation = task.generation + 1
        name = self._ids.new("swp")  # no two sweeps may write the same, or both would win
        changed = held_task.changed(generation=generation, next_enqueue_at=now, leased_by=name, leased_until=None, updated_at=now)
        if await kept(self._store, owner, changed) is None:
            return False
        message = message_for(owner, task.model_copy(update={"generation": generation}))
        await self._queue.send(queue_of(task.kind), message.model_dump_json())
        log.info("the task %s was sent again", task.task_id)
        return True


def overdue(task: Task, now: datetime) -> bool:
    """Whether no worker has it and its message should have been received long ago."""
    expected = max(task.next_enqueue_at or task.created_at, task.leased_until or task.created_at)
    late: bool = now > expected + GRACE * 2 ** min(task.generation, 8)
    return late

"""Work on a single task, and the services that every kind of task needs.

Note: returning acknowledges the message. So a worker that can't finish first sends another message,
or has written when the sweep is to send a message. After an error that is raised, the message comes
back by itself; if that happens too often, it ends in the poison queue.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta

from memory_core.domain.conversation import Task, TaskKind, TaskMessage
from memory_core.domain.errors import EpochEnded, HeadMoved, Malformed, QuotaExceeded, Unavailable
from memory_core.ledger.commit import Ledger
from memory_core.ledger.cursors import Cursors
from memory_core.ports import POISON, Clock, IdSource, LongTermStore, QueueName, TaskQueue
from memory_core.tasks.agent_steps import Steps
from memory_core.tasks.control import Sweep, TaskControl
from memory_core.tasks.leases import (
    MOMENT,
    Lease,
    Leases,
    RetryLater,
    TaskLost,
    error_text,
    is_leased,
    leased_until,
    retry_pause,
)
from memory_core.tasks.lifecycle import (
    LONGEST_DELAY,
    TaskFinisher,
    TaskStarter,
    message_for,
    message_of,
    queue_of,
    send_task,
)
from memory_core.tasks.operations import Operations
from memory_core.tasks.store import Tasks

PASSING = (Unavailable, HeadMoved, TimeoutError)
"""Errors that pass with time: a dependency that is down, too many writers, no answer in time."""
GAVE_UP = (
    "its message was taken up too often without an end: the worker was killed, or ran out of time"
)
log = logging.getLogger(__name__)

Work = Callable[[Lease], Awaitable[RetryLater | None]]
"""Does the work of a kind of task. Returns None if no work is left here, and Later if the task is
to be handed back, and its message to come again.
"""


class Worker:
    """Works on tasks by their kinds."""

    def __init__(
        self,
        tasks: Tasks,
        leases: Leases,
        works: Mapping[TaskKind, Work],
        finisher: TaskFinisher,
        queue: TaskQueue,
        clock: Clock,
    ) -> None:
        self._tasks, self._leases, self._works, self._finisher = tasks, leases, works, finisher
        self._queue, self._clock = queue, clock

    async def work(self, body: str, name: QueueName) -> None:
        """Do the work that a message asks for, or let the message come again.

        Args:
            body: Body of the message.
            name: Name of the queue.

        Raises:
            Malformed: The message is not of this service.
            Unavailable: The message can't be sent again.

        """
        message = message_of(body)
        try:
            lease = await self._leases.take(message)
        except Unavailable as error:
            return await self._put_off(name, message, error)
        if isinstance(lease, RetryLater):
            delay = min(lease.delay, LONGEST_DELAY)
            return await self._queue.send(name, message.model_dump_json(), delay=delay)
        if lease is None:
            log.debug("a message of the task %s has nothing left to do", message.task_id)
            return None
        return await self._go_on(lease, name, message)

    async def go_on(self, lease: Lease) -> None:
        """Do the remaining work of a task that this worker has. Raises Unavailable."""
        message = message_for(lease.owner, lease.task)
        await self._go_on(lease, queue_of(lease.task.kind), message)

    async def _go_on(self, lease: Lease, name: QueueName, message: TaskMessage) -> None:
        try:
            await self._work(lease, name, message)
        except TaskLost:
            log.info("the task %s went on without this worker", message.task_id)
        except Unavailable as error:  # the store is down, so the task can't record it
            await self._put_off(name, message, error)

    async def give_up(self, body: str, name: QueueName) -> None:
        """Poison the task of a message that came too often.

        A task that is finished or has a newer message is left as it is. A message that is not of
        this service has no task that could be poisoned: it is logged and dropped.

        Args:
            body: Body of the message.
            name: Name of the queue.

        Raises:
            Unavailable: The store or the queue is down.

        """
        try:
            message = message_of(body)
        except Malformed:
            log.error(
                "a message of %d characters that is not ours is dropped from the poison queue",
                len(body),
            )
            return
        stored_task = await self._tasks.find(message.owner, message.task_id)
        if stored_task is None or stored_task.task.generation != message.generation:
            return
        now = self._clock.now()
        if is_leased(stored_task.task, now):
            left = leased_until(stored_task.task, now) - now
            await self._queue.send(name + POISON, body, delay=left + MOMENT)
        else:
            await self._poison(message, stored_task.task, GAVE_UP)

    async def _work(self, lease: Lease, name: QueueName, message: TaskMessage) -> None:
        try:
            async with lease.kept_alive():
                later = await self._works[lease.task.kind](lease)
            if later is not None:
                await lease.hand_back(later.delay, **later.fields)
                await send_task(self._queue, name, message, later.delay)
        except TaskLost:
            raise
        except EpochEnded:  # the task went with the user's data
            raise TaskLost from None
        except QuotaExceeded as error:
            # a retry fails until there is room; the task can be retried then
            await self._poison(message, lease.task, error_text(error), level=logging.INFO)
        except PASSING as error:
            log.info("the task %s waits: %s", message.task_id, error)
            await send_task(self._queue, name, message, await lease.wait(error))
        except Exception as error:
            log.exception(
                "the task %s failed, correlation id %s", message.task_id, lease.task.correlation_id
            )
            delay = await lease.fail(error)
            if delay is not None:
                await send_task(self._queue, name, message, delay)
            else:
                await self._poison(message, lease.task, error_text(error), lease.task.attempts + 1)

    async def _poison(
        self,
        message: TaskMessage,
        task: Task,
        why: str,
        attempts: int | None = None,
        *,
        level: int = logging.ERROR,
    ) -> None:
        spent = task.attempts if attempts is None else attempts
        if (
            await self._finisher.end(
                message.owner, task, "poisoned", status="poisoned", error=why, attempts=spent
            )
            is not None
        ):
            log.log(level, "the task %s is poisoned: %s", message.task_id, why)

    async def _put_off(self, name: QueueName, message: TaskMessage, error: Unavailable) -> None:
        """Send a message again, counting in it how often that was needed.

        The store is down, so the task itself can't count it. Raises Unavailable if the message
        can't be sent.
        """
        log.info("the task %s is put off: %s", message.task_id, error.detail)
        again = message.put_off()
        await self._queue.send(
            name, again.model_dump_json(), delay=retry_pause(message.waits, error)
        )


class TaskServices:
    """The parts of this package, by name. A worker may be silent for `lease`."""

    def __init__(
        self,
        store: LongTermStore,
        ledger: Ledger,
        queue: TaskQueue,
        cursors: Cursors,
        clock: Clock,
        ids: IdSource,
        lease: timedelta,
    ) -> None:
        self._queue, self._clock = queue, clock
        self.tasks = Tasks(store, cursors)
        self.steps = Steps(store, clock)
        self.finisher = TaskFinisher(ledger, queue, clock)
        self.starter = TaskStarter(ledger, queue)
        self.operations = Operations(ledger, self.starter, self.finisher, clock, ids)
        self.control = TaskControl(ledger, self.tasks, self.finisher, queue, clock)
        self.sweep = Sweep(store, self.tasks, queue, clock, ids)
        self.leases = Leases(store, self.tasks, clock, ids, lease)

    def worker(self, works: Mapping[TaskKind, Work]) -> Worker:
        """A worker with the given work for each kind of task."""
        return Worker(self.tasks, self.leases, works, self.finisher, self._queue, self._clock)

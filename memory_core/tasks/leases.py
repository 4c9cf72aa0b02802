"""Leases: which worker has a task, its progress, and when it is tried again.

Note: a lease only saves work. A worker that lost it and goes on does no harm, since its results
reach the store only by commits that check the conversation. It is stopped (TaskLost) because the
rest of its work would be thrown away. Later times in a task were written by another machine's
clock. A clock that is ahead by more than `MAX_SKEW` holds no worker up: `leased_until` and `due_at`
ignore the times that it wrote.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Unpack

from memory_core.domain.conversation import Task, TaskFields, TaskMessage
from memory_core.domain.errors import HeadMoved, MemoryCoreError, Unavailable, described
from memory_core.domain.scope import Owner
from memory_core.domain.skew import is_written_ahead
from memory_core.ports import Clock, Document, IdSource, LongTermStore
from memory_core.tasks.store import StoredTask, Tasks, put_with_retry, task_document

MAX_ATTEMPTS = 5
FIRST_PAUSE, LONGEST_PAUSE = timedelta(seconds=30), timedelta(minutes=15)
OUTAGE_PAUSE = timedelta(seconds=2)
"""The first wait for a dependency that is down: most are back at once, and a wait
spends no attempt.
"""
MAX_ERROR_CHARACTERS = 500
TRIES = 3
LOOK_S = 0.5
"""Seconds between two looks at whether a task was cancelled while it is worked on."""
MOMENT = timedelta(seconds=1)
log = logging.getLogger(__name__)


class TaskLost(Exception):
    """Another worker or caller finished, cancelled or took over the task: stop silently."""


@dataclass(frozen=True, slots=True)
class RetryLater:
    """Not now: a worker has the task, or it waits.

    Attributes:
        delay: After which the message is to come again.
        fields: Fields of the task, to be set until then.

    """

    delay: timedelta
    fields: TaskFields = field(default_factory=TaskFields)


def retry_pause(times: int, error: BaseException | None = None) -> timedelta:
    """How long to wait after a failed try.

    It is at least as long as the error asks for.
    The wait doubles each time, and is random by 25 % more or less, so that not all tasks come back
    at once. It begins with 1 second if another commit only came first, with 2 seconds if a
    dependency is down, and with 30 seconds after an unexpected failure, of which few are allowed.

    Args:
        times: How many tries failed before, from 0.
        error: Error of this try; None for an unexpected failure.

    """
    first = (
        MOMENT
        if isinstance(error, HeadMoved)
        else OUTAGE_PAUSE
        if isinstance(error, (Unavailable, TimeoutError))
        else FIRST_PAUSE
    )
    chosen: timedelta = min(first * 2 ** min(times, 16), LONGEST_PAUSE) * random.uniform(0.75, 1.25)
    asked: int | None = error.retry_after_s if isinstance(error, MemoryCoreError) else None
    return max(chosen, timedelta(seconds=asked or 0))


def error_text(error: BaseException) -> str:
    """An error as a task shows it to its owner."""
    return described(error)[:MAX_ERROR_CHARACTERS]


def is_leased(task: Task, now: datetime) -> bool:
    """Whether a worker has the task.

    Args:
        task: As it was read.
        now: The present time.

    """
    return leased_until(task, now) > now


def leased_until(task: Task, now: datetime) -> datetime:
    """Until when a worker has the task.

    Args:
        task: As it was read.
        now: The present time.

    Returns:
        `now` if no worker has it.

    """
    if task.leased_until is None or is_written_ahead(task.updated_at, now):
        return now
    return max(task.leased_until, now)


def due_at(task: Task, now: datetime) -> datetime:
    """When the task may be worked on, apart from its lease.

    A task that was written by a clock slightly ahead waits as long as it would by that clock.

    Args:
        task: As it was read.
        now: The present time.

    Returns:
        `now` if it is due already.

    """
    if task.next_enqueue_at is None or is_written_ahead(task.updated_at, now):
        return now
    ahead = max(task.updated_at - now, timedelta(0))
    return max(task.next_enqueue_at - ahead, now)


class Leases:
    """Gives tasks to workers. A lease lasts for `length` without a sign of life."""

    def __init__(
        self, store: LongTermStore, tasks: Tasks, clock: Clock, ids: IdSource, length: timedelta
    ) -> None:
        self._store, self._tasks, self._clock, self._ids, self._length = (
            store,
            tasks,
            clock,
            ids,
            length,
        )

    async def take(self, message: TaskMessage) -> Lease | RetryLater | None:
        """The lease of the task that a message names.

        None for a task that is finished or gone, or has a newer message. Raises Unavailable.
        """
        for _ in range(TRIES):
            stored_task = await self._tasks.find(message.owner, message.task_id)
            if (
                stored_task is None
                or stored_task.task.finished
                or message.generation < stored_task.task.generation
            ):
                return None
            now = self._clock.now()
            free_at = max(leased_until(stored_task.task, now), due_at(stored_task.task, now))
            if free_at > now:
                return RetryLater(free_at - now + MOMENT)
            lease = Lease(
                self._store, self._tasks, self._clock, self._length, message.owner, stored_task
            )
            if await lease.began(self._ids.new("lea")):
                return lease
        return RetryLater(MOMENT)

    def taken(self, task: Task) -> Task:
        """A task that this worker has from its beginning."""
        now = self._clock.now()
        return task.changed(**_leased(self._ids.new("lea"), now + self._length))

    def begun(self, owner: Owner, task: Task, subject: Document, epoch: str) -> Lease:
        """The lease of a task that was stored as `taken` returned it.

        Args:
            owner: Whose task it is.
            task: As `taken` returned it.
            subject: The document that the task is about.
            epoch: Epoch of the owner.

        """
        document = task_document(task)
        document = replace(document, body={**document.body, "epoch": epoch})
        return Lease(
            self._store,
            self._tasks,
            self._clock,
            self._length,
            owner,
            StoredTask(task, document),
            subject,
        )


def _progress(step: str, progress: float, result: dict[str, Any] | None) -> TaskFields:
    fields: TaskFields = {"step": step, "progress": round(min(progress, 1.0), 3)}
    return fields if result is None else {**fields, "result": result}


def _leased(name: str, until: datetime) -> TaskFields:
    return {
        "status": "running",
        "leased_by": name,
        "leased_until": until,
        "next_enqueue_at": None,  # its message arrived, whatever clock had delayed it
        "waiting_for": None,
    }


class Lease:
    """The right to work on a task.

    `subject` is the document that the task is about, if this worker began the task.
    """

    def __init__(
        self,
        store: LongTermStore,
        tasks: Tasks,
        clock: Clock,
        length: timedelta,
        owner: Owner,
        stored_task: StoredTask,
        subject: Document | None = None,
    ) -> None:
        self._store, self._tasks, self._clock, self._length = store, tasks, clock, length
        self.owner, self._stored, self.subject = owner, stored_task, subject
        self._turn = asyncio.Lock()

    @property
    def stored(self) -> StoredTask:
        """The task as this lease last wrote it."""
        return self._stored

    @property
    def task(self) -> Task:
        """The task without its document."""
        return self._stored.task

    async def began(self, name: str) -> bool:
        """Take the lease; False if the task was changed meanwhile."""
        return await self._wrote(**_leased(name, self._clock.now() + self._length))

    async def report(
        self, step: str, progress: float, result: dict[str, Any] | None = None
    ) -> None:
        """Say how far it is, and that this worker is alive. Raises TaskLost.

        Args:
            step: The step under way.
            progress: The part that is done, from 0 to 1.
            result: The result so far; None leaves the result as it is.

        """
        fields = _progress(step, progress, result)
        await self._write(**(fields | {"leased_until": self._clock.now() + self._length}))

    async def note(self, step: str, progress: float, result: dict[str, Any] | None = None) -> None:
        """Report a step that may end at once.

        It is written only if the last write is a second ago; otherwise it is written with the next
        write. Seven steps of an hourly run would be seven writes, a fifth of all its writes.

        Args:
            step: Name of the step.
            progress: From 0 to 1.
            result: The result so far; None leaves the result as it is.

        Raises:
            TaskLost: The task is no longer this worker's.

        """
        if self._clock.now() - self.task.updated_at >= MOMENT:
            return await self.report(step, progress, result)
        task = self.task.changed(**_progress(step, progress, result))
        self._stored = StoredTask(task, self._stored.document)
        return None

    async def wait(self, error: BaseException) -> timedelta:
        """Hand the task back because a dependency is down.

        Returns the time after which to come back. No attempt is spent. Raises TaskLost.
        """
        delay = retry_pause(self.task.waits, error)
        await self.hand_back(
            delay,
            waits=self.task.waits + 1,
            waiting_for=getattr(error, "dependency", "long_term"),
            error=error_text(error),
        )
        return delay

    async def fail(self, error: BaseException) -> timedelta | None:
        """Hand the task back after an unexpected failure.

        Returns the time after which to come back; None if it failed too often. Raises TaskLost.
        """
        attempts = self.task.attempts + 1
        if attempts >= MAX_ATTEMPTS:
            return None
        delay = retry_pause(attempts - 1)
        await self.hand_back(delay, attempts=attempts, error=error_text(error))
        return delay

    async def hand_back(self, delay: timedelta, **fields: Unpack[TaskFields]) -> None:
        """Give the task up until its message comes again.

        Args:
            delay: Until the message comes.
            **fields: Further fields of the task.

        Raises:
            TaskLost: The task is no longer this worker's.

        """
        due = self._clock.now() + delay
        free: TaskFields = {
            "status": "accepted",
            "leased_by": None,
            "leased_until": None,
            "next_enqueue_at": due,
        }
        await self._write(**(fields | free))

    @asynccontextmanager
    async def kept_alive(self) -> AsyncIterator[None]:
        """Renew the lease while the block runs.

        The block is stopped if the task is cancelled. Raises TaskLost then.
        """
        working = asyncio.current_task()
        assert working is not None
        lost = asyncio.Event()
        beating, watching = (
            asyncio.create_task(self._beat()),
            asyncio.create_task(self._cancel_with_task(working, lost)),
        )
        try:
            yield
        except asyncio.CancelledError:
            if not lost.is_set() or working.uncancel() > 0:
                raise  # the process stops, or its caller has given up
            raise TaskLost from None
        finally:
            beating.cancel()
            watching.cancel()
            await asyncio.gather(beating, watching, return_exceptions=True)

    async def _cancel_with_task(self, working: asyncio.Task[Any], lost: asyncio.Event) -> None:
        """Cancel the work when its task is cancelled, or begun again to clean up.

        `lost` is set before the work is cancelled.
        """
        while True:
            await self._clock.sleep(LOOK_S)
            try:
                stored_task = await self._tasks.find(self.owner, self.task.task_id)
            except MemoryCoreError as error:
                log.info(
                    "it could not be seen whether the task %s was cancelled: %s",
                    self.task.task_id,
                    error.detail,
                )
                continue
            if stored_task is not None and (
                stored_task.task.status == "cancelled"
                or stored_task.task.generation > self.task.generation
            ):
                lost.set()
                working.cancel()
                return

    async def _beat(self) -> None:
        while True:
            await self._clock.sleep(self._length.total_seconds() / 3)
            try:
                await self._write(leased_until=self._clock.now() + self._length)
            except TaskLost:
                return
            except Unavailable as error:
                log.info("a lease could not be renewed: %s", error.detail)

    async def _write(self, **fields: Unpack[TaskFields]) -> None:
        name = self.task.leased_by
        async with self._turn:
            for _ in range(TRIES):
                if await self._wrote(**fields):
                    return
                # Either another worker wrote it, or an earlier try of ours without an answer.
                stored_task = await self._tasks.find(self.owner, self.task.task_id)
                if (
                    stored_task is None
                    or stored_task.task.finished
                    or stored_task.task.leased_by != name
                ):
                    raise TaskLost
                self._stored = stored_task
        raise TaskLost

    async def _wrote(self, **fields: Unpack[TaskFields]) -> bool:
        task = self.task.changed(**(fields | {"updated_at": self._clock.now()}))
        document = await put_with_retry(
            self._store, self.owner, task_document(task, onto=self._stored.document)
        )
        if document is None:
            return False
        self._stored = StoredTask(task, document)
        return True

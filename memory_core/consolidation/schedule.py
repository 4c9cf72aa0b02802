"""Send messages for users whose run is due, and begin runs.

The timer sends a message for each range of users. The work on a range reads page by page which
users are due, and sends a message for each, spread over most of the hour. A user's message begins
the user's run, which is a task like any other.

Note: no step here relies on happening once. Messages come twice, ticks overlap, a timer is late: a
user that is not due any more when the message comes is left alone.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final
from zlib import crc32

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from memory_core.domain.conversation import Task
from memory_core.domain.deferred_model import DeferredModel
from memory_core.domain.errors import Conflict, EpochEnded, HeadMoved, Unavailable
from memory_core.domain.memory import Head, HeadFields
from memory_core.domain.results import Accepted, Call
from memory_core.domain.scope import Owner
from memory_core.domain.skew import is_written_ahead
from memory_core.evolution.clear_session import Clearer
from memory_core.ledger.access_counts import AccessCounts
from memory_core.ledger.batch import CONSOLIDATION
from memory_core.ledger.changes import HeadChange
from memory_core.ledger.ids import derived
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import Clock, Due, IdSource, LongTermStore, QueueName, TaskQueue
from memory_core.tasks.leases import MOMENT, Lease, Leases, TaskLost, leased_until, retry_pause
from memory_core.tasks.lifecycle import DueMessage, message_for, send_task
from memory_core.tasks.operation_records import operation_id, operation_in
from memory_core.tasks.operations import Operations
from memory_core.tasks.store import task_in

QUEUE: Final[QueueName] = "consolidation"
PAGE = 100
PAGES_A_MESSAGE = 10
"""So a message takes a second or two, far from a function's time limit.

The next thousand users are another message's.
"""
SENT_AT_ONCE = 16
GIVEN_UP_AFTER = timedelta(hours=1)
"""Counted from the tick; the next tick has found the same users by then."""
log = logging.getLogger(__name__)


class RangeMessage(DeferredModel):
    """Asks for the users of a range that were due at `tick`.

    Attributes:
        within: The range.
        tick: The time of the timer's tick.
        after: The place to go on from: when the last user was due, and that user's app and id.
        waits: How often the message was put off.

    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    within: str
    tick: datetime
    after: tuple[datetime, str, str] | None = None
    waits: int = 0

    def put_off(self) -> RangeMessage:
        """The message as it is sent again after a wait."""
        return self.model_copy(update={"waits": self.waits + 1})


class FanOut:
    """Sends messages for due users.

    Users of the same tick are spread over the time `spread`.
    """

    def __init__(
        self,
        store: LongTermStore,
        queue: TaskQueue,
        starter: RunStarter,
        access_counts: AccessCounts,
        clearer: Clearer,
        clock: Clock,
        spread: timedelta,
    ) -> None:
        self._store, self._queue, self._starter, self._access_counts, self._clearer = (
            store,
            queue,
            starter,
            access_counts,
            clearer,
        )
        self._clock, self._spread = clock, spread

    async def tick(self) -> int:
        """Send a message for each range, and return how many.

        Raises Unavailable.
        """
        now, ranges = self._clock.now(), await self._store.ranges()
        await self._send_all(
            [(RangeMessage(within=range_name, tick=now), timedelta(0)) for range_name in ranges]
        )
        return len(ranges)

    async def work(self, body: str) -> Lease | bool:
        """Do the work of a message, or put it off.

        Returns the lease of a run that it began, which the caller goes on with. False if the
        message is not the schedule's. Raises Unavailable if the message can't even be put off.
        """
        message = _message_in(body)
        if message is None:
            return False
        try:
            if isinstance(message, RangeMessage):
                await self._send_due(message)
            else:
                return await self._begin(message.owner) or True
        except EpochEnded:
            log.info("a user whose run was due is being erased")
        except (Unavailable, HeadMoved, TimeoutError) as error:
            await self._put_off(message, error)
        return True

    async def _begin(self, owner: Owner) -> Lease | None:
        head = await self._access_counts.settle_due(
            owner
        )  # first, since this may make the user due
        head = head or (await self._store.snapshot(owner)).head
        if head is not None and head.pending_operations:
            await self._clearer.finish(owner, head)
            head = None
        try:
            return await self._starter.begin_due(owner, head)
        except UnderWay as run:
            await self._follow(owner, run)
            return None

    async def _follow(self, owner: Owner, run: UnderWay) -> None:
        """Make sure that a run whose worker has died goes on.

        This message may be the redelivered message that began the run.
        """
        if run.task.status == "running":
            now = self._clock.now()
            delay = leased_until(run.task, now) - now + MOMENT
            await send_task(self._queue, QUEUE, message_for(owner, run.task), delay)

    async def _send_due(self, message: RangeMessage) -> None:
        after = None if message.after is None else Due(Owner(*message.after[1:]), message.after[0])
        for _ in range(PAGES_A_MESSAGE):
            page = await self._store.due(message.within, message.tick, after, PAGE)
            await self._send_all(
                [
                    (_due_message(due.owner, message.tick), self._delay(due.owner, message.tick))
                    for due in page
                ]
            )
            if len(page) < PAGE:
                return
            after = page[-1]
        if after is not None:
            further = RangeMessage(
                within=message.within, tick=message.tick, after=(after.at, *after.owner)
            )
            await self._queue.send(QUEUE, further.model_dump_json())

    def _delay(self, owner: Owner, tick: datetime) -> timedelta:
        """Return the delay within the hour, which is the same for a user each time.

        So overlapping ticks don't bring the user twice in a row.
        """
        share = crc32("\0".join(owner).encode()) / 2**32
        delay = tick + share * self._spread - self._clock.now()
        # a tick from a clock that is ahead must not delay a user
        return min(max(delay, timedelta(0)), self._spread)

    async def _send_all(self, messages: list[tuple[BaseModel, timedelta]]) -> None:
        """Send messages, some at once.

        If a message can't be sent, the error is raised after all have been tried.
        """
        room = asyncio.Semaphore(SENT_AT_ONCE)

        async def send(message: BaseModel, delay: timedelta) -> None:
            async with room:
                await self._queue.send(QUEUE, message.model_dump_json(), delay=delay)

        ended = await asyncio.gather(
            *(send(*arguments) for arguments in messages), return_exceptions=True
        )
        for outcome in ended:
            if isinstance(outcome, BaseException):
                raise outcome

    async def _put_off(self, message: RangeMessage | DueMessage, error: BaseException) -> None:
        if self._clock.now() - message.tick >= GIVEN_UP_AFTER:
            log.warning(
                "a message of the hour that began at %s is left to the next hour: %s",
                message.tick,
                error,
            )
            return
        again = message.put_off()
        await self._queue.send(
            QUEUE, again.model_dump_json(), delay=retry_pause(message.waits, error)
        )


def _due_message(owner: Owner, tick: datetime) -> DueMessage:
    return DueMessage(app_id=owner.app_id, user_id=owner.user_id, tick=tick)


def _message_in(body: str) -> RangeMessage | DueMessage | None:
    """Parse a message of the schedule; None for a task's or an unknown message."""
    kinds: tuple[type[Any], ...] = (RangeMessage, DueMessage)
    try:
        given = orjson.loads(body)
        kind = next(
            (
                message_kind
                for message_kind in kinds
                if isinstance(given, dict) and message_kind.model_fields.keys() >= given.keys()
            ),
            None,
        )
        return None if kind is None or "tick" not in given else kind.model_validate(given)
    except (orjson.JSONDecodeError, ValidationError):
        return None


# Begin a run: the commit that stores it freezes its range, and sets when it is due again if it
# fails.
#
# Note: in that commit the user stops being due, so that the next hour does not begin another run. A
# write during the run makes the user due again at once. After a failed run the user is due a day
# later and not sooner, so that a run that always fails does not cost a model's calls every hour.


MOST_EVENTS: Final = 2_000
"""The most events of a run; if more wait, the next run follows at once."""
TRIED_AGAIN_AFTER: Final = timedelta(days=1)
"""When a run that never ended is tried again.

Another run then goes over its events and the events since.
"""
NEARLY = timedelta(seconds=1)
"""The tolerance for a log that is ahead of the clock.

The moments of a user's events differ, so the last of many may be a little ahead.
"""
_TRIES = 8


class _Moved(Exception):
    """Another commit came between the read that the plan rests on and the commit."""


class _GivenUp(Exception):
    """The last run was given up less than a day ago."""


class UnderWay(Exception):
    """A run has not ended.

    Attributes:
        task: The task of the run.
        session_id: The only session that the run is about; None for all.

    """

    def __init__(self, task: Task, session_id: str | None) -> None:
        super().__init__(task.task_id)
        self.task, self.session_id = task, session_id


class RunStarter:
    """Begins runs of any owner, a single run at a time for each."""

    def __init__(
        self,
        store: LongTermStore,
        operations: Operations,
        leases: Leases,
        clock: Clock,
        ids: IdSource,
    ) -> None:
        self._store, self._operations, self._leases = store, operations, leases
        self._clock, self._ids = clock, ids

    async def begin(self, owner: Owner, session_id: str | None, call: Call) -> Accepted:
        """Begin a run that a caller asked for, whether it is due or not.

        If a run of the same session or of all sessions is under way, its task is returned.

        Args:
            owner: Whose memories the run settles.
            session_id: The only session that the run is about; None for all.
            call: The call that asked for it.

        Raises:
            Conflict: A run of another session is under way.
            HeadMoved: Other writers were faster, several times.
            Unavailable: The long-term store is down.

        """
        for _ in range(_TRIES):
            head, now = (await self._store.snapshot(owner)).head, self._clock.now()
            task_id = self._ids.new("tsk")
            try:
                return await self._operations.begin(
                    owner,
                    "consolidate",
                    plan_of(head, session_id, now),
                    replace(call, actor=CONSOLIDATION),
                    refuse=lambda read_set, head=head: _check(read_set, head, None),  # type: ignore[misc]
                    reads=_earlier(head),
                    task_id=task_id,
                    head_fields=_begin_fields(task_id, session_id, now),
                )
            except _Moved:
                continue
            except UnderWay as run:
                if run.session_id in (None, session_id):
                    return Accepted(run.task.task_id)
                raise Conflict(
                    f"a run of one session is under way: {run.task.task_id}; ask again when it has "
                    "ended"
                ) from None
        raise _too_fast()

    async def begin_due(self, owner: Owner, head: Head | None = None) -> Lease | None:
        """Begin the run that is due now, which this worker goes on with.

        A due moment of a user leads to a single run, however often this is called.

        Args:
            owner: Whose memories the run settles.
            head: The owner's head if it was just read.

        Returns:
            The lease of the run's task. None if the user is not due (any more) or is gone, or if
            the run was just given up.

        Raises:
            UnderWay: A run has not ended.
            HeadMoved: Other writers were faster, several times.
            Unavailable: The long-term store is down.

        """
        for _ in range(_TRIES):
            head, now = head or (await self._store.snapshot(owner)).head, self._clock.now()
            if head is None or head.state != "live":
                log.debug("no run begins: the user is gone")
                return None
            if head.due_at is None or head.due_at > now + NEARLY:
                await self._check_earlier(owner, head)
                log.debug("no run begins: the user is not due any more")
                return None
            # Only the head's commit tells one due moment from another: a clock may stand still.
            task_id = derived("tsk", head.epoch, str(head.commit_id))
            try:
                return await self._operations.begin_leased(
                    owner,
                    "consolidate",
                    plan_of(head, None, now),
                    Call(actor=CONSOLIDATION),
                    self._leases,
                    head,
                    refuse=lambda read_set, head=head, now=now: _check(read_set, head, now),  # type: ignore[misc]
                    reads=_earlier(head),
                    task_id=task_id,
                    head_fields=_begin_fields(task_id, None, now),
                )
            except _Moved:
                head = None
            except (_GivenUp, TaskLost):
                log.debug("no run begins: the last one was given up less than a day ago")
                return None
        raise _too_fast()

    async def _check_earlier(self, owner: Owner, head: Head) -> None:
        """Raise UnderWay if the last run has not ended."""
        if head.run_task_id is not None:
            _check_ended(await self._operations.look(owner, _earlier(head)))


def _earlier(head: Head | None) -> tuple[str, ...]:
    """Return the ids of the last run's task and operation.

    Empty if the last run has ended well.
    """
    earlier = None if head is None else head.run_task_id
    return () if earlier is None else (earlier, operation_id(earlier))


def _begin_fields(task_id: str, session_id: str | None, now: datetime) -> HeadChange:
    """Return the fields that the head gets when a run begins."""
    fields: HeadFields = {"run_task_id": task_id}
    if session_id is None:  # a run of a session does not change when the user is due
        fields |= {"due_at": now + TRIED_AGAIN_AFTER, "fresh_count": 0}
    return lambda _: fields


def plan_of(head: Head | None, session_id: str | None, now: datetime) -> dict[str, Any]:
    """Return the plan of a run that begins now.

    The plan is `capped` if there are more events for the next run. It says `earlier` if there may
    be conversations of an earlier version, whose messages are no memories.

    Args:
        head: The owner's head; None for an unknown owner.
        session_id: The only session that the run is about; None for all.
        now: When the run begins.

    """
    after, end = (0, 0) if head is None else (head.consolidated_sequence, head.sequence)
    to = min(end, after + MOST_EVENTS)
    since = None if head is None or head.settled_at is None else head.settled_at.isoformat()
    earlier = head is not None and not head.messages_backfilled and session_id is None
    return {
        "after": after,
        "to": to,
        "at": now.isoformat(),
        "session_id": session_id,
        "capped": to < end,
        "since": since,
    } | ({"earlier": True} if earlier else {})


def _too_fast() -> HeadMoved:
    return HeadMoved("others write faster than a run can begin; try again", retry_after_s=1)


def _check_ended(read_set: ReadSet) -> Task | None:
    """Return the task of the last run if it is stored.

    Raises UnderWay if it has not ended.
    """
    head = read_set.head
    if head is None or head.run_task_id is None:
        return None
    last_task = task_in(read_set.documents.get(head.run_task_id), head)
    about = read_set.documents.get(operation_id(head.run_task_id))
    if last_task is not None and not last_task.task.finished and about is not None:
        raise UnderWay(last_task.task, operation_in(about).plan["session_id"])
    return None if last_task is None else last_task.task


def _check(read_set: ReadSet, seen: Head | None, due_at: datetime | None) -> None:
    """Check that the user is as planned, and that a run may begin.

    Raises UnderWay during a run. If the run is due, at `due_at`, raises _GivenUp if a run of the
    day before was given up. Raises _Moved if the user changed.
    """
    head, last_task = read_set.head, _check_ended(read_set)
    if (
        last_task is not None
        and last_task.status == "poisoned"
        and due_at is not None
        and last_task.created_at > due_at - TRIED_AGAIN_AFTER
        and not is_written_ahead(last_task.created_at, due_at)
    ):
        raise _GivenUp
    if (head is None) != (seen is None):
        raise _Moved
    if head is not None and seen is not None:
        for name in ("epoch", "sequence", "due_at", "run_task_id", "consolidated_sequence"):
            if getattr(head, name) != getattr(seen, name):
                raise _Moved

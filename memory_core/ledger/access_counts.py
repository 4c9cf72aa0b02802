"""Count accesses beside the log.

Note: only ranking and fading use the counts, so no caller waits for them. They are written into a
single document for each user (`waiting_accesses`): within a minute by the process that counted
them, or, gathered in a Redis, by the hourly timer or the user's `/decay`. At most the last minute
of a killed process is lost. They are written beside the log, without an event or a new ETag, since
reading changes no memory. A faded memory that was accessed becomes active again; a run writes that.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

from memory_core.domain.errors import EpochEnded, HeadMoved, Unavailable
from memory_core.domain.memory import Head, HeadFields
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.ledger.batch import CONSOLIDATION
from memory_core.ledger.changes import Changes
from memory_core.ledger.commit import Ledger
from memory_core.ledger.ids import derived
from memory_core.ledger.read_set import ReadSet
from memory_core.ledger.waiting_accesses import WaitingAccesses, WrittenAccesses, add_counts
from memory_core.ports import AccessCount, Clock, Document, IdSource, LongTermStore, ShortTermStore

HANDED_ON_EVERY = timedelta(seconds=5)
"""The interval between round trips to Redis, or to the store, instead of a trip for each retrieve.
"""
WRITTEN_EVERY = timedelta(minutes=1)
"""Without a Redis: how long a user's accesses wait in this process at most, after the last accesses
were written.
"""
MOST_GATHERED = 20_000
"""Memories whose accesses a process holds; about 5 MB. Accesses of further memories are not counted
until these are written.
"""
_LEAST_WAIT_S = 0.01
OWNERS_A_FLUSH = 1_000
log = logging.getLogger(__name__)


Written = Callable[[Owner], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class _Attempt:
    """Accesses that could not be written, with the id for further tries.

    Under the same id, accesses that were applied already count once.
    """

    owner: Owner
    flush_id: str
    counts: Mapping[str, AccessCount]


class AccessCounts:
    """Gathers accesses and writes them down."""

    def __init__(
        self,
        store: LongTermStore,
        short_term: ShortTermStore,
        clock: Clock,
        ids: IdSource,
        written: Written | None = None,
    ) -> None:
        """Start without any accesses.

        `written` is called with each owner whose memories got accesses outside of the owner's run.
        """
        self._waiting = WaitingAccesses(store, clock)
        self._short_term, self._clock, self._ids = short_term, clock, ids
        self._written = written
        self._gathered: dict[Owner, dict[str, AccessCount]] = {}
        self._due: dict[Owner, datetime] = {}
        self._written_at: dict[Owner, datetime] = {}
        self._failed: list[_Attempt] = []
        self._held = 0
        self._next_at: datetime | None = None
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def note(
        self, owner: Owner, memory_ids: Iterable[str], at: datetime, faded: Collection[str] = ()
    ) -> None:
        """Count an access of memories that were just shown.

        It costs a few microseconds; the accesses are written in the background.

        Args:
            owner: Whose memories they are.
            memory_ids: Ids of the shown memories.
            at: When they were shown.
            faded: Ids of the memories that count as faded.

        """
        once = AccessCount(1, at)
        for memory_id in memory_ids:
            mine = self._gathered.setdefault(owner, {})
            known = mine.get(memory_id)
            if known is None and self._held >= MOST_GATHERED:
                continue
            self._held += known is None
            new = AccessCount(1, at, faded=True) if memory_id in faded else once
            mine[memory_id] = _add_to(known, new)
        if owner in self._gathered and owner not in self._due:
            self._due[owner] = due_at = self._writable_at(owner, at)
            self._next_at = due_at if self._next_at is None else min(self._next_at, due_at)
        if self._task is None or self._task.done():
            self._begin_or_wait(at)

    async def flush(self, owner: Owner) -> int:
        """Write the gathered accesses of an owner, from here and from Redis.

        Returns the number of memories. Raises Unavailable.
        """
        return (await self._flush(owner)).memories

    async def settle(self, owner: Owner, names: Collection[str] | None = None) -> int:
        """Add the waiting accesses to their memories.

        Args:
            owner: Whose memories they are.
            names: Ids of the memories; None for all.

        Returns:
            The number of memories that got accesses.

        Raises:
            Unavailable: The store is down.

        """
        return await self._waiting.add(owner, names)

    async def settle_due(self, owner: Owner) -> Head | None:
        """Add the waiting accesses to their memories, if they have waited long enough.

        Returns the head as it was then; None if accesses were added, which may move it. Raises
        Unavailable.
        """
        added, head = await self._waiting.add_due(owner)
        if added and self._written is not None:
            await self._written(owner)
        return None if added else head

    async def _flush(self, owner: Owner) -> WrittenAccesses:
        if self._task is not None:
            await self._task  # accesses under way are neither here nor in Redis
        written = await self._write_gathered(owner)
        while (
            taken := await self._short_term.take_accesses(owner, self._ids.new("mrk"))
        ) is not None:
            written = _sum(written, await self._waiting.merge(owner, taken.flush_id, taken.counts))
            await self._short_term.drop_taken_accesses(owner, taken.flush_id)
        return written

    async def flush_all(self) -> int:
        """Flush every owner with gathered accesses, up to a thousand.

        Returns the number of memories. Raises Unavailable.
        """
        if self._task is not None:
            await self._task  # the owners of accesses under way are unknown
        here = dict.fromkeys([*self._gathered, *(attempt.owner for attempt in self._failed)])
        owners = {
            *islice(here, OWNERS_A_FLUSH),
            *await self._short_term.owners_with_accesses(OWNERS_A_FLUSH),
        }
        total = 0
        for owner in owners:
            written = await self._flush(owner)
            if written.added and self._written is not None:
                await self._written(owner)
            total += written.memories
        return total

    async def close(self) -> None:
        """Hand the gathered accesses to Redis, or write them.

        So no accesses are lost when the process ends regularly.
        """
        self._cancel_timer()
        if self._task is not None:
            await self._task
            self._cancel_timer()
        await self._hand_on(last=True)
        self._next_at = None
        self._cancel_timer()

    def _writable_at(self, owner: Owner, at: datetime) -> datetime:
        """When accesses are written that begin to wait at a moment.

        Accesses that follow soon are written with them.
        """
        soon, last = at + HANDED_ON_EVERY, self._written_at.get(owner)
        if last is None or last > at:  # the clock was set back since
            return soon
        return max(soon, last + WRITTEN_EVERY)

    def _begin_or_wait(self, now: datetime) -> None:
        """Hand on due accesses in the background, and set a timer for later accesses.

        The timer is needed because no further request may come.
        """
        if self._next_at is None:
            return
        if now >= self._next_at:
            self._cancel_timer()
            self._task = asyncio.get_running_loop().create_task(self._hand_on())
        elif self._timer is None:
            self._wait(now)

    def _wait(self, now: datetime) -> None:
        self._cancel_timer()
        if self._next_at is not None:
            wait_s = max(_LEAST_WAIT_S, (self._next_at - now).total_seconds())
            self._timer = asyncio.get_running_loop().call_later(wait_s, self._wake_up)

    def _wake_up(self) -> None:
        self._timer = None
        if self._task is None or self._task.done():
            # The loop has waited, whatever the clock says: a clock that was set back must delay
            # nothing.
            self._begin_or_wait(max(self._clock.now(), self._next_at or self._clock.now()))

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def _hand_on(self, *, last: bool = False) -> None:
        """Give the gathered accesses to Redis; without Redis write the accesses that are due.

        If `last` is set, all accesses are written.
        """
        asked_at = self._next_at
        handed, self._gathered, self._held = (
            self._gathered,
            {},
            sum(len(attempt.counts) for attempt in self._failed),
        )
        due, self._due, self._next_at = self._due, {}, None
        if not await self._short_term.add_accesses(handed):
            # not kept by Redis: they stay with the accesses since
            for owner, counts in handed.items():
                mine = self._gathered.setdefault(owner, {})
                self._held += len(counts.keys() - mine.keys())
                mine.update(
                    {name: _add_to(mine.get(name), access) for name, access in counts.items()}
                )
                self._due[owner] = due[owner]
            now = self._clock.now() if asked_at is None else max(self._clock.now(), asked_at)
            await self._write_due(now, every=last)
        moments = [
            *self._due.values(),
            *([self._clock.now() + WRITTEN_EVERY] if self._failed else []),
        ]
        self._next_at = min(moments, default=None)
        self._wait(self._clock.now())

    async def _write_due(self, now: datetime, *, every: bool) -> None:
        self._written_at = {
            owner: at for owner, at in self._written_at.items() if now - at < WRITTEN_EVERY
        }
        owners = [attempt.owner for attempt in self._failed] + [
            owner for owner, at in self._due.items() if every or at <= now
        ]
        for owner in dict.fromkeys(owners):
            try:
                written = await self._write_gathered(owner)
            except Unavailable as error:
                log.warning("accesses are not written down: %s", error.detail)
                return
            self._written_at[owner] = now
            if written.added and self._written is not None:
                await self._written(owner)

    async def _write_gathered(self, owner: Owner) -> WrittenAccesses:
        """Write the accesses of an owner that wait in this process.

        Accesses that can't be written are kept, to be tried again. Raises Unavailable.
        """
        attempts = [attempt for attempt in self._failed if attempt.owner == owner]
        counts = self._gathered.pop(owner, {})
        self._due.pop(owner, None)
        if counts:
            attempts.append(_Attempt(owner, self._ids.new("mrk"), counts))
            self._failed.append(attempts[-1])
        written = WrittenAccesses()
        for attempt in attempts:
            written = _sum(
                written, await self._waiting.merge(owner, attempt.flush_id, attempt.counts)
            )
            if attempt in self._failed:  # else another caller wrote it, under the same id
                self._failed.remove(attempt)
                self._held -= len(attempt.counts)
        return written


def _add_to(known: AccessCount | None, further: AccessCount) -> AccessCount:
    return further if known is None else add_counts(known, further)


def _sum(known: WrittenAccesses, further: WrittenAccesses) -> WrittenAccesses:
    return WrittenAccesses(known.memories + further.memories, known.added + further.added)


KEPT_FOR: Final = timedelta(days=1)


class DueMarker:
    """Wakes any owner; costs a query of an index if no faded memory was found."""

    def __init__(self, store: LongTermStore, ledger: Ledger, clock: Clock) -> None:
        self._store, self._ledger, self._clock = store, ledger, clock

    async def mark_due(self, owner: Owner) -> None:
        """Make the user due now, if a faded memory was found.

        A failure is logged and raises no error: the memories are found all the same, and the next
        access wakes the user again.
        """
        try:
            if await self._store.recalled(owner, None, 1):
                await self._ledger.commit(owner, self._due, ids=[], call=Call(actor=CONSOLIDATION))
        except (EpochEnded, HeadMoved, Unavailable) as error:
            log.warning(
                "a user whose faded memories were found is not due for it: %s", error.detail
            )

    def _due(self, read_set: ReadSet) -> Changes[None]:
        head, now = read_set.head, self._clock.now()
        if head is None or (head.due_at is not None and head.due_at <= now):
            return Changes(None)

        def due(head: Head) -> HeadFields:
            return {"due_at": now if head.due_at is None else min(head.due_at, now)}

        mark = Document(
            derived("mrk", head.epoch, "recalled", now.isoformat()),
            "marker",
            {},
            expires_at=now + KEPT_FOR,
        )
        return Changes(None, puts=(mark,), head_fields=due)

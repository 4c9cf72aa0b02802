"""Count accesses beside the log.

Note: they may be lost, with a process or with Redis, and nothing but ranking and fading would notice; so no caller waits for
them. They are written beside the log: no event, no ETag moves, since reading changes no memory. What comes of them, that a faded memory is
active again, is a run's to write.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Final

from memory_core.domain.errors import HeadMoved, Unavailable
from memory_core.domain.memory import Head
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.ledger.batch import CONSOLIDATION, Changes
from memory_core.ledger.commit import Ledger, Look
from memory_core.ledger.ids import derived
from memory_core.ports import Clock, Document, IdSource, LongTermStore, ShortTermStore, Touch

HANDED_ON_EVERY = timedelta(seconds=5)
"""A round trip to Redis every so often, instead of one a retrieve."""
WRITTEN_EVERY = timedelta(minutes=10)
"""Where no Redis gathers them: how long they wait in this process."""
MOST_GATHERED = 20_000
"""Memories whose accesses a process holds; about 5 MB. Those of others are not counted until these are written."""
AT_ONCE = 90
TRIES, PAUSE_S = 4, 0.02
OWNERS_A_FLUSH = 1_000
log = logging.getLogger(__name__)


Written = Callable[[Owner], Awaitable[None]]


class Touches:
    """Gathers accesses and writes them down."""

    def __init__(
        self, store: LongTermStore, short_term: ShortTermStore, clock: Clock, ids: IdSource, written: Written | None = None
    ) -> None:
        """written: told of each owner some of whose accesses were written down outside of their run."""
        self._store, self._short_term, self._clock, self._ids = store, short_term, clock, ids
        self._written = written
        self._gathered: dict[Owner, dict[str, Touch]] = {}
        self._held = 0
        self._handed_on_at = self._written_at = clock.now()
        self._task: asyncio.Task[None] | None = None

    def note(self, owner: Owner, memory_ids: Iterable[str], at: datetime) -> None:
        """These memories were just shown. Costs a few microseconds; what it leads to is done in the background."""
        for memory_id in memory_ids:
            mine = self._gathered.setdefault(owner, {})
            known = mine.get(memory_id)
            if known is None and self._held >= MOST_GATHERED:
                continue
            self._held += known is None
            mine[memory_id] = Touch(1 if known is None else known.count + 1, at)
        if at - self._handed_on_at >= HANDED_ON_EVERY and (self._task is None or self._task.done()):
            self._handed_on_at = at
            self._task = asyncio.get_running_loop().create_task(self._hand_on())

    async def flush(self, owner: Owner) -> int:
        """Write down what is gathered of one owner, here and in Redis; of how many memories. Raises Unavailable."""
        if self._task is not None:
            await self._task  # what is being handed on this moment is neither here nor in Redis
        written = await self._write(owner, self._ids.new("mrk"), self._pop(owner))
        while (taken := await self._short_term.take(owner, self._ids.new("mrk"))) is not None:
            written += await self._write(owner, taken.flush_id, taken.touches)
            await self._short_term.taken(owner, taken.flush_id)
        return written

    async def flush_all(self) -> int:
        """The same of every owner that something is gathered of, up to a thousand; of how many memories. Raises Unavailable."""
        if self._task is not None:
            await self._task  # whose accesses are being handed on can't be told this moment
        owners = {*islice(self._gathered, OWNERS_A_FLUSH), *await self._short_term.gathered(OWNERS_A_FLUSH)}
        total = 0
        for owner in owners:
            written = await self.flush(owner)
            if written and self._written is not None:
                await self._written(owner)
            total += written
        return total

    async def close(self) -> None:
        """Hand on what is gathered here, or write it down: nothing is left when the process ends in peace."""
        if self._task is not None:
            await self._task
        await self._hand_on(last=True)

    async def _hand_on(self, *, last: bool = False) -> None:
        """Give Redis what is gathered; without one, write it down from time to time, or as the last thing that is done."""
        handed, self._gathered, self._held = self._gathered, {}, 0
        if await self._short_term.gather(handed):
            return
        for owner, touches in handed.items():  # not kept there: they stay with those that came meanwhile
            mine = self._gathered.setdefault(owner, {})
            mine.update({name: _both(mine.get(name), touch) for name, touch in touches.items()})
        self._held = sum(map(len, self._gathered.values()))
        now = self._clock.now()
        if not last and now - self._written_at < WRITTEN_EVERY:
            return
        self._written_at = now
        for owner in list(self._gathered):
            try:
                if await self._write(owner, self._ids.new("mrk"), self._pop(owner)) and self._written is not None:
                    await self._written(owner)
            except Unavailable as error:
                log.warning("accesses are not written down: %s", error.detail)
                return

    def _pop(self, owner: Owner) -> dict[str, Touch]:
        mine = self._gathered.pop(owner, {})
        self._held -= len(mine)
        return mine

    async def _write(self, owner: Owner, flush_id: str, touches: Mapping[str, Touch]) -> int:
        """In parts, each with a marker of its own, so that an attempt that is taken over writes none of them twice."""
        ids = sorted(touches)
        written = 0
        for start in range(0, len(ids), AT_ONCE):
            part = {name: touches[name] for name in ids[start : start + AT_ONCE]}
            written += await self._touch(owner, derived("mrk", flush_id, str(start)), part)
        return written

    async def _touch(self, owner: Owner, marker: str, part: Mapping[str, Touch]) -> int:
        """A few tries: the marker makes one that was applied, and whose answer was lost, count once."""
        for attempt in range(1, TRIES):
            try:
                return await self._store.touch(owner, marker, part)
            except Unavailable:
                await asyncio.sleep(PAUSE_S * 2**attempt * random.uniform(0.5, 1.0))
        return await self._store.touch(owner, marker, part)


def _both(known: Touch | None, further: Touch) -> Touch:
    return further if known is None else Touch(known.count + further.count, max(known.at, further.at))


KEPT_FOR: Final = timedelta(days=1)


class Waking:
    """Wakes any owner; costs one look into an index where nothing faded was found."""

    def __init__(self, store: LongTermStore, ledger: Ledger, clock: Clock) -> None:
        self._store, self._ledger, self._clock = store, ledger, clock

    async def wake(self, owner: Owner) -> None:
        """Make the user due now, if a memory of theirs was found since it faded and no run is due anyway.

        A failure is logged and raises nothing: the memories are found all the same, and the next access wakes the user again.
        """
        try:
            if await self._store.recalled(owner, None, 1):
                await self._ledger.commit(owner, self._due, ids=[], call=Call(actor=CONSOLIDATION))
        except (Unavailable, HeadMoved) as error:
            log.warning("a user whose faded memories were found is not due for it: %s", error.detail)

    def _due(self, look: Look) -> Changes[None]:
        head, now = look.head, self._clock.now()
        if head is None or (head.due_at is not None and head.due_at <= now):
            return Changes(None)

        def due(head: Head) -> Mapping[str, Any]:
            return {"due_at": now if head.due_at is None else min(head.due_at, now)}

        mark = Document(derived("mrk", head.epoch, "recalled", now.isoformat()), "marker", {}, expires_at=now + KEPT_FOR)
        return Changes(None, puts=(mark,), head_fields=due)

"""When what memories add up to will be there: at the latest moment at which the next run of a user begins that is due."""

from __future__ import annotations

from datetime import datetime, timedelta

from memory_core.domain.scope import Owner
from memory_core.ports import Clock, LongTermStore

HOUR = timedelta(hours=1)


class NextRun:
    """Of any owner. first: how long after their first memory a user's first run begins; None: with the hour, over which runs are spread."""

    def __init__(self, store: LongTermStore, clock: Clock, first: timedelta | None, spread: timedelta) -> None:
        self._store, self._clock, self._first, self._spread = store, clock, first, spread

    async def expected(self, owner: Owner) -> datetime | None:
        """The moment by which it has begun; None where nothing is due. Raises Unavailable."""
        head = (await self._store.snapshot(owner, [])).head
        now = self._clock.now()
        if head is None or head.due_at is None or head.due_at > now:  # later: what fades, which makes no scenes
            return None
        if self._first is not None and head.settled_at is None and head.due_at + self._first > now:
            return head.due_at + self._first
        return now.replace(minute=0, second=0, microsecond=0) + HOUR + self._spread

"""So many new memories that their consolidation need not wait for the hour.

Note: this is best effort, and said once, by the commit that crosses the threshold. When the message is lost the hour finds
the user, who is due anyway. And it is not said at once: a caller who has just saved twenty is likely to save on, and a run beside that
makes both slower (8 clients: 600 operations a second without, 60 with one).
"""

from __future__ import annotations

from datetime import datetime, timedelta

from memory_core.domain.scope import Owner
from memory_core.ledger.messages import tell_due
from memory_core.ports import Clock, TaskQueue

GATHERING = timedelta(minutes=1)
"""How long new memories wait for more; no longer than `pause`."""


class Threshold:
    """Says that a run is due a minute after `enough` memories have been made since the last one, but not before `pause` after that.

    first: after which time the first memory of a user makes a run due; None: it does not.
    """

    def __init__(self, queue: TaskQueue, clock: Clock, enough: int, pause: timedelta, first: timedelta | None = None) -> None:
        self._queue, self._clock, self._enough, self._pause, self._first = queue, clock, enough, pause, first

    async def gathered(self, owner: Owner, before: int, after: int, settled_at: datetime | None) -> None:
        """Told by each commit how many there were and are, and when the last run was (`ledger.commit.Gathered`)."""
        if self._first is not None and settled_at is None and before == 0 < after:
            await tell_due(self._queue, owner, self._clock.now(), self._first)
        if before < self._enough <= after:
            now, soon = self._clock.now(), min(GATHERING, self._pause)
            await tell_due(self._queue, owner, now, soon if settled_at is None else max(soon, settled_at + self._pause - now))

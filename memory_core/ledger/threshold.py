"""So many new memories that their consolidation need not wait for the hour.

One would get wrong: this is best effort, and said once, by the commit that crosses the threshold. When the message is lost the hour finds
the user, who is due anyway.
"""

from __future__ import annotations

from memory_core.domain.scope import Owner
from memory_core.ledger.messages import tell_due
from memory_core.ports import Clock, TaskQueue


class Threshold:
    """Says that a run is due when `enough` memories have been made since the last one."""

    def __init__(self, queue: TaskQueue, clock: Clock, enough: int) -> None:
        self._queue, self._clock, self._enough = queue, clock, enough

    async def gathered(self, owner: Owner, before: int, after: int) -> None:
        """Told by each commit how many there were and are (`ledger.commit.Gathered`)."""
        if before < self._enough <= after:
            await tell_due(self._queue, owner, self._clock.now())

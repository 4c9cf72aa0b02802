"""The calls of MemoryCore about time past: the log, and what memories were when it was shorter."""

from __future__ import annotations

from datetime import datetime

from memory_core.bootstrap.phases import Consolidation
from memory_core.domain.models import Memory
from memory_core.domain.results import EventPage, MemoryPage, Settled
from memory_core.domain.scope import Owner, checked
from memory_core.domain.time_requests import ReplayInput, TimelineInput
from memory_core.ledger.access_counts import Touches
from memory_core.ports import Clock
from memory_core.recollection.history import Replayer, Timeline
from memory_core.recollection.read import Reader
from memory_core.telemetry import Telemetry


class LookingBack:
    """A part of `MemoryCore`, which supplies what it needs."""

    _reader: Reader
    _replayer: Replayer
    _timeline: Timeline
    _consolidation: Consolidation
    _touches: Touches
    _clock: Clock
    _telemetry: Telemetry

    async def get(self, owner: Owner, memory_id: str, *, at: datetime | None = None, known_at: datetime | None = None) -> Memory:
        """One memory, with its embedding; as it was true at `at`, as it was known at `known_at`: see `look_at`. Raises NotFound."""
        return (await self.look_at(owner, memory_id, at=at, known_at=known_at)).memory

    async def look_at(self, owner: Owner, memory_id: str, *, at: datetime | None = None, known_at: datetime | None = None) -> Settled:
        """One memory and the sequence of the log that this is the state of. Raises NotFound.

        at: as it was true then. known_at: as it was known then, told from the log, so without its vector and what else no event records.
        """
        with self._telemetry.operation("get"):
            if known_at is not None:
                return await self._replayer.get(checked(owner), memory_id, known_at, at)
            found = await self._reader.get(checked(owner), memory_id, at)
            if at is None:
                self._touches.note(owner, [memory_id], self._clock.now())
            return found

    async def timeline(self, owner: Owner, query: TimelineInput) -> EventPage:
        """One page of the log, oldest first. Raises Malformed for a void cursor."""
        with self._telemetry.operation("timeline"):
            return await self._timeline.page(checked(owner), query)

    async def replay(self, owner: Owner, query: ReplayInput) -> MemoryPage:
        """What a list of all statuses answered at a sequence, fields outside the log apart.

        Raises Malformed for a void cursor, Invalid for a sequence yet to come, HeadMoved when the user was erased meanwhile.
        """
        with self._telemetry.operation("replay"):
            return await self._replayer.replay(checked(owner), query)

    async def write_snapshots(self, owner: Owner) -> int:
        """Write the snapshots of the log that are due, as upkeep does; how many. Raises HeadMoved, Unavailable."""
        with self._telemetry.operation("write_snapshots"):
            return await self._consolidation.snapshots.write_due(checked(owner))

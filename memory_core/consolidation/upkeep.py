"""The first step of a run: what time has done to a user's memories since the last one, whether anybody wrote or not.

Accesses are written down, snapshots of the log made, long texts made short, an archive run begun when something has grown old enough. Note:
accesses come first. What was shown to a caller this hour must not fade in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any, Final

from memory_core.consolidation.archive import Archiver
from memory_core.consolidation.crossings import COUNTS, Asked, Crossings
from memory_core.consolidation.decay import Decay
from memory_core.consolidation.end_run import EndingRules
from memory_core.consolidation.run import ACTOR, Proposal, Run
from memory_core.domain.coming import Coming
from memory_core.domain.results import Call
from memory_core.domain.upkeep_requests import DecayInput
from memory_core.ledger.access_counts import Touches
from memory_core.ledger.history import Snapshots
from memory_core.ledger.ids import derived
from memory_core.ports import LongTermStore
from memory_core.tasks.operations import Chunk

_BEGINNING: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)


class Upkeep:
    """The step `upkeep`."""

    name = "upkeep"

    def __init__(
        self,
        store: LongTermStore,
        touches: Touches,
        snapshots: Snapshots,
        crossings: Crossings,
        decay: Decay,
        archiver: Archiver,
        rules: EndingRules,
    ) -> None:
        self._store, self._touches, self._snapshots, self._crossings = store, touches, snapshots, crossings
        self._decay, self._archiver = decay, archiver
        self._rules = rules

    async def propose(self, run: Run, cursor: Any) -> Proposal | None:
        """First what is only counted, if there is any, then crossing after crossing."""
        if cursor is None:
            await self._touches.flush(run.owner)
            await self._snapshots.write_due(run.owner)
            counts = await self._aged(run)
            if counts:
                return Proposal([], lambda look: Chunk(counts=counts, cursor=[], fragile=False))
        left = self._rules.cap - sum(run.counts.get(name, 0) for name in COUNTS)
        asked = Asked(run.owner, run.id, run.session_id, run.at, left, self._rules.marks_fading)
        crossing = await self._crossings.next(asked, cursor or None)
        return Proposal(crossing.ids, crossing.decide) if crossing.ids or cursor else None

    async def foresee(self, run: Run) -> Mapping[str, int]:
        """What would fade or become short now, whose foresight has ended, and whether an archive run would be begun."""
        coming = await self._coming(run)
        foreseen = await self._decay.foresee(run.owner, DecayInput(session_id=run.session_id), marks=self._rules.marks_fading)
        ended, runs = await self._ended(run, coming), int(self._has_come(run, coming.ages))
        return {**foreseen.counts, "foresight_ended": ended, "archive_runs": runs}

    async def _aged(self, run: Run) -> dict[str, int]:
        """Begin the archive run that is due, and count the memories whose foresight has ended, both since the last run."""
        coming, counts = await self._coming(run), dict[str, int]()
        if ended := await self._ended(run, coming):
            counts["foresight_ended"] = ended
        if self._has_come(run, coming.ages):
            await self._archiver.begin(run.owner, None, Call(actor=ACTOR), task_id=derived("tsk", run.id, "archive"))
            counts["archive_runs"] = 1
        return counts

    async def _ended(self, run: Run, coming: Coming) -> int:
        """How many memories have foresight that has ended since the last run."""
        if not self._has_come(run, coming.foresight):
            return 0
        return await self._store.foresight_ended(run.owner, run.since or _BEGINNING, run.at)

    async def _coming(self, run: Run) -> Coming:
        """What time has brought since the last run. A run of one session leaves that to those that go over everything."""
        if run.session_id is not None:
            return Coming()
        return await self._store.coming(run.owner, self._rules.fading, self._rules.archive_after, run.since or _BEGINNING)

    @staticmethod
    def _has_come(run: Run, moment: datetime | None) -> bool:
        return moment is not None and moment <= run.at

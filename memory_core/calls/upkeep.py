"""The calls of MemoryCore about the life of memories: time taking its course, forgetting, bringing back."""

from __future__ import annotations

from memory_core.bootstrap.phases import Consolidation
from memory_core.calls.conversing import NO_CALL
from memory_core.domain.results import Accepted, Call, Foreseen
from memory_core.domain.scope import Owner, checked
from memory_core.domain.upkeep_requests import ConsolidateInput, DecayInput, ForgetInput, ReembedInput
from memory_core.ledger.ids import keyed
from memory_core.telemetry import Telemetry


class Upkeep:
    """A part of `MemoryCore`, which supplies what it needs."""

    _consolidation: Consolidation
    _telemetry: Telemetry

    async def decay(self, owner: Owner, asked: DecayInput, call: Call = NO_CALL) -> Accepted | Foreseen:
        """Take memories that were not looked at for long out of sight, by a task.

        A dry run only counts them. Asked as often as anybody likes: importance is computed when it is read, and nothing but a crossing of
        the floor is written. Raises Conflict, Unavailable.
        """
        with self._telemetry.operation("decay"):
            if asked.dry_run:
                return await self._consolidation.decay.foresee(checked(owner), asked)
            return await self._consolidation.decay.begin(checked(owner), asked, keyed(call, "decay", asked))

    async def reembed(self, owner: Owner, asked: ReembedInput, call: Call = NO_CALL) -> Accepted | Foreseen:
        """Make vectors again that another embedder made, by a task.

        A dry run only counts them. As often as anybody likes: where all vectors are of the configured embedder, nothing is written. Raises
        Conflict, Unavailable.
        """
        with self._telemetry.operation("reembed"):
            if asked.dry_run:
                return await self._consolidation.reembedder.foresee(checked(owner))
            return await self._consolidation.reembedder.begin(checked(owner), keyed(call, "reembed", asked))

    async def fan_out(self) -> int:
        """Send for all whose consolidation is due; how many messages. The hourly timer's work. Raises Unavailable."""
        with self._telemetry.operation("fan_out"):
            return await self._consolidation.fan_out.tick()

    async def forget(self, owner: Owner, asked: ForgetInput, call: Call = NO_CALL) -> Accepted | Foreseen:
        """Forget what a filter fits, by a task: softly, or for good; a dry run only counts. Raises Conflict, Unavailable."""
        with self._telemetry.operation("forget"):
            if asked.dry_run:
                return await self._consolidation.forgetter.foresee(checked(owner), asked)
            return await self._consolidation.forgetter.begin(checked(owner), asked, keyed(call, "forget", asked))

    async def consolidate(self, owner: Owner, asked: ConsolidateInput, call: Call = NO_CALL) -> Accepted | Foreseen:
        """Settle what has happened since the last run, by a task, as each hour does; a dry run counts. Raises Conflict, Unavailable."""
        with self._telemetry.operation("consolidate"):
            if asked.dry_run:
                return await self._consolidation.consolidator.foresee(checked(owner), asked)
            return await self._consolidation.consolidator.begin(checked(owner), asked, keyed(call, "consolidate", asked))

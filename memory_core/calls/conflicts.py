"""The calls of MemoryCore about memories that could not both be true."""

from __future__ import annotations

from memory_core.calls.conversing import NO_CALL
from memory_core.domain.conflict import ConflictPage, ConflictRecord
from memory_core.domain.conflict_requests import ConflictsInput, ResolveInput
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner, checked
from memory_core.evolution.conflicts import Conflicts
from memory_core.ledger.ids import keyed
from memory_core.telemetry import Telemetry

EVERY = ConflictsInput()


class Arbitrating:
    """A part of `MemoryCore`, which supplies what it needs."""

    _conflicts: Conflicts
    _telemetry: Telemetry

    async def conflicts(self, owner: Owner, query: ConflictsInput = EVERY) -> ConflictPage:
        """One page of conflict records, newest first. Raises Malformed for a void cursor."""
        with self._telemetry.operation("conflicts"):
            return await self._conflicts.page(checked(owner), query)

    async def conflict(self, owner: Owner, conflict_id: str) -> ConflictRecord:
        """One conflict record. Raises NotFound."""
        with self._telemetry.operation("conflicts"):
            return await self._conflicts.get(checked(owner), conflict_id)

    async def resolve_conflict(self, owner: Owner, conflict_id: str, asked: ResolveInput, call: Call = NO_CALL) -> ConflictRecord:
        """Decide a pending conflict. Raises NotFound, Conflict (resolved otherwise, or a side does not stand any more)."""
        with self._telemetry.operation("resolve_conflict"):
            return await self._conflicts.resolve(checked(owner), conflict_id, asked, keyed(call, "resolve_conflict", conflict_id, asked))

    async def undo_conflict(self, owner: Owner, conflict_id: str, call: Call = NO_CALL) -> ConflictRecord:
        """Take back what was decided about a conflict, which is pending then. Raises NotFound, Conflict naming what is in the way."""
        with self._telemetry.operation("undo_conflict"):
            return await self._conflicts.undo(checked(owner), conflict_id, keyed(call, "undo_conflict", conflict_id))

"""The calls of MemoryCore about the archive: what moves there, and what comes back."""

from __future__ import annotations

from memory_core.bootstrap.phases import Consolidation
from memory_core.calls.conversing import NO_CALL
from memory_core.domain.cold_requests import ArchiveInput
from memory_core.domain.models import Memory
from memory_core.domain.results import Accepted, Call, Foreseen
from memory_core.domain.scope import Owner, check_name, checked
from memory_core.evolution.restore import Restorer
from memory_core.ledger.ids import keyed
from memory_core.telemetry import Telemetry


class Cold:
    """A part of `MemoryCore`, which supplies what it needs."""

    _consolidation: Consolidation
    _restorer: Restorer
    _telemetry: Telemetry

    async def archive(self, owner: Owner, asked: ArchiveInput, call: Call = NO_CALL) -> Accepted | Foreseen:
        """Move what was not accessed for years to the archive, by a task.

        A dry run only counts it. Raises Conflict, Unavailable.
        """
        with self._telemetry.operation("archive"):
            archiver = self._consolidation.archiver
            if asked.dry_run:
                return await archiver.foresee(checked(owner), asked.session_id)
            return await archiver.begin(checked(owner), asked.session_id, keyed(call, "archive", asked))

    async def restore(self, owner: Owner, memory_id: str, call: Call = NO_CALL) -> Memory:
        """Bring a memory into use again: from the archive with its whole chain, or one that was deleted, replaced, shortened or decayed.

        One that is in use answers as it is. Raises NotFound, Conflict, Damaged (the cold copy; the stub stays), Unavailable.
        """
        with self._telemetry.operation("restore"):
            return await self._restorer.restore(checked(owner), check_name(memory_id), keyed(call, "restore", memory_id))

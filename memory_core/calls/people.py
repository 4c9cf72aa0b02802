"""The calls of MemoryCore about people's rights: export, import, erasure."""

from __future__ import annotations

from typing import Any

from memory_core.consolidation.people import People
from memory_core.domain.results import Accepted, Call
from memory_core.domain.scope import Owner, check_app_id, checked
from memory_core.ledger.receipts import keyed
from memory_core.telemetry import Telemetry

NO_CALL = Call()


class Peopling:
    """A part of `MemoryCore`, which supplies what it stands on."""

    _people: People
    _telemetry: Telemetry

    async def erase(self, owner: Owner, call: Call = NO_CALL) -> Accepted:
        """Erase a user for good. From now on nothing of theirs is read or written; the task empties what is left. Raises Conflict,
        Unavailable.
        """
        with self._telemetry.operation("erase"):
            return await self._people.eraser.begin(checked(owner), keyed(call, "erase"))

    async def erasures(self, app_id: str, after: int | None = None, limit: int = 100) -> list[dict[str, Any]]:
        """The receipts of an app's erasures, the latest first; `after`: the `sequence` of the last one seen. They name users by hashes."""
        with self._telemetry.operation("erasures"):
            return await self._people.eraser.receipts(check_app_id(app_id), after, limit)

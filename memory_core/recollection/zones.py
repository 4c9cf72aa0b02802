"""Whose days a query means and an answer shows: those of the time zone that the call names, else of the user's, else UTC."""

from __future__ import annotations

from datetime import tzinfo

from memory_core.domain.models import Head
from memory_core.domain.scope import Owner
from memory_core.domain.time_zone import zone_of
from memory_core.domain.user_settings import SETTINGS_ID
from memory_core.ledger.commit import Look
from memory_core.ledger.documents import settings_in
from memory_core.ports import LongTermStore


class Zones:
    """The time zone of any owner."""

    def __init__(self, store: LongTermStore) -> None:
        self._store = store

    async def of(self, owner: Owner, named: str | None = None) -> tzinfo:
        """The zone of that name; without one the user's. Raises Unavailable."""
        return zone_of(named) if named is not None else (await self.with_head(owner))[0]

    async def with_head(self, owner: Owner, named: str | None = None) -> tuple[tzinfo, Head | None]:
        """The same, and the user's head, which is read with it. Raises Unavailable."""
        snapshot = await self._store.snapshot(owner, [SETTINGS_ID])
        return zone_of(named or settings_in(Look(snapshot.head, dict(snapshot.documents))).time_zone), snapshot.head

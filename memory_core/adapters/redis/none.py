"""No short term: every call answers as an empty cache would. For Azure without a Redis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

from memory_core.domain.memory import Memory, Vector
from memory_core.domain.scope import Owner
from memory_core.ports import Health, Stamp, Taken, Touch


class NoShortTermStore:
    """Holds nothing, and is not degraded by that: it was chosen. `check` says `off`."""

    async def open(self) -> None:
        """Nothing to prepare."""

    async def close(self) -> None:
        """Nothing to close."""

    @property
    def degraded(self) -> bool:
        """Never."""
        return False

    async def recall(self, owner: Owner, session_id: str, limit: int) -> tuple[Stamp | None, list[Memory]]:
        """Nothing is held."""
        return None, []

    async def remember(self, memory: Memory, stamp: Stamp) -> bool:
        """Not kept."""
        return False

    async def remember_all(self, memories: Sequence[Memory], stamp: Stamp) -> bool:
        """Not kept."""
        return False

    async def drop(self, owner: Owner, session_ids: Sequence[str], memory_ids: Sequence[str], stamp: Stamp, previous_removal: int) -> None:
        """Nothing to drop."""

    async def rebuild(self, owner: Owner, session_id: str, memories: Sequence[Memory], stamp: Stamp) -> bool:
        """Not kept."""
        return False

    async def forget(self, owner: Owner, epochs: Sequence[str]) -> bool:
        """Nothing to forget."""
        return True

    async def vectors(self, keys: Sequence[str]) -> list[Vector | None]:
        """Every one is missing."""
        return [None] * len(keys)

    async def keep_vectors(self, vectors: Mapping[str, Vector]) -> None:
        """Not kept."""

    async def count(self, app_id: str, name: str, amount: int, life: timedelta) -> int | None:
        """Not counted."""
        return None

    async def gather(self, touches: Mapping[Owner, Mapping[str, Touch]]) -> bool:
        """Not kept."""
        return not touches

    async def gathered(self, limit: int) -> list[Owner]:
        """Nothing waits."""
        return []

    async def take(self, owner: Owner, flush_id: str) -> Taken | None:
        """Nothing waits."""
        return None

    async def taken(self, owner: Owner, flush_id: str) -> None:
        """Nothing is set apart."""

    def pool(self) -> tuple[int, int]:
        """No connections."""
        return 0, 0

    async def check(self) -> Health:
        """Off."""
        return Health("none", "off", detail="no short-term store is configured; every read goes to the long term")

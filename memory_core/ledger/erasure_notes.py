"""Notes of erasures in the archive, which a restore of the long term to an earlier moment does not take back.

`erasures/<owner>/<epoch>` says that the life which an owner led under this epoch was erased. Note: times would not do. An
owner who began again has another epoch, whatever the clocks said, and is none of those who have to be erased again.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from memory_core.domain.scope import Owner
from memory_core.ledger.owner_names import OwnerNames
from memory_core.ports import Archive

PAGE: Final = 500
_FILES: Final = "erasures"


class ErasureNotes:
    """The notes about every owner. They stay for good, and name no user."""

    def __init__(self, archive: Archive, names: OwnerNames) -> None:
        self._archive, self._names = archive, names

    async def write(self, owner: Owner, epochs: Iterable[str], began: datetime) -> None:
        """Note that these lives are over. Raises Unavailable."""
        for epoch in epochs:
            await self._archive.put(await self._name(owner, epoch), began.isoformat().encode())

    async def all(self) -> frozenset[str]:
        """Every note, to be asked with `tells_of`. Raises Unavailable."""
        names: list[str] = []
        while page := await self._archive.names(f"{_FILES}/", names[-1] if names else None, PAGE):
            names += page
        return frozenset(names)

    async def tells_of(self, notes: frozenset[str], owner: Owner, epoch: str) -> bool:
        """Whether one of these notes says that this life of the owner was erased."""
        return await self._name(owner, epoch) in notes

    async def _name(self, owner: Owner, epoch: str) -> str:
        return f"{_FILES}/{await self._names.of(owner)}/{epoch}"

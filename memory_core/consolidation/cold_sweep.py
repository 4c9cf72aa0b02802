"""Sweep the archive: remove copies that no memory points to.

They are left by runs that were killed or overtaken between writing a copy and cutting its chain,
and by restored memories. Note: the age of a copy does not show whether it is an orphan. A
run that was frozen for a year may still be about to point to it. So only the copies of operations
that have ended are looked at; these will commit nothing more. And it has to be known that they
have ended before it is read which memories point where.
"""

from __future__ import annotations

from typing import Final

from memory_core.domain.scope import Owner
from memory_core.ledger.archive_files import ColdCopies, operation_of
from memory_core.ports import Kind, LongTermStore, Place

DOCUMENTS_A_PAGE = 100
READ_AT_ONCE = 90
ENDED: Final = frozenset({"done", "cancelled"})
"""States of an operation that can't begin again; a poisoned operation may be retried."""
_POINTING: Final[tuple[Kind, ...]] = ("memory", "version")


class ColdSweep:
    """Removes superfluous cold copies of any owner."""

    def __init__(self, store: LongTermStore, copies: ColdCopies) -> None:
        self._store, self._copies = store, copies

    async def run(self, owner: Owner, settled: str) -> int:
        """Remove the copies that no memory points to.

        Args:
            owner: Whose copies are removed.
            settled: An operation under way that commits no location any more.

        Returns:
            How many copies were removed.

        Raises:
            Unavailable: The long-term store or the archive is down.

        """
        head = (await self._store.snapshot(owner)).head
        if head is None:
            return 0
        names = [name async for name in self._copies.names(owner, head.epoch)]
        ended = await self._ended(owner, {operation_of(name) for name in names} - {settled}) | {
            settled
        }
        orphans = {name for name in names if operation_of(name) in ended}
        for kind in _POINTING if orphans else ():
            orphans -= await self._pointed_to(owner, kind, orphans)
        removed = 0
        for name in sorted(orphans):
            removed += await self._copies.remove(owner, name)
        return removed

    async def _ended(self, owner: Owner, operations: set[str]) -> set[str]:
        """Return the operations that are done, cancelled, or gone since."""
        ended: set[str] = set()
        wanted = sorted(operations)
        for start in range(0, len(wanted), READ_AT_ONCE):
            asked = wanted[start : start + READ_AT_ONCE]
            documents = (await self._store.snapshot(owner, asked)).documents
            ended |= {
                name
                for name in asked
                if name not in documents or documents[name].body["state"] in ENDED
            }
        return ended

    async def _pointed_to(self, owner: Owner, kind: Kind, locations: set[str]) -> set[str]:
        """Return the locations that a memory or an old version points to, of any status.

        All locations if a document can't be read, because it may point to any.
        """
        pointed: set[str] = set()
        after: Place | None = None
        while page := await self._store.page(
            owner, kind, None, after, DOCUMENTS_A_PAGE, newest_first=False
        ):
            if any(document.damaged for document in page):
                return locations
            pointed |= {
                str(document.body["archival_location"])
                for document in page
                if document.body["archival_location"] in locations
            }
            after = Place(int(page[-1].body["sequence"]), page[-1].id)
        return pointed

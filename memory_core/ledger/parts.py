"""Files of an owner's own that are handed over in parts: an export to be fetched, an import as it was brought. They lie in the archive.

`people/<owner>/<task>/<checksum>`. Each task's files go seven days after it began, at the latest: `due/<day>/<owner>.<task>` says
which are due when. Note: a part is named by what is in it, and written once. Which parts a file has, and in which order,
is kept in the operation.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Final

from memory_core.domain.errors import Unavailable
from memory_core.domain.scope import Owner
from memory_core.ledger.owner_names import DEPENDENCY, OwnerNames
from memory_core.ports import Archive, Clock

LIFETIME: Final = timedelta(days=7)
PAGE = 500
_FILES, _DUE = "people", "due"


class Parts:
    """The files of every owner."""

    def __init__(self, archive: Archive, names: OwnerNames, clock: Clock) -> None:
        self._archive, self._names, self._clock = archive, names, clock

    async def announce(self, owner: Owner, task_id: str, began: datetime) -> None:
        """Note when a task's files have to go. Before the first of them is written, so that none is ever forgotten."""
        day = (began + LIFETIME).date().isoformat()
        await self._archive.put(f"{_DUE}/{day}/{await self._names.of(owner)}.{task_id}", b"-")

    async def write(self, owner: Owner, task_id: str, data: bytes) -> str:
        """Write a part: its name within the task, which is its checksum. Raises Unavailable."""
        part = _checksum(data)
        await self._archive.put(await self._name(owner, task_id, part), data)
        return part

    async def find(self, owner: Owner, task_id: str, part: str) -> bytes | None:
        """The part of this name, or None where it was removed. Raises Unavailable where it is not what was written."""
        data = await self._archive.get(await self._name(owner, task_id, part))
        if data is not None and _checksum(data) != part:
            raise Unavailable(DEPENDENCY, f"part {part} of this file is not what was written", retry_after_s=30)
        return data

    async def read(self, owner: Owner, task_id: str, part: str) -> bytes:
        """The part of this name, for work that is tried again. Raises Unavailable where it was removed or is not what was written."""
        data = await self.find(owner, task_id, part)
        if data is None:
            raise Unavailable(DEPENDENCY, f"part {part} of this file is gone", retry_after_s=30)
        return data

    async def remove(self, owner: Owner, task_id: str, part: str) -> None:
        """Remove one part."""
        await self._archive.remove(await self._name(owner, task_id, part))

    async def remove_all(self, owner: Owner, task_id: str | None = None, *, but: frozenset[str] = frozenset()) -> int:
        """Remove the parts of a task, but those named, or of all tasks of an owner: how many there were."""
        prefix = f"{_FILES}/{await self._names.of(owner)}/{'' if task_id is None else f'{task_id}/'}"
        return await self._emptied(prefix, but)

    async def sweep(self) -> int:
        """Remove the files whose time is over: how many blobs. Raises Unavailable."""
        today, removed = self._clock.now().date().isoformat(), 0
        async for name in self._all(f"{_DUE}/"):
            _, day, whose = name.split("/")
            if day >= today:
                break  # names come in order
            owner_name, _, task_id = whose.partition(".")
            removed += await self._emptied(f"{_FILES}/{owner_name}/{task_id}/", frozenset())
            await self._archive.remove(name)
        return removed

    async def _emptied(self, prefix: str, but: frozenset[str]) -> int:
        removed = 0
        async for name in self._all(prefix):
            if name.rpartition("/")[2] not in but:
                removed += await self._archive.remove(name)
        return removed

    async def _all(self, prefix: str) -> AsyncIterator[str]:
        last: str | None = None
        while page := await self._archive.names(prefix, last, PAGE):
            for name in page:
                yield name
            last = page[-1]

    async def _name(self, owner: Owner, task_id: str, part: str) -> str:
        return f"{_FILES}/{await self._names.of(owner)}/{task_id}/{part}"


def _checksum(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]

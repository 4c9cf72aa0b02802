"""Cold copies in the archive: written once, read back and verified, found by whose they are and by which memory they hold.

A name is `cold/<owner>/<epoch>/<operation>/<members>-<revision>-<checksum>`: the owner and the members as keyed hashes (`owner_names`), so
that a list of names does not tell whose they are. Note: a name that is taken is no error. It was written by this very
operation of this very state, perhaps by a try whose answer was lost; so what counts is what is read back.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Collection
from typing import Final

from memory_core.domain.cold_copy import ColdCopy, decoded, encoded
from memory_core.domain.errors import Damaged, NotFound
from memory_core.domain.scope import Owner
from memory_core.ledger.owner_names import DEPENDENCY, OwnerNames
from memory_core.ports import Archive

FILES: Final = "cold"
NAMED_MEMBERS = 5
"""Members whose hashes fit into a name of 100 characters a part; of a longer chain the name says that it must be read to know."""
MANY: Final = "many"
PAGE = 500
_NAME = re.compile(r"cold/[0-9a-f]{32}/[^/]+/[^/]+/(?P<members>[0-9a-z.]+)-(?P<revision>[0-9]+)-(?P<checksum>[0-9a-f]{32})")


class ColdCopies:
    """The copies of every owner."""

    def __init__(self, archive: Archive, names: OwnerNames) -> None:
        self._archive, self._names = archive, names

    async def write(self, owner: Owner, operation_id: str, copy: ColdCopy) -> str:
        """Write a copy, read it back and verify it: its location, to be kept as `archival_location`.

        operation_id: of the operation that will commit the location; until that has ended the copy is not swept. Written twice it is
        written once. Raises Damaged when what is read back is not what was written, Unavailable.
        """
        data = await asyncio.to_thread(encoded, copy)
        name = await self._name(owner, operation_id, copy, data)
        await self._archive.put(name, data)
        if await self._archive.get(name) != data:
            raise Damaged(DEPENDENCY, f"{name} is not what was written", retry_after_s=30)
        return name

    async def read(self, owner: Owner, location: str) -> ColdCopy:
        """The copy at a location. Raises NotFound when none of this owner is there, Damaged when it can't be read, Unavailable."""
        if not location.startswith(await self.prefix(owner)):
            raise NotFound("no such cold copy for this user")
        data = await self._archive.get(location)
        if data is None:
            raise NotFound("there is no cold copy at this location")
        name_parts = _NAME.fullmatch(location)
        if name_parts is None or _checksum(data) != name_parts["checksum"]:
            raise Damaged(DEPENDENCY, f"{location} is not what was written: its checksum differs", retry_after_s=30)
        try:
            copy = await asyncio.to_thread(decoded, data)
        except ValueError as error:
            raise Damaged(DEPENDENCY, f"{location} {error}", retry_after_s=30) from error
        if any(member.memory.owner != owner or member.memory.epoch != copy.epoch for member in copy.members):
            raise Damaged(DEPENDENCY, f"{location} holds memories of somebody else", retry_after_s=30)
        return copy

    async def prefix(self, owner: Owner, epoch: str | None = None) -> str:
        """What the names of all copies of an owner begin with; those of one epoch, when it is given."""
        whose = f"{FILES}/{await self._names.of(owner)}/"
        return whose if epoch is None else f"{whose}{epoch}/"

    async def names(self, owner: Owner, epoch: str | None = None) -> AsyncIterator[str]:
        """The locations of all copies of an owner, in order, page by page."""
        prefix, last = await self.prefix(owner, epoch), None
        while page := await self._archive.names(prefix, last, PAGE):
            for name in page:
                yield name
            last = page[-1]

    async def remove(self, owner: Owner, location: str) -> bool:
        """Remove one copy for good; False when it was not there, or is not this owner's."""
        return location.startswith(await self.prefix(owner)) and await self._archive.remove(location)

    async def remove_all(self, owner: Owner, *, but_epoch: str | None = None) -> int:
        """Remove every copy of an owner, but those of one epoch, if given; how many there were."""
        spared = None if but_epoch is None else await self.prefix(owner, but_epoch)
        removed = 0
        async for name in self.names(owner):
            if spared is None or not name.startswith(spared):
                removed += await self._archive.remove(name)
        return removed

    async def holding(self, owner: Owner, memory_ids: Collection[str]) -> list[str]:
        """The locations of all copies that hold any of these memories, those that nothing points to among them.

        Long chains are read to know; one that is damaged counts as holding them.
        """
        hashes = [await self._names.of_memory(owner, memory_id) for memory_id in memory_ids]
        wanted, locations = frozenset(hashes), list[str]()
        async for name in self.names(owner):
            members = _members(name)
            if not wanted.isdisjoint(members) or (MANY in members and await self._holds(owner, name, memory_ids)):
                locations.append(name)
        return locations

    async def _holds(self, owner: Owner, name: str, memory_ids: Collection[str]) -> bool:
        try:
            return not set(memory_ids).isdisjoint((await self.read(owner, name)).ids)
        except Damaged:
            return True
        except NotFound:
            return False

    async def _name(self, owner: Owner, operation_id: str, copy: ColdCopy, data: bytes) -> str:
        members = [await self._names.of_memory(owner, memory_id) for memory_id in copy.ids[:NAMED_MEMBERS]]
        if len(copy.ids) > NAMED_MEMBERS:
            members = [members[0], MANY]
        return f"{await self.prefix(owner, copy.epoch)}{operation_id}/{'.'.join(members)}-{copy.revision}-{_checksum(data)}"


def operation_of(location: str) -> str:
    """The id of the operation that wrote a copy."""
    return location.split("/")[3]


def _members(location: str) -> frozenset[str]:
    name_parts = _NAME.fullmatch(location)
    return frozenset({MANY} if name_parts is None else name_parts["members"].split("."))


def _checksum(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]

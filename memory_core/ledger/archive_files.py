"""Files in the archive: copies of memories, exports and imports, notes of erasures.

The name of a copy is `cold/<owner>/<epoch>/<operation>/<members>-<revision>-<checksum>`. The owner
and the members are keyed hashes (`owner_names`), so that a list of names does not reveal the
owners. Note: a name that exists already is no error. The same operation wrote it from the same
state, perhaps in a try whose answer was lost. So only the content that is read back counts.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import re
import secrets
from collections.abc import AsyncIterator, Collection, Iterable
from datetime import datetime, timedelta
from typing import Final

from memory_core.domain.archival import ColdCopy, decoded, encoded
from memory_core.domain.errors import Damaged, NotFound, Unavailable
from memory_core.domain.scope import Owner
from memory_core.ports import Archive, Clock

FILES: Final = "cold"
NAMED_MEMBERS = 5
"""Members whose hashes fit into a name of 100 characters for each part. The name of a longer chain
says that the copy must be read to know its members.
"""
MANY: Final = "many"
NAMES_A_PAGE = 500
_NAME = re.compile(
    r"cold/[0-9a-f]{32}/[^/]+/[^/]+/(?P<members>[0-9a-z.]+)-(?P<revision>[0-9]+)-(?P<checksum>[0-9a-f]{32})"
)


class ColdCopies:
    """The archived copies of memories of every owner."""

    def __init__(self, archive: Archive, names: OwnerHashes) -> None:
        self._archive, self._names = archive, names

    async def write(self, owner: Owner, operation_id: str, copy: ColdCopy) -> str:
        """Write a copy, read it back and verify it.

        A copy that is written twice is stored once.

        Args:
            owner: Whose memories they are.
            operation_id: Id of the operation that will commit the location. Until it has ended, the
                copy is not swept.
            copy: Copy to write.

        Returns:
            The location, to be kept as `archival_location`.

        Raises:
            Damaged: The content that was read back differs from the copy.
            Unavailable: The archive is down.

        """
        data = await asyncio.to_thread(encoded, copy)
        name = await self._name(owner, operation_id, copy, data)
        await self._archive.put(name, data)
        if await self._archive.get(name) != data:
            raise Damaged(DEPENDENCY, f"{name} is not what was written", retry_after_s=30)
        return name

    async def read(self, owner: Owner, location: str) -> ColdCopy:
        """The copy at a location.

        Args:
            owner: Whose copy it is.
            location: As `write` returned it.

        Raises:
            NotFound: This owner has no copy there.
            Damaged: The copy can't be read.
            Unavailable: The archive is down.

        """
        if not location.startswith(await self.prefix(owner)):
            raise NotFound("no such cold copy for this user")
        data = await self._archive.get(location)
        if data is None:
            raise NotFound("there is no cold copy at this location")
        name_parts = _NAME.fullmatch(location)
        if name_parts is None or _checksum(data) != name_parts["checksum"]:
            raise Damaged(
                DEPENDENCY,
                f"{location} is not what was written: its checksum differs",
                retry_after_s=30,
            )
        try:
            copy = await asyncio.to_thread(decoded, data)
        except ValueError as error:
            raise Damaged(DEPENDENCY, f"{location} {error}", retry_after_s=30) from error
        if any(
            member.memory.owner != owner or member.memory.epoch != copy.epoch
            for member in copy.members
        ):
            raise Damaged(
                DEPENDENCY, f"{location} holds memories of somebody else", retry_after_s=30
            )
        return copy

    async def prefix(self, owner: Owner, epoch: str | None = None) -> str:
        """The common beginning of the names of an owner's copies.

        Args:
            owner: Whose copies they are.
            epoch: Epoch of the copies; None for all epochs.

        """
        whose = f"{FILES}/{await self._names.of(owner)}/"
        return whose if epoch is None else f"{whose}{epoch}/"

    async def names(self, owner: Owner, epoch: str | None = None) -> AsyncIterator[str]:
        """The locations of all copies of an owner, in order, page by page.

        Args:
            owner: Whose copies they are.
            epoch: Epoch of the copies; None for all epochs.

        """
        prefix, last = await self.prefix(owner, epoch), None
        while page := await self._archive.names(prefix, last, NAMES_A_PAGE):
            for name in page:
                yield name
            last = page[-1]

    async def remove(self, owner: Owner, location: str) -> bool:
        """Remove a copy for good.

        Args:
            owner: Whose copy it is.
            location: As `write` returned it.

        Returns:
            False if this owner has no copy there.

        """
        return location.startswith(await self.prefix(owner)) and await self._archive.remove(
            location
        )

    async def remove_all(self, owner: Owner, *, but_epoch: str | None = None) -> int:
        """Remove every copy of an owner.

        Args:
            owner: Whose copies they are.
            but_epoch: The copies of this epoch are kept; None keeps none.

        Returns:
            The number of removed copies.

        """
        spared = None if but_epoch is None else await self.prefix(owner, but_epoch)
        removed = 0
        async for name in self.names(owner):
            if spared is None or not name.startswith(spared):
                removed += await self._archive.remove(name)
        return removed

    async def holding(self, owner: Owner, memory_ids: Collection[str]) -> list[str]:
        """The locations of all copies that hold any of these memories.

        Copies that no memory points to are among them. Copies of long chains are read to know their
        members; a damaged copy counts as holding the memories.

        Args:
            owner: Whose copies they are.
            memory_ids: Ids of the memories.

        """
        hashes = [await self._names.of_memory(owner, memory_id) for memory_id in memory_ids]
        wanted, locations = frozenset(hashes), list[str]()
        async for name in self.names(owner):
            members = _members(name)
            if not wanted.isdisjoint(members) or (
                MANY in members and await self._holds(owner, name, memory_ids)
            ):
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
        members = [
            await self._names.of_memory(owner, memory_id) for memory_id in copy.ids[:NAMED_MEMBERS]
        ]
        if len(copy.ids) > NAMED_MEMBERS:
            members = [members[0], MANY]
        return f"{await self.prefix(owner, copy.epoch)}{operation_id}/{'.'.join(members)}-{copy.revision}-{_checksum(data)}"  # noqa: E501


def operation_of(location: str) -> str:
    """The id of the operation that wrote a copy."""
    return location.split("/")[3]


def _members(location: str) -> frozenset[str]:
    name_parts = _NAME.fullmatch(location)
    return frozenset({MANY} if name_parts is None else name_parts["members"].split("."))


def _checksum(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


# An owner's transfer files in the archive: the parts of an export or of an import.
#
# Their names are `people/<owner>/<task>/<checksum>`. The files of a task are removed at most seven
# days after it began; `due/<day>/<owner>.<task>` says which are due. Note: a part is named by its
# content, and written once. The operation has the list and the order of a file's parts.


LIFETIME: Final = timedelta(days=7)
PAGE = 500
_PEOPLE, _DUE = "people", "due"


class TransferFiles:
    """The exported and imported files of every owner."""

    def __init__(self, archive: Archive, names: OwnerHashes, clock: Clock) -> None:
        self._archive, self._names, self._clock = archive, names, clock

    async def announce(self, owner: Owner, task_id: str, began: datetime) -> None:
        """Record when a task's files are due for removal.

        Call it before the first file is written, so that no file stays for ever.

        Args:
            owner: Whose files they are.
            task_id: Id of the task.
            began: When the task began.

        """
        day = (began + LIFETIME).date().isoformat()
        await self._archive.put(f"{_DUE}/{day}/{await self._names.of(owner)}.{task_id}", b"-")

    async def write(self, owner: Owner, task_id: str, data: bytes) -> str:
        """Write a part.

        Args:
            owner: Whose file it is.
            task_id: Id of the task.
            data: Data of the part.

        Returns:
            The part's name within the task, which is its checksum.

        Raises:
            Unavailable: The archive is down.

        """
        part = _checksum(data)
        await self._archive.put(await self._name(owner, task_id, part), data)
        return part

    async def find(self, owner: Owner, task_id: str, part: str) -> bytes | None:
        """The part of this name; None if it was removed.

        Args:
            owner: Whose file it is.
            task_id: Id of the task.
            part: As `write` returned it.

        Raises:
            Unavailable: The stored content is damaged, or the archive is down.

        """
        data = await self._archive.get(await self._name(owner, task_id, part))
        if data is not None and _checksum(data) != part:
            raise Unavailable(
                DEPENDENCY, f"part {part} of this file is not what was written", retry_after_s=30
            )
        return data

    async def read(self, owner: Owner, task_id: str, part: str) -> bytes:
        """The part of this name, for work that is tried again.

        Args:
            owner: Whose file it is.
            task_id: Id of the task.
            part: As `write` returned it.

        Raises:
            Unavailable: The part was removed or is damaged, or the archive is down.

        """
        data = await self.find(owner, task_id, part)
        if data is None:
            raise Unavailable(DEPENDENCY, f"part {part} of this file is gone", retry_after_s=30)
        return data

    async def remove(self, owner: Owner, task_id: str, part: str) -> None:
        """Remove a part.

        Args:
            owner: Whose file it is.
            task_id: Id of the task.
            part: As `write` returned it.

        """
        await self._archive.remove(await self._name(owner, task_id, part))

    async def remove_all(
        self, owner: Owner, task_id: str | None = None, *, but: frozenset[str] = frozenset()
    ) -> int:
        """Remove the parts of a task, or of all tasks of an owner.

        Args:
            owner: Whose files they are.
            task_id: Id of the task; None for all tasks.
            but: Names of parts to keep.

        Returns:
            The number of removed parts.

        """
        prefix = (
            f"{_PEOPLE}/{await self._names.of(owner)}/{'' if task_id is None else f'{task_id}/'}"
        )
        return await self._emptied(prefix, but)

    async def sweep(self) -> int:
        """Remove the files whose time is over, and return their number. Raises Unavailable."""
        today, removed = self._clock.now().date().isoformat(), 0
        async for name in self._all(f"{_DUE}/"):
            _, day, whose = name.split("/")
            if day >= today:
                break  # names are sorted
            owner_name, _, task_id = whose.partition(".")
            removed += await self._emptied(f"{_PEOPLE}/{owner_name}/{task_id}/", frozenset())
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
        return f"{_PEOPLE}/{await self._names.of(owner)}/{task_id}/{part}"


# Keyed hashes that name owners where no reader may learn their ids: in blobs' names, and in
# receipts of erasures.
#
# The key is in the archive itself, made once by the first process that needs it. Note: a secret of
# the settings would not do. After a change of it, an erasure would not find what was named by the
# old secret.


DEPENDENCY: Final = "archive"
KEY_NAME: Final = "names-key"
KEY_BYTES = 32


class OwnerHashes:
    """The names of all owners. Every process reads the same key."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._key: bytes | None = None

    async def of(self, owner: Owner) -> str:
        """An owner's name: 32 hex digits. Raises Unavailable."""
        return (await self._hash("owner", *owner))[:32]

    async def of_memory(self, owner: Owner, memory_id: str) -> str:
        """8 hex digits: enough to skip other memories, but not to identify a memory.

        Args:
            owner: Whose memory it is.
            memory_id: Id of the memory.

        Raises:
            Unavailable: The archive is down.

        """
        return (await self._hash("memory", *owner, memory_id))[:8]

    async def session_key(self, owner: Owner, session_id: str) -> bytes:
        """The key that seals a session's history after messages were deleted for good.

        Args:
            owner: Whose session it is.
            session_id: Id of the session.

        Raises:
            Unavailable: The archive is down.

        """
        return bytes.fromhex(await self._hash("history", *owner, session_id))

    async def _hash(self, *parts: str) -> str:
        """The keyed hash of the parts.

        Parts are length-prefixed, so that ("a_b", "c") and ("a", "b_c") differ.
        """
        raw = [part.encode() for part in parts]
        message = b"".join(len(part).to_bytes(4, "big") + part for part in raw)
        return hmac.new(await self._stored_key(), message, hashlib.sha256).hexdigest()

    async def _stored_key(self) -> bytes:
        if self._key is None:
            key = await self._archive.get(KEY_NAME)
            if key is None:
                await self._archive.put(KEY_NAME, secrets.token_bytes(KEY_BYTES))
                key = await self._archive.get(KEY_NAME)
            if key is None or len(key) != KEY_BYTES:
                raise Unavailable(
                    DEPENDENCY,
                    f"{KEY_NAME}, by which owners are named, is not what was written",
                    retry_after_s=30,
                )
            self._key = key
        return self._key


# Notes of erasures in the archive, which a restored backup of the long-term store does not undo.
#
# `erasures/<owner>/<epoch>` says that this epoch of the owner was erased. Note: a time would not
# do. An owner who began again has another epoch, whatever the clocks said, and must not be erased.


NOTES_A_PAGE: Final = 500
_NOTES: Final = "erasures"


class ErasureLog:
    """The notes about every owner. They stay for good, and name no user."""

    def __init__(self, archive: Archive, names: OwnerHashes) -> None:
        self._archive, self._names = archive, names

    async def write(self, owner: Owner, epochs: Iterable[str], began: datetime) -> None:
        """Record that these epochs of an owner were erased.

        Args:
            owner: Owner that was erased.
            epochs: Epochs that are over.
            began: When the erasure began.

        Raises:
            Unavailable: The archive is down.

        """
        for epoch in epochs:
            await self._archive.put(await self._name(owner, epoch), began.isoformat().encode())

    async def all(self) -> frozenset[str]:
        """All notes, to be given to `has_note_of`. Raises Unavailable."""
        names: list[str] = []
        while page := await self._archive.names(
            f"{_NOTES}/", names[-1] if names else None, NOTES_A_PAGE
        ):
            names += page
        return frozenset(names)

    async def has_note_of(self, notes: frozenset[str], owner: Owner, epoch: str) -> bool:
        """Whether a note says that this epoch of the owner was erased.

        Args:
            notes: As `all` returned them.
            owner: Owner of the epoch.
            epoch: Epoch to look for.

        """
        return await self._name(owner, epoch) in notes

    async def _name(self, owner: Owner, epoch: str) -> str:
        return f"{_NOTES}/{await self._names.of(owner)}/{epoch}"

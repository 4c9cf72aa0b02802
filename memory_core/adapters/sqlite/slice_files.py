"""Slices of users as files beside the database, so that large users load fast.

Such a file is mapped and not parsed. The folder is a cache and may be deleted at any time. A file
counts only while the database names it. The commit that erases a user, deletes a memory or redacts
a memory removes the name in the same transaction, and the file is removed before the commit is
answered. A database that was restored from a backup names files of its own past, or none.

Note: a name is random and reveals no data. The next sweep removes files of processes that ended
while they wrote.
"""

from __future__ import annotations

import logging
import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Final

from memory_core.adapters.memory_index.columns import Slice
from memory_core.adapters.memory_index.packed import PackedSlice, SliceSnapshot
from memory_core.adapters.memory_index.slice_file import Identity, Unfit, read_slice, write_slice
from memory_core.adapters.sqlite.file import LOW_BYTES
from memory_core.adapters.sqlite.reads import SliceStanding, standing_of
from memory_core.domain.errors import described
from memory_core.domain.ranking.vectors import VectorKind
from memory_core.domain.scope import Owner

log = logging.getLogger(__name__)
LEAST_ROWS: Final = 5_000
"""The fewest memories of a slice with a file.

A smaller slice is read from the database in less than half a second.
"""
CHANGED_PART: Final = 8
"""A file is rewritten when 1/CHANGED_PART of its rows have changed since.

Writing it takes as long as reading a twelfth of its rows from the database, so this is less than
the cost of the rows.
"""
CHANGED_PART_AT_END: Final = 64
"""`CHANGED_PART` when the store is closed. The next start then reads few rows."""
_OF = "SELECT name, change FROM slices WHERE app_id = ? AND user_id = ?"
_NAME = (
    "INSERT INTO slices (app_id, user_id, name, change) VALUES (?, ?, ?, ?) "
    "ON CONFLICT (app_id, user_id) DO UPDATE SET name = excluded.name, change = excluded.change"
)


class SliceFiles:
    """The folder of slice files.

    `least_rows` is the number of a user's memories from which there is a file. Only tests use
    another number.
    """

    def __init__(self, folder: Path, kind: VectorKind, least_rows: int = LEAST_ROWS) -> None:
        self._folder, self._kind, self._least_rows = folder, kind, least_rows

    def wants(self, user_slice: Slice, part: int = CHANGED_PART) -> bool:
        """Whether a slice is large and has changed enough to write its file.

        Args:
            user_slice: The slice.
            part: The file is written when 1/part of its rows have changed.

        """
        rows = len(user_slice)
        return (
            rows >= self._least_rows
            and user_slice.unpacked * part >= rows
            and not user_slice.damaged
        )

    def read(
        self, connection: sqlite3.Connection, owner: Owner, standing: SliceStanding
    ) -> PackedSlice | None:
        """The content of the owner's file, as of some change; None without a valid file.

        It belongs into the transaction that read the standing. Raises sqlite3.Error.
        """
        row = connection.execute(_OF, owner).fetchone()
        if row is None:
            return None
        path = self._folder / row[0]
        try:
            packed = read_slice(path, self._identity(owner, standing))
        except FileNotFoundError:
            return None
        except Unfit as error:
            log.warning("the file of a user's slice is not used: %s", error)
            _remove(path)
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            log.warning("the file of a user's slice is not used: %s", described(error))
            return None
        if not _counts(packed.epoch, packed.change, standing):
            _remove(path)  # an earlier version of the program removed something, and knew no files
            return None
        return packed

    def change(self, connection: sqlite3.Connection, owner: Owner) -> int:
        """The owner's change up to which the named file is; -1 without a file.

        Args:
            connection: The connection that reads.
            owner: The owner of the slice.

        """
        row = connection.execute(_OF, owner).fetchone()
        return -1 if row is None else int(row[1])

    def write(self, owner: Owner, snapshot: SliceSnapshot, standing: SliceStanding) -> str | None:
        """Write a file that the database does not name yet, and return its name.

        None where the disk has no room or fails. Searches continue without the file.
        """
        name = token_hex(16)
        draft = self._folder / f"{name}.draft"
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self._has_room(snapshot):
                descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with open(descriptor, "wb", buffering=1 << 20) as file:
                    write_slice(file, snapshot, self._identity(owner, standing))
                draft.rename(self._folder / name)
                return name
        except (OSError, ValueError) as error:
            log.warning("the file of a user's slice could not be written: %s", described(error))
            _remove(draft)
        return None

    def publish(
        self,
        connection: sqlite3.Connection,
        owner: Owner,
        name: str,
        snapshot: SliceSnapshot,
        written_at: SliceStanding,
    ) -> bool:
        """Record the name of a written file, unless a memory was removed or redacted since.

        In that case the file is removed.

        Args:
            connection: The connection that writes.
            owner: The owner of the slice.
            name: The name of the file.
            snapshot: The content of the file.
            written_at: The owner's standing when the file was written.

        Returns:
            Whether the name was recorded.

        Raises:
            sqlite3.Error: The database cannot be written.

        """
        replaced: str | None = name
        try:
            connection.execute("BEGIN IMMEDIATE")
            standing = standing_of(connection, owner)
            row = connection.execute(_OF, owner).fetchone()
            if (
                standing is not None
                and standing.head.redactions == written_at.head.redactions
                and _counts(snapshot.epoch, snapshot.change, standing)
                and (row is None or row[1] <= snapshot.change)
            ):
                connection.execute(_NAME, (*owner, name, snapshot.change))
                connection.execute("COMMIT")
                replaced = None if row is None else row[0]
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            if replaced is not None:
                _remove(self._folder / replaced)
        return replaced != name

    def opened(self, owner: Owner, name: str, standing: SliceStanding) -> PackedSlice | None:
        """The content of a file that was just written and published.

        Args:
            owner: The owner of the slice.
            name: The name of the file.
            standing: The owner's standing when the file was written.

        Returns:
            None where the file was removed meanwhile.

        """
        try:
            return read_slice(
                self._folder / name, self._identity(owner, standing), is_checked=False
            )
        except (Unfit, OSError):
            return None

    def sweep(self, connection: sqlite3.Connection) -> None:
        """Remove every file that the database does not name.

        A file that is being written is removed too, and its writer notices that. Raises
        sqlite3.Error, and OSError where a file stays.
        """
        try:
            files = list(self._folder.iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return
        # Listed before names are read: what is named meanwhile is not removed.
        named = {name for (name,) in connection.execute("SELECT name FROM slices")}
        for file in files:
            if file.name not in named:
                file.unlink(missing_ok=True)

    def _identity(self, owner: Owner, standing: SliceStanding) -> Identity:
        return Identity(*owner, *self._kind, standing.head.redactions)

    def _has_room(self, snapshot: SliceSnapshot) -> bool:
        """Whether the disk keeps some room for writes that are needed."""
        needed = 2 * sum(block.nbytes for block in snapshot.blocks) + LOW_BYTES
        disk = os.statvfs(self._folder)
        return disk.f_bavail * disk.f_frsize >= needed


def _counts(epoch: str, change: int, standing: SliceStanding) -> bool:
    """Whether a slice as of a change can be brought up to the standing."""
    return epoch == standing.head.epoch and standing.removal <= change <= standing.change


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()

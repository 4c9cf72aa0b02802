"""Whether a file can still be written: what readiness says of a disk that is full, read-only or broken.

Reading tells nothing about it. A write that failed is remembered, and each look after it tries a write of its own; so a full disk is told
of until there is room again, and no longer. Without a failure no look writes anything.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from memory_core.domain.errors import described

ROOM_BYTES: Final = 1024 * 1024
"""What has to be free before a full disk counts as mended: one commit takes that at most, with its share of the log."""
LOW_BYTES: Final = 64 * 1024 * 1024
"""Less than this is told before anything has failed."""
TRIED_BYTES: Final = 64 * 1024
_NOT_WRITABLE = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN})


class Room:
    """The writes to one file, and whether the last that failed did so for want of room or of a working disk."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._problem: str | None = None

    @property
    def failed(self) -> bool:
        """Whether a write failed, and none that was tried since has succeeded."""
        return self._problem is not None

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Remember when a write within the block fails because the file can't be written. Raises what the block raises."""
        try:
            yield
        except sqlite3.Error as error:
            if _is_about_room(error):
                self._problem = described(error)
            raise

    def problem(self, connection: sqlite3.Connection) -> str | None:
        """What keeps the file from being written now; after a failure by trying. Raises sqlite3.Error for anything else."""
        if self._problem is not None and self._has_room():
            try:
                _try(connection)
            except sqlite3.Error as error:
                if not _is_about_room(error):
                    raise
                self._problem = described(error)
            else:
                self._problem = None
        return self._problem

    def warning(self) -> str | None:
        """What is worth a look before anything fails."""
        try:
            free = self.free_bytes()
        except OSError as error:
            return f"the folder of the data can't be looked at: {described(error)}"
        return f"only {free // 2**20} MB are free on the disk" if free < LOW_BYTES else None

    def free_bytes(self) -> int:
        """What the file system has left for us; as much as anyone needs where it does not say. Raises OSError where it is gone."""
        if not hasattr(os, "statvfs"):
            return LOW_BYTES
        disk = os.statvfs(self._path.parent)
        return disk.f_bavail * disk.f_frsize

    def _has_room(self) -> bool:
        try:
            return self.free_bytes() >= ROOM_BYTES
        except OSError:
            return False


def _is_about_room(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _NOT_WRITABLE


def _try(connection: sqlite3.Connection) -> None:
    """Take room in the file, and give it back in the same transaction."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute("CREATE TABLE room (taken BLOB)")
        connection.execute("INSERT INTO room VALUES (zeroblob(?))", (TRIED_BYTES,))
        connection.execute("DROP TABLE room")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")

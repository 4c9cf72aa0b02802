"""Files of this program on disk: opening, checking, and detecting whether they can be written.

Note: SQLite opens any database that it is given. A file is accepted only when its header says so.
Each kind of file has a mark of its own, so that no kind is mistaken for another.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import orjson
from pydantic import ValidationError

from memory_core.domain.errors import Unavailable, described

log = logging.getLogger(__name__)
BUSY_TIMEOUT_S = 10.0
"""The longest wait in seconds for a commit of another process to the same file.

It is as long as the wait for a commit of the same process: a hard delete rewrites the whole file, a
second for each 180 MB.
"""
IMPATIENCE_S = 0.002
_NEXT_TRY_S = 0.01
LOOP_CACHE_KIB = 16 * 1024
Synchronous = Literal["full", "normal"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column that files of this version may lack.

    Attributes:
        table: The table of the column.
        name: The name of the column.
        statements: The statements that add it to an older file.

    """

    table: str
    name: str
    statements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileLayout:
    """The layout of a kind of file.

    Attributes:
        dependency: The dependency that its errors name.
        application_id: The mark in its header.
        version: The version of its schema.
        tables: The statements that make a new file.
        added: Indexes that files of this version may lack, which programs that do not know them
            also keep up to date, and tables that such programs may ignore. They are made when they
            are missing.
        columns: Columns that files of this version may lack. They are made when they are missing.
        unlike: A query for the ids of rows with columns that differ from their document. SQLite
            does not notice them.

    """

    dependency: str
    application_id: int
    version: int
    tables: tuple[str, ...]
    added: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()
    unlike: str | None = None


@contextmanager
def reporting(dependency: str, state: FileState) -> Iterator[None]:
    """Turn faults of the file, the disk, a lock or stored data into Unavailable.

    Mistakes in this program's own SQL keep their errors.

    Args:
        dependency: The store of the file.
        state: It remembers a damage of the file.

    """
    try:
        yield
    except (sqlite3.ProgrammingError, sqlite3.IntegrityError, sqlite3.InterfaceError):
        raise
    except (sqlite3.Error, OSError) as error:
        if is_damage(error):
            state.is_damaged = True
        raise Unavailable(dependency, f"SQLite: {described(error)}") from error
    except (orjson.JSONDecodeError, ValidationError) as error:
        raise Unavailable(dependency, "a stored document is damaged and can't be read") from error


def is_damage(error: Exception) -> bool:
    """Whether an error says that the content of a file is damaged."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
    )


def damage_of(path: Path, layout: FileLayout) -> str | None:
    """Read a whole file, and return what is damaged in it; None where nothing is.

    Args:
        path: The file.
        layout: The layout of this kind of file.

    Raises:
        OSError: The file can't be read.
        sqlite3.Error: The file can't be read.

    """
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
        try:
            answer = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            connection.text_factory = FileState(path).text
            is_ours = _marks(connection) == (layout.application_id, layout.version)
            asked = layout.unlike if is_ours else None
            rows = [] if asked is None else connection.execute(asked).fetchall()
        except sqlite3.Error as error:
            if is_damage(error):
                return described(error)
            raise
    if answer != "ok":
        return " ".join(str(answer).split())
    names = ", ".join(name for (name,) in rows)
    return f"rows differ from their documents: {names}" if rows else None


def connect(
    state: FileState, synchronous: Synchronous, *, patient: bool = True
) -> sqlite3.Connection:
    """A connection in autocommit mode, to be used by a single thread at a time.

    It may be closed in another thread. An impatient connection, for the event loop, hardly waits
    for another writer and never moves the write-ahead log into the file, which takes a disk's time.
    It both reads and writes: a commit by another connection would empty its page cache each time.
    secure_delete overwrites deleted data in the file, as the erasure of a user promises.

    Args:
        state: The state of the file, which remembers a damage that is met.
        synchronous: `full` keeps an acknowledged commit through a power cut, `normal` only through
            the death of the process.
        patient: False for the connection of the event loop.

    """
    _make_private(state.path)
    connection = sqlite3.connect(
        state.path,
        timeout=BUSY_TIMEOUT_S if patient else IMPATIENCE_S,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.text_factory = state.text
    try:
        connection.execute(f"PRAGMA synchronous = {'FULL' if synchronous == 'full' else 'NORMAL'}")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute(f"PRAGMA journal_size_limit = {64 * 2**20}")
        if not patient:
            connection.execute("PRAGMA wal_autocheckpoint = 0")
            connection.execute(f"PRAGMA cache_size = -{LOOP_CACHE_KIB}")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def check_folder(dependency: str, folder: Path) -> None:
    """Raise Unavailable, with the reason, for a folder that can't be written to.

    SQLite only says that it can't open the file.

    Args:
        dependency: The store of the folder's file.
        folder: The folder; one that is missing is made later.

    """
    if not folder.exists() or os.access(folder, os.W_OK | os.X_OK):
        return
    is_read_only = hasattr(os, "statvfs") and os.statvfs(folder).f_flag & os.ST_RDONLY
    reason = "its file system is read-only" if is_read_only else "this user may not write to it"
    raise Unavailable(dependency, f"the folder {folder.resolve()} can't be used: {reason}")


def _make_private(path: Path) -> None:
    """Ensure that only the program's user can read the file, on systems with such modes.

    SQLite gives the files beside it the mode of the file. A new folder gets such a mode too. The
    mode of an existing folder is its owner's choice and stays.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.name != "posix":
        return
    # Never opened when it exists: closing it would drop the locks that SQLite holds for
    # this process.
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    for name in (path, *(path.with_name(path.name + suffix) for suffix in ("-wal", "-shm"))):
        with suppress(OSError):  # not there, another user's, or on a file system without modes
            if name.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                name.chmod(0o600)


def prepare(connection: sqlite3.Connection, layout: FileLayout) -> None:
    """Make the tables of a new file, or check those of an old file.

    Args:
        connection: A connection to the file.
        layout: The layout of this kind of file.

    Raises:
        Unavailable: The file is of another program or of another schema version, or its file system
            has no write-ahead log.

    """
    connection.execute("BEGIN")  # one state of the file: another process may be making its tables
    try:
        _is_ours(connection, layout)
    finally:
        connection.execute("ROLLBACK")
    mode = _write_ahead(connection)
    if mode != "wal":
        raise Unavailable(
            layout.dependency,
            f"the file system keeps the database in journal mode {mode!r}; it needs 'wal' (no "
            "network folder)",
        )
    connection.execute("BEGIN IMMEDIATE")
    try:
        if not _is_ours(connection, layout):
            for statement in layout.tables:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {layout.application_id}")
            connection.execute(f"PRAGMA user_version = {layout.version}")
        for column in layout.columns:
            known = {row[1] for row in connection.execute(f"PRAGMA table_info({column.table})")}
            for statement in () if column.name in known else column.statements:
                connection.execute(statement)
        for statement in layout.added:
            connection.execute(statement)
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _write_ahead(connection: sqlite3.Connection) -> str:
    """Turn the write-ahead log on, and return the file's journal mode after that.

    It is tried again while another process does the same to a new file. SQLite does not wait here,
    lest two processes wait for each other.
    """
    last_try = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            return str(connection.execute("PRAGMA journal_mode = WAL").fetchone()[0])
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > last_try:
                raise
            time.sleep(_NEXT_TRY_S)


def _marks(connection: sqlite3.Connection) -> tuple[int, int]:
    """The mark of the program and the version of the schema in a file's header."""
    return (
        connection.execute("PRAGMA application_id").fetchone()[0],
        connection.execute("PRAGMA user_version").fetchone()[0],
    )


def _is_ours(connection: sqlite3.Connection, layout: FileLayout) -> bool:
    """True for a file of this version, False for an empty file.

    Raises Unavailable for any other file.
    """
    application, version = _marks(connection)
    if application == layout.application_id:
        if version != layout.version:
            raise Unavailable(
                layout.dependency,
                f"the file has schema version {version}, this program knows version "
                f"{layout.version}",
            )
        return True
    if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise Unavailable(layout.dependency, "the file is a database of another program")
    return False


# Whether a file can still be written; readiness reports a disk that is full, read-only or broken.
#
# Reading does not show that. A failed write is remembered, and each check after it tries a small
# write of its own. So a full disk is reported until there is room again. Without a failed write, no
# check writes.


ROOM_BYTES: Final = 1024 * 1024
"""Bytes that must be free before a full disk counts as mended.

A commit takes that much at most, with its share of the log.
"""
LOW_BYTES: Final = 64 * 1024 * 1024
"""Free bytes below which a warning is given, before any write has failed."""
TRIED_BYTES: Final = 64 * 1024
_NOT_WRITABLE = frozenset(
    {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}
)


class FileState:
    """Whether a file can be written, and whether a damage of it was met.

    It cannot be written after a write failed for want of room or of a working disk. It is damaged
    until another process opens it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._problem: str | None = None
        self.is_damaged = False

    @property
    def failed(self) -> bool:
        """Whether a write failed, and no test write has succeeded since."""
        return self._problem is not None

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Remember when a write within the block fails because the file can't be written.

        The errors of the block are raised.
        """
        try:
            yield
        except sqlite3.Error as error:
            if _is_about_room(error):
                self._problem = described(error)
            raise

    def problem(self, connection: sqlite3.Connection) -> str | None:
        """The reason why the file cannot be written now; None when it can be written.

        After a failure this tries a write. Raises sqlite3.Error for any other fault.
        """
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

    def text(self, stored: bytes) -> str:
        """A stored text, where bytes that are no UTF-8 are written out.

        So a damaged text makes no read fail. The file counts as damaged from then on.
        """
        try:
            return stored.decode()
        except UnicodeDecodeError:
            if not self.is_damaged:
                log.error("%s is damaged: a text in it is no UTF-8", self.path.name)
            self.is_damaged = True
            return stored.decode(errors="backslashreplace")

    def warning(self) -> str | None:
        """A warning of damage, or before any write fails; None without a reason for it."""
        if self.is_damaged:
            return f"{self.path.name} is damaged, and some of it can't be read: memory-core doctor"
        try:
            free = self.free_bytes()
        except OSError as error:
            return f"the folder of the data can't be looked at: {described(error)}"
        return f"only {free // 2**20} MB are free on the disk" if free < LOW_BYTES else None

    def free_bytes(self) -> int:
        """The free bytes of the file system; `LOW_BYTES` where the system does not report them.

        Raises OSError where the file system is gone.
        """
        if not hasattr(os, "statvfs"):
            return LOW_BYTES
        disk = os.statvfs(self.path.parent)
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

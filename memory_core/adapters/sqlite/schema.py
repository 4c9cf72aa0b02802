"""The file: its tables, how a connection to it is opened, and what is checked before it is used.

One would get wrong: the embedder is recorded by the first vector that is committed, not by `open`, so that a file without
vectors takes any embedder.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import orjson
from pydantic import ValidationError

from memory_core.domain.errors import EmbeddingMismatch, Unavailable

DEPENDENCY = "long_term"
APPLICATION_ID = 0x4D436F72
"""Written into the header of the file; another program's database is refused instead of being written to."""
VERSION = 1
BUSY_TIMEOUT_S = 5.0
IMPATIENCE_S = 0.002
LOOP_CACHE_KIB = 16 * 1024
"""How long a commit waits for another process that is committing to the same file."""
Synchronous = Literal["full", "normal"]

_TABLES = (
    """
    CREATE TABLE heads (
        app_id TEXT NOT NULL, user_id TEXT NOT NULL,
        body BLOB NOT NULL,
        change INTEGER NOT NULL,
        removal INTEGER NOT NULL,
        PRIMARY KEY (app_id, user_id)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE documents (
        app_id TEXT NOT NULL, user_id TEXT NOT NULL, id TEXT NOT NULL,
        kind TEXT NOT NULL, sequence INTEGER NOT NULL, change INTEGER, expires_at REAL,
        type TEXT, status TEXT, status_reason TEXT, category TEXT, session_id TEXT, agent_id TEXT,
        event_at REAL, valid_from REAL, valid_until REAL, tags TEXT, subject TEXT, attribute TEXT,
        epoch TEXT, body BLOB NOT NULL, inner BLOB, vector BLOB,
        PRIMARY KEY (app_id, user_id, id)
    )
    """,
    "CREATE INDEX documents_by_kind ON documents (app_id, user_id, kind, sequence, id)",
    "CREATE INDEX documents_by_session ON documents (app_id, user_id, kind, session_id, sequence, id) WHERE session_id IS NOT NULL",
    "CREATE INDEX documents_by_change ON documents (app_id, user_id, change) WHERE change IS NOT NULL",
    "CREATE INDEX documents_by_slot ON documents (app_id, user_id, subject, attribute) WHERE subject IS NOT NULL",
    "CREATE INDEX documents_by_expiry ON documents (app_id, user_id, expires_at) WHERE expires_at IS NOT NULL",
    "CREATE TABLE embedder (only INTEGER PRIMARY KEY CHECK (only = 1), model TEXT NOT NULL, dimensions INTEGER NOT NULL)",
)


@contextmanager
def reporting() -> Iterator[None]:
    """Turn what is wrong with the file, the disk, a lock or what is stored into Unavailable; mistakes in our own SQL stay what they are."""
    try:
        yield
    except (sqlite3.ProgrammingError, sqlite3.IntegrityError, sqlite3.InterfaceError):
        raise
    except (sqlite3.Error, OSError) as error:
        raise Unavailable(DEPENDENCY, f"SQLite: {error}") from error
    except (orjson.JSONDecodeError, ValidationError) as error:
        raise Unavailable(DEPENDENCY, "a stored document is damaged and can't be read") from error


def connect(path: Path, synchronous: Synchronous, *, patient: bool = True) -> sqlite3.Connection:
    """A connection in autocommit mode, to be used by one thread at a time (closing may happen in another).

    An impatient one, for the event loop, hardly waits for another writer and never moves the write-ahead log into the file, which
    takes a disk's time. It both reads and writes: a commit by another connection would empty its page cache each time.
    secure_delete: what is deleted is overwritten in the file, as erasing a user promises.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # what people told is nobody else's on this machine
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S if patient else IMPATIENCE_S, isolation_level=None, check_same_thread=False)
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


def prepare(connection: sqlite3.Connection) -> None:
    """Make the tables of a new file, check those of an old one. Raises Unavailable for a file that is not ours or newer than we are."""
    _check_owner(connection)
    mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
    if mode != "wal":
        raise Unavailable(DEPENDENCY, f"the file system keeps the database in journal mode {mode!r}; it needs 'wal' (no network folder)")
    connection.execute("BEGIN IMMEDIATE")
    try:
        if not _check_owner(connection):
            for statement in _TABLES:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def check_embedder(connection: sqlite3.Connection, model: str, dimensions: int) -> bool:
    """Whether an embedder is recorded; raises EmbeddingMismatch when it is another one than `model` with `dimensions`."""
    row = connection.execute("SELECT model, dimensions FROM embedder").fetchone()
    if row is not None and (row[0], row[1]) != (model, dimensions):
        raise EmbeddingMismatch(
            DEPENDENCY,
            f"the stored vectors are from {row[0]!r} with {row[1]} dimensions, the configured embedder is {model!r} with {dimensions}",
        )
    return row is not None


def record_embedder(connection: sqlite3.Connection, model: str, dimensions: int) -> None:
    """Write down who made this file's vectors; within the transaction that brings the first one."""
    if not check_embedder(connection, model, dimensions):
        connection.execute("INSERT INTO embedder (only, model, dimensions) VALUES (1, ?, ?)", (model, dimensions))


def _check_owner(connection: sqlite3.Connection) -> bool:
    """True for a file of this version, False for an empty one; Unavailable for all others."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if application == APPLICATION_ID:
        if version != VERSION:
            raise Unavailable(DEPENDENCY, f"the file has schema version {version}, this program knows version {VERSION}")
        return True
    if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise Unavailable(DEPENDENCY, "the file is a database of another program")
    return False

"""The long-term file: its tables, its connections and its threads.

Note: a cancelled caller does not stop the work of a thread. A commit is applied whole or not at
all. A caller without an answer must look which of both happened; the commit's first event is its
marker.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from memory_core.adapters.sqlite.file import (
    BUSY_TIMEOUT_S,
    Column,
    FileLayout,
    FileState,
    Synchronous,
    check_folder,
    connect,
    reporting,
)
from memory_core.domain.errors import Unavailable
from memory_core.domain.fading import MOST_USES, USES_A_TELLING, USES_THAT_DOUBLE
from memory_core.domain.messages import MESSAGE
from memory_core.domain.ranking.vectors import VectorKind

READERS = 3
COMMITS_A_CHECKPOINT = 500
"""Commits between checkpoints: some 10 to 40 MB of write-ahead log."""
READERS_AWAITED_MS = 100
"""The longest wait for readers of an older state, in milliseconds.

Writers wait meanwhile, so that the log can begin again.
"""
log = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")


class Connections:
    """The connections to a file, and the threads that work on it.

    All calls raise Unavailable when they are not open.
    """

    def __init__(self, path: Path, synchronous: Synchronous) -> None:
        self._path = path
        self._synchronous: Synchronous = synchronous
        self._local = threading.local()
        self._made: list[sqlite3.Connection] = []
        self._writer: ThreadPoolExecutor | None = None
        self._readers: ThreadPoolExecutor | None = None
        self._impatient: sqlite3.Connection | None = None
        self._since_checkpoint = 0
        self._checkpoint: asyncio.Task[None] | None = None
        self._under_way = 0
        self.room = FileState(path)

    def open(self) -> None:
        """Make the threads. Each connects with its first work.

        Raises Unavailable for a folder that can't be written to.
        """
        check_folder(DEPENDENCY, self._path.parent)
        self._writer = ThreadPoolExecutor(1, "sqlite-writer")
        self._readers = ThreadPoolExecutor(READERS, "sqlite-reader")

    async def close(self) -> None:
        """Wait for running calls, then close every connection."""
        if self._checkpoint is not None:
            await self._checkpoint
        executors = [executor for executor in (self._writer, self._readers) if executor is not None]
        self._writer = self._readers = None
        for executor in executors:
            await asyncio.to_thread(executor.shutdown)
        await asyncio.to_thread(self._disconnect)

    def here(
        self,
        work: Callable[Concatenate[sqlite3.Connection, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Do `work` on the event loop.

        This is for work that costs less than handing it, and the interpreter's lock, to a thread
        and back.

        Args:
            work: The work, with a connection as its first argument.
            args: Further arguments of the work.
            kwargs: Keyword arguments of the work.

        Raises:
            Unavailable: The store is not open, or the file cannot be read or written.

        """
        if self._readers is None:
            raise Unavailable(DEPENDENCY, "the store is not open")
        with reporting(DEPENDENCY, self.room):
            if self._impatient is None:
                self._impatient = connect(self.room, self._synchronous, patient=False)
                self._made.append(self._impatient)
            return work(self._impatient, *args, **kwargs)

    async def read(
        self,
        work: Callable[Concatenate[sqlite3.Connection, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Do `work` that only reads in a thread."""
        return await self._run(self._readers, work, *args, **kwargs)

    async def write(
        self,
        work: Callable[Concatenate[sqlite3.Connection, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Do `work` that writes in the single writing thread."""

        def watched(connection: sqlite3.Connection) -> T:
            with self.room.watched():
                return work(connection, *args, **kwargs)

        return await self._run(self._writer, watched)

    async def write_light(
        self,
        work: Callable[Concatenate[sqlite3.Connection, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Do small `work` that writes, on the event loop if possible.

        This is possible when it need not wait for the disk or for another writer. Otherwise the
        writing thread does it.

        Args:
            work: The work, with a connection as its first argument.
            args: Further arguments of the work.
            kwargs: Keyword arguments of the work.

        Raises:
            Unavailable: The store is not open, or the file cannot be read or written.

        """
        if self._synchronous == "normal":
            done = self.here(self._at_once, lambda connection: work(connection, *args, **kwargs))
            if done is not None:
                return done[0]
        return await self.write(work, *args, **kwargs)

    def pool(self) -> tuple[int, int]:
        """The number of threads, and the calls under way.

        Calls that wait for a thread are not counted.
        """
        return READERS + 1, min(self._under_way, READERS + 1)

    def _at_once(
        self, connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]
    ) -> tuple[T] | None:
        """Write without waiting, and return the answer in a tuple.

        None when another connection is writing.
        """
        try:
            with self.room.watched():
                answer = work(connection)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            return None
        self._since_checkpoint += 1
        if self._since_checkpoint == COMMITS_A_CHECKPOINT:
            self._since_checkpoint = 0
            self._checkpoint = asyncio.get_running_loop().create_task(self._move_log())
        return (answer,)

    async def _move_log(self) -> None:
        """Move the write-ahead log into the file, in the writing thread.

        The impatient connection leaves this undone. Most of the log is moved while other
        connections commit, the rest while they wait: a log that is not moved whole never begins
        again, and among several processes there is always a commit under way.
        """
        try:
            await self.write(_move)
        except Unavailable as error:
            log.warning("The write-ahead log could not be moved into the file: %s", error.detail)

    async def _run(
        self,
        executor: ThreadPoolExecutor | None,
        work: Callable[Concatenate[sqlite3.Connection, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Do `work` in a thread of the executor, with that thread's connection."""
        if executor is None:
            raise Unavailable(DEPENDENCY, "the store is not open")

        def call() -> T:
            with reporting(DEPENDENCY, self.room):
                return work(self._connection(), *args, **kwargs)

        self._under_way += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(executor, call)
        finally:
            self._under_way -= 1

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = connect(self.room, self._synchronous)
            self._made.append(connection)
        return connection

    def _disconnect(self) -> None:
        for connection in self._made:
            connection.close()
        self._made.clear()
        self._impatient = None
        self._local = threading.local()


def _move(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    connection.execute(f"PRAGMA busy_timeout = {READERS_AWAITED_MS}")
    try:
        connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()
    finally:
        connection.execute(f"PRAGMA busy_timeout = {int(BUSY_TIMEOUT_S * 1000)}")


# The tables of the long-term file, and the record of its embedder.
#
# The record names the embedder of the first committed vector. There may be vectors of other
# embedders: each memory names its embedder, and only vectors of the configured embedder are
# compared. The record changes once no other vector is left.


DEPENDENCY = "long_term"

_BY_FADING = (
    "CREATE INDEX documents_by_fading ON documents "
    "(app_id, user_id, idle_since, halvings, lasts, characters, created_at, session_id, epoch, "
    "sequence, id) WHERE idle_since IS NOT NULL"
)
_TABLES = (
    """
    CREATE TABLE heads (
        app_id TEXT NOT NULL, user_id TEXT NOT NULL,
        body BLOB NOT NULL,
        change INTEGER NOT NULL,
        removal INTEGER NOT NULL,
        due_at REAL,
        PRIMARY KEY (app_id, user_id)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX heads_by_due ON heads (due_at, app_id, user_id) WHERE due_at IS NOT NULL",
    """
    CREATE TABLE documents (
        app_id TEXT NOT NULL, user_id TEXT NOT NULL, id TEXT NOT NULL,
        kind TEXT NOT NULL, sequence INTEGER NOT NULL, change INTEGER, expires_at REAL,
        type TEXT, status TEXT, status_reason TEXT, category TEXT, session_id TEXT, agent_id TEXT,
        event_at REAL, valid_from REAL, valid_until REAL, tags TEXT, subject TEXT, attribute TEXT, next_id TEXT,
        idle_since REAL, halvings REAL, characters INTEGER, created_at REAL, ages_from REAL, foresees_until REAL, lasts REAL,
        memory_id TEXT, event_type TEXT, correlation_id TEXT,
        epoch TEXT, body BLOB NOT NULL, inner BLOB, vector BLOB,
        PRIMARY KEY (app_id, user_id, id)
    )
    """,  # noqa: E501
    "CREATE INDEX documents_by_kind ON documents (app_id, user_id, kind, sequence, id)",
    (
        "CREATE INDEX documents_by_session ON documents (app_id, user_id, kind, session_id, "
        "sequence, id) WHERE session_id IS NOT NULL"
    ),
    (
        "CREATE INDEX documents_by_change ON documents (app_id, user_id, change) WHERE change IS "
        "NOT NULL"
    ),
    (
        "CREATE INDEX documents_by_slot ON documents (app_id, user_id, subject, attribute) WHERE "
        "subject IS NOT NULL"
    ),
    (
        "CREATE INDEX documents_by_successor ON documents (app_id, user_id, next_id) WHERE next_id "
        "IS NOT NULL"
    ),
    (
        "CREATE INDEX conflicts_by_status ON documents (app_id, user_id, status, sequence, id) "
        "WHERE kind = 'conflict'"
    ),
    _BY_FADING,
    (
        "CREATE INDEX documents_by_age ON documents (app_id, user_id, ages_from, epoch) WHERE "
        "ages_from IS NOT NULL"
    ),
    (
        "CREATE INDEX documents_by_foresight ON documents (app_id, user_id, foresees_until, epoch) "
        "WHERE foresees_until IS NOT NULL"
    ),
    (
        "CREATE INDEX events_by_memory ON documents (app_id, user_id, memory_id, sequence) WHERE "
        "memory_id IS NOT NULL"
    ),
    (
        "CREATE INDEX events_by_moment ON documents (app_id, user_id, event_at) WHERE memory_id IS "
        "NOT NULL"
    ),
    (
        "CREATE INDEX documents_by_expiry ON documents (app_id, user_id, expires_at) WHERE "
        "expires_at IS NOT NULL"
    ),
    (
        "CREATE TABLE embedder (only INTEGER PRIMARY KEY CHECK (only = 1), model TEXT NOT NULL, "
        "dimensions INTEGER NOT NULL)"
    ),
)

IS_POISONED = "kind = 'task' AND json_extract(CAST(body AS TEXT), '$.status') = 'poisoned'"
CHANGED = "rtrim(json_extract(CAST(body AS TEXT), '$.updated_at'), 'Z')"
"""When a memory was last made or changed, as text that sorts as moments do.

With the Z, a whole second would come after its fractions.
"""

KEY = "json_extract(CAST(body AS TEXT), '$.key')"
"""The key of a procedural memory."""

ACCESSES_DUE = "json_extract(CAST(body AS TEXT), '$.due_s')"
"""When the accesses that wait in such a document must be added to their memories."""

HAS_TAGS = "kind = 'memory' AND tags != '[]'"
"""The memories from which lists of tags are made, using an index alone."""

_CELL = (
    "CASE WHEN json_valid(CAST(body AS TEXT)) THEN json_extract(CAST(body AS TEXT), "
    "'$.cell_id') END"
)
NO_FORMED_MESSAGE = f"(category IS NOT '{MESSAGE}' OR {_CELL} IS NULL)"
"""Memories that are not messages of a cell.

A body that cannot be parsed has no cell here: it must not fail a list, nor its own write.
"""

_ADDED = (
    (
        "CREATE TABLE IF NOT EXISTS slices (app_id TEXT NOT NULL, user_id TEXT NOT NULL, "
        "name TEXT NOT NULL, change INTEGER NOT NULL, PRIMARY KEY (app_id, user_id)) WITHOUT ROWID"
    ),
    (
        "CREATE INDEX IF NOT EXISTS documents_but_formed_messages "
        "ON documents (app_id, user_id, sequence, id) WHERE kind = 'memory' "
        f"AND {NO_FORMED_MESSAGE}"
    ),
    (
        f"CREATE INDEX IF NOT EXISTS documents_by_key ON documents (app_id, user_id, {KEY}) "
        "WHERE type = 'procedural' AND kind = 'memory'"
    ),
    (
        "CREATE INDEX IF NOT EXISTS documents_with_tags ON documents (app_id, user_id, status, "
        f"epoch, tags) WHERE {HAS_TAGS}"
    ),
    (
        "CREATE INDEX IF NOT EXISTS tasks_poisoned ON documents (app_id, sequence, id) WHERE "
        f"{IS_POISONED}"
    ),
    (
        f"CREATE INDEX IF NOT EXISTS accesses_by_due ON documents ({ACCESSES_DUE}, app_id, "
        "user_id) WHERE kind = 'accesses'"
    ),
    (
        "CREATE INDEX IF NOT EXISTS documents_by_agent ON documents (app_id, user_id, kind, "
        f"agent_id, {CHANGED}, status, category) WHERE agent_id IS NOT NULL"
    ),
)

_LASTS = Column(
    "documents",
    "lasts",
    (
        "ALTER TABLE documents ADD COLUMN lasts REAL",
        (
            "UPDATE documents SET lasts = 1 + MIN(COALESCE(json_extract(CAST(body AS TEXT), "  # noqa: S608 - our own numbers
            "'$.access_count'), 0) "
            f"+ {USES_A_TELLING} * COALESCE(json_extract(CAST(body AS TEXT), "
            f"'$.reinforcement_count'), 0), {MOST_USES}) / {USES_THAT_DOUBLE}.0 "
            "WHERE idle_since IS NOT NULL AND json_valid(CAST(body AS TEXT))"
        ),
        "DROP INDEX documents_by_fading",
        _BY_FADING,
    ),
)
"""The factor of a memory's half-life.

Note: an earlier version of the program does not write it, and 1 is used then. Such a memory is
checked too early, and found not to be due.
"""

_COPIED = ("type", "status", "status_reason", "category", "session_id", "agent_id", "next_id")
_UNLIKE = (
    "SELECT id FROM documents WHERE inner IS NOT NULL AND CASE "  # noqa: S608 - our own names
    "WHEN kind NOT IN ('memory', 'version') OR NOT json_valid(CAST(body AS TEXT)) THEN 1 "
    "ELSE kind = 'memory' AND id IS NOT json_extract(CAST(body AS TEXT), '$.id') OR "
    + " OR ".join(f"{name} IS NOT json_extract(CAST(body AS TEXT), '$.{name}')" for name in _COPIED)
    + " END LIMIT 20"
)
"""Ids of memories that can't be read, or differ from their columns.

Only memories and their versions have an inner part.
"""

LAYOUT = FileLayout(
    DEPENDENCY,
    application_id=0x4D436F72,
    version=4,
    tables=_TABLES,
    added=_ADDED,
    columns=(_LASTS,),
    unlike=_UNLIKE,
)


_OTHER_VECTORS = (
    "SELECT 1 FROM documents WHERE vector IS NOT NULL AND kind IN ('memory', 'version') "
    "AND (length(vector) != 4 * :dimensions OR json_valid(CAST(body AS TEXT)) "
    "AND json_extract(CAST(body AS TEXT), '$.embedding_model') != :model) LIMIT 1"
)


def recorded_embedder(connection: sqlite3.Connection) -> VectorKind | None:
    """The embedder on record; None in a file without vectors."""
    row = connection.execute("SELECT model, dimensions FROM embedder").fetchone()
    return None if row is None else VectorKind(*row)


def record_embedder(connection: sqlite3.Connection, kind: VectorKind) -> None:
    """Record the embedder of this file's first vector. An earlier record stays.

    It is part of the transaction that writes the vector.

    Args:
        connection: The connection that writes.
        kind: The embedder.

    """
    connection.execute(
        "INSERT INTO embedder (only, model, dimensions) VALUES (1, ?, ?) ON CONFLICT DO NOTHING",
        kind,
    )


def has_other_vectors(connection: sqlite3.Connection, kind: VectorKind) -> bool:
    """Whether vectors of another embedder are left.

    This reads the file up to the first such vector, hence all of it where none is left.

    Args:
        connection: The connection that reads.
        kind: The configured embedder.

    """
    return connection.execute(_OTHER_VECTORS, kind._asdict()).fetchone() is not None


def replace_embedder(connection: sqlite3.Connection, kind: VectorKind) -> None:
    """Record another embedder, in place of an embedder without vectors.

    Args:
        connection: The connection that writes.
        kind: The configured embedder.

    """
    connection.execute("UPDATE embedder SET model = ?, dimensions = ?", kind)

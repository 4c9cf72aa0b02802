"""Where a store's work on its file is done: on the event loop, in one writing thread, or in one of a few reading ones.

Note: a cancelled caller does not stop what a thread has begun. A commit is applied whole or not at all, and which of
both is what a caller without an answer must ask (the commit's first event is its marker).
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

from memory_core.adapters.sqlite.file import Synchronous, connect, reporting
from memory_core.adapters.sqlite.room import Room
from memory_core.adapters.sqlite.schema import DEPENDENCY
from memory_core.domain.errors import Unavailable

READERS = 3
COMMITS_A_CHECKPOINT = 500
"""About 10 MB of write-ahead log."""
log = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")


class Connections:
    """One file: the connections to it and the threads that work on it. All calls raise Unavailable when they are not open."""

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
        self.room = Room(path)

    def open(self) -> None:
        """Make the threads; each connects with its first work."""
        self._writer = ThreadPoolExecutor(1, "sqlite-writer")
        self._readers = ThreadPoolExecutor(READERS, "sqlite-reader")

    async def close(self) -> None:
        """Let running calls end, close every connection."""
        if self._checkpoint is not None:
            await self._checkpoint
        executors = [executor for executor in (self._writer, self._readers) if executor is not None]
        self._writer = self._readers = None
        for executor in executors:
            await asyncio.to_thread(executor.shutdown)
        await asyncio.to_thread(self._disconnect)

    def here(self, work: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do `work` on the event loop: for what costs less than handing it, and the interpreter's lock with it, to a thread and back."""
        if self._readers is None:
            raise Unavailable(DEPENDENCY, "the store is not open")
        with reporting(DEPENDENCY):
            if self._impatient is None:
                self._impatient = connect(self._path, self._synchronous, patient=False)
                self._made.append(self._impatient)
            return work(self._impatient, *args, **kwargs)

    async def read(self, work: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do a reading `work` in a thread."""
        return await self._run(self._readers, work, *args, **kwargs)

    async def write(self, work: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do a writing `work` in the one thread that writes."""

        def watched(connection: sqlite3.Connection) -> T:
            with self.room.watched():
                return work(connection, *args, **kwargs)

        return await self._run(self._writer, watched)

    async def write_light(self, work: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do a small writing `work`: here when it need not wait for the disk or for another writer, else in the writing thread."""
        if self._synchronous == "normal":
            done = self.here(self._at_once, lambda connection: work(connection, *args, **kwargs))
            if done is not None:
                return done[0]
        return await self.write(work, *args, **kwargs)

    def pool(self) -> tuple[int, int]:
        """The writing thread and the reading ones; calls under way, those that wait for a thread not counted."""
        return READERS + 1, min(self._under_way, READERS + 1)

    def _at_once(self, connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> tuple[T] | None:
        """Write without waiting, the answer alone in a tuple; None when another connection is writing."""
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
        """Move the write-ahead log into the file, in the writing thread: what an impatient connection leaves undone."""
        try:
            await self.write(lambda connection: connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone())
        except Unavailable as error:
            log.warning("The write-ahead log could not be moved into the file: %s", error.detail)

    async def _run(
        self, executor: ThreadPoolExecutor | None, work: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Do `work` in a thread of the executor, with that thread's connection."""
        if executor is None:
            raise Unavailable(DEPENDENCY, "the store is not open")

        def call() -> T:
            with reporting(DEPENDENCY):
                return work(self._connection(), *args, **kwargs)

        self._under_way += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(executor, call)
        finally:
            self._under_way -= 1

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = connect(self._path, self._synchronous)
            self._made.append(connection)
        return connection

    def _disconnect(self) -> None:
        for connection in self._made:
            connection.close()
        self._made.clear()
        self._impatient = None
        self._local = threading.local()

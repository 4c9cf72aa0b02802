"""`TaskQueue` in a SQLite file: Azure's Storage Queue in miniature.

It survives restarts and is shared by processes. It has a file of its own, so that a busy queue and
a busy store do not wait for each other's lock.

Note: after a message's visibility timeout, its receiver can still complete it until another
receiver has received it.
"""

from __future__ import annotations

import asyncio
import secrets
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Concatenate, Final, ParamSpec, TypeVar

from memory_core.adapters.queue_rules import (
    DEPENDENCY,
    LIFE,
    POISON_QUEUES,
    Arrivals,
    checked_limit,
    checked_name,
    encoded,
    whole_seconds,
)
from memory_core.adapters.sqlite.file import (
    Column,
    FileLayout,
    FileState,
    Synchronous,
    connect,
    prepare,
    reporting,
)
from memory_core.domain.errors import Unavailable
from memory_core.ports import Clock, Delivery, Health

ADAPTER = "sqlite"
_TABLES = (
    """
    CREATE TABLE messages (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE, queue TEXT NOT NULL, body TEXT NOT NULL,
        inserted_at REAL NOT NULL, expires_at REAL NOT NULL, visible_at REAL NOT NULL,
        dequeue_count INTEGER NOT NULL DEFAULT 0, receipt TEXT, hidden_at REAL
    )
    """,
    "CREATE INDEX messages_by_visibility ON messages (queue, visible_at)",
    "CREATE INDEX messages_by_expiry ON messages (expires_at)",
)
_HIDDEN_AT = Column("messages", "hidden_at", ("ALTER TABLE messages ADD COLUMN hidden_at REAL",))
"""When a receiver last hid the message."""
LAYOUT: Final = FileLayout(
    DEPENDENCY, application_id=0x4D437175, version=1, tables=_TABLES, columns=(_HIDDEN_AT,)
)
P = ParamSpec("P")
T = TypeVar("T")


class SqliteQueue:
    """Queues as rows of a table. A single thread works on it.

    An operation takes about 0.1 ms. `synchronous` is as in the store.
    """

    def __init__(self, path: Path, *, clock: Clock, synchronous: Synchronous = "full") -> None:
        self._path = path
        self._clock = clock
        self._synchronous: Synchronous = synchronous
        self._arrivals = Arrivals()
        self._thread: ThreadPoolExecutor | None = None
        self._connection: sqlite3.Connection | None = None
        self._last_ok: datetime | None = None
        self._under_way = 0
        self._room = FileState(path)

    async def open(self) -> None:
        """Make or check the file. After Unavailable, each call tries again."""
        self._thread = self._thread or ThreadPoolExecutor(1, "sqlite-queue")
        await self._run(_drop_expired, self._now())

    async def close(self) -> None:
        """Wait for running calls, and close the file."""
        thread, self._thread = self._thread, None
        if thread is not None:
            await asyncio.to_thread(thread.shutdown)
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    async def send(self, queue: str, body: str, *, delay: timedelta = timedelta(0)) -> None:
        """Add a message. Raises Unavailable and TooLarge."""
        encoded(body)
        hidden = whole_seconds(delay)
        await self._run(_insert, checked_name(queue), body, self._now(), hidden)
        if not hidden:
            self._arrivals.tell(queue)

    async def receive(self, queue: str, limit: int, visibility: timedelta) -> list[Delivery]:
        """Receive up to `limit` messages, those that have been visible longest first."""
        hidden = whole_seconds(visibility, least=1)
        return await self._run(
            _take, checked_name(queue), checked_limit(limit), self._now(), hidden
        )

    async def extend(
        self, queue: str, delivery: Delivery, visibility: timedelta
    ) -> Delivery | None:
        """Hide a message for longer or hand it back, and return the new delivery."""
        now = self._now()
        until = now + whole_seconds(visibility)
        receipt = secrets.token_hex(16)
        if not await self._run(_change, checked_name(queue), delivery, now, until, receipt):
            return None
        return replace(delivery, receipt=receipt, next_visible_at=_moment(until))

    async def complete(self, queue: str, delivery: Delivery) -> bool:
        """Remove the message."""
        return await self._run(_remove, checked_name(queue), delivery, self._now())

    async def arrival(self, queue: str, within: timedelta) -> None:
        """Wait until this process sends to the queue, for at most `within`."""
        await self._arrivals.wait(queue, within)

    async def length(self, queue: str) -> int:
        """The number of messages."""
        return await self._run(_count, checked_name(queue), self._now())

    async def check(self) -> Health:
        """Check readiness by a small read of each poison queue."""
        begun = time.perf_counter()
        try:
            facts = {queue: await self.length(queue) for queue in POISON_QUEUES}
            problem = await self._run(self._room.problem) if self._room.failed else None
        except Unavailable as error:
            return Health(ADAPTER, "unavailable", last_ok=self._last_ok, detail=error.detail)
        if problem is not None:
            return Health(
                ADAPTER,
                "unavailable",
                last_ok=self._last_ok,
                detail=f"nothing can be sent: {problem}",
                facts=facts,
            )
        self._last_ok = self._clock.now()
        latency_ms = (time.perf_counter() - begun) * 1000
        warning = self._room.warning() if self._room.is_damaged else None
        return Health(
            ADAPTER, "degraded" if warning else "ok", latency_ms, self._last_ok, warning, facts
        )

    def pool(self) -> tuple[int, int]:
        """The single thread, and whether it is working."""
        return 1, min(self._under_way, 1)

    async def _run(
        self,
        work: Callable[Concatenate[sqlite3.Connection, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Do `work` in the thread.

        A caller that is cancelled does not stop it. A message that it received then becomes visible
        again after its visibility timeout.
        """
        if self._thread is None:
            raise Unavailable(DEPENDENCY, "the queue is not open")

        def call() -> T:
            with reporting(DEPENDENCY, self._room), self._room.watched():
                return work(self._connected(), *args, **kwargs)

        self._under_way += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, call)
        finally:
            self._under_way -= 1

    def _connected(self) -> sqlite3.Connection:
        if self._connection is None:
            connection = connect(self._room, self._synchronous)
            try:
                prepare(connection, LAYOUT)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
            self._room.is_damaged = False  # another file
        return self._connection

    def _now(self) -> float:
        return self._clock.now().timestamp()


def _insert(connection: sqlite3.Connection, queue: str, body: str, now: float, hidden: int) -> None:
    visible = now + hidden
    connection.execute(
        "INSERT INTO messages (id, queue, body, inserted_at, expires_at, visible_at) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        (secrets.token_hex(16), queue, body, now, visible + LIFE.total_seconds(), visible),
    )


def _take(
    connection: sqlite3.Connection, queue: str, limit: int, now: float, hidden: int
) -> list[Delivery]:
    """Receive messages, after a look whether there are any.

    Most calls find no message. They take no lock and write no row.
    """
    _move_back_what_lies_ahead(connection, queue, now)
    if (
        connection.execute(
            "SELECT 1 FROM messages WHERE queue = ? AND visible_at <= ? LIMIT 1", (queue, now)
        ).fetchone()
        is None
    ):
        return []
    _drop_expired(connection, now)
    rows = connection.execute(
        """
        UPDATE messages SET visible_at = ?, hidden_at = ?, dequeue_count = dequeue_count + 1, receipt = lower(hex(randomblob(16)))
        WHERE number IN (SELECT number FROM messages WHERE queue = ? AND visible_at <= ? ORDER BY visible_at, number LIMIT ?)
        RETURNING id, body, dequeue_count, inserted_at, expires_at, visible_at, receipt
        """,  # noqa: E501
        (now + hidden, now, queue, now, limit),
    ).fetchall()
    return [
        Delivery(id, body, count, _moment(inserted), _moment(expires), _moment(visible), receipt)
        for id, body, count, inserted, expires, visible, receipt in rows
    ]


def _move_back_what_lies_ahead(connection: sqlite3.Connection, queue: str, now: float) -> None:
    """Move messages back that were sent or received while the clock was ahead.

    They would be hidden until that time comes. They become as if they were sent or received now.
    """
    moments = {"queue": queue, "now": now}
    if connection.execute(
        "SELECT 1 FROM messages WHERE queue = :queue AND visible_at > :now "
        "AND (inserted_at > :now OR hidden_at > :now) LIMIT 1",
        moments,
    ).fetchone():
        connection.execute(
            """
            UPDATE messages SET visible_at = visible_at - MAX(inserted_at, COALESCE(hidden_at, 0)) + :now,
            expires_at = expires_at - MAX(inserted_at - :now, 0),
            inserted_at = MIN(inserted_at, :now), hidden_at = MIN(hidden_at, :now)
            WHERE queue = :queue AND visible_at > :now AND (inserted_at > :now OR hidden_at > :now)
            """,  # noqa: E501
            moments,
        )


def _change(
    connection: sqlite3.Connection,
    queue: str,
    delivery: Delivery,
    now: float,
    until: float,
    receipt: str,
) -> bool:
    changed = connection.execute(
        "UPDATE messages SET visible_at = ?, hidden_at = ?, receipt = ? WHERE id = ? AND queue = ? "
        "AND receipt = ? AND expires_at > ?",
        (until, now, receipt, delivery.id, queue, delivery.receipt, now),
    )
    return changed.rowcount == 1


def _remove(connection: sqlite3.Connection, queue: str, delivery: Delivery, now: float) -> bool:
    removed = connection.execute(
        "DELETE FROM messages WHERE id = ? AND queue = ? AND receipt = ? AND expires_at > ?",
        (delivery.id, queue, delivery.receipt, now),
    )
    return removed.rowcount == 1


def _count(connection: sqlite3.Connection, queue: str, now: float) -> int:
    count: int = connection.execute(
        "SELECT count(*) FROM messages WHERE queue = ? AND expires_at > ?", (queue, now)
    ).fetchone()[0]
    return count


def _drop_expired(connection: sqlite3.Connection, now: float) -> None:
    connection.execute("DELETE FROM messages WHERE expires_at <= ?", (now,))


def _moment(timestamp: float) -> datetime:
    return datetime.fromtimestamp(timestamp, timezone.utc)

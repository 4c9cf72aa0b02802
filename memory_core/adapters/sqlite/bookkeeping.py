"""Documents beside the log, written one by one: tasks, steps, buffers; and the heads of those for whom work waits.

Note: nothing here touches the owner's head, so a commit under way is not disturbed. Only accesses of memories raise its
change counter, by which a slice in memory learns of them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

import orjson

from memory_core.adapters.slices.forms import seconds
from memory_core.adapters.sqlite.reading import head_of
from memory_core.adapters.sqlite.rows import READ_COLUMNS, WRITE, check_size, decoded, lasts, moment, parameters, size_of, tag_of
from memory_core.domain.memory import Head
from memory_core.domain.scope import Owner
from memory_core.ports import LOGGED, Document, Due, Touch

MARKED_FOR = timedelta(days=1)
PURGED_AT_ONCE = 20
"""Expired rows of the owner that one write deletes which brings such rows; it brings fewer, so they never pile up."""

_READ = (
    f"SELECT {READ_COLUMNS} FROM documents WHERE app_id = ? AND user_id = ? AND id = ? "  # noqa: S608 - our own names
    "AND (expires_at IS NULL OR expires_at > ?)"
)
_READ_TAGGED = (
    "SELECT body, expires_at FROM documents WHERE app_id = ? AND user_id = ? AND id = ? AND kind NOT IN ('memory', 'version') "
    "AND (expires_at IS NULL OR expires_at > ?)"
)
_PURGE = (
    "DELETE FROM documents WHERE app_id = ? AND user_id = ? AND id IN "
    "(SELECT id FROM documents WHERE app_id = ? AND user_id = ? AND expires_at <= ? LIMIT ?)"
)
_NEXT_CHANGE = "UPDATE heads SET change = change + 1 WHERE app_id = ? AND user_id = ? RETURNING change"
_TOUCHED = "SELECT body FROM documents WHERE app_id = ? AND user_id = ? AND id = ? AND kind = 'memory'"
_TOUCH = (
    "UPDATE documents SET body = ?, change = ?, idle_since = CASE WHEN idle_since IS NOT NULL OR status = 'decayed' THEN ? END, lasts = ? "
    "WHERE app_id = ? AND user_id = ? AND id = ?"
)
# A head is looked at by its text: 10,000 of them in about 10 ms, once an hour.
_WAITING = (
    "SELECT app_id, user_id, body FROM heads WHERE (app_id, user_id) > (?, ?) "
    "AND json_extract(CAST(body AS TEXT), '$.pending_tasks') > 0 ORDER BY app_id, user_id LIMIT ?"
)

_OWNERS = "SELECT app_id, user_id, body FROM heads WHERE (app_id, user_id) > (?, ?) ORDER BY app_id, user_id LIMIT ?"
_OWNERS_OF_AN_APP = "SELECT app_id, user_id, body FROM heads WHERE app_id = ? AND user_id > ? ORDER BY user_id LIMIT ?"

_DUE = (
    "SELECT due_at, app_id, user_id FROM heads WHERE due_at <= ? AND (due_at, app_id, user_id) > (?, ?, ?) "
    "ORDER BY due_at, app_id, user_id LIMIT ?"
)
_EXPIRING = "SELECT app_id, user_id, body FROM heads WHERE json_extract(CAST(body AS TEXT), '$.expires_at') IS NOT NULL"


def keep(connection: sqlite3.Connection, owner: Owner, document: Document, now: datetime) -> Document | None:
    """Create or replace one document, as `LongTermStore.keep` says. Raises ValueError, TooLarge."""
    if document.kind in LOGGED:
        raise ValueError(f"{document.id}: a {document.kind} is written by commits only")
    row = parameters(document)
    check_size(size_of(row))
    row.update(app_id=owner.app_id, user_id=owner.user_id, change=None, overwrite=1, now=now.timestamp())
    tagged = replace(document, tag=tag_of(row["body"], row["expires_at"]))
    connection.execute("BEGIN IMMEDIATE")
    try:
        if not _of_the_head(connection, owner, document):
            return None
        stored = read(connection, owner, document.id, now)
        if (None if stored is None else stored.tag) != document.tag:
            return tagged if stored is not None and stored.tag == tagged.tag else None
        connection.execute(WRITE, row)
        purge(connection, owner, now)
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    return tagged


def _of_the_head(connection: sqlite3.Connection, owner: Owner, document: Document) -> bool:
    epoch = document.body.get("epoch")
    row = connection.execute("SELECT body FROM heads WHERE app_id = ? AND user_id = ?", owner).fetchone()
    return epoch is None or (row is not None and head_of(row[0]).epoch == epoch)


def touch(connection: sqlite3.Connection, owner: Owner, marker: str, touches: Mapping[str, Touch], now: datetime) -> int:
    """Write down accesses once, as `LongTermStore.touch` says."""
    row = parameters(Document(marker, "marker", {"touched": len(touches)}, expires_at=now + MARKED_FOR))
    row.update(app_id=owner.app_id, user_id=owner.user_id, change=None, overwrite=0, now=now.timestamp())
    touched = 0
    connection.execute("BEGIN IMMEDIATE")
    try:
        if connection.execute(WRITE, row).rowcount:
            change = connection.execute(_NEXT_CHANGE, owner).fetchone()
            for identity, touch in touches.items() if change is not None else ():
                row_touched = connection.execute(_TOUCHED, (*owner, identity)).fetchone()
                if row_touched is not None:
                    body = orjson.loads(row_touched[0])
                    body["access_count"] += touch.count
                    body["last_accessed_at"] = _later(body["last_accessed_at"], touch.at)
                    values = orjson.dumps(body), change[0], seconds(body["last_accessed_at"]), lasts(body)
                    connection.execute(_TOUCH, (*values, *owner, identity))
                    touched += 1
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    return touched


def _later(known: str | None, at: datetime) -> str:
    later = at if known is None else max(datetime.fromisoformat(known), at)
    return later.isoformat().replace("+00:00", "Z")  # as models write moments, so that an export is the same after an import


def read(connection: sqlite3.Connection, owner: Owner, identity: str, now: datetime) -> Document | None:
    """One document, unless its time is over."""
    row = connection.execute(_READ, (*owner, identity, now.timestamp())).fetchone()
    return None if row is None else decoded(row)


def stored_tag(connection: sqlite3.Connection, owner: Owner, identity: str, now: datetime) -> str | None:
    """The tag of a document as it is stored, without reading it all; None when it is not there, or has none."""
    row = connection.execute(_READ_TAGGED, (*owner, identity, now.timestamp())).fetchone()
    return None if row is None else tag_of(*row)


def purge(connection: sqlite3.Connection, owner: Owner, now: datetime) -> None:
    """Delete some of the owner's rows whose time is over."""
    connection.execute(_PURGE, (*owner, *owner, now.timestamp(), PURGED_AT_ONCE))


def scrub(connection: sqlite3.Connection, now: datetime) -> bool:
    """Leave nothing in any file of what is deleted or over; False while another connection reads an older state."""
    connection.execute("DELETE FROM documents WHERE expires_at IS NOT NULL AND expires_at <= ?", (now.timestamp(),))
    busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy


def expire(connection: sqlite3.Connection, now: datetime) -> None:
    """Let go of the heads whose time is over, which are those of erased users, and of what is left beside them."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        for app_id, user_id, body in connection.execute(_EXPIRING).fetchall():
            expires_at = head_of(body).expires_at
            if expires_at is not None and expires_at <= now:
                for table in ("documents", "heads"):
                    connection.execute(f"DELETE FROM {table} WHERE app_id = ? AND user_id = ?", (app_id, user_id))  # noqa: S608
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def waiting(connection: sqlite3.Connection, after: Owner | None, limit: int) -> list[tuple[Owner, Head]]:
    """The next owners with tasks that are not finished."""
    return _heads(connection, _WAITING, after, limit)


def owners(connection: sqlite3.Connection, after: Owner | None, limit: int, app_id: str | None) -> list[tuple[Owner, Head]]:
    """The next owners, of one app where it is named."""
    return (
        _heads(connection, _OWNERS, after, limit)
        if app_id is None
        else _heads(connection, _OWNERS_OF_AN_APP, after or Owner(app_id, ""), limit)
    )


def _heads(connection: sqlite3.Connection, query: str, after: Owner | None, limit: int) -> list[tuple[Owner, Head]]:
    rows = connection.execute(query, (*(after or Owner("", "")), limit))
    return [(Owner(app_id, user_id), head_of(body)) for app_id, user_id, body in rows]


def due(connection: sqlite3.Connection, now: datetime, after: Due | None, limit: int) -> list[Due]:
    """The next owners whose run is due, from an index."""
    beyond = (-1.0, "", "") if after is None else (after.at.timestamp(), *after.owner)
    rows = connection.execute(_DUE, (now.timestamp(), *beyond, limit))
    return [Due(Owner(app_id, user_id), moment(at)) for at, app_id, user_id in rows]

"""Documents of the long-term file beside the log, and heads with waiting work.

The documents are tasks, steps and buffers, written one by one. Note: no function here changes the
owner's head, so a concurrent commit is not disturbed. Only accesses of memories raise its change
counter, which slices in memory compare.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

import orjson

from memory_core.adapters.sqlite.database import ACCESSES_DUE
from memory_core.adapters.sqlite.reads import head_of
from memory_core.adapters.sqlite.rows import (
    READ_COLUMNS,
    WRITE,
    check_size,
    decoded,
    lasts,
    moment,
    parameters,
    size_of,
    tag_of,
    values_of,
)
from memory_core.domain.memory import Head
from memory_core.domain.scope import Owner
from memory_core.ports import LOGGED, AccessCount, Document, Due


class FoldedAccesses(NamedTuple):
    """The result of adding accesses to memories.

    Attributes:
        accesses: The document in which they waited, as it is now.
        change: The owner's change counter after that; None for an unknown owner.
        last: By memory id, the last access in epoch seconds, for the memories that are there.

    """

    accesses: Document
    change: int | None
    last: dict[str, float]


PURGED_AT_ONCE = 20
"""Expired rows of the owner that a write deletes which brings such rows.

It brings fewer, so they never pile up.
"""

_READ = (
    f"SELECT {READ_COLUMNS} FROM documents WHERE app_id = ? AND user_id = ? AND id = ? "  # noqa: S608 - our own names
    "AND (expires_at IS NULL OR expires_at > ?)"
)
_READ_TAGGED = (
    "SELECT body, expires_at FROM documents WHERE app_id = ? AND user_id = ? AND id = ? "
    "AND kind NOT IN ('memory', 'version') AND (expires_at IS NULL OR expires_at > ?)"
)
_PURGE = (
    "DELETE FROM documents WHERE app_id = ? AND user_id = ? AND id IN "
    "(SELECT id FROM documents WHERE app_id = ? AND user_id = ? AND expires_at <= ? LIMIT ?)"
)
_NEXT_CHANGE = (
    "UPDATE heads SET change = change + 1 WHERE app_id = ? AND user_id = ? RETURNING change"
)
_SELECT_BODY = (
    "SELECT body FROM documents WHERE app_id = ? AND user_id = ? AND id = ? AND kind = 'memory'"
)
_ADD_ACCESSES = (
    "UPDATE documents SET body = ?, change = ?, idle_since = CASE WHEN idle_since IS NOT NULL "
    "OR status = 'decayed' THEN ? END, lasts = ? WHERE app_id = ? AND user_id = ? AND id = ?"
)
# A head is looked at by its text: 10,000 of them in about 10 ms, once an hour.
_WAITING = (
    "SELECT app_id, user_id, body FROM heads WHERE (app_id, user_id) > (?, ?) "
    "AND json_extract(CAST(body AS TEXT), '$.pending_tasks') > 0 ORDER BY app_id, user_id LIMIT ?"
)

_OWNERS = (
    "SELECT app_id, user_id, body FROM heads WHERE (app_id, user_id) > (?, ?) "
    "ORDER BY app_id, user_id LIMIT ?"
)
_OWNERS_OF_AN_APP = (
    "SELECT app_id, user_id, body FROM heads WHERE app_id = ? AND user_id > ? ORDER BY user_id "
    "LIMIT ?"
)

_DUE_AFTER = (
    "{due} <= :now AND ({due}, app_id, user_id) > (:after, :app_id, :user_id) ORDER BY {due}, "
    "app_id, user_id LIMIT :limit"
)
_HEADS_DUE = f"SELECT due_at, app_id, user_id FROM heads WHERE {_DUE_AFTER.format(due='due_at')}"  # noqa: S608 - our own names
_ACCESSES_DUE = (
    f"SELECT {ACCESSES_DUE}, app_id, user_id FROM documents WHERE kind = 'accesses' AND "  # noqa: S608 - our own names
    f"{_DUE_AFTER.format(due=ACCESSES_DUE)}"
)
_DUE = (
    f"SELECT * FROM ({_HEADS_DUE}) UNION ALL SELECT * FROM ({_ACCESSES_DUE}) ORDER BY 1, 2, 3 "  # noqa: S608 - our own names
    "LIMIT :limit"
)
_EXPIRING = (
    "SELECT app_id, user_id, body FROM heads WHERE json_extract(CAST(body AS TEXT), "
    "'$.expires_at') IS NOT NULL"
)


def keep(
    connection: sqlite3.Connection, owner: Owner, document: Document, now: datetime
) -> Document | None:
    """Create or replace a document, as `LongTermStore.keep` says.

    Args:
        connection: The connection that writes.
        owner: The owner of the document.
        document: The document.
        now: The present moment.

    Raises:
        ValueError: The document is of a kind that only commits write.
        TooLarge: The document is over the store's limit.

    """
    if document.kind in LOGGED:
        raise ValueError(f"{document.id}: a {document.kind} is written by commits only")
    row = parameters(document)
    check_size(size_of(row))
    row.update(
        app_id=owner.app_id, user_id=owner.user_id, change=None, overwrite=1, now=now.timestamp()
    )
    tagged = replace(document, tag=tag_of(row["body"], row["expires_at"]))
    connection.execute("BEGIN IMMEDIATE")
    try:
        if not _of_the_head(connection, owner, document):
            return None
        stored = read(connection, owner, document.id, now)
        if (None if stored is None else stored.tag) != document.tag:
            return tagged if stored is not None and stored.tag == tagged.tag else None
        connection.execute(WRITE, values_of(row))
        purge(connection, owner, now)
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    return tagged


def _of_the_head(connection: sqlite3.Connection, owner: Owner, document: Document) -> bool:
    epoch = document.body.get("epoch")
    row = connection.execute(
        "SELECT body FROM heads WHERE app_id = ? AND user_id = ?", owner
    ).fetchone()
    return epoch is None or (row is not None and head_of(row[0]).epoch == epoch)


def fold(
    connection: sqlite3.Connection,
    owner: Owner,
    accesses: Document,
    counts: Mapping[str, AccessCount],
    now: datetime,
) -> FoldedAccesses | None:
    """Add accesses to memories, as `LongTermStore.fold` says.

    Args:
        connection: The connection that writes.
        owner: The owner of the memories.
        accesses: The new state of the document in which the accesses waited.
        counts: The accesses by memory id.
        now: The present moment.

    Returns:
        None when the document is not as it was read.

    """
    last: dict[str, float] = {}
    row = parameters(accesses)
    row.update(
        app_id=owner.app_id, user_id=owner.user_id, change=None, overwrite=1, now=now.timestamp()
    )
    connection.execute("BEGIN IMMEDIATE")
    try:
        if accesses.tag is None or stored_tag(connection, owner, accesses.id, now) != accesses.tag:
            return None
        connection.execute(WRITE, values_of(row))
        change = connection.execute(_NEXT_CHANGE, owner).fetchone()
        for identity, access in counts.items() if change is not None else ():
            stored = connection.execute(_SELECT_BODY, (*owner, identity)).fetchone()
            if stored is not None:
                body = orjson.loads(stored[0])
                body["access_count"] += access.count
                at = _later(body["last_accessed_at"], access.at)
                # as models write moments, so that an export is the same after an import
                body["last_accessed_at"] = at.isoformat().replace("+00:00", "Z")
                last[identity] = at.timestamp()
                values = (orjson.dumps(body), change[0], last[identity], lasts(body))
                connection.execute(_ADD_ACCESSES, (*values, *owner, identity))
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    tagged = replace(accesses, tag=tag_of(row["body"], row["expires_at"]))
    return FoldedAccesses(tagged, None if change is None else change[0], last)


def _later(known: str | None, at: datetime) -> datetime:
    return at if known is None else max(datetime.fromisoformat(known), at)


def read(
    connection: sqlite3.Connection, owner: Owner, identity: str, now: datetime
) -> Document | None:
    """Read a document; None when it does not exist or has expired.

    Args:
        connection: The connection that reads.
        owner: The owner of the document.
        identity: The id of the document.
        now: The present moment.

    """
    row = connection.execute(_READ, (*owner, identity, now.timestamp())).fetchone()
    return None if row is None else decoded(row)


def stored_tag(
    connection: sqlite3.Connection, owner: Owner, identity: str, now: datetime
) -> str | None:
    """The tag of a stored document, without reading all of it.

    Args:
        connection: The connection that reads.
        owner: The owner of the document.
        identity: The id of the document.
        now: The present moment.

    Returns:
        None when the document does not exist, has expired, or is of a kind without tags.

    """
    row = connection.execute(_READ_TAGGED, (*owner, identity, now.timestamp())).fetchone()
    return None if row is None else tag_of(*row)


def purge(connection: sqlite3.Connection, owner: Owner, now: datetime) -> None:
    """Delete some of the owner's expired rows.

    Args:
        connection: The connection that writes.
        owner: The owner of the rows.
        now: The present moment.

    """
    connection.execute(_PURGE, (*owner, *owner, now.timestamp(), PURGED_AT_ONCE))


def scrub(connection: sqlite3.Connection, now: datetime) -> bool:
    """Remove deleted and expired data from all files.

    Deleted rows are overwritten with zeros in their place. A row that was moved to another page
    before that has left its bytes in the free part of the old page, where they are not overwritten.
    So the file is rewritten, about a second for each 180 MB.

    Args:
        connection: The connection that writes.
        now: The present moment.

    Returns:
        False while another connection reads an older state.

    """
    connection.execute(
        "DELETE FROM documents WHERE expires_at IS NOT NULL AND expires_at <= ?", (now.timestamp(),)
    )
    connection.execute("VACUUM")
    busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy


def expire(connection: sqlite3.Connection, now: datetime) -> None:
    """Delete expired heads, which are those of erased users, and all data beside them.

    Args:
        connection: The connection that writes.
        now: The present moment.

    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        for app_id, user_id, body in connection.execute(_EXPIRING).fetchall():
            expires_at = head_of(body).expires_at
            if expires_at is not None and expires_at <= now:
                for table in ("documents", "heads", "slices"):
                    connection.execute(
                        f"DELETE FROM {table} WHERE app_id = ? AND user_id = ?",  # noqa: S608
                        (app_id, user_id),
                    )
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def waiting(
    connection: sqlite3.Connection, after: Owner | None, limit: int
) -> list[tuple[Owner, Head]]:
    """The next owners with tasks that are not finished.

    Args:
        connection: The connection that reads.
        after: The last owner of the previous page; None for the first page.
        limit: The most owners to return.

    """
    return _heads(connection, _WAITING, after, limit)


def owners(
    connection: sqlite3.Connection, after: Owner | None, limit: int, app_id: str | None
) -> list[tuple[Owner, Head]]:
    """The next owners.

    Args:
        connection: The connection that reads.
        after: The last owner of the previous page; None for the first page.
        limit: The most owners to return.
        app_id: The app of the owners; None for all apps.

    """
    return (
        _heads(connection, _OWNERS, after, limit)
        if app_id is None
        else _heads(connection, _OWNERS_OF_AN_APP, after or Owner(app_id, ""), limit)
    )


def _heads(
    connection: sqlite3.Connection, query: str, after: Owner | None, limit: int
) -> list[tuple[Owner, Head]]:
    rows = connection.execute(query, (*(after or Owner("", "")), limit))
    return [(Owner(app_id, user_id), head_of(body)) for app_id, user_id, body in rows]


def due(connection: sqlite3.Connection, now: datetime, after: Due | None, limit: int) -> list[Due]:
    """The next owners whose run is due, from an index.

    Args:
        connection: The connection that reads.
        now: The present moment.
        after: The last entry of the previous page; None for the first page.
        limit: The most entries to return.

    """
    app_id, user_id = ("", "") if after is None else after.owner
    beyond = -1.0 if after is None else after.at.timestamp()
    rows = connection.execute(
        _DUE,
        {
            "now": now.timestamp(),
            "after": beyond,
            "app_id": app_id,
            "user_id": user_id,
            "limit": limit,
        },
    )
    return [Due(Owner(app_id, user_id), moment(at)) for at, app_id, user_id in rows]

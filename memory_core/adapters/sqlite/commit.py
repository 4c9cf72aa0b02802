"""One commit: compare the head, write every document, move the head; all in one SQLite transaction.

Note: the head is compared whole, not only by its sequence. Bookkeeping commits change counts in the head without
moving the sequence, and of two such rivals the second must not overwrite what the first counted.
"""

from __future__ import annotations

import sqlite3
from datetime import datetime
from typing import Any

from memory_core.adapters.slices.forms import as_blob
from memory_core.adapters.sqlite.bookkeeping import purge, stored_tag
from memory_core.adapters.sqlite.reading import head_of, known_head
from memory_core.adapters.sqlite.rows import MEMORY_KINDS, WRITE, encoded
from memory_core.adapters.sqlite.schema import record_embedder
from memory_core.domain.errors import AlreadyExists, EmbeddingMismatch, HeadMoved
from memory_core.domain.ranking.vectors import VectorKind
from memory_core.domain.scope import Owner
from memory_core.ports import Batch, Mark, Write

_HEAD = "SELECT body, change, removal FROM heads WHERE app_id = ? AND user_id = ?"
_PUT_HEAD = (
    "INSERT INTO heads (app_id, user_id, body, change, removal, due_at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (app_id, user_id) DO UPDATE "
    "SET body = excluded.body, change = excluded.change, removal = excluded.removal, due_at = excluded.due_at"
)
_MARKED_FIELDS = ("scene_id", "cell_id", "embedding_model", "embedding_dimensions")
_MARKED = (
    "UPDATE documents SET body = CAST(json_set(CAST(body AS TEXT){fields}) AS BLOB), vector = coalesce(:vector, vector), "
    "change = CASE WHEN :searched THEN :change ELSE change END "
    "WHERE app_id = :app_id AND user_id = :user_id AND id = :id AND kind IN ('memory', 'version')"
)
_MOVE_HEAD = "UPDATE heads SET body = ?, change = ?, removal = ? WHERE app_id = ? AND user_id = ?"
"""Of an owner who is due when he was due before, which is nearly every commit: his entry in the index stays as it is."""
PURGE_EVERY = 4
"""Commits of an owner that bring nothing which expires, of which one looks for expired rows: each time, it took 0.02 ms of a save."""
_DELETE = "DELETE FROM documents WHERE app_id = ? AND user_id = ? AND id = ? RETURNING kind"


def apply(connection: sqlite3.Connection, owner: Owner, batch: Batch, now: datetime, embedder: VectorKind) -> int:
    """Commit the batch or leave the file as it was; which of the owner's changes it is.

    Raises HeadMoved, AlreadyExists, TooLarge, EmbeddingMismatch, sqlite3.Error.
    """
    pairs, head = encoded(batch)
    _check_dimensions(batch, embedder.dimensions)
    connection.execute("BEGIN IMMEDIATE")
    try:
        change, removal = _compared(connection, owner, batch)
        if any(row.get("vector") is not None for _, row in pairs) or any(mark.embedding is not None for mark in batch.marks.values()):
            record_embedder(connection, embedder)
        change += 1
        removed = False
        for write, row in pairs:
            removed |= _written(connection, owner, write, row, change, now)
        for memory_id, mark in batch.marks.items():
            _set_mark(connection, owner, memory_id, mark, change)
        if change % PURGE_EVERY == 0 or any(write.document.expires_at is not None for write in batch.writes):
            purge(connection, owner, now)
        _put_head(connection, owner, batch, head, change, change if removed else removal)
        connection.execute("COMMIT")
        known_head(head, batch.head)
        return change
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _compared(connection: sqlite3.Connection, owner: Owner, batch: Batch) -> tuple[int, int]:
    """The owner's change counters, once the stored head is the one that the batch was built on."""
    row = connection.execute(_HEAD, owner).fetchone()
    stored = None if row is None else head_of(row[0])
    if stored != batch.expected:
        raise HeadMoved("another commit of this user came first")
    return (0, 0) if row is None else (row[1], row[2])


def _put_head(connection: sqlite3.Connection, owner: Owner, batch: Batch, body: bytes, change: int, removal: int) -> None:
    due_at = batch.head.due_at
    if batch.expected is not None and batch.expected.due_at == due_at:
        connection.execute(_MOVE_HEAD, (body, change, removal, *owner))
    else:
        connection.execute(_PUT_HEAD, (*owner, body, change, removal, None if due_at is None else due_at.timestamp()))


def _written(connection: sqlite3.Connection, owner: Owner, write: Write, row: dict[str, Any], change: int, now: datetime) -> bool:
    """Write or delete one document; True when that took a memory away, which no reader could see from the rows that stay."""
    if write.mode == "delete":
        kinds = connection.execute(_DELETE, (*owner, write.document.id)).fetchall()
        return any(kind in MEMORY_KINDS for (kind,) in kinds)
    tag = write.document.tag if write.mode == "put" else None
    if tag is not None and stored_tag(connection, owner, write.document.id, now) != tag:
        raise AlreadyExists(f"the document {write.document.id} is not as it was read")
    row.update(
        app_id=owner.app_id,
        user_id=owner.user_id,
        change=change if row["kind"] in MEMORY_KINDS else None,
        overwrite=int(write.mode == "put"),
        now=now.timestamp(),
    )
    if connection.execute(WRITE, row).rowcount == 0:
        raise AlreadyExists(f"a document with the id {write.document.id} is there already")
    return False


def _set_mark(connection: sqlite3.Connection, owner: Owner, memory_id: str, mark: Mark, change: int) -> None:
    """Set what a mark names. Slices are told of it by the row's change, but for the scene, which no search looks at."""
    fields = mark.fields
    named = "".join(f", '$.{name}', :{name}" for name in _MARKED_FIELDS if name in fields)
    values = {
        "app_id": owner.app_id,
        "user_id": owner.user_id,
        "id": memory_id,
        "vector": as_blob(mark.embedding),
        "searched": mark.is_searched,
        "change": change,
    }
    if connection.execute(_MARKED.format(fields=named), values | fields).rowcount == 0:
        raise AlreadyExists(f"the memory {memory_id} is not there any more")


def _check_dimensions(batch: Batch, dimensions: int) -> None:
    for vector in (*(write.document.vector for write in batch.writes), *(mark.embedding for mark in batch.marks.values())):
        if vector is not None and vector.shape != (dimensions,):
            raise EmbeddingMismatch(
                "long_term", f"a vector of shape {vector.shape} came to a store that was opened for {dimensions} dimensions"
            )

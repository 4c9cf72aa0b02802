"""Commits to the long-term file.

Note: the head is compared whole, not only by its sequence. Bookkeeping commits change counts in the
head without moving the sequence, and the second of two competing commits must not overwrite the
counts of the first.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple

from memory_core.adapters.memory_index.stored_values import as_blob
from memory_core.adapters.sqlite.database import record_embedder
from memory_core.adapters.sqlite.reads import head_of, known_head
from memory_core.adapters.sqlite.rows import MEMORY_KINDS, WRITE, encoded, values_of
from memory_core.adapters.sqlite.unlogged import purge, stored_tag
from memory_core.domain.errors import AlreadyExists, EmbeddingMismatch, HeadMoved
from memory_core.domain.ranking.vectors import VectorKind
from memory_core.domain.scope import Owner
from memory_core.ports import Batch, Mark, Write

_HEAD = "SELECT body, change, removal FROM heads WHERE app_id = ? AND user_id = ?"
_PUT_HEAD = (
    "INSERT INTO heads (app_id, user_id, body, change, removal, due_at) VALUES (?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (app_id, user_id) DO UPDATE SET body = excluded.body, change = excluded.change, "
    "removal = excluded.removal, due_at = excluded.due_at"
)
_MARKED_FIELDS = ("scene_id", "cell_id", "embedding_model", "embedding_dimensions")
_MARKED = (
    "UPDATE documents SET body = CAST(json_set(CAST(body AS TEXT){fields}) AS BLOB), vector = "
    "coalesce(:vector, vector), inner = CASE WHEN :vector IS NULL THEN inner "
    "ELSE CAST(json_set(CAST(inner AS TEXT), '$.lexical.states', :states) AS BLOB) "
    "END, change = CASE WHEN :searched THEN :change ELSE change END "
    "WHERE app_id = :app_id AND user_id = :user_id AND id = :id AND kind IN ('memory', 'version')"
)
_MOVE_HEAD = "UPDATE heads SET body = ?, change = ?, removal = ? WHERE app_id = ? AND user_id = ?"
"""Update a head whose due time did not change, as in nearly every commit.

Its entry in the index then stays as it is.
"""
PURGE_EVERY = 4
"""Every how many commits expired rows of the owner are deleted.

This is for commits that write no expiring document. With every commit it took 0.02 ms of a save.
"""
_UNNAME_SLICE = "DELETE FROM slices WHERE app_id = ? AND user_id = ?"
"""Forget the name of an owner's slice file.

The file is no longer valid and must not be kept.
"""
_DELETE = "DELETE FROM documents WHERE app_id = ? AND user_id = ? AND id = ? RETURNING kind"


class WrittenBatch(NamedTuple):
    """The result of a commit.

    Attributes:
        change: The owner's change counter after the commit.
        took_away: Whether the commit removed or redacted a memory, or ended an epoch. No earlier
            data may be left after it.

    """

    change: int
    took_away: bool


def commit_batch(
    connection: sqlite3.Connection, owner: Owner, batch: Batch, now: datetime, embedder: VectorKind
) -> WrittenBatch:
    """Commit the batch, or leave the file as it was.

    Args:
        connection: The connection that writes.
        owner: The owner of the batch.
        batch: The batch.
        now: The present moment.
        embedder: The configured embedder.

    Raises:
        HeadMoved: The stored head is not the expected head.
        AlreadyExists: An id that the batch creates is taken, or a document is not as it was read.
        TooLarge: The batch is over the store's limits.
        EmbeddingMismatch: A vector has another length.
        sqlite3.Error: The file cannot be written.

    """
    pairs, head = encoded(batch)
    _check_dimensions(batch, embedder.dimensions)
    connection.execute("BEGIN IMMEDIATE")
    try:
        change, removal = _compared(connection, owner, batch)
        if any(row.get("vector") is not None for _, row in pairs) or any(
            mark.embedding is not None for mark in batch.marks.values()
        ):
            record_embedder(connection, embedder)
        change += 1
        removed = _write(connection, owner, pairs, change, now)
        for memory_id, mark in batch.marks.items():
            _set_mark(connection, owner, memory_id, mark, change)
        if change % PURGE_EVERY == 0 or any(
            write.document.expires_at is not None for write in batch.writes
        ):
            purge(connection, owner, now)
        if took_away := removed or _redacts(batch):
            connection.execute(_UNNAME_SLICE, owner)
        _put_head(connection, owner, batch, head, change, change if removed else removal)
        connection.execute("COMMIT")
        known_head(head, batch.head)
        return WrittenBatch(change, took_away)
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _compared(connection: sqlite3.Connection, owner: Owner, batch: Batch) -> tuple[int, int]:
    """The owner's change counters. Raises HeadMoved unless the stored head is the expected head."""
    row = connection.execute(_HEAD, owner).fetchone()
    stored = None if row is None else head_of(row[0])
    if stored != batch.expected:
        raise HeadMoved("another commit of this user came first")
    return (0, 0) if row is None else (row[1], row[2])


def _redacts(batch: Batch) -> bool:
    """Whether a commit redacts memories, or ends an epoch."""
    before, after = batch.expected, batch.head
    return before is not None and (before.epoch, before.redactions) != (
        after.epoch,
        after.redactions,
    )


def _put_head(
    connection: sqlite3.Connection,
    owner: Owner,
    batch: Batch,
    body: bytes,
    change: int,
    removal: int,
) -> None:
    due_at = batch.head.due_at
    if batch.expected is not None and batch.expected.due_at == due_at:
        connection.execute(_MOVE_HEAD, (body, change, removal, *owner))
    else:
        connection.execute(
            _PUT_HEAD,
            (*owner, body, change, removal, None if due_at is None else due_at.timestamp()),
        )


def _write(
    connection: sqlite3.Connection,
    owner: Owner,
    pairs: Sequence[tuple[Write, dict[str, Any]]],
    change: int,
    now: datetime,
) -> bool:
    """Write and delete documents, in order. True when a memory was removed.

    No reader could detect the removal from the rows that stay.
    """
    removed = False
    for deletes, group in groupby(pairs, key=lambda pair: pair[0].mode == "delete"):
        if not deletes:
            connection.executemany(WRITE, _rows(connection, owner, group, change, now))
            continue
        for write, _ in group:
            kinds = connection.execute(_DELETE, (*owner, write.document.id)).fetchall()
            removed |= any(kind in MEMORY_KINDS for (kind,) in kinds)
    return removed


def _rows(
    connection: sqlite3.Connection,
    owner: Owner,
    pairs: Iterable[tuple[Write, dict[str, Any]]],
    change: int,
    now: datetime,
) -> Iterator[tuple[Any, ...]]:
    """The values of `WRITE` for each document, in order.

    A document is written before the next one is asked for.

    Raises AlreadyExists for a document that is not as it was read, or that was not written.
    """
    for write, row in pairs:
        name, is_put = write.document.id, write.mode == "put"
        tag = write.document.tag if is_put else None
        if tag is not None and stored_tag(connection, owner, name, now) != tag:
            raise AlreadyExists(f"the document {name} is not as it was read")
        row.update(
            app_id=owner.app_id,
            user_id=owner.user_id,
            change=change if row["kind"] in MEMORY_KINDS else None,
            overwrite=int(is_put),
            now=now.timestamp(),
        )
        before = connection.total_changes
        yield values_of(row)
        if connection.total_changes == before:
            raise AlreadyExists(f"a document with the id {name} is there already")


def _set_mark(
    connection: sqlite3.Connection, owner: Owner, memory_id: str, mark: Mark, change: int
) -> None:
    """Set the fields of a mark.

    Slices learn of it by the row's change, except for the scene, which no search reads.
    """
    fields = mark.fields
    named = "".join(f", '$.{name}', :{name}" for name in _MARKED_FIELDS if name in fields)
    values = {
        "app_id": owner.app_id,
        "user_id": owner.user_id,
        "id": memory_id,
        "vector": as_blob(mark.embedding),
        "states": mark.states,
        "searched": mark.is_searched,
        "change": change,
    }
    if connection.execute(_MARKED.format(fields=named), values | fields).rowcount == 0:
        raise AlreadyExists(f"the memory {memory_id} is not there any more")


def _check_dimensions(batch: Batch, dimensions: int) -> None:
    for vector in (
        *(write.document.vector for write in batch.writes),
        *(mark.embedding for mark in batch.marks.values()),
    ):
        if vector is not None and vector.shape != (dimensions,):
            raise EmbeddingMismatch(
                "long_term",
                f"a vector of shape {vector.shape} came to a store that was opened for "
                f"{dimensions} dimensions",
            )

"""One commit: one transactional batch, whose first operation is the head under the ETag that the commit was built on.

Note: the head comes first, although everything else is written in the same moment. The service names the first operation
that it refuses, and a head that moved must not look like a document that is already there.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memory_core.adapters.cosmos import queries
from memory_core.adapters.cosmos.connection import Connection
from memory_core.adapters.cosmos.documents import DEPENDENCY, HEAD_ID, Item, items_of, numbers
from memory_core.adapters.cosmos.failures import PASSING
from memory_core.adapters.cosmos.heads import Heads, Known, known_of
from memory_core.adapters.cosmos.policies import VECTOR_PATH
from memory_core.domain.errors import AlreadyExists, HeadMoved, TooLarge, Unavailable
from memory_core.domain.memory import Head
from memory_core.domain.scope import Owner
from memory_core.ports import Batch, Mark, Write

if TYPE_CHECKING:
    from azure.cosmos.exceptions import CosmosBatchOperationError

Pairs = Sequence[tuple[Write, Item]]
DELETE_ROUNDS = 3


async def apply(connection: Connection, heads: Heads, owner: Owner, batch: Batch, now: datetime, dimensions: int) -> None:
    """Commit the batch or nothing of it. Raises HeadMoved, AlreadyExists, TooLarge, EmbeddingMismatch, Unavailable."""
    from azure.cosmos.exceptions import CosmosBatchOperationError

    pairs: Pairs = items_of(owner, batch, now, dimensions)
    first = _head_operation(owner, batch.head, await _etag(connection, heads, owner, batch.expected), now)
    for _ in range(DELETE_ROUNDS):
        try:
            marks = (_mark_operation(memory_id, mark) for memory_id, mark in batch.marks.items())
            results = await connection.batch(owner, [first, *(_operation(write, item) for write, item in pairs), *marks])
        except CosmosBatchOperationError as refused:
            heads.keep(owner, None)
            at = refused.error_index
            if at > len(pairs) and refused.status_code == 404:
                raise AlreadyExists(f"the memory {list(batch.marks)[at - len(pairs) - 1]} is not there any more") from refused
            if refused.status_code != 404 or at == 0 or pairs[at - 1][0].mode != "delete":
                said = _said(refused, pairs)
                raise said from (None if said is refused else refused)
            pairs = await _without_missing(connection, owner, pairs)
        except BaseException:
            heads.keep(owner, None)
            raise
        else:
            heads.keep(owner, Known(batch.head, results[0]["eTag"]))
            return
    raise Unavailable(DEPENDENCY, "what the commit deletes kept vanishing before it")


async def _etag(connection: Connection, heads: Heads, owner: Owner, expected: Head | None) -> str | None:
    """The ETag of the head that the batch was built on; None without a head.

    Raises HeadMoved when the stored head is another one.
    """
    if expected is None:
        return None
    known = heads.get(owner)
    if known is None or known.head != expected:
        rows = (await connection.item(owner, HEAD_ID)).rows
        known = heads.keep(owner, known_of(rows[0]) if rows else None)
    if known is None or known.head != expected:
        raise HeadMoved("another commit of this user came first")
    return known.etag


def _head_operation(owner: Owner, head: Head, etag: str | None, now: datetime) -> tuple[Any, ...]:
    item: Item = {"id": HEAD_ID, "app_id": owner.app_id, "user_id": owner.user_id, "kind": "head", "body": head.model_dump(mode="json")}
    if head.due_at is not None:
        item["due_s"] = head.due_at.timestamp()
    if head.expires_at is not None:
        item["ttl"] = max(1, int((head.expires_at - now).total_seconds()))
    return ("create", (item,)) if etag is None else ("replace", (HEAD_ID, item), {"if_match_etag": etag})


def _operation(write: Write, item: Item) -> tuple[Any, ...]:
    match write.mode:
        case "create":
            return ("create", (item,))
        case "put" if write.document.tag is not None:
            return ("replace", (write.document.id, item), {"if_match_etag": write.document.tag})
        case "put":
            return ("upsert", (item,))
        case "delete":
            return ("delete", (write.document.id,))


def _mark_operation(memory_id: str, mark: Mark) -> tuple[Any, ...]:
    values = mark.fields | ({} if mark.embedding is None else {VECTOR_PATH.removeprefix("/"): numbers(mark.embedding)})
    return ("patch", (memory_id, [{"op": "set", "path": f"/{name}", "value": value} for name, value in values.items()]))


async def _without_missing(connection: Connection, owner: Owner, pairs: Pairs) -> Pairs:
    """The batch without the deletions of what is not there, which the service would refuse the whole for."""
    deleted = [write.document.id for write, _ in pairs if write.mode == "delete"]
    there = set((await connection.query(owner, queries.existing(owner, deleted))).rows)
    return [(write, item) for write, item in pairs if write.mode != "delete" or write.document.id in there]


def _said(refused: CosmosBatchOperationError, pairs: Pairs) -> Exception:
    """Which of the commit's errors the first refused operation stands for; itself when it is a mistake of ours, which must be seen."""
    at, status = refused.error_index, refused.status_code
    if at == 0 and status in (404, 409, 412):
        return HeadMoved("another commit of this user came first")
    if status == 409:
        return AlreadyExists(f"a document with the id {pairs[at - 1][0].document.id} is there already")
    if status in (404, 412):
        return AlreadyExists(f"the document {pairs[at - 1][0].document.id} is not as it was read")
    if status == 413:
        return TooLarge("the store refused the commit as too large")
    if status in PASSING:
        return Unavailable(DEPENDENCY, f"Cosmos DB answered an operation of the commit with {status}")
    return refused

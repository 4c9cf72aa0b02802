"""Writes to Cosmos DB: commits as single batches, and documents beside the log.

Note: the head is the first operation of a batch, although all operations are written at once. The
service names the first operation that it refuses, and a head that moved must not be mistaken for a
document that exists already.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import orjson

from memory_core.adapters.cosmos import queries
from memory_core.adapters.cosmos.client import CosmosConnection
from memory_core.adapters.cosmos.conditions import Query
from memory_core.adapters.cosmos.container import STATES_PATH, VECTOR_PATH
from memory_core.adapters.cosmos.failures import PASSING
from memory_core.adapters.cosmos.heads import Heads, Known, known_of
from memory_core.adapters.cosmos.items import (
    DEPENDENCY,
    HEAD_ID,
    MAX_BATCH_BYTES,
    Item,
    addressed,
    document_of,
    is_expired,
    item_of,
    items_of,
    numbers,
    patches_of,
)
from memory_core.adapters.cosmos.page_writes import Pairs, as_page, into_pages
from memory_core.domain.errors import AlreadyExists, HeadMoved, TooLarge, Unavailable
from memory_core.domain.memory import Head
from memory_core.domain.scope import Owner
from memory_core.ports import LOGGED, AccessCount, Batch, Document, Due, Mark, Write

if TYPE_CHECKING:
    from azure.cosmos.exceptions import CosmosBatchOperationError


DELETE_ROUNDS = 3
"""Attempts to write a batch that deletes documents which no longer exist."""


async def commit_batch(
    connection: CosmosConnection,
    heads: Heads,
    owner: Owner,
    batch: Batch,
    now: datetime,
    dimensions: int,
) -> None:
    """Commit the whole batch, or none of it.

    Args:
        connection: The connection to the container.
        heads: The known heads.
        owner: The owner of the batch.
        batch: The batch.
        now: The present moment.
        dimensions: The length of the container's vectors.

    Raises:
        HeadMoved: Another commit was faster.
        AlreadyExists: An id that the batch creates is taken, or a document is not as it was read.
        TooLarge: The batch is over the store's limits.
        EmbeddingMismatch: A vector has another length.
        Unavailable: The service is down; the batch may have been applied.

    """
    from azure.cosmos.exceptions import CosmosBatchOperationError

    pairs: Pairs = items_of(owner, batch, now, dimensions)
    pairs = await into_pages(connection, owner, as_page(owner, pairs, len(batch.events)), now)
    patches = patches_of(batch)
    first = _head_operation(
        owner, batch.head, await _etag(connection, heads, owner, batch.expected), now
    )
    for _ in range(DELETE_ROUNDS):
        try:
            marks = (_mark_operation(memory_id, mark) for memory_id, mark in patches.items())
            results = await connection.batch(
                owner, [first, *(_operation(write, item) for write, item in pairs), *marks]
            )
        except CosmosBatchOperationError as refused:
            heads.keep(owner, None)
            at = refused.error_index
            if at > len(pairs) and refused.status_code == 404:
                raise AlreadyExists(
                    f"the memory {list(patches)[at - len(pairs) - 1]} is not there any more"
                ) from refused
            if refused.status_code != 404 or at == 0 or pairs[at - 1][0].mode != "delete":
                error = _commit_error(refused, pairs)
                raise error from (None if error is refused else refused)
            pairs = await _without_missing(connection, owner, pairs)
        except BaseException:
            heads.keep(owner, None)
            raise
        else:
            heads.keep(owner, Known(batch.head, results.rows[0]["eTag"], token=results.token))
            return
    raise Unavailable(DEPENDENCY, "what the commit deletes kept vanishing before it")


async def _etag(
    connection: CosmosConnection, heads: Heads, owner: Owner, expected: Head | None
) -> str | None:
    """The ETag of the head that the batch was built on; None without a head.

    Raises HeadMoved when the stored head differs.
    """
    if expected is None:
        return None
    known = heads.get(owner)
    if known is None or known.head != expected:
        read = await connection.item(owner, HEAD_ID)
        known = heads.keep(owner, known_of(read))
    if known is None or known.head != expected:
        raise HeadMoved("another commit of this user came first")
    return known.etag


def _head_operation(owner: Owner, head: Head, etag: str | None, now: datetime) -> tuple[Any, ...]:
    item = addressed(owner, HEAD_ID, "head") | {"body": head.model_dump(mode="json")}
    if head.due_at is not None:
        item["due_s"] = head.due_at.timestamp()
    if head.expires_at is not None:
        item["ttl"] = max(1, int((head.expires_at - now).total_seconds()))
    return (
        ("create", (item,))
        if etag is None
        else ("replace", (HEAD_ID, item), {"if_match_etag": etag})
    )


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
    values: dict[str, Any] = {f"/{name}": value for name, value in mark.fields.items()}
    if mark.embedding is not None:
        values |= {VECTOR_PATH: numbers(mark.embedding), STATES_PATH: mark.states}
    return (
        "patch",
        (
            memory_id,
            [{"op": "set", "path": path, "value": value} for path, value in values.items()],
        ),
    )


async def _without_missing(connection: CosmosConnection, owner: Owner, pairs: Pairs) -> Pairs:
    """The batch without deletions of missing documents, for which the service refuses it."""
    deleted = [write.document.id for write, _ in pairs if write.mode == "delete"]
    there = set((await connection.query(owner, queries.existing(owner, deleted))).rows)
    return [
        (write, item)
        for write, item in pairs
        if write.mode != "delete" or write.document.id in there
    ]


def _commit_error(refused: CosmosBatchOperationError, pairs: Pairs) -> Exception:
    """The commit's error for the first refused operation.

    The refusal itself where it is a mistake of this module, which must not be hidden.
    """
    at, status = refused.error_index, refused.status_code
    if at == 0 and status in (404, 409, 412):
        return HeadMoved("another commit of this user came first")
    if status == 409:
        return AlreadyExists(
            f"a document with the id {pairs[at - 1][0].document.id} is there already"
        )
    if status in (404, 412):
        return AlreadyExists(f"the document {pairs[at - 1][0].document.id} is not as it was read")
    if status == 413:
        return TooLarge("the store refused the commit as too large")
    if status in PASSING:
        return Unavailable(
            DEPENDENCY, f"Cosmos DB answered an operation of the commit with {status}"
        )
    return refused


# Documents outside of the log, written one by one: tasks, steps, buffers; and queries for owners.
#
# Note: the SDK repeats a write whose answer was lost, and the service refuses the repetition. So
# after a refusal the document is read, and an equal document counts as written.


FOLD_ROUNDS = 3
"""Attempts to add accesses, each without the memories that no longer exist."""
_MOVED = frozenset({404, 409, 412})
_AFTER = (
    "AND (c.app_id > @app_id OR (c.app_id = @app_id AND c.user_id > @user_id)) "
    "ORDER BY c.app_id, c.user_id"
)
_HEADS = "SELECT TOP @limit c.id, c.app_id, c.user_id, c.body FROM c WHERE c.kind = 'head' "
_WAITING = f"{_HEADS}AND c.body.pending_tasks > 0 {_AFTER}"
_OWNERS = f"{_HEADS}{_AFTER}"
_OWNERS_OF_AN_APP = (
    f"{_HEADS}AND c.app_id = @app_id AND c.user_id > @user_id ORDER BY c.app_id, c.user_id"
)

_DUE = (
    "SELECT TOP @limit c.id, c.app_id, c.user_id, c.due_s FROM c "
    "WHERE c.kind IN ('head', 'accesses') AND c.due_s <= @now AND (c.due_s > @after "
    "OR (c.due_s = @after AND (c.app_id > @app_id OR (c.app_id = @app_id "
    "AND c.user_id > @user_id)))) ORDER BY c.due_s, c.app_id, c.user_id"
)


async def keep(
    connection: CosmosConnection, owner: Owner, document: Document, now: datetime
) -> Document | None:
    """Create or replace a document, as `LongTermStore.keep` says.

    Args:
        connection: The connection to the container.
        owner: The owner of the document.
        document: The document.
        now: The present moment.

    Raises:
        ValueError: The document is of a kind that only commits write.
        TooLarge: The document is over the store's limit.
        Unavailable: The service is down.

    """
    from azure.cosmos.exceptions import CosmosBatchOperationError

    if document.kind in LOGGED:
        raise ValueError(f"{document.id}: a {document.kind} is written by commits only")
    if (size := len(orjson.dumps(document.body))) > MAX_BATCH_BYTES:
        raise TooLarge(f"one document holds at most {MAX_BATCH_BYTES} bytes; this one has {size}")
    item = item_of(owner, document, now)
    operation = (
        ("create", (item,))
        if document.tag is None
        else ("replace", (document.id, item), {"if_match_etag": document.tag})
    )
    # A created document is compared with the head of the same moment. A replaced one has the epoch
    # in which it was read.
    beside: list[tuple[Any, ...]] = (
        [("read", (HEAD_ID,))] if document.tag is None and "epoch" in item else []
    )
    try:
        *heads, written = (await connection.batch(owner, [*beside, operation])).rows
    except CosmosBatchOperationError as refused:
        if refused.status_code in PASSING:
            raise Unavailable(
                DEPENDENCY, f"Cosmos DB answered a write with {refused.status_code}"
            ) from refused
        if refused.status_code not in _MOVED:
            raise
        return await _read_if_equal(connection, owner, document, now)
    if any(head["resourceBody"]["body"]["epoch"] != item["epoch"] for head in heads):
        await _remove_created(connection, owner, document, written["eTag"])
        return None
    return replace(document, tag=written["eTag"])


async def _remove_created(
    connection: CosmosConnection, owner: Owner, document: Document, etag: str
) -> None:
    """Remove a document that was created for an erased user, if it is still there."""
    from azure.cosmos.exceptions import CosmosBatchOperationError

    try:
        await connection.batch(owner, [("delete", (document.id,), {"if_match_etag": etag})])
    except CosmosBatchOperationError as refused:
        if refused.status_code in PASSING:
            raise Unavailable(
                DEPENDENCY, f"Cosmos DB answered a deletion with {refused.status_code}"
            ) from refused
        if refused.status_code not in _MOVED:
            raise


async def fold(
    connection: CosmosConnection,
    owner: Owner,
    accesses: Document,
    counts: Mapping[str, AccessCount],
    now: datetime,
) -> Document | None:
    """Add accesses to memories, as `LongTermStore.fold` says.

    The memories are patched in the same batch that replaces the document in which the accesses
    waited.

    Args:
        connection: The connection to the container.
        owner: The owner of the memories.
        accesses: The new state of the document.
        counts: The accesses by memory id.
        now: The present moment.

    Raises:
        Unavailable: The service is down.

    """
    from azure.cosmos.exceptions import CosmosBatchOperationError

    first = (
        "replace",
        (accesses.id, item_of(owner, accesses, now)),
        {"if_match_etag": accesses.tag},
    )
    for _ in range(FOLD_ROUNDS):
        rows = (
            (await connection.query(owner, queries.last_accesses(owner, list(counts)))).rows
            if counts
            else []
        )
        patches = [
            _patch(row["id"], counts[row["id"]], row.get("last_accessed_at")) for row in rows
        ]
        try:
            written = (await connection.batch(owner, [first, *patches])).rows[0]
        except CosmosBatchOperationError as refused:
            if refused.status_code in PASSING:
                raise Unavailable(
                    DEPENDENCY, f"Cosmos DB answered a write with {refused.status_code}"
                ) from refused
            if refused.status_code not in _MOVED:
                raise
            if refused.error_index == 0:
                return None
        else:
            return replace(accesses, tag=written["eTag"])
    raise Unavailable(DEPENDENCY, "memories to which accesses are added kept vanishing")


def _patch(identity: str, access: AccessCount, known: str | None) -> tuple[Any, ...]:
    operations: list[dict[str, Any]] = [
        {"op": "incr", "path": "/access_count", "value": access.count}
    ]
    if known is None or datetime.fromisoformat(known) < access.at:
        # as models write times, so that an export is the same after an import
        at = access.at.isoformat().replace("+00:00", "Z")
        operations += [
            {"op": "set", "path": "/last_accessed_at", "value": at},
            {"op": "set", "path": "/idle_since_s", "value": access.at.timestamp()},
        ]
    return ("patch", (identity, operations))


async def _read_if_equal(
    connection: CosmosConnection, owner: Owner, document: Document, now: datetime
) -> Document | None:
    """The stored document if it equals the document to write, else None."""
    rows = (await connection.item(owner, document.id)).rows
    if not rows or is_expired(rows[0], now):
        return None
    stored = document_of(rows[0])
    return (
        stored if (stored.body, stored.expires_at) == (document.body, document.expires_at) else None
    )


async def waiting(
    connection: CosmosConnection, after: Owner | None, limit: int
) -> list[tuple[Owner, Head]]:
    """The next owners with unfinished tasks. The query crosses partitions.

    Args:
        connection: The connection to the container.
        after: The last owner of the previous page; None for the first page.
        limit: The most owners to return.

    """
    return await _heads(connection, _WAITING, after, limit)


async def owners(
    connection: CosmosConnection, after: Owner | None, limit: int, app_id: str | None
) -> list[tuple[Owner, Head]]:
    """The next owners. The query crosses partitions.

    It is run by hand after a restore, and for a single app when an admin requests its agents.

    Args:
        connection: The connection to the container.
        after: The last owner of the previous page; None for the first page.
        limit: The most owners to return.
        app_id: The app of the owners; None for all apps.

    """
    if app_id is None:
        return await _heads(connection, _OWNERS, after, limit)
    return await _heads(connection, _OWNERS_OF_AN_APP, after or Owner(app_id, ""), limit)


async def _heads(
    connection: CosmosConnection, text: str, after: Owner | None, limit: int
) -> list[tuple[Owner, Head]]:
    app_id, user_id = after or ("", "")
    values = {"@limit": limit, "@app_id": app_id, "@user_id": user_id}
    query = Query(text, [{"name": name, "value": value} for name, value in values.items()])
    rows = (await connection.query(None, query)).rows
    return [
        (Owner(row["app_id"], row["user_id"]), Head.model_validate(row["body"])) for row in rows
    ]


async def due(
    connection: CosmosConnection, within: str, now: datetime, after: Due | None, limit: int
) -> list[Due]:
    """The next owners of a range whose run is due, across its partitions.

    For a range that was split since it was named, the SDK returns the rows of the first part and
    then those of the second, up to `limit` of each.

    Args:
        connection: The connection to the container.
        within: The feed range, as JSON.
        now: The present moment.
        after: The last entry of the previous page; None for the first page.
        limit: The most entries to return.

    """
    app_id, user_id = ("", "") if after is None else after.owner
    beyond = -1.0 if after is None else after.at.timestamp()
    values = {
        "@limit": limit,
        "@now": now.timestamp(),
        "@after": beyond,
        "@app_id": app_id,
        "@user_id": user_id,
    }
    query = Query(_DUE, [{"name": name, "value": value} for name, value in values.items()])
    rows = (await connection.query(None, query, within=orjson.loads(within))).rows
    rows.sort(key=lambda row: (row["due_s"], row["app_id"], row["user_id"]))
    return [
        Due(
            Owner(row["app_id"], row["user_id"]), datetime.fromtimestamp(row["due_s"], timezone.utc)
        )
        for row in rows[:limit]
    ]

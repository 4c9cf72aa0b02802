"""Documents beside the log, written one by one: tasks, steps, buffers; and the heads of those for whom work waits.

Note: a refusal may be the echo of one's own write, which the SDK sent again after its answer was lost. So after one
the document is read, and what is equal counts as ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import orjson

from memory_core.adapters.cosmos import queries
from memory_core.adapters.cosmos.conditions import Query
from memory_core.adapters.cosmos.connection import Connection
from memory_core.adapters.cosmos.documents import DEPENDENCY, HEAD_ID, MAX_BATCH_BYTES, document_of, is_expired, item_of
from memory_core.adapters.cosmos.failures import PASSING
from memory_core.domain.errors import TooLarge, Unavailable
from memory_core.domain.memory import Head
from memory_core.domain.scope import Owner
from memory_core.ports import LOGGED, Document, Due, Touch

MARKED_FOR = timedelta(days=1)
TOUCH_ROUNDS = 3
_MOVED = frozenset({404, 409, 412})
_AFTER = "AND (c.app_id > @app_id OR (c.app_id = @app_id AND c.user_id > @user_id)) ORDER BY c.app_id, c.user_id"
_HEADS = "SELECT TOP @limit c.id, c.app_id, c.user_id, c.body FROM c WHERE c.kind = 'head' "
_WAITING = f"{_HEADS}AND c.body.pending_tasks > 0 {_AFTER}"
_OWNERS = f"{_HEADS}{_AFTER}"
_OWNERS_OF_AN_APP = f"{_HEADS}AND c.app_id = @app_id AND c.user_id > @user_id ORDER BY c.app_id, c.user_id"

_DUE = (
    "SELECT TOP @limit c.id, c.app_id, c.user_id, c.due_s FROM c WHERE c.kind = 'head' AND c.due_s <= @now AND (c.due_s > @after "
    "OR (c.due_s = @after AND (c.app_id > @app_id OR (c.app_id = @app_id AND c.user_id > @user_id)))) ORDER BY c.due_s, c.app_id, c.user_id"
)


async def keep(connection: Connection, owner: Owner, document: Document, now: datetime) -> Document | None:
    """Create or replace one document, as `LongTermStore.keep` says. Raises ValueError, TooLarge, Unavailable."""
    from azure.cosmos.exceptions import CosmosBatchOperationError

    if document.kind in LOGGED:
        raise ValueError(f"{document.id}: a {document.kind} is written by commits only")
    if (size := len(orjson.dumps(document.body))) > MAX_BATCH_BYTES:
        raise TooLarge(f"one document holds at most {MAX_BATCH_BYTES} bytes; this one has {size}")
    item = item_of(owner, document, now)
    operation = ("create", (item,)) if document.tag is None else ("replace", (document.id, item), {"if_match_etag": document.tag})
    # A created document is compared with the head of that very moment. A replaced one is of the epoch that it was read in.
    beside: list[tuple[Any, ...]] = [("read", (HEAD_ID,))] if document.tag is None and "epoch" in item else []
    try:
        *heads, written = await connection.batch(owner, [*beside, operation])
    except CosmosBatchOperationError as refused:
        if refused.status_code in PASSING:
            raise Unavailable(DEPENDENCY, f"Cosmos DB answered a write with {refused.status_code}") from refused
        if refused.status_code not in _MOVED:
            raise
        return await _if_equal(connection, owner, document, now)
    if any(head["resourceBody"]["body"]["epoch"] != item["epoch"] for head in heads):
        await _take_back(connection, owner, document, written["eTag"])
        return None
    return replace(document, tag=written["eTag"])


async def _take_back(connection: Connection, owner: Owner, document: Document, etag: str) -> None:
    """Remove what was created for a user just erased, unless another process has done so."""
    from azure.cosmos.exceptions import CosmosBatchOperationError

    try:
        await connection.batch(owner, [("delete", (document.id,), {"if_match_etag": etag})])
    except CosmosBatchOperationError as refused:
        if refused.status_code in PASSING:
            raise Unavailable(DEPENDENCY, f"Cosmos DB answered a deletion with {refused.status_code}") from refused
        if refused.status_code not in _MOVED:
            raise


async def touch(connection: Connection, owner: Owner, marker: str, touches: Mapping[str, Touch], now: datetime) -> int:
    """Write down accesses once, as `LongTermStore.touch` says: patches, in one batch with the marker that says they are done."""
    from azure.cosmos.exceptions import CosmosBatchOperationError

    mark = item_of(owner, Document(marker, "marker", {"touched": len(touches)}, expires_at=now + MARKED_FOR), now)
    left = dict(touches)
    for _ in range(TOUCH_ROUNDS):
        operations = [("create", (mark,)), *(_patch(identity, touch) for identity, touch in left.items())]
        try:
            await connection.batch(owner, operations)
        except CosmosBatchOperationError as refused:
            if refused.error_index == 0 and refused.status_code == 409:
                return 0
            if refused.status_code in PASSING:
                raise Unavailable(DEPENDENCY, f"Cosmos DB answered a write with {refused.status_code}") from refused
            if refused.status_code != 404:
                raise
            there = set((await connection.query(owner, queries.existing(owner, list(left)))).rows)
            left = {identity: touch for identity, touch in left.items() if identity in there}
        else:
            return len(left)
    raise Unavailable(DEPENDENCY, "memories whose accesses are written down kept vanishing")


def _patch(identity: str, touch: Touch) -> tuple[Any, ...]:
    count = {"op": "incr", "path": "/access_count", "value": touch.count}
    at = touch.at.isoformat().replace("+00:00", "Z")  # as models write moments, so that an export is the same after an import
    last = {"op": "set", "path": "/last_accessed_at", "value": at}
    return ("patch", (identity, [count, last, {"op": "set", "path": "/idle_since_s", "value": touch.at.timestamp()}]))


async def _if_equal(connection: Connection, owner: Owner, document: Document, now: datetime) -> Document | None:
    """What is stored, when it is what was to be written."""
    rows = (await connection.item(owner, document.id)).rows
    if not rows or is_expired(rows[0], now):
        return None
    stored = document_of(rows[0])
    return stored if (stored.body, stored.expires_at) == (document.body, document.expires_at) else None


async def waiting(connection: Connection, after: Owner | None, limit: int) -> list[tuple[Owner, Head]]:
    """The next owners with tasks that are not finished: a query that crosses partitions."""
    return await _heads(connection, _WAITING, after, limit)


async def owners(connection: Connection, after: Owner | None, limit: int, app_id: str | None) -> list[tuple[Owner, Head]]:
    """The next owners: a query that crosses partitions too, run by hand after a restore; of one app, when an admin asks for its agents."""
    if app_id is None:
        return await _heads(connection, _OWNERS, after, limit)
    return await _heads(connection, _OWNERS_OF_AN_APP, after or Owner(app_id, ""), limit)


async def _heads(connection: Connection, text: str, after: Owner | None, limit: int) -> list[tuple[Owner, Head]]:
    app_id, user_id = after or ("", "")
    values = {"@limit": limit, "@app_id": app_id, "@user_id": user_id}
    query = Query(text, [{"name": name, "value": value} for name, value in values.items()])
    rows = (await connection.query(None, query)).rows
    return [(Owner(row["app_id"], row["user_id"]), Head.model_validate(row["body"])) for row in rows]


async def due(connection: Connection, within: str, now: datetime, after: Due | None, limit: int) -> list[Due]:
    """The next owners of a range whose run is due: the other query that crosses partitions, though those of one range only.

    Of a range that was divided since it was named the SDK shows one part's rows after the other's, as many of each as were asked for.
    """
    app_id, user_id = ("", "") if after is None else after.owner
    beyond = -1.0 if after is None else after.at.timestamp()
    values = {"@limit": limit, "@now": now.timestamp(), "@after": beyond, "@app_id": app_id, "@user_id": user_id}
    query = Query(_DUE, [{"name": name, "value": value} for name, value in values.items()])
    rows = (await connection.query(None, query, within=orjson.loads(within))).rows
    rows.sort(key=lambda row: (row["due_s"], row["app_id"], row["user_id"]))
    return [Due(Owner(row["app_id"], row["user_id"]), datetime.fromtimestamp(row["due_s"], timezone.utc)) for row in rows[:limit]]

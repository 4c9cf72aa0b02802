"""Writing the events of a commit as a page, and rewriting events within pages.

An event that is emptied is replaced within its page, under the page's tag.

Note: the whole page is written with it, which may be more than a commit can hold. Then the events
of the largest pages first become items of their own, in a batch that does not change their content.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import orjson

from memory_core.adapters.cosmos import queries
from memory_core.adapters.cosmos.client import CosmosConnection
from memory_core.adapters.cosmos.event_pages import (
    PAGE,
    are_one_commits,
    events_of,
    page_id,
    page_of,
    rewritten,
)
from memory_core.adapters.cosmos.failures import PASSING
from memory_core.adapters.cosmos.items import DEPENDENCY, MAX_BATCH_BYTES, Item, item_of
from memory_core.adapters.cosmos.reads import IDS_A_QUERY
from memory_core.domain.errors import AlreadyExists, Unavailable
from memory_core.domain.scope import Owner
from memory_core.ports import Document, Write

Pairs = Sequence[tuple[Write, Item]]
MIN_A_PAGE = 2
"""The fewest events of a commit that are written as a page."""


def as_page(owner: Owner, pairs: Pairs, events: int) -> Pairs:
    """The writes with the commit's events on a single page.

    Args:
        owner: The owner of the commit.
        pairs: The writes with their items, events first.
        events: The number of events.

    """
    bodies = [write.document.body for write, _ in pairs[:events]]
    if events < MIN_A_PAGE or not are_one_commits(bodies):
        return pairs
    page = page_of(owner, bodies)
    return [(Write("create", Document(page["id"], "event", {})), page), *pairs[events:]]


async def into_pages(
    connection: CosmosConnection, owner: Owner, pairs: Pairs, now: datetime
) -> Pairs:
    """The writes, with rewritten events inside the pages that contain them.

    Args:
        connection: The connection to the container.
        owner: The owner of the commit.
        pairs: The writes with their items.
        now: The present moment.

    Raises:
        AlreadyExists: Another writer changed these pages.
        Unavailable: The service is down.

    """
    again = {
        write.document.id: write.document.body
        for write, _ in pairs
        if write.document.kind == "event" and write.mode == "put"
    }
    if not again:
        return pairs
    rows = [
        row
        for row in await _pages(connection, owner, sorted({page_id(name) for name in again}))
        if any(_holds(row, name, body) for name, body in again.items())
    ]
    inside = {event["id"] for row in rows for event in events_of(row)} & again.keys()
    rest = [(write, item) for write, item in pairs if write.document.id not in inside]
    replaced = [(row, rewritten(owner, row, again.values())) for row in rows]
    replaced.sort(key=lambda pair: len(orjson.dumps(pair[1])))
    room = MAX_BATCH_BYTES - sum(len(orjson.dumps(item)) for _, item in rest)
    while replaced and sum(len(orjson.dumps(page)) for _, page in replaced) > room:
        row, _ = replaced.pop()
        await _split_page(connection, owner, row, now)
        alone = {event["id"] for event in events_of(row)} & inside
        apart = [(write, item) for write, item in pairs if write.document.id in alone]
        rest += apart
        room -= sum(len(orjson.dumps(item)) for _, item in apart)
    pages = [
        (Write("put", Document(row["id"], "event", {}, tag=row["_etag"])), page)
        for row, page in replaced
    ]
    return [*pages, *rest]


async def _pages(connection: CosmosConnection, owner: Owner, ids: Sequence[str]) -> list[Item]:
    return [
        row
        for at in range(0, len(ids), IDS_A_QUERY)
        for row in (
            await connection.query(owner, queries.by_ids(owner, ids[at : at + IDS_A_QUERY]))
        ).rows
        if row["kind"] == PAGE
    ]


def _holds(page: Item, name: str, body: Mapping[str, Any]) -> bool:
    """Whether an event is on a page of the same epoch."""
    return page["epoch"] == body.get("epoch") and any(
        event["id"] == name for event in events_of(page)
    )


async def _split_page(
    connection: CosmosConnection, owner: Owner, page: Item, now: datetime
) -> None:
    """Make each event of a page an item of its own, in a single batch."""
    from azure.cosmos.exceptions import CosmosBatchOperationError

    first, *others = [
        item_of(owner, Document(event["id"], "event", event), now) for event in events_of(page)
    ]
    operations: list[tuple[Any, ...]] = [
        ("replace", (first["id"], first), {"if_match_etag": page["_etag"]}),
        *(("create", (item,)) for item in others),
    ]
    try:
        await connection.batch(owner, operations)
    except CosmosBatchOperationError as refused:
        if refused.status_code in PASSING:
            raise Unavailable(
                DEPENDENCY, f"Cosmos DB answered a write with {refused.status_code}"
            ) from refused
        raise AlreadyExists(f"the events of {page['id']} are not as they were read") from refused

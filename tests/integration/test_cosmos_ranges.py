"""A container of several physical ranges: each user is due in one of them, and a range's name stays
good when it is divided.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from uuid import uuid4

import orjson
import pytest

from memory_core.adapters.cosmos.store import CosmosStore
from memory_core.domain.scope import Owner
from memory_core.ports import Due
from tests.builders import DIMENSIONS, NOW, StillClock, batch
from tests.cosmos_server import KEY, CosmosServer, running

RANGES = 4
BEFORE_IT_WAS_DIVIDED = {
    "Range": {"min": "", "max": "FF", "isMinInclusive": True, "isMaxInclusive": False}
}


@pytest.fixture(scope="module")
def server() -> Iterator[CosmosServer]:
    with running(ranges=RANGES) as started:
        yield started


@pytest.fixture
async def store(server: CosmosServer) -> AsyncIterator[CosmosStore]:
    made = CosmosStore(
        server.endpoint,
        uuid4().hex,
        clock=StillClock(),
        embedding_model="test",
        dimensions=DIMENSIONS,
        key=KEY,
    )
    await made.provision()
    await made.open()
    yield made
    await made.close()


async def due(store: CosmosStore, within: str) -> list[Due]:
    dues: list[Due] = []
    while page := await store.due(within, NOW, dues[-1] if dues else None, 7):
        dues += page
    return dues


async def test_each_user_is_due_in_one_range(store: CosmosStore) -> None:
    owners = [Owner(f"app{n % 11}", f"user{n:02}") for n in range(40)]
    for n, owner in enumerate(owners):
        await store.commit(owner, batch(None, head={"due_at": NOW - timedelta(minutes=n % 5)}))
    await store.commit(
        Owner("app", "later"), batch(None, head={"due_at": NOW + timedelta(minutes=1)})
    )
    ranges = await store.ranges()
    parts = [await due(store, feed_range) for feed_range in ranges]
    assert len(ranges) == RANGES
    assert sum(map(bool, parts)) > 1, "users lie in several of them"
    assert sorted(entry.owner for part in parts for entry in part) == sorted(owners)
    for part in parts:
        assert part == sorted(part, key=lambda entry: (entry.at, entry.owner))
    whole = await due(store, orjson.dumps(BEFORE_IT_WAS_DIVIDED).decode())
    assert [entry.owner for entry in whole] == [
        owner
        for _, owner in sorted((NOW - timedelta(minutes=n % 5), o) for n, o in enumerate(owners))
    ]

"""The container's definition held against what the store needs: whatever differs is named when the
store opens.

Note: a container that lacks a part of its index answers, for a while. Some queries fail, others
read everything.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest

from memory_core.adapters.cosmos.container import MEMORIES, indexing
from memory_core.adapters.cosmos.store import CosmosStore
from memory_core.domain.errors import Unavailable
from tests.builders import ALICE, DIMENSIONS, StillClock
from tests.cosmos_client import client_of
from tests.cosmos_server import KEY, CosmosServer, running


@pytest.fixture(scope="module")
def server() -> Iterator[CosmosServer]:
    with running() as started:
        yield started


ANOTHER: dict[str, Callable[[dict[str, Any]], object]] = {
    r"partition key should be \['/owner'\], Hash": lambda container: container[
        "partitionKey"
    ].update(paths=["/app_id"]),
    r"partition key /app_id, /user_id of an earlier version.*export.*import": lambda container: (
        container["partitionKey"].update(paths=["/app_id", "/user_id"], kind="MultiHash")
    ),
    r"vector index should be divided by /owner": lambda container: container["indexingPolicy"][
        "vectorIndexes"
    ][0].pop("vectorIndexShardKey"),
    r"/embedding with cosine of float32": lambda container: container["vectorEmbeddingPolicy"][
        "vectorEmbeddings"
    ][0].update(dataType="int8"),
    r"vector policy should have /embedding": lambda container: container["vectorEmbeddingPolicy"][
        "vectorEmbeddings"
    ][0].update(distanceFunction="euclidean"),
    r"vector index on /embedding, quantizedFlat or diskANN": lambda container: container[
        "indexingPolicy"
    ].update(
        vectorIndexes=[{"path": "/embedding", "type": "flat", "vectorIndexShardKey": ["/owner"]}]
    ),
    r"/search_text in en-US": lambda container: container["fullTextPolicy"]["fullTextPaths"][
        0
    ].update(language="fr-FR"),
    r"full text index on /search_text": lambda container: container["indexingPolicy"].pop(
        "fullTextIndexes"
    ),
    r"composite index on /sequence ascending, /id ascending": lambda container: container[
        "indexingPolicy"
    ]["compositeIndexes"][0][1].update(order="descending"),
    r"index should include /sequence/\?, /status/\? \(an index can be": lambda container: container[
        "indexingPolicy"
    ].update(
        includedPaths=[
            path
            for path in container["indexingPolicy"]["includedPaths"]
            if path["path"] not in ("/sequence/?", "/status/?")
        ]
    ),
    r"include /body/pending_tasks/\?, /body/status": lambda container: container[
        "indexingPolicy"
    ].update(
        includedPaths=[{"path": "/*"}],
        excludedPaths=[{"path": "/embedding/*"}, {"path": "/body/*"}],
    ),
    r"leave out /embedding": lambda container: container["indexingPolicy"].update(
        includedPaths=[{"path": "/*"}], excludedPaths=[]
    ),
    r"index should be consistent": lambda container: container["indexingPolicy"].update(
        indexingMode="none"
    ),
    r"time to live should be -1": lambda container: container.pop("defaultTtl"),
}
"""What readiness says, and a container that it says it of."""


def definition() -> dict[str, Any]:
    """A container that is as it should be."""
    container = copy.deepcopy(dict(MEMORIES))
    container["vectorEmbeddingPolicy"]["vectorEmbeddings"][0]["dimensions"] = DIMENSIONS
    return {
        **container,
        "id": container.pop("name"),
        "indexingPolicy": copy.deepcopy(indexing("quantizedFlat")),
    }


async def container_of(server: CosmosServer, given: dict[str, Any]) -> CosmosStore:
    """A store on a container of this definition, in a database of its own."""
    async with (
        client_of(server.endpoint) as client,
        httpx.AsyncClient(base_url=server.endpoint) as wire,
    ):
        database = await client.create_database(uuid4().hex)
        made = await wire.post(
            f"dbs/{database.id}/colls", json=given, headers={"authorization": KEY}
        )
        assert made.status_code == 201, made.text
    return CosmosStore(
        server.endpoint,
        database.id,
        clock=StillClock(),
        embedding_model="test",
        dimensions=DIMENSIONS,
        key=KEY,
    )


@pytest.mark.parametrize("says", ANOTHER)
async def test_a_container_that_differs_in_one_thing_is_refused_with_that_thing_alone(
    server: CosmosServer, says: str
) -> None:
    given = definition()
    ANOTHER[says](given)
    store = await container_of(server, given)
    try:
        with pytest.raises(Unavailable, match=says) as refused:
            await store.open()
        with pytest.raises(Unavailable, match=says):
            await store.snapshot(ALICE)
        assert (await store.check()).detail == refused.value.detail
    finally:
        await store.close()
    assert ";" not in refused.value.detail


async def test_a_container_that_indexes_more_than_is_asked_of_it_will_do(
    server: CosmosServer,
) -> None:
    given = definition()
    given["indexingPolicy"] |= {
        "includedPaths": [{"path": "/*"}],
        "excludedPaths": [{"path": "/embedding/*"}, {"path": '/"_etag"/?'}],
    }
    store = await container_of(server, given)
    await store.open()
    await store.close()

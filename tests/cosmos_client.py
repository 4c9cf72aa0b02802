"""What the tests of the emulator share: a container like the product's, and its documents."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, CosmosClient, DatabaseProxy

from tests.cosmos_server import KEY

DIMENSIONS = 4
ANA, BEN = ["shop", "ana"], ["shop", "ben"]
VECTORS = {
    "vectorEmbeddings": [
        {
            "path": "/embedding",
            "dataType": "float32",
            "distanceFunction": "cosine",
            "dimensions": DIMENSIONS,
        }
    ]
}
TEXTS = {
    "defaultLanguage": "en-US",
    "fullTextPaths": [{"path": "/search_text", "language": "en-US"}],
}
INDEX = {
    "includedPaths": [{"path": f"/{name}/?"} for name in ("kind", "sequence", "due_at")],
    "excludedPaths": [{"path": "/*"}],
    "compositeIndexes": [
        [{"path": "/sequence", "order": "descending"}, {"path": "/id", "order": "descending"}]
    ],
    "vectorIndexes": [{"path": "/embedding", "type": "quantizedFlat"}],
    "fullTextIndexes": [{"path": "/search_text"}],
}


@asynccontextmanager
async def client_of(endpoint: str, **options: Any) -> AsyncIterator[CosmosClient]:
    """A client of the SDK, with few retries, so that tests of failures end soon."""
    async with CosmosClient(endpoint, KEY, retry_total=2, retry_backoff_max=1, **options) as client:
        yield client


async def memories_in(
    database: DatabaseProxy, id_: str = "memories", **changed: Any
) -> ContainerProxy:
    """A container with the policies of the product."""
    given: dict[str, Any] = {
        "default_ttl": -1,
        "indexing_policy": INDEX,
        "vector_embedding_policy": VECTORS,
        "full_text_policy": TEXTS,
    } | changed
    container: ContainerProxy = await database.create_container(
        id_, PartitionKey(["/app_id", "/user_id"], kind="MultiHash"), **given
    )
    return container


def document(id_: str, owner: list[str] | None = None, **fields: Any) -> dict[str, Any]:
    """A document of a user."""
    app_id, user_id = owner or ANA
    return {"id": id_, "app_id": app_id, "user_id": user_id, "kind": "memory", **fields}


async def ids(rows: Any) -> list[str]:
    """The ids of a query's rows, in order."""
    return [row["id"] async for row in rows]

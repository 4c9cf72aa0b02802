"""What the container has to be like: key, vectors, full text, index; made against an emulator, compared everywhere else.

It stands in `policy.json` beside this file, and only there: infrastructure reads the same file to make the container. One would get
wrong: the vector policy and the key can never be changed. Another embedder needs another container, which is why a mismatch is an
error at the start and not something to mend.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from memory_core.adapters.cosmos.documents import DEPENDENCY
from memory_core.domain.errors import EmbeddingMismatch, Unavailable

if TYPE_CHECKING:
    from azure.cosmos.aio import CosmosClient

VectorIndex = Literal["quantizedFlat", "diskANN"]
Consistency = Literal["strong", "session"]
POLICY: Final[Mapping[str, Any]] = json.loads(Path(__file__).with_name("policy.json").read_text(encoding="utf-8"))
"""Database and containers, in the words of the service, but for what is chosen at deployment: the length of vectors, and their index."""
MEMORIES: Final[Mapping[str, Any]] = next(one for one in POLICY["containers"] if one["name"] == "memories")
KEY_PATHS: Final[list[str]] = MEMORIES["partitionKey"]["paths"]
COMPOSITES: Final[list[list[str]]] = [[one["path"] for one in paths] for paths in MEMORIES["indexingPolicy"]["compositeIndexes"]]
"""Paths that are sorted by together."""
VECTORS: Final[Mapping[str, Any]] = MEMORIES["vectorEmbeddingPolicy"]["vectorEmbeddings"][0]
VECTOR_PATH: Final[str] = VECTORS["path"]
TEXT_PATH: Final[str] = MEMORIES["fullTextPolicy"]["fullTextPaths"][0]["path"]
ENOUGH: Final[Mapping[Consistency, list[str]]] = POLICY["consistency"]
"""An account's levels that will do. Under the first two (in one region) every process reads what any process was told is saved; under
Session only its own, so that it may decide on what another one has just changed."""


def indexing(vector_index: VectorIndex) -> dict[str, Any]:
    """The index policy: only what is filtered or sorted, so that a write does not pay for words that full text indexes anyway."""
    policy = MEMORIES["indexingPolicy"]
    return {**policy, "vectorIndexes": [{**one, "type": vector_index} for one in policy["vectorIndexes"]]}


async def provision(client: CosmosClient, database: str, container: str, dimensions: int, vector_index: VectorIndex) -> None:
    """Make database and container where they are missing. For an emulator: data-plane roles of a real account may not."""
    from azure.cosmos import PartitionKey

    made = await client.create_database_if_not_exists(database)
    await made.create_container_if_not_exists(
        container,
        PartitionKey(KEY_PATHS, kind=MEMORIES["partitionKey"]["kind"]),
        default_ttl=MEMORIES["defaultTtl"],
        indexing_policy=indexing(vector_index),
        vector_embedding_policy={"vectorEmbeddings": [{**VECTORS, "dimensions": dimensions}]},
        full_text_policy=MEMORIES["fullTextPolicy"],
    )


def check(properties: Mapping[str, Any]) -> None:
    """Compare the live container with what the store needs, but for vectors' length. Raises Unavailable naming each difference."""
    wrong = [text for text, holds in _needed(properties, _vector_policy(properties)) if not holds]
    if wrong:
        raise Unavailable(DEPENDENCY, f"the container is not as it has to be: {'; '.join(wrong)}", retry_after_s=30)


def check_dimensions(properties: Mapping[str, Any], dimensions: int) -> None:
    """Compare the length of the container's vectors with the embedder's. Raises EmbeddingMismatch with both numbers."""
    held = _vector_policy(properties).get("dimensions")
    if held != dimensions:
        raise EmbeddingMismatch(DEPENDENCY, f"the container holds vectors of {held} dimensions; the embedder makes {dimensions}")


def _vector_policy(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    policies = {one["path"]: one for one in (properties.get("vectorEmbeddingPolicy") or {}).get("vectorEmbeddings", [])}
    found: Mapping[str, Any] = policies.get(VECTOR_PATH, {})
    return found


def check_consistency(level: str, wanted: Consistency) -> None:
    """Compare the account's default level with what is wanted. Raises Unavailable, naming both."""
    if level not in ENOUGH[wanted]:
        enough = " or ".join(ENOUGH[wanted])
        raise Unavailable(DEPENDENCY, f"the account's consistency is {level}; it should be {enough}", retry_after_s=30)


def _needed(properties: Mapping[str, Any], vector: Mapping[str, Any]) -> list[tuple[str, bool]]:
    index = properties.get("indexingPolicy") or {}
    texts = [one.get("path") for one in (properties.get("fullTextPolicy") or {}).get("fullTextPaths", [])]
    composite = [[one.get("path") for one in paths] for paths in index.get("compositeIndexes", [])]
    return [
        (f"its partition key should be {KEY_PATHS}", (properties.get("partitionKey") or {}).get("paths") == KEY_PATHS),
        (
            f"its vector policy should have {VECTOR_PATH} with {VECTORS['distanceFunction']}",
            vector.get("distanceFunction") == VECTORS["distanceFunction"],
        ),
        (f"its full text policy should have {TEXT_PATH}", TEXT_PATH in texts),
        (f"its index should have a vector index on {VECTOR_PATH}", _has(index, "vectorIndexes", VECTOR_PATH)),
        (f"its index should have a full text index on {TEXT_PATH}", _has(index, "fullTextIndexes", TEXT_PATH)),
        *((f"its index should have a composite index on {', '.join(paths)}", paths in composite) for paths in COMPOSITES),
        (f"its default time to live should be {MEMORIES['defaultTtl']}", properties.get("defaultTtl") == MEMORIES["defaultTtl"]),
    ]


def _has(index: Mapping[str, Any], name: str, path: str) -> bool:
    return any(one.get("path") == path for one in index.get(name, []))

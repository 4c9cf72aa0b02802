"""The required definition of the container, and checks of the container and its embedder.

An emulator's container is made from it, and every other container is compared with it. The
definition is only in `policy.json` beside this file, which the infrastructure reads to make the
container.

Note: the vector policy and the key of a container can never be changed. Another embedder needs
another container, so a mismatch is an error at the start and cannot be mended.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from memory_core.adapters.cosmos.client import CosmosConnection
from memory_core.adapters.cosmos.failures import PASSING
from memory_core.adapters.cosmos.items import DEPENDENCY, addressed
from memory_core.domain.errors import EmbeddingMismatch, Unavailable
from memory_core.domain.ranking.vectors import VectorKind
from memory_core.domain.scope import Owner

if TYPE_CHECKING:
    from azure.cosmos.aio import ContainerProxy, CosmosClient


VectorIndex = Literal["quantizedFlat", "diskANN"]
Consistency = Literal["strong", "session"]
POLICY: Final[Mapping[str, Any]] = json.loads(
    Path(__file__).with_name("policy.json").read_text(encoding="utf-8")
)
"""Definition of the database and its containers, in the terms of the service.

The length of vectors and their index are left out: they are chosen at deployment.
"""
MEMORIES: Final[Mapping[str, Any]] = next(
    container for container in POLICY["containers"] if container["name"] == "memories"
)
KEY_PATHS: Final[list[str]] = MEMORIES["partitionKey"]["paths"]
EARLIER_KEY_PATHS: Final = ["/app_id", "/user_id"]
MOVE: Final = (
    "the container has the partition key /app_id, /user_id of an earlier version, and a container "
    "can't change its key: export each user with the earlier version, provision a new container, "
    "import them into it (docs/deploy.md, «A container of an earlier version»)"
)
INDEX: Final[Mapping[str, Any]] = MEMORIES["indexingPolicy"]
SHARD_KEY: Final = "vectorIndexShardKey"
VECTORS: Final[Mapping[str, Any]] = MEMORIES["vectorEmbeddingPolicy"]["vectorEmbeddings"][0]
VECTOR_PATH: Final[str] = VECTORS["path"]
STATES_PATH: Final = "/lexical/states"
TEXT: Final[Mapping[str, Any]] = MEMORIES["fullTextPolicy"]["fullTextPaths"][0]
TEXT_PATH: Final[str] = TEXT["path"]
ENOUGH: Final[Mapping[Consistency, list[str]]] = POLICY["consistency"]
"""The account's consistency levels that are sufficient.

Under the levels of "strong" (in a single region), every process reads all writes that any process
has acknowledged. Under Session a process reads only its own writes, so it may decide on data that
another process has just changed.
"""


def indexing(vector_index: VectorIndex) -> dict[str, Any]:
    """The index policy.

    It covers only paths that are filtered or sorted, so that a write does not pay for words that
    full text indexes anyway.
    """
    return {
        **INDEX,
        "vectorIndexes": [{**index, "type": vector_index} for index in INDEX["vectorIndexes"]],
    }


async def provision(
    client: CosmosClient, database: str, container: str, dimensions: int, vector_index: VectorIndex
) -> None:
    """Make the database and container where they are missing, for an emulator.

    A container of an earlier version gets the index of this version. The data-plane roles of a real
    account do not allow this; there `azd provision` does the same.

    Args:
        client: The client of the account.
        database: The name of the database.
        container: The name of the container.
        dimensions: The length of vectors.
        vector_index: The type of the vector index.

    """
    from azure.cosmos import PartitionKey

    made = await client.create_database_if_not_exists(database)
    key = PartitionKey(KEY_PATHS[0], kind=MEMORIES["partitionKey"]["kind"])
    may_change = {"default_ttl": MEMORIES["defaultTtl"], "indexing_policy": indexing(vector_index)}
    may_change |= {"full_text_policy": MEMORIES["fullTextPolicy"]}
    vectors = {"vectorEmbeddings": [{**VECTORS, "dimensions": dimensions}]}
    there = await made.create_container_if_not_exists(
        container, key, vector_embedding_policy=vectors, **may_change
    )
    properties = await there.read()
    if properties["indexingPolicy"] != indexing(vector_index):
        fixed = {
            "partition_key": properties["partitionKey"],
            "vector_embedding_policy": properties.get("vectorEmbeddingPolicy"),
        }
        await made.replace_container(container, **fixed, **may_change)


def check_policies(properties: Mapping[str, Any]) -> None:
    """Compare the live container with the definition, except for the length of vectors.

    Raises Unavailable naming each difference.
    """
    if (properties.get("partitionKey") or {}).get("paths") == EARLIER_KEY_PATHS:
        raise Unavailable(DEPENDENCY, MOVE, retry_after_s=30)
    wrong = [text for text, holds in _needed(properties, _vector_policy(properties)) if not holds]
    if wrong:
        mend = (
            " (an index can be changed in place: azd provision does it)"
            if all("its index" in text for text in wrong)
            else ""
        )
        raise Unavailable(
            DEPENDENCY,
            f"the container is not as it has to be: {'; '.join(wrong)}{mend}",
            retry_after_s=30,
        )


def _way_on(length: object) -> str:
    """The setting to use if the embedder can make vectors of the stored length."""
    return (
        f"; EMBEDDING_DIMENSIONS={length} goes on with these, where the model can make them"
        if isinstance(length, int)
        else ""
    )


def check_dimensions(properties: Mapping[str, Any], dimensions: int) -> None:
    """Compare the length of the container's vectors with the embedder's.

    Args:
        properties: The properties of the live container.
        dimensions: The length of the embedder's vectors.

    Raises:
        EmbeddingMismatch: The lengths differ; the message has both.

    """
    length = _vector_policy(properties).get("dimensions")
    if length != dimensions:
        raise EmbeddingMismatch(
            DEPENDENCY,
            f"the container holds vectors of {length} dimensions; the embedder makes "
            f"{dimensions}{_way_on(length)}",
        )


def _vector_policy(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    policies = {
        policy["path"]: policy
        for policy in (properties.get("vectorEmbeddingPolicy") or {}).get("vectorEmbeddings", [])
    }
    policy: Mapping[str, Any] = policies.get(VECTOR_PATH, {})
    return policy


def check_consistency(level: str, wanted: Consistency) -> None:
    """Compare the account's default consistency with the wanted consistency.

    Args:
        level: The account's default level.
        wanted: The configured consistency.

    Raises:
        Unavailable: The level is too weak; the message names both.

    """
    if level not in ENOUGH[wanted]:
        enough = " or ".join(ENOUGH[wanted])
        raise Unavailable(
            DEPENDENCY,
            f"the account's consistency is {level}; it should be {enough}",
            retry_after_s=30,
        )


def _needed(properties: Mapping[str, Any], vector: Mapping[str, Any]) -> list[tuple[str, bool]]:
    """What a container needs, in words, each with whether it has it."""
    index = properties.get("indexingPolicy") or {}
    return [
        *_needed_policies(properties, vector),
        *_needed_search_indexes(index),
        *_needed_indexes(index),
        (
            f"its default time to live should be {MEMORIES['defaultTtl']}",
            properties.get("defaultTtl") == MEMORIES["defaultTtl"],
        ),
    ]


def _needed_policies(
    properties: Mapping[str, Any], vector: Mapping[str, Any]
) -> list[tuple[str, bool]]:
    key = MEMORIES["partitionKey"]
    return [
        (
            f"its partition key should be {KEY_PATHS}, {key['kind']}",
            _has(properties.get("partitionKey"), key, "paths", "kind"),
        ),
        (
            (
                f"its vector policy should have {VECTOR_PATH} with {VECTORS['distanceFunction']} "
                f"of {VECTORS['dataType']}"
            ),
            _has(vector, VECTORS, "distanceFunction", "dataType"),
        ),
        (
            f"its full text policy should have {TEXT_PATH} in {TEXT['language']}",
            any(
                _has(rule, TEXT, "path", "language")
                for rule in (properties.get("fullTextPolicy") or {}).get("fullTextPaths", [])
            ),
        ),
    ]


def _needed_search_indexes(index: Mapping[str, Any]) -> list[tuple[str, bool]]:
    """The indexes of vectors and of full text."""
    vector_indexes = [
        rule for rule in index.get("vectorIndexes", []) if rule.get("path") == VECTOR_PATH
    ]
    types = [rule.get("type") for rule in vector_indexes]
    texts = [rule.get("path") for rule in index.get("fullTextIndexes", [])]
    return [
        (
            (
                f"its index should have a vector index on {VECTOR_PATH}, "
                f"{' or '.join(POLICY['vectorIndexTypes'])}"
            ),
            any(index_type in POLICY["vectorIndexTypes"] for index_type in types),
        ),
        (
            f"its vector index should be divided by {KEY_PATHS[0]}",
            all(rule.get(SHARD_KEY) == KEY_PATHS for rule in vector_indexes),
        ),
        (f"its index should have a full text index on {TEXT_PATH}", TEXT_PATH in texts),
    ]


def _needed_indexes(index: Mapping[str, Any]) -> list[tuple[str, bool]]:
    """The composite indexes, the indexed paths and the mode."""
    unsorted = [
        together
        for together in map(_sorting, INDEX["compositeIndexes"])
        if together not in _composites(index)
    ]
    missing = [
        rule["path"] for rule in INDEX["includedPaths"] if not _is_indexed(index, rule["path"])
    ]
    return [
        *(
            (
                f"its index should have a composite index on {', '.join(map(' '.join, together))}",
                False,
            )
            for together in unsorted
        ),
        (f"its index should include {', '.join(missing)}", not missing),
        (
            f"its index should leave out {VECTOR_PATH}, which has one of its own",
            not _is_indexed(index, f"{VECTOR_PATH}/[]/?"),
        ),
        (
            f"its index should be {INDEX['indexingMode']}",
            str(index.get("indexingMode")).lower() == INDEX["indexingMode"],
        ),
    ]


def _has(given: Mapping[str, Any] | None, wanted: Mapping[str, Any], *names: str) -> bool:
    return all((given or {}).get(name) == wanted[name] for name in names)


def _composites(index: Mapping[str, Any]) -> list[list[tuple[str, str]]]:
    return [_sorting(paths) for paths in index.get("compositeIndexes", [])]


def _sorting(paths: Sequence[Mapping[str, str]]) -> list[tuple[str, str]]:
    """Paths of a composite index, each with its direction."""
    return [(rule["path"], rule.get("order", "ascending")) for rule in paths]


def _is_indexed(index: Mapping[str, Any], path: str) -> bool:
    """Whether the ordinary index covers a path.

    The more specific rule counts, among those that include and exclude the path.
    """
    return _closeness(index.get("includedPaths", []), path) > _closeness(
        index.get("excludedPaths", []), path
    )


def _closeness(rules: Sequence[Mapping[str, str]], path: str) -> int:
    paths = [rule["path"].replace('"', "") for rule in rules]
    return max(
        (
            len(rule_path)
            for rule_path in paths
            if rule_path == path or (rule_path.endswith("/*") and path.startswith(rule_path[:-1]))
        ),
        default=0,
    )


# The document that names the embedder of the container's vectors; it belongs to no user.
#
# It is written before the first vector of each embedder. Note: the container itself knows only the
# length of a vector. While memories are embedded again, it has vectors of two embedders with the
# same length. Each memory names its embedder, and a search compares vectors of a single embedder.


NOBODY: Final = Owner("_", "_")
"""Owner of the record of embedders. No app can have this name."""
_ID = "embedder"
_ROUNDS = 3
log = logging.getLogger(__name__)


class EmbedderRecord:
    """Compares the configured embedder with the embedders on record."""

    def __init__(self, connection: CosmosConnection, ours: VectorKind) -> None:
        self._connection, self._ours = connection, ours
        self._known = False
        self._etag: str | None = None
        self.models: list[str] = []
        """The models on record, in the order of their first vectors."""

    @property
    def only(self) -> str | None:
        """The model that a search must name.

        None while no other model's vectors are on record.
        """
        return None if set(self.models) <= {self._ours.model} else self._ours.model

    async def check(self) -> None:
        """Compare the embedder with the record, if there is a record yet.

        Raises Unavailable, and EmbeddingMismatch naming both for vectors of another length.
        """
        rows = (await self._connection.item(NOBODY, _ID)).rows
        if not rows:
            return
        stored = VectorKind(rows[0]["model"], rows[0]["dimensions"])
        if stored.dimensions != self._ours.dimensions:
            raise EmbeddingMismatch(
                DEPENDENCY,
                f"the stored vectors are from {stored}, the configured embedder is "
                f"{self._ours}{_way_on(stored.dimensions)}",
            )
        before = self.only
        self.models, self._etag = rows[0].get("models") or [stored.model], rows[0]["_etag"]
        self._known = self._ours.model in self.models
        if self.only is not None and before is None:
            log.warning(
                "vectors of the embedders %s are stored; the configured one is %s",
                ", ".join(self.models),
                self._ours,
            )

    async def compare(self) -> None:
        """Do `check`, at no cost once the configured model was seen on record.

        No name is ever removed from the record.
        """
        if not self._known:
            await self.check()

    async def keep(self) -> None:
        """Put the configured model on record unless it is there. Raises as `check` does."""
        from azure.cosmos.exceptions import CosmosBatchOperationError

        await self.compare()
        for _ in range(_ROUNDS):
            if self._known:
                return
            try:
                await self._connection.batch(NOBODY, [self._operation()])
            except CosmosBatchOperationError as refused:
                if refused.status_code in PASSING:
                    raise Unavailable(
                        DEPENDENCY, f"Cosmos DB answered {refused.status_code}"
                    ) from refused
                if refused.status_code not in (409, 412):
                    raise
            await self.check()
        if not self._known:
            raise Unavailable(DEPENDENCY, "the record of embedders kept changing")

    def _operation(self) -> tuple[Any, ...]:
        """The operation that adds the configured model to the record."""
        models = [*self.models, self._ours.model]
        item = addressed(NOBODY, _ID, "embedder") | {
            "model": models[0],
            "dimensions": self._ours.dimensions,
            "models": models,
        }
        return (
            ("create", (item,))
            if self._etag is None
            else ("replace", (_ID, item), {"if_match_etag": self._etag})
        )


# Whether the container and its account fit the settings; checked at the opening of the store and
# for readiness.
#
# Note: the SDK has no public call for the account's consistency, on which the store's guarantees
# rest. If a later version of the SDK drops the private call, a setting skips the check.


ASSUMED: Final[Mapping[Consistency, str]] = {"strong": "Strong", "session": "Session"}


async def compare(
    connection: CosmosConnection,
    embedder: EmbedderRecord,
    dimensions: int,
    wanted: Consistency,
    *,
    asks_account: bool = True,
) -> str:
    """Compare the container and its account with the settings.

    Args:
        connection: The connection to the container.
        embedder: The record of embedders.
        dimensions: The length of the embedder's vectors.
        wanted: The configured consistency.
        asks_account: Whether the account is asked for its consistency.

    Returns:
        The account's consistency, or the configured consistency where the account is not asked.

    Raises:
        Unavailable: The service is down, or a difference was found; the message names both sides.
        EmbeddingMismatch: The stored vectors have another length.

    """
    properties = await _properties(connection)
    check_policies(properties)
    await embedder.check()
    check_dimensions(properties, dimensions)
    level = await _consistency(connection) if asks_account else ASSUMED[wanted]
    check_consistency(level, wanted)
    return level


async def _properties(connection: CosmosConnection) -> dict[str, Any]:
    async def read(container: ContainerProxy) -> dict[str, Any]:
        return dict(await container.read())

    return await connection.read(read)


async def _consistency(connection: CosmosConnection) -> str:
    async def read(_: ContainerProxy) -> str:
        client = await connection.client()
        account = await client._get_database_account()
        return str((account.ConsistencyPolicy or {}).get("defaultConsistencyLevel", "unknown"))

    return await connection.read(read)

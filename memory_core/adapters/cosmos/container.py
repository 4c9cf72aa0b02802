"""What the container has to be like, and whether it and its embedder are so.

It is made on an emulator, and compared everywhere else. The definition is in `policy.json` beside
this file, and only there: infrastructure reads the same file to make the container. Note: the
vector policy and the key can never be changed. Another embedder needs another container, which is
why a mismatch is an error at the start and not something to mend.
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
"""Database and containers, in the words of the service, but for what is chosen at deployment: the
length of vectors, and their index.
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
"""An account's levels that will do. Under the first two (in one region) every process reads what
any process was told is saved; under Session only its own, so that it may decide on what another one
has just changed.
"""


def indexing(vector_index: VectorIndex) -> dict[str, Any]:
    """The index policy: only what is filtered or sorted, so that a write does not pay for words
    that full text indexes anyway.
    """
    return {
        **INDEX,
        "vectorIndexes": [{**index, "type": vector_index} for index in INDEX["vectorIndexes"]],
    }


async def provision(
    client: CosmosClient, database: str, container: str, dimensions: int, vector_index: VectorIndex
) -> None:
    """Make database and container where they are missing, and give a container of an earlier
    version the index of this one.

    For an emulator: data-plane roles of a real account may not, and there `azd provision`
    does the same.
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
    """Compare the live container with what the store needs, but for vectors' length. Raises
    Unavailable naming each difference.
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
    """What to set where the embedder can make vectors of the length that is there."""
    return (
        f"; EMBEDDING_DIMENSIONS={length} goes on with these, where the model can make them"
        if isinstance(length, int)
        else ""
    )


def check_dimensions(properties: Mapping[str, Any], dimensions: int) -> None:
    """Compare the length of the container's vectors with the embedder's. Raises EmbeddingMismatch
    with both numbers.
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
    """Compare the account's default level with what is wanted. Raises Unavailable, naming both."""
    if level not in ENOUGH[wanted]:
        enough = " or ".join(ENOUGH[wanted])
        raise Unavailable(
            DEPENDENCY,
            f"the account's consistency is {level}; it should be {enough}",
            retry_after_s=30,
        )


def _needed(properties: Mapping[str, Any], vector: Mapping[str, Any]) -> list[tuple[str, bool]]:
    index, key = properties.get("indexingPolicy") or {}, MEMORIES["partitionKey"]
    vector_indexes = [
        rule for rule in index.get("vectorIndexes", []) if rule.get("path") == VECTOR_PATH
    ]
    types = [rule.get("type") for rule in vector_indexes]
    texts = [rule.get("path") for rule in index.get("fullTextIndexes", [])]
    unsorted = [
        together
        for together in map(_sorting, INDEX["compositeIndexes"])
        if together not in _composites(index)
    ]
    missing = [
        rule["path"] for rule in INDEX["includedPaths"] if not _is_indexed(index, rule["path"])
    ]
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
        (
            f"its default time to live should be {MEMORIES['defaultTtl']}",
            properties.get("defaultTtl") == MEMORIES["defaultTtl"],
        ),
    ]


def _has(given: Mapping[str, Any] | None, wanted: Mapping[str, Any], *names: str) -> bool:
    return all((given or {}).get(name) == wanted[name] for name in names)


def _composites(index: Mapping[str, Any]) -> list[list[tuple[str, str]]]:
    return [_sorting(paths) for paths in index.get("compositeIndexes", [])]


def _sorting(paths: Sequence[Mapping[str, str]]) -> list[tuple[str, str]]:
    """What is sorted by together, each with its direction."""
    return [(rule["path"], rule.get("order", "ascending")) for rule in paths]


def _is_indexed(index: Mapping[str, Any], path: str) -> bool:
    """Whether the ordinary index covers a path: of the rules that include and exclude,
    the one that names it more closely counts.
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


# Whose vectors the container holds: one document that belongs to no user.
#
# It is written before the first vector of each embedder. Note: the container itself knows how long
# a vector is, and nothing else. While memories are embedded again, it holds vectors of two
# embedders of one length side by side; each memory names the model of its own,
# and a search asks for one model's alone.


NOBODY: Final = Owner("_", "_")
"""No app may be named so."""
_ID = "embedder"
_ROUNDS = 3
log = logging.getLogger(__name__)


class EmbedderRecord:
    """The embedder that is configured here, held against those on record."""

    def __init__(self, connection: CosmosConnection, ours: VectorKind) -> None:
        self._connection, self._ours = connection, ours
        self._known = False
        self._etag: str | None = None
        self.models: list[str] = []
        """Those on record, in the order of their first vectors."""

    @property
    def only(self) -> str | None:
        """The model that a search has to name; None where no other model's vectors
        are on record.
        """
        return None if set(self.models) <= {self._ours.model} else self._ours.model

    async def check(self) -> None:
        """Compare, if there is anything on record yet. Raises Unavailable, and EmbeddingMismatch
        for another length, naming both.
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
        """As `check`, at no cost once ours was seen on record: no name leaves it."""
        if not self._known:
            await self.check()

    async def keep(self) -> None:
        """Put ours on record unless it is there. Raises as `check` does."""
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
        """What writes ours beside those on record."""
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


# Whether the live container and its account are as the settings say: asked when the store opens,
# and whenever readiness is.
#
# Note: the SDK has no public call for the account's consistency, which is half of what the store's
# promises rest on. Should a version of it lose the private one, a setting spares it.


ASSUMED: Final[Mapping[Consistency, str]] = {"strong": "Strong", "session": "Session"}


async def compare(
    connection: CosmosConnection,
    embedder: EmbedderRecord,
    dimensions: int,
    wanted: Consistency,
    *,
    asks_account: bool = True,
) -> str:
    """The account's consistency, or as it is configured, where the account is not to be asked.

    Raises Unavailable or EmbeddingMismatch for what is not as it should be, naming both sides.
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

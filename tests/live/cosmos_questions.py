"""Questions 2 to 5, to a Cosmos DB account in which a database may be made."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, DatabaseProxy
from azure.cosmos.exceptions import CosmosBatchOperationError, CosmosHttpResponseError

from memory_core.adapters.cosmos.container import KEY_PATHS, MEMORIES, VECTORS, indexing
from tests.live.questions import Answer, NotAsked

DIMENSIONS, A_BATCH, AT_ONCE, QUERIES = 512, 100, 8, 3
CHARGE = "x-ms-request-charge"
RELAXED = {"x-ms-consistency-level": "Eventual"}
TERM, HOLDERS, ALL = "lantern", (10, 8, 6, 4, 2), 200
"""How often the five best documents hold the term; each of the others holds it once.
All are equally long.
"""
WORDS = 40
USER = {"app_id": "live", "user_id": "asked", "owner": "live|asked"}
"""The ids of a user, and one for a key of a single path."""


@dataclass
class Budget:
    """Request units that a run may spend, and when it has to end; `spent` counts."""

    units: float
    seconds: float
    clock: Callable[[], float] = time.monotonic
    spent: float = 0.0
    began: float = field(init=False)

    def __post_init__(self) -> None:
        self.began = self.clock()

    def allows(self, units: float, seconds: float) -> bool:
        """Whether so much more may be spent."""
        return (
            self.spent + units <= self.units and self.clock() - self.began + seconds <= self.seconds
        )


def key_of(paths: Sequence[str] = KEY_PATHS) -> Any:
    """The user's partition key."""
    values = [USER[path.strip("/")] for path in paths]
    return values[0] if len(values) == 1 else values


async def container_of(
    database: DatabaseProxy, name: str, *, sharded: bool | None = None
) -> ContainerProxy:
    """The product's container. sharded: with the vector index of each key by itself,
    or without; None: as the product has it.
    """
    index = indexing("quantizedFlat")
    if sharded is not None:
        if sharded and len(KEY_PATHS) > 1:
            raise NotAsked("a shard key takes one path, and the partition key has several")
        rules = [
            {name: value for name, value in rule.items() if name != "vectorIndexShardKey"}
            for rule in index["vectorIndexes"]
        ]
        index = {
            **index,
            "vectorIndexes": [
                {**rule, "vectorIndexShardKey": KEY_PATHS} if sharded else rule for rule in rules
            ],
        }
    return await database.create_container(
        name,
        PartitionKey(KEY_PATHS, kind=MEMORIES["partitionKey"]["kind"]),
        default_ttl=MEMORIES["defaultTtl"],
        indexing_policy=index,
        full_text_policy=MEMORIES["fullTextPolicy"],
        vector_embedding_policy={"vectorEmbeddings": [{**VECTORS, "dimensions": DIMENSIONS}]},
    )


async def ask_container(database: DatabaseProxy) -> Answer:
    """Question 2."""
    try:
        await container_of(database, "accepted")
    except CosmosHttpResponseError as error:
        return Answer(
            f"refused: {error.status_code} {str(error.message)[:200]}",
            "the key, or an index of policy.json, has to change before anybody has data",
        )
    return Answer("accepted", "policy.json can stay as it is")


def vector(source: random.Random) -> list[float]:
    """A vector as the product writes one, of five digits a number."""
    return [round(source.gauss(0, 0.04), 5) for _ in range(DIMENSIONS)]


def document(number: int, source: random.Random, words: str = "nothing") -> dict[str, Any]:
    """A memory as far as searches look at it."""
    return {
        "id": f"d{number}",
        "kind": "memory",
        **USER,
        "search_text": words,
        "embedding": vector(source),
    }


async def fill(
    container: ContainerProxy, documents: Sequence[Mapping[str, Any]], budget: Budget
) -> None:
    """Write them, a hundred a batch, waiting as long as the account asks."""
    slots = asyncio.Semaphore(AT_ONCE)

    async def write(part: Sequence[Mapping[str, Any]]) -> None:
        async with slots:
            while True:
                try:
                    done = await container.execute_item_batch(
                        [("upsert", (dict(item),)) for item in part], partition_key=key_of()
                    )
                except (CosmosHttpResponseError, CosmosBatchOperationError) as error:
                    if error.status_code != 429:
                        raise
                    await asyncio.sleep(1)
                else:
                    budget.spent += float(done.get_response_headers().get(CHARGE, 0))
                    return

    await asyncio.gather(
        *(write(documents[start : start + A_BATCH]) for start in range(0, len(documents), A_BATCH))
    )


async def rows(
    container: ContainerProxy, statement: str, budget: Budget, **how: Any
) -> tuple[list[Any], float]:
    """What a query answers, and what it cost."""
    charges: list[float] = []
    asked = [{"name": f"@{name}", "value": USER[name]} for name in ("app_id", "user_id")] + how.pop(
        "parameters", []
    )
    items = container.query_items(
        statement,
        parameters=asked,
        response_hook=lambda headers, _: charges.append(float(headers.get(CHARGE, 0))),
        **how,
    )
    answer = [row async for row in items]
    budget.spent += sum(charges)
    return answer, sum(charges)


WHERE = "FROM c WHERE c.app_id = @app_id AND c.user_id = @user_id"


async def ask_ranking(database: DatabaseProxy, budget: Budget) -> Answer:
    """Question 3: five of 200 documents hold a term more often; are they the first five,
    in this order?
    """
    container, source = await container_of(database, "ranking"), random.Random(3)
    often = dict(zip(source.sample(range(ALL), len(HOLDERS)), HOLDERS, strict=True))
    texts = [
        " ".join([TERM] * often.get(number, 1) + ["stone"] * (WORDS - often.get(number, 1)))
        for number in range(ALL)
    ]
    await fill(
        container, [document(number, source, text) for number, text in enumerate(texts)], budget
    )
    wanted = [f"d{number}" for number in often]
    near = [{"name": "@near", "value": vector(source)}]
    ranked = (
        f"{WHERE} AND FullTextContainsAny(c.search_text, '{TERM}') "
        f"ORDER BY RANK FullTextScore(c.search_text, '{TERM}')"
    )
    options = {"partition_key": key_of(), "full_text_score_scope": "Local"}
    ways: dict[str, dict[str, Any]] = {
        "with the key": options,
        "without": {},
        "with the key and a vector's similarity": {**options, "parameters": near},
    }
    seen = {}
    for name, how in ways.items():
        similarity = (
            ", VectorDistance(c.embedding, @near) AS similarity" if "parameters" in how else ""
        )
        try:
            answer, _ = await rows(
                container, f"SELECT TOP 5 c.id{similarity} {ranked}", budget, **how
            )
        except CosmosHttpResponseError as error:
            seen[name] = f"refused ({error.status_code})"
        else:
            seen[name] = "ranked" if [row["id"] for row in answer] == wanted else "NOT ranked"
    parts = "; ".join(f"{name}: {how}" for name, how in seen.items())
    if set(seen.values()) == {"ranked"}:
        return Answer(parts, "the store's word search is right as it asks")
    if seen["without"] == "ranked":
        return Answer(
            parts,
            "the store has to ask without a key, both ids in WHERE, wherever the other way is "
            "not ranked",
        )
    return Answer(
        parts,
        "word search on this account is no search: keep users in memory (HOLD_USERS), and "
        "tell Microsoft",
    )


async def ask_vectors(database: DatabaseProxy, sizes: Sequence[int], budget: Budget) -> Answer:
    """Question 4: the mean cost of a search for ten, at growing sizes. It stops where the budget
    would not do.
    """
    costs: dict[str, list[str]] = {}
    for name, sharded in (("sharded", True), ("unsharded", False)):
        try:
            container = await container_of(database, name, sharded=sharded)
        except NotAsked as reason:
            costs[name] = [str(reason)]
            continue
        except CosmosHttpResponseError as error:
            costs[name] = [f"refused: {error.status_code}"]
            continue
        costs[name] = await _growing(container, sizes, budget)
    return Answer(
        "; ".join(f"{name}: {', '.join(parts)}" for name, parts in costs.items()),
        "put these into bench.scale: sharded should grow less; where both are alike, the index of "
        "all is good enough",
    )


async def _growing(container: ContainerProxy, sizes: Sequence[int], budget: Budget) -> list[str]:
    parts, there, a_document, a_second = [], 0, 60.0, 50.0
    for size in sizes:
        more = size - there
        if not budget.allows(more * a_document, more / a_second):
            parts.append(
                f"{size}: not asked, {more * a_document:,.0f} RU or {more / a_second / 60:.0f} "
                "minutes more would pass the budget"
            )
            break
        before, began, source = budget.spent, budget.clock(), random.Random(size)
        await fill(container, [document(number, source) for number in range(there, size)], budget)
        a_document = (budget.spent - before) / more
        a_second = more / max(budget.clock() - began, 0.001)
        there = size
        spent = []
        for _ in range(QUERIES):
            near = [{"name": "@near", "value": vector(source)}]
            statement = f"SELECT TOP 10 c.id {WHERE} ORDER BY VectorDistance(c.embedding, @near)"
            spent.append(
                (await rows(container, statement, budget, partition_key=key_of(), parameters=near))[
                    1
                ]
            )
        parts.append(f"{size}: {sum(spent) / QUERIES:.1f} RU (a write {a_document:.1f})")
    return parts


async def ask_consistency(database: DatabaseProxy, budget: Budget) -> Answer:
    """Question 5: a point read and a query, as the account has it and relaxed by request."""
    container = await container_of(database, "consistency")
    await fill(container, [document(number, random.Random(number)) for number in range(20)], budget)
    parts, ratios = [], []
    for name in ("read", "query"):
        costs = []
        for headers in ({}, RELAXED):
            how = {"initial_headers": headers} if headers else {}
            if name == "read":
                item = await container.read_item("d1", partition_key=key_of(), **how)
                costs.append(float(item.get_response_headers().get(CHARGE, 0)))
            else:
                costs.append(
                    (
                        await rows(
                            container, f"SELECT c.id {WHERE}", budget, partition_key=key_of(), **how
                        )
                    )[1]
                )
        parts.append(f"{name}: {costs[0]:.2f} as it is, {costs[1]:.2f} relaxed")
        ratios.append(costs[0] / costs[1] if costs[1] else 1.0)
    follows = (
        "Strong reads cost twice: bench.scale counts them so"
        if min(ratios) > 1.5
        else "relaxing saves nothing on this account"
    )
    return Answer("; ".join(parts), follows)

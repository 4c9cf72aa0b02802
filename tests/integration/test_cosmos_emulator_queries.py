"""Queries in the emulator, asked by the real SDK: what it selects, in which order,
in which pages, over which ranges.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy, DatabaseProxy
from azure.cosmos.exceptions import CosmosHttpResponseError

from tests.cosmos_client import ANA, BEN, client_of, document, ids, memories_in
from tests.cosmos_server import CosmosServer, running

RANGES = 3
MINE = "c.app_id = 'shop' AND c.user_id = 'ana'"


@pytest.fixture(scope="module")
def server() -> Iterator[CosmosServer]:
    with running(ranges=RANGES) as started:
        yield started


@pytest.fixture
async def database(server: CosmosServer) -> AsyncIterator[DatabaseProxy]:
    async with client_of(server.endpoint) as client:
        yield await client.create_database(uuid4().hex)


@pytest.fixture
async def memories(database: DatabaseProxy) -> ContainerProxy:
    return await memories_in(database)


async def fill(memories: ContainerProxy, *documents: dict[str, Any]) -> None:
    owners = {(document["app_id"], document["user_id"]) for document in documents}
    for owner in owners:
        mine = [
            ("create", (document,))
            for document in documents
            if (document["app_id"], document["user_id"]) == owner
        ]
        await memories.execute_item_batch(mine, list(owner))


async def rows(
    memories: ContainerProxy, query: str, owner: list[str] | None = ANA, **options: Any
) -> list[Any]:
    parameters = [
        {"name": name, "value": value} for name, value in options.pop("given", {}).items()
    ]
    key = {} if owner is None else {"partition_key": owner}
    return [
        row async for row in memories.query_items(query, parameters=parameters, **key, **options)
    ]


async def refused(memories: ContainerProxy, query: str, **options: Any) -> str:
    with pytest.raises(CosmosHttpResponseError) as caught:
        await rows(memories, query, **options)
    assert caught.value.status_code == 400
    return str(caught.value.message)


async def test_what_is_missing_is_neither_null_nor_unequal(memories: ContainerProxy) -> None:
    await fill(memories, document("null", at=None), document("set", at="now"), document("missing"))
    for condition, expected in {
        "IS_DEFINED(c.at)": ["null", "set"],
        "IS_NULL(c.at)": ["null"],
        "c.at = null": ["null"],
        "c.at != 'now'": ["null"],
        "NOT (c.at = 'now')": ["null"],
        "c.at > 'a'": ["set"],
        "NOT IS_DEFINED(c.at) OR c.at = null": ["null", "missing"],
    }.items():
        assert await rows(memories, f"SELECT VALUE c.id FROM c WHERE {condition}") == expected, (
            condition
        )


async def test_a_query_with_a_full_key_sees_that_user_only(memories: ContainerProxy) -> None:
    await fill(memories, document("m1"), document("m2"), document("b1", BEN))
    assert await rows(memories, "SELECT VALUE c.id FROM c") == ["m1", "m2"]
    assert await rows(memories, "SELECT VALUE c.id FROM c WHERE c.user_id = 'ben'") == []


async def test_a_query_with_a_prefix_sees_all_users_of_the_app(memories: ContainerProxy) -> None:
    others = [document(f"o{number}", ["other", f"u{number}"]) for number in range(5)]
    await fill(
        memories, *others, *(document(f"m{number}", ["shop", f"u{number}"]) for number in range(9))
    )
    assert sorted(await rows(memories, "SELECT VALUE c.id FROM c", ["shop"])) == [
        f"m{number}" for number in range(9)
    ]


async def test_without_a_key_everything_of_every_range_is_seen_once(
    memories: ContainerProxy,
) -> None:
    await fill(
        memories, *(document(f"m{number:02}", [f"app{number}", "ana"]) for number in range(40))
    )
    expected = [f"m{number:02}" for number in range(40)]
    assert (
        sorted(await rows(memories, "SELECT VALUE c.id FROM c", None, max_item_count=7)) == expected
    )
    ranges = [feed_range async for feed_range in memories.read_feed_ranges()]
    ids_by_range = [
        await rows(memories, "SELECT VALUE c.id FROM c", None, feed_range=feed_range)
        for feed_range in ranges
    ]
    assert len(ranges) == RANGES
    assert all(ids_by_range)
    assert sorted(id_ for some in ids_by_range for id_ in some) == expected


async def test_ordered_top_and_aggregates_span_ranges(memories: ContainerProxy) -> None:
    order = list(range(30))
    random.Random(1).shuffle(order)
    await fill(
        memories,
        *(document(f"m{n}", [f"app{n % 7}", "ana"], sequence=n, due_at=n // 10) for n in order),
    )
    everything: dict[str, Any] = {"owner": None}
    assert await rows(
        memories, "SELECT TOP 3 VALUE c.sequence FROM c ORDER BY c.sequence DESC", **everything
    ) == [29, 28, 27]
    page = "SELECT c.sequence FROM c ORDER BY c.sequence OFFSET 10 LIMIT 4"
    assert [row["sequence"] for row in await rows(memories, page, **everything)] == [10, 11, 12, 13]
    assert await rows(
        memories, "SELECT VALUE COUNT(1) FROM c WHERE c.sequence < 12", **everything
    ) == [12]
    assert await rows(memories, "SELECT VALUE SUM(c.sequence) FROM c", **everything) == [435]
    assert await rows(memories, "SELECT VALUE MAX(c.sequence) FROM c", **everything) == [29]
    assert sorted(await rows(memories, "SELECT DISTINCT VALUE c.due_at FROM c", **everything)) == [
        0,
        1,
        2,
    ]


async def test_a_page_goes_on_where_the_last_one_ended_whatever_was_written_between(
    memories: ContainerProxy,
) -> None:
    await fill(memories, *(document(f"m{number}") for number in range(6)))
    pages = memories.query_items(
        "SELECT VALUE c.id FROM c", partition_key=ANA, max_item_count=4
    ).by_page()
    first = [row async for row in await anext(pages)]
    await memories.delete_item("m1", ANA)
    await memories.create_item(document("late"))
    later = memories.query_items(
        "SELECT VALUE c.id FROM c", partition_key=ANA, max_item_count=4
    ).by_page(pages.continuation_token)
    assert first == ["m0", "m1", "m2", "m3"]
    assert [row async for page in later async for row in page] == ["m4", "m5", "late"]


async def test_an_order_needs_an_index(memories: ContainerProxy) -> None:
    await fill(
        memories, *(document(f"m{number}", sequence=number // 2, title="t") for number in range(4))
    )
    assert await rows(memories, "SELECT VALUE c.id FROM c ORDER BY c.sequence DESC, c.id DESC") == [
        "m3",
        "m2",
        "m1",
        "m0",
    ]
    assert await rows(memories, "SELECT VALUE c.id FROM c ORDER BY c.sequence ASC, c.id ASC") == [
        "m0",
        "m1",
        "m2",
        "m3",
    ]
    assert "corresponding index" in await refused(memories, "SELECT * FROM c ORDER BY c.title")
    assert "composite index" in await refused(
        memories, "SELECT * FROM c ORDER BY c.sequence DESC, c.id ASC"
    )
    assert "document path" in await refused(memories, "SELECT * FROM c ORDER BY c.sequence + 1")


async def test_lists_are_searched_in_place_or_joined(memories: ContainerProxy) -> None:
    await fill(
        memories, document("m1", tags=["tea", "cup"]), document("m2", tags=["tea"]), document("m3")
    )
    assert await rows(memories, "SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(c.tags, 'cup')") == [
        "m1"
    ]
    assert await rows(
        memories, "SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS_ANY(c.tags, 'pot', 'tea')"
    ) == ["m1", "m2"]
    assert await rows(
        memories,
        "SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.tags "
        "WHERE STARTSWITH(t, 'c'))",
    ) == ["m1"]
    assert await rows(
        memories, "SELECT c.id, t AS tag FROM c JOIN t IN c.tags WHERE t != 'cup'"
    ) == [{"id": "m1", "tag": "tea"}, {"id": "m2", "tag": "tea"}]
    assert await rows(
        memories, "SELECT VALUE c.id FROM c WHERE ARRAY_LENGTH(c.tags) = @n", given={"@n": 2}
    ) == ["m1"]


async def test_neighbours_come_nearest_first_with_their_similarity(
    memories: ContainerProxy,
) -> None:
    rng = np.random.default_rng(3)
    vectors, asked = rng.normal(size=(40, 4)), rng.normal(size=4)
    kinds = ["memory" if number % 3 else "version" for number in range(40)]
    await fill(
        memories,
        document("none"),
        *(document(f"m{n}", kind=kinds[n], embedding=vectors[n].tolist()) for n in range(40)),
    )
    cosines = vectors @ asked / np.linalg.norm(vectors, axis=1) / np.linalg.norm(asked)
    expected = [n for n in np.argsort(-cosines) if kinds[n] == "memory"][:5]
    query = (
        f"SELECT TOP 5 c.id, VectorDistance(c.embedding, @v) AS similarity FROM c WHERE {MINE} "
        "AND c.kind = 'memory' ORDER BY VectorDistance(c.embedding, @v)"
    )
    results = await rows(memories, query, given={"@v": asked.tolist()})
    assert [row["id"] for row in results] == [f"m{n}" for n in expected]
    assert [row["similarity"] for row in results] == pytest.approx(
        cosines[expected].tolist(), abs=1e-6
    )
    everywhere = await rows(memories, query, None, given={"@v": asked.tolist()})
    assert [row["id"] for row in everywhere] == [f"m{n}" for n in expected]


async def test_neighbours_follow_writes(memories: ContainerProxy) -> None:
    query = "SELECT TOP 1 VALUE c.id FROM c ORDER BY VectorDistance(c.embedding, [1, 0, 0, 0])"
    await fill(
        memories,
        document("far", embedding=[0, 1, 0, 0]),
        document("near", embedding=[1, 0.1, 0, 0]),
    )
    assert await rows(memories, query) == ["near"]
    await memories.upsert_item(document("far", embedding=[1, 0, 0, 0]))
    assert await rows(memories, query) == ["far"]
    await memories.delete_item("far", ANA)
    assert await rows(memories, query) == ["near"]
    await memories.upsert_item(document("near"))
    assert await rows(memories, query) == []


async def test_a_query_vector_of_other_dimensions_is_refused(memories: ContainerProxy) -> None:
    assert "2 dimensions" in await refused(
        memories, "SELECT TOP 1 * FROM c ORDER BY VectorDistance(c.embedding, [1, 0])"
    )


LEXICAL = "SELECT TOP 10 VALUE c.id FROM c WHERE {} ORDER BY RANK FullTextScore(c.search_text, {})"


async def test_the_best_words_come_first_and_rare_ones_count_more(memories: ContainerProxy) -> None:
    texts = [
        "tea tea tea",
        "tea in the morning",
        "jasmine tea",
        "coffee at night",
        "nothing here at all",
    ]
    await fill(
        memories,
        *(document(f"m{n}", search_text=text) for n, text in enumerate(texts)),
        document("mute"),
    )
    ranked_ids = await rows(
        memories, LEXICAL.format(MINE, "'tea', 'jasmine'"), full_text_score_scope="Local"
    )
    assert ranked_ids[:3] == ["m2", "m0", "m1"]
    assert sorted(ranked_ids[3:]) == ["m3", "m4", "mute"]  # an order is no filter
    only = f"{MINE} AND FullTextContainsAny(c.search_text, 'tea', 'jasmine')"
    assert await rows(
        memories, LEXICAL.format(only, "@a, @b"), given={"@a": "tea", "@b": "jasmine"}
    ) == ["m2", "m0", "m1"]


async def test_another_users_words_do_not_change_ones_order(memories: ContainerProxy) -> None:
    await fill(
        memories,
        document("m1", search_text="tea cup"),
        document("m2", search_text="jasmine pot pot pot"),
        document("m3", search_text="tea"),
    )
    query = LEXICAL.format(MINE, "'tea', 'jasmine'")
    before = await rows(memories, query, full_text_score_scope="Local")
    await fill(memories, *(document(f"b{n}", BEN, search_text="jasmine " * 20) for n in range(30)))
    assert await rows(memories, query, full_text_score_scope="Local") == before


async def test_thirty_terms_are_scored_and_one_more_is_refused(memories: ContainerProxy) -> None:
    await fill(memories, document("m1", search_text="t29"))
    terms = [f"'t{n}'" for n in range(31)]
    assert await rows(memories, LEXICAL.format(MINE, ", ".join(terms[:30]))) == ["m1"]
    assert "30 terms" in await refused(memories, LEXICAL.format(MINE, ", ".join(terms)))


async def test_a_full_text_score_can_only_order(memories: ContainerProxy) -> None:
    assert "ORDER BY RANK" in await refused(
        memories, "SELECT FullTextScore(c.search_text, 'tea') AS s FROM c"
    )
    assert "fullTextPolicy" in await refused(
        memories, "SELECT TOP 1 * FROM c ORDER BY RANK FullTextScore(c.title, 'tea')"
    )


async def test_two_ranks_are_fused(memories: ContainerProxy) -> None:
    await fill(
        memories,
        document("both", search_text="tea", embedding=[1, 0.1, 0, 0]),
        document("words", search_text="tea", embedding=[0, 1, 0, 0]),
        document("vector", search_text="rain", embedding=[1, 0, 0, 0]),
        document("neither", search_text="rain", embedding=[0, 0, 1, 0]),
    )
    rank = "RRF(VectorDistance(c.embedding, @v), FullTextScore(c.search_text, 'tea'))"
    query = f"SELECT TOP 3 VALUE c.id FROM c WHERE {MINE} ORDER BY RANK {rank}"
    ranked_ids = await rows(
        memories, query, given={"@v": [1, 0, 0, 0]}, full_text_score_scope="Local"
    )
    assert ranked_ids[0] == "both"
    assert set(ranked_ids) == {"both", "words", "vector"}


async def test_changes_come_in_the_order_of_commits_and_go_on_from_a_token(
    memories: ContainerProxy,
) -> None:
    await fill(memories, document("m1"), document("m2"))
    await memories.upsert_item(document("m1", changed=True))
    feed = memories.query_items_change_feed(start_time="Beginning", partition_key=ANA)
    assert await ids(feed) == ["m2", "m1"]
    token = memories.client_connection.last_response_headers["etag"]
    await memories.create_item(document("m3"))
    assert await ids(memories.query_items_change_feed(continuation=token, partition_key=ANA)) == [
        "m3"
    ]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT",
        "SELECT * FROM c WHERE",
        "SELECT * FROM c GROUP BY c.kind",
        "SELECT x.id FROM c",
        "SELECT NOPE(c.id) FROM c",
    ],
)
async def test_what_is_not_understood_is_refused(memories: ContainerProxy, query: str) -> None:
    await refused(memories, query)


async def test_a_plain_partition_key_works_too(database: DatabaseProxy) -> None:
    tenants = await database.create_container("tenants", PartitionKey("/app_id"))
    await tenants.upsert_item({"id": "key", "app_id": "shop"})
    await tenants.upsert_item({"id": "key", "app_id": "bank"})
    assert (await tenants.read_item("key", "bank"))["app_id"] == "bank"
    assert [
        row["app_id"] async for row in tenants.query_items("SELECT * FROM c", partition_key="shop")
    ] == ["shop"]

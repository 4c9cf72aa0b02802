"""Lists and searches by metadata: the store's own query says the same as the filter says of one
memory, on every store.
"""

from __future__ import annotations

from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.metadata_filter import matches, read_conditions
from memory_core.domain.requests.memories import ListInput, RetrieveInput, SaveInput, UpdateInput
from tests.builders import ALICE
from tests.world import BOB, WordsEmbedder, World

METADATAS: list[dict[str, Any]] = [
    {},
    {"n": 1},
    {"n": 1.5},
    {"n": "1"},
    {"n": True},
    {"n": False},
    {"n": None},
    {"n": [1]},
    {"n": {"m": 1}},
    {"n": {"m": "grün"}},
    {"n": 0, "team": "red"},
    {"n": -3, "team": "blue"},
    {"team": "o'red\"; --"},
    {"n.m": 1},
]
FILTERS: list[dict[str, Any]] = [
    {"n": 1},
    {"n": 1.5},
    {"n": "1"},
    {"n": True},
    {"n": False},
    {"n": None},
    {"n": {"ne": 1}},
    {"n": {"ne": None}},
    {"n": {"ne": True}},
    {"n.m": 1},
    {"n.m": "grün"},
    {"n\\.m": 1},
    {"n": {"lt": 2.0**53}},
    {"n": {"gte": 0}},
    {"n": {"gt": 0, "lt": 1.5}},
    {"n": {"lte": "2"}},
    {"n": {"in": [1, "1", None]}},
    {"team": "o'red\"; --"},
    {"team": {"ne": "red"}},
    {"n": {"lt": 1}, "team": {"in": ["red", "blue"]}},
    {"team": {"gte": "blue", "lt": "red"}},
]


@pytest.fixture
async def core(world: World) -> MemoryCore:
    made = await world.core(embedder=WordsEmbedder())
    items = [
        SaveInput(content=f"shelf number {place}", metadata=metadata, category=str(place))
        for place, metadata in enumerate(METADATAS)
    ]
    await made.bulk(ALICE, items)
    await made.save(BOB, SaveInput(content="shelf of Bob", metadata={"n": 1, "team": "red"}))
    return made


async def listed(core: MemoryCore, wanted: dict[str, Any], **fields: Any) -> list[int]:
    memories, cursor = list[int](), None
    while True:
        page = await core.list(ALICE, ListInput(metadata=wanted, cursor=cursor, limit=4, **fields))
        memories += [int(memory.category or "-1") for memory in page.memories]
        if (cursor := page.next_cursor) is None:
            return memories


async def test_lists_and_searches_show_what_meets_the_filter(core: MemoryCore) -> None:
    for wanted in FILTERS:
        expected = [
            place
            for place, metadata in enumerate(METADATAS)
            if matches(read_conditions(wanted), metadata)
        ]
        assert await listed(core, wanted) == expected[::-1], wanted
        assert await listed(core, wanted, order="asc") == expected, wanted
        for _ in range(2):  # the second may be answered from memory
            answer = await core.retrieve(
                ALICE,
                RetrieveInput(
                    query="shelf number",
                    metadata=wanted,
                    limit=50,
                    answer_threshold=0,
                    similarity_threshold=0,
                ),
            )
            assert (
                sorted(int(hit.serialized.memory.category or "-1") for hit in answer.results)
                == expected
            ), wanted


async def test_a_search_of_a_session_and_one_at_a_moment_keep_to_it(
    core: MemoryCore, world: World
) -> None:
    for place in range(3):
        await core.save(
            ALICE,
            SaveInput(
                content=f"turn about shelf {place}", session_id="s1", metadata={"place": place}
            ),
        )
    for at in (None, world.clock.now()):
        asked = RetrieveInput(
            query="turn about shelf", session_id="s1", metadata={"place": {"gte": 1}}, at=at
        )
        answer = await core.retrieve(ALICE, asked)
        assert {hit.serialized.memory.metadata["place"] for hit in answer.results} == {1, 2}


async def test_it_follows_an_edit_and_looks_back(core: MemoryCore, world: World) -> None:
    saved = await core.save(
        ALICE,
        SaveInput(type="semantic", content="the keys hang in the hall", metadata={"room": "hall"}),
    )
    world.clock.forward(60)
    before = world.clock.now()
    world.clock.forward(60)
    await core.update(ALICE, saved.memory.id, UpdateInput(metadata={"room": "kitchen"}), "*")
    ids = [
        [
            memory.id
            for memory in (await core.list(ALICE, ListInput(metadata={"room": room}))).memories
        ]
        for room in ("hall", "kitchen")
    ]
    assert ids == [[], [saved.memory.id]]
    then = await core.list(
        ALICE, ListInput(metadata={"room": "hall"}, known_at=before, order="asc")
    )
    assert [memory.id for memory in then.memories] == [saved.memory.id]


async def test_a_list_in_order_of_saving_goes_on_by_its_cursor(core: MemoryCore) -> None:
    page = await core.list(ALICE, ListInput(order="asc", limit=2))
    assert [memory.category for memory in page.memories] == ["0", "1"]
    more = await core.list(ALICE, ListInput(order="asc", limit=2, cursor=page.next_cursor))
    assert [memory.category for memory in more.memories] == ["2", "3"]

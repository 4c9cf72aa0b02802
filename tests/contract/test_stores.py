"""What an agent framework's store needs: kept apart from searches, long values, all or nothing,
by many names at once, tags.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.errors import Invalid, KeyReused, MemoryCoreError, TooLarge
from memory_core.domain.memory import Memory, MemoryType
from memory_core.domain.requests.maintenance import ConsolidateInput, ReembedInput
from memory_core.domain.requests.memories import (
    ContextInput,
    ListInput,
    NamedInput,
    RetrieveInput,
    SaveInput,
    TagsInput,
    UpdateInput,
)
from memory_core.domain.results import Call, Deleted, Saved
from tests.builders import ALICE
from tests.tasks import Hand
from tests.world import BOB, WordsEmbedder, World

WORDS = "the copper kettle stands in the pantry"


@pytest.fixture
async def core(world: World) -> MemoryCore:
    return await world.core(embedder=WordsEmbedder())


async def put(core: MemoryCore, key: str, value: Any, **fields: Any) -> Memory:
    return (
        await core.save(
            ALICE, SaveInput(type=MemoryType.PROCEDURAL, key=key, value=value, **fields)
        )
    ).memory


async def found(core: MemoryCore, query: str = WORDS, **fields: Any) -> list[str]:
    asked = RetrieveInput(query=query, answer_threshold=0, similarity_threshold=0, **fields)
    return [hit.serialized.memory.content for hit in (await core.retrieve(ALICE, asked)).results]


async def shown(core: MemoryCore, **fields: Any) -> list[Memory]:
    return [*(await core.list(ALICE, ListInput(limit=100, **fields))).memories]


# Kept, listed, never recalled.


@pytest.mark.parametrize("kind", ["episodic", "semantic", "procedural"])
async def test_what_is_not_searchable_is_listed_and_found_by_nothing(
    core: MemoryCore, world: World, kind: str
) -> None:
    hidden = SaveInput(
        type=MemoryType(kind),
        content=WORDS,
        key="k" if kind == "procedural" else None,
        session_id="s1",
        searchable=False,
    )
    saved = (await core.save(ALICE, hidden)).memory
    await core.save(ALICE, SaveInput(content="a copper pan", session_id="s1"))
    assert WORDS in {memory.content for memory in await shown(core)}
    assert (await core.get(ALICE, saved.id)).searchable is False
    for _ in range(3):
        assert await found(core) == ["a copper pan"]
        assert await found(core, session_id="s1") == ["a copper pan"]
    assert await found(core, "What do you know about me?") in ([], ["a copper pan"])
    context = await core.context(
        ALICE, ContextInput(query=WORDS, session_id="s1", answer_threshold=0)
    )
    assert "kettle" not in context.context
    assert (await core.get(ALICE, saved.id)).embedding is None


async def test_it_stays_so_when_it_is_edited_embedded_anew_and_settled(core: MemoryCore) -> None:
    saved = (
        await core.save(
            ALICE, SaveInput(type=MemoryType.SEMANTIC, content="a kettle", searchable=False)
        )
    ).memory
    await core.update(ALICE, saved.id, UpdateInput(content=WORDS), "*")
    await core.reembed(ALICE, ReembedInput())
    await core.consolidate(ALICE, ConsolidateInput())
    await Hand(core, "consolidation").work_all()
    assert (await core.get(ALICE, saved.id)).embedding is None
    assert await found(core) == []
    assert [memory.content for memory in await shown(core)] == [WORDS]


async def test_it_is_no_neighbour_of_what_is_saved_and_none_of_a_searchable_one(
    core: MemoryCore,
) -> None:
    for searchable in (False, True, False):
        outcome = (
            await core.save(
                ALICE, SaveInput(type=MemoryType.SEMANTIC, content=WORDS, searchable=searchable)
            )
        ).outcome
        assert outcome.value == "created"
    assert await found(core) == [WORDS]


async def test_a_slot_is_kept_whether_or_not_its_values_are_searchable(core: MemoryCore) -> None:
    for place, city in enumerate(("Oslo", "Lima", "Bonn")):
        item = SaveInput(
            type=MemoryType.SEMANTIC,
            content=f"lives in {city}",
            subject="Ana",
            attribute="city",
            searchable=place != 1,
            importance=0.5,
        )
        await core.save(ALICE, item)
    assert [memory.content for memory in await shown(core)] == ["lives in Bonn"]
    assert await found(core, "lives in") == ["lives in Bonn"]


async def test_a_key_becomes_searchable_with_its_next_value_and_back(core: MemoryCore) -> None:
    for searchable in (True, False, True):
        await put(
            core, "k", {"text": f"kettle {searchable}", "n": searchable}, searchable=searchable
        )
        assert len(await found(core, "kettle")) == searchable


# Values of up to 256 KiB.


async def test_a_long_value_comes_back_whole_and_is_found_by_its_beginning(
    core: MemoryCore,
) -> None:
    value = {"text": "copper kettle " + "x" * 200_000, "list": [1, 2.5, None, True]}
    saved = await put(core, "long", value)
    assert (await core.get(ALICE, saved.id)).value == value
    assert len((await core.get(ALICE, saved.id)).content.encode()) <= 32 * 1024
    assert [memory.key for memory in await shown(core)] == ["long"]
    for number in range(3):
        value["list"] = [number]
        await put(core, "long", value)
    assert (await core.procedure(ALICE, "long")).value == value
    assert len(await core.versions(ALICE, saved.id)) == 4
    await core.update(ALICE, saved.id, UpdateInput(value={"text": "y" * 250_000}), "*")
    assert (await core.procedure(ALICE, "long")).value == {"text": "y" * 250_000}


async def test_a_value_over_its_limit_is_refused(core: MemoryCore) -> None:
    for kind, size in (("procedural", 256 * 1024), ("semantic", 8 * 1024)):
        with pytest.raises(ValueError, match="bytes as JSON"):
            SaveInput(type=MemoryType(kind), content="x", key="k", value="x" * size)
    saved = (
        await core.save(ALICE, SaveInput(type=MemoryType.SEMANTIC, content="x", key="k", value=1))
    ).memory
    with pytest.raises(Invalid, match="too long"):
        await core.update(ALICE, saved.id, UpdateInput(value="x" * 9000), "*")


# All or nothing, and equal items.


async def test_all_are_saved_together_or_none_is(core: MemoryCore, world: World) -> None:
    items = [SaveInput(content=f"{WORDS} {number}") for number in range(40)]
    saved = await core.bulk(ALICE, items, Call(idempotency_key="all"), atomic=True)
    assert [result.outcome.value for result in saved if isinstance(result, Saved)] == [
        "created"
    ] * 40
    log = await world.log()
    assert len({event.id.rpartition("_")[0] for event in log}) == 1, "one commit"
    again = await core.bulk(ALICE, items, Call(idempotency_key="all"), atomic=True)
    assert [result.memory.id for result in again if isinstance(result, Saved)] == [
        result.memory.id for result in saved if isinstance(result, Saved)
    ]
    with pytest.raises(TooLarge):
        await core.bulk(BOB, [SaveInput(content=f"{number}") for number in range(60)], atomic=True)
    long = [
        SaveInput(type=MemoryType.PROCEDURAL, key=str(number), value="x" * 250_000)
        for number in range(8)
    ]
    with pytest.raises(TooLarge):
        await core.bulk(BOB, long, atomic=True)
    wrong = SaveInput(content="x", valid_until=world.clock.now())
    with pytest.raises(Invalid, match="validity") as refused:
        await core.bulk(BOB, [SaveInput(content="fine"), wrong], atomic=True)
    assert [error.field for error in refused.value.errors] == ["memories.1.valid_until"]
    assert (await core.list(BOB, ListInput())).memories == ()


async def test_equal_items_of_one_bulk_are_told_apart_and_known_again(
    core: MemoryCore, world: World
) -> None:
    items = [SaveInput(content="hi", session_id="s1")] * 3
    assert [
        result.outcome.value
        for result in await core.bulk(ALICE, items)
        if isinstance(result, Saved)
    ] == ["created"] * 3
    dated = [SaveInput(content="hi", event_timestamp=world.clock.now())] * 2
    assert [
        result.outcome.value for result in await core.bulk(BOB, dated) if isinstance(result, Saved)
    ] == ["created"] * 2
    assert [
        result.outcome.value for result in await core.bulk(BOB, dated) if isinstance(result, Saved)
    ] == ["reinforced"] * 2


# By many names at once.


async def test_many_are_read_in_the_order_of_asking(core: MemoryCore) -> None:
    first = (await core.save(ALICE, SaveInput(content="first"))).memory
    second = await put(core, "a/b", 2)
    gone = (await core.save(ALICE, SaveInput(content="gone"))).memory
    await core.delete(ALICE, gone.id)
    others = (await core.save(BOB, SaveInput(content="of Bob"))).memory
    fetched = await core.get_many(
        ALICE,
        NamedInput(ids=[second.id, others.id, first.id, gone.id, "mem_x.v1"], keys=["a/b", "none"]),
    )
    assert [memory.content for memory in fetched.memories] == ["a/b: 2", "first", "gone", "a/b: 2"]
    assert fetched.missing == (others.id, "mem_x.v1", "none")


async def test_many_are_deleted_and_each_is_told_of(core: MemoryCore) -> None:
    first = (await core.save(ALICE, SaveInput(content="first"))).memory
    await put(core, "key", 1)
    wanted, call = (
        NamedInput(ids=[first.id, "mem_none"], keys=["key", "none"]),
        Call(idempotency_key="delete"),
    )

    def outcomes(results: list[Deleted | MemoryCoreError]) -> list[str | int]:
        return [
            result.outcome if isinstance(result, Deleted) else result.status for result in results
        ]

    assert outcomes(await core.delete_many(ALICE, wanted, call)) == ["deleted", 404, "deleted", 404]
    assert outcomes(await core.delete_many(ALICE, wanted)) == [
        "already_deleted",
        404,
        "already_deleted",
        404,
    ]
    assert outcomes(await core.delete_many(ALICE, wanted, call)) == ["deleted", 404, "deleted", 404]
    other = (await core.save(ALICE, SaveInput(content="other"))).memory
    for reused in (
        NamedInput(ids=[first.id]),
        NamedInput(ids=["mem_none"]),
        NamedInput(keys=["none"]),
        NamedInput(ids=["mem_none", other.id, "mem_1", first.id]),
    ):
        with pytest.raises(KeyReused):
            await core.delete_many(ALICE, reused, call)
    alone = Call(idempotency_key="alone")
    await core.delete(ALICE, first.id, alone)
    with pytest.raises(KeyReused):
        await core.delete(ALICE, "mem_none", alone)
    assert (await core.get(ALICE, other.id)).status == "active"
    assert (await core.get_many(ALICE, NamedInput(keys=["key"]))).missing == ("key",)
    await put(core, "key", 2)
    assert [
        memory.value for memory in (await core.get_many(ALICE, NamedInput(keys=["key"]))).memories
    ] == [2]


TOO_MANY = {
    "ids": [f"m{number}" for number in range(60)],
    "keys": [f"k{number}" for number in range(41)],
}


@pytest.mark.parametrize("named", [{}, {"ids": [], "keys": []}, TOO_MANY])
def test_names_are_given_and_not_too_many(named: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="ids"):
        NamedInput(**named)


# Tags.


async def tags(core: MemoryCore, prefix: str = "", limit: int = 100) -> list[str]:
    read, cursor = list[str](), None
    while True:
        page = await core.tags(ALICE, TagsInput(prefix=prefix, cursor=cursor, limit=limit))
        assert len(page.tags) <= limit
        read += page.tags
        if (cursor := page.next_cursor) is None:
            return read


async def test_tags_are_listed_once_each_in_order_and_by_prefix(core: MemoryCore) -> None:
    spaces = [
        ["ns:a", "ns:a/b"],
        ["ns:a", "ns:a/c%"],
        ["ns:a_"],
        ["grün", "😀", "Z"],
        [],
        ["ns:a/b"],
    ]
    for place, given in enumerate(spaces):
        await core.save(ALICE, SaveInput(content=f"item {place}", tags=given))
    await core.save(BOB, SaveInput(content="of Bob", tags=["ns:bob"]))
    every = sorted({tag for given in spaces for tag in given})
    assert await tags(core) == await tags(core, limit=2) == every
    assert await tags(core, "ns:a/") == ["ns:a/b", "ns:a/c%"]
    assert await tags(core, "ns:a/c%") == ["ns:a/c%"]
    assert await tags(core, "ns:a_") == ["ns:a_"]
    assert await tags(core, "none") == []


async def test_tags_follow_what_is_edited_deleted_and_cleared(core: MemoryCore) -> None:
    saved = await put(core, "key", 1, tags=["one", "two"])
    await core.update(ALICE, saved.id, UpdateInput(tags=["two", "three"]), "*")
    assert await tags(core) == ["three", "two"]
    await core.delete(ALICE, saved.id)
    assert await tags(core) == []


async def test_a_cursor_of_tags_is_good_for_its_prefix_and_its_user(core: MemoryCore) -> None:
    await core.save(ALICE, SaveInput(content="x", tags=["a1", "a2", "a3", "ä" * 200, "ä" * 199]))
    cursor = (await core.tags(ALICE, TagsInput(limit=1))).next_cursor
    with pytest.raises(MemoryCoreError):
        await core.tags(ALICE, TagsInput(prefix="a", cursor=cursor))
    assert await tags(core, limit=1) == ["a1", "a2", "a3", "ä" * 199, "ä" * 200]


async def test_twenty_who_delete_the_same_item_at_once_delete_it_once(core: MemoryCore) -> None:
    saved = await put(core, "key", 1)
    results = await asyncio.gather(
        *(core.delete_many(ALICE, NamedInput(ids=[saved.id])) for _ in range(20))
    )
    assert (
        sum(isinstance(error, Deleted) and error.outcome == "deleted" for (error,) in results) == 1
    )

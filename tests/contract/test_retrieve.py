"""Finding through the library: what is found, when it was true, and what is not found."""

from __future__ import annotations

from datetime import timedelta

from memory_core.adapters.system import RandomIds
from memory_core.core import MemoryCore
from memory_core.domain.memory import OnConflict, Status
from memory_core.domain.requests.memories import (
    ClearInput,
    ListInput,
    RetrieveInput,
    StatusInput,
    UpdateInput,
)
from memory_core.domain.results import Call, Retrieved
from memory_core.ledger.changes import Change, Changes
from memory_core.ledger.commit import Ledger
from memory_core.ledger.read_set import ReadSet
from tests.builders import ALICE, NOW
from tests.world import WordsEmbedder, World, fact, find, rule, turn

OSLO = {"subject": "Ana", "attribute": "city"}


async def test_it_is_found_by_its_words_and_the_best_comes_first(words: MemoryCore) -> None:
    await words.bulk(
        ALICE,
        [
            turn("the red boat sank", None),
            turn("the red boat sank near the pier at night", None),
            turn("lunch", None),
        ],
    )
    assert await find(words, "red boat near the pier") == [
        "the red boat sank near the pier at night",
        "the red boat sank",
    ]


async def test_an_unrelated_query_finds_nothing(words: MemoryCore) -> None:
    await words.bulk(ALICE, [turn(f"the red boat number {n} sank", None) for n in range(50)])
    for query in ("chocolate pudding recipe", "who painted the ceiling?", "日本語", "🍕"):
        answer = await words.retrieve(ALICE, RetrieveInput(query=query))
        assert answer.results == ()
        assert answer.as_of_sequence == 50
        assert answer.degraded == ()


async def test_an_unknown_user_finds_nothing(words: MemoryCore) -> None:
    assert await words.retrieve(ALICE, RetrieveInput(query="anything")) == Retrieved((), 0)


async def test_each_filter_narrows(words: MemoryCore) -> None:
    await words.bulk(
        ALICE,
        [
            turn("boat one", "s1", agent_id="a1", category="trip", tags=["sea", "red"]),
            turn("boat two", "s2", agent_id="a2", category="work", tags=["sea"]),
            fact("boat three", category="trip"),
            rule("boat four", 4),
        ],
    )
    everything = {"boat one", "boat two", "boat three", "boat four: 4"}
    for fields, contents in (
        ({}, everything),
        ({"session_id": "s1"}, {"boat one"}),
        ({"session_id": "s3"}, set()),
        ({"agent_id": "a2"}, {"boat two"}),
        ({"types": ["semantic", "procedural"]}, {"boat three", "boat four: 4"}),
        ({"categories": ["trip"]}, {"boat one", "boat three"}),
        ({"tags": ["red"]}, {"boat one"}),
        ({"tags": ["red", "sea"]}, {"boat one", "boat two"}),
        ({"tags": ["sea"], "session_id": "s2"}, {"boat two"}),
    ):
        assert set(await find(words, "boat", **fields)) == contents, fields


async def test_a_session_s_results_come_from_the_short_term_too_and_say_so(
    words: MemoryCore,
) -> None:
    await words.save(ALICE, turn("red boat", "s1"))
    await words.save(ALICE, turn("red boat", "s2"))
    (hit,) = (await words.retrieve(ALICE, RetrieveInput(query="red boat", session_id="s1"))).results
    assert (hit.tier, hit.memory.session_id) == ("short", "s1")
    assert set(hit.matched_by) == {"vector", "lexical", "short"}
    both = (await words.retrieve(ALICE, RetrieveInput(query="red boat"))).results
    assert [hit.tier for hit in both] == ["long", "long"]


async def test_the_short_term_finds_nothing_by_words_of_a_deleted_turn(words: MemoryCore) -> None:
    await words.bulk(ALICE, [turn(f"boat {number}", "s1") for number in range(60)])
    secret = (await words.save(ALICE, turn("is the code swordfish?", "s1"))).memory
    await words.save(ALICE, turn("yes", "s1"))

    async def found() -> list[str]:
        return await find(words, "boat swordfish", session_id="s1", similarity_threshold=0.1)

    assert "yes" in await found()
    await words.delete(ALICE, secret.id)
    assert "yes" not in await found()


async def test_at_finds_the_truth_of_that_time_and_only_that(
    words: MemoryCore, world: World
) -> None:
    await words.save(
        ALICE, fact("Ana lives in Oslo", event_timestamp=NOW - timedelta(days=30), **OSLO)
    )
    await words.save(
        ALICE, fact("Ana lives in Bergen", event_timestamp=NOW - timedelta(days=10), **OSLO)
    )
    assert await find(words, "where Ana lives") == ["Ana lives in Bergen"]
    assert await find(words, "where Ana lives", at=NOW - timedelta(days=20)) == [
        "Ana lives in Oslo"
    ]
    assert await find(words, "where Ana lives", at=NOW - timedelta(days=5)) == [
        "Ana lives in Bergen"
    ]
    assert await find(words, "where Ana lives", at=NOW - timedelta(days=40)) == []


async def test_at_finds_an_old_version_under_its_memory_s_own_id(
    words: MemoryCore, world: World
) -> None:
    memory = (await words.save(ALICE, fact("the gate code is red"))).memory
    world.clock.forward(3600)
    new = await words.update(
        ALICE, memory.id, UpdateInput(content="the gate code is blue"), memory.etag
    )
    before = (
        await words.retrieve(ALICE, RetrieveInput(query="gate code", at=NOW + timedelta(minutes=5)))
    ).results
    assert [(hit.memory.id, hit.memory.content) for hit in before] == [
        (memory.id, "the gate code is red")
    ]
    world.clock.forward(3600)
    assert await find(words, "gate code") == [new.content]
    assert await find(words, "gate code", at=world.clock.now()) == [new.content]


async def test_at_finds_what_was_merged_away_but_never_what_was_deleted_or_cleared(
    words: MemoryCore, world: World
) -> None:
    await words.save(ALICE, fact("Ana plays the cello", **OSLO))
    deleted = (await words.save(ALICE, turn("the cello broke", None))).memory
    await words.save(ALICE, turn("a cello concert", "s9"))
    world.clock.forward(3600)
    await words.save(ALICE, fact("Ana plays the viola", on_conflict=OnConflict.MERGE, **OSLO))
    await words.delete(ALICE, deleted.id)
    await words.clear(ALICE, ClearInput(session_id="s9"))
    at = NOW + timedelta(minutes=5)
    assert "Ana plays the cello" in await find(words, "cello", at=at)
    assert "the cello broke" not in await find(words, "cello", at=at)
    assert "a cello concert" not in await find(words, "cello", at=at)


async def test_at_finds_no_old_version_of_what_was_deleted(words: MemoryCore, world: World) -> None:
    memory = (await words.save(ALICE, fact("the gate code is red"))).memory
    world.clock.forward(3600)
    await words.update(ALICE, memory.id, UpdateInput(content="the gate code is blue"), memory.etag)
    await words.delete(ALICE, memory.id)
    at = NOW + timedelta(minutes=5)
    assert await find(words, "gate code", at=at) == []
    assert (await words.list(ALICE, ListInput(at=at))).memories == ()
    await words.set_status(ALICE, memory.id, StatusInput(status="active"))
    assert await find(words, "gate code", at=at) == ["the gate code is red"]


async def test_what_is_no_longer_valid_is_not_found_and_what_is_to_come_is(
    words: MemoryCore,
) -> None:
    await words.save(
        ALICE,
        fact(
            "Ana has a red ticket",
            event_timestamp=NOW - timedelta(days=9),
            valid_until=NOW - timedelta(days=1),
        ),
    )
    await words.save(
        ALICE, turn("Ana has a red concert", None, event_timestamp=NOW + timedelta(days=30))
    )
    answer = await words.retrieve(ALICE, RetrieveInput(query="Ana has a red"))
    assert [hit.memory.content for hit in answer.results] == ["Ana has a red concert"]
    assert all(
        0 <= hit.relevance_score <= 1 and hit.composite_score <= 1.2 for hit in answer.results
    )


async def test_deleted_and_superseded_ones_are_not_found(words: MemoryCore) -> None:
    first = (await words.save(ALICE, turn("the red boat", None))).memory
    await words.delete(ALICE, first.id)
    assert await find(words, "red boat") == []
    await words.set_status(ALICE, first.id, StatusInput(status="active"))
    assert await find(words, "red boat") == ["the red boat"]


async def test_decayed_ones_are_found_unless_a_query_leaves_them_out(
    world: World, embedder: WordsEmbedder
) -> None:
    core = await world.core(embedder=embedder)
    await core.save(ALICE, turn("the red boat", None))
    store = world.store(embedder)
    await store.open()
    # the hourly run that writes this status is a part of its own; its commit is one as any other
    try:
        (memory,) = (await core.list(ALICE, ListInput())).memories

        def decide(seen: ReadSet) -> Changes[None]:
            before = seen.memory(memory.id)
            assert before is not None
            after = before.model_copy(
                update={"status": Status.DECAYED, "status_reason": "importance_decay"}
            )
            return Changes(None, (Change("decayed", after, before),))

        await Ledger(store, world.clock, RandomIds()).commit(
            ALICE, decide, ids=[memory.id], call=Call()
        )
    finally:
        await store.close()
    assert await find(core, "red boat") == ["the red boat"]
    assert await find(core, "red boat", include_decayed=False) == []

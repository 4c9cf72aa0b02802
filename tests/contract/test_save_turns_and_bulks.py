"""Saving turns of a session and many memories at once: order, neighbours, commits of any size."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.errors import Invalid
from memory_core.domain.memory import Foresight, Outcome, Status
from memory_core.domain.requests.memories import RetrieveInput, SaveInput, StatusInput
from memory_core.domain.results import Saved
from memory_core.evolution.changeset import ChangeSet
from memory_core.formation import save_plan
from tests.builders import ALICE, NOW
from tests.world import BOB, Meanwhile, WordsEmbedder, World, fact, listed, rule, turn

OSLO = {"subject": "Ana", "attribute": "city"}


def saved(result: object) -> Saved:
    assert isinstance(result, Saved), result
    return result


async def test_an_episode_told_twice_is_one_memory(core: MemoryCore, world: World) -> None:
    first = await core.save(ALICE, turn("we met at the pier", event_timestamp=NOW, actor="Ana"))
    world.clock.forward(5)
    again = await core.save(ALICE, turn("we met at the pier", event_timestamp=NOW, actor="Ana"))
    assert (again.outcome, again.memory.id) == (Outcome.REINFORCED, first.memory.id)
    for fields in (
        {"actor": "Ben"},
        {"actor": "Ana", "session": "s2"},
        {"actor": "Ana", "event_timestamp": NOW + timedelta(seconds=1)},
    ):
        other = await core.save(
            ALICE, turn("we met at the pier", **{"event_timestamp": NOW, **fields})
        )  # type: ignore[arg-type]
        assert other.outcome is Outcome.CREATED


async def test_an_episode_that_was_deleted_can_be_told_again_once(world: World) -> None:
    cores = [await world.core(commit_deadline_s=60) for _ in range(2)]
    first = await cores[0].save(ALICE, turn("we met at the pier", event_timestamp=NOW))
    await cores[0].delete(ALICE, first.memory.id)
    again = await asyncio.gather(
        *(
            cores[n % 2].save(ALICE, turn("we met at the pier", event_timestamp=NOW))
            for n in range(10)
        )
    )
    assert (
        sorted(result.outcome for result in again) == [Outcome.CREATED] + [Outcome.REINFORCED] * 9
    )
    assert len(await listed(cores[0])) == 1
    assert [event.event_type for event in (await world.log())[:3]] == [
        "created",
        "deleted",
        "created",
    ]


async def test_a_turn_is_found_by_the_words_of_the_two_turns_before_it_and_older_ones_stay_as_they_are(  # noqa: E501
    world: World,
) -> None:
    embedder = WordsEmbedder()
    core = await world.core(embedder=embedder)
    contents = ["have you been to Bergen?", "yes twice", "how nice", "good night"]
    done = []
    for text in contents:
        world.clock.forward(1)
        done.append(await core.save(ALICE, turn(text)))
    memories = [await core.get(ALICE, result.memory.id) for result in done]
    for before, after in zip(done, memories, strict=True):
        assert (before.memory.etag, before.memory.search_text) == (after.etag, after.search_text), (
            "a later turn changes no earlier one"
        )
    assert [bool(memory.lexical.previous.get("bergen")) for memory in memories] == [
        False,
        True,
        False,
        False,
    ]
    assert [bool(memory.lexical.before_previous.get("bergen")) for memory in memories] == [
        False,
        False,
        True,
        False,
    ]
    assert "bergen" in memories[2].search_text.split()
    assert "bergen" not in memories[3].search_text.split()
    assert [memory.lexical.turn for memory in memories] == [0, 1, 2, 3]
    assert "have you been to Bergen?" not in embedder.texts[1], (
        "a vector is of the turn's own words"
    )
    answer = await core.retrieve(ALICE, RetrieveInput(query="Bergen", similarity_threshold=0.1))
    assert {hit.memory.content for hit in answer.results} == {
        "have you been to Bergen?",
        "yes twice",
        "how nice",
    }


async def test_a_deleted_turn_lends_its_words_to_no_later_one(core: MemoryCore) -> None:
    secret = await core.save(ALICE, turn("the code is swordfish"))
    await core.delete(ALICE, secret.memory.id)
    after = await core.save(ALICE, turn("good night"))
    assert "swordfish" not in after.memory.search_text


async def test_a_hidden_turn_lends_its_words_to_nobody_until_it_is_restored(
    core: MemoryCore,
) -> None:
    async def found() -> set[str]:
        hits = (
            await core.retrieve(ALICE, RetrieveInput(query="swordfish", similarity_threshold=0.1))
        ).results
        return {hit.memory.content for hit in hits}

    secret = await core.save(ALICE, turn("is the code swordfish?"))
    await core.bulk(ALICE, [turn("yes"), turn("good night"), turn("and you")])
    everything = {"is the code swordfish?", "yes", "good night"}
    assert await found() == everything
    await core.delete(ALICE, secret.memory.id)
    assert [await found() for _ in range(3)] == [set()] * 3
    await core.restore(ALICE, secret.memory.id)
    assert await found() == everything


async def test_a_deleted_fact_of_a_session_disturbs_no_search_for_words_that_turns_lend(
    core: MemoryCore,
) -> None:
    await core.bulk(ALICE, [turn("is the code swordfish?"), turn("yes")])
    result = await core.save(ALICE, fact("the door is green", session_id="s1"))
    await core.delete(ALICE, result.memory.id)
    hits = (
        await core.retrieve(ALICE, RetrieveInput(query="swordfish", similarity_threshold=0.1))
    ).results
    assert {hit.memory.content for hit in hits} == {"is the code swordfish?", "yes"}


async def test_turns_of_other_sessions_and_other_types_lend_nothing(core: MemoryCore) -> None:
    await core.save(ALICE, turn("about Bergen", "s1"))
    await core.save(ALICE, fact("about Paris", session_id="s2"))
    after = await core.save(ALICE, turn("good night", "s2"))
    assert after.memory.lexical.previous == {}
    assert after.memory.lexical.turn == 0


async def test_a_repeated_turn_leaves_no_gap_and_no_double_place(core: MemoryCore) -> None:
    await core.bulk(ALICE, [turn("one"), turn("two")])
    await core.bulk(ALICE, [turn("one"), turn("three"), turn("two")])
    await core.save(ALICE, turn("four"))
    memories = sorted(await listed(core), key=lambda memory: memory.sequence)
    assert [(memory.content, memory.lexical.turn) for memory in memories] == [
        ("one", 0),
        ("two", 1),
        ("three", 2),
        ("four", 3),
    ]
    assert [list(memory.lexical.previous) for memory in memories] == [
        [],
        ["one"],
        ["two"],
        ["three"],
    ]


async def test_two_processes_talking_in_one_session_lose_nothing_and_keep_one_order(
    world: World,
) -> None:
    cores = [await world.core(commit_deadline_s=60) for _ in range(2)]
    done = await asyncio.gather(*(cores[n % 2].save(ALICE, turn(f"word{n}")) for n in range(30)))
    assert {result.outcome for result in done} == {Outcome.CREATED}
    memories = sorted(await listed(cores[0]), key=lambda memory: memory.sequence)
    assert [memory.lexical.turn for memory in memories] == list(range(30))
    assert [list(memory.lexical.previous) for memory in memories[1:]] == [
        [memory.content] for memory in memories[:-1]
    ]
    session = await cores[1].session(ALICE, "s1")
    assert session.counts == {"episodic": 30}


async def test_two_equal_statements_in_one_bulk_are_one_memory(core: MemoryCore) -> None:
    first, second = map(
        saved, await core.bulk(ALICE, [fact("Ana drinks green tea"), fact("Ana drinks green tea")])
    )
    assert (first.outcome, second.outcome) == (Outcome.CREATED, Outcome.REINFORCED)
    assert first.memory.id == second.memory.id
    assert (await core.get(ALICE, first.memory.id)).reinforcement_count == 1


async def test_a_slot_told_thrice_in_one_bulk_ends_with_the_last(core: MemoryCore) -> None:
    cities = ["Oslo", "Bergen", "Paris"]
    done = [
        saved(result)
        for result in await core.bulk(
            ALICE, [fact(f"Ana lives in {city}", **OSLO) for city in cities]
        )
    ]
    assert [result.outcome for result in done] == [
        Outcome.CREATED,
        Outcome.SUPERSEDED,
        Outcome.SUPERSEDED,
    ]
    assert [memory.content for memory in await listed(core)] == ["Ana lives in Paris"]
    first, second, third = [await core.get(ALICE, result.memory.id) for result in done]
    assert (first.next_id, second.next_id, third.next_id) == (third.id, third.id, None), (
        "all were said at one moment"
    )


LONG = {
    "plain": "x" * 32_000,
    "escaped, six bytes a character in JSON": "\x01" * 32_000,
    "wide": "日本語" * 3_500,
}


async def test_a_key_told_often_in_one_bulk_or_at_once_is_one_memory_with_a_version_for_each_value(
    core: MemoryCore,
) -> None:
    values = ["vim", "nano", "emacs", "vim", "ed"]
    results = [
        saved(result)
        for result in await core.bulk(ALICE, [rule("editor", value) for value in values])
    ]
    assert [result.outcome for result in results] == [Outcome.CREATED] + [Outcome.UPSERTED] * 4
    (memory,) = await listed(core, status="all")
    assert {result.memory.id for result in results} == {memory.id}
    assert [version.content for version in await core.versions(ALICE, memory.id)] == [
        f"editor: {value}" for value in values
    ]
    await asyncio.gather(
        *(core.save(ALICE, rule("editor", f"editor {number}")) for number in range(10))
    )
    assert [memory.version for memory in await listed(core, status="all")] == [15]


@pytest.mark.parametrize("filler", LONG.values(), ids=LONG.keys())
async def test_a_hundred_long_memories_go_in_over_several_commits_in_order(
    core: MemoryCore, filler: str
) -> None:
    done = [
        saved(result)
        for result in await core.bulk(ALICE, [turn(f"{n} {filler}") for n in range(100)])
    ]
    assert [result.memory.content.split(" ")[0] for result in done] == [str(n) for n in range(100)]
    assert {result.outcome for result in done} == {Outcome.CREATED}
    memories = sorted(await listed(core), key=lambda memory: memory.sequence)
    assert [memory.id for memory in memories] == [result.memory.id for result in done]
    assert [memory.lexical.turn for memory in memories] == list(range(100))


async def test_a_hundred_memories_that_are_long_elsewhere_than_in_their_text_go_in(
    core: MemoryCore,
) -> None:
    foresight = [Foresight(description="d" * 1_900, start_time=NOW) for _ in range(20)]
    done = await core.bulk(
        ALICE,
        [
            fact(f"statement {n}", foresight=foresight, metadata={"m": "x" * 8_000})
            for n in range(100)
        ],
    )
    assert [saved(error).outcome for error in done] == [Outcome.CREATED] * 100


async def test_a_bulk_over_a_hundred_sessions_counts_each(core: MemoryCore) -> None:
    done = [
        saved(result)
        for result in await core.bulk(ALICE, [turn(f"hello {n}", f"s{n}") for n in range(100)])
    ]
    assert [result.memory.session_id for result in done] == [f"s{n}" for n in range(100)]
    page = await core.sessions(ALICE, limit=100)
    assert {session.session_id: session.counts for session in page.sessions} == {
        f"s{n}": {"episodic": 1} for n in range(100)
    }


@pytest.mark.parametrize(
    "items",
    [
        [rule(f"setting {n}", f"value {n}") for n in range(66)],
        [
            fact(f"Flat {n} is let to tenant {n}", subject=f"flat {n}", attribute="tenant")
            for n in range(66)
        ],
        [turn(f"hello {n}", f"s{n}") for n in range(66)],
    ],
    ids=["keys", "slots", "sessions"],
)
async def test_each_item_of_a_bulk_is_planned_once(
    core: MemoryCore, monkeypatch: pytest.MonkeyPatch, items: list[SaveInput]
) -> None:
    places: list[int] = []
    place = save_plan._place

    def placed(page: ChangeSet, item: save_plan.Prepared, *rest: Any) -> save_plan.PlannedOutcome:
        places.append(item.place)
        return place(page, item, *rest)

    monkeypatch.setattr(save_plan, "_place", placed)
    done = await core.bulk(ALICE, items)
    assert [saved(result).outcome for result in done] == [Outcome.CREATED] * len(items)
    assert places == [*range(len(items))]


async def test_a_bulk_of_every_type_keeps_the_order_of_its_answers(core: MemoryCore) -> None:
    items = [
        item
        for n in range(33)
        for item in (turn(f"said {n}"), fact(f"held {n}"), rule(f"key {n}", n))
    ]
    done = [saved(result) for result in await core.bulk(ALICE, items)]
    assert [result.memory.content for result in done] == [
        item.content or f"{item.key}: {item.value}" for item in items
    ]
    assert len(await listed(core)) == 99


async def test_a_bad_item_is_its_own_error_and_the_others_are_saved(core: MemoryCore) -> None:
    bad = fact("over before it began", valid_until=NOW - timedelta(days=1))
    first, refused, last = await core.bulk(ALICE, [turn("one"), bad, turn("two")])
    assert isinstance(refused, Invalid)
    assert [error.field for error in refused.errors] == ["valid_until"]
    assert [saved(error).outcome for error in (first, last)] == [Outcome.CREATED] * 2
    assert (await core.get(ALICE, saved(last).memory.id)).lexical.previous == {"one": 1}
    with pytest.raises(Invalid):
        await core.save(ALICE, bad)
    everyone_bad = await core.bulk(ALICE, [bad, bad])
    assert [type(error) for error in everyone_bad] == [Invalid, Invalid]


async def test_bulks_of_two_processes_into_one_session_at_once_keep_every_turn_in_one_order(
    world: World,
) -> None:
    cores = [await world.core(commit_deadline_s=60) for _ in range(2)]
    await asyncio.gather(
        *(
            core.bulk(ALICE, [turn(f"p{name}w{n}") for n in range(70)])
            for name, core in enumerate(cores)
        )
    )
    memories = sorted(await listed(cores[0]), key=lambda memory: memory.sequence)
    assert [memory.lexical.turn for memory in memories] == list(range(140))
    assert [list(memory.lexical.previous) for memory in memories[1:]] == [
        [memory.content] for memory in memories[:-1]
    ]


async def test_a_turn_that_comes_between_two_commits_of_a_bulk_is_read_by_the_next_one(
    world: World,
) -> None:
    rival = await world.core()
    core = await world.core(
        wrap=lambda store: Meanwhile(store, "commit", lambda: rival.save(ALICE, turn("between")))
    )
    done = [
        saved(result) for result in await core.bulk(ALICE, [turn(f"word{n}") for n in range(70)])
    ]
    assert [result.memory.content for result in done] == [f"word{n}" for n in range(70)]
    memories = sorted(await listed(core), key=lambda memory: memory.sequence)
    assert "between" in [memory.content for memory in memories][1:-1]
    assert [memory.lexical.turn for memory in memories] == list(range(71))
    assert [list(memory.lexical.previous) for memory in memories[1:]] == [
        [memory.content] for memory in memories[:-1]
    ]


async def test_one_user_s_saves_leave_another_s_alone(core: MemoryCore) -> None:
    mine = await core.save(ALICE, fact("Ana lives in Oslo", **OSLO))
    theirs = await core.save(BOB, fact("Ana lives in Bergen", **OSLO))
    assert theirs.outcome is Outcome.CREATED
    assert (await core.get(ALICE, mine.memory.id)).status is Status.ACTIVE


async def test_what_was_deleted_is_no_double_of_what_comes(core: MemoryCore) -> None:
    first = await core.save(ALICE, fact("Ana drinks green tea"))
    await core.set_status(ALICE, first.memory.id, StatusInput(status="deleted"))
    again = await core.save(ALICE, fact("Ana drinks green tea"))
    assert again.outcome is Outcome.CREATED
    assert again.memory.id != first.memory.id

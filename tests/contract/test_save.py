"""Saving one memory through the library: every outcome, alone and against rivals."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.memory import OnConflict, Outcome, Status
from memory_core.domain.requests.memories import RetrieveInput
from memory_core.domain.results import Saved
from tests.builders import ALICE, NOW
from tests.world import WordsEmbedder, World, fact, listed, rule, turn

OSLO = {"subject": "Ana", "attribute": "city"}


@pytest.fixture
async def words(world: World) -> MemoryCore:
    """A core whose embedder calls texts near that share most of their words,
    and twins from 0.7 up.
    """
    return await world.core(embedder=WordsEmbedder(), duplicate_threshold=0.7)


async def test_a_memory_is_created_with_defaults_that_follow_its_type(core: MemoryCore) -> None:
    result = await core.save(ALICE, fact("Ana drinks green tea", tags=["drink"]))
    assert (result.outcome, result.status, result.conflict) == (Outcome.CREATED, 201, None)
    memory = await core.get(ALICE, result.memory.id)
    assert memory.public() == result.memory.public()
    assert (memory.status, memory.version, memory.event_timestamp, memory.valid_from) == (
        Status.ACTIVE,
        1,
        NOW,
        NOW,
    )
    assert memory.importance_basis == "type"


async def test_the_same_statement_again_reinforces_the_one_that_is_held(
    words: MemoryCore, world: World
) -> None:
    first = await words.save(ALICE, fact("Ana drinks green tea"))
    world.clock.forward(60)
    again = await words.save(ALICE, fact("ana drinks green tea."))
    assert (again.outcome, again.status, again.memory.id) == (
        Outcome.REINFORCED,
        200,
        first.memory.id,
    )
    assert (again.memory.reinforcement_count, again.memory.content) == (1, "Ana drinks green tea")
    assert again.memory.updated_at == first.memory.updated_at, (
        "a reinforcement is no change of content"
    )
    assert len(await listed(words)) == 1


async def test_another_value_in_a_slot_supersedes_and_both_point_at_each_other(
    core: MemoryCore,
) -> None:
    old = await core.save(
        ALICE, fact("Ana lives in Oslo", event_timestamp=NOW - timedelta(days=9), **OSLO)
    )
    new = await core.save(ALICE, fact("Ana lives in Bergen", **OSLO))
    assert (new.outcome, new.status) == (Outcome.SUPERSEDED, 201)
    assert new.conflict is not None
    assert (new.conflict.old_id, new.conflict.new_id, new.conflict.status) == (
        old.memory.id,
        new.memory.id,
        "resolved",
    )
    fallen = await core.get(ALICE, old.memory.id)
    assert (fallen.status, fallen.status_reason, fallen.next_id) == (
        Status.SUPERSEDED,
        "contradicted",
        new.memory.id,
    )
    assert fallen.valid_until == new.memory.valid_from
    assert new.memory.supersedes_id == old.memory.id
    assert [memory.content for memory in await listed(core)] == ["Ana lives in Bergen"]


async def test_a_fact_that_arrives_late_is_history_between_its_neighbours(core: MemoryCore) -> None:
    async def lives(where: str, days_ago: int) -> Saved:
        return await core.save(
            ALICE,
            fact(f"Ana lives in {where}", event_timestamp=NOW - timedelta(days=days_ago), **OSLO),
        )

    first, last, late = await lives("Oslo", 30), await lives("Bergen", 1), await lives("Paris", 10)
    assert (late.outcome, late.memory.status) == (Outcome.CREATED, Status.SUPERSEDED)
    assert (late.memory.next_id, late.memory.supersedes_id) == (last.memory.id, first.memory.id)
    assert late.memory.valid_until == last.memory.valid_from
    assert (await core.get(ALICE, first.memory.id)).next_id == late.memory.id
    for days_ago, city in ((20, "Oslo"), (5, "Paris"), (0, "Bergen")):
        true_then = await listed(core, at=NOW - timedelta(days=days_ago))
        assert [memory.content for memory in true_then] == [f"Ana lives in {city}"]


async def test_keep_both_keeps_both_and_says_so(core: MemoryCore) -> None:
    old = await core.save(ALICE, fact("Ana lives in Oslo", **OSLO))
    new = await core.save(
        ALICE, fact("Ana lives in Bergen", on_conflict=OnConflict.KEEP_BOTH, **OSLO)
    )
    assert (new.outcome, new.status) == (Outcome.KEPT_BOTH, 201)
    assert [(link.memory_id, link.relationship_type) for link in new.memory.links] == [
        (old.memory.id, "contradicts")
    ]
    assert {memory.content for memory in await listed(core)} == {
        "Ana lives in Oslo",
        "Ana lives in Bergen",
    }


async def test_an_uncertain_contradiction_keeps_both_pending(words: MemoryCore) -> None:
    await words.save(ALICE, fact("the big server listens on port 8080"))
    new = await words.save(ALICE, fact("the big server listens on port 8081"))
    assert new.outcome is Outcome.KEPT_BOTH
    assert new.conflict is not None
    assert (new.conflict.status, new.memory.conflict_state) == ("pending", "pending")
    assert new.conflict.confidence < 1
    assert {memory.conflict_state for memory in await listed(words)} == {"pending"}


async def test_pending_conflicts_are_counted_whoever_else_writes(world: World) -> None:
    cores = [
        await world.core(embedder=WordsEmbedder(), duplicate_threshold=0.7, commit_deadline_s=60)
        for _ in range(2)
    ]
    topics = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel"]
    for topic in topics:
        await cores[0].save(ALICE, fact(f"{topic} listens on port 8080"))

    async def both(n: int, topic: str) -> None:
        done = await asyncio.gather(
            cores[n % 2].save(ALICE, fact(f"{topic} listens on port 8081")),
            cores[(n + 1) % 2].save(ALICE, turn(topic, None)),
        )
        assert [result.outcome for result in done] == [Outcome.KEPT_BOTH, Outcome.CREATED]

    await asyncio.gather(*(both(n, topic) for n, topic in enumerate(topics)))
    head = await world.head(embedder=WordsEmbedder())
    assert head is not None
    assert head.pending_count == len(topics)


async def test_a_rejected_statement_leaves_the_old_one_and_a_record(core: MemoryCore) -> None:
    old = await core.save(ALICE, fact("Ana lives in Oslo", **OSLO))
    new = await core.save(
        ALICE, fact("Ana lives in Bergen", on_conflict=OnConflict.REJECT_NEW, **OSLO)
    )
    assert (new.outcome, new.status, new.memory.id) == (Outcome.REJECTED, 200, old.memory.id)
    assert new.conflict is not None
    assert (new.conflict.strategy, new.conflict.new_id) == ("reject_new", None)
    assert [memory.content for memory in await listed(core, status="all")] == ["Ana lives in Oslo"]


async def test_a_merge_holds_both_texts_and_retires_the_old_one(core: MemoryCore) -> None:
    old = await core.save(ALICE, fact("Ana plays the cello", tags=["music"], **OSLO))
    new = await core.save(
        ALICE, fact("Ana plays the viola", tags=["strings"], on_conflict=OnConflict.MERGE, **OSLO)
    )
    assert (new.outcome, new.status) == (Outcome.MERGED, 201)
    assert new.memory.content == "Ana plays the cello\nAna plays the viola"
    assert (new.memory.source_ids, new.memory.tags) == ([old.memory.id], ["music", "strings"])
    retired = await core.get(ALICE, old.memory.id)
    assert (retired.status, retired.next_id) == (Status.UPDATED, new.memory.id)
    for word in ("cello", "viola"):
        answer = await core.retrieve(ALICE, RetrieveInput(query=word))
        assert [hit.memory.id for hit in answer.results] == [new.memory.id]


async def test_a_merge_that_would_grow_too_long_keeps_both(core: MemoryCore) -> None:
    await core.save(ALICE, fact("a" * 15_000, **OSLO))
    new = await core.save(ALICE, fact("b" * 15_000, on_conflict=OnConflict.MERGE, **OSLO))
    assert new.outcome is Outcome.KEPT_BOTH


async def test_a_procedure_is_upserted_by_its_key_and_reinforced_by_its_value(
    core: MemoryCore,
) -> None:
    first = await core.save(ALICE, rule("tabs", {"width": 4}))
    same = await core.save(ALICE, rule("tabs", {"width": 4}))
    other = await core.save(ALICE, rule("tabs", {"width": 2}))
    assert [result.outcome for result in (first, same, other)] == [
        Outcome.CREATED,
        Outcome.REINFORCED,
        Outcome.UPSERTED,
    ]
    assert {result.memory.id for result in (first, same, other)} == {first.memory.id}
    now = await core.procedure(ALICE, "tabs")
    assert (now.value, now.version) == ({"width": 2}, 2)
    assert [
        version.metadata_snapshot["value"] for version in await core.versions(ALICE, now.id)
    ] == [{"width": 4}, {"width": 2}]


async def test_a_deleted_procedure_comes_back_anew_and_its_deleted_value_stays_gone(
    core: MemoryCore, world: World
) -> None:
    first = await core.save(ALICE, rule("tabs", "four"))
    await core.delete(ALICE, first.memory.id)
    world.clock.forward(3600)
    again = await core.save(ALICE, rule("tabs", "two"))
    assert again.outcome is Outcome.CREATED
    assert (await core.procedure(ALICE, "tabs")).value == "two"
    answer = await core.retrieve(
        ALICE, RetrieveInput(query="tabs four", at=NOW + timedelta(seconds=1))
    )
    assert answer.results == ()
    assert await listed(core, at=NOW + timedelta(seconds=1)) == []


@pytest.mark.parametrize("processes", [1, 2])
async def test_twenty_identical_saves_at_once_make_one_memory_reinforced_nineteen_times(
    world: World, processes: int
) -> None:
    cores = [await world.core(commit_deadline_s=60) for _ in range(processes)]
    done = await asyncio.gather(
        *(cores[n % processes].save(ALICE, fact("Ana drinks green tea")) for n in range(20))
    )
    assert (
        sorted(result.outcome for result in done) == [Outcome.CREATED] + [Outcome.REINFORCED] * 19
    )
    (memory,) = await listed(cores[0], status="all")
    assert memory.reinforcement_count == 19
    assert len(await world.log()) == 20


async def test_two_values_for_one_slot_at_once_leave_one_truth(world: World) -> None:
    cores = [await world.core(commit_deadline_s=60) for _ in range(2)]
    await asyncio.gather(
        *(cores[n % 2].save(ALICE, fact(f"Ana lives in street {n}", **OSLO)) for n in range(12))
    )
    assert len(await listed(cores[0])) == 1
    everything = await listed(cores[0], status="all")
    assert len(everything) == 12
    (last,) = [memory for memory in everything if memory.next_id is None]
    assert {memory.next_id for memory in everything} == {None, last.id}, (
        "said at one moment, all but the last hold at none, and lead to it"
    )


async def test_an_expired_statement_does_not_swallow_its_return(
    core: MemoryCore, world: World
) -> None:
    await core.save(ALICE, fact("Ana is on holiday", valid_until=NOW + timedelta(days=7)))
    world.clock.forward(30 * 86_400)
    again = await core.save(ALICE, fact("Ana is on holiday"))
    assert again.outcome is Outcome.CREATED
    assert len((await core.retrieve(ALICE, RetrieveInput(query="holiday"))).results) == 1


async def test_an_expired_value_of_a_slot_is_followed_by_the_same_value(
    core: MemoryCore, world: World
) -> None:
    old = await core.save(
        ALICE, fact("Ana lives in Oslo", valid_until=NOW + timedelta(days=7), **OSLO)
    )
    world.clock.forward(30 * 86_400)
    again = await core.save(ALICE, fact("Ana lives in Oslo", **OSLO))
    assert again.outcome is Outcome.CREATED, "nothing held any more"
    assert again.memory.supersedes_id == old.memory.id
    assert (await core.get(ALICE, old.memory.id)).valid_until == NOW + timedelta(days=7)
    assert [memory.id for memory in await listed(core, at=NOW + timedelta(days=40))] == [
        again.memory.id
    ]


async def test_a_slot_kept_many_times_over_can_still_be_superseded(core: MemoryCore) -> None:
    for start in range(0, 120, 40):
        many = [
            fact(f"Ana likes dish {n}", on_conflict=OnConflict.KEEP_BOTH, **OSLO)
            for n in range(start, start + 40)
        ]
        await core.bulk(ALICE, many)
    last = await core.save(
        ALICE, fact("Ana likes nothing any more", on_conflict=OnConflict.SUPERSEDE, **OSLO)
    )
    assert last.outcome is Outcome.SUPERSEDED
    assert last.memory.id in {memory.id for memory in await listed(core)}

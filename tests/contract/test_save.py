"""Saving through the library: every outcome, in every order, alone and against rivals."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.errors import Invalid
from memory_core.domain.models import Foresight, OnConflict, Outcome, Status
from memory_core.domain.requests import RetrieveInput, StatusInput
from memory_core.domain.results import Saved
from tests.builders import ALICE, NOW
from tests.world import BOB, Meanwhile, WordsEmbedder, World, fact, listed, rule, turn

OSLO = {"subject": "Ana", "attribute": "city"}


@pytest.fixture
async def words(world: World) -> MemoryCore:
    """A core whose embedder calls texts near that share most of their words, and twins from 0.7 up."""
    return await world.core(embedder=WordsEmbedder(), duplicate_threshold=0.7)


def saved(one: object) -> Saved:
    assert isinstance(one, Saved), one
    return one


async def test_a_memory_is_created_with_defaults_that_follow_its_type(core: MemoryCore) -> None:
    one = await core.save(ALICE, fact("Ana drinks green tea", tags=["drink"]))
    assert (one.outcome, one.status, one.conflict) == (Outcome.CREATED, 201, None)
    memory = await core.get(ALICE, one.memory.id)
    assert memory.public() == one.memory.public()
    assert (memory.status, memory.version, memory.event_timestamp, memory.valid_from) == (Status.ACTIVE, 1, NOW, NOW)
    assert memory.importance_basis == "type"


async def test_the_same_statement_again_reinforces_the_one_that_is_held(words: MemoryCore, world: World) -> None:
    first = await words.save(ALICE, fact("Ana drinks green tea"))
    world.clock.forward(60)
    again = await words.save(ALICE, fact("ana drinks green tea."))
    assert (again.outcome, again.status, again.memory.id) == (Outcome.REINFORCED, 200, first.memory.id)
    assert (again.memory.reinforcement_count, again.memory.content) == (1, "Ana drinks green tea")
    assert again.memory.updated_at == first.memory.updated_at, "a reinforcement is no change of content"
    assert len(await listed(words)) == 1


async def test_another_value_in_a_slot_supersedes_and_both_point_at_each_other(core: MemoryCore) -> None:
    old = await core.save(ALICE, fact("Ana lives in Oslo", event_timestamp=NOW - timedelta(days=9), **OSLO))
    new = await core.save(ALICE, fact("Ana lives in Bergen", **OSLO))
    assert (new.outcome, new.status) == (Outcome.SUPERSEDED, 201)
    assert new.conflict is not None
    assert (new.conflict.old_id, new.conflict.new_id, new.conflict.status) == (old.memory.id, new.memory.id, "resolved")
    fallen = await core.get(ALICE, old.memory.id)
    assert (fallen.status, fallen.status_reason, fallen.next_id) == (Status.SUPERSEDED, "contradicted", new.memory.id)
    assert fallen.valid_until == new.memory.valid_from
    assert new.memory.supersedes_id == old.memory.id
    assert [one.content for one in await listed(core)] == ["Ana lives in Bergen"]


async def test_a_fact_that_arrives_late_is_history_between_its_neighbours(core: MemoryCore) -> None:
    async def lives(where: str, days_ago: int) -> Saved:
        return await core.save(ALICE, fact(f"Ana lives in {where}", event_timestamp=NOW - timedelta(days=days_ago), **OSLO))

    first, last, late = await lives("Oslo", 30), await lives("Bergen", 1), await lives("Paris", 10)
    assert (late.outcome, late.memory.status) == (Outcome.CREATED, Status.SUPERSEDED)
    assert (late.memory.next_id, late.memory.supersedes_id) == (last.memory.id, first.memory.id)
    assert late.memory.valid_until == last.memory.valid_from
    assert (await core.get(ALICE, first.memory.id)).next_id == late.memory.id
    for days_ago, city in ((20, "Oslo"), (5, "Paris"), (0, "Bergen")):
        true_then = await listed(core, at=NOW - timedelta(days=days_ago))
        assert [one.content for one in true_then] == [f"Ana lives in {city}"]


async def test_keep_both_keeps_both_and_says_so(core: MemoryCore) -> None:
    old = await core.save(ALICE, fact("Ana lives in Oslo", **OSLO))
    new = await core.save(ALICE, fact("Ana lives in Bergen", on_conflict=OnConflict.KEEP_BOTH, **OSLO))
    assert (new.outcome, new.status) == (Outcome.KEPT_BOTH, 201)
    assert [(link.memory_id, link.relationship_type) for link in new.memory.links] == [(old.memory.id, "contradicts")]
    assert {one.content for one in await listed(core)} == {"Ana lives in Oslo", "Ana lives in Bergen"}


async def test_an_uncertain_contradiction_keeps_both_pending(words: MemoryCore) -> None:
    await words.save(ALICE, fact("the big server listens on port 8080"))
    new = await words.save(ALICE, fact("the big server listens on port 8081"))
    assert new.outcome is Outcome.KEPT_BOTH
    assert new.conflict is not None
    assert (new.conflict.status, new.memory.conflict_state) == ("pending", "pending")
    assert new.conflict.confidence < 1
    assert {one.conflict_state for one in await listed(words)} == {"pending"}


async def test_pending_conflicts_are_counted_whoever_else_writes(world: World) -> None:
    cores = [await world.core(embedder=WordsEmbedder(), duplicate_threshold=0.7, commit_deadline_s=60) for _ in range(2)]
    topics = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel"]
    for topic in topics:
        await cores[0].save(ALICE, fact(f"{topic} listens on port 8080"))

    async def both(n: int, topic: str) -> None:
        done = await asyncio.gather(
            cores[n % 2].save(ALICE, fact(f"{topic} listens on port 8081")), cores[(n + 1) % 2].save(ALICE, turn(topic, None))
        )
        assert [one.outcome for one in done] == [Outcome.KEPT_BOTH, Outcome.CREATED]

    await asyncio.gather(*(both(n, topic) for n, topic in enumerate(topics)))
    head = await world.head(embedder=WordsEmbedder())
    assert head is not None
    assert head.pending_count == len(topics)


async def test_a_rejected_statement_leaves_the_old_one_and_a_record(core: MemoryCore) -> None:
    old = await core.save(ALICE, fact("Ana lives in Oslo", **OSLO))
    new = await core.save(ALICE, fact("Ana lives in Bergen", on_conflict=OnConflict.REJECT_NEW, **OSLO))
    assert (new.outcome, new.status, new.memory.id) == (Outcome.REJECTED, 200, old.memory.id)
    assert new.conflict is not None
    assert (new.conflict.strategy, new.conflict.new_id) == ("reject_new", None)
    assert [one.content for one in await listed(core, status="all")] == ["Ana lives in Oslo"]


async def test_a_merge_holds_both_texts_and_retires_the_old_one(core: MemoryCore) -> None:
    old = await core.save(ALICE, fact("Ana plays the cello", tags=["music"], **OSLO))
    new = await core.save(ALICE, fact("Ana plays the viola", tags=["strings"], on_conflict=OnConflict.MERGE, **OSLO))
    assert (new.outcome, new.status) == (Outcome.MERGED, 201)
    assert new.memory.content == "Ana plays the cello\nAna plays the viola"
    assert (new.memory.source_ids, new.memory.tags) == ([old.memory.id], ["music", "strings"])
    retired = await core.get(ALICE, old.memory.id)
    assert (retired.status, retired.next_id) == (Status.UPDATED, new.memory.id)
    for word in ("cello", "viola"):
        found = await core.retrieve(ALICE, RetrieveInput(query=word))
        assert [hit.memory.id for hit in found.results] == [new.memory.id]


async def test_a_merge_that_would_grow_too_long_keeps_both(core: MemoryCore) -> None:
    await core.save(ALICE, fact("a" * 15_000, **OSLO))
    new = await core.save(ALICE, fact("b" * 15_000, on_conflict=OnConflict.MERGE, **OSLO))
    assert new.outcome is Outcome.KEPT_BOTH


async def test_a_procedure_is_upserted_by_its_key_and_reinforced_by_its_value(core: MemoryCore) -> None:
    first = await core.save(ALICE, rule("tabs", {"width": 4}))
    same = await core.save(ALICE, rule("tabs", {"width": 4}))
    other = await core.save(ALICE, rule("tabs", {"width": 2}))
    assert [one.outcome for one in (first, same, other)] == [Outcome.CREATED, Outcome.REINFORCED, Outcome.UPSERTED]
    assert {one.memory.id for one in (first, same, other)} == {first.memory.id}
    now = await core.procedure(ALICE, "tabs")
    assert (now.value, now.version) == ({"width": 2}, 2)
    assert [one.metadata_snapshot["value"] for one in await core.versions(ALICE, now.id)] == [{"width": 4}, {"width": 2}]


async def test_a_deleted_procedure_comes_back_anew_and_its_deleted_value_stays_gone(core: MemoryCore, world: World) -> None:
    first = await core.save(ALICE, rule("tabs", "four"))
    await core.delete(ALICE, first.memory.id)
    world.clock.forward(3600)
    again = await core.save(ALICE, rule("tabs", "two"))
    assert again.outcome is Outcome.CREATED
    assert (await core.procedure(ALICE, "tabs")).value == "two"
    found = await core.retrieve(ALICE, RetrieveInput(query="tabs four", at=NOW + timedelta(seconds=1)))
    assert found.results == ()
    assert await listed(core, at=NOW + timedelta(seconds=1)) == []


@pytest.mark.parametrize("processes", [1, 2])
async def test_twenty_identical_saves_at_once_make_one_memory_reinforced_nineteen_times(world: World, processes: int) -> None:
    cores = [await world.core(commit_deadline_s=60) for _ in range(processes)]
    done = await asyncio.gather(*(cores[n % processes].save(ALICE, fact("Ana drinks green tea")) for n in range(20)))
    assert sorted(one.outcome for one in done) == [Outcome.CREATED] + [Outcome.REINFORCED] * 19
    (memory,) = await listed(cores[0], status="all")
    assert memory.reinforcement_count == 19
    assert len(await world.log()) == 20


async def test_two_values_for_one_slot_at_once_leave_one_truth(world: World) -> None:
    cores = [await world.core(commit_deadline_s=60) for _ in range(2)]
    await asyncio.gather(*(cores[n % 2].save(ALICE, fact(f"Ana lives in street {n}", **OSLO)) for n in range(12)))
    assert len(await listed(cores[0])) == 1
    everything = await listed(cores[0], status="all")
    assert len(everything) == 12
    assert len({one.next_id for one in everything}) == 12, "each but the last is followed by one of its own"


async def test_an_expired_statement_does_not_swallow_its_return(core: MemoryCore, world: World) -> None:
    await core.save(ALICE, fact("Ana is on holiday", valid_until=NOW + timedelta(days=7)))
    world.clock.forward(30 * 86_400)
    again = await core.save(ALICE, fact("Ana is on holiday"))
    assert again.outcome is Outcome.CREATED
    assert len((await core.retrieve(ALICE, RetrieveInput(query="holiday"))).results) == 1


async def test_an_expired_value_of_a_slot_is_followed_by_the_same_value(core: MemoryCore, world: World) -> None:
    old = await core.save(ALICE, fact("Ana lives in Oslo", valid_until=NOW + timedelta(days=7), **OSLO))
    world.clock.forward(30 * 86_400)
    again = await core.save(ALICE, fact("Ana lives in Oslo", **OSLO))
    assert again.outcome is Outcome.SUPERSEDED
    assert again.memory.supersedes_id == old.memory.id
    assert (await core.get(ALICE, old.memory.id)).valid_until == NOW + timedelta(days=7)
    assert [one.id for one in await listed(core, at=NOW + timedelta(days=40))] == [again.memory.id]


async def test_a_slot_kept_many_times_over_can_still_be_superseded(core: MemoryCore) -> None:
    for start in range(0, 120, 40):
        many = [fact(f"Ana likes dish {n}", on_conflict=OnConflict.KEEP_BOTH, **OSLO) for n in range(start, start + 40)]
        await core.bulk(ALICE, many)
    last = await core.save(ALICE, fact("Ana likes nothing any more", on_conflict=OnConflict.SUPERSEDE, **OSLO))
    assert last.outcome is Outcome.SUPERSEDED
    assert last.memory.id in {one.id for one in await listed(core)}


async def test_an_episode_told_twice_is_one_memory(core: MemoryCore, world: World) -> None:
    first = await core.save(ALICE, turn("we met at the pier", event_timestamp=NOW, actor="Ana"))
    world.clock.forward(5)
    again = await core.save(ALICE, turn("we met at the pier", event_timestamp=NOW, actor="Ana"))
    assert (again.outcome, again.memory.id) == (Outcome.REINFORCED, first.memory.id)
    for fields in ({"actor": "Ben"}, {"actor": "Ana", "session": "s2"}, {"actor": "Ana", "event_timestamp": NOW + timedelta(seconds=1)}):
        other = await core.save(ALICE, turn("we met at the pier", **{"event_timestamp": NOW, **fields}))  # type: ignore[arg-type]
        assert other.outcome is Outcome.CREATED


async def test_an_episode_that_was_deleted_can_be_told_again_once(world: World) -> None:
    cores = [await world.core(commit_deadline_s=60) for _ in range(2)]
    first = await cores[0].save(ALICE, turn("we met at the pier", event_timestamp=NOW))
    await cores[0].delete(ALICE, first.memory.id)
    again = await asyncio.gather(*(cores[n % 2].save(ALICE, turn("we met at the pier", event_timestamp=NOW)) for n in range(10)))
    assert sorted(one.outcome for one in again) == [Outcome.CREATED] + [Outcome.REINFORCED] * 9
    assert len(await listed(cores[0])) == 1
    assert [one.event_type for one in (await world.log())[:3]] == ["created", "deleted", "created"]


async def test_a_turn_is_found_by_the_words_of_the_two_turns_before_it_and_older_ones_stay_as_they_are(world: World) -> None:
    embedder = WordsEmbedder()
    core = await world.core(embedder=embedder)
    said = ["have you been to Bergen?", "yes twice", "how nice", "good night"]
    done = []
    for text in said:
        world.clock.forward(1)
        done.append(await core.save(ALICE, turn(text)))
    memories = [await core.get(ALICE, one.memory.id) for one in done]
    for before, after in zip(done, memories, strict=True):
        assert (before.memory.etag, before.memory.search_text) == (after.etag, after.search_text), "a later turn changes no earlier one"
    assert [bool(one.lexical.previous.get("bergen")) for one in memories] == [False, True, False, False]
    assert [bool(one.lexical.before_previous.get("bergen")) for one in memories] == [False, False, True, False]
    assert "bergen" in memories[2].search_text.split()
    assert "bergen" not in memories[3].search_text.split()
    assert [one.lexical.turn for one in memories] == [0, 1, 2, 3]
    assert "have you been to Bergen?" in embedder.texts[1]
    assert "have you been to Bergen?" not in embedder.texts[2]
    found = await core.retrieve(ALICE, RetrieveInput(query="Bergen", similarity_threshold=0.1))
    assert {hit.memory.content for hit in found.results} == {"have you been to Bergen?", "yes twice", "how nice"}


async def test_a_deleted_turn_lends_its_words_to_no_later_one(core: MemoryCore) -> None:
    secret = await core.save(ALICE, turn("the code is swordfish"))
    await core.delete(ALICE, secret.memory.id)
    after = await core.save(ALICE, turn("good night"))
    assert "swordfish" not in after.memory.search_text


async def test_turns_of_other_sessions_and_other_types_lend_nothing(core: MemoryCore) -> None:
    await core.save(ALICE, turn("about Bergen", "s1"))
    await core.save(ALICE, fact("about Paris", session_id="s2"))
    after = await core.save(ALICE, turn("good night", "s2"))
    assert after.memory.lexical.previous == {}
    assert after.memory.lexical.turn == 0


async def test_a_repeated_turn_leaves_no_gap_and_no_double_place(core: MemoryCore) -> None:
    await core.bulk(ALICE, [turn("one"), turn("one"), turn("two"), turn("one"), turn("three")])
    await core.save(ALICE, turn("four"))
    memories = sorted(await listed(core), key=lambda one: one.sequence)
    assert [(one.content, one.lexical.turn) for one in memories] == [("one", 0), ("two", 1), ("three", 2), ("four", 3)]
    assert [list(one.lexical.previous) for one in memories] == [[], ["one"], ["two"], ["three"]]


async def test_two_processes_talking_in_one_session_lose_nothing_and_keep_one_order(world: World) -> None:
    cores = [await world.core(commit_deadline_s=60) for _ in range(2)]
    done = await asyncio.gather(*(cores[n % 2].save(ALICE, turn(f"word{n}")) for n in range(30)))
    assert {one.outcome for one in done} == {Outcome.CREATED}
    memories = sorted(await listed(cores[0]), key=lambda one: one.sequence)
    assert [one.lexical.turn for one in memories] == list(range(30))
    assert [list(one.lexical.previous) for one in memories[1:]] == [[one.content] for one in memories[:-1]]
    session = await cores[1].session(ALICE, "s1")
    assert session.counts == {"episodic": 30}


async def test_two_equal_statements_in_one_bulk_are_one_memory(core: MemoryCore) -> None:
    first, second = map(saved, await core.bulk(ALICE, [fact("Ana drinks green tea"), fact("Ana drinks green tea")]))
    assert (first.outcome, second.outcome) == (Outcome.CREATED, Outcome.REINFORCED)
    assert first.memory.id == second.memory.id
    assert (await core.get(ALICE, first.memory.id)).reinforcement_count == 1


async def test_a_slot_told_thrice_in_one_bulk_ends_with_the_last(core: MemoryCore) -> None:
    cities = ["Oslo", "Bergen", "Paris"]
    done = [saved(one) for one in await core.bulk(ALICE, [fact(f"Ana lives in {city}", **OSLO) for city in cities])]
    assert [one.outcome for one in done] == [Outcome.CREATED, Outcome.SUPERSEDED, Outcome.SUPERSEDED]
    assert [one.content for one in await listed(core)] == ["Ana lives in Paris"]
    first, second, third = [await core.get(ALICE, one.memory.id) for one in done]
    assert (first.next_id, second.next_id, third.next_id) == (second.id, third.id, None)


LONG = {
    "plain": "x" * 32_000,
    "escaped, six bytes a character in JSON": "\x01" * 32_000,
    "wide": "日本語" * 3_500,
}


@pytest.mark.parametrize("filler", LONG.values(), ids=LONG.keys())
async def test_a_hundred_long_memories_go_in_over_several_commits_in_order(core: MemoryCore, filler: str) -> None:
    done = [saved(one) for one in await core.bulk(ALICE, [turn(f"{n} {filler}") for n in range(100)])]
    assert [one.memory.content.split(" ")[0] for one in done] == [str(n) for n in range(100)]
    assert {one.outcome for one in done} == {Outcome.CREATED}
    memories = sorted(await listed(core), key=lambda one: one.sequence)
    assert [one.id for one in memories] == [one.memory.id for one in done]
    assert [one.lexical.turn for one in memories] == list(range(100))


async def test_a_hundred_memories_that_are_long_elsewhere_than_in_their_text_go_in(core: MemoryCore) -> None:
    foresight = [Foresight(description="d" * 1_900, start_time=NOW) for _ in range(20)]
    done = await core.bulk(ALICE, [fact(f"statement {n}", foresight=foresight, metadata={"m": "x" * 8_000}) for n in range(100)])
    assert [saved(one).outcome for one in done] == [Outcome.CREATED] * 100


async def test_a_bulk_over_a_hundred_sessions_counts_each(core: MemoryCore) -> None:
    done = [saved(one) for one in await core.bulk(ALICE, [turn(f"hello {n}", f"s{n}") for n in range(100)])]
    assert [one.memory.session_id for one in done] == [f"s{n}" for n in range(100)]
    page = await core.sessions(ALICE, limit=100)
    assert {one.session_id: one.counts for one in page.sessions} == {f"s{n}": {"episodic": 1} for n in range(100)}


async def test_a_bulk_of_every_type_keeps_the_order_of_its_answers(core: MemoryCore) -> None:
    items = [item for n in range(33) for item in (turn(f"said {n}"), fact(f"held {n}"), rule(f"key {n}", n))]
    done = [saved(one) for one in await core.bulk(ALICE, items)]
    assert [one.memory.content for one in done] == [item.content or f"{item.key}: {item.value}" for item in items]
    assert len(await listed(core)) == 99


async def test_a_bad_item_is_its_own_error_and_the_others_are_saved(core: MemoryCore) -> None:
    bad = fact("over before it began", valid_until=NOW - timedelta(days=1))
    first, refused, last = await core.bulk(ALICE, [turn("one"), bad, turn("two")])
    assert isinstance(refused, Invalid)
    assert [error.field for error in refused.errors] == ["valid_until"]
    assert [saved(one).outcome for one in (first, last)] == [Outcome.CREATED] * 2
    assert (await core.get(ALICE, saved(last).memory.id)).lexical.previous == {"one": 1}
    with pytest.raises(Invalid):
        await core.save(ALICE, bad)
    everyone_bad = await core.bulk(ALICE, [bad, bad])
    assert [type(one) for one in everyone_bad] == [Invalid, Invalid]


async def test_bulks_of_two_processes_into_one_session_at_once_keep_every_turn_in_one_order(world: World) -> None:
    cores = [await world.core(commit_deadline_s=60) for _ in range(2)]
    await asyncio.gather(*(one.bulk(ALICE, [turn(f"p{name}w{n}") for n in range(70)]) for name, one in enumerate(cores)))
    memories = sorted(await listed(cores[0]), key=lambda one: one.sequence)
    assert [one.lexical.turn for one in memories] == list(range(140))
    assert [list(one.lexical.previous) for one in memories[1:]] == [[one.content] for one in memories[:-1]]


async def test_a_turn_that_comes_between_two_commits_of_a_bulk_is_read_by_the_next_one(world: World) -> None:
    rival = await world.core()
    core = await world.core(wrap=lambda store: Meanwhile(store, "commit", lambda: rival.save(ALICE, turn("between"))))
    done = [saved(one) for one in await core.bulk(ALICE, [turn(f"word{n}") for n in range(70)])]
    assert [one.memory.content for one in done] == [f"word{n}" for n in range(70)]
    memories = sorted(await listed(core), key=lambda one: one.sequence)
    assert "between" in [one.content for one in memories][1:-1]
    assert [one.lexical.turn for one in memories] == list(range(71))
    assert [list(one.lexical.previous) for one in memories[1:]] == [[one.content] for one in memories[:-1]]


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

"""Conflicts through the library: what is recorded, how it is decided, how that is taken back, and that open questions follow memories."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.conflict_requests import ConflictsInput
from memory_core.domain.errors import Conflict, Malformed, NotFound
from memory_core.domain.models import MAX_CONTENT_BYTES, Memory, OnConflict, Status
from memory_core.domain.requests import ClearInput, CopyInput, StatusInput, UpdateInput
from memory_core.domain.results import Call, Saved
from tests.builders import ALICE, NOW
from tests.conflicts import DECISIONS, all_of, asking, check_questions, open_ids, records_of, standing
from tests.telling import Tellers, facts_of, of_category, on_all, tell
from tests.world import BOB, DiesAfter, Killed, Meanwhile, WordsEmbedder, World, fact, find, listed

OSLO = {"subject": "Ana", "attribute": "city"}
CALLER = Call(actor="key7", correlation_id="c-1")


@pytest.fixture
async def words(world: World) -> MemoryCore:
    """A core that calls texts near which share most of their words."""
    return await world.core(embedder=WordsEmbedder(), duplicate_threshold=0.7)


async def port(core: MemoryCore, number: int, days: int = 0, server: str = "big", **fields: Any) -> Saved:
    """A statement that stands against others with another number, uncertainly."""
    when = NOW + timedelta(days=days)
    return await core.save(ALICE, fact(f"the {server} old server listens on port {number}", event_timestamp=when, **fields))


async def lives(core: MemoryCore, where: str, days: int = 0, **fields: Any) -> Saved:
    """A truth of a slot, which replaces others with certainty."""
    return await core.save(ALICE, fact(f"Ana lives in {where}", event_timestamp=NOW + timedelta(days=days), **{**OSLO, **fields}))


async def open_conflict(core: MemoryCore, **fields: Any) -> tuple[Saved, Saved, str]:
    """Two statements between which nobody has decided, and the id of their record."""
    old, new = await port(core, 8080, **fields), await port(core, 8081, days=1, **fields)
    assert new.conflict is not None
    assert new.conflict.open
    return old, new, new.conflict.id


async def now(core: MemoryCore, *saved: Saved) -> list[Memory]:
    return [await core.get(ALICE, one.memory.id) for one in saved]


async def test_every_strategy_at_a_save_leaves_a_record_that_says_who_chose_it(core: MemoryCore) -> None:
    await lives(core, "Oslo")
    for strategy in OnConflict:
        item = fact("Ana lives in Bergen", on_conflict=strategy, event_timestamp=NOW + timedelta(days=1), **{**OSLO, "attribute": strategy})
        await core.save(ALICE, fact("Ana lives in Oslo", event_timestamp=NOW, **{**OSLO, "attribute": strategy}))
        record = (await core.save(ALICE, item, CALLER)).conflict
        assert record is not None
        assert record.by == ("rule" if strategy is OnConflict.AUTO else "key7")
        assert record.strategy == ("supersede" if strategy is OnConflict.AUTO else strategy)
        assert (record.status, record.confidence, record.previous) == ("resolved", 1.0, None)
        assert record.similarity is not None
        assert record.reason
        assert record.at is not None
        assert await core.conflict(ALICE, record.id) == record


async def test_the_events_of_a_decision_name_its_record(core: MemoryCore, world: World) -> None:
    await lives(core, "Oslo")
    new = await lives(core, "Bergen", 1)
    assert new.conflict is not None
    events = (await world.log())[1:]
    assert {event.metadata["conflict_id"] for event in events} == {new.conflict.id}


async def test_the_new_one_wins_when_somebody_says_so(words: MemoryCore, world: World) -> None:
    old, new, name = await open_conflict(words)
    record = await words.resolve_conflict(ALICE, name, asking("supersede", "I looked it up"), CALLER)
    assert (record.status, record.strategy, record.reason, record.by) == ("resolved", "supersede", "I looked it up", "key7")
    fallen, holds = await now(words, old, new)
    assert (fallen.status, fallen.next_id, fallen.valid_until) == (Status.SUPERSEDED, holds.id, holds.valid_from)
    assert (holds.status, holds.supersedes_id, holds.conflict_state) == (Status.ACTIVE, fallen.id, "resolved")
    assert await find(words, "old server port") == [holds.content]
    await check_questions(world, words)
    decided = [event for event in await world.log() if event.metadata.get("decision") == "supersede"]
    assert {event.memory_id for event in decided} == {old.memory.id, new.memory.id}
    assert {(event.actor, event.correlation_id, event.metadata["conflict_id"]) for event in decided} == {("key7", "c-1", name)}


async def test_a_rejected_one_was_never_true(words: MemoryCore, world: World) -> None:
    old, new, name = await open_conflict(words)
    await words.resolve_conflict(ALICE, name, asking("reject_new"))
    held, gone = await now(words, old, new)
    assert (held.status, held.next_id, gone.status, gone.next_id) == (Status.ACTIVE, None, Status.DELETED, None)
    for days in (0, 2):
        assert [one.content for one in await listed(words, at=NOW + timedelta(days=days))] == [held.content]
    await check_questions(world, words)


async def test_a_merge_makes_a_third_memory_to_which_both_lead(words: MemoryCore, world: World) -> None:
    old, new, name = await open_conflict(words, tags=["net"], session_id="s1")
    await words.resolve_conflict(ALICE, name, asking("merge"))
    first, second = await now(words, old, new)
    (merged,) = await listed(words)
    assert merged.content == f"{first.content}\n{second.content}"
    assert (merged.source_ids, merged.tags, merged.valid_from) == ([first.id, second.id], ["net"], second.valid_from)
    assert {(one.status, one.next_id) for one in (first, second)} == {(Status.UPDATED, merged.id)}
    assert await find(words, "old server port") == [merged.content]
    assert (await words.session(ALICE, "s1")).counts == {"semantic": 3}
    await check_questions(world, words)


async def test_two_that_are_too_long_for_one_are_not_merged(world: World) -> None:
    core = await world.core()
    long = [f"{number}: " + "word " * (MAX_CONTENT_BYTES // 12) for number in (1, 2)]
    await core.save(ALICE, fact(long[0], **OSLO))
    kept = await core.save(ALICE, fact(long[1], on_conflict=OnConflict.KEEP_BOTH, event_timestamp=NOW + timedelta(days=1), **OSLO))
    assert kept.conflict is not None
    await core.undo_conflict(ALICE, kept.conflict.id)
    with pytest.raises(Conflict, match="too long"):
        await core.resolve_conflict(ALICE, kept.conflict.id, asking("merge"))


async def test_a_decision_stands_until_it_is_undone(words: MemoryCore, world: World) -> None:
    _, _, name = await open_conflict(words)
    first = await words.resolve_conflict(ALICE, name, asking("reject_new"))
    assert await words.resolve_conflict(ALICE, name, asking("reject_new", "again")) == first
    for other in ("supersede", "keep_both", "merge"):
        with pytest.raises(Conflict, match="resolved already, by reject_new"):
            await words.resolve_conflict(ALICE, name, asking(other))
    undone = await words.undo_conflict(ALICE, name, CALLER)
    assert (undone.status, undone.by) == ("pending", "key7")
    assert undone.previous is not None
    assert (undone.previous.strategy, undone.previous.by, undone.previous.at) == ("reject_new", "system", first.at)
    assert await words.undo_conflict(ALICE, name) == undone
    await words.resolve_conflict(ALICE, name, asking("supersede"))
    await check_questions(world, words)


async def test_what_was_never_decided_can_not_be_undone(words: MemoryCore) -> None:
    _, _, name = await open_conflict(words)
    with pytest.raises(Conflict, match="nothing was decided"):
        await words.undo_conflict(ALICE, name)


@pytest.mark.parametrize("decision", DECISIONS)
async def test_an_undo_restores_both_as_they_were(words: MemoryCore, world: World, decision: str) -> None:
    """Content, status, validity and chain; the reason of the contradiction; the counts of the session."""
    end = NOW + timedelta(days=300)
    old, new, name = await open_conflict(words, session_id="s1", valid_until=end)
    before, record = await now(words, old, new), await words.conflict(ALICE, name)
    world.clock.forward(60)
    await words.resolve_conflict(ALICE, name, asking(decision, "because"))
    world.clock.forward(60)
    undone = await words.undo_conflict(ALICE, name)
    assert [standing(one) for one in await now(words, old, new)] == [standing(one) for one in before]
    assert (undone.reason, undone.strategy, undone.sides) == (record.reason, record.strategy, record.sides)
    assert {one.content for one in await listed(words)} == {one.content for one in before}
    assert (await words.session(ALICE, "s1")).counts == {"semantic": 2}
    await check_questions(world, words)


@pytest.mark.parametrize("strategy", OnConflict)
async def test_what_was_decided_at_a_save_can_be_undone(words: MemoryCore, world: World, strategy: OnConflict) -> None:
    """Both stand then, the new one as if nobody had contradicted it; a rejected text comes back."""
    old = await lives(words, "Oslo", tags=["a"])
    before = await words.get(ALICE, old.memory.id)
    new = await lives(words, "Bergen", 1, on_conflict=strategy, tags=["b"], session_id="s1")
    assert new.conflict is not None
    undone = await words.undo_conflict(ALICE, new.conflict.id)
    assert (undone.status, undone.old_id) == ("pending", old.memory.id)
    assert undone.new_id is not None
    assert standing(await words.get(ALICE, old.memory.id)) == standing(before)
    alone = await words.get(ALICE, undone.new_id)
    assert (alone.content, alone.tags, alone.status, alone.supersedes_id, alone.valid_until) == (
        "Ana lives in Bergen", ["b"], Status.ACTIVE, None, None,
    )  # fmt: skip
    assert alone.embedding is not None
    assert alone.embedding.tolist() == (await WordsEmbedder().embed(["Ana lives in Bergen"]))[0].tolist()
    assert (await words.session(ALICE, "s1")).counts == {"semantic": 1}
    assert sorted(await find(words, "Where does Ana live?", answer_threshold=0.1, similarity_threshold=0.1)) == [
        "Ana lives in Bergen",
        "Ana lives in Oslo",
    ]
    await check_questions(world, words)


async def test_a_rejected_text_is_shown_in_its_record(core: MemoryCore) -> None:
    await lives(core, "Oslo")
    rejected = (await lives(core, "Bergen", 1, on_conflict=OnConflict.REJECT_NEW)).conflict
    assert rejected is not None
    assert (rejected.new_id, rejected.rejected_content) == (None, "Ana lives in Bergen")
    assert "moves" not in rejected.public()
    undone = await core.undo_conflict(ALICE, rejected.id)
    assert undone.rejected_content is None


async def test_a_fact_that_came_late_stands_again_against_its_successor(core: MemoryCore, world: World) -> None:
    first, last = await lives(core, "Oslo", 0), await lives(core, "Bergen", 9)
    before = await now(core, first, last)
    late = await lives(core, "Turku", 5)
    assert late.conflict is not None
    assert late.memory.status is Status.SUPERSEDED
    await core.undo_conflict(ALICE, late.conflict.id)
    assert [standing(one) for one in await now(core, first, last)] == [standing(one) for one in before]
    (came,) = await now(core, late)
    assert (came.status, came.valid_until, came.next_id, came.supersedes_id) == (Status.ACTIVE, None, None, None)
    await check_questions(world, core)


async def superseded(core: MemoryCore, new: Saved) -> str:
    return f"{new.memory.id} is superseded by {(await lives(core, 'Turku', 2)).memory.id} since"


async def edited(core: MemoryCore, new: Saved) -> str:
    await core.update(ALICE, new.memory.id, UpdateInput(content="Ana lives in Bergen, Norway"), "*")
    return f"{new.memory.id} was edited since"


async def deleted(core: MemoryCore, new: Saved) -> str:
    await core.delete(ALICE, new.memory.id)
    return f"{new.memory.id} is deleted since"


@pytest.mark.parametrize("later", [superseded, edited, deleted])
async def test_an_undo_names_what_is_in_its_way(core: MemoryCore, world: World, later: Any) -> None:
    await lives(core, "Oslo")
    new = await lives(core, "Bergen", 1)
    said = await later(core, new)
    before = await all_of(core)
    assert new.conflict is not None
    with pytest.raises(Conflict) as refused:
        await core.undo_conflict(ALICE, new.conflict.id)
    assert said in refused.value.detail
    assert await all_of(core) == before
    await check_questions(world, core)


async def test_decisions_that_stand_on_each_other_are_undone_one_after_the_other(core: MemoryCore, world: World) -> None:
    told = [await lives(core, where, day) for day, where in enumerate(("Oslo", "Bergen", "Turku"))]
    before = (await now(core, told[0]))[0]
    for one in (told[2], told[1]):
        assert one.conflict is not None
        await core.undo_conflict(ALICE, one.conflict.id)
        await check_questions(world, core)
    assert {one.content for one in await listed(core)} == {one.memory.content for one in told}
    assert before.valid_until is not None
    assert {one.valid_until for one in await listed(core)} == {None}


async def test_a_memory_told_again_since_is_in_nobodys_way(words: MemoryCore, world: World) -> None:
    old, new = await lives(words, "Oslo"), await lives(words, "Bergen", 1)
    await lives(words, "Bergen", 2)
    assert new.conflict is not None
    await words.undo_conflict(ALICE, new.conflict.id)
    first, second = await now(words, old, new)
    assert (first.status, second.status, second.reinforcement_count) == (Status.ACTIVE, Status.ACTIVE, 1)
    await check_questions(world, words)


async def delete(core: MemoryCore, one: Saved) -> str:
    await core.delete(ALICE, one.memory.id)
    return "deleted"


async def set_deleted(core: MemoryCore, one: Saved) -> str:
    await core.set_status(ALICE, one.memory.id, StatusInput(status="deleted"))
    return "deleted"


async def clear(core: MemoryCore, one: Saved) -> str:
    await core.clear(ALICE, ClearInput(session_id=one.memory.session_id or ""))
    return "deleted"


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("leave", [delete, set_deleted, clear])
async def test_a_question_ends_with_either_of_its_memories(words: MemoryCore, world: World, side: int, leave: Any) -> None:
    *both, name = await open_conflict(words, session_id="s1")
    became = await leave(words, both[side])
    record = await words.conflict(ALICE, name)
    assert (record.status, record.by) == ("resolved", "rule")
    assert f"{both[side].memory.id} is {became}" in record.reason
    assert {one.conflict_state for one in await now(words, *both)} == {"resolved"}
    await check_questions(world, words)
    with pytest.raises(Conflict, match="resolved already"):
        await words.resolve_conflict(ALICE, name, asking("supersede"))
    with pytest.raises(Conflict, match=f"{both[side].memory.id} is {became}"):
        await words.undo_conflict(ALICE, name)


async def test_a_question_that_ended_with_a_memory_is_open_again_when_that_is_back_and_somebody_asks(
    words: MemoryCore, world: World
) -> None:
    old, _, name = await open_conflict(words)
    await words.delete(ALICE, old.memory.id)
    await words.set_status(ALICE, old.memory.id, StatusInput(status="active"))
    assert await open_ids(world) == set()
    assert (await words.undo_conflict(ALICE, name)).open
    await check_questions(world, words)


async def test_a_question_survives_an_edit_and_is_decided_about_what_is_there_then(words: MemoryCore, world: World) -> None:
    old, new, name = await open_conflict(words)
    await words.update(ALICE, old.memory.id, UpdateInput(content="the big old server listens on port 9090"), "*")
    await words.resolve_conflict(ALICE, name, asking("merge"))
    (merged,) = await listed(words)
    assert merged.content == f"the big old server listens on port 9090\n{new.memory.content}"
    await words.undo_conflict(ALICE, name)
    assert (await words.get(ALICE, old.memory.id)).version == 2
    await check_questions(world, words)


async def test_a_copy_has_no_part_in_the_question(words: MemoryCore, world: World) -> None:
    old, _, _ = await open_conflict(words)
    made = await words.copy(ALICE, old.memory.id, CopyInput(to_agent_id="other"))
    assert (made.conflict_state, made.conflict_ids) == ("none", [])
    await check_questions(world, words)


async def test_a_clear_of_many_open_questions_ends_them_all(words: MemoryCore, world: World) -> None:
    """More than fit the commit that clears: then they end right after."""
    for n in range(30):
        for number, session in ((8080, "s1"), (8081, f"t{n}")):
            await port(words, number, server=f"server{n} s{n} v{n} w{n}", session_id=session)
    await port(words, 8080, server="one that stays")
    *_, name = await open_conflict(words, server="another two that stay")
    assert len(await open_ids(world)) == 31
    assert await words.clear(ALICE, ClearInput(session_id="s1")) == 30
    assert await open_ids(world) == {name}
    assert all("is deleted" in one.reason for one in await records_of(world) if not one.open)
    await check_questions(world, words)


async def test_a_clear_that_dies_before_it_ends_the_questions_leaves_them_to_the_next_write(world: World) -> None:
    words = await world.core(embedder=WordsEmbedder(), duplicate_threshold=0.7)
    for n in range(30):
        for number, session in ((8080, "s1"), (8081, f"t{n}")):
            await port(words, number, server=f"server{n} s{n} v{n} w{n}", session_id=session)
    dying = await world.core(embedder=WordsEmbedder(), wrap=lambda store: DiesAfter(store, 2))
    with pytest.raises(Killed):
        await dying.clear(ALICE, ClearInput(session_id="s1"))
    left = await open_ids(world)
    assert 0 < len(left) < 31
    for one in (await all_of(words)).values():
        if one.conflict_ids and one.status is Status.DELETED:
            await words.set_status(ALICE, one.id, StatusInput(status="active"))
            await words.delete(ALICE, one.id)
    assert await open_ids(world) == set()
    await check_questions(world, words)


async def three_pending(core: MemoryCore) -> tuple[list[Saved], list[str]]:
    """Three truths of one slot that all stand, each asked about with the one before."""
    told = [await lives(core, where, day) for day, where in enumerate(("Oslo", "Bergen", "Turku"))]
    names = [one.conflict.id for one in told if one.conflict is not None]
    for name in reversed(names):
        await core.undo_conflict(ALICE, name)
    return told, names


@pytest.mark.parametrize("decision", ["supersede", "reject_new", "merge"])
async def test_whoever_is_left_in_a_slot_inherits_the_question(core: MemoryCore, world: World, decision: str) -> None:
    _, names = await three_pending(core)
    await core.resolve_conflict(ALICE, names[0], asking(decision))
    (left,) = [one for one in await records_of(world) if one.open]
    if decision == "reject_new":
        ended = await core.conflict(ALICE, names[1])
        assert (ended.status, ended.by) == ("resolved", "rule")
        assert f"{left.id} asks about" in ended.reason
    assert {*left.sides} == {one.id for one in await listed(core)}
    await check_questions(world, core)
    await core.resolve_conflict(ALICE, left.id, asking("supersede"))
    assert len(await listed(core)) == 1
    await check_questions(world, core)


async def test_the_two_that_are_left_when_the_middle_one_goes_are_asked_about(core: MemoryCore, world: World) -> None:
    told, names = await three_pending(core)
    await core.delete(ALICE, told[1].memory.id)
    (left,) = [one for one in await records_of(world) if one.open]
    assert {*left.sides} == {told[0].memory.id, told[2].memory.id}
    ended = [await core.conflict(ALICE, name) for name in names]
    assert {one.status for one in ended} == {"resolved"}
    assert all(f"{told[1].memory.id} is deleted" in one.reason for one in ended)
    assert sum(f"{left.id} asks about" in one.reason for one in ended) == 1
    await check_questions(world, core)


async def test_a_truth_that_replaces_all_of_them_ends_their_questions_and_gives_them_back(core: MemoryCore, world: World) -> None:
    told, _ = await three_pending(core)
    last = await lives(core, "Umeå", 9)
    assert await open_ids(world) == set()
    assert [one.content for one in await listed(core)] == ["Ana lives in Umeå"]
    assert last.conflict is not None
    await core.undo_conflict(ALICE, last.conflict.id)
    assert {one.content for one in await listed(core)} == {one.memory.content for one in (*told, last)}
    pending = [one for one in await records_of(world) if one.open]
    assert {one.old_id for one in pending} == {one.memory.id for one in told}
    assert {one.new_id for one in pending} == {last.memory.id}
    await check_questions(world, core)


async def test_another_users_conflict_is_none(words: MemoryCore) -> None:
    await words.save(BOB, fact("Bob is here"))
    _, _, name = await open_conflict(words)
    assert (await words.conflicts(BOB)).conflicts == ()
    for owner, wanted in ((BOB, name), (ALICE, "cft_none"), (ALICE, (await listed(words))[0].id)):
        for call in (words.conflict(owner, wanted), words.undo_conflict(owner, wanted)):
            with pytest.raises(NotFound):
                await call
        with pytest.raises(NotFound):
            await words.resolve_conflict(owner, wanted, asking("supersede"))
    assert (await words.conflict(ALICE, name)).open


async def test_conflicts_are_listed_newest_first_by_status_and_page(words: MemoryCore, world: World) -> None:
    names = []
    for n in range(7):
        server = f"server{n} s{n} v{n} w{n}"
        await port(words, 8080, server=server)
        made = (await port(words, 8081, server=server)).conflict
        assert made is not None
        names.append(made.id)
    for name in names[::3]:
        await words.resolve_conflict(ALICE, name, asking("keep_both"))
    found, cursor = [], None
    while True:
        page = await words.conflicts(ALICE, ConflictsInput(limit=2, cursor=cursor))
        found += [one.id for one in page.conflicts]
        if (cursor := page.next_cursor) is None:
            break
    assert found == names[::-1]
    resolved = await words.conflicts(ALICE, ConflictsInput(status="resolved"))
    assert [one.id for one in resolved.conflicts] == names[::3][::-1]
    first = await words.conflicts(ALICE, ConflictsInput(status="pending", limit=2))
    second = await words.conflicts(ALICE, ConflictsInput(status="pending", limit=2, cursor=first.next_cursor))
    assert [one.id for one in (*first.conflicts, *second.conflicts)] == [name for name in names[::-1] if name not in names[::3]]
    assert second.next_cursor is None
    for wrong in (ConflictsInput(status="resolved", cursor=first.next_cursor), ConflictsInput(cursor="damaged")):
        with pytest.raises(Malformed):
            await words.conflicts(ALICE, wrong)


async def test_of_two_who_decide_at_once_one_wins(world: World) -> None:
    """The other gets the same answer when it wanted the same, and a 409 otherwise."""
    cores = [await world.core(embedder=WordsEmbedder(), duplicate_threshold=0.7) for _ in range(2)]
    for decisions in (("supersede", "supersede"), ("supersede", "reject_new"), ("merge", "keep_both"), ("merge", "merge")):
        *_, name = await open_conflict(cores[0], server=" ".join(decisions))
        calls = [core.resolve_conflict(ALICE, name, asking(decision)) for core, decision in zip(cores, decisions, strict=True)]
        done = await asyncio.gather(*calls, return_exceptions=True)
        record = await cores[0].conflict(ALICE, name)
        for answer, decision in zip(done, decisions, strict=True):
            if decision == record.strategy:
                assert answer == record
            else:
                assert isinstance(answer, Conflict)
        await check_questions(world, cores[0])


@pytest.mark.parametrize("after", ["snapshot", "commit"])
async def test_a_save_that_lets_a_side_fall_meanwhile_is_met_by_a_409(world: World, after: str) -> None:
    other = await world.core()
    told = [await lives(other, where, day) for day, where in enumerate(("Oslo", "Bergen"))]
    assert told[1].conflict is not None
    name = told[1].conflict.id
    await other.undo_conflict(ALICE, name)

    async def meanwhile() -> None:
        await lives(other, "Turku", 5)

    core = await world.core(wrap=lambda store: Meanwhile(store, "snapshot", meanwhile))
    if after == "commit":
        await meanwhile()
    with pytest.raises(Conflict, match="superseded"):
        await core.resolve_conflict(ALICE, name, asking("merge"))
    assert [one.content for one in await listed(core)] == ["Ana lives in Turku"]
    await check_questions(world, core)


async def test_an_unrelated_save_meanwhile_changes_nothing(world: World) -> None:
    other = await world.core(embedder=WordsEmbedder(), duplicate_threshold=0.7)
    old, new, name = await open_conflict(other)

    async def meanwhile() -> None:
        await other.save(ALICE, fact("it rains today in Rome"))

    core = await world.core(embedder=WordsEmbedder(), wrap=lambda store: Meanwhile(store, "snapshot", meanwhile))
    assert (await core.resolve_conflict(ALICE, name, asking("supersede"))).strategy == "supersede"
    assert [one.status for one in await now(core, old, new)] == [Status.SUPERSEDED, Status.ACTIVE]
    await check_questions(world, core)


async def test_an_agents_decision_names_the_model_and_can_be_undone(world: World) -> None:
    agents = Tellers()
    core = await world.core(agents=agents, rules=Tellers(), embedder=WordsEmbedder(), link_threshold=0.3)
    await tell(core, "Ana's tennis club is Racket")
    before = {one.id: standing(one) for one in await of_category(core, "fact")}
    agents.rulings = on_all("DELETE", category="fact", confidence=0.9)
    await tell(core, "Ana's end of tennis is today", at=NOW + timedelta(days=5))
    (record,) = [one for one in await records_of(world) if one.by == agents.model]
    assert (record.strategy, record.confidence) == ("supersede", 0.9)
    cell, *_ = await of_category(core, "cell")
    assert cell.atomic_facts[0].superseded_by == record.new_id
    await core.undo_conflict(ALICE, record.id)
    facts = await facts_of(core)
    assert {one.status for one in facts.values()} == {Status.ACTIVE}
    assert {one.id: standing(one) for one in facts.values() if one.id in before} == before
    assert facts["Ana's end of tennis is today"].supersedes_id is None
    for told in await of_category(core, "cell"):
        assert [one.superseded_by for one in told.atomic_facts] == [None], "the cell that told it knows that it holds again"
    assert all(not one.atomic_facts for one in await of_category(core, "note"))
    await core.resolve_conflict(ALICE, record.id, asking("supersede"))
    cell, *_ = await of_category(core, "cell")
    assert cell.atomic_facts[0].superseded_by == record.new_id
    await check_questions(world, core)


GARDEN = "We spoke about the old garden with its apple trees and the stone wall"
MORE = "We spoke about the old garden with its apple trees and the broken gate"


@pytest.mark.parametrize("operation", ["UPDATE", "DELETE"])
async def test_notes_that_were_merged_or_contradicted_stand_again(world: World, operation: str) -> None:
    agents = Tellers()
    core = await world.core(agents=agents, rules=Tellers(), embedder=WordsEmbedder(), link_threshold=0.3)
    await tell(core, GARDEN, session="s1")
    before = {one.id: standing(one) for one in await of_category(core, "note")}
    agents.rulings = on_all(operation, category="note")
    await tell(core, MORE, at=NOW + timedelta(days=5), session="s2")
    (record,) = await records_of(world)
    assert (record.strategy, record.by) == ("merge" if operation == "UPDATE" else "supersede", agents.model)
    gone = 0 if operation == "UPDATE" else 1
    assert sum((await core.session(ALICE, "s1")).counts.values()) == 2 - gone
    await core.undo_conflict(ALICE, record.id)
    notes = await of_category(core, "note")
    assert [one.status for one in notes] == [Status.ACTIVE] * 2
    assert {one.id: standing(one) for one in notes if one.id in before} == before
    assert "stone wall" not in notes[1].content
    assert sum((await core.session(ALICE, "s1")).counts.values()) == 2
    await check_questions(world, core)

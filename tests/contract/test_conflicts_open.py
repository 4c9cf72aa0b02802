"""Pending conflicts follow their memories: whatever takes one of these away ends the conflict,
or another memory inherits it.
"""

from __future__ import annotations

from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.errors import Conflict, NotFound
from memory_core.domain.memory import OnConflict, Status
from memory_core.domain.requests.maintenance import DecayInput, ForgetInput
from memory_core.domain.requests.memories import ClearInput, CopyInput, StatusInput, UpdateInput
from memory_core.domain.results import Saved
from memory_core.evolution.commit_rules import MAX_ENDED, SETTLED
from tests.builders import ALICE
from tests.conflicts import (
    all_of,
    asking,
    check_questions,
    lives,
    now,
    one_truth_a_slot,
    open_conflict,
    open_ids,
    port,
    records_of,
    warring,
)
from tests.tasks import Hand
from tests.world import DiesAfter, Killed, WordsEmbedder, World, listed


@pytest.fixture
async def words(world: World) -> MemoryCore:
    """A core that calls texts near which share most of their words."""
    return await warring(world)


async def delete(core: MemoryCore, result: Saved) -> str:
    await core.delete(ALICE, result.memory.id)
    return "deleted"


async def set_deleted(core: MemoryCore, result: Saved) -> str:
    await core.set_status(ALICE, result.memory.id, StatusInput(status="deleted"))
    return "deleted"


async def clear(core: MemoryCore, result: Saved) -> str:
    await core.clear(ALICE, ClearInput(session_id=result.memory.session_id or ""))
    return "deleted"


async def worked_off(core: MemoryCore, accepted: Any) -> None:
    await Hand(core, "consolidation").work_all()
    assert (await core.task(ALICE, accepted.task_id)).status == "succeeded"


async def forget(core: MemoryCore, result: Saved) -> str:
    await worked_off(
        core,
        await core.forget(
            ALICE, ForgetInput.model_validate({"filter": {"ids": [result.memory.id]}})
        ),
    )
    return "deleted"


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("leave", [delete, set_deleted, clear, forget])
async def test_a_question_ends_with_either_of_its_memories(
    words: MemoryCore, world: World, side: int, leave: Any
) -> None:
    *both, name = await open_conflict(words, session_id="s1")
    became = await leave(words, both[side])
    record = await words.conflict(ALICE, name)
    assert (record.status, record.by) == ("resolved", "rule")
    assert f"{both[side].memory.id} is {became}" in record.reason
    assert {memory.conflict_state for memory in await now(words, *both)} == {"resolved"}
    await check_questions(world, words)
    with pytest.raises(Conflict, match="resolved already"):
        await words.resolve_conflict(ALICE, name, asking("supersede"))
    with pytest.raises(Conflict, match=f"{both[side].memory.id} is {became}"):
        await words.undo_conflict(ALICE, name)


async def test_a_question_about_two_that_fade_is_open_when_they_come_back(
    words: MemoryCore, world: World
) -> None:
    old, new, name = await open_conflict(words)
    world.clock.forward(400 * 86_400)
    await worked_off(words, await words.decay(ALICE, DecayInput()))
    assert {memory.status for memory in await now(words, old, new)} == {Status.DECAYED}
    await check_questions(world, words)
    with pytest.raises(Conflict, match=f"{old.memory.id} is decayed"):
        await words.resolve_conflict(ALICE, name, asking("supersede"))
    for side in (old, new):
        await words.restore(ALICE, side.memory.id)
    assert (await words.conflict(ALICE, name)).open
    assert {memory.conflict_state for memory in await now(words, old, new)} == {"pending"}
    await check_questions(world, words)


async def test_a_question_about_one_that_faded_ends_when_that_is_deleted(
    words: MemoryCore, world: World
) -> None:
    old, new, name = await open_conflict(words)
    world.clock.forward(400 * 86_400)
    await worked_off(words, await words.decay(ALICE, DecayInput()))
    await words.delete(ALICE, old.memory.id)
    assert not (await words.conflict(ALICE, name)).open
    assert {memory.conflict_state for memory in await now(words, new)} == {"resolved"}
    await check_questions(world, words)


@pytest.mark.parametrize("side", [0, 1])
async def test_what_is_forgotten_for_good_takes_its_records_along(
    words: MemoryCore, world: World, side: int
) -> None:
    *both, name = await open_conflict(words)
    await worked_off(words, await words.forget(ALICE, for_good(both[side])))
    with pytest.raises(NotFound):
        await words.conflict(ALICE, name)
    (left,) = await all_of(words)
    assert left == both[1 - side].memory.id
    await check_questions(world, words)


async def test_a_rejected_text_goes_with_what_it_was_rejected_for(
    words: MemoryCore, world: World
) -> None:
    old = await lives(words, "Oslo")
    await lives(words, "Bergen", 1, on_conflict=OnConflict.REJECT_NEW)
    await worked_off(words, await words.forget(ALICE, for_good(old)))
    assert await records_of(world) == []


def for_good(result: Saved) -> ForgetInput:
    return ForgetInput.model_validate({"mode": "hard", "filter": {"ids": [result.memory.id]}})


async def test_a_question_that_ended_with_a_memory_is_open_again_when_that_is_back_and_somebody_asks(  # noqa: E501
    words: MemoryCore, world: World
) -> None:
    old, _, name = await open_conflict(words)
    await words.delete(ALICE, old.memory.id)
    await words.set_status(ALICE, old.memory.id, StatusInput(status="active"))
    assert await open_ids(world) == set()
    assert (await words.undo_conflict(ALICE, name)).open
    await check_questions(world, words)


async def test_a_question_survives_an_edit_and_is_decided_about_what_is_there_then(
    words: MemoryCore, world: World
) -> None:
    old, new, name = await open_conflict(words)
    await words.update(
        ALICE, old.memory.id, UpdateInput(content="the big old server listens on port 9090"), "*"
    )
    await words.resolve_conflict(ALICE, name, asking("merge"))
    (merged,) = await listed(words)
    assert merged.content == f"{new.memory.content}\nthe big old server listens on port 9090", (
        "the edit is said when it is made"
    )
    await words.undo_conflict(ALICE, name)
    assert (await words.get(ALICE, old.memory.id)).version == 2
    await check_questions(world, words)


async def test_a_copy_has_no_part_in_the_question(words: MemoryCore, world: World) -> None:
    old, _, _ = await open_conflict(words)
    made = await words.copy(ALICE, old.memory.id, CopyInput(to_agent_id="other"))
    assert (made.conflict_state, made.conflict_ids) == ("none", [])
    await check_questions(world, words)


async def test_a_clear_of_many_open_questions_ends_them_all(
    words: MemoryCore, world: World
) -> None:
    """More than fit the commit that clears: then they end right after."""
    for n in range(30):
        for number, session in ((8080, "s1"), (8081, f"t{n}")):
            await port(words, number, server=f"server{n} s{n} v{n} w{n}", session_id=session)
    await port(words, 8080, server="one that stays")
    *_, name = await open_conflict(words, server="another two that stay")
    assert len(await open_ids(world)) == 31
    assert await words.clear(ALICE, ClearInput(session_id="s1")) == 30
    assert await open_ids(world) == {name}
    assert all(
        "is deleted" in record.reason for record in await records_of(world) if not record.open
    )
    await check_questions(world, words)


async def test_a_clear_that_dies_before_it_ends_the_questions_leaves_them_to_the_next_write(
    world: World,
) -> None:
    words = await world.core(embedder=WordsEmbedder(), duplicate_threshold=0.7)
    for n in range(30):
        for number, session in ((8080, "s1"), (8081, f"t{n}")):
            await port(words, number, server=f"server{n} s{n} v{n} w{n}", session_id=session)
    dying = await world.core(embedder=WordsEmbedder(), wrap=lambda store: DiesAfter(store, 2))
    with pytest.raises(Killed):
        await dying.clear(ALICE, ClearInput(session_id="s1"))
    left = await open_ids(world)
    assert 0 < len(left) < 31
    for memory in (await all_of(words)).values():
        if memory.conflict_ids and memory.status is Status.DELETED:
            await words.set_status(ALICE, memory.id, StatusInput(status="active"))
            await words.delete(ALICE, memory.id)
    assert await open_ids(world) == set()
    await check_questions(world, words)


async def three_pending(core: MemoryCore) -> tuple[list[Saved], list[str]]:
    """Three truths of one slot that all stand, each asked about with the one before."""
    results = [
        await lives(core, where, day) for day, where in enumerate(("Oslo", "Bergen", "Turku"))
    ]
    names = [result.conflict.id for result in results if result.conflict is not None]
    for name in reversed(names):
        await core.undo_conflict(ALICE, name)
    return results, names


@pytest.mark.parametrize("decision", ["supersede", "reject_new", "merge"])
async def test_whoever_is_left_in_a_slot_inherits_the_question(
    core: MemoryCore, world: World, decision: str
) -> None:
    _, names = await three_pending(core)
    await core.resolve_conflict(ALICE, names[0], asking(decision))
    (left,) = [record for record in await records_of(world) if record.open]
    if decision == "reject_new":
        ended = await core.conflict(ALICE, names[1])
        assert (ended.status, ended.by) == ("resolved", "rule")
        assert f"{left.id} asks about" in ended.reason
    assert {*left.sides} == {memory.id for memory in await listed(core)}
    await check_questions(world, core)
    await core.resolve_conflict(ALICE, left.id, asking("supersede"))
    assert len(await listed(core)) == 1
    await check_questions(world, core)


async def test_the_two_that_are_left_when_the_middle_one_goes_are_asked_about(
    core: MemoryCore, world: World
) -> None:
    results, names = await three_pending(core)
    await core.delete(ALICE, results[1].memory.id)
    (left,) = [record for record in await records_of(world) if record.open]
    assert {*left.sides} == {results[0].memory.id, results[2].memory.id}
    ended = [await core.conflict(ALICE, name) for name in names]
    assert {record.status for record in ended} == {"resolved"}
    assert all(f"{results[1].memory.id} is deleted" in record.reason for record in ended)
    assert sum(f"{left.id} asks about" in record.reason for record in ended) == 1
    await check_questions(world, core)


async def test_a_truth_that_replaces_all_of_them_ends_their_questions_and_gives_them_back(
    core: MemoryCore, world: World
) -> None:
    results, _ = await three_pending(core)
    before = await open_ids(world)
    last = await lives(core, "Umeå", 9)
    assert await open_ids(world) == set()
    assert [memory.content for memory in await listed(core)] == ["Ana lives in Umeå"]
    assert last.conflict is not None
    await core.undo_conflict(ALICE, last.conflict.id)
    assert {memory.content for memory in await listed(core)} == {
        result.memory.content for result in (*results, last)
    }
    assert await open_ids(world) == before | {last.conflict.id}
    await check_questions(world, core)


@pytest.mark.parametrize("adapter", ["sqlite", "cosmos"], indirect=True)
async def test_more_questions_than_a_commit_holds_end_with_their_memory_and_leave_one_heir(
    world: World,
) -> None:
    """They end in parts, each of which passes its questions on to the same heir,
    and nothing is written twice.
    """
    core = await world.core()
    truths = [await lives(core, "town 31", 31, pinned=True)]
    truths += [
        await lives(core, f"town {day}", 40 + day, on_conflict=OnConflict.KEEP_BOTH)
        for day in range(31)
    ]
    for truth in truths[1:]:
        assert truth.conflict is not None
        await core.undo_conflict(ALICE, truth.conflict.id)
    last = truths[0].memory.id
    assert len((await core.get(ALICE, last)).conflict_ids) == len(truths) - 1 > MAX_ENDED
    await core.delete(ALICE, last)
    await check_questions(world, core)
    one_truth_a_slot(await all_of(core))
    written = [event.event_type for event in await world.log() if event.memory_id == last]
    assert written[-2:] == ["deleted", SETTLED]

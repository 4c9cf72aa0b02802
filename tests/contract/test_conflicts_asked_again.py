"""A memory that is restored beside one with which it had a pending conflict is asked about again,
in the same record.
"""

from __future__ import annotations

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.conflict import ConflictRecord
from memory_core.domain.results import Saved
from tests.builders import ALICE
from tests.conflicts import all_of, asking, check_questions, lives, one_truth_a_slot, records_of
from tests.world import World, listed


async def open_pair(core: MemoryCore) -> tuple[Saved, Saved, ConflictRecord]:
    """Two homes in a pending conflict."""
    first, second = await lives(core, "Oslo", -2), await lives(core, "Bergen", -1)
    assert second.conflict is not None
    return first, second, await core.undo_conflict(ALICE, second.conflict.id)


async def is_open_again(core: MemoryCore, world: World, record: ConflictRecord) -> None:
    (only,) = await records_of(world)
    assert (only.id, only.open) == (record.id, True)
    assert {tuple(memory.conflict_ids) for memory in await listed(core)} == {(record.id,)}
    await check_questions(world, core)


@pytest.mark.parametrize("side", [0, 1])
async def test_a_side_that_was_deleted_and_is_restored_is_asked_about_again(
    world: World, side: int
) -> None:
    core = await world.core()
    *pair, record = await open_pair(core)
    await core.delete(ALICE, pair[side].memory.id)
    assert [record.open for record in await records_of(world)] == [False]
    await core.restore(ALICE, pair[side].memory.id)
    await is_open_again(core, world, record)
    await core.resolve_conflict(ALICE, record.id, asking("supersede"))
    assert [memory.content for memory in await listed(core)] == ["Ana lives in Bergen"]


async def test_a_side_that_was_replaced_and_is_undone_is_asked_about_again(world: World) -> None:
    core = await world.core()
    _, second, _ = await open_pair(core)
    await lives(core, "Rome", 0)
    assert [memory.content for memory in await listed(core)] == ["Ana lives in Rome"]
    await core.restore(ALICE, second.memory.id)
    await check_questions(world, core)
    one_truth_a_slot(await all_of(core))


@pytest.mark.parametrize("decision", ["keep_both", "supersede", "reject_new"])
async def test_what_a_person_has_decided_stays_decided(world: World, decision: str) -> None:
    core = await world.core()
    first, second, record = await open_pair(core)
    await core.resolve_conflict(ALICE, record.id, asking(decision, "she said so"))
    for result in (first, second):
        memory = await core.get(ALICE, result.memory.id)
        if memory.status.value == "active":
            await core.delete(ALICE, result.memory.id)
            await core.restore(ALICE, result.memory.id)
    assert [record.open for record in await records_of(world)] == [False]

"""Contradictions within a scene: the later of two facts holds, with a record; in two scenes both
hold, and what was taken back stays so.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.memory import Status
from memory_core.domain.requests.maintenance import ConsolidateInput
from memory_core.domain.results import Accepted
from tests.builders import ALICE, NOW
from tests.contract.test_scenes import consolidated
from tests.tasks import Hand, task_of
from tests.telling import Tellers, facts_of, on_all, tell
from tests.world import DiesAfter, Killed, World

VEGAN, BEEF = "Ana's diet is vegan pasta", "Ana's dinner is beef pasta"


async def told(world: World, agents: Tellers, apart: timedelta) -> MemoryCore:
    core = await world.core(agents=agents)
    await tell(core, VEGAN, at=NOW)
    await tell(core, BEEF, at=NOW + apart, session="s2")
    return core


async def statuses(core: MemoryCore) -> dict[str, Status]:
    return {text: memory.status for text, memory in (await facts_of(core)).items()}


async def test_in_one_scene_the_later_fact_holds_with_a_record_and_both_again_once_it_is_undone(
    world: World,
) -> None:
    agents = Tellers(rulings=on_all("DELETE", category="fact", confidence=0.9))
    core = await told(world, agents, timedelta(days=1))
    task = await consolidated(core)
    assert task.result is not None
    assert task.result["counts"]["scene_conflicts"] == 1
    assert await statuses(core) == {VEGAN: Status.SUPERSEDED, BEEF: Status.ACTIVE}
    (record,) = (await core.conflicts(ALICE)).conflicts
    facts = await facts_of(core)
    assert (record.old_id, record.new_id, record.status, record.by) == (
        facts[VEGAN].id,
        facts[BEEF].id,
        "resolved",
        "scripted",
    )
    assert "both in one scene" in record.reason
    cell = await core.get(ALICE, facts[VEGAN].cell_id or "")
    assert [fact.superseded_by for fact in cell.atomic_facts] == [facts[BEEF].id]
    await core.undo_conflict(ALICE, record.id)
    await consolidated(core)
    assert await statuses(core) == {VEGAN: Status.ACTIVE, BEEF: Status.ACTIVE}


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_in_two_scenes_nobody_is_asked_and_both_hold(world: World) -> None:
    agents = Tellers(rulings=on_all("DELETE", category="fact", confidence=0.9))
    core = await told(world, agents, timedelta(days=30))
    before = agents.calls["conflicts"]
    await consolidated(core)
    assert await statuses(core) == {VEGAN: Status.ACTIVE, BEEF: Status.ACTIVE}
    assert agents.calls["conflicts"] == before


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_an_agent_that_is_unsure_retires_nothing_and_leaves_it_to_a_person(
    world: World,
) -> None:
    core = await told(
        world, Tellers(rulings=on_all("DELETE", category="fact", confidence=0.6)), timedelta(days=1)
    )
    await consolidated(core)
    assert await statuses(core) == {VEGAN: Status.ACTIVE, BEEF: Status.ACTIVE}
    (record,) = (await core.conflicts(ALICE)).conflicts
    assert (record.status, record.strategy, record.by) == ("pending", "keep_both", "scripted")


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_killed_at_any_commit_it_is_decided_once(world: World) -> None:
    agents = Tellers(rulings=on_all("DELETE", category="fact", confidence=0.9))
    core = await told(world, agents, timedelta(days=1))
    accepted = await core.consolidate(ALICE, ConsolidateInput())
    assert isinstance(accepted, Accepted)
    for kill in range(10):
        dying = await world.core(
            agents=agents, wrap=lambda store, kill=kill: DiesAfter(store, 1, applied=bool(kill % 2))
        )  # type: ignore[misc]
        with suppress(Killed):
            await Hand(dying, "consolidation").work_all()
        await world.end(dying)
        world.clock.forward(61)
    await Hand(core, "consolidation").work_all()
    assert (await task_of(core, accepted)).status == "succeeded"
    assert await statuses(core) == {VEGAN: Status.SUPERSEDED, BEEF: Status.ACTIVE}
    assert len((await core.conflicts(ALICE)).conflicts) == 1

"""Instructions that exclude each other in words of their own: a model compares them in a run."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.builders import ALICE, NOW
from tests.contract.test_scenes import consolidated
from tests.contract.test_wishes_heeded import instructions
from tests.telling import Tellers, on_all, tell
from tests.world import World

ENGLISH = "Please always answer in English, in short sentences."
GERMAN = "From now on always write to me in German, because I practise it."


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_the_later_of_two_instructions_that_exclude_each_other_stands_until_it_is_undone(
    world: World,
) -> None:
    agents = Tellers(rulings=on_all("DELETE", category="instruction", confidence=0.9))
    core = await world.core(agents=agents)
    await tell(core, ENGLISH)
    await tell(core, GERMAN, at=NOW + timedelta(days=1), session="s2")
    assert set(await instructions(core)) == {ENGLISH, GERMAN}
    task = await consolidated(core)
    assert task.result is not None
    assert task.result["counts"]["instruction_conflicts"] == 1
    assert await instructions(core) == [GERMAN]
    (record,) = (await core.conflicts(ALICE)).conflicts
    assert (record.status, record.strategy, record.by) == ("resolved", "supersede", agents.model)
    await core.undo_conflict(ALICE, record.id)
    await consolidated(core)
    assert set(await instructions(core)) == {ENGLISH, GERMAN}


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
@pytest.mark.parametrize(("operation", "confidence"), [("KEEP", 0.9), ("DELETE", 0.6)])
async def test_instructions_that_a_model_does_not_surely_set_apart_stand_beside_each_other(
    world: World, operation: str, confidence: float
) -> None:
    agents = Tellers(rulings=on_all(operation, category="instruction", confidence=confidence))
    core = await world.core(agents=agents)
    await tell(core, ENGLISH)
    await tell(core, GERMAN, at=NOW + timedelta(days=1), session="s2")
    await consolidated(core)
    assert set(await instructions(core)) == {ENGLISH, GERMAN}
    assert not (await core.conflicts(ALICE)).conflicts

"""Forgetting a session for good while what was told in it is yet to be formed:
it is not formed, and no word of it is kept.
"""

from __future__ import annotations

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.memory import MemoryType
from memory_core.domain.requests.memories import TasksInput
from memory_core.domain.results import Accepted, Buffered
from tests.agents import ScriptedAgents
from tests.batches import gather, waiting
from tests.builders import ALICE
from tests.contract.test_edited_into_a_slot import ON_ONE_STORE
from tests.contract.test_forget import asked, everything, forgotten, no_trace
from tests.tasks import Hand, converse, finished, pending, task_of, texts
from tests.world import Meanwhile, World, listed, turn


@pytest.mark.parametrize("adapter", ["sqlite", "cosmos"], indirect=True)
async def test_what_was_told_before_it_is_not_formed_and_what_is_told_after_it_is(
    core: MemoryCore, world: World
) -> None:
    before, elsewhere = await converse(core), await converse(core, "I live in Oslo", session="s2")
    accepted = await core.forget(ALICE, asked("hard", session_id="s1"))
    assert isinstance(accepted, Accepted)
    after = await converse(core, "I live in Turku")
    for queue in ("consolidation", "formation"):
        await Hand(core, queue).work_all()
    assert [(await task_of(core, answer)).status for answer in (accepted, elsewhere, after)] == [
        "succeeded"
    ] * 3
    assert (await task_of(core, before)).status == "cancelled"
    assert await texts(core) == [
        "I live in Oslo",
        "I live in Turku",
        "The user lives in Oslo",
        "The user lives in Turku",
    ]
    await no_trace(world, "Lisbon", "flamenco", "guitar")
    assert await pending(world) == 0


@ON_ONE_STORE
@pytest.mark.parametrize("first", ["formation", "consolidation"])
async def test_whoever_comes_first_nothing_of_it_is_formed(world: World, first: str) -> None:
    core = await world.core()
    answer = await converse(core)
    accepted = await core.forget(ALICE, asked("hard", session_id="s1"))
    assert isinstance(accepted, Accepted)
    for queue in (first, "formation", "consolidation"):
        await Hand(core, queue).work_all()
    assert [(await task_of(core, started)).finished for started in (accepted, answer)] == [
        True,
        True,
    ]
    assert (await listed(core, status="all"), await pending(world)) == ([], 0)
    await no_trace(world, "Lisbon", "flamenco", "guitar")


@ON_ONE_STORE
async def test_what_could_not_be_formed_is_given_up(world: World) -> None:
    core = await world.core(agents=ScriptedAgents(broken=True))
    answer = await converse(core)
    assert (await finished(world, core, answer)).status == "poisoned"
    await forgotten(core, "hard", session_id="s1")
    assert ((await task_of(core, answer)).status, await pending(world)) == ("cancelled", 0)
    await no_trace(world, "Lisbon", "flamenco", "guitar")


@ON_ONE_STORE
async def test_what_was_gathered_before_it_is_thrown_away(core: MemoryCore, world: World) -> None:
    await gather(core, "I live in Oslo")
    await forgotten(core, "hard", session_id="s1")
    assert await core.batch_state(ALICE, "s1") == Buffered(0, None)
    (task,) = (await core.tasks(ALICE, TasksInput(kind="flush"))).tasks
    assert (task.status, task.result) == ("succeeded", {"cells": [], "counts": {"cleared": 1}})
    assert await pending(world) == 0
    assert "Oslo" not in await everything(world)


@ON_ONE_STORE
async def test_of_some_types_only_these_are_not_formed(core: MemoryCore, world: World) -> None:
    answer = await converse(core, "I live in Oslo")
    await gather(core, "I live in Turku")
    await forgotten(core, "hard", session_id="s1", types=["semantic"])
    assert (await finished(world, core, answer)).status == "succeeded"
    assert await texts(core) == ["I live in Oslo"]
    assert await waiting(world) == [["I live in Turku"]]


@ON_ONE_STORE
async def test_a_filter_that_fits_no_message_leaves_it(core: MemoryCore, world: World) -> None:
    answer = await converse(core, "I live in Oslo")
    await forgotten(core, "hard", session_id="s1", tags=["x"])
    await finished(world, core, answer)
    assert await texts(core) == ["I live in Oslo", "The user lives in Oslo"]


@ON_ONE_STORE
async def test_a_filter_that_fits_its_messages_takes_all_of_it(
    core: MemoryCore, world: World
) -> None:
    answer = await converse(core, "I live in Oslo")
    await forgotten(core, "hard", types=[MemoryType.EPISODIC])
    assert (await finished(world, core, answer)).status == "cancelled"
    assert await texts(core) == []
    assert "Oslo" not in await everything(world)


@ON_ONE_STORE
async def test_what_is_formed_while_it_is_asked_for_is_forgotten_too(world: World) -> None:
    other = await world.core(agents=ScriptedAgents())
    await other.save(ALICE, turn("hello"))
    await converse(other)

    async def form() -> None:
        await Hand(other).work_all()

    core = await world.core(wrap=lambda store: Meanwhile(store, "page", form))
    await forgotten(core, "hard", session_id="s1")
    assert await listed(other, status="all") == []
    await no_trace(world, "Lisbon", "flamenco", "guitar", "hello")

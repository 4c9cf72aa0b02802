"""Patterns while others write and processes die: each is made once, and rests on what is there
at the commit.
"""

from __future__ import annotations

import contextlib
import itertools
from datetime import timedelta
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.results import Accepted
from tests.builders import ALICE, NOW
from tests.mortal import Moment, Mortal
from tests.past import told_by_the_log
from tests.patterns import (
    ANIMALS,
    RUNS,
    Finding,
    consolidated,
    counts,
    patterns,
    told,
    walked,
    walks,
)
from tests.tasks import Hand, task_of
from tests.world import Killed, WordsEmbedder, World, listed, turn

here = pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
"""What is decided without asking what the store is."""


@here
async def test_who_is_deleted_before_the_commit_supports_nothing(world: World) -> None:
    agents = Finding({"summary": "User goes running in the park", "sources": [0, 2, 3]})
    core = await world.core(embedder=WordsEmbedder(), agents=agents)
    episodes = await told(core, *RUNS)

    async def deleting(name: str) -> None:
        if name == "patterns":
            await core.delete(ALICE, episodes[0].id)

    agents.before = deleting
    assert counts(await consolidated(core)) == {"patterns": 1}
    (pattern,) = await patterns(core)
    assert pattern.source_ids == [episodes[2].id, episodes[3].id]
    assert (await core.get(ALICE, episodes[0].id)).consolidated_into_ids == []


@here
async def test_with_too_few_left_at_the_commit_nothing_is_made(world: World) -> None:
    agents = Finding({"summary": "User goes running in the park", "sources": [0, 1]})
    core = await world.core(embedder=WordsEmbedder(), agents=agents)
    episodes = await told(core, RUNS[0], RUNS[2])
    other = await world.core(embedder=WordsEmbedder())

    async def deleting(name: str) -> None:
        await other.delete(ALICE, episodes[1].id)

    agents.before = deleting
    assert counts(await consolidated(core)) == {"patterns_dropped": 1}
    assert await patterns(core) == []


@here
async def test_a_write_in_between_survives(world: World) -> None:
    agents = Finding({"summary": "User goes running in the park", "sources": [0, 2, 3]})
    core = await world.core(embedder=WordsEmbedder(), agents=agents)
    await told(core, *RUNS)
    other = await world.core(embedder=WordsEmbedder())

    async def saving(name: str) -> None:
        await other.save(
            ALICE,
            turn("I went running in the park at night", event_timestamp=NOW + timedelta(days=9)),
        )

    agents.before = saving
    await consolidated(core)
    agents.before = None
    assert len(await listed(core, type="episodic")) == 5
    await consolidated(core)
    (pattern,) = await patterns(core)
    assert len(pattern.source_ids) >= 3
    await told_by_the_log(core, world)


async def all_walks_are_told_once(core: MemoryCore, accepted: Accepted) -> None:
    task = await task_of(core, accepted)
    assert task.status == "succeeded"
    assert counts(task) == {"patterns": 4}
    made = await patterns(core)
    assert sorted(memory.content for memory in made) == sorted(
        f"User sees a {animal} in the park" for animal in ANIMALS
    )
    assert {len(memory.source_ids) for memory in made} == {20}
    ids = {pattern.id for pattern in made}
    assert all(
        set(memory.consolidated_into_ids) == ids for memory in await listed(core, type="episodic")
    )


@here
async def test_killed_at_any_write_it_goes_on_and_makes_each_pattern_once(cold_worlds: Any) -> None:
    for at in itertools.count(1):
        after = bool(at % 2)
        world, agents, moment = cold_worlds(), walks(), Moment(at, after)
        agents.before = moment.on_agent
        mortal = await world.core(
            embedder=WordsEmbedder(),
            agents=agents,
            wrap=lambda store, moment=moment: Mortal(store, moment),
        )
        rescuer = await world.core(embedder=WordsEmbedder(), agents=walks())
        accepted = await walked(rescuer)
        with contextlib.suppress(Killed):
            await Hand(mortal, "consolidation").work_all()
        for _ in range(3):
            world.clock.forward(1000)
            await rescuer.sweep()
            await Hand(rescuer, "consolidation").work_all()
        await all_walks_are_told_once(rescuer, accepted)
        finished, moment.dead = not moment.dead, False
        await world.close()
        if finished:
            assert at > 5
            return

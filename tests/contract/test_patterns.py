"""Patterns as their users see them: what several episodes say becomes a memory that
names them, once.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory_core.adapters.offline.agents import OfflineAgents
from memory_core.core import MemoryCore
from memory_core.domain.memory import Status
from memory_core.domain.requests.maintenance import ConsolidateInput
from memory_core.domain.requests.memories import RetrieveInput
from memory_core.domain.results import Foreseen
from tests.builders import ALICE, NOW
from tests.contract.test_forget import forgotten
from tests.past import told_by_the_log
from tests.patterns import HABIT, RUNS, Finding, consolidated, counts, patterns, told
from tests.world import BOB, WordsEmbedder, World, listed

here = pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
"""What is decided without asking what the store is."""
DAY = 86_400.0


@pytest.fixture
async def core(world: World) -> MemoryCore:
    return await world.core(embedder=WordsEmbedder(), agents=OfflineAgents(), rules=OfflineAgents())


async def test_what_was_told_again_and_again_becomes_a_memory_that_names_its_episodes(
    core: MemoryCore, world: World
) -> None:
    episodes = await told(core, *RUNS)
    task = await consolidated(core)
    assert counts(task) == {"patterns": 1}
    (pattern,) = await patterns(core)
    cited = [episodes[place].id for place in (0, 2, 3)]
    assert (pattern.content, pattern.type, pattern.category) == (HABIT, "semantic", "pattern")
    assert (pattern.source_ids, pattern.pattern_detected, pattern.importance_basis) == (
        cited,
        "user_habit_pattern",
        "consolidation",
    )
    assert (pattern.consolidation_run, pattern.status_reason) == (
        "2026-05-08T12:00:00Z",
        "consolidated",
    )
    assert (pattern.session_id, pattern.valid_from, pattern.event_timestamp) == (
        "s1",
        NOW,
        NOW + timedelta(days=3),
    )
    assert pattern.metadata == {"page": 3}  # of its latest episode
    for episode in episodes:
        memory = await core.get(ALICE, episode.id)
        assert (memory.status, memory.content) == (Status.ACTIVE, episode.content)
        assert memory.consolidated_into_ids == ([pattern.id] if episode.id in cited else [])
    assert {
        event.actor for event in await world.log() if event.event_type in ("consolidated",)
    } == {"consolidation"}
    await told_by_the_log(core, world)
    hits = (
        await core.retrieve(ALICE, RetrieveInput(query="running park again", types=["semantic"]))
    ).results
    assert [hit.memory.content for hit in hits] == [HABIT]


@here
async def test_nothing_new_makes_nothing_new(core: MemoryCore, world: World) -> None:
    await told(core, *RUNS)
    await consolidated(core)
    before = await world.log()
    assert counts(await consolidated(core)) == {}
    assert await world.log() == before


@here
async def test_similar_news_makes_the_pattern_surer_instead_of_a_second_one(
    core: MemoryCore, world: World
) -> None:
    await told(core, *RUNS)
    await consolidated(core)
    (once,) = await patterns(core)
    world.clock.forward(5 * DAY)
    (more,) = await told(core, "I went running in the park this evening", session="s2", day=5)
    assert counts(await consolidated(core)) == {"patterns_reinforced": 1}
    (pattern,) = await patterns(core)
    assert (pattern.id, pattern.source_ids) == (once.id, [*once.source_ids, more.id])
    assert (pattern.reinforcement_count, pattern.event_timestamp) == (1, NOW + timedelta(days=5))
    assert pattern.confidence > once.confidence
    assert (await core.get(ALICE, more.id)).consolidated_into_ids == [pattern.id]


async def test_a_habit_is_found_though_each_run_sees_one_day(
    core: MemoryCore, world: World
) -> None:
    for day, content in enumerate((RUNS[0], RUNS[2], RUNS[3])):
        assert await patterns(core) == []
        await told(core, content, session=f"day {day}", day=day)
        await consolidated(core)
    (pattern,) = await patterns(core)
    assert (len(pattern.source_ids), pattern.session_id) == (3, None)


@here
async def test_a_pattern_that_somebody_deleted_does_not_come_back(core: MemoryCore) -> None:
    await told(core, *RUNS)
    await consolidated(core)
    (pattern,) = await patterns(core)
    await core.delete(ALICE, pattern.id)
    await told(
        core,
        "I went running in the park this evening",
        "I went running in the park tonight at last",
        session="s2",
        day=5,
    )
    assert counts(await consolidated(core)) == {}
    assert await patterns(core) == []


@here
async def test_what_is_said_once_or_passes_or_fills_a_slot_is_no_pattern(core: MemoryCore) -> None:
    await told(
        core,
        "I love jazz",
        "I live in Oslo",
        "I live in Oslo",
        "I live in Oslo",
        "I have a cold",
        "I have a cold",
        "I have a cold",
    )
    assert counts(await consolidated(core)) == {}
    assert await patterns(core) == []


@here
async def test_nobody_elses_episodes_count(core: MemoryCore) -> None:
    for owner in (ALICE, BOB):
        await told(core, *RUNS[:2], owner=owner)
    await told(core, *RUNS[2:], owner=BOB)
    await consolidated(core, ALICE)
    await consolidated(core, BOB)
    assert await patterns(core, ALICE) == []
    (pattern,) = await patterns(core, BOB)
    theirs = {memory.id for memory in await listed(core, BOB)}
    assert set(pattern.source_ids) <= theirs


async def test_forgotten_for_good_an_episode_takes_its_pattern_with_it(
    core: MemoryCore, world: World
) -> None:
    episodes = await told(core, *RUNS)
    await consolidated(core)
    await forgotten(core, "hard", ids=[episodes[0].id])
    assert await patterns(core) == []
    assert not any(memory.consolidated_into_ids for memory in await listed(core))


@here
async def test_a_dry_run_counts_and_asks_nobody(world: World) -> None:
    agents = Finding()
    core = await world.core(agents=agents)
    await told(core, *RUNS)
    seen = await core.consolidate(ALICE, ConsolidateInput(dry_run=True))
    assert isinstance(seen, Foreseen)
    assert (seen.counts["episodes"], agents.calls["patterns"]) == (4, 0)

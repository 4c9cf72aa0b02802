"""A month of one life, hour by hour: what is known of Nora in the end, how it was known before,
and that all of it happens once.

She tells 300 messages and more; offline agents listen. Note: the month is lived once for all tests
here, each of which gets a copy of what it left; only the one that replays it lives it again.
"""

from __future__ import annotations

import asyncio
import shutil
from collections import Counter
from collections.abc import AsyncIterator
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from memory_core.adapters.offline.agents import OfflineAgents
from memory_core.core import MemoryCore
from memory_core.domain.requests.memories import ContextInput, RetrieveInput
from memory_core.domain.transitions import FOUND_BY_DEFAULT
from memory_core.domain.truth.slots import is_retraction, slot_of
from tests.builders import CountedIds, StillClock
from tests.life.living import NORA, hour, live, named, state_of
from tests.life.script import BEGINS, DAYS, HOUR, life
from tests.past import check_that_the_log_tells_it
from tests.tasks import Hand
from tests.world import WordsEmbedder, World, listed

ENDS = BEGINS + timedelta(days=DAYS)
ASKED = (
    "Where does Nora live?",
    "Which city is home?",
    "Where does she work, and as what?",
    "Is she vegan or vegetarian? What does she eat?",
    "What is her job at Fabrikam?",
    "Tell me about Berlin",
    "Who is her boss?",
    "What is her diet?",
)
OVER = {"Berlin", "Fabrikam", "translator", "vegan", "vegetarian"}


async def core_of(world: World, seed: str = "a") -> MemoryCore:
    """Offline agents, and vectors by words: near is what has most words in common."""
    rules = OfflineAgents()
    scale: dict[str, Any] = {
        "duplicate_threshold": 0.9,
        "contradiction_floor": 0.5,
        "link_threshold": 0.75,
    }
    embedder = WordsEmbedder()
    return await world.core(
        agents=rules,
        rules=rules,
        embedder=embedder,
        ids=CountedIds(seed),
        consolidation_spread_minutes=0,
        **scale,
    )


def world_at(folder: Path) -> World:
    return World(folder, clock=StillClock(BEGINS), embedder=WordsEmbedder())


async def lived(folder: Path) -> int:
    world = world_at(folder)
    try:
        return await live(await core_of(world), world, life(), BEGINS, ENDS)
    finally:
        await world.close()


@pytest.fixture(scope="module")
def month(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a month that was lived."""
    folder = tmp_path_factory.mktemp("month")
    asyncio.run(lived(folder))
    return folder


@pytest.fixture
async def after(month: Path, tmp_path: Path) -> AsyncIterator[World]:
    """The world as it is after the month."""
    shutil.copytree(month, tmp_path, dirs_exist_ok=True)
    made = world_at(tmp_path)
    made.clock.moment = ENDS
    yield made
    await made.close()


@pytest.fixture
async def core(after: World) -> MemoryCore:
    return await core_of(after, "afterwards")


def test_the_month_is_one() -> None:
    talks = life()
    assert sum(len(talk.lines) for talk in talks) >= 300
    assert len({talk.at.date() for talk in talks}) == DAYS
    assert len({talk.session for talk in talks}) >= 5


async def test_the_profile_is_right_in_the_end_and_at_any_day_before(core: MemoryCore) -> None:
    profile = {line.name: line for line in (await core.profile(NORA)).explicit}
    now = {name: line.value for name, line in profile.items() if not name.startswith("opinion of ")}
    assert now == {
        "name": "Nora",
        "home city": "Lisbon",
        "employer": "Northwind",
        "occupation": "editor",
        "learning portuguese": "yes",
        "eats fish": "yes",
        "eats meat": "no",
        "pet miso": "cat",
    }
    assert [previous.value for previous in profile["home city"].previous] == ["Berlin"]
    assert profile["home city"].since.date() == (BEGINS + timedelta(days=19)).date()
    for day, diet in ((3, "vegetarian"), (10, "vegan"), (25, None)):
        then = {
            line.name: line.value
            for line in (await core.profile(NORA, at=BEGINS + timedelta(days=day))).explicit
        }
        assert (then.get("diet"), then["home city"]) == (diet, "Berlin" if day < 19 else "Lisbon")


async def test_what_shows_is_said_once_and_without_counts(core: MemoryCore) -> None:
    traits = [line.trait for line in (await core.profile(NORA)).implicit]
    assert "User runs every Tuesday before breakfast" in traits
    assert len(traits) == len(set(traits))
    assert sum("messages" in trait for trait in traits) == 1
    assert not any(":" in trait for trait in traits), "a note's headings are none of a trait"
    assert not any(character.isdigit() for trait in traits for character in trait)


async def test_scenes_are_few_and_each_is_of_one_theme(core: MemoryCore) -> None:
    scenes = (await core.scenes(NORA, limit=100)).scenes
    assert 7 <= len(scenes) <= 15
    placed = [name for scene in scenes for name in scene.cell_ids]
    cells = {memory.id: memory for memory in await listed(core, NORA, type="episodic")}
    assert len(placed) == len(set(placed)), "each cell is in one scene"
    assert set(placed) == set(cells)
    about = 0
    for scene in scenes:
        sessions = Counter(cells[name].session_id for name in scene.cell_ids)
        ((_, most),) = sessions.most_common(1)
        about += most
        assert most >= 0.6 * scene.count, f"{scene.title} is about {dict(sessions)}"
        times = sorted(cells[name].event_timestamp for name in scene.cell_ids)
        assert all(two - earlier <= timedelta(days=7) for earlier, two in pairwise(times))
    assert about >= 0.8 * len(placed), "what the writer gave one session is one theme"


async def test_no_superseded_fact_is_listed_and_each_slot_has_one_truth(core: MemoryCore) -> None:
    memories = await listed(core, NORA, type="semantic")
    assert {memory.status for memory in memories} <= FOUND_BY_DEFAULT
    truths = [memory for memory in memories if slot_of(memory) is not None]
    assert len({slot_of(truth) for truth in truths}) == len(truths)
    assert OVER.isdisjoint({truth.value for truth in truths if not is_retraction(truth)})
    fallen = await listed(core, NORA, type="semantic", status="superseded")
    assert {memory.value for memory in fallen if isinstance(memory.value, str)} == OVER


async def test_what_has_fallen_is_said_beside_each_result_that_tells_it(core: MemoryCore) -> None:
    fallen = {
        memory.id: memory
        for memory in await listed(core, NORA, type="semantic", status="superseded")
    }
    seen = set[str]()
    for query in ASKED:
        for hit in (await core.retrieve(NORA, RetrieveInput(query=query, limit=30))).results:
            assert hit.memory.id not in fallen, query
            texts = {fact.text for fact in hit.memory.atomic_facts if fact.fact_id in fallen}
            current = {fact["text"]: fact["current"] for fact in hit.stale_facts}
            assert texts <= current.keys(), f"{query}: {hit.memory.content}"
            assert all(current.values()), "what holds now is said too"
            seen |= texts
    assert {"User lives in Berlin", "User works at Fabrikam", "User is vegan"} <= seen


async def test_what_has_fallen_is_said_beside_each_scene_that_tells_it(core: MemoryCore) -> None:
    fallen = {
        memory.id for memory in await listed(core, NORA, type="semantic", status="superseded")
    }
    cells = {memory.id: memory for memory in await listed(core, NORA, type="episodic")}
    seen = set[str]()
    for scene in (await core.scenes(NORA, limit=100)).scenes:
        texts = {
            fact.text
            for name in scene.cell_ids
            for fact in cells[name].atomic_facts
            if fact.fact_id in fallen
        }
        current = {fact["text"]: fact["current"] for fact in scene.stale_facts}
        assert texts <= current.keys(), scene.summary
        assert all(current.values()), "what holds now is said too"
        assert await core.scene(NORA, scene.id) == scene
        seen |= texts
    assert {"User lives in Berlin", "User works at Fabrikam", "User is vegan"} <= seen


async def test_a_slip_put_right_leaves_no_trace(core: MemoryCore) -> None:
    texts = [
        fact.text
        for memory in await listed(core, NORA, status="all")
        for fact in memory.atomic_facts
    ]
    (sister,) = [memory for memory in await listed(core, NORA) if memory.subject == "user's sister"]
    assert (sister.value, [text for text in texts if "Anna" in text]) == ("Hannah", [])


async def test_a_cold_is_told_of_while_it_lasts_and_no_longer(core: MemoryCore) -> None:
    cold = "User has a cold"
    for day, is_told in ((11, True), (25, False), (DAYS, False)):
        at = BEGINS + timedelta(days=day)
        context = await core.context(NORA, ContextInput(at=at))
        assert (cold in _expected(context.context)) is is_told, context.context
        rebuilt = await core.retrieve(
            NORA, RetrieveInput(query="Has she a cold?", mode="reconstruct", at=at)
        )
        assert "I have a cold" in str(rebuilt.context), "what was said stays said"
        assert is_told or f"until {(BEGINS + timedelta(days=16)).date()}: {cold}" not in str(
            rebuilt.context
        )


def _expected(context: str) -> str:
    """What a context says is going on."""
    return context.partition("\nExpected:\n")[2].partition("\nLast turns:")[0]


async def test_habits_become_patterns_that_name_where_they_show(core: MemoryCore) -> None:
    patterns = {memory.content: memory for memory in await listed(core, NORA, category="pattern")}
    assert patterns.keys() == {
        "User runs every Tuesday before breakfast",
        "User calls their sister every Sunday",
    }
    for pattern in patterns.values():
        cells = [await core.get(NORA, name) for name in pattern.source_ids]
        assert len(cells) >= 3
        assert all(pattern.id in cell.consolidated_into_ids for cell in cells)


async def test_the_log_tells_it_all(after: World, core: MemoryCore) -> None:
    await check_that_the_log_tells_it(after, NORA)
    head = await after.head(NORA)
    assert head is not None
    assert (head.consolidated_sequence, head.pending_tasks) == (head.sequence, 0)


async def test_the_last_hours_again_make_nothing(after: World, core: MemoryCore) -> None:
    """The clock goes back, and no message is sent: no message, no event, no document changes."""
    before, log, head = await state_of(after), await after.log(NORA), await after.head(NORA)
    work = await named(after, "task", "operation", "run")
    hands = [Hand(core), Hand(core, "consolidation")]
    after.clock.moment = ENDS - 24 * HOUR
    for _ in range(36):
        after.clock.moment += HOUR
        await hour(core, hands)
    assert await state_of(after) == before
    assert await after.log(NORA) == log
    assert await after.head(NORA) == head
    assert await named(after, "task", "operation", "run") <= work


async def test_the_month_replayed_in_a_fresh_store_gives_the_same_state(
    after: World, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("again")
    await lived(folder)
    again = world_at(folder)
    assert await state_of(again) == await state_of(after)
    await again.close()

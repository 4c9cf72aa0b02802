"""A question about an earlier time is told what held then, with its time."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.requests.memories import ContextInput
from tests.builders import ALICE
from tests.contract.test_scenes import consolidated
from tests.telling import tell
from tests.world import World

pytestmark = pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
DECEMBER = datetime(2025, 12, 15, 12, tzinfo=timezone.utc)
BRISTOL = "home city: Bristol (from 2025-01-06 until 2025-09-03)"


def day(month: int, number: int) -> datetime:
    return datetime(2025, month, number, 12, tzinfo=timezone.utc)


async def lived(world: World) -> MemoryCore:
    core = await world.core_by_rules()
    for number, (text, at) in enumerate(
        (
            ("I live in Bristol. I work at Hartwell.", day(1, 6)),
            ("I went hiking with Ben in the hills.", day(5, 10)),
            ("I moved to Clevedon today.", day(9, 3)),
            ("Hartwell let me go today.", day(10, 1)),
        )
    ):
        world.clock.moment = at
        await tell(core, text, session=f"s{number}", at=at)
    world.clock.moment = DECEMBER
    return core


async def profile(core: MemoryCore, query: str, **fields: object) -> list[str]:
    """The lines of the profile that a context of the query tells."""
    asked = ContextInput.model_validate({"query": query, "session_id": "new", **fields})
    context = (await core.context(ALICE, asked)).context
    section = context.partition("Profile:\n")[2].partition("Memories:\n")[0]
    return [line.partition("] ")[2] for line in section.split("\n") if line.startswith("[")]


@pytest.mark.parametrize(
    "query",
    [
        "Where did I live in May?",
        "Where was I living in summer 2025?",
        "Where did I live before I moved?",
        "Where did I live in 2025?",
        "Wo habe ich im Mai gewohnt?",
        "Wo wohnte ich im Mai?",
    ],
)
async def test_a_question_of_the_past_is_told_what_held_then_and_until_when(
    world: World, query: str
) -> None:
    core = await lived(world)
    for settled in (False, True):
        if settled:
            await consolidated(core)
        assert (await profile(core, query))[0] == BRISTOL


@pytest.mark.parametrize(
    "query",
    [
        "Where do I live?",
        "Where did I live in November?",
        "Where did I live in 2023?",
        "What did I eat in May?",
        "Wo wohne ich?",
        "Wo habe ich im November gewohnt?",
        "Was habe ich im Mai gegessen?",
    ],
)
async def test_what_held_at_another_time_or_of_another_matter_is_not_told(
    world: World, query: str
) -> None:
    assert BRISTOL not in await profile(await lived(world), query)


async def test_what_ended_without_a_successor_is_told_as_over(world: World) -> None:
    lines = await profile(await lived(world), "Where did I work in May?")
    assert lines[0] == "employer: Hartwell (from 2025-01-06, no longer)"


async def test_a_deleted_home_is_not_told_as_an_earlier_one(world: World) -> None:
    core = await lived(world)
    (line,) = [fact for fact in (await core.profile(ALICE)).explicit if fact.name == "home city"]
    await core.delete(ALICE, line.previous[0].memory_id)
    assert "Bristol" not in str(await profile(core, "Where did I live in May?"))


async def test_the_excluded_session_tells_no_earlier_facts(world: World) -> None:
    core = await lived(world)
    lines = await profile(core, "Where did I live in May?", exclude_session_id="s0")
    assert "Bristol" not in str(lines)


async def test_an_illness_that_was_taken_back_is_not_told_as_one_of_the_past(world: World) -> None:
    core = await world.core_by_rules()
    for number, (text, at) in enumerate(
        (("I have asthma.", day(3, 2)), ("The asthma diagnosis was wrong.", day(7, 2)))
    ):
        world.clock.moment = at
        await tell(core, text, session=f"s{number}", at=at)
    world.clock.moment = DECEMBER
    assert await profile(core, "Which condition did I have in April?") == []

"""The topics that a profile names without a model, of thirty short talks."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory_core.core import MemoryCore
from tests.builders import ALICE, NOW
from tests.contract.test_scenes import consolidated
from tests.loaded_minilm import LoadedMiniLM
from tests.talks_and_topics import TALKS
from tests.telling import Line, tell
from tests.world import World

DAY = timedelta(days=1)
OFTEN = "Often talks about "
UNSEEN = {"classes in code"}
"""A reader sees the topic; most of its words are those of another one."""
WITH_TOPIC = [name for name, (_, topics) in TALKS.items() if topics and name not in UNSEEN]


def lines_of(block: str) -> list[Line]:
    """The messages of a day; "> " marks those of the assistant."""
    texts = (line.strip() for line in block.splitlines())
    return [("assistant", text[2:]) if text.startswith("> ") else text for text in texts if text]


async def topics(core: MemoryCore, name: str) -> set[str]:
    """Tell a talk, a session a day, and read the topics off the profile."""
    blocks = TALKS[name][0].split("\n\n")
    for day, block in enumerate(blocks):
        await tell(core, *lines_of(block), at=NOW + day * DAY, session=f"day {day}")
    await consolidated(core)
    profile = await core.profile(ALICE, NOW + 9 * DAY)
    return {
        trait.trait.removeprefix(OFTEN).rstrip(".")
        for trait in profile.implicit
        if trait.trait.startswith(OFTEN)
    }


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
@pytest.mark.parametrize("name", TALKS)
async def test_a_profile_names_no_topic_that_a_reader_would_not_name(
    world: World, name: str
) -> None:
    core = await world.core_by_rules(embedder=LoadedMiniLM(), embedding_provider="minilm")
    assert await topics(core, name) <= TALKS[name][1]


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
@pytest.mark.parametrize("name", WITH_TOPIC)
async def test_a_profile_names_the_topic_that_came_up_on_three_days(
    world: World, name: str
) -> None:
    core = await world.core_by_rules(embedder=LoadedMiniLM(), embedding_provider="minilm")
    assert await topics(core, name) == TALKS[name][1]

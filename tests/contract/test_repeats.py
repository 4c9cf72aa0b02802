"""Results that only repeat a better one stand behind those that say something else,
and are still there where there is room.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.requests.memories import RetrieveInput
from tests.agents import ScriptedAgents
from tests.builders import ALICE, NOW
from tests.world import WordsEmbedder, World, find, turn

SAME = (
    "The red boat sank near Porto",
    "the red boat sank near porto!",
    "The red boat had sunk near Porto",
    "A red boat sank near Porto",
)
OTHERS = [f"Boat number {n} sailed" for n in range(6)]


async def test_what_repeats_a_better_one_gives_its_place_to_what_does_not(
    words: MemoryCore,
) -> None:
    repeated = [SAME[0], SAME[1], SAME[3]]
    await words.bulk(
        ALICE,
        [turn(text, f"s{n}") for n, text in enumerate(repeated * 4)]
        + [turn(text, None) for text in OTHERS],
    )
    few = await find(words, "red boat Porto", limit=5, similarity_threshold=0.1)
    assert few[0] in repeated
    assert set(few[1:]) <= set(OTHERS)
    many = await find(words, "red boat Porto", limit=10, similarity_threshold=0.1)
    assert set(many[1:7]) == set(OTHERS)
    assert set(many[7:]) <= set(repeated)
    assert len(many) == 10
    assert len(await find(words, "red boat Porto", limit=100, similarity_threshold=0.1)) == 18


async def test_their_scores_stay_and_are_told(words: MemoryCore) -> None:
    await words.bulk(ALICE, [turn(SAME[0], "s1"), turn(SAME[0], "s2"), turn(OTHERS[0], None)])
    answer = await words.retrieve(
        ALICE, RetrieveInput(query="red boat Porto", similarity_threshold=0.1)
    )
    assert [hit.rank for hit in answer.results] == [1, 2, 3]
    assert answer.results[2].score > answer.results[1].score


async def test_the_same_words_of_another_day_are_another_event(words: MemoryCore) -> None:
    days = [
        turn("Went running by the river", None, event_timestamp=NOW - timedelta(days=n))
        for n in range(3)
    ]
    await words.bulk(ALICE, [*days, turn("Running shoes", None)])
    assert (await find(words, "running river", similarity_threshold=0.1))[:3] == [
        "Went running by the river"
    ] * 3


async def test_where_everything_repeats_as_many_are_shown_as_were_asked_for(
    words: MemoryCore,
) -> None:
    await words.bulk(ALICE, [turn(SAME[0], f"s{n}") for n in range(30)])
    for limit in (1, 3, 10, 30):
        assert await find(words, "red boat Porto", limit=limit) == [SAME[0]] * limit


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_they_stand_behind_over_several_rounds_too(world: World) -> None:
    core = await world.core(
        embedder=WordsEmbedder(), agents=ScriptedAgents(rewritten=["boat near Porto", "boat"])
    )
    await core.bulk(
        ALICE, [turn(SAME[0], f"s{n}") for n in range(8)] + [turn(text, None) for text in OTHERS]
    )
    asked = RetrieveInput(
        query="red boat Porto", mode="reconstruct", limit=10, similarity_threshold=0.1
    )
    answer = await core.retrieve(ALICE, asked)
    assert answer.rounds == 3
    contents = [hit.memory.content for hit in answer.results]
    assert sorted(contents[:7]) == sorted([SAME[0], *OTHERS])
    assert contents[7:] == [SAME[0]] * 3

"""An earlier question comes after its answers."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.requests.memories import ContextInput, RetrieveInput
from tests.builders import ALICE, NOW
from tests.loaded_minilm import LoadedMiniLM
from tests.telling import tell
from tests.world import World, turn

DAY = timedelta(days=1)
PAIRS = (
    ("Where did I put the passport?", "The passport is in the blue box."),
    ("When is my dentist appointment?", "The dentist sees me on Thursday at ten."),
    ("how much did I pay for the bike", "The bike cost me 450 euros."),
    ("Wo habe ich den Schlüssel hingelegt?", "Der Schlüssel liegt in der Schublade."),
    ("パスポートはどこに置いた？", "パスポートは青い箱に入っています。"),
)


async def contents(core: MemoryCore, query: str, limit: int = 10) -> list[str]:
    answer = await core.retrieve(ALICE, RetrieveInput(query=query, limit=limit))
    return [hit.memory.content for hit in answer.results]


async def meaning(world: World) -> MemoryCore:
    return await world.core_by_rules(embedder=LoadedMiniLM(), embedding_provider="minilm")


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
@pytest.mark.parametrize(("question", "answer"), PAIRS)
@pytest.mark.parametrize("asked_first", [True, False])
async def test_the_answer_stands_before_the_same_question_of_another_day(
    world: World, question: str, answer: str, asked_first: bool
) -> None:
    core = await meaning(world)
    texts = (question, answer) if asked_first else (answer, question)
    for day, text in enumerate(texts):
        await core.save(ALICE, turn(text, f"s{day}", event_timestamp=NOW + day * DAY))
    assert await contents(core, question) == [answer, question]
    assert await contents(core, question, limit=1) == [answer]


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_an_episode_of_the_question_stands_behind_the_answer(world: World) -> None:
    core = await meaning(world)
    question, answer = PAIRS[0]
    await tell(core, question, ("assistant", "I do not know that."), session="s1")
    await tell(core, answer, at=NOW + DAY, session="s2")
    first = (await core.retrieve(ALICE, RetrieveInput(query=question))).results[0]
    assert "blue box" in first.memory.content


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_a_small_context_quotes_the_answer_before_questions(world: World) -> None:
    core = await meaning(world)
    asked = [
        f"Where did I put the passport{when}?" for when in ("", " now", " today", " again", " then")
    ]
    for day, question in enumerate(asked):
        await core.save(ALICE, turn(question, f"s{day}", event_timestamp=NOW + day * DAY))
    await core.save(ALICE, turn(PAIRS[0][1], "s9", event_timestamp=NOW - DAY))
    context = await core.context(
        ALICE, ContextInput(query=asked[0], parts=["memories"], max_tokens=100)
    )
    assert PAIRS[0][1] in context.context
    assert context.left_out


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_a_question_about_what_was_asked_finds_the_question_first(world: World) -> None:
    core = await meaning(world)
    question, answer = PAIRS[0]
    await core.save(ALICE, turn(question, "s1"))
    await core.save(ALICE, turn(answer, "s2", event_timestamp=NOW + DAY))
    assert (await contents(core, "What did I ask about where I put the passport?"))[0] == question


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_a_question_that_tells_something_keeps_its_place(world: World) -> None:
    core = await meaning(world)
    telling = "My passport is in the blue box, is that safe?"
    await core.save(ALICE, turn(telling, "s1"))
    await core.save(ALICE, turn("Ben lost a thing in Rome.", "s2", event_timestamp=NOW + DAY))
    assert (await contents(core, "Where is my passport?"))[0] == telling


async def test_an_unanswered_question_is_still_found(core: MemoryCore) -> None:
    question, _ = PAIRS[0]
    await core.save(ALICE, turn(question, "s1"))
    assert await contents(core, question) == [question]

"""A turn that only acknowledges is in no context, and is the last of the results."""

from __future__ import annotations

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.requests.memories import ContextInput, RetrieveInput
from tests.builders import ALICE
from tests.loaded_minilm import LoadedMiniLM
from tests.world import World, turn

TALKS = (
    ("My sister Clara visits me in May.", "Noted.", "When does Clara visit me?"),
    ("Meine Schwester Klara besucht mich im Mai.", "Alles klar.", "Wann besucht mich Klara?"),
    ("五月に妹のクララが来ます。", "了解です。", "クララはいつ来る？"),
)


async def meaning(world: World) -> MemoryCore:
    return await world.core(embedder=LoadedMiniLM(), embedding_provider="minilm")


async def save(core: MemoryCore, *lines: tuple[str, str]) -> None:
    for role, text in lines:
        await core.save(ALICE, turn(text, actor=role, metadata={"role": role}))


async def results(core: MemoryCore, query: str) -> list[str]:
    asked = RetrieveInput(query=query, similarity_threshold=0.0)
    return [hit.memory.content for hit in (await core.retrieve(ALICE, asked)).results]


async def memories_of_context(core: MemoryCore, query: str) -> str:
    asked = ContextInput(query=query, parts=["memories"])
    return (await core.context(ALICE, asked)).context


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
@pytest.mark.parametrize(("statement", "receipt", "question"), TALKS)
async def test_a_receipt_is_quoted_in_no_context_and_found_last(
    world: World, statement: str, receipt: str, question: str
) -> None:
    core = await meaning(world)
    await save(core, ("user", statement), ("assistant", receipt), ("user", "I like tea."))
    context = await memories_of_context(core, question)
    assert statement in context
    assert receipt not in context
    assert await results(core, question) == [statement, "I like tea.", receipt]


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_a_receipt_is_found_by_its_own_words(world: World) -> None:
    core = await meaning(world)
    await save(core, ("user", "My sister Clara visits me in May."), ("assistant", "Noted."))
    assert (await results(core, "noted"))[0] == "Noted."
    assert "Noted." in await memories_of_context(core, "noted")


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_an_ok_that_answers_a_question_is_quoted(world: World) -> None:
    core = await meaning(world)
    await save(core, ("assistant", "Shall I book Clara's hotel for May?"), ("user", "OK."))
    assert "OK." in await memories_of_context(core, "Which hotel of Clara's shall be booked?")

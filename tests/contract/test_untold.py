"""What was deleted or forgotten is not told on by what said it: not by its message,
its episode, its note.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.requests.maintenance import ForgetInput
from memory_core.domain.requests.memories import ContextInput, RetrieveInput
from memory_core.domain.results import Accepted
from tests.builders import ALICE, NOW
from tests.exports import worked
from tests.telling import facts_of, tell
from tests.world import World

Away = Callable[[World, MemoryCore, str], Awaitable[None]]
TALK = ("I live in Berlin.", "My cat is called Miso.")


async def told(world: World) -> MemoryCore:
    core = await world.core_by_rules()
    await tell(core, *TALK)
    return core


async def said(core: MemoryCore) -> str:
    """All that two questions and two contexts tell, with what is beside it."""
    texts = []
    for query in ("Where do I live?", "What is my cat called?"):
        for mode in ("fast", "reconstruct"):
            answer = await core.retrieve(ALICE, RetrieveInput(query=query, mode=mode))  # type: ignore[arg-type]
            texts += [answer.context or "", *(hit.memory.content for hit in answer.results)]
            texts += [passage.text for hit in answer.results for passage in hit.passages]
        texts.append((await core.context(ALICE, ContextInput(query=query))).context)
    texts.append((await core.context(ALICE, ContextInput())).context)
    return "\n".join(texts)


async def delete(world: World, core: MemoryCore, memory_id: str) -> None:
    await core.delete(ALICE, memory_id)


async def forget(world: World, core: MemoryCore, memory_id: str) -> None:
    begun = await core.forget(
        ALICE, ForgetInput.model_validate({"filter": {"ids": [memory_id]}, "mode": "soft"})
    )
    assert isinstance(begun, Accepted)
    await worked(world, core, begun.task_id)


@pytest.mark.parametrize("away", [delete, forget])
async def test_a_fact_that_is_deleted_or_forgotten_is_told_by_nothing_and_all_else_is(
    world: World, away: Away
) -> None:
    core = await told(world)
    assert "Berlin" in await said(core)
    (fact,) = [fact for text, fact in (await facts_of(core)).items() if "Berlin" in text]
    await away(world, core, fact.id)
    after = await said(core)
    assert "Berlin" not in after
    assert "Miso" in after


async def test_restored_it_is_told_again(world: World) -> None:
    core = await told(world)
    (fact,) = [fact for text, fact in (await facts_of(core)).items() if "Berlin" in text]
    await core.delete(ALICE, fact.id)
    await core.restore(ALICE, fact.id)
    assert "Berlin" in await said(core)


async def test_a_fact_that_fell_is_still_told_with_what_is_true_now(world: World) -> None:
    core = await told(world)
    await tell(core, "I moved to Lisbon.", session="s2")
    context = (await core.context(ALICE, ContextInput(query="Where do I live?"))).context
    assert "Lisbon" in context
    assert "Berlin" in context


async def test_a_fact_that_lasts_for_a_while_is_not_told_after_it_is_over(world: World) -> None:
    core = await world.core_by_rules()
    await tell(core, "I am on a keto diet for two weeks.", "My cat is called Miso.")
    (fact,) = [fact for text, fact in (await facts_of(core)).items() if "keto" in text]
    assert [foresight.end_time for foresight in fact.foresight] == [NOW + timedelta(14)]
    query = ContextInput(query="Which diet am I on?", parts=["memories", "foresight"])
    assert "User is on a keto diet" in (await core.context(ALICE, query)).context
    world.clock.forward(120 * 86_400)
    assert "User is on a keto diet" not in (await core.context(ALICE, query)).context


@pytest.mark.parametrize("away", [delete, forget])
async def test_an_assistant_that_says_it_in_other_little_words_tells_it_no_more(
    world: World, away: Away
) -> None:
    core = await world.core_by_rules()
    lines = ("I have asthma.", ("assistant", "You have asthma, noted."), "I live in Berlin.")
    await tell(core, *lines)
    (fact,) = [fact for text, fact in (await facts_of(core)).items() if "asthma" in text]
    await away(world, core, fact.id)
    asked = ContextInput(query="Which illnesses do I have?")
    context = (await core.context(ALICE, asked)).context
    assert "asthma" not in context
    assert "Berlin" in await said(core)


@pytest.mark.parametrize("away", [delete, forget])
async def test_the_answer_to_what_told_it_tells_it_no_more(world: World, away: Away) -> None:
    core = await world.core_by_rules()
    answer = ("assistant", "Congratulations on the pregnancy!")
    await tell(core, "I am pregnant.", answer, "My cat is called Miso.")
    (fact,) = [fact for text, fact in (await facts_of(core)).items() if "pregnant" in text]
    await away(world, core, fact.id)
    assert "regnan" not in await said(core)
    assert "Miso" in await said(core)

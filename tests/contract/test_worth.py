"""Which memories stay offered for long: by what was said, by what a model made of it,
by how often they are used.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memory_core.adapters.offline.agents import OfflineAgents
from memory_core.core import MemoryCore
from memory_core.domain.agent_schemas import (
    Answered,
    ConversationSummary,
    Provenance,
    SummaryMetadata,
)
from memory_core.domain.memory import Memory, Status
from memory_core.domain.requests.memories import ListInput, RetrieveInput, UpdateInput
from tests.agents import ScriptedAgents
from tests.builders import ALICE
from tests.contract.test_decay import decayed
from tests.telling import of_category, tell
from tests.world import WordsEmbedder, World, fact, listed, turn

DAY = timedelta(days=1).total_seconds()


@pytest.fixture
async def core(world: World, embedder: WordsEmbedder) -> MemoryCore:
    rules = OfflineAgents(None)
    return await world.core(embedder=embedder, agents=rules, rules=rules)


async def in_sight(core: MemoryCore) -> set[str]:
    return {memory.content for memory in await listed(core)}


async def explained(core: MemoryCore, query: str) -> dict[str, Any]:
    (hit, *_) = (
        await core.retrieve(ALICE, RetrieveInput(query=query, explain=True, include_decayed=True))
    ).results
    assert hit.explain is not None
    fading: dict[str, Any] = hit.explain["fading"]
    return fading


async def test_small_talk_goes_first_then_the_rest_and_what_was_to_be_remembered_stays(
    core: MemoryCore, world: World
) -> None:
    sentences = (
        "lol good morning",
        "We had pizza",
        "I take metformin every morning",
        "Please remember that I never fly on Fridays",
    )
    for text in sentences:
        await core.save(ALICE, turn(text))
    world.clock.forward(40 * DAY)
    await decayed(core)
    assert await in_sight(core) == set(sentences[1:])
    world.clock.forward(100 * DAY)
    await decayed(core)
    assert await in_sight(core) == set(sentences[2:])
    world.clock.forward(4000 * DAY)
    await decayed(core)
    assert await in_sight(core) == {sentences[3]}


async def test_a_request_to_remember_holds_for_the_message_and_what_is_formed_of_it(
    core: MemoryCore,
) -> None:
    await tell(
        core,
        "Morning!",
        "The meeting was long.",
        "Please remember that I live in Oslo.",
        ("assistant", "Noted. Remember that it rains."),
    )
    cells, notes, facts = [await of_category(core, name) for name in ("cell", "note", "fact")]
    formed = {cell.id: cell for cell in cells if "Oslo" in (cell.episode or "")}
    assert [memory.worth for memory in formed.values()] == ["asked_to_keep"]
    assert {cell.worth for cell in cells if cell.id not in formed} <= {None}
    assert {note.worth for note in notes if note.cell_id in formed} <= {"asked_to_keep"}
    assert {fact.value: fact.worth for fact in facts} == {"Oslo": "asked_to_keep"}
    assert {message.content: message.worth for message in await messages(core)} == {
        "Morning!": "small_talk",
        "The meeting was long.": None,
        "Please remember that I live in Oslo.": "asked_to_keep",
        "Noted. Remember that it rains.": None,
    }


async def messages(core: MemoryCore) -> list[Memory]:
    memories = (await core.list(ALICE, ListInput(limit=50))).memories
    ids = [name for cell in memories if cell.category == "cell" for name in cell.source_ids]
    return [await core.get(ALICE, name) for name in ids]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("health", "health"),
        ("none", None),
        (None, "agreement"),
        ("a word that is none of these", "agreement"),
    ],
)
async def test_what_a_model_takes_an_episode_for_goes_before_the_rules(
    world: World, embedder: WordsEmbedder, answer: str | None, expected: str | None
) -> None:
    class Model(ScriptedAgents):
        async def summarise(
            self, app_id: str, messages: Any, *, fast: bool = False
        ) -> Answered[ConversationSummary]:
            metadata = SummaryMetadata.model_validate({"depth": "medium", "worth": answer})
            return Answered(
                ConversationSummary(narrative="Ana and Tom share the rent.", metadata=metadata),
                Provenance("model"),
            )

    core = await world.core(embedder=embedder, agents=Model(), rules=OfflineAgents(None))
    await tell(core, "We agreed that Tom pays the rent.")
    assert [memory.worth for memory in await of_category(core, "cell")] == [expected]


async def test_a_request_to_remember_is_heard_whatever_a_model_says(
    world: World, embedder: WordsEmbedder
) -> None:
    class Model(ScriptedAgents):
        async def summarise(
            self, app_id: str, messages: Any, *, fast: bool = False
        ) -> Answered[ConversationSummary]:
            metadata = SummaryMetadata(depth="low", worth="none")
            return Answered(
                ConversationSummary(narrative="Ana likes rye.", metadata=metadata),
                Provenance("model"),
            )

    core = await world.core(embedder=embedder, agents=Model(), rules=OfflineAgents(None))
    await tell(core, "Don't forget that I like rye.")
    assert [memory.worth for memory in await of_category(core, "cell")] == ["asked_to_keep"]


async def test_what_is_told_again_with_a_request_to_remember_is_kept_from_then_on(
    core: MemoryCore,
) -> None:
    first = await core.save(ALICE, fact("The boiler was made in 1994"))
    assert first.memory.worth is None
    updated = await core.update(
        ALICE,
        first.memory.id,
        UpdateInput(content="Remember that the boiler was made in 1996"),
        first.memory.etag,
    )
    assert updated.worth == "asked_to_keep"
    again = await core.update(
        ALICE, updated.id, UpdateInput(content="The boiler was made in 1997"), updated.etag
    )
    assert again.worth == "asked_to_keep"


async def test_explain_says_when_a_memory_fades_and_why(core: MemoryCore, world: World) -> None:
    await core.save(ALICE, turn("I take metformin every morning", importance=0.4))
    fading = await explained(core, "metformin")
    assert fading == {
        "worth": "health", "never": None, "half_life_days": 360.0, "worth_factor": 12.0,
        "use_factor": 1.0, "at": "2029-04-22T12:00:00Z", "becomes": "decayed",
    }  # fmt: skip
    await core.save(ALICE, turn("Remember that the gate is green"))
    assert (await explained(core, "gate green"))["never"] == "asked_to_keep"
    await core.save(ALICE, fact("Ana plays chess", pinned=True))
    assert (await explained(core, "chess"))["never"] == "pinned"
    await core.save(
        ALICE, fact("Ana lives in Porto", subject="Ana", attribute="home city", value="Porto")
    )
    assert (await explained(core, "Porto"))["never"] == "slot"


async def test_what_is_shown_often_fades_later(core: MemoryCore, world: World) -> None:
    often = (await core.save(ALICE, turn("Tom repairs bicycles", importance=0.4))).memory
    seldom = (await core.save(ALICE, turn("Lea paints fences", importance=0.4))).memory
    for _ in range(10):
        await core.get(ALICE, often.id)
    world.clock.forward(100 * DAY)
    await decayed(core)
    memory, gone = [await core.get(ALICE, memory.id) for memory in (often, seldom)]
    assert (memory.status, gone.status) == (Status.ACTIVE, Status.DECAYED)

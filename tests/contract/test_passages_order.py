"""In which order a result shows the messages of its episode that matched."""

from __future__ import annotations

from memory_core.domain.requests.memories import RetrieveInput
from tests.builders import ALICE
from tests.loaded_minilm import LoadedMiniLM
from tests.telling import tell
from tests.world import World


async def test_a_message_beside_an_answer_does_not_lead_by_the_words_of_the_answer(
    world: World,
) -> None:
    core = await world.core_by_rules(embedder=LoadedMiniLM(), embedding_provider="minilm")
    target = "I was told that my weekly word count target is 1,350 now, how do I get there?"
    beside = "Always write out the month when I ask about a date."
    await tell(
        core,
        target,
        ("assistant", "For a weekly word count target of 1,350: write 270 words on five days."),
        beside,
        ("assistant", "I will. To reach the weekly word count target, your goals are 270 words."),
        session="s1",
    )
    query = RetrieveInput(query="What is my weekly word count target for my writing goals?")
    answer = await core.retrieve(ALICE, query)
    texts = [passage.text for passage in answer.results[0].passages]
    assert texts[0] == target

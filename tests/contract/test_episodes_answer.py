"""Whether a query is answered is decided by what was said and by facts, not by an episode that has
many messages' words.
"""

from __future__ import annotations

from memory_core.domain.requests.memories import RetrieveInput
from tests.builders import ALICE
from tests.telling import tell
from tests.world import World

TALK = (
    "The dishwasher broke on Tuesday.",
    "My brother repaired the boat in autumn.",
    "We painted the kitchen yellow last summer.",
    "Then the lemons froze behind the house.",
)
OF_SEVERAL = "Was my brother repairing lemons on Tuesday?"
BETWEEN = 0.47
"""What the episode reaches for that question, and no message does."""


async def test_a_question_that_only_an_episode_of_many_messages_comes_near_to_finds_nothing(
    world: World,
) -> None:
    core = await world.core_by_rules()
    await tell(core, *TALK)
    opened = await core.retrieve(
        ALICE, RetrieveInput(query=OF_SEVERAL, similarity_threshold=BETWEEN, answer_threshold=0)
    )
    assert [hit.memory.type.value for hit in opened.results] == ["episodic"]
    answer = await core.retrieve(ALICE, RetrieveInput(query=OF_SEVERAL, answer_threshold=BETWEEN))
    assert not answer.results
    assert answer.nearest is not None
    assert answer.nearest.relevance_score < BETWEEN


async def test_a_question_that_a_message_answers_finds_its_episode(world: World) -> None:
    core = await world.core_by_rules()
    await tell(core, *TALK)
    answer = await core.retrieve(
        ALICE, RetrieveInput(query="What did my brother repair in autumn?")
    )
    assert "boat" in answer.results[0].memory.content

"""Questions for all that is known are answered by the facts at once, and no other question is."""

from __future__ import annotations

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.ranking.questions import asks_for_everything
from memory_core.domain.requests.memories import ContextInput, RetrieveInput
from tests.builders import ALICE
from tests.telling import tell
from tests.world import World, fact, turn

ALL = [
    "What do you know about me?",
    "Tell me everything you remember",
    "What do you remember about me so far?",
    "Hi! Tell me everything you know about me.",
    "Which facts do you have about me?",
    "Who am I?",
    "Summarize what you know about me",
    "Was weißt du schon alles über mich?",
    "Erzähl mir alles, was du über mich weißt.",
    "Was hast du dir gemerkt?",
    "私について何を知っていますか？",
    "覚えていることを全部教えてください。",
]
SOMETHING = [
    "What do you know about Rust?",
    "What do you know about my dog?",
    "Do you remember my birthday?",
    "Tell me everything about Rome",
    "Who am I meeting tomorrow?",
    "Was weißt du über Python?",
    "猫について何を知っていますか？",
    "What have you stored in the cache?",
]


@pytest.mark.parametrize("text", ALL)
def test_a_question_for_all_is_known(text: str) -> None:
    assert asks_for_everything(text)


@pytest.mark.parametrize("text", SOMETHING)
def test_a_question_for_something_is_none(text: str) -> None:
    assert not asks_for_everything(text)


async def living(world: World) -> MemoryCore:
    core = await world.core_by_rules()
    await tell(
        core,
        "Hi, I'm Dana and I live in Porto. I work as a nurse.",
        "How do I fix a bike tyre?",
        session="s1",
    )
    await tell(core, "I moved to Lisbon.", session="s2")
    await core.save(ALICE, fact("Dana collects stamps"))
    return core


@pytest.mark.parametrize("query", [ALL[0], ALL[1], ALL[7], ALL[10]])
async def test_the_facts_that_hold_answer_it(world: World, query: str) -> None:
    core = await living(world)
    contents = [
        hit.memory.content
        for hit in (await core.retrieve(ALICE, RetrieveInput(query=query))).results
    ]
    assert sorted(contents) == sorted(
        [
            "User is called Dana",
            "User lives in Lisbon",
            "User works as a nurse",
            "Dana collects stamps",
        ]
    )
    context = (await core.context(ALICE, ContextInput(query=query, parts=["memories"]))).context
    assert all(content in context for content in contents)
    assert "Porto" not in context
    assert "Perhaps" not in context


async def test_without_facts_it_is_asked_like_any_other(world: World) -> None:
    core = await world.core()
    assert (await core.retrieve(ALICE, RetrieveInput(query=ALL[0]))).results == ()
    await core.save(ALICE, turn("What you know about me is little"))
    asked = RetrieveInput(query=ALL[0], similarity_threshold=0.0)
    assert [hit.memory.content for hit in (await core.retrieve(ALICE, asked)).results] == [
        "What you know about me is little"
    ]


async def test_what_is_coming_up_is_told_though_nothing_shares_its_words(world: World) -> None:
    core = await world.core_by_rules()
    await tell(core, "I have a dentist appointment on 28 May at 9.", session="s1")
    context = (
        await core.context(ALICE, ContextInput(query="What is coming up?", parts=["foresight"]))
    ).context
    assert "dentist" in context
    assert (
        await core.context(
            ALICE, ContextInput(query="Is a tomato a fruit?", parts=["foresight", "memories"])
        )
    ).context == ""

"""Questions for all that is known are answered by the facts at once, and no other question is."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.ranking.questions import asks_for_everything
from memory_core.domain.requests.memories import ContextInput, CopyInput, RetrieveInput
from memory_core.recollection.overview import MOST_FACTS
from tests.builders import ALICE, NOW
from tests.contract.test_profile import user_fact
from tests.telling import facts_of, tell
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
    "So, what do you actually know about me?",
    "Hey, what do you know about me so far?",
    "Ok, and what else do you know about me by now?",
    "Do you know who I am?",
    "Do you still remember me?",
    "Hi! Can you tell me who I am, please?",
    "Erzähl mir, was du über mich weißt.",
    "Sag mal, was weißt du eigentlich über mich?",
    "Und was hast du dir bisher so alles über mich gemerkt?",
    "Kannst du mir sagen, was du über mich weißt?",
    "Weißt du noch, wer ich bin?",
    "ねえ、私について何を知っているの？",
    "今のところ、私のことをどれくらい知ってる？",
    "私が誰か知っていますか？",
    "私について知っていることを教えて。",
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
    "So, what do you actually know about Rome?",
    "Do you know who I saw?",
    "Do you know who I am meeting?",
    "Do you remember meeting Tom?",
    "Tell me what you know about them",
    "Erzähl mir, was du über Rom weißt.",
    "Weißt du, wer ich gestern war?",
    "Kennst du mich noch von der Messe?",
    "私の猫について何を知っていますか？",
    "私が誰に会ったか知っていますか？",
    "彼が誰か知っていますか？",
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


STATED = (
    "Seit dem Hörsturz hör ich rechts fast nichts mehr.",
    "Im Keller baue ich Modellflugzeuge, schon seit zwanzig Jahren.",
)


async def test_durable_messages_without_a_fact_are_told_and_nothing_else_of_the_talk(
    world: World,
) -> None:
    core = await world.core_by_rules()
    await tell(
        core,
        "Hallo!",
        STATED[0],
        ("assistant", "Ich wohne auch im Keller und baue Modellflugzeuge."),
        "Wie wird Leim hart?",
        STATED[1],
        "Bitte antworte immer kurz.",
        "Er wohnt in Kiel und hat zwei Hunde, so beginnt der Roman.",
        "ok danke",
    )
    asked = RetrieveInput(query=ALL[7])
    contents = [hit.memory.content for hit in (await core.retrieve(ALICE, asked)).results]
    assert sorted(contents) == sorted(STATED)
    context = (await core.context(ALICE, ContextInput(query=ALL[7], parts=["memories"]))).context
    assert all(content in context for content in STATED)
    assert "Leim" not in context
    assert "Keller und" not in context
    assert "kurz" not in context
    assert "Roman" not in context


SUPPOSED_OR_QUOTED = [
    "If I lived in Tokyo I'd eat ramen every day.",
    "Wenn ich in Rom wohnen würde, hätte ich jeden Tag Pizza auf meinem Teller.",
    "もし東京に住んでいたら、毎日ラーメンを食べます。",
    "The song goes: 'I'm a creep, I work at the station'.",
]


async def test_what_is_supposed_or_quoted_is_not_told(world: World) -> None:
    core = await world.core_by_rules()
    await tell(core, *SUPPOSED_OR_QUOTED, "I never drink coffee, even if I am tired.")
    asked = RetrieveInput(query=ALL[0])
    contents = [hit.memory.content for hit in (await core.retrieve(ALICE, asked)).results]
    assert [content for content in contents if "coffee" not in content] == []
    assert contents


async def test_the_end_of_a_clause_is_no_statement(world: World) -> None:
    core = await world.core_by_rules()
    await tell(
        core,
        "Hallo, ich heiße Katrin, wohne mit meinem Mann Uwe und unseren zwei Kindern in Kassel.",
    )
    asked = RetrieveInput(query=ALL[7])
    contents = [hit.memory.content for hit in (await core.retrieve(ALICE, asked)).results]
    assert "User: Ich heiße Katrin" in contents
    assert not any("unseren" in content.casefold() for content in contents)


async def test_a_message_is_not_told_whose_fact_is_over_or_deleted(world: World) -> None:
    core = await world.core_by_rules()
    await tell(core, "I live in Leeds with two cats, Milo and Bean.", session="s1")
    await tell(core, "My throat closes up when I eat shellfish.", session="s2")
    await tell(core, "I moved to York.", session="s3")
    shellfish = (await facts_of(core))["User's throat closes up when User eats shellfish"]
    await core.delete(ALICE, shellfish.id)
    asked = RetrieveInput(query=ALL[0])
    contents = [hit.memory.content for hit in (await core.retrieve(ALICE, asked)).results]
    assert contents == ["User lives in York"]


SAID_WITH_A_FACT = [
    ("I'm Nora, I teach chemistry at a school in Hull.", "I teach chemistry at a school in Hull."),
    ("We live in Bath and my husband is deaf in one ear.", "My husband is deaf in one ear."),
]


@pytest.mark.parametrize(("message", "rest"), SAID_WITH_A_FACT)
async def test_what_a_message_states_beside_its_fact_is_told(
    world: World, message: str, rest: str
) -> None:
    core = await world.core_by_rules()
    await tell(core, message, session="s1", at=NOW - timedelta(days=2))
    asked = RetrieveInput(query=ALL[0])
    (formed, stated) = (await core.retrieve(ALICE, asked)).results
    assert formed.memory.category == "fact"
    assert stated.memory.content == rest
    later = NOW - timedelta(days=1)
    await tell(core, "My name is Mia.", "We moved to Leeds.", session="s2", at=later)
    contents = [hit.memory.content for hit in (await core.retrieve(ALICE, asked)).results]
    assert set(contents) == {"User is called Mia", "User lives in Leeds", rest}
    context = (await core.context(ALICE, ContextInput(query=ALL[0], parts=["memories"]))).context
    assert rest in context
    assert "Nora" not in context
    assert "Bath" not in context


async def test_an_introduction_that_very_many_facts_follow_is_told_first(world: World) -> None:
    core = await world.core_by_rules()
    await core.save(ALICE, fact("Priya plays the oboe"))
    await tell(core, "I'm allergic to penicillin.", "My name is Priya.")
    for first in range(0, MOST_FACTS + 80, 40):
        items = [fact(f"Priya collects stamps of {first + number}") for number in range(40)]
        await core.bulk(ALICE, items)
    asked = RetrieveInput(query=ALL[0], limit=2)
    contents = [hit.memory.content for hit in (await core.retrieve(ALICE, asked)).results]
    assert contents == ["User is called Priya", "User is allergic to penicillin"]


async def test_the_filters_and_limits_of_a_request_are_kept(world: World) -> None:
    core = await living(world)
    await core.save(ALICE, fact("Dana keeps bees", tags=["hobby"], agent_id="helper"))
    await tell(core, STATED[0], session="s3")

    async def told(**limits: Any) -> set[str]:
        asked = RetrieveInput.model_validate({"query": ALL[0], **limits})
        return {hit.memory.content for hit in (await core.retrieve(ALICE, asked)).results}

    assert await told(tags=["hobby"]) == {"Dana keeps bees"}
    assert await told(agent_id="helper") == {"Dana keeps bees"}
    assert await told(session_id="s2") == {"User lives in Lisbon"}
    assert await told(types=["episodic"]) == {STATED[0]}
    assert STATED[0] not in await told(types=["semantic"])
    assert await told(categories=["message"]) == {STATED[0]}
    assert len(await told(limit=2)) == 2
    context = await core.context(
        ALICE, ContextInput(query=ALL[0], parts=["memories"], tags=["hobby"])
    )
    assert "Dana keeps bees" in context.context
    assert "Lisbon" not in context.context
    short = await core.context(
        ALICE, ContextInput(query=ALL[0], parts=["memories"], max_tokens=100)
    )
    assert sum(part.tokens for part in short.parts) <= 100


async def test_a_copy_for_another_agent_is_told_once_and_not_after_a_change(world: World) -> None:
    core = await world.core_by_rules()
    await tell(core, "I live in Leeds.", session="s1", at=NOW - timedelta(days=2))
    leeds = (await facts_of(core))["User lives in Leeds"]
    await core.copy(ALICE, leeds.id, CopyInput(to_agent_id="coach"))

    async def told(**limits: Any) -> list[str]:
        asked = RetrieveInput.model_validate({"query": ALL[0], **limits})
        return [hit.memory.content for hit in (await core.retrieve(ALICE, asked)).results]

    assert await told() == await told(agent_id="coach") == ["User lives in Leeds"]
    await tell(core, "I moved to York.", session="s2", at=NOW - timedelta(days=1))
    assert await told() == ["User lives in York"]


async def test_a_text_that_several_memories_have_is_told_once(world: World) -> None:
    core = await world.core_by_rules()
    for agent in ("planner", "coach"):
        await core.save(ALICE, fact("Dana keeps bees", agent_id=agent, on_conflict="keep_both"))
    asked = RetrieveInput(query=ALL[0])
    contents = [hit.memory.content for hit in (await core.retrieve(ALICE, asked)).results]
    assert contents == ["Dana keeps bees"]


async def test_the_most_important_of_many_facts_come_first(world: World) -> None:
    core = await world.core_by_rules()
    await tell(core, "I live in Leeds.", "I'm allergic to penicillin.", "My name is Priya.")
    for number in range(60):
        await core.save(ALICE, fact(f"Priya collects stamps of the year {1900 + number}"))
    for query in (ALL[0], ALL[7], ALL[10]):
        asked = RetrieveInput(query=query, limit=3)
        contents = [hit.memory.content for hit in (await core.retrieve(ALICE, asked)).results]
        assert contents == [
            "User is called Priya",
            "User is allergic to penicillin",
            "User lives in Leeds",
        ]


@pytest.mark.parametrize(
    "query",
    [
        "Cook something for me tonight",
        "Is there anything I must not eat?",
        "What would I like for dinner?",
    ],
)
async def test_a_context_tells_the_most_important_of_a_profile_not_the_oldest(
    world: World, query: str
) -> None:
    core = await world.core_by_rules()
    tastes = "chess jazz tea Rome cats rain Lego maps Bach rum opera ferns kites judo sushi poker"
    for taste in tastes.split():
        await core.save(ALICE, user_fact(f"opinion of {taste}", "likes", NOW - timedelta(days=9)))
    await core.save(ALICE, user_fact("home city", "Leeds"))
    await core.save(ALICE, user_fact("allergy to peanuts", "yes"))
    await tell(core, "What's a good sailing boat name?")
    asked = ContextInput(query=query, max_tokens=300)
    context = (await core.context(ALICE, asked)).context
    assert "allergy to peanuts" in context
    assert "home city: Leeds" in context
    near = (
        await core.context(ALICE, asked.model_copy(update={"query": "Who plays poker?"}))
    ).context
    assert "opinion of poker: likes" in near


async def test_it_is_answered_without_an_embedder(world: World) -> None:
    core = await living(world)
    assert world.embedder is not None
    await world.embedder.close()
    asked = RetrieveInput(query=ALL[0])
    retrieved = await core.retrieve(ALICE, asked)
    assert [hit.memory.content for hit in retrieved.results][:2] == [
        "User is called Dana",
        "User lives in Lisbon",
    ]


@pytest.mark.parametrize("query", [ALL[0], ALL[7], ALL[10]])
async def test_where_nothing_is_known_the_earlier_question_is_no_answer(
    world: World, query: str
) -> None:
    core = await world.core_by_rules()
    await tell(core, query, ("assistant", "Not much yet."), session="s1")
    await tell(core, query, session="s2")
    assert (await core.retrieve(ALICE, RetrieveInput(query=query))).results == ()

"""One call for an agent's turn: what is known, by kind, within a budget, and what was left out."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.memory import Foresight, MemoryType
from memory_core.domain.requests.maintenance import AgentMemoryInput
from memory_core.domain.requests.memories import (
    Context,
    ContextInput,
    ConverseInput,
    RetrieveInput,
    SaveInput,
    UpdateInput,
)
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.domain.text.token_count import count_tokens
from tests.agents import ScriptedAgents
from tests.builders import ALICE, NOW
from tests.chat_forms import FORMS
from tests.contract.test_profile import user_fact
from tests.contract.test_scenes import FLIGHT, KNEE, PHYSIO, consolidated, saved
from tests.loaded_minilm import LoadedMiniLM
from tests.tasks import TWO_TOPICS, Hand, converse
from tests.telling import tell
from tests.world import BOB, WordsEmbedder, World, fact, turn

DAY = timedelta(days=1)


def kinds(context: Context) -> dict[str, int]:
    return {part.kind: len(part.ids) for part in context.parts}


async def lived(core: MemoryCore) -> None:
    """A person with a profile, a diet, a boat and a talk that goes on."""
    await core.bulk(ALICE, [user_fact("home city", "Oslo"), user_fact("name", "Ana")])
    diet = Foresight(
        description="Ana is on a keto diet", start_time=NOW - DAY, end_time=NOW + 30 * DAY
    )
    await core.save(ALICE, turn("she began a diet", "monday", foresight=[diet]))
    await core.bulk(
        ALICE,
        [turn("the red boat sank near Porto", "monday"), fact("the red boat was called Amelia")],
    )
    await core.bulk(ALICE, [turn(f"good talk number {n}", "today", actor="Ana") for n in range(3)])
    await core.save(BOB, turn("the red boat sank near Vigo", "today"))
    await consolidated(core)


async def test_all_kinds_stand_in_one_text_and_each_number_is_an_id(words: MemoryCore) -> None:
    await lived(words)
    context = await words.context(ALICE, ContextInput(query="the red boat"))
    # with what was said right before the boat
    assert kinds(context) == {"profile": 2, "foresight": 1, "memories": 3, "turns": 3}
    assert context.left_out == ()
    ids = [memory_id for part in context.parts for memory_id in part.ids]
    lines = [line for line in context.context.split("\n") if line.startswith("[")]
    assert [int(line[1 : line.index("]")]) for line in lines] == list(range(1, len(ids) + 1))
    assert "Oslo" in lines[0] + lines[1]
    assert "keto diet" in lines[2]
    assert [line.partition("] ")[2] for line in lines[-3:]] == [
        f"Ana: good talk number {n}" for n in range(3)
    ]
    assert (await words.get(ALICE, ids[-1])).content == "good talk number 2"
    assert "Vigo" not in context.context
    assert count_tokens(context.context) <= 2000
    headings = [line for line in context.context.split("\n") if line.endswith(":")]
    assert headings == ["Profile:", "Expected:", "Memories:", "Last turns:"]


async def test_without_a_query_there_are_no_memories_and_a_session_names_its_turns(
    words: MemoryCore,
) -> None:
    await lived(words)
    assert kinds(await words.context(ALICE, ContextInput())) == {
        "profile": 2,
        "foresight": 1,
        "turns": 3,
    }
    monday = await words.context(ALICE, ContextInput(session_id="monday"))
    assert kinds(monday) == {"profile": 2, "foresight": 1, "turns": 2}
    new = await words.context(ALICE, ContextInput(session_id="nowhere"))
    assert kinds(new) == {"profile": 2, "foresight": 1, "turns": 3}
    assert "good talk number 2" in new.context


async def test_nobody_has_an_empty_context(core: MemoryCore) -> None:
    assert await core.context(ALICE, ContextInput(query="boat")) == Context("", (), ())


async def test_what_has_ended_or_has_fallen_or_was_deleted_is_not_told(
    words: MemoryCore, world: World
) -> None:
    await lived(words)
    await words.save(ALICE, user_fact("home city", "Porto", NOW + DAY))
    await consolidated(words)
    (boats,) = [
        part.ids
        for part in (await words.context(ALICE, ContextInput(query="the red boat"))).parts
        if part.kind == "memories"
    ]
    for boat in boats:
        await words.delete(ALICE, boat)
    world.clock.forward(31 * 86_400)
    context = await words.context(ALICE, ContextInput(query="the red boat and Oslo"))
    assert "keto" not in context.context
    assert "Oslo" not in context.context
    assert "boat" not in context.context
    assert "Porto" in context.context


async def test_a_small_budget_leaves_out_and_says_what(words: MemoryCore) -> None:
    await lived(words)
    await words.bulk(
        ALICE,
        [
            turn(f"the red boat was painted for the {n}th time by many people", f"s{n}")
            for n in range(30)
        ],
    )
    context = await words.context(
        ALICE, ContextInput(query="the red boat", session_id="today", max_tokens=250)
    )
    assert count_tokens(context.context) <= 250
    assert {"memories", "turns"} <= kinds(context).keys()
    (out,) = [part for part in context.left_out if part.kind == "memories"]
    ids = {memory_id for part in context.parts for memory_id in part.ids}
    assert out.tokens > 0
    assert not ids & set(out.ids)


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_a_trait_is_dated_by_the_moment_of_the_turn(world: World) -> None:
    core = await world.core_by_rules()
    await saved(core, KNEE, PHYSIO, FLIGHT)
    await core.save(ALICE, turn("The clinic took my blood pressure", event_timestamp=NOW + DAY))
    await consolidated(core)
    context = await core.context(ALICE, ContextInput(at=NOW + 2 * DAY))
    day = f"{NOW + 2 * DAY:%Y-%m-%d}"
    assert context.context.split("\n")[1:4] == ["Profile:", day, "[1] Often talks about health."]


async def test_what_is_expected_is_told_once_even_where_its_memory_stands_too(
    words: MemoryCore,
) -> None:
    diet = Foresight(
        description="Ana is on a keto diet", start_time=NOW - DAY, end_time=NOW + 30 * DAY
    )
    await words.save(ALICE, turn("she began something", "today", foresight=[diet]))
    for asked in (
        ContextInput(session_id="today"),
        ContextInput(query="she began something", session_id="elsewhere"),
    ):
        context = (await words.context(ALICE, asked)).context
        assert (context.count("keto"), context.count("she began something")) == (1, 1)


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_a_turn_that_has_no_room_among_the_turns_is_told_as_a_memory_where_the_query_finds_it(
    words: MemoryCore,
) -> None:
    chat = (
        "we spoke of the weather and of trains and of what there is for dinner and of nobody that "
        "anybody knows"
    )
    items = [
        turn("the red boat lies behind the old harbour mole", "today"),
        *(turn(f"{n}: {chat}", "today") for n in range(25)),
    ]
    await words.bulk(ALICE, items)
    for most in (200, 300, 600, 900, 1200):
        context = await words.context(
            ALICE, ContextInput(query="where is the red boat", session_id="today", max_tokens=most)
        )
        assert context.context.count("red boat") == 1, most
        assert count_tokens(context.context) <= most
        named = [
            memory_id for part in (*context.parts, *context.left_out) for memory_id in part.ids
        ]
        assert (len(named), len(set(named))) == (26, 26)
    assert kinds(
        await words.context(
            ALICE, ContextInput(query="where is the red boat", session_id="today", max_tokens=4000)
        )
    ) == {"turns": 26}


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_what_the_profile_has_no_room_for_is_told_as_a_memory_where_the_query_finds_it(
    words: MemoryCore,
) -> None:
    await words.bulk(
        ALICE,
        [
            user_fact(f"trait {n}", f"{n} is a number that somebody likes very much")
            for n in range(12)
        ],
    )
    await words.save(ALICE, user_fact("boat", "Amelia").model_copy(update={"confidence": 0.5}))
    await consolidated(words)
    for most in (150, 250):
        context = await words.context(ALICE, ContextInput(query="the boat Amelia", max_tokens=most))
        assert context.context.count("Amelia") == 1, most
        assert count_tokens(context.context) <= most


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_in_a_new_session_what_answers_a_query_has_most_of_the_room(
    words: MemoryCore,
) -> None:
    await words.bulk(
        ALICE,
        [
            user_fact(f"trait {n}", f"{n} is a number that somebody likes very much")
            for n in range(40)
        ],
    )
    await consolidated(words)
    boats = [
        turn(
            f"the red boat number {n} was painted again by many people",
            f"s{n}",
            event_timestamp=NOW - DAY,
        )
        for n in range(60)
    ]
    await words.bulk(ALICE, boats)
    await words.bulk(
        ALICE,
        [
            turn(f"{n}: we spoke of the weather and of trains and of dinner", "last")
            for n in range(30)
        ],
    )
    asked = await words.context(
        ALICE, ContextInput(query="the red boat", session_id="new", max_tokens=1000)
    )
    took = {part.kind: part.tokens for part in asked.parts}
    assert took["memories"] >= 750
    assert took["profile"] <= 100
    assert took["turns"] <= 50
    unasked = await words.context(ALICE, ContextInput(session_id="new", max_tokens=1000))
    assert {part.kind: part.tokens for part in unasked.parts}["profile"] >= 150


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_what_only_repeats_is_not_left_out(words: MemoryCore) -> None:
    await words.bulk(
        ALICE,
        [
            turn("the red boat sank", f"s{n % 2}", event_timestamp=NOW - n * timedelta(minutes=1))
            for n in range(4)
        ],
    )
    context = await words.context(ALICE, ContextInput(query="the red boat", session_id="s0"))
    assert "the red boat sank" in context.context
    assert context.left_out == ()


UNRELATED: dict[str, Any] = {
    "query": "translate good morning for the boat and the nice neighbours next door please",
    "similarity_threshold": 0.02,
    "answer_threshold": 0.9,
}
"""Reaches the boats, and nothing that answers it."""


async def long_known(core: MemoryCore) -> None:
    """A person of whom more is known in every kind than 120 words can tell."""
    await core.bulk(
        ALICE,
        [
            user_fact(f"trait {n}", f"{n} is a number that somebody likes very much")
            for n in range(20)
        ],
    )
    soon = [
        Foresight(
            description=f"Ana is on diet {n} of her doctor",
            start_time=NOW - DAY,
            end_time=NOW + (n + 1) * DAY,
        )
        for n in range(9)
    ]
    await core.save(ALICE, turn("she began a diet", "monday", foresight=soon))
    await core.bulk(
        ALICE,
        [
            turn(f"the boat number {n} was painted by many people of the town", f"s{n}")
            for n in range(30)
        ],
    )
    await core.bulk(
        ALICE,
        [turn(f"we spoke of trains and of dinner {n}", "last", actor="user") for n in range(30)],
    )
    await consolidated(core)


async def test_what_does_not_surely_answer_is_marked_and_short(words: MemoryCore) -> None:
    await long_known(words)
    context = await words.context(ALICE, ContextInput(**UNRELATED, session_id="new"))
    assert "\nPerhaps related:\n" in context.context
    assert len(context.context.split()) <= 120
    assert kinds(context).keys() == {"profile", "foresight", "memories", "turns"}
    assert kinds(context)["memories"] >= 2
    assert kinds(context)["turns"] >= 2
    for most in (100, 150, 200, 300):
        small = await words.context(
            ALICE, ContextInput(**UNRELATED, session_id="new", max_tokens=most)
        )
        assert count_tokens(small.context) <= most
    sure = await words.context(
        ALICE, ContextInput(query=UNRELATED["query"], session_id="new", answer_threshold=0.01)
    )
    assert "Perhaps related" not in sure.context
    assert kinds(sure)["memories"] > 15


@pytest.mark.parametrize("query", [UNRELATED["query"], "who wrote the ceiling symphony?"])
async def test_standing_instructions_are_told_within_the_words_of_what_nothing_answers(
    words: MemoryCore, query: str
) -> None:
    await long_known(words)
    wishes = (
        "Always answer in short sentences",
        "Use metric units for every length and weight that you tell me",
    )
    for wish in wishes:
        await words.save(
            ALICE,
            SaveInput(
                type=MemoryType.PROCEDURAL,
                content=wish,
                category="instruction",
                key=wish.casefold(),
            ),
        )
    context = await words.context(
        ALICE, ContextInput(**(UNRELATED | {"query": query}), session_id="new")
    )
    assert all(wish in context.context for wish in wishes)
    assert len(context.context.split()) <= 120
    assert {"instructions", "turns"} <= kinds(context).keys()


WISHES = (
    "Always use metric units.",
    "Never suggest meat.",
    "Keep your answers short.",
    "Please call me Ana.",
)


async def instructed(core: MemoryCore, *wishes: str) -> None:
    for wish in wishes:
        await core.save(
            ALICE,
            SaveInput(
                type=MemoryType.PROCEDURAL,
                content=wish,
                category="instruction",
                key=wish.casefold(),
            ),
        )


@pytest.mark.parametrize("query", [None, UNRELATED["query"], "Where does Melanie live?"])
async def test_four_short_standing_instructions_stand_in_a_context_of_a_hundred_tokens(
    words: MemoryCore, query: str | None
) -> None:
    await long_known(words)
    await instructed(words, *WISHES)
    context = await words.context(ALICE, ContextInput(query=query, session_id="n", max_tokens=100))
    assert all(wish in context.context for wish in WISHES)
    assert count_tokens(context.context) <= 100


async def test_where_not_all_instructions_have_room_those_with_words_of_the_query_are_told(
    words: MemoryCore,
) -> None:
    await long_known(words)
    others = [f"Always mention rule {n} when you write a letter." for n in range(12)]
    await instructed(words, "Never suggest meat.", *others)
    asked = ContextInput(query="Which meat goes with rice?", session_id="n", max_tokens=100)
    context = await words.context(ALICE, asked)
    assert "Never suggest meat." in context.context
    assert count_tokens(context.context) <= 100
    large = await words.context(ALICE, ContextInput(query=asked.query, max_tokens=400))
    assert "Never suggest meat." in large.context
    assert {"turns", "instructions"} <= kinds(large).keys()


async def test_what_nothing_is_even_perhaps_related_to_is_told_as_little(words: MemoryCore) -> None:
    await long_known(words)
    context = await words.context(
        ALICE, ContextInput(query="who wrote the ceiling symphony?", session_id="new")
    )
    assert len(context.context.split()) <= 120
    assert kinds(context).keys() == {"profile", "foresight", "turns"}
    lines = context.context.split("\n")
    assert lines[lines.index("Perhaps related:") + 1] == NOW.date().isoformat()
    assert "Last turns:" not in lines
    opening = await words.context(ALICE, ContextInput(session_id="new"))
    assert len(opening.context.split()) > 300


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_the_turns_of_a_running_session_are_told_whatever_is_said(words: MemoryCore) -> None:
    await long_known(words)
    running = ContextInput(**UNRELATED, session_id="last")
    context = await words.context(ALICE, running)
    assert kinds(context)["turns"] == 30
    others = await words.context(
        ALICE, running.model_copy(update={"parts": ["profile", "foresight", "memories"]})
    )
    assert len(others.context.split()) <= 120
    assert kinds(context) == {**kinds(others), "turns": 30}
    small = await words.context(ALICE, running.model_copy(update={"max_tokens": 200}))
    assert kinds(small).keys() >= {"turns", "memories"}
    assert count_tokens(small.context) <= 200
    excluded = await words.context(ALICE, running.model_copy(update={"exclude_session_id": "last"}))
    assert len(excluded.context.split()) <= 120


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_what_is_expected_stands_with_an_unrelated_message_where_it_is_soon_or_the_message_is_about_it(  # noqa: E501
    words: MemoryCore,
) -> None:
    for name, begun, ends in (("paleo", 30, 30), ("keto", 30, 2), ("vegan", 1, 40)):
        diet = Foresight(
            description=f"Ana is on a {name} diet",
            start_time=NOW - begun * DAY,
            end_time=NOW + ends * DAY,
        )
        await words.save(ALICE, turn(f"she told of a {name} diet", name, foresight=[diet]))
    asked = ContextInput(
        query="who painted the ceiling?",
        parts=["memories", "foresight"],
        similarity_threshold=0.02,
        answer_threshold=0.99,
    )
    assert [
        diet for diet in ("paleo", "keto", "vegan") if diet in await expected_of(words, asked)
    ] == ["keto", "vegan"]
    about = asked.model_copy(update={"query": "a ceiling for the good paleo neighbours"})
    assert "paleo" in await expected_of(words, about)


async def expected_of(core: MemoryCore, asked: ContextInput) -> str:
    """What a context expects."""
    return (
        (await core.context(ALICE, asked))
        .context.partition("Expected:")[2]
        .partition("Perhaps related:")[0]
    )


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_a_line_of_foresight_is_whole_or_left_out(words: MemoryCore) -> None:
    line = (
        "Ana has to do the clamshell exercise twice a day because of her hip, 15 repetitions each "
        "side, for six weeks"
    )
    exercise = Foresight(description=line, start_time=NOW - DAY, end_time=NOW + 30 * DAY)
    await words.save(ALICE, turn("she began something", "monday", foresight=[exercise]))
    await words.bulk(
        ALICE,
        [
            turn(f"the red boat was painted for the {n}th time by many people", f"s{n}")
            for n in range(99)
        ],
    )
    for most in range(150, 2000, 50):
        context = (
            await words.context(
                ALICE, ContextInput(query="the red boat", session_id="new", max_tokens=most)
            )
        ).context
        assert line in context or "clamshell" not in context, most
    assert line in context


async def formed(world: World) -> MemoryCore:
    """Two sessions that cells were formed of."""
    core = await world.core(embedder=WordsEmbedder(), agents=ScriptedAgents())
    await converse(core, "the red boat sank near Porto", "nobody was hurt", session="before")
    await converse(core, *TWO_TOPICS, session="last")
    await Hand(core).work_all()
    return core


async def test_a_turn_is_told_once_and_the_last_turns_are_told_as_said(world: World) -> None:
    core = await formed(world)
    before = ("the red boat sank near Porto", "nobody was hurt")
    for query in (
        None,
        *TWO_TOPICS,
        " ".join(TWO_TOPICS[:2]),
        "flamenco and guitar",
        *before,
        " ".join(before),
    ):
        for session in ("new", "last"):
            context = await core.context(ALICE, ContextInput(query=query, session_id=session))
            assert [
                conversation
                for conversation in (*TWO_TOPICS, *before)
                if context.context.count(conversation) > 1
            ] == [], (query, session)
            turns = context.context.partition("Last turns:\n")[2].split("\n")[1:-1]
            assert [line.partition("] ")[2] for line in turns] == [
                f"user: {conversation}" for conversation in TWO_TOPICS
            ], (query, session)


async def test_what_is_far_below_is_not_told_at_all(words: MemoryCore) -> None:
    await words.bulk(ALICE, [turn("the red boat sank near Porto", "old")])
    assert (
        await words.context(
            ALICE, ContextInput(query="who painted the ceiling?", parts=["memories"])
        )
    ).context == ""
    query = ContextInput(
        query="the red boat", parts=["memories"], similarity_threshold=1.0, answer_threshold=1.0
    )
    assert "Porto" not in (await words.context(ALICE, query)).context


async def test_only_the_parts_that_are_asked_for_are_told(words: MemoryCore) -> None:
    await lived(words)
    for part in ("profile", "foresight", "memories", "turns"):
        asked = ContextInput.model_validate({"query": "the red boat", "parts": [part]})
        assert kinds(await words.context(ALICE, asked)).keys() == {part}
    both = ContextInput(query="the red boat", parts=["memories", "profile"])
    assert kinds(await words.context(ALICE, both)).keys() == {"memories", "profile"}


async def test_the_query_is_found_in_the_messages(words: MemoryCore) -> None:
    await lived(words)
    chat = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": [{"type": "text", "text": "where did the red boat sink?"}]},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "call_1"}]},
    ]
    context = await words.context(
        ALICE, ContextInput.model_validate({"messages": chat, "parts": ["memories"]})
    )
    assert "the red boat sank near Porto" in context.context
    assert (
        await words.context(
            ALICE, ContextInput.model_validate({"messages": chat[:1], "parts": ["memories"]})
        )
    ).context == ""


async def test_what_stands_in_the_messages_is_not_told_again(words: MemoryCore) -> None:
    await words.bulk(
        ALICE, [turn("The red boat sank near Porto.", "now"), turn("the red boat was Ana's", "now")]
    )
    await words.bulk(ALICE, [turn("the red boat was bought in Vigo", "before")])
    chat = [
        {"role": "user", "content": "the red boat  sank near porto"},
        {"role": "user", "content": "Where was the red boat bought?"},
    ]
    context = await words.context(
        ALICE, ContextInput.model_validate({"messages": chat, "session_id": "now"})
    )
    assert "Vigo" in context.context
    assert "Ana's" in context.context
    assert "Porto" not in context.context


async def test_the_story_of_a_chat_is_not_told_to_who_has_the_chat(world: World) -> None:
    core = await world.core(embedder=WordsEmbedder())
    contents = (
        "I am planning a trip to Kyoto in April with my sister",
        "Lovely, cherry blossom time in Kyoto",
        "We booked the Hotel Granvia near the station",
        "My sister wants to see the bamboo forest and the golden temple",
    )
    await converse(core, *contents, session="kyoto")
    await Hand(core).work_all()
    chat = [
        {"role": "user", "content": content}
        for content in (*contents, "what should I pack for Kyoto in April?")
    ]
    context = await core.context(
        ALICE, ContextInput.model_validate({"messages": chat, "session_id": "new"})
    )
    assert "Granvia" not in context.context
    alone = await core.context(
        ALICE, ContextInput.model_validate({"messages": chat[-1:], "session_id": "new"})
    )
    assert "Granvia" in alone.context


async def test_instructions_of_an_agent_are_told_in_no_part(words: MemoryCore) -> None:
    chat = [
        {"role": "system", "content": "You sail a red boat for Ana"},
        {"role": "user", "content": "the red boat sank near Porto"},
    ]
    await words.converse(
        ALICE, ConverseInput.model_validate({"messages": chat, "session_id": "before"}), Call()
    )
    for asked in (
        {"query": "who has the red boat?"},
        {"query": "the ceiling symphony"},
        {"session_id": "before"},
    ):
        context = (await words.context(ALICE, ContextInput.model_validate(asked))).context
        assert "Porto" in context
        assert "You sail" not in context


async def test_instructions_of_an_agent_are_kept_and_never_found(words: MemoryCore) -> None:
    prompt = {"role": "system", "content": "You sail a red boat for Ana"}
    chat = [prompt, {"role": "user", "content": "the ceiling symphony is long"}]
    await words.converse(
        ALICE, ConverseInput.model_validate({"messages": chat, "session_id": "s"}), Call()
    )
    alone = ConverseInput.model_validate({"messages": [prompt], "session_id": "alone"})
    await words.converse(ALICE, alone, Call())
    for _ in range(2):  # as messages, then as an episode
        answer = await words.retrieve(ALICE, RetrieveInput(query="who has the red boat?"))
        assert "red boat" not in str([result.memory for result in answer.results])
        await Hand(words).work_all()
    read = await words.session_messages(ALICE, "s")
    assert [message.content for message in read.messages] == [line["content"] for line in chat]


@pytest.mark.parametrize(
    "message", ["Noted, thanks!", "Can you proofread this: Noted, thanks for telling me"]
)
async def test_a_remark_or_a_text_to_work_on_opens_no_budget(
    words: MemoryCore, message: str
) -> None:
    await long_known(words)
    await words.save(ALICE, turn("Noted, thanks for telling me", "before"))
    context = await words.context(
        ALICE, ContextInput.model_validate({"messages": [{"role": "user", "content": message}]})
    )
    assert len(context.context.split()) <= 120
    assert "Perhaps related:" in context.context.split("\n")


async def test_a_long_last_turn_is_told_by_the_passage_that_answers(words: MemoryCore) -> None:
    minutes = " ".join(
        f"Point {n}: the committee talked about matter {n} and moved on without a word."
        for n in range(400)
    )
    minutes = minutes.replace(
        "Point 250:", "The leaking pump in hall 7 is replaced by Grundfos in May. Point 250:"
    )
    await words.converse(
        ALICE,
        ConverseInput.model_validate(
            {"messages": [{"role": "user", "content": minutes}], "session_id": "today"}
        ),
        Call(),
    )
    for session in ("today", "new", None):
        asked = ContextInput.model_validate(
            {"query": "What was decided about the leaking pump in hall 7?", "session_id": session}
        )
        assert "Grundfos" in (await words.context(ALICE, asked)).context, session


async def test_a_list_told_in_any_form_is_known_again_in_the_messages_of_that_form(
    words: MemoryCore,
) -> None:
    for number, form in enumerate(FORMS):
        owner = Owner(app_id="app", user_id=f"user-{number}")
        conversation = ConverseInput.model_validate(
            {"messages": form.messages, "session_id": "now"}
        )
        await words.converse(owner, conversation, Call())
        asked = {"session_id": "now", "parts": ["turns"]}
        whole = await words.context(owner, ContextInput.model_validate(asked))
        roles = [role for role, _, _ in form.expected if role != "system"]
        assert [len(part.ids) for part in whole.parts] == [len(roles)] * bool(roles), form.name
        known = await words.context(
            owner, ContextInput.model_validate({**asked, "messages": form.messages})
        )
        assert known.context == "", form.name


async def test_an_excluded_session_is_told_in_no_part(words: MemoryCore) -> None:
    soon = Foresight(
        description="the red boat is in the dock", start_time=NOW - DAY, end_time=NOW + DAY
    )
    await words.bulk(
        ALICE,
        [
            turn("the red boat was bought in Vigo", "before"),
            turn("the red boat has no owner", None),
        ],
    )
    await words.bulk(
        ALICE,
        [
            turn("the red boat sank near Porto", "now", foresight=[soon]),
            turn("the red boat is Ana's", "now"),
        ],
    )
    asked = ContextInput(query="the red boat", session_id="now", exclude_session_id="now")
    context = await words.context(ALICE, asked)
    assert kinds(context) == {"memories": 2}
    assert "Vigo" in context.context
    assert "no owner" in context.context
    without = await words.context(ALICE, ContextInput(exclude_session_id="now", parts=["turns"]))
    assert "Ana's" not in without.context


async def test_types_and_tags_narrow_what_the_query_finds(words: MemoryCore) -> None:
    await words.bulk(
        ALICE,
        [
            turn("the red boat sank near Porto", "old", tags=["sea"]),
            turn("the red boat is old", "old"),
        ],
    )
    await words.save(ALICE, fact("the red boat is called Amelia"))
    asked: dict[str, Any] = {"query": "the red boat", "parts": ["memories"]}
    semantic = await words.context(
        ALICE, ContextInput.model_validate({**asked, "types": ["semantic"]})
    )
    assert "Amelia" in semantic.context
    assert "Porto" not in semantic.context
    tagged = await words.context(ALICE, ContextInput.model_validate({**asked, "tags": ["sea"]}))
    assert "Porto" in tagged.context
    assert "Amelia" not in tagged.context


async def test_the_last_session_of_a_new_thread_is_told_whole_where_something_answers(
    words: MemoryCore,
) -> None:
    await lived(words)
    context = await words.context(ALICE, ContextInput(query="the red boat", session_id="new"))
    assert kinds(context) == {"profile": 2, "foresight": 1, "memories": 3, "turns": 3}


async def test_a_thread_of_which_only_the_present_message_is_stored_is_new(
    words: MemoryCore,
) -> None:
    await words.bulk(
        ALICE, [turn("we spoke of trains", "before"), turn("Good morning, what is new?", "now")]
    )
    messages = [{"role": "user", "content": "good morning, what is new?"}]
    for how in ({"exclude_session_id": "now"}, {"messages": messages}):
        asked = ContextInput.model_validate({"session_id": "now", "parts": ["turns"], **how})
        context = await words.context(ALICE, asked)
        assert "trains" in context.context
        assert "what is new" not in context.context
    await words.save(ALICE, turn("not much", "now"))
    running = await words.context(
        ALICE, ContextInput(session_id="now", exclude_session_id="now", parts=["turns"])
    )
    assert running.context == ""


async def test_the_last_session_is_the_one_told_last_whenever_the_others_are_formed(
    words: MemoryCore, world: World
) -> None:
    """A session's task may end after a newer session was told, and then its cell is the
    newest memory.
    """
    await converse(words, "the red boat sank near Porto", session="older")
    world.clock.forward(60)
    (older,) = await Hand(words).take()
    await words.bulk(ALICE, [turn("we spoke of trains", "newer")])
    await Hand(words).work(older)
    for how in (
        ContextInput(parts=["turns"]),
        ContextInput(session_id="new", exclude_session_id="new", parts=["turns"]),
    ):
        context = (await words.context(ALICE, how)).context
        assert "trains" in context
        assert "red boat" not in context
    excluded = await words.context(ALICE, ContextInput(exclude_session_id="newer", parts=["turns"]))
    assert "red boat" in excluded.context


async def test_the_last_session_is_the_one_told_last_where_both_are_formed_in_the_other_order(
    words: MemoryCore, world: World
) -> None:
    await converse(words, "the red boat sank near Porto", session="older")
    (older,) = await Hand(words).take()
    world.clock.forward(1)
    await converse(words, "we spoke of trains", session="newer")
    (newer,) = await Hand(words).take()
    for delivery in (newer, older):
        await Hand(words).work(delivery)
    context = (await words.context(ALICE, ContextInput(parts=["turns"]))).context
    assert "trains" in context
    assert "red boat" not in context


async def test_what_comes_of_an_assistant_or_a_tool_is_told_as_such(words: MemoryCore) -> None:
    """A line says it where its speaker does not; what a person said has no mark."""
    for name, source in (
        ("Ana", "api"),
        ("Bo", "mcp"),
        ("Cy", "tool:search"),
        ("assistant", "mcp"),
    ):
        await words.save(
            ALICE, turn(f"{name} saw the red boat", "monday", actor=name, source=source)
        )
    context = await words.context(ALICE, ContextInput(query="the red boat"))
    assert sorted(
        line.partition("] ")[2] for line in context.context.split("\n") if line.startswith("[")
    ) == [
        "Ana: Ana saw the red boat",
        "Bo: Bo saw the red boat (by an assistant)",
        "Cy: Cy saw the red boat (from a tool)",
        "assistant: assistant saw the red boat",
    ]


async def test_what_tools_returned_leaves_room_for_what_people_said(words: MemoryCore) -> None:
    for number in range(12):
        lines = " ".join(f"def deploy_{number}_{line}(target): ..." for line in range(25))
        output = f"the deploy target of module {number}: {lines}"
        await words.save(ALICE, turn(output, f"s{number}", actor="tool"))
    for number in range(8):
        await words.save(ALICE, turn(f"our deploy target {number} is near Porto", f"t{number}"))
    asked = ContextInput(query="our deploy target", parts=["memories"])
    context = await words.context(ALICE, asked)
    lines = [line for line in context.context.split("\n") if line.startswith("[")]
    outputs = [line for line in lines if "tool: " in line]
    assert 0 < sum(map(count_tokens, outputs)) < 500
    assert len(lines) - len(outputs) == 8
    asked = ContextInput(query="deploy_3_7(target) of module 3", parts=["memories"])
    assert "deploy_3_7" in (await words.context(ALICE, asked)).context


async def test_what_was_formed_of_the_messages_that_ask_is_not_told_again(world: World) -> None:
    core = await world.core_by_rules(embedder=LoadedMiniLM(), embedding_provider="minilm")
    messages = (
        ("user", "My canary Tito sings every morning at six."),
        ("assistant", "How charming."),
        ("user", "I feed Tito millet and apple slices."),
        ("assistant", "Good."),
    )
    await tell(core, *messages, session="s1")
    asking = [{"role": role, "content": text} for role, text in messages]
    asking.append({"role": "user", "content": "What do I feed Tito?"})
    context = await core.context(
        ALICE, ContextInput.model_validate({"messages": asking, "parts": ["memories"]})
    )
    assert "canary" not in context.context
    assert "millet" not in context.context
    other = await core.context(ALICE, ContextInput(query="What do I feed Tito?"))
    assert "millet" in other.context


async def test_words_of_an_agent_are_told_once_as_they_were_said(world: World) -> None:
    """The messages are kept beside the memory that was made of them, and stand alone in turns."""
    core = await world.core(embedder=WordsEmbedder())
    words = [
        {"role": "assistant", "content": "I booked the table at Luigi for Friday."},
        {"role": "assistant", "content": "The deposit of 50 euros is paid."},
    ]
    await core.agent_memory(
        ALICE, AgentMemoryInput.model_validate({"messages": words, "session_id": "s1"}), Call()
    )
    await Hand(core).work_all()
    for asked in (
        ContextInput(),
        ContextInput(session_id="s1"),
        ContextInput(query="Is the deposit at Luigi paid?"),
        ContextInput(query="Is the deposit at Luigi paid?", session_id="s1"),
        ContextInput(query="Is the deposit at Luigi paid?", session_id="s1", max_tokens=120),
    ):
        context = (await core.context(ALICE, asked)).context
        assert context.count("Luigi") == context.count("deposit") == 1, context


async def test_an_old_version_in_the_profile_is_not_told_again_among_memories(
    words: MemoryCore, world: World
) -> None:
    dog = (await words.save(ALICE, user_fact("dog", "Rex"))).memory
    world.clock.forward(2 * DAY.total_seconds())
    await words.update(
        ALICE, dog.id, UpdateInput(content="The user's dog is Max", value="Max"), dog.etag
    )
    await consolidated(words)
    asked = ContextInput(query="what is my dog called?", at=NOW + DAY)
    context = (await words.context(ALICE, asked)).context
    assert context.count("Rex") == 1, context

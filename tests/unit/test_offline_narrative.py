"""A story of what was said, and by which words it is found: nothing in either that was not said."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.adapters.offline.facts import said_facts
from memory_core.adapters.offline.summary import (
    MAX_WORDS,
    candidates,
    keywords_of,
    narrative,
    retrieval_hints,
)
from memory_core.adapters.offline.voice import third_person
from memory_core.domain.conversation import Message
from memory_core.domain.scene_assignment import PROTOTYPES, themes
from memory_core.domain.text.analyzer import words
from tests.talk import talk

STARTER = talk(
    "u: Hi! I've been having trouble with my sourdough starter.",
    "a: Does the starter rise after feeding?",
    "u: It rises a little. I feed it once a day with rye flour.",
    "a: Feed the starter twice a day and keep it warm.",
    "s: Always be polite about sourdough starters.",
    "u: I live in an old house in Bamberg, so the kitchen is cold.",
)


def story(messages: list[Message]) -> str:
    return narrative(messages, candidates(messages))


def test_a_short_talk_is_told_whole_and_in_order() -> None:
    assert story(STARTER) == (
        "User has been having trouble with their sourdough starter. Assistant asked: Does the "
        "starter rise after feeding? User said: It rises a little. User feeds it once a day with "
        "rye flour. "
        "Assistant said: Feed the starter twice a day and keep it warm. "
        "User lives in an old house in Bamberg, so the kitchen is cold."
    )


def test_of_a_long_talk_what_is_central_stays() -> None:
    filler = [
        f"a: On {number} other matters the weather, politics and sport were {number} times mixed."
        for number in range(40)
    ]
    story_text = story(
        talk(
            "u: My tomatoes have brown spots on the leaves.",
            *filler,
            "u: The spots on the tomatoes spread to the fruit.",
        )
    )
    assert "User's tomatoes have brown spots" in story_text
    assert "The spots on the tomatoes spread" in story_text
    assert len(story_text.split()) <= 200


def test_the_request_before_a_pasted_text_is_told_alone() -> None:
    talked = talk("u: Please summarize this email: I live in Zurich now.", "a: Carla has moved.")
    assert story(talked) == (
        "User said: Please summarize this email. Assistant said: Carla has moved."
    )


def test_a_greeting_is_told_as_one() -> None:
    assert story(talk("u: Hi", "a: Hello")) == "User and Assistant exchanged a few words: Hi Hello."


def test_instructions_alone_are_nobodys_talk() -> None:
    instruction = Message(
        role="system", content="You are kind.", timestamp=talk("u: Hi")[0].timestamp
    )
    assert story([instruction]) == "System gave instructions or results, nobody said anything."
    assert story([instruction, *talk("u: Hi")]) == "User exchanged a few words: Hi."


def test_people_are_called_by_their_names() -> None:
    assert (
        story(talk("I baked a plum cake on Sunday.", actor="Ann"))
        == "Ann baked a plum cake on Sunday."
    )


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("I'm allergic to nuts and love ramen.", "User is allergic to nuts and loves ramen."),
        ("I don't eat meat.", "User does not eat meat."),
        ("I've never been to Rome", "User has never been to Rome"),
        ("i live in rome", "User lives in Rome"),
        ("My sister visits me and my dog.", "User's sister visits User and User's dog."),
        ("I washed my car myself", "User washed their car themself"),
        ("I try, I pass and I watch", "User tries, User passes and User watches"),
        ("I told you so", None),
        ("We went to Rome", None),
        ("The dog barks", None),
        ("Ich wohne in Berlin", None),
        ("I miei gatti sono belli", None),
    ],
)
def test_only_what_is_simple_is_told_in_the_third_person(
    sentence: str, expected: str | None
) -> None:
    assert third_person(sentence, "User") == expected


PARTS = st.sampled_from(
    [
        "u: I live in Oslo.",
        "a: Oslo has fjords.",
        "u: Why is it so cold there?",
        "u: 猫が好きです。",
        "a: ok",
        "s: be good",
    ]
)


@settings(max_examples=50)
@given(
    st.lists(
        st.one_of(PARTS, st.text(max_size=80).map(lambda text: f"u: {text}")),
        min_size=1,
        max_size=12,
    )
)
def test_a_story_is_never_empty_never_long_and_made_of_what_was_said(lines: list[str]) -> None:
    messages = talk(*lines)
    story_text = story(messages)
    assert story_text
    assert len(story_text.split()) <= MAX_WORDS + 20
    assert story_text == story(messages)


def test_keywords_are_phrases_that_were_said() -> None:
    keywords = keywords_of([message.content for message in STARTER])
    assert "sourdough starter" in keywords
    assert "rye flour" in keywords
    assert not {"trouble with my", "twice", "little", "Hi"} & set(keywords)


@pytest.mark.parametrize(
    "text",
    [
        "今日は東京でカメラを買いました",
        "Я люблю крепкий кофе",
        "أحب القهوة",
        "Ich lerne C++ und C#",
    ],
)
def test_every_language_has_keywords(text: str) -> None:
    assert keywords_of([text])


def test_names_of_those_who_speak_are_no_keywords() -> None:
    assert keywords_of(["Ann bakes plum cake"], ["Ann"]) == ["bakes plum cake"]


def test_hints_are_bounded_and_ask_for_what_was_told() -> None:
    texts = [message.content for message in STARTER] + [
        "I work as a nurse. " + " ".join(f"gadget{n} sprocket{n}." for n in range(40))
    ]
    facts = said_facts(talk("I live in Bamberg.", "I work as a nurse."))
    hints = retrieval_hints(texts, facts, ["User"])
    assert (len(hints.tags), len(hints.keywords), len(hints.queries)) == (8, 10, 4)
    assert hints.tags[0] == "food"
    assert hints.queries[:2] == ["What is user's home city?", "What is user's occupation?"]


def test_themes_are_known_by_their_words() -> None:
    assert (
        max(themes(["flight", "hotel", "passport", "doctor"]).items(), key=lambda item: item[1])[0]
        == "travel"
    )
    assert themes(["xyzzy"]) == {}
    assert all(len(words(prototype)) >= 10 for prototype in PROTOTYPES.values())


def test_words_that_only_lead_in_are_left_out_and_times_are_not() -> None:
    assert (
        story(talk("Hi, by the way, last week I bought a red bike."))
        == "Last week User bought a red bike."
    )

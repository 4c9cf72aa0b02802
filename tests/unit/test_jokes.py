"""What is told as a joke, or only looks like a name or an allergy, fills no slot."""

from __future__ import annotations

import pytest

from memory_core.adapters.offline.facts import said_facts
from memory_core.domain.agent_schemas import ExtractedFacts
from memory_core.domain.statements.fact_checks import asserted_facts
from tests.talk import talk


def attributes(text: str) -> set[str | None]:
    messages = talk(text)
    extracted = ExtractedFacts(facts=said_facts(messages), foresight=[], instructions=[])
    return {fact.attribute for fact in asserted_facts(extracted, messages).facts} - {None}


@pytest.mark.parametrize(
    "text",
    [
        "I'm allergic to deep class trees lol",
        "im allergic to mondays haha",
        "I'm allergic to meetings that could be an email",
        "I'm allergic to people who are late.",
        "I'm allergic to drama 😂",
        "I'm allergic to mornings, hehe",
        "I'm allergic to work, lol, so no plans please",
        "Ich bin allergisch gegen Montage haha",
        "Ich bin gegen Meetings allergisch lol",
        "月曜日アレルギーです笑",
        "会議アレルギーなんですw",
    ],
)
def test_a_joke_is_no_allergy(text: str) -> None:
    assert attributes(text) == set()


@pytest.mark.parametrize(
    ("text", "thing"),
    [
        ("I'm allergic to peanuts.", "peanuts"),
        ("lol no, I'm allergic to peanuts", "peanuts"),
        ("yeah, I'm allergic to cats", "cats"),
        ("I'm allergic to cats haha", "cats"),
        ("I'm allergic to cats, which is a pity.", "cats"),
        ("I'm allergic to nuts and that is why I ask.", "nuts"),
        ("I'm allergic to hazelnuts so nutella is out haha", "hazelnuts"),
        ("I'm allergic to wasps!", "wasps"),
        ("Ich bin allergisch gegen Nüsse, haben die welche drin?", "nüsse"),
        ("Ich bin gegen Penicillin allergisch.", "penicillin"),
        ("卵アレルギーです。", "卵"),
    ],
)
def test_an_allergy_is_one(text: str, thing: str) -> None:
    assert f"allergy to {thing}" in attributes(text)


@pytest.mark.parametrize(
    "text",
    [
        "exam is done, passed!!! you can stop quizzing me now",
        "exam is done, passed!!! so happy",
        "my exam is over, passed",
        "it's done, passed!",
        "my name is done, passed",
        "call me later, thanks",
        "call me tomorrow",
        "call me back please",
        "call me asap",
        "call me again tonight",
    ],
)
def test_what_is_done_and_when_to_call_is_no_name(text: str) -> None:
    assert "name" not in attributes(text)


@pytest.mark.parametrize(
    "text",
    [
        "yeah right, and I'm Batman.",
        "Und ich bin der Kaiser von China.",
        "I'm the queen of England",
        "Ja klar, und ich bin Batman",
    ],
)
def test_what_nobody_means_is_no_fact(text: str) -> None:
    assert said_facts(talk("I live in Rome.", text)) == said_facts(talk("I live in Rome."))


@pytest.mark.parametrize(
    "text",
    [
        "call me max",
        "call me sofia",
        "call me jordan, please",
        "my name is paris",
        "my name is anna",
        "my name is Max!",
        "I'm called ben",
        "Call me Max, thanks",
        "hi, my name is tom",
        "You can call me Lee.",
    ],
)
def test_a_name_is_one(text: str) -> None:
    assert "name" in attributes(text)

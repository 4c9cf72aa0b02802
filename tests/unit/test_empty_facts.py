"""Everyday sentences whose facts would name nothing: a pronoun as a value, a thing
that is itself.
"""

from __future__ import annotations

import pytest

from memory_core.adapters.offline.facts import said_facts
from memory_core.domain.agent_schemas import ExtractedFacts, SaidFact
from memory_core.domain.conversation import Message
from memory_core.domain.statements.empty_facts import points
from memory_core.domain.statements.fact_checks import asserted_facts
from tests.builders import NOW
from tests.talk import talk

SAYING_NOTHING = (
    "Noah is called Noah.",
    "My name is my name.",
    "This is a present for her.",
    "The blue one is for her.",
    "My favourite is this one.",
    "My favourite song is that one.",
    "My boss is him.",
    "I live in it now.",
    "I work for him.",
    "I work at the same place.",
    "My dog is called that too.",
    "I like it.",
    "I love them both.",
    "I'm allergic to it.",
    "My car is my car.",
    "I live there with her.",
    "Noah heißt Noah.",
    "Das ist ein Geschenk für sie.",
    "Ich arbeite bei ihm.",
    "Ich mag sie.",
    "Ich mag ihn sehr.",
    "Mein Auto ist dieses hier.",
    "Mein Lieblingsfilm ist der da.",
    "ノアはノアです。",
    "これは彼女へのプレゼントです。",
    "彼が好きです。",
    "好きな歌はあれです。",
    "そこに住んでいます。",
    "時間は同じです。",
)
SAYING_SOMETHING = (
    ("My son is called Noah.", "Noah"),
    ("My daughter's name is Emma.", "Emma"),
    ("Mein Sohn heißt Noah.", "Noah"),
    ("息子の名前はノアです。", "ノア"),
    ("My favourite band is The The.", "The The"),
    ("I work at Same Day Couriers.", "Same Day Couriers"),
)


def told_by(text: str) -> list[Message]:
    return [Message(role="user", content=text, timestamp=NOW)]


@pytest.mark.parametrize("text", SAYING_NOTHING)
def test_a_sentence_that_only_points_makes_no_fact(text: str) -> None:
    assert said_facts(told_by(text)) == []


@pytest.mark.parametrize(("text", "named"), SAYING_SOMETHING)
def test_a_sentence_that_names_something_does(text: str, named: str) -> None:
    assert any(named in fact.text for fact in said_facts(told_by(text)))


@pytest.mark.parametrize(
    "value", ["for her", "him", "that one", "the same place", "für sie", "der da", "彼", "それ"]
)
def test_a_models_fact_with_a_pointing_value_is_left_out(value: str) -> None:
    text = f"My present is {value}."
    fact = SaidFact(
        text=f"The user's present is {value}",
        message=0,
        quote=text,
        subject="user",
        attribute="present",
        value=value,
    )
    checked = asserted_facts(ExtractedFacts(facts=[fact]), told_by(text))
    assert (checked.facts, checked.dropped) == ([], 1)


@pytest.mark.parametrize(
    "value", ["a book for her", "Noah", "yes", "no", "likes", "The The Tigers", "9:30", "それから"]
)
def test_a_value_that_names_something_does_not_point(value: str) -> None:
    assert not points(value)


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("My mother takes insulin. She's diabetic. I am not.", ["User's mother takes insulin"]),
        ("I am the walrus, goo goo g'joob.", []),
        ("My current plan is Pro.", ["User's current plan is Pro"]),
    ],
)
def test_a_sentence_without_its_predicate_is_no_fact(text: str, facts: list[str]) -> None:
    assert [fact.text for fact in said_facts(talk(text))] == facts

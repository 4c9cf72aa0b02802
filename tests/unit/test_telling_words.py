"""Which texts tell a fact: those with the words of its value, in whatever form, and no others."""

from __future__ import annotations

import pytest

from memory_core.domain.forgetting import marks_of_quote, marks_of_value, states_value
from tests.builders import memory


@pytest.mark.parametrize(
    ("value", "text", "expected"),
    [
        ("peanuts", "I bought a peanut", True),
        ("peanuts", "I bought a walnut", False),
        ("3400 euros", "3,400 it is", True),
        ("3400 euros", "3'400 it is", True),
        ("long bus rides", "How long will you stay?", False),
        ("long bus rides", "I hate riding the bus", True),
        ("shellfish, peanuts and gluten", "no gluten then", True),
        ("grünen Tee", "Ich trinke gern grünen Tee und nicht viel mehr", True),
        ("東京", "東京に住んでいます", True),
        ("yes", "no, it was not", False),
        ("of the", "the end of the day", False),
    ],
)
def test_a_text_tells_a_value_with_half_of_the_words_of_any_part_of_it(
    value: str, text: str, expected: bool
) -> None:
    assert states_value(text, marks_of_value(memory(value=value, value_text=value))) is expected


def test_without_a_value_the_words_beside_its_slot_tell_a_fact() -> None:
    marks = marks_of_value(memory("Ana's city is Oslo", subject="Ana", attribute="city"))
    assert states_value("Oslo is cold", marks)
    assert not states_value("Ana likes the city", marks)


def test_a_text_tells_what_was_quoted_of_it_as_a_whole_alone() -> None:
    quote = marks_of_quote("I moved to the harbour")
    assert states_value("well, I moved to the harbour.", [], [quote])
    assert not states_value("I moved again", [], [quote])


def test_the_marks_hold_no_words() -> None:
    assert "oslo" not in str(marks_of_value(memory(value="Oslo", value_text="Oslo"))).casefold()

"""What was said later comes before what it updates, where a question asks how something is."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from memory_core.domain.text.analyzer import tokens
from memory_core.recollection.reorder import SaidStatement, asks_how_it_is, put_updates_first

START = datetime(2026, 3, 1, 9, tzinfo=timezone.utc)
COVERAGE = "What is the test coverage of my billing module?"


def order_of(question: str, *statements: tuple[str, int]) -> list[int]:
    """The numbers of statements as they are found, each with the day on which it was said; the
    first is the most relevant.
    """
    candidates = [
        SaidStatement(
            row, row, text, "Ana", START + timedelta(days=day), 0.6 - row / 50, leads=True
        )
        for row, (text, day) in enumerate(statements)
    ]
    return put_updates_first(range(len(statements)), candidates, question, tokens(question))[0]


def test_a_later_number_comes_before_the_earlier_one_of_the_same_matter() -> None:
    assert order_of(
        COVERAGE,
        ("The test coverage of my billing module is at 65 %.", 1),
        ("Coffee is out again.", 2),
        ("I brought the test coverage of the billing module to 78 %.", 3),
    ) == [2, 0, 1]


def test_an_update_of_the_same_matter_comes_before_a_later_one_of_another() -> None:
    assert order_of(
        COVERAGE,
        ("The test coverage of my billing module is at 65 %.", 1),
        ("I brought the test coverage of the billing module to 78 %.", 3),
        ("The test coverage of my whole project is at 81 %.", 5),
    ) == [1, 0, 2]


def test_several_updates_come_before_what_they_update_the_latest_first() -> None:
    assert order_of(
        COVERAGE,
        ("The test coverage of my billing module is at 65 %.", 1),
        ("The test coverage of my billing module is at 70 %.", 3),
        ("The test coverage of my billing module is at 78 %.", 5),
    ) == [2, 1, 0]


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("What is the deadline of the first sprint?", True),
        ("What's my first meeting today?", True),
        ("What is the rent that I paid first?", False),
        ("What did I pay first?", False),
        ("How much was the rent?", False),
        ("How much is the rent?", True),
    ],
)
def test_a_first_one_of_several_is_not_what_was_so_first(question: str, asks: bool) -> None:
    assert asks_how_it_is(question) is asks


def test_a_later_number_of_what_is_counted_comes_before_that_of_something_else() -> None:
    assert order_of(
        "How many interviews have I secured as a curator at the museum?",
        ("I secured 3 interviews as a curator at the museum.", 1),
        ("I secured 5 interviews, how do I thank them?", 3),
        ("My nerves in interviews as a curator at the museum went up to 20.", 5),
    ) == [1, 0, 2]

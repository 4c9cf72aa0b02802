"""What a query earns by its best hit."""

from __future__ import annotations

import pytest

from memory_core.domain.ranking.selection import Grant
from memory_core.domain.requests.memories import RetrieveInput
from memory_core.recollection.gather import grant_for
from memory_core.recollection.passing_rows import NEAR

THRESHOLD = 0.4
CLOSE = NEAR * THRESHOLD + 0.01


@pytest.mark.parametrize(
    "query",
    [
        "What was her name again?",
        "what's my number",
        "I have to call her. What was her name again?",
        "wie hieß sie noch",
        "(where is she?)",
    ],
)
def test_a_question_that_is_nearly_answered_opens_the_budget(query: str) -> None:
    assert grant_for(RetrieveInput(query=query), THRESHOLD, CLOSE) is Grant.NEAR


@pytest.mark.parametrize(
    "query",
    [
        "translate good morning into French",
        "proofread this: the boat are red",
        "I am bored. Entertain me.",
        "I was away. It rained a lot. What is C?",
        "Can you explain how a transistor amplifies a signal? Keep it short please.",
        "Is a tomato a fruit? Two people here are shouting about it.",
        "Could you give me a regex for dates?",
    ],
)
def test_what_does_not_ask_or_says_much_beside_earns_the_first_few(query: str) -> None:
    assert grant_for(RetrieveInput(query=query), THRESHOLD, CLOSE) is Grant.PERHAPS


def test_what_surely_answers_opens_the_budget_whatever_was_said() -> None:
    assert (
        grant_for(RetrieveInput(query="translate good morning into French"), THRESHOLD, THRESHOLD)
        is Grant.SURE
    )


def test_a_threshold_of_the_caller_is_meant_as_it_is() -> None:
    assert (
        grant_for(
            RetrieveInput(query="What was her name?", answer_threshold=THRESHOLD), THRESHOLD, CLOSE
        )
        is Grant.PERHAPS
    )

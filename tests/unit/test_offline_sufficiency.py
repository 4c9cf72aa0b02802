"""Whether an answer is enough, by rule: a few memories stand out, and the query's words stand in
what was found.
"""

from __future__ import annotations

import pytest

from memory_core.adapters.offline.sufficiency import judged
from memory_core.ports import DecisionItem
from tests.builders import NOW

ASKED = "Where did the red boat sink?"
SINKS = "The red boat sinks near Porto"


def items(*texts: tuple[str, float | None]) -> list[DecisionItem]:
    return [
        DecisionItem(number, text, None, NOW, lead=lead)
        for number, (text, lead) in enumerate(texts, 1)
    ]


def test_one_memory_far_before_the_rest_with_all_words_is_enough() -> None:
    verdict = judged(ASKED, items((SINKS, 0.5), ("A boat called Amelia", 0.1)))
    assert verdict.sufficient
    assert verdict.rewritten is None
    assert verdict.why == "3 of 3 words of the query were found, 100 % of what it says."


def test_ten_memories_that_are_about_as_near_are_not_enough() -> None:
    verdict = judged(ASKED, items(*((f"{SINKS} {n}", 0.2 - n / 50) for n in range(12))))
    assert not verdict.sufficient
    assert "about as near" in verdict.why


def test_what_is_missing_is_named_and_never_asked_for_again() -> None:
    verdict = judged(ASKED, items(("A boat called Amelia was painted", 0.5)))
    assert not verdict.sufficient
    assert "not found: red, sink" in verdict.why
    assert verdict.rewritten is None


def test_what_does_not_surely_answer_is_not_enough() -> None:
    verdict = judged(ASKED, items((SINKS, None)))
    assert not verdict.sufficient
    assert "No memory surely answers it." in verdict.why


def test_nothing_found_is_not_enough() -> None:
    verdict = judged(ASKED, [])
    assert (verdict.sufficient, verdict.rewritten, verdict.why) == (
        False,
        None,
        "Nothing was found.",
    )


@pytest.mark.parametrize("query", ["\U0001f642?", "the"])
def test_a_query_without_words_is_never_enough(query: str) -> None:
    assert not judged(query, items(("anything", 1.0))).sufficient

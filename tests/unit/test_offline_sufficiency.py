"""Whether an answer is enough, by words alone."""

from __future__ import annotations

from memory_core.adapters.offline.sufficiency import judged
from memory_core.ports import DecisionItem
from tests.builders import NOW

ASKED = "Where did the red boat sink?"


def items(*texts: str) -> list[DecisionItem]:
    return [DecisionItem(number, text, None, NOW) for number, text in enumerate(texts, 1)]


def test_all_words_found_are_enough() -> None:
    verdict = judged(ASKED, [ASKED], items("The red boat sinks near Porto"))
    assert verdict.sufficient
    assert verdict.rewritten is None
    assert verdict.why == "3 of 3 words of the query were found, 100 % of what it says."


def test_what_is_missing_is_named_and_asked_for_with_the_words_of_the_best() -> None:
    verdict = judged(ASKED, [ASKED], items("A boat called Amelia was painted"))
    assert not verdict.sufficient
    assert "not found: red, sink" in verdict.why
    assert verdict.rewritten == f"{ASKED} called amelia painted"


def test_it_asks_once_more_and_not_again() -> None:
    assert judged(ASKED, [ASKED, "boat amelia"], items("A boat called Amelia")).rewritten is None


def test_nothing_found_is_not_enough_and_leaves_nothing_to_ask_with() -> None:
    verdict = judged(ASKED, [ASKED], [])
    assert (verdict.sufficient, verdict.rewritten, verdict.why) == (False, None, "Nothing was found.")


def test_a_query_without_words_is_not_judged_by_words() -> None:
    assert judged("🙂?", ["🙂?"], items("anything")).sufficient in (True, False)
    assert judged("the", ["the"], items("anything")).sufficient

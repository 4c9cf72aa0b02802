"""What rules answer is fitted to its schema: cut, or answered by a plainer rule, and counted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from memory_core.adapters.offline.running_rules import Fitted, answer_within_schema, fitted
from memory_core.domain.agent_schemas import ConversationSummary, Cut, RetrievalHints, SaidFact
from memory_core.domain.errors import AgentFailed
from memory_core.domain.text.shortening import beginning

FAMILY = "👩\u200d👩\u200d👧\u200d👦"


def test_what_is_within_its_schema_stays_as_it_is() -> None:
    made = answer_within_schema(
        lambda: fitted(SaidFact, text="Ana lives in Oslo", message=0, quote="I live in Oslo"),
        lambda: None,
    )
    assert made == Fitted(SaidFact(text="Ana lives in Oslo", message=0, quote="I live in Oslo"))


def test_a_text_that_is_too_long_is_cut_and_counted() -> None:
    made = answer_within_schema(
        lambda: fitted(ConversationSummary, narrative="Ana likes tea. " * 300), lambda: None
    )
    assert made.value is not None
    assert len(made.value.narrative) <= 3_000
    assert made.value.narrative.endswith("tea.")
    assert made.cut == ("narrative",)


def test_a_list_that_is_too_long_is_cut_with_its_texts() -> None:
    made = answer_within_schema(
        lambda: fitted(
            RetrievalHints, tags=["x" * 100, *(f"tag {number}" for number in range(20))]
        ),
        lambda: None,
    )
    assert made.value is not None
    assert made.value.tags == ["x" * 80, *(f"tag {number}" for number in range(7))]
    assert set(made.cut) == {"tags"}


def test_what_is_wrong_in_another_way_is_answered_by_the_plainer_rule() -> None:
    made = answer_within_schema(
        lambda: fitted(SaidFact, text="", message=0, quote="x"), lambda: None
    )
    assert (made.value, made.failure) == (None, "ValidationError")
    with pytest.raises(ValidationError):
        fitted(Cut, after=-1, reason="x" * 300)


def test_a_rule_that_fails_on_a_text_is_answered_for_by_the_plainer_one() -> None:
    def rule() -> str:
        return "abc"[7]

    assert answer_within_schema(rule, lambda: "plain") == Fitted("plain", (), "IndexError")


def test_what_a_rule_refuses_stays_refused() -> None:
    def rule() -> str:
        raise AgentFailed("they do not fit")

    with pytest.raises(AgentFailed):
        answer_within_schema(rule, lambda: "plain")


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("Short.", 10, "Short."),
        ("One sentence. Another sentence.", 20, "One sentence."),
        ("She asked him. Dr. Meyer said no", 20, "She asked him."),
        ('"One sentence." Another sentence.', 20, '"One sentence."'),
        ("One heading\nAnother heading", 18, "One heading"),
        ("\n" * 30, 10, "\n" * 10),
        ("one two three four", 15, "one two three"),
        ("one two three four", 13, "one two three"),
        ("版本一。版本二。版本三", 9, "版本一。版本二。"),
        ("Version 1.25 of it", 10, "Version"),
        ("x" * 30, 10, "x" * 10),
        (FAMILY * 3, 16, FAMILY * 2),
        ("e\u0301" * 10, 5, "e\u0301" * 2),
        ("🇩🇪🇫🇷🇮🇹", 5, "🇩🇪🇫🇷"),
        ("a" + "\u0301" * 200, 100, "a" + "\u0301" * 99),
    ],
)
def test_a_beginning_ends_with_a_sentence_a_word_or_a_character(
    text: str, limit: int, expected: str
) -> None:
    assert beginning(text, limit) == expected


@given(st.text(), st.integers(1, 50))
def test_a_beginning_is_no_longer_than_allowed_and_stands_in_the_text(
    text: str, limit: int
) -> None:
    cut = beginning(text, limit)
    assert len(cut) <= limit
    assert text.startswith(cut)
    assert bool(cut) == bool(text)

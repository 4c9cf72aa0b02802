"""Turns that only acknowledge are told from answers and statements."""

from __future__ import annotations

import pytest

from memory_core.domain.ranking.acknowledgements import only_acknowledges


@pytest.mark.parametrize(
    "text",
    [
        "OK.",
        "Noted.",
        "Got it!",
        "Thanks!",
        "Sure!",
        "I see.",
        "👍",
        "Great, I've noted that.",
        "Got it — I’ll keep that in mind.",
        "Okay, thanks for letting me know!",
        "Alles klar.",
        "Notiert.",
        "Super, danke!",
        "Danke für die Info!",
        "Das merke ich mir.",
        "了解です。",
        "はい、わかりました。",
        "承知しました。ありがとうございます！",
        "メモしました。",
    ],
)
def test_a_receipt_says_nothing(text: str) -> None:
    assert only_acknowledges(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Yes.",
        "Yes, twice!",
        "Nein.",
        "はい。",
        "I got a dog.",
        "I'll keep it.",
        "Sure, on Monday.",
        "OK, 7 pm then.",
        "Noted: your sister visits in May.",
        "Danke an Lena.",
        "犬を飼っています。",
    ],
)
def test_an_answer_or_a_statement_says_something(text: str) -> None:
    assert not only_acknowledges(text)

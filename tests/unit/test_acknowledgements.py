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
        "Hello! How can I help you today?",
        "Hi, I'm your assistant. What can I do for you?",
        "You're welcome! Let me know if you need anything else.",
        "Great! Anything else?",
        "Hallo! Wie kann ich dir heute helfen?",
        "こんにちは！今日はどのようなご用件でしょうか？",
        "Bonjour, ça va ?",
        "你好",
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
        "How can I help my sister?",
        "Let me know if you need anything from Rome.",
        "What can I do for you in Lisbon?",
        "Wie kann ich dir beim Umzug helfen?",
        "犬を飼っています。",
    ],
)
def test_an_answer_or_a_statement_says_something(text: str) -> None:
    assert not only_acknowledges(text)

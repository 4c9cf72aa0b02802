"""Requests to forget that go on with the reason for them."""

from __future__ import annotations

import pytest

from memory_core.domain.statements.wishes import said_wishes
from tests.talk import talk


def topics(text: str) -> list[tuple[str, str]]:
    return [(wish.about, wish.surety) for wish in said_wishes(talk(text)) if wish.kind == "forget"]


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("Please forget that Ida is pregnant, she wants to tell it herself.", "ida is pregnant"),
        ("Please forget that Ida is pregnant, she told me in secret.", "ida is pregnant"),
        ("Actually, forget what I said about Rome, it was a joke.", "rome"),
        ("Vergiss bitte, dass Ida schwanger ist, sie will es selbst sagen.", "ida schwanger"),
    ],
)
def test_a_reason_is_no_part_of_what_is_to_be_forgotten(text: str, about: str) -> None:
    assert topics(text) == [(about, "sure")]


@pytest.mark.parametrize(
    "text",
    [
        "Don't forget that Ida is coming, she needs a bed.",
        "I'll never forget that Ben came, he sang.",
        "Forget what he says, he is drunk.",
        "Forget about it, that was stupid.",
        "Forget about lunch, it's too late.",
    ],
)
def test_with_a_reason_a_harmless_forget_stays_harmless(text: str) -> None:
    assert topics(text) == []

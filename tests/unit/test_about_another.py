"""A sentence without a subject goes on about the person of the sentence before it."""

from __future__ import annotations

import pytest

from memory_core.adapters.offline.facts import said_facts
from memory_core.domain.conversation import Message
from tests.builders import NOW


def slots_of(text: str) -> dict[str, str | None]:
    messages = [Message(role="user", content=text, timestamp=NOW)]
    return {
        fact.attribute: fact.value
        for fact in said_facts(messages)
        if fact.attribute is not None and fact.subject == "user"
    }


@pytest.mark.parametrize(
    "text",
    [
        "Tom called. just got divorced, has two kids, 45. poor guy",
        "My brother texted me. lost his job and moved to Rome.",
        "My friend Lea was here. works as a nurse now.",
        "父は先月退職しました。今は京都に住んでいます。67歳です",
        "彼女は医者です。大阪に住んでいます。",
    ],
)
def test_what_is_said_of_another_is_no_fact_of_the_user(text: str) -> None:
    assert slots_of(text) == {}


@pytest.mark.parametrize(
    ("text", "slot", "value"),
    [
        ("Tom called. I just got divorced.", "marital status", "divorced"),
        ("Work was busy. just got divorced too.", "marital status", "divorced"),
        ("I moved last week. I live in Rome now.", "home city", "Rome"),
        ("Hi there. I live in Rome.", "home city", "Rome"),
        ("父は先月退職しました。私は京都に住んでいます。", "home city", "京都"),
        ("福岡に住んでいます。28歳です。", "age", "28"),
    ],
)
def test_what_the_speaker_says_of_themselves_is_one(text: str, slot: str, value: str) -> None:
    assert slots_of(text)[slot] == value


def test_an_ordinal_is_no_age() -> None:
    assert slots_of("ich bin 3. geworden beim lauf") == {}
    assert slots_of("ich bin 34 geworden") == {"age": "34"}


def test_a_thing_is_no_person_of_an_age() -> None:
    messages = [Message(role="user", content="weight is 81 now!", timestamp=NOW)]
    assert all(fact.attribute != "age" for fact in said_facts(messages))


def test_a_time_is_nothing_that_is_drunk() -> None:
    assert set(slots_of("i quit drinking 3 weeks ago and started running")) == {"drinks alcohol"}
    assert slots_of("I don't drink coffee.") == {"drinks coffee": "no"}

"""Since when a fact is so, by the past day that its sentence names."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from memory_core.adapters.offline.facts import said_facts
from memory_core.domain.conversation import Message
from memory_core.domain.statements.begun import began_at

SAID_AT = datetime(2026, 10, 1, 12, tzinfo=timezone.utc)


def begun(sentence: str) -> dict[str, str | None]:
    """The facts of a sentence that fill slots, each with the day on which it began."""
    facts = said_facts([Message(role="user", content=sentence, timestamp=SAID_AT)])
    days = {fact.value or "": began_at(fact, SAID_AT) for fact in facts if fact.attribute}
    return {value: day and day.date().isoformat() for value, day in days.items()}


@pytest.mark.parametrize(
    ("sentence", "value", "day"),
    [
        ("I moved to Rome on 5 May.", "Rome", "2026-05-05"),
        ("I moved from Oslo to Rome on the 5th of May 2024.", "Rome", "2024-05-05"),
        ("I moved to Lyon in May.", "Lyon", "2026-05-01"),
        ("I moved to Porto in November.", "Porto", "2025-11-01"),
        ("I've been working at Bosch since 2 May.", "Bosch", "2026-05-02"),
        ("I became a nurse in 2019.", "nurse", "2019-01-01"),
        ("I moved to Lyon two weeks ago.", "Lyon", "2026-09-17"),
        ("I joined Globex yesterday.", "Globex", "2026-09-30"),
        ("In May I moved to Lyon.", "Lyon", "2026-05-01"),
        ("On 5 May, we moved to Lyon.", "Lyon", "2026-05-05"),
        ("Since May I've been living in Lyon.", "Lyon", "2026-05-01"),
        ("Ich bin am 5. Mai nach Rom gezogen.", "Rom", "2026-05-05"),
        ("Im Mai bin ich nach Lyon gezogen.", "Lyon", "2026-05-01"),
        ("Ich wohne seit Mai in Lyon.", "Lyon", "2026-05-01"),
        ("Ich bin vor zwei Wochen nach Lyon gezogen.", "Lyon", "2026-09-17"),
        ("5月にリヨンに引っ越しました。", "リヨン", "2026-05-01"),
        ("昨日リヨンに引っ越しました。", "リヨン", "2026-09-30"),
    ],
)
def test_a_fact_is_so_from_the_day_that_its_sentence_names(
    sentence: str, value: str, day: str
) -> None:
    assert begun(sentence) == {value: day}


@pytest.mark.parametrize(
    "sentence",
    [
        "I work at Otto, and on 5 May I was in Rome.",
        "I moved to Rome, where the fair opened on 5 May.",
        "I moved to Rome today.",
        "I moved to Rome last week.",
        "Last month I started at Globex.",
        "Ich bin letzte Woche nach Rom gezogen.",
        "先月リヨンに引っ越しました。",
        "I've lived in Lyon for the past two years.",
        "I live in Lyon.",
        "My birthday is 5 May.",
        "I moved to Rome between May and June.",
        "I left Bosch in May.",
        "Ich wohne seit drei Jahren in Lyon.",
    ],
)
def test_a_fact_without_a_day_of_its_own_is_so_when_it_is_said(sentence: str) -> None:
    assert set(begun(sentence).values()) == {None}


@pytest.mark.parametrize(
    ("sentence", "home"),
    [
        ("I'm in Lyon now, moved here two weeks ago.", "Lyon"),
        ("I'm in Lyon, my sister moved here.", None),
        ("I'm in Lyon today.", None),
        ("In May I would have moved to Lyon.", None),
        ("In May I almost moved to Lyon.", None),
    ],
)
def test_a_home_is_read_only_of_a_move_of_ones_own(sentence: str, home: str | None) -> None:
    assert set(begun(sentence)) == ({home} if home else set())


def test_a_day_begins_where_the_speaker_is() -> None:
    said_at = datetime.fromisoformat("2026-10-01T01:00:00+09:00")
    (fact,) = (
        fact
        for fact in said_facts(
            [Message(role="user", content="I moved to Rome on 5 May.", timestamp=said_at)]
        )
        if fact.attribute
    )
    assert began_at(fact, said_at) == datetime(2026, 5, 4, 15, tzinfo=timezone.utc)

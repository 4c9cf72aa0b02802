"""What repeats, by rule: said by a person, in several episodes, in the same words;
and nothing else.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.adapters.offline.patterns import found_patterns
from memory_core.domain.statements.patterns import SaidTerms, carriers
from memory_core.ports import DecisionItem
from tests.builders import NOW


def episodes(
    *texts: str, actor: str | None = None, category: str | None = None
) -> list[DecisionItem]:
    return [
        DecisionItem(number, text, category, NOW + timedelta(days=number), None, actor)
        for number, text in enumerate(texts)
    ]


def found(*texts: str, **options: Any) -> list[tuple[str, str, list[int]]]:
    return [
        (pattern.summary, pattern.pattern, pattern.sources)
        for pattern in found_patterns(episodes(*texts, **options)).patterns
    ]


@pytest.mark.parametrize(
    ("texts", "summary", "kind"),
    [
        (
            ("I love jazz", "Nice weather.", "By the way, I love jazz."),
            "User loves jazz",
            "preference",
        ),
        (
            ("I always take the tram to work", "As I said, I always take the tram to work!"),
            "User always takes the tram to work",
            "habit",
        ),
        (
            ("User goes swimming on Tuesdays.", "User goes swimming every Tuesday."),
            "User goes swimming on Tuesdays",
            "habit",
        ),
        (
            (
                "I watered the ferns today",
                "Yesterday I watered the ferns",
                "I watered the ferns again this morning",
            ),
            "User watered the ferns again and again",
            "habit",
        ),
        (
            ("We saw Porto", "Back in Porto", "Off to Porto we went"),
            "User often speaks of Porto",
            "place",
        ),
        (("I met Ines", "Lunch with Ines", "I called Ines"), "User often speaks of Ines", "person"),
    ],
)
def test_what_is_said_again_is_found_with_the_episodes_that_say_it(
    texts: tuple[str, ...], summary: str, kind: str
) -> None:
    patterns = found(*texts)
    assert [(summary_found, kind_found) for summary_found, kind_found, _ in patterns] == [
        (summary, kind)
    ]
    assert len(patterns[0][2]) >= 2


@pytest.mark.parametrize(
    "texts",
    [
        ("I love jazz",),
        ("I love jazz", "I don't love jazz"),
        ("I prefer tea over coffee", "I prefer coffee over tea"),
        ("I get up at 6 every day", "I get up at 7 every day"),
        ("I live in Oslo",) * 4,
        ("I work as a nurse",) * 4,
        ("I have a cold",) * 4,
        ("I will fly to Rome next week",) * 4,
        ("Do I love jazz?",) * 4,
        ("<memory>I love jazz</memory>",) * 4,
        ("He wrote: 'I love jazz and I hate rock'",) * 4,
        ("Assistant said: I love jazz.",) * 4,
        ("We met on Monday", "It rained on Monday", "Monday was fine"),
        ("", "🙂", "!!!"),
        (),
    ],
)
def test_what_differs_passes_fills_a_slot_or_is_nobodys_own_is_no_pattern(
    texts: tuple[str, ...],
) -> None:
    assert found(*texts) == []


def test_a_person_is_told_of_by_name_and_an_assistant_not_at_all() -> None:
    assert found("I love jazz", "I love jazz", actor="Ana") == [
        ("Ana loves jazz", "preference", [0, 1])
    ]
    assert found("I love jazz", "I love jazz", actor="assistant") == []


def test_the_order_in_which_episodes_are_shown_changes_nothing_but_their_numbers() -> None:
    items = episodes(
        "I love jazz",
        "I always take the tram to work",
        "I love jazz",
        "I always take the tram to work",
    )
    assert found_patterns(items) == found_patterns(items)
    assert {pattern.summary for pattern in found_patterns(items[::-1]).patterns} == {
        pattern.summary for pattern in found_patterns(items).patterns
    }


SENTENCES = (
    "I love jazz",
    "I went running in the park",
    "I always cook rice on Mondays",
    "Lunch with Ines",
    "Porto was fine",
    "日本語が好き",
    "x",
)


@given(st.lists(st.lists(st.sampled_from(SENTENCES), max_size=4).map(". ".join), max_size=12))
@settings(max_examples=60, deadline=None)
def test_every_pattern_stands_on_episodes_that_were_shown(texts: list[str]) -> None:
    readings = [SaidTerms.of(text) for text in texts]
    for pattern in found_patterns(episodes(*texts)).patterns:
        assert set(pattern.sources) <= set(range(len(texts)))
        assert carriers(pattern.summary, [readings[number] for number in pattern.sources])

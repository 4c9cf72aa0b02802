"""An instruction that names its end holds until then, and no other one ends by itself."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from memory_core.domain.statements.wish_limits import holds_until

SAID = datetime(2026, 9, 7, 18, tzinfo=timezone.utc)  # a Monday


@pytest.mark.parametrize(
    ("wish", "day"),
    [
        ("until my exam on friday please quiz me after every answer", "2026-09-12"),
        ("Until Sunday please answer only in French.", "2026-09-14"),
        ("Please keep it short today.", "2026-09-08"),
        ("this week only suggest cheap places", "2026-09-14"),
        ("For the next two weeks, answer in Spanish.", "2026-09-21"),
        ("don't suggest meat until Easter", "2027-03-28"),
        ("bis freitag bitte nur englisch antworten, ich hab am freitag prüfung", "2026-09-12"),
        ("bis freitag bitte immer nur kurz antworten", "2026-09-12"),
        ("antworte heute bitte in stichworten", "2026-09-08"),
        ("diese woche bitte nur vegane rezepte", "2026-09-14"),
        ("bis ende des monats keine süßigkeiten vorschlagen", "2026-10-01"),
        ("今日だけ英語で答えて", "2026-09-08"),
        ("今週は英語で答えてください", "2026-09-14"),
        ("金曜日まで短く答えて", "2026-09-12"),
        ("来週まで敬語で答えて", "2026-09-21"),
    ],
)
def test_a_wish_that_names_its_end_holds_until_then(wish: str, day: str) -> None:
    until = holds_until(wish, SAID)
    assert until is not None
    assert until.date().isoformat() == day


@pytest.mark.parametrize(
    "wish",
    [
        "Always use metric units.",
        "From today on answer in German.",
        "Don't mention the wedding on Saturday.",
        "Until further notice, be brief.",
        "Keep answers under 50 words until I say otherwise.",
        "When I ask about today's weather, use Celsius from now on.",
        "Ab heute bitte immer duzen.",
        "Bis auf weiteres kurz antworten.",
        "今日から敬語で話して",
        "いつも短く答えて",
    ],
)
def test_a_wish_without_an_end_holds_until_it_is_lifted(wish: str) -> None:
    assert holds_until(wish, SAID) is None

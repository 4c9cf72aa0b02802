"""A message that opens with a correction puts the message just before it right."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory_core.domain.statements.changes import change
from tests.builders import NOW

CORRECTED = [
    ("my appointment at the vet is on thursday at 4", "oh wait no, friday. same time"),
    ("My rent is 350.", "sorry, i meant 340"),
    ("I'm 35 and live in Bath", "oops, 36"),
    ("Mein Termin ist am Montag um 10.", "nein, Quatsch, am Dienstag"),
    ("Der Kurs ist am Mittwoch", "Quatsch, Donnerstag!"),
    ("歯医者の予約は木曜日です", "すみません、金曜日でした"),
    ("My exam is on Monday", "sorry, tuesday!"),
    ("We meet at 7:15", "no wait, 7:30"),
    ("I have a meeting with Sarah on Monday.", "Sorry, I meant with Sandra."),
    ("ich wiege 80 kg", "ach quatsch, 82"),
]
OTHERS = [
    ("My exam is on Monday", "oh, tuesday is a holiday"),
    ("My exam is on Monday", "no, tuesday i have football"),
    ("My exam is on Monday", "sorry, can you help on tuesday?"),
    ("I'm 35", "sorry, 2 questions"),
    ("I'm 35", "wait, 10 minutes"),
    ("I'm free on Monday and Friday", "no, I meant Tuesday"),
    ("What is on Monday?", "no, I meant Tuesday"),
    ("My rent is 350", "no, 2"),
    ("I used to work at Nokia", "I work at Ericsson now"),
    ("Mein Kurs ist am Montag", "nein, am Dienstag habe ich frei"),
    ("予約は木曜日です", "すみません、質問があります"),
]


@pytest.mark.parametrize(("before", "now"), CORRECTED)
def test_a_correction_at_once_is_a_change(before: str, now: str) -> None:
    assert change(before, now, (NOW, NOW + timedelta(minutes=2))) is not None


@pytest.mark.parametrize(("before", "now"), OTHERS)
def test_what_only_looks_like_one_is_none(before: str, now: str) -> None:
    assert change(before, now, (NOW, NOW + timedelta(minutes=2))) is None


def test_a_correction_of_another_day_is_of_something_else() -> None:
    before, now = CORRECTED[0]
    assert change(before, now, (NOW, NOW + timedelta(days=1))) is None
    assert change(now, before, (NOW, NOW + timedelta(minutes=2))) is None

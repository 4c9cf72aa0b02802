"""Whose thing a later sentence means, by its owner, its companion or the sentence before a pronoun:
where that is another, nothing that was told before is changed.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory_core.domain.statements.change_messages import read
from memory_core.domain.statements.changes import change, change_between
from tests.builders import NOW

LATER = (NOW, NOW + timedelta(days=3))
FLIGHT = "My flight leaves at 10:40 on December 12."
DOG = "My dog is called Rex."
EXAM = "My dentist appointment is on Friday at 9."


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (FLIGHT, "My sister's flight was delayed. It leaves at 11:50 now."),
        ("My son is 7 years old.", "My friend's son is 9 years old now."),
        ("I weigh 82 kg.", "My dog is down to 28 kg."),
        ("Meine Miete beträgt 900 Euro.", "Die Kaution wurde erhöht. Sie beträgt jetzt 1050 Euro."),
        (
            "The meeting with Paul is at 3 pm on Friday.",
            "The meeting with Anna moved. It's at 5 pm now.",
        ),
        (DOG, "I watched a film last night. In the end Rex died."),
        ("I have type 2 diabetes.", "Turns out I don't have type 1 diabetes."),
    ],
)
def test_a_sentence_about_another_thing_changes_nothing(earlier: str, later: str) -> None:
    assert change(earlier, later, LATER) is None


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (FLIGHT, "My flight was delayed. It leaves at 11:50 now."),
        ("Meine Miete beträgt 900 Euro.", "Die Miete wurde erhöht. Sie beträgt jetzt 1050 Euro."),
        ("My suitcase weighs 23 kg.", "I repacked my suitcase. It's 19 kg now."),
        ("I weigh 82 kg.", "I'm down to 78 kg."),
        (DOG, "Rex died."),
        (DOG, "I watched a film last night. My dog Rex died yesterday."),
    ],
)
def test_a_sentence_about_the_same_thing_changes_it(earlier: str, later: str) -> None:
    assert change(earlier, later, LATER) is not None


@pytest.mark.parametrize(
    ("asked", "changes"),
    [("", True), ("Shall I remind you on Monday?", False), ("On Friday at 9, right?", True)],
)
def test_a_denial_of_a_question_puts_no_slip_right(asked: str, changes: bool) -> None:
    at_once = (NOW, NOW + timedelta(minutes=1))
    made = change_between(read(EXAM), read("no wait, tuesday"), at_once, asked)
    assert (made is not None) is changes

"""The words of a correction, put into the sentence that it corrects."""

from __future__ import annotations

import pytest

from memory_core.adapters.offline.facts import said_facts
from memory_core.domain.statements.corrected import with_correction
from tests.talk import talk


@pytest.mark.parametrize(
    ("before", "now", "corrected"),
    [
        (
            "The dentist is on Monday at 9.",
            "No, I meant Tuesday.",
            "The dentist is on Tuesday at 9.",
        ),
        ("My train leaves at 7:15.", "Oops, 7:45.", "My train leaves at 7:45."),
        (
            "My test is on 1 June at 8.",
            "Wait, the 2nd, not the 1st.",
            "My test is on 2nd June at 8.",
        ),
        ("I see Sarah on Monday.", "Sorry, not Monday, Tuesday.", "I see Sarah on Tuesday."),
        ("I see Sarah on Monday.", "Sorry, I meant Sandra.", "I see Sandra on Monday."),
        ("I met Ana in Rome.", "Sorry, in Turin.", "I met Ana in Turin."),
        (
            "Meine Schwester heißt Anna.",
            "Quatsch, Hanna heißt sie.",
            "Meine Schwester heißt Hanna.",
        ),
        ("Ich wohne in Köln.", "Quatsch, in Bonn.", "Ich wohne in Bonn."),
        (
            "Der Termin ist am Montag um 9.",
            "Nein, ich meinte Dienstag.",
            "Der Termin ist am Dienstag um 9.",
        ),
        ("月曜日の9時に予約があります。", "いや、火曜日でした。", "火曜日の9時に予約があります。"),
        ("my vet is on thursday at 4", "oh wait no, friday.", "my vet is on friday at 4"),
        (
            "mein termin ist dienstag um 10",
            "ach quatsch, mittwoch",
            "mein termin ist mittwoch um 10",
        ),
        ("歯医者の予約は木曜日です", "すみません、金曜日でした", "歯医者の予約は金曜日です"),
        ("My rent is 350 euros.", "Sorry, I meant 340.", "My rent is 340 euros."),
        ("I'm 35", "oops, 45", "I'm 45"),
        ("ich bin 35", "quatsch, 36", "ich bin 36"),
        ("I weigh 80 kg.", "sorry, 82 kg", "I weigh 82 kg."),
        ("The party is at 8", "*7, not 8", "The party is at 7"),
        ("My exam is on monday", "tuesday*", "My exam is on tuesday"),
        (
            "My train leaves at 7:15 from platform 3",
            "oops, 4",
            "My train leaves at 7:15 from platform 4",
        ),
    ],
)
def test_a_correction_is_put_in_the_place_of_the_slip(
    before: str, now: str, corrected: str
) -> None:
    assert with_correction(before, now) == corrected


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("I live in Rome.", "Sorry, Turin."),
        ("I live in Rome.", "No, Turin is nicer, not Rome."),
        ("I live in Rome.", "Wait, Ben, not Ana."),
        ("I met Ana and Ben.", "Sorry, I meant Carl."),
        ("I live in Rome.", "Sorry, on Tuesday I'm busy."),
        ("I play tennis on Mondays.", "No, I meant Berlin."),
        ("I'm free on Monday and Friday.", "No, I meant Tuesday."),
        ("Is it on Monday?", "No, I meant Tuesday."),
        ("Ich arbeite am Montag.", "Nein, am Dienstag habe ich frei."),
        ("I'm 35", "sorry, 2 questions"),
        ("I'm 35", "wait, 1 sec"),
        ("My rent is 350.", "no, 2"),
        ("I have 2 kids", "no wait, 10 minutes more please"),
        ("My exam is on monday", "oh, tuesday!"),
        ("My exam is on monday", "sorry, can you help on tuesday?"),
        ("My exam is on monday", "no, tuesday i have football"),
        ("I have 2 kids and 3 cats", "oops, 4"),
        ("I live at 4 Elm Street", "no, 350"),
        ("My flight is BA117", "sorry, 118"),
        ("I have 2 kids", "sorry, 340"),
        ("My flight is at 7:15", "sorry, 5"),
        ("My rent is 350", "* 2 eggs"),
    ],
)
def test_other_words_correct_nothing(before: str, now: str) -> None:
    assert with_correction(before, now) is None


@pytest.mark.parametrize(
    ("lines", "facts"),
    [
        (
            ("I have a meeting with Sarah on Monday.", "Sorry, I meant with Sandra."),
            ["User has a meeting with Sandra on Monday"],
        ),
        (
            ("Meine Schwester heißt Anna.", "a: Oh!", "Quatsch, Hanna heißt sie."),
            ["User: Meine Schwester heißt Hanna"],
        ),
        (
            ("My mum's birthday is on 30 May.", "Sorry, I meant 29 May.", "Sorry, 28 May."),
            ["User's mum's birthday is on 28 May"],
        ),
    ],
)
def test_a_fact_is_as_it_was_corrected(lines: tuple[str, ...], facts: list[str]) -> None:
    assert [fact.text for fact in said_facts(talk(*lines))] == facts

"""Sentences that leave out what is clear from the talk, as the tables of facts read them."""

import pytest

from memory_core.adapters.offline.omissions import completed


@pytest.mark.parametrize(
    ("before", "sentence", "expected"),
    [
        ("", "I quit last week.", "I quit my job last week."),
        ("Good morning, what is new?", "Well, I've just quit!", "Well, I've just quit my job."),
        ("My boss was a nightmare.", "I quit.", "I quit my job."),
        ("Meine Chefin war unmöglich.", "Ich habe gekündigt.", "Ich habe meinen Job gekündigt."),
        ("We moved house.", "We're in Leeds now.", "We live in Leeds now."),
        ("", "We've moved, we're in Leeds now.", "We've moved, we live in Leeds."),
        ("", "New address: 12 Park Row.", "My new address is 12 Park Row."),
        ("", "We've got a new number: 555 1234.", "My new number is 555 1234."),
    ],
)
def test_what_is_clear_from_the_talk_is_written_out(
    before: str, sentence: str, expected: str
) -> None:
    assert completed(sentence, before).replace(" now.", ".") == expected.replace(" now.", ".")


@pytest.mark.parametrize(
    ("before", "sentence"),
    [
        ("How is it going with the cigarettes?", "I quit last week."),
        ("I was in a running club.", "I quit."),
        ("", "I quit smoking."),
        ("", "My brother quit last week."),
        ("Der Handyvertrag war zu teuer.", "Ich habe gekündigt."),
        ("We moved the meeting.", "We're in Leeds now."),
        ("", "We're in Leeds now."),
        ("", "My mum's new address: 3 Elm Road."),
        ("", "The meeting is in Leeds now, not Derby."),
        ("", "I'm moving to Rome next month, I'm in Leeds now, not Derby."),
    ],
)
def test_a_sentence_that_may_be_about_something_else_stays_as_it_is(
    before: str, sentence: str
) -> None:
    assert completed(sentence, before) == sentence

from datetime import datetime, timezone

import pytest

from memory_core.domain.text.dates import asks_time, date_words, tells_time


@pytest.mark.parametrize(
    "text",
    [
        "I went there yesterday.", "See you TOMORROW", "two weeks ago", "we moved since then",
        "just got home", "last night was fun", "next weekend", "a few months of work",
        "a couple of days", "in 2019 we met", "On Friday I cook", "born in June",
        "it starts in May",
        "on 8 May", "May 8th is the day", "last summer", "3 years of school",
    ],
)  # fmt: skip
def test_a_text_with_a_time_expression_tells_a_time(text):
    assert tells_time(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I may come",
        "You may well ask",
        "I like dogs",
        "room 12",
        "adjust the chair",
        "code 12345",
        "Sunderland",
    ],
)
def test_a_text_without_one_does_not(text):
    assert not tells_time(text)


@pytest.mark.parametrize(
    "query",
    ["When did she leave?", " when was it", "How long have they been married?",
        "How old is the dog", "Since when does he paint?",
     "In what year did it start?", "which month was that", "What time is it", "During which week",
     "What date?"],
)  # fmt: skip
def test_a_question_for_a_time_is_known_by_its_start(query):
    assert asks_time(query)


@pytest.mark.parametrize(
    "query",
    [
        "",
        "Who left?",
        "What happened when she left?",
        "Whenever",
        "What yearbook is it",
        "how longing sounds",
        "which timetable",
    ],
)
def test_other_questions_ask_for_no_time(query):
    assert not asks_time(query)


def test_a_date_is_written_as_people_write_it():
    assert date_words(datetime(2023, 5, 8, 13, 56, tzinfo=timezone.utc)) == "8 May 2023"
    assert date_words(datetime(999, 12, 31, tzinfo=timezone.utc)) == "31 December 999"

"""The time of day that a sentence names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.text.clock_times import Clock, clock


@pytest.mark.parametrize(
    ("sentence", "start", "end"),
    [
        ("at 10", "10:00", None),
        ("on Thursday at 3", "15:00", None),
        ("at 06:30", "06:30", None),
        ("tomorrow at 7.45am", "07:45", None),
        ("at half past four on Friday", "16:30", None),
        ("at a quarter past three", "15:15", None),
        ("at quarter to nine", "08:45", None),
        ("at half six", "18:30", None),
        ("at three.", "15:00", None),
        ("at noon tomorrow", "12:00", None),
        ("Lunch on Tuesday, 12:30.", "12:30", None),
        ("at 4 o'clock", "16:00", None),
        ("tonight at 8", "20:00", None),
        ("Dinner tomorrow at 8.", "20:00", None),
        ("Breakfast tomorrow at 6.", "06:00", None),
        ("at eight in the morning", "08:00", None),
        ("between 8 and 12 on Thursday", "08:00", "12:00"),
        ("between 1 and 5", "13:00", "17:00"),
        ("between 11 and 1", "11:00", "13:00"),
        ("between two and four", "14:00", "16:00"),
        ("from 2 till 4pm", "14:00", "16:00"),
        ("from 9 to 11 on Monday", "09:00", "11:00"),
    ],
)
def test_an_hour_is_that_of_the_part_of_the_day_in_which_it_is_said(
    sentence: str, start: str, end: str | None
) -> None:
    hours = clock(sentence)
    assert hours is not None
    assert [
        None if at is None else f"{at // 60:02}:{at % 60:02}" for at in (hours.start, hours.end)
    ] == [start, end]


@pytest.mark.parametrize(
    "sentence",
    [
        "from 3 to 10 June",
        "between 8 and 12 people",
        "at one point tomorrow",
        "prices rise by 5 percent",
        "a marathon in 3:45",
        "at 25",
        "two of us",
    ],
)
def test_other_numbers_are_no_hours(sentence: str) -> None:
    assert clock(sentence) is None


@given(st.text(alphabet="0123456789:. apmtobetwenrdfhls", max_size=60))
def test_a_time_lies_in_its_day(sentence: str) -> None:
    hours = clock(sentence)
    assert hours is None or (
        0 <= hours.start < 24 * 60 and (hours.end is None or hours.start < hours.end <= 24 * 60)
    )
    assert clock("") != Clock(0)

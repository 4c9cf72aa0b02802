from datetime import date, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.text.dates import MAX_WINDOWS, Window, date_windows

NOW = datetime(2026, 5, 20, 12, tzinfo=timezone.utc)  # a Wednesday


def window(query):
    (only,) = date_windows(query, NOW)
    return only


def seconds(*days):
    return np.array(
        [
            datetime(day.year, day.month, day.day, 12, tzinfo=timezone.utc).timestamp()
            for day in days
        ]
    )


@pytest.mark.parametrize(
    ("query", "start", "end"),
    [
        ("What happened on 8 May 2023?", date(2023, 5, 8), date(2023, 5, 9)),
        ("on the 8th of May, 2023", date(2023, 5, 8), date(2023, 5, 9)),
        ("May 8, 2023", date(2023, 5, 8), date(2023, 5, 9)),
        ("Aug 3rd 2022", date(2022, 8, 3), date(2022, 8, 4)),
        ("2023-12-31", date(2023, 12, 31), date(2024, 1, 1)),
        ("the report of 2023-12", date(2023, 12, 1), date(2024, 1, 1)),
        ("in December 2023", date(2023, 12, 1), date(2024, 1, 1)),
        ("in early June 2023", date(2023, 6, 1), date(2023, 6, 11)),
        ("mid-June 2023", date(2023, 6, 11), date(2023, 6, 21)),
        ("at the end of June 2023", date(2023, 6, 21), date(2023, 7, 1)),
        ("the first week of June 2023", date(2023, 6, 1), date(2023, 6, 8)),
        ("the last week of June 2023", date(2023, 6, 24), date(2023, 7, 1)),
        ("second half of June 2023", date(2023, 6, 16), date(2023, 7, 1)),
        ("summer of 2022", date(2022, 6, 1), date(2022, 9, 1)),
        ("fall 2022", date(2022, 9, 1), date(2022, 12, 1)),
        ("in winter 2022", date(2022, 12, 1), date(2023, 3, 1)),
        ("What did he buy in 2021?", date(2021, 1, 1), date(2022, 1, 1)),
    ],
)  # fmt: skip
def test_a_date_with_a_year_is_read_once_and_exactly(query, start, end):
    assert window(query) == Window(start, end)


@pytest.mark.parametrize(
    ("query", "start", "end"),
    [
        ("what did she say today", date(2026, 5, 20), date(2026, 5, 21)),
        ("yesterday's talk", date(2026, 5, 19), date(2026, 5, 20)),
        ("last week", date(2026, 5, 6), date(2026, 5, 21)),
        ("in the past 3 days", date(2026, 5, 17), date(2026, 5, 21)),
        ("the last couple of weeks", date(2026, 5, 6), date(2026, 5, 21)),
        ("two weeks ago", date(2026, 5, 3), date(2026, 5, 10)),
        ("a month ago", date(2026, 4, 5), date(2026, 5, 6)),
        ("on Monday", date(2026, 5, 18), date(2026, 5, 19)),
        ("last Wednesday", date(2026, 5, 13), date(2026, 5, 14)),
        ("next month", date(2026, 5, 21), date(2026, 7, 20)),
        ("the day before yesterday", date(2026, 5, 18), date(2026, 5, 19)),
        ("the day after  tomorrow", date(2026, 5, 22), date(2026, 5, 23)),
        ("what did he say this morning?", date(2026, 5, 20), date(2026, 5, 21)),
        ("next Friday", date(2026, 5, 29), date(2026, 5, 30)),
        ("next Wednesday", date(2026, 5, 27), date(2026, 5, 28)),
        ("next Monday", date(2026, 5, 25), date(2026, 5, 26)),
    ],
)  # fmt: skip
def test_a_phrase_is_measured_from_now(query, start, end):
    assert window(query) == Window(start, end)


@pytest.mark.parametrize(
    ("query", "start", "end"),
    [
        ("two weeks before 8 May 2023", date(2023, 4, 21), date(2023, 4, 28)),
        ("What happened three days after the 8th of May, 2023?", date(2023, 5, 11),
            date(2023, 5, 12)),
        ("the day before 2023-05-08", date(2023, 5, 7), date(2023, 5, 8)),
        ("the week before 8 May 2023", date(2023, 5, 1), date(2023, 5, 8)),
        ("the week after May 8, 2023", date(2023, 5, 9), date(2023, 5, 16)),
        ("two days before 2021", date(2020, 12, 30), date(2020, 12, 31)),
        ("two weeks, before 8 May 2023", date(2023, 5, 8), date(2023, 5, 9)),
    ],
)  # fmt: skip
def test_a_time_may_be_told_from_a_date(query, start, end):
    assert window(query) == Window(start, end)


def test_a_time_told_from_a_date_without_a_year_is_that_of_every_year():
    dates = window("two weeks before 3 January")
    days = seconds(date(2022, 12, 20), date(2023, 12, 20), date(2023, 1, 3))
    assert dates.contains(days, slack_days=0).tolist() == [True, True, False]


@pytest.mark.parametrize(
    "query",
    [
        "What did she do in July?",
        "the last week of July",
        "during the summer",
        "on 3 July",
        "in May",
        "since March",
        "May 8",
    ],
)
def test_a_date_without_a_year_is_that_of_every_year(query):
    dates = window(query)
    assert dates.yearly
    for year in (1999, 2023, 2024):
        assert dates.contains(seconds(dates.start.replace(year=year)), slack_days=0).all()


@pytest.mark.parametrize(
    "query",
    ["", "What may I do?", "The march was long", "I spring to my feet", "Who is Jan?",
        "winter boots", "room 2023-4", "call 20231",
     "mayor of 12 marching"],
)  # fmt: skip
def test_words_and_numbers_that_name_no_date_give_no_window(query):
    assert date_windows(query, NOW) == []


def test_an_impossible_day_names_its_month_or_runs_on():
    assert window("39 May 2023") == Window(date(2023, 5, 1), date(2023, 6, 1))
    assert window("31 June 2023") == Window(date(2023, 7, 1), date(2023, 7, 2))


def test_several_dates_give_several_windows_and_doubles_one():
    assert set(date_windows("in 2021 or May 2022, or in 2021?", NOW)) == {
        Window(date(2021, 1, 1), date(2022, 1, 1)),
        Window(date(2022, 5, 1), date(2022, 6, 1)),
    }


def test_a_query_of_dates_only_is_bounded():
    assert len(date_windows(" ".join(str(year) for year in range(1900, 2090)), NOW)) == MAX_WINDOWS


def test_the_slack_counts_after_the_window_only():
    may = Window(date(2023, 5, 1), date(2023, 6, 1))
    days = seconds(
        date(2023, 4, 30), date(2023, 5, 1), date(2023, 5, 31), date(2023, 6, 14), date(2023, 6, 15)
    )
    assert may.contains(days).tolist() == [False, True, True, True, False]
    assert may.contains(days, slack_days=0).tolist() == [False, True, True, False, False]


def test_a_window_of_every_year_may_run_on_into_the_next():
    winter = window("in the winter")
    days = seconds(
        date(2023, 1, 5),
        date(2024, 2, 29),
        date(2024, 3, 1),
        date(2024, 3, 14),
        date(2024, 3, 15),
        date(2023, 11, 30),
    )
    assert winter.contains(days, slack_days=14).tolist() == [True, True, True, True, False, False]
    assert winter.contains(days, slack_days=0).tolist() == [True, True, False, False, False, False]
    assert window("in December").contains(
        seconds(date(2024, 1, 10), date(2024, 1, 20))
    ).tolist() == [True, False]


def test_an_unknown_time_lies_in_no_window():
    unknown = np.array([np.nan, np.inf, -np.inf])
    assert not Window(date(1, 1, 1), date(9999, 12, 31)).contains(unknown).any()
    assert not Window(date(2000, 1, 1), date(2001, 1, 1), yearly=True).contains(unknown).any()


@pytest.mark.parametrize(
    "now", [datetime(1, 1, 1, tzinfo=timezone.utc), datetime(9999, 12, 31, tzinfo=timezone.utc)]
)
def test_phrases_at_the_edges_of_the_calendar_stay_within_it(now):
    for query in (
        "last year",
        "next 999 years",
        "999 years ago",
        "yesterday",
        "tomorrow",
        "on Monday",
    ):
        assert len(date_windows(query, now)) == 1


@given(st.dates(date(1700, 1, 1), date(2200, 12, 31)), st.integers(0, 400), st.integers(0, 30))
def test_a_dated_window_agrees_with_plain_dates(start, length, slack):
    dates = Window(start, start + timedelta(length))
    days = [start + timedelta(offset) for offset in range(-2, length + slack + 3)]
    expected = [start <= day < start + timedelta(length + slack) for day in days]
    assert dates.contains(seconds(*days), slack).tolist() == expected


PIECES = [
    "in",
    "the",
    "last",
    "end of",
    "May",
    "march",
    "8th",
    "31",
    "2023",
    "1999",
    "week of",
    "summer",
    "ago",
    "two",
    "days",
    "on Friday",
    "next",
    "-",
    ",",
    "x",
]


@given(
    st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join) | st.text(max_size=60),
    st.datetimes().map(lambda moment: moment.replace(tzinfo=timezone.utc)),
)
def test_any_query_gives_windows_that_end_after_they_start(query, now):
    for dates in date_windows(query, now):
        assert dates.start <= dates.end
        dates.contains(np.array([0.0, -6e10, 2.5e11]))


@pytest.mark.parametrize(
    ("query", "start"),
    [
        ("last March", date(2026, 3, 1)),
        ("last May", date(2025, 5, 1)),
        ("this May", date(2026, 5, 1)),
        ("next May", date(2027, 5, 1)),
        ("last summer", date(2025, 6, 1)),
        ("last winter", date(2025, 12, 1)),
        ("next June", date(2026, 6, 1)),
    ],
)  # fmt: skip
def test_last_this_and_next_say_of_which_year_a_month_or_season_is(query, start):
    dates = window(query)
    assert (dates.start, dates.yearly) == (start, False)

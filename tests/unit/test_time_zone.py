"""Time zones: which names are taken, and what a day is where a user lives."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from memory_core.adapters.offline.foresight import said_foresight
from memory_core.domain.conversation import Message, in_its_zone
from memory_core.domain.fields import TimeZone, local, midnight, zone_of
from memory_core.domain.ranking.query import analyse_query
from memory_core.domain.text.dates import Window

NAMES: TypeAdapter[str] = TypeAdapter(TimeZone)
BERLIN, NEW_YORK, AUCKLAND = (
    zone_of("Europe/Berlin"),
    zone_of("America/New_York"),
    zone_of("Pacific/Auckland"),
)


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=timezone.utc)  # type: ignore[misc,arg-type]


def foreseen(text: str, at: datetime, zone: str | None) -> list[tuple[datetime, datetime | None]]:
    messages = in_its_zone([Message(role="user", content=text, timestamp=at)], zone)
    return [(foresight.start_time, foresight.end_time) for foresight in said_foresight(messages)]


@pytest.mark.parametrize(
    "name", ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "UTC", "Etc/GMT-2"]
)
def test_names_of_the_database_are_taken(name: str) -> None:
    assert NAMES.validate_python(name) == name


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("europe/berlin", "Europe/Berlin"),
        ("Berlin", "Europe/Berlin"),
        ("New York", "America/New_York"),
        ("America/New York", "America/New_York"),
        ("Europe/Berln", "Europe/Berlin"),
        ("Middle Earth/Bree", None),
    ],
)
def test_an_unknown_name_is_refused_with_what_was_probably_meant(
    name: str, meant: str | None
) -> None:
    with pytest.raises(ValidationError) as refused:
        NAMES.validate_python(name)
    (error,) = refused.value.errors()
    assert error["ctx"]["error"].did_you_mean == meant


@pytest.mark.parametrize(
    "name",
    [
        "",
        "../etc/passwd",
        "Europe/../Europe/Berlin",
        "/Europe/Berlin",
        "Europe",
        "x" * 65,
        "UTC\x00",
    ],
)
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(ValidationError):
        NAMES.validate_python(name)


def test_a_name_that_this_machine_does_not_know_is_utc() -> None:
    assert zone_of("Mars/Olympus_Mons") is timezone.utc
    assert zone_of(None) is timezone.utc


def test_a_day_begins_at_midnight_where_somebody_lives() -> None:
    assert midnight(date(2026, 5, 8), BERLIN) == utc(2026, 5, 7, 22)
    assert midnight(date(2026, 1, 8), BERLIN) == utc(2026, 1, 7, 23)
    assert midnight(date(2026, 1, 8), NEW_YORK) == utc(2026, 1, 8, 5)
    assert midnight(date.min, AUCKLAND) == utc(1, 1, 1)


def test_a_moment_at_the_ends_of_the_calendar_stays_as_it_is() -> None:
    first, last = (
        datetime.min.replace(tzinfo=timezone.utc),
        datetime.max.replace(tzinfo=timezone.utc),
    )
    assert local(first, NEW_YORK) == first
    assert local(last, AUCKLAND) == last


@pytest.mark.parametrize(
    ("zone", "said_at", "start", "end"),
    [
        # 23:30 UTC on Thursday 7 May 2026 is Friday in Berlin and Thursday in New York
        ("Europe/Berlin", utc(2026, 5, 7, 23, 30), utc(2026, 5, 8, 22), utc(2026, 5, 9, 22)),
        ("America/New_York", utc(2026, 5, 7, 23, 30), utc(2026, 5, 8, 4), utc(2026, 5, 9, 4)),
        (None, utc(2026, 5, 7, 23, 30), utc(2026, 5, 8), utc(2026, 5, 9)),
        # the night in which clocks change: a day of 23 hours, and one of 25
        ("Europe/Berlin", utc(2026, 3, 28, 12), utc(2026, 3, 28, 23), utc(2026, 3, 29, 22)),
        ("Europe/Berlin", utc(2026, 10, 24, 12), utc(2026, 10, 24, 22), utc(2026, 10, 25, 23)),
        ("America/New_York", utc(2026, 3, 7, 20), utc(2026, 3, 8, 5), utc(2026, 3, 9, 4)),
        ("America/New_York", utc(2026, 10, 31, 20), utc(2026, 11, 1, 4), utc(2026, 11, 2, 5)),
    ],
)
def test_tomorrow_is_the_next_day_of_who_says_it(
    zone: str | None, said_at: datetime, start: datetime, end: datetime
) -> None:
    assert foreseen("I have a dentist appointment tomorrow.", said_at, zone) == [(start, end)]


def test_a_weekday_is_that_of_who_says_it() -> None:
    # Sunday 10 May 23:30 UTC: already Monday in Berlin, for whom "on Monday" is a week later
    at = utc(2026, 5, 10, 23, 30)
    assert foreseen("I have a meeting on Monday.", at, None)[0][0] == utc(2026, 5, 11)
    assert foreseen("I have a meeting on Monday.", at, "Europe/Berlin")[0][0] == utc(
        2026, 5, 17, 22
    )


def test_what_lasts_two_weeks_ends_at_the_same_hour_after_the_clocks_were_changed() -> None:
    (window,) = foreseen("I'm travelling for two weeks.", utc(2026, 3, 20, 12), "Europe/Berlin")
    assert window == (utc(2026, 3, 20, 12), utc(2026, 4, 3, 11))


def test_a_date_of_the_last_year_of_the_calendar_breaks_nothing() -> None:
    assert (
        foreseen(
            "I'm in Rome until the end of the year.", utc(9999, 12, 30, 12), "America/New_York"
        )
        == []
    )


def test_a_window_holds_the_moments_of_its_days_there() -> None:
    window = Window(date(2026, 5, 8), date(2026, 5, 9))
    moments = np.array(
        [
            utc(2026, 5, 7, 22, 30).timestamp(),
            utc(2026, 5, 8, 21).timestamp(),
            utc(2026, 5, 8, 23).timestamp(),
            np.nan,
        ]
    )
    assert window.contains(moments, 0).tolist() == [False, True, True, False]
    assert window.contains(moments, 0, BERLIN).tolist() == [True, True, False, False]
    assert window.contains(moments, 0, NEW_YORK).tolist() == [False, True, True, False]


def test_yesterday_in_a_query_is_counted_where_it_is_asked() -> None:
    at = utc(2026, 5, 8, 23, 30)
    (in_utc,) = analyse_query("What did I do yesterday?", at).windows
    (in_berlin,) = analyse_query("What did I do yesterday?", local(at, BERLIN)).windows
    assert in_utc.start == date(2026, 5, 7)
    assert in_berlin.start == in_utc.start + timedelta(1)

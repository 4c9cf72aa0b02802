"""Times told from events: how they are read, who tells of the event, and which days
they come to.
"""

from datetime import date, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.domain.memory import MemoryType
from memory_core.domain.ranking.anchors import MOST_ANCHORS, MOST_TELLERS, anchors, dated, tellers
from memory_core.domain.ranking.candidates import from_memories
from memory_core.domain.ranking.index_terms import analyse
from memory_core.domain.ranking.query import analyse_query
from memory_core.domain.text.dates import Window
from tests.builders import memory

NOW = datetime(2026, 5, 20, 12, tzinfo=timezone.utc)


def told(content, at=NOW, **fields):
    return memory(
        content,
        event_timestamp=at,
        lexical=analyse(content, actor=None, event_timestamp=at),
        **fields,
    )


def anchor(query):
    (only,) = anchors(query, NOW)
    return only


def window(query, *memories, moment=NOW):
    dated_window = dated(anchor(query), memories, moment)
    return None if dated_window is None else dated_window[0]


@pytest.mark.parametrize(
    ("query", "words", "event"),
    [
        ("What did we do two weeks before her birthday?", "two weeks before her birthday",
            ("birthday",)),
        ("The day after the wedding, where did they go?", "The day after the wedding", ("wed",)),
        ("a month before Ana's exam what did she read", "a month before Ana's exam",
            ("ana", "s", "exam")),
        ("the night before we moved to Lisbon", "the night before we moved to Lisbon",
            ("move", "lisbon")),
        ("3 days after my surgery", "3 days after my surgery", ("surgeri",)),
    ],
)  # fmt: skip
def test_an_amount_before_or_after_an_event_is_read(query, words, event):
    of_query = anchor(query)
    assert of_query.words == words
    assert set(of_query.event) <= set(event)
    assert set(event) - {"s"} <= set(of_query.event)


@pytest.mark.parametrize(
    "query",
    ["", "after the wedding", "before lunch", "two weeks before 8 May 2023",
        "the day after yesterday", "two weeks before",
     "the day after it", "the morning after", "What came first, before or after?"],
)  # fmt: skip
def test_what_has_no_amount_or_no_event_is_no_anchor(query):
    assert anchors(query, NOW) == []


def test_a_query_of_anchors_only_is_bounded():
    assert len(anchors("the day after the party. " * 200, NOW)) == MOST_ANCHORS


@pytest.mark.parametrize(
    ("query", "content", "start", "end"),
    [
        ("two weeks before her birthday", "Her birthday is on 14 May", date(2026, 4, 27),
            date(2026, 5, 4)),
        ("two days after her birthday", "Her birthday is on 14 May", date(2026, 5, 16),
            date(2026, 5, 17)),
        ("the day after the exam", "The exam is on 3 March 2025", date(2025, 3, 4),
            date(2025, 3, 5)),
        ("the day before the exam", "The exam was yesterday. I moved in June 2019.",
            date(2026, 5, 18), date(2026, 5, 19)),
        ("the week after the concert", "What a concert!", date(2026, 5, 21), date(2026, 5, 28)),
    ],
)  # fmt: skip
def test_the_window_is_counted_from_the_day_that_a_memory_tells(query, content, start, end):
    assert window(query, told(content)) == Window(start, end)


def test_a_birthday_comes_every_year_whatever_year_it_was_told_with():
    born = told("Her birthday is 14 May 1990", NOW - timedelta(days=900))
    assert window("the day after her birthday", born) == Window(
        date(2026, 5, 15), date(2026, 5, 16)
    )
    assert window("the day after her birthday", born, moment=NOW.replace(month=3)) == Window(
        date(2025, 5, 15), date(2025, 5, 16)
    )


def test_who_states_the_date_is_believed_before_who_only_tells_of_the_event():
    planned = told("I am so looking forward to the wedding", NOW - timedelta(days=90))
    stated = told("The wedding is on 2 May 2026", NOW - timedelta(days=60))
    dated_window = dated(anchor("the day after the wedding"), [planned, stated], NOW)
    assert dated_window == (Window(date(2026, 5, 3), date(2026, 5, 4)), stated.id)


@pytest.mark.parametrize(
    ("content", "day"),
    [
        ("The wedding was yesterday", date(2026, 5, 2)),
        ("What a wedding", date(2026, 5, 3)),  # spoken of on its day
    ],
)
@pytest.mark.parametrize("asker", [timezone.utc, timezone(timedelta(hours=-7))])
def test_a_day_that_was_told_is_the_speakers_wherever_the_question_is_asked(content, day, asker):
    half_past_midnight_in_tokyo = datetime(2026, 5, 2, 15, 30, tzinfo=timezone.utc)
    wedding = told(content, half_past_midnight_in_tokyo, metadata={"time_zone": "Asia/Tokyo"})
    after = day + timedelta(days=1)
    assert window("the day after the wedding", wedding, moment=NOW.astimezone(asker)) == Window(
        after, after + timedelta(days=1)
    )


def test_a_day_that_was_told_without_a_time_zone_is_the_askers():
    at_eleven = datetime(2026, 5, 2, 23, 0, tzinfo=timezone.utc)
    in_berlin = NOW.astimezone(timezone(timedelta(hours=2)))
    assert window(
        "the day after the wedding", told("The wedding was yesterday", at_eleven), moment=in_berlin
    ) == Window(date(2026, 5, 3), date(2026, 5, 4))


def test_a_statement_without_a_date_dates_nothing():
    assert (
        window(
            "the day after the wedding", told("The wedding was lovely", type=MemoryType.SEMANTIC)
        )
        is None
    )


def test_who_tells_most_of_the_event_tells_it():
    query = analyse_query("What did we do two weeks before Maria's birthday?", NOW)
    texts = [
        "Paul's birthday",
        "Maria's birthday",
        "lunch",
        *[f"a birthday cake {n}" for n in range(9)],
    ]
    rows = tellers(
        query.anchors[0],
        query.terms,
        from_memories([told(text) for text in texts], query.terms, None),
        np.ones(len(query.terms)),
    )
    assert rows[0] == 1
    assert len(rows) <= MOST_TELLERS
    assert 2 not in rows


@settings(deadline=None)
@given(
    st.sampled_from(["999 years", "the day", "8 months", "a week"]),
    st.sampled_from(["before", "after"]),
    st.datetimes().map(lambda moment: moment.replace(tzinfo=timezone.utc)),
    st.datetimes().map(lambda moment: moment.replace(tzinfo=timezone.utc)),
    st.sampled_from(
        [
            "the party",
            "her birthday on 29 February",
            "the party was in last May",
            "her birthday is next week",
        ]
    ),
)
def test_any_time_comes_to_a_window_within_the_calendar(amount, side, at, moment, content):
    (of_query,) = anchors(f"{amount} {side} the birthday party", NOW)
    dated_window = dated(of_query, [told(content, at)], moment)
    assert dated_window is None or dated_window[0].start <= dated_window[0].end

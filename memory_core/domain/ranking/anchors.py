"""Times relative to an event: "two weeks before her birthday".

Such a time is a date only together with a memory that dates the birthday.

    `anchors`: the query        → an Anchor: how long, before or after, the terms of the event
    `tellers`: the candidates   → those that have most of the event's terms
    `dated`: their texts        → the day of the event, and the window so long before or after it

Note: there is no second search. The query has the event's words, so memories of the event are
among its candidates. English only, with an amount ("two weeks", "the day") before "before" or
"after"; "after the wedding" alone could be any time since.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

import numpy as np

from memory_core.domain.fields import ZONE_FIELD, local
from memory_core.domain.memory import Memory, MemoryType
from memory_core.domain.ranking.candidates import CandidateSet, Floats
from memory_core.domain.ranking.index_terms import told_at
from memory_core.domain.text.analyzer import (
    ENGLISH,
    QUERY_WORDS,
    asked_for,
    terms_of,
    tokens,
    words,
)
from memory_core.domain.text.dates import (
    AMOUNT,
    Window,
    date_windows,
    whole_day,
    window_relative_to,
)
from memory_core.domain.text.sentences import sentences

MOST_ANCHORS = 2
"""Anchors of one query."""
MOST_TELLERS = 5
"""Memories of an event whose texts are read for its day."""
LEAST_TOLD = 0.6
"""The share of the worth of an event's terms that a memory must say itself, to be about the event.
"""
YEARS_BACK = 2
"""Years before the moment of the query in which a yearly day is searched: a window over New Year
begins in the year before.
"""

_FROM_AN_EVENT = re.compile(
    rf"\b(?:the|{AMOUNT})\s+(?P<unit>day|night|week|fortnight|month|year)s?\s+(?P<side>before"
    rf"|after)\s+(?P<event>[^?!.,;:\n]{{2,80}})",
    re.IGNORECASE,
)
_NEXT_CLAUSE = re.compile(
    r"\s(?:what|who|whom|where|which|how|did|does|do)\s.*", re.IGNORECASE | re.DOTALL
)
_EVERY_YEAR = frozenset(tokens("birthday anniversary"))


@dataclass(frozen=True, slots=True)
class Anchor:
    """A time relative to an event: "two weeks before her birthday".

    Attributes:
        words: All of it, as in the query.
        number: The amount, as `window_relative_to` takes it.
        unit: The unit of time, as `window_relative_to` takes it.
        side: "before" or "after".
        event: The event's terms, in order.

    """

    words: str
    number: str | None
    unit: str
    side: str
    event: tuple[str, ...]


def anchors(query: str, now: datetime) -> list[Anchor]:
    """The times of a query that are relative to an event, at most `MOST_ANCHORS`.

    A time relative to a date ("the week before May 3") is left to `date_windows`.

    Args:
        query: Its text.
        now: The moment that dates in the query are relative to.

    """
    query_anchors: list[Anchor] = []
    for match in _FROM_AN_EVENT.finditer(query):
        event = _NEXT_CLAUSE.sub("", match["event"])
        terms = tuple(dict.fromkeys(terms_of(asked_for(words(event), ENGLISH, QUERY_WORDS))))
        if terms and not date_windows(event, now):
            time_words = match.group()[: match.start("event") - match.start() + len(event)]
            query_anchors.append(
                Anchor(time_words, match["number"], match["unit"], match["side"], terms)
            )
    return query_anchors[:MOST_ANCHORS]


def tellers(
    anchor: Anchor, terms: Sequence[str], candidates: CandidateSet, worth: Floats
) -> list[int]:
    """The rows of the candidates that are about the event, at most `MOST_TELLERS`.

    They are sorted by the share of the event's terms that they say, the greatest first; of equals
    the candidate with the higher cosine is first.

    Args:
        anchor: Of the query.
        terms: Of the query: the columns of the candidates.
        candidates: Of the query.
        worth: Of each term.

    """
    columns = [place for place, term in enumerate(terms) if term in anchor.event]
    if not columns or not len(candidates):
        return []
    shares = candidates.own[:, columns] @ worth[columns] / worth[columns].sum()
    order = np.lexsort((-np.nan_to_num(candidates.cosine), -shares))
    return [row for row in order[:MOST_TELLERS].tolist() if shares[row] >= LEAST_TOLD]


def dated(
    anchor: Anchor, memories: Sequence[Memory], moment: datetime
) -> tuple[Window, str] | None:
    """The window of an anchor, and the id of the memory that dates its event.

    The first memory that says when the event is dates it. If no memory says so, the first episodic
    memory dates it by its own day: an event without a date is mostly mentioned on its day. Of a
    yearly event, the window is the last that has begun at `moment`.

    Args:
        anchor: Of the query.
        memories: About the event, best first (`tellers`).
        moment: Of the query.

    Returns:
        None where no memory dates the event.

    """
    for memory in memories:
        stated = _stated_window(anchor, memory, moment)
        if stated is not None:
            return _window_relative_to(anchor, stated, moment), memory.id
    for memory in memories:
        if memory.type is MemoryType.EPISODIC:
            day = whole_day(_event_in_speakers_zone(memory, moment).date())
            return window_relative_to(day, anchor.number, anchor.unit, anchor.side), memory.id
    return None


def _event_in_speakers_zone(memory: Memory, moment: datetime) -> datetime:
    """The event time by the speaker's clock.

    Without the speaker's zone it is the time by the caller's clock, whose zone is that of `moment`.
    """
    if ZONE_FIELD in memory.metadata or moment.tzinfo is None:
        return told_at(memory)
    return local(memory.event_timestamp, moment.tzinfo)


def _stated_window(anchor: Anchor, memory: Memory, moment: datetime) -> Window | None:
    """The date of the event, from the sentence that has most of its terms."""
    wanted = set(anchor.event)
    counted_sentences = [
        (len(wanted & set(tokens(sentence.text))), sentence.text)
        for sentence in sentences(memory.content)
    ]
    for count, text in sorted(counted_sentences, key=lambda pair: -pair[0]):
        windows = date_windows(text, _event_in_speakers_zone(memory, moment)) if count else []
        if windows:
            return min(windows, key=lambda window: (window.end - window.start, window.start))
    return None


def _window_relative_to(anchor: Anchor, event: Window, moment: datetime) -> Window:
    """The window relative to an event; of a yearly event the last that has begun."""
    if not event.yearly and not _EVERY_YEAR.isdisjoint(anchor.event):
        event = Window(event.start, event.end, yearly=True)
    window = window_relative_to(event, anchor.number, anchor.unit, anchor.side)
    if not event.yearly or not YEARS_BACK < moment.year < date.max.year - 1:
        return window
    years = range(moment.year + 1, moment.year - YEARS_BACK, -1)
    begun = (
        window_relative_to(event.of_year(year), anchor.number, anchor.unit, anchor.side)
        for year in years
    )
    return next((window for window in begun if window.start <= moment.date()), window)

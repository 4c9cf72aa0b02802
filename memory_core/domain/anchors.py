"""Times that a query tells from an event: "two weeks before her birthday" names a date only together with a memory that dates the birthday.

    read the query              → an Anchor: how long, before or after, the words of the event
    of the candidates           → those whose own words tell most of the event (`tellers`)
    of their texts              → the day of the event, and the window so long before or after it (`dated`)

Note: nothing is searched for again. Who tells of the event is found by the query itself, since it has the event's words.
English, with an amount ("two weeks", "the day") before "before" or "after"; a bare "after the wedding" is anything since.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

import numpy as np

from memory_core.domain.candidates import CandidateSet, Floats
from memory_core.domain.date_windows import AMOUNT, Window, beside, date_windows, whole_day
from memory_core.domain.languages import ENGLISH, asked_for
from memory_core.domain.models import Memory, MemoryType
from memory_core.domain.sentences import sentences
from memory_core.domain.stopwords import QUERY_WORDS
from memory_core.domain.text import terms_of, tokens, words
from memory_core.domain.time_zone import local

MOST_ANCHORS = 2
"""Of one query."""
MOST_TELLERS = 5
"""Memories of one event that are read for its day."""
LEAST_TOLD = 0.6
"""The share of the event's information that a memory's own words must have, to be a telling of it."""
YEARS_BACK = 2
"""How far a day of every year is looked for before the moment asked about: a window that runs over New Year begins in the year before."""

_FROM_AN_EVENT = re.compile(
    rf"\b(?:the|{AMOUNT})\s+(?P<unit>day|night|week|fortnight|month|year)s?\s+(?P<side>before|after)\s+(?P<event>[^?!.,;:\n]{{2,80}})",
    re.IGNORECASE,
)
_NEXT_CLAUSE = re.compile(r"\s(?:what|who|whom|where|which|how|did|does|do)\s.*", re.IGNORECASE | re.DOTALL)
_EVERY_YEAR = frozenset(tokens("birthday anniversary"))


@dataclass(frozen=True, slots=True)
class Anchor:
    """A time told from an event. said: all of it; number, unit, side: as `date_windows.beside` takes them; event: its terms, in order."""

    said: str
    number: str | None
    unit: str
    side: str
    event: tuple[str, ...]


def anchors(query: str, now: datetime) -> list[Anchor]:
    """The times that a query tells from an event, at most `MOST_ANCHORS`. One that is told from a date is `date_windows`' own."""
    found: list[Anchor] = []
    for match in _FROM_AN_EVENT.finditer(query):
        event = _NEXT_CLAUSE.sub("", match["event"])
        terms = tuple(dict.fromkeys(terms_of(asked_for(words(event), ENGLISH, QUERY_WORDS))))
        if terms and not date_windows(event, now):
            said = match.group()[: match.start("event") - match.start() + len(event)]
            found.append(Anchor(said, match["number"], match["unit"], match["side"], terms))
    return found[:MOST_ANCHORS]


def tellers(anchor: Anchor, terms: Sequence[str], candidates: CandidateSet, worth: Floats) -> list[int]:
    """The rows of the candidates that tell of the event, best first, at most `MOST_TELLERS`; of those that tell as much the nearest first.

    terms: of the query, the columns of the candidates; worth: what each is worth.
    """
    columns = [place for place, term in enumerate(terms) if term in anchor.event]
    if not columns or not len(candidates):
        return []
    told = candidates.own[:, columns] @ worth[columns] / worth[columns].sum()
    order = np.lexsort((-np.nan_to_num(candidates.cosine), -told))
    return [row for row in order[:MOST_TELLERS].tolist() if told[row] >= LEAST_TOLD]


def dated(anchor: Anchor, told: Sequence[Memory], moment: datetime) -> tuple[Window, str] | None:
    """The window that an anchor names, and the id of the memory that dates it; None where none does.

    told: who tells of the event, best first. The first that says when it is counts; else the first that is itself an event: what is told
    without a date is mostly told on the day. A day of every year is the last whose window has begun at `moment`.
    """
    for memory in told:
        stated = _stated(anchor, memory, moment)
        if stated is not None:
            return _until(anchor, stated, moment), memory.id
    for memory in told:
        if memory.type is MemoryType.EPISODIC:
            day = whole_day(_in_zone_of(memory.event_timestamp, moment).date())
            return beside(day, anchor.number, anchor.unit, anchor.side), memory.id
    return None


def _in_zone_of(moment: datetime, other: datetime) -> datetime:
    return moment if other.tzinfo is None else local(moment, other.tzinfo)


def _stated(anchor: Anchor, memory: Memory, moment: datetime) -> Window | None:
    """When the event is, as the sentence that tells most of it says; measured from when that was said."""
    wanted = set(anchor.event)
    told = [(len(wanted & set(tokens(one.text))), one.text) for one in sentences(memory.content)]
    for count, text in sorted(told, key=lambda pair: -pair[0]):
        windows = date_windows(text, _in_zone_of(memory.event_timestamp, moment)) if count else []
        if windows:
            return min(windows, key=lambda one: (one.end - one.start, one.start))
    return None


def _until(anchor: Anchor, event: Window, moment: datetime) -> Window:
    """The window so long before or after the event; of one that comes every year, the last that has begun."""
    if not event.yearly and not _EVERY_YEAR.isdisjoint(anchor.event):
        event = Window(event.start, event.end, yearly=True)
    window = beside(event, anchor.number, anchor.unit, anchor.side)
    if not event.yearly or not YEARS_BACK < moment.year < date.max.year - 1:
        return window
    years = range(moment.year + 1, moment.year - YEARS_BACK, -1)
    begun = (beside(event.of_year(year), anchor.number, anchor.unit, anchor.side) for year in years)
    return next((one for one in begun if one.start <= moment.date()), window)

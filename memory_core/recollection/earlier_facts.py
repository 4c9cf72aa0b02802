"""What held of a person at an earlier time, for a question about that time.

"Where did I live in May?" names no word of the message that told it. The profile knows what held
when, so the facts that the question names are told with their time, above the present ones.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from memory_core.domain.ranking.selection import Piece
from memory_core.domain.scenes import Profile, profile_line
from memory_core.domain.statements.attributes import also_called, called_in
from memory_core.domain.text.analyzer import tokens
from memory_core.domain.text.dates import Window, named_dates
from memory_core.domain.text.foreign_dates import names_german_time, with_english_times
from memory_core.recollection.context_pieces import shown_value
from memory_core.recollection.quotations import shown_at

MOST_EARLIER = 5
"""The most earlier facts that are told, those that held last."""
_OF_HEALTH = ("condition", "allergy", "intolerance")
"""Openings of what is not told of the past: it may have been healed, or never been so."""
_FIRST = 5.0
"""The priority of an earlier fact, above that of all present ones."""


@dataclass(frozen=True, slots=True)
class _Earlier:
    """A fact that holds no more, with its time.

    `until` is None where that is not known.
    """

    name: str
    value: Any
    since: datetime
    until: datetime | None
    memory_id: str

    def meets(self, window: Window | None) -> bool:
        """Whether it held at some time of a window; any window if that is None."""
        return window is None or (
            self.since.date() < window.end
            and (self.until is None or self.until.date() >= window.start)
        )


def asked_window(windows: Sequence[Window], moment: datetime) -> Window | None:
    """The latest stretch of days before a moment that a question names; None for none.

    Args:
        windows: Those of the question.
        moment: The moment, in the caller's time zone.

    """
    begun = (_latest_of(window, moment.date()) for window in windows)
    return max(
        (window for window in begun if window.start <= moment.date()),
        key=lambda window: window.start,
        default=None,
    )


def german_windows(query: str, moment: datetime) -> list[Window]:
    """The stretches of days that a German question names: "im Mai".

    Args:
        query: The question.
        moment: The moment, in the caller's time zone.

    """
    if not names_german_time(query):
        return []
    english = with_english_times(query, german=True, japanese=False)
    return [named.window for named in named_dates(english, moment)]


def _latest_of(window: Window, today: date) -> Window:
    """A window; of one that is in every year the latest that has begun."""
    if not window.yearly:
        return window
    days, day = window.end - window.start, min(window.start.day, 28)
    start = window.start.replace(year=today.year, day=day)
    if start > today:
        start = start.replace(year=today.year - 1)
    return Window(start, start + days)


def earlier_pieces(
    profile: Profile, then: Profile, window: Window | None, terms: Collection[str], moment: datetime
) -> list[Piece]:
    """Make a line for each fact that a question names and that held only then.

    Args:
        profile: The present profile.
        then: The profile at the end of the window; an empty one without a window.
        window: The days that the question names; None for any time before.
        terms: The question's terms.
        moment: The time of the context, in the caller's time zone.

    """
    facts = [
        earlier
        for earlier in _earlier(profile, then)
        if earlier.meets(window)
        and not earlier.name.startswith(_OF_HEALTH)
        and not _names(earlier.name).isdisjoint(terms)
    ]
    facts.sort(key=lambda earlier: earlier.since, reverse=True)
    return [
        Piece(
            earlier.memory_id,
            shown_at(earlier.since, moment),
            place,
            profile_line(earlier.name, shown_value(earlier.value)),
            _FIRST - place / MOST_EARLIER,
            mark=_time_of(earlier, moment),
        )
        for place, earlier in enumerate(facts[:MOST_EARLIER])
    ]


def _earlier(profile: Profile, then: Profile) -> Iterator[_Earlier]:
    """The facts of both profiles that do not hold at present, each once."""
    known = {(fact.name, shown_value(fact.value)) for fact in profile.explicit}
    for fact in profile.explicit:
        for old in fact.previous:
            if (key := (fact.name, shown_value(old.value))) not in known:
                known.add(key)
                yield _Earlier(fact.name, old.value, old.since, old.until, old.memory_id)
    for fact in then.explicit:
        if (key := (fact.name, shown_value(fact.value))) not in known:
            known.add(key)
            yield _Earlier(fact.name, fact.value, fact.since, None, fact.memory_id)


def _names(name: str) -> frozenset[str]:
    """The terms by which a question may name an attribute."""
    languages = (called_in(language, name) for language in ("german", "japanese"))
    names = (name, *also_called(name), *(each for called in languages for each in called))
    return frozenset(term for each in names for term in tokens(each))


def _time_of(earlier: _Earlier, moment: datetime) -> str:
    since = shown_at(earlier.since, moment).date().isoformat()
    if earlier.until is None:
        return f"from {since}, no longer"
    return f"from {since} until {shown_at(earlier.until, moment).date().isoformat()}"


def end_of(window: Window, moment: datetime) -> datetime:
    """The last moment of a window, at the latest the moment itself.

    Args:
        window: The days.
        moment: The moment, in the caller's time zone.

    """
    end = datetime.combine(window.end, datetime.min.time(), moment.tzinfo)
    return min(end - timedelta(seconds=1), moment)

"""What a query asks for: its terms, whether it wants a time, the dates that it names.

The terms are those of memories, less the question words: the share of them that a memory covers is the heart of relevance,
so every word that means nothing would count as not covered. An unknown term stays in on purpose, it tells an unrelated query.
A time told from now ("yesterday") or from an event ("the day after the wedding") is words, too, which no memory of that day says: a
memory that lies in that time need not say them (`Dated`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone, tzinfo

from memory_core.domain.anchors import Anchor, anchors
from memory_core.domain.date_windows import Window, named_dates
from memory_core.domain.languages import asked_for, language_of
from memory_core.domain.stopwords import QUERY_WORDS
from memory_core.domain.text import terms_of, tokens, words
from memory_core.domain.times import asks_time

MAX_TERMS = 30
"""As many as a full-text query of the database may name."""


OPEN_TERMS = frozenset(
    tokens("happen talk speak spoke discuss chat tell told say said mention go went event thing anything something everything new")
)
"""What asks for whatever there is. Beside a time it says nothing of its own: "what happened yesterday" wants all of yesterday."""
_FOR_A_LIVING = re.compile(r"\bfor (?:a|his|her|their|my|your) living\b|\bberuflich\b", re.IGNORECASE)
"""Asks for a job: "living" is no word of who works as a carpenter, but of all who live somewhere."""
_ASKS_FOR_DEEDS = frozenset({"do", "did", "does", "done", "doing"})
_ASKS_HOW = "how"


@dataclass(frozen=True, slots=True)
class Dated:
    """A time that the query tells from now, or from an event that the memory `by` dates. terms: those of the query that tell it.

    A memory in the window need not say them: it was there.
    """

    window: Window
    terms: tuple[str, ...]
    by: str | None = None


@dataclass(frozen=True, slots=True)
class QueryAnalysis:
    """A query, taken apart. words: all its words, case-folded. terms: unique, in order of appearance, at most `MAX_TERMS`.

    windows: of all dates that it names; dated: those among them whose words a memory of that time need not say. anchors: times told from
    events, whose dates only memories know: `with_dates` takes them in. zone: whose days the windows are.
    """

    text: str
    words: frozenset[str]
    terms: tuple[str, ...]
    asks_time: bool = False
    windows: tuple[Window, ...] = ()
    dated: tuple[Dated, ...] = ()
    anchors: tuple[Anchor, ...] = ()
    zone: tzinfo = timezone.utc

    @property
    def names_a_time(self) -> bool:
        """Whether it matters to the query when a day begins."""
        return bool(self.windows or self.anchors)


def analyse_query(text: str, now: datetime) -> QueryAnalysis:
    """Take a query apart. `now` is what "yesterday" and "last May" are measured from, in the zone whose days are meant.

    A query of question words alone ("what about you?") keeps them as terms; one of stop words alone, or of signs, has none.
    """
    found = words(_FOR_A_LIVING.sub(" job ", text))
    dates = named_dates(text, now)
    # "may" is an auxiliary, unless the query names a date: then it is most likely the month.
    empty = QUERY_WORDS - {"may"} if dates else QUERY_WORDS
    language = language_of(found)
    terms = terms_of(asked_for(found, language, empty), language) or terms_of(found, language)
    analysis = QueryAnalysis(
        text,
        frozenset(found),
        longest(tuple(dict.fromkeys(terms))),
        asks_time(text),
        tuple(one.window for one in dates),
        anchors=tuple(anchors(text, now)),
        zone=now.tzinfo or timezone.utc,
    )
    return with_dates(analysis, [(one.window, one.said, None) for one in dates if one.from_now])


def with_dates(analysis: QueryAnalysis, told: Sequence[tuple[Window, str, str | None]]) -> QueryAnalysis:
    """The query with dates that its words told: of each its window, these words, and the id of the memory that dates them if one does.

    A query of nothing else is one for everything then, if it asks what was done or said; "how are you doing today" is not.
    """
    asks_for_deeds = not _ASKS_FOR_DEEDS.isdisjoint(analysis.words) and _ASKS_HOW not in analysis.words
    with_terms = list(analysis.dated)
    for window, said, by in told:
        of_it = set(tokens(said))
        terms = {term for term in analysis.terms if term in of_it}
        left = set(analysis.terms) - terms - OPEN_TERMS
        if left or asks_for_deeds or not OPEN_TERMS.isdisjoint(analysis.terms):
            terms |= OPEN_TERMS.intersection(analysis.terms)
            with_terms.append(Dated(window, tuple(term for term in analysis.terms if term in terms), by))
    windows = dict.fromkeys((*analysis.windows, *(window for window, _, _ in told)))
    return replace(analysis, windows=tuple(windows), dated=tuple(with_terms))


def longest(terms: Sequence[str], limit: int = MAX_TERMS) -> tuple[str, ...]:
    """At most `limit` terms, the longest (they say most, and no count is needed to know), still in order of appearance."""
    if len(terms) <= limit:
        return tuple(terms)
    kept = sorted(range(len(terms)), key=lambda place: (-len(terms[place]), place))[:limit]
    return tuple(terms[place] for place in sorted(kept))

"""Analyse a query: its terms, the times that it names, and its compound words.

Terms are made as those of memories, without question words. Relevance is the share of them that a
memory covers, so a word without meaning would count as not covered. A term that no memory has
stays: it shows that the query is unrelated. A relative time ("yesterday", "the day after the
wedding") consists of words, too, which no memory of that day says: a memory in that time need not
say them (`Dated`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone, tzinfo
from typing import Self

from memory_core.domain.ranking.anchors import Anchor, anchors
from memory_core.domain.ranking.candidates import Related
from memory_core.domain.ranking.questions import without_frame
from memory_core.domain.text.analyzer import (
    QUERY_WORDS,
    QUESTION_WORDS,
    asked_for,
    language_of,
    terms_of,
    tokens,
    words,
)
from memory_core.domain.text.dates import Window, asks_time, named_dates

MAX_TERMS = 30
"""Terms of a query: as many as a full-text query of the database may have."""


OPEN_TERMS = frozenset(
    tokens(
        "happen talk speak spoke discuss chat tell told say said mention go went event thing "
        "anything something everything new"
    )
)
"""Terms that ask for any content.

Beside a time they have no meaning of their own: "what happened yesterday" asks for all of
yesterday.
"""
_FOR_A_LIVING = re.compile(
    r"\bfor (?:a|his|her|their|my|your) living\b|\bberuflich\b", re.IGNORECASE
)
"""Asks for a job. People say "living" of their homes, and hardly of working as a carpenter."""
_TO_WORK = re.compile(
    r"\b(?:get|come|go|travel) (?:in )?(?=to (?:work|the office)\b)", re.IGNORECASE
)
"""Asks for the way to work, of which people tell by its train or bike."""
_ASKS_FOR_DEEDS = frozenset({"do", "did", "does", "done", "doing"})
_ASKS_HOW = "how"


@dataclass(frozen=True, slots=True)
class Dated:
    """A time of the query that is relative to now, or to an event.

    Attributes:
        window: The time. A memory whose event time is in it need not say `terms`.
        terms: The query's terms that name the time.
        by: The id of the memory that dates the event; None for a time relative to now.

    """

    window: Window
    terms: tuple[str, ...]
    by: str | None = None


@dataclass(frozen=True, slots=True)
class QueryAnalysis:
    """The analysed text of a query.

    Attributes:
        text: The query.
        words: All its words, case-folded.
        terms: Unique, in order of appearance, at most `MAX_TERMS`.
        asks_time: Whether it asks when something is.
        windows: Of all dates that it names.
        dated: The relative times among them, whose words a memory of that time need not say.
        anchors: Times relative to events, which only memories date; `with_dates` adds
            their windows.
        zone: The time zone of the windows' days.

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
        """Whether the query depends on when a day begins."""
        return bool(self.windows or self.anchors)


@dataclass(frozen=True, slots=True)
class QueryPart:
    """A sentence of a query, two neighbouring sentences, or all of them.

    Attributes:
        analysis: Of its text.
        places: The columns of its terms among the query's.
        sentences: The numbers of the query's sentences that it consists of.
        weight: The factor of its scores.
        asks: Whether it is a sentence that asks.

    """

    analysis: QueryAnalysis
    places: tuple[int, ...]
    sentences: tuple[int, ...]
    weight: float = 1.0
    asks: bool = False

    @classmethod
    def whole(cls, analysis: QueryAnalysis) -> Self:
        """The only part of a query that is a single sentence."""
        return cls(analysis, tuple(range(len(analysis.terms))), (0,))


def analyse_query(text: str, now: datetime) -> QueryAnalysis:
    """Analyse a query.

    A query of question words alone ("what about you?") keeps them as terms. A query of stop words
    alone, or of punctuation, has no terms.

    Args:
        text: The query.
        now: The moment that "yesterday" and "last May" are relative to, in the caller's time zone.

    """
    query_words = words(_plain(text))
    if not query_words:
        query_words = words(text)
    dates = named_dates(text, now)
    # "may" is an auxiliary, unless the query names a date: then it is most likely the month.
    empty = QUERY_WORDS - {"may"} if dates else QUERY_WORDS
    language = language_of(query_words)
    terms = terms_of(asked_for(query_words, language, empty), language) or terms_of(
        query_words, language
    )
    analysis = QueryAnalysis(
        text,
        frozenset(query_words),
        longest(tuple(dict.fromkeys(terms))),
        asks_time(text),
        tuple(named_date.window for named_date in dates),
        anchors=tuple(anchors(text, now)),
        zone=now.tzinfo or timezone.utc,
    )
    return with_dates(
        analysis,
        [(named_date.window, named_date.text, None) for named_date in dates if named_date.from_now],
    )


def _plain(text: str) -> str:
    """A query without the words around it, and with plain words for some phrases."""
    return _TO_WORK.sub("commute ", _FOR_A_LIVING.sub(" job ", without_frame(text)))


def with_dates(
    analysis: QueryAnalysis, times: Sequence[tuple[Window, str, str | None]]
) -> QueryAnalysis:
    """Add relative times to a query.

    A query without further terms asks for all memories of that time, if it asks for deeds or
    words ("what did I do today"); "how are you doing today" doesn't.

    Args:
        analysis: The query.
        times: Of each time its window, its words in the query, and the id of the memory that dates
            it; None for a time that no memory dates.

    """
    asks_for_deeds = (
        not _ASKS_FOR_DEEDS.isdisjoint(analysis.words) and _ASKS_HOW not in analysis.words
    )
    with_terms = list(analysis.dated)
    for window, time_words, by in times:
        of_it = set(tokens(time_words))
        terms = {term for term in analysis.terms if term in of_it}
        left = set(analysis.terms) - terms - OPEN_TERMS
        if left or asks_for_deeds or not OPEN_TERMS.isdisjoint(analysis.terms):
            terms |= OPEN_TERMS.intersection(analysis.terms)
            with_terms.append(
                Dated(window, tuple(term for term in analysis.terms if term in terms), by)
            )
    windows = dict.fromkeys((*analysis.windows, *(window for window, _, _ in times)))
    return replace(analysis, windows=tuple(windows), dated=tuple(with_terms))


def longest(terms: Sequence[str], limit: int = MAX_TERMS) -> tuple[str, ...]:
    """The longest terms in order of appearance: long words carry most information.

    Args:
        terms: In order of appearance.
        limit: The most terms to return.

    """
    if len(terms) <= limit:
        return tuple(terms)
    longest_places = sorted(range(len(terms)), key=lambda place: (-len(terms[place]), place))[
        :limit
    ]
    return tuple(terms[place] for place in sorted(longest_places))


# Compounds, which German writes as one word: a memory that says "Zahnarzt" answers a question
# about the "Zahnarzttermin".


LEAST_OF_COMPOUND, LONGEST_COMPOUND = 4, 40
"""Letters of each of a compound's words at least, and of the whole compound at most."""
LIKE_COMPOUND = 0.6
"""The assumed likeness of a compound and its words."""


def compound_words(text: str, terms: Sequence[str]) -> tuple[Related, ...]:
    """The possible words of the compounds among a German query's terms.

    These are the beginnings and ends of each term.

    Args:
        text: The query.
        terms: Of the query; the numbers of terms in the result are places in them.

    Returns:
        Empty for a query in another language.

    """
    if language_of(words(text)) != "german":
        return ()
    return tuple(
        Related(part, of, LIKE_COMPOUND)
        for of, term in enumerate(terms)
        if term.isalpha() and len(term) <= LONGEST_COMPOUND
        for end in range(LEAST_OF_COMPOUND, len(term) - LEAST_OF_COMPOUND + 1)
        for part in (term[:end], term[end:])
        if part not in QUESTION_WORDS["german"]
    )

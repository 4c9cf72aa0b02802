"""What a query asks for: its terms, whether it wants a time, the dates that it names.

The terms are those of memories, less the question words: the share of them that a memory covers is the heart of relevance,
so every word that means nothing would count as not covered. An unknown term stays in on purpose, it tells an unrelated query.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memory_core.domain.date_windows import Window, date_windows
from memory_core.domain.languages import asked_for, language_of
from memory_core.domain.stopwords import QUERY_WORDS
from memory_core.domain.text import terms_of, words
from memory_core.domain.times import asks_time

MAX_TERMS = 30
"""As many as a full-text query of the database may name."""


@dataclass(frozen=True, slots=True)
class QueryAnalysis:
    """A query, taken apart. words: all its words, case-folded. terms: unique, in order of appearance, at most `MAX_TERMS`."""

    text: str
    words: frozenset[str]
    terms: tuple[str, ...]
    asks_time: bool = False
    windows: tuple[Window, ...] = ()


def analyse_query(text: str, now: datetime) -> QueryAnalysis:
    """Take a query apart. `now` is what "yesterday" and "last May" are measured from.

    A query of question words alone ("what about you?") keeps them as terms; one of stop words alone, or of signs, has none.
    """
    found = words(text)
    windows = tuple(date_windows(text, now))
    # "may" is an auxiliary, unless the query names a date: then it is most likely the month.
    empty = QUERY_WORDS - {"may"} if windows else QUERY_WORDS
    language = language_of(found)
    terms = terms_of(asked_for(found, language, empty), language) or terms_of(found, language)
    return QueryAnalysis(text, frozenset(found), longest(tuple(dict.fromkeys(terms))), asks_time(text), windows)


def longest(terms: Sequence[str], limit: int = MAX_TERMS) -> tuple[str, ...]:
    """At most `limit` terms, the longest (they say most, and no count is needed to know), still in order of appearance."""
    if len(terms) <= limit:
        return tuple(terms)
    kept = sorted(range(len(terms)), key=lambda place: (-len(terms[place]), place))[:limit]
    return tuple(terms[place] for place in sorted(kept))

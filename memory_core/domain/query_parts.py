"""The parts of a query: its sentences, neighbouring pairs of them, and the whole.

A query is a message, and each part is asked for itself. Note: the parts are no further searches. One search gathers the candidates of all
sentences, and each part is scored on the same columns; a pair's vector, and the whole's, is the mean of its sentences'. A query of one
sentence has one part.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise

from memory_core.domain.date_windows import Window
from memory_core.domain.query import QueryAnalysis, analyse_query, with_dates
from memory_core.domain.sentences import Sentence, sentences
from memory_core.domain.stopwords import FUNCTION_WORDS, QUERY_WORDS
from memory_core.domain.text import words

MOST_SENTENCES = 6
"""Of one message, the most telling: each costs a vector, and a query of the store where it keeps no index in memory."""
ENOUGH_TERMS, ENOUGH_TO_ASK = 4, 3
"""Terms that a part, and a sentence that asks, needs to count in full: "A long day" is covered by any memory of one."""
WHOLE = 1.3
"""What the whole message counts, all of whose words hardly any memory has. With two questions no memory should: it counts 1 then."""
_MOST_COUNTED = 8
"""Telling words of a sentence beyond which more of them don't put it before another."""

_LEADS_UP = re.compile(r":\s")
_LEADS_UP_OR_ASKS = re.compile(
    r":\s|,\s(?=(?:what|when|where|which|who|whom|whose|why|how|did|do|does|is|are|was|were|has|have|had|can|could|would|will)\b)",
    re.IGNORECASE,
)

ToldTime = tuple[Window, str, str | None]
"""A window, the words that tell it, and the id of the memory that dates them."""


@dataclass(frozen=True, slots=True)
class Part:
    """A sentence, two neighbouring ones, or all of them.

    places: the columns of its terms among the message's. sentences: which of the message's sentences it is made of.
    weight: what its score counts. asks: whether it is a sentence that asks.
    """

    analysis: QueryAnalysis
    places: tuple[int, ...]
    sentences: tuple[int, ...]
    weight: float = 1.0
    asks: bool = False


@dataclass(frozen=True, slots=True)
class QueryParts:
    """What is asked for. whole: all of it, with the terms of all parts, which are the columns of candidates.

    sentences: those that are asked for, most telling first; one where there is nothing to tell apart, and then there is one part.
    """

    whole: QueryAnalysis
    sentences: tuple[str, ...]
    parts: tuple[Part, ...]

    @property
    def is_plain(self) -> bool:
        """Whether it is asked for as one."""
        return len(self.parts) == 1

    @property
    def columns(self) -> tuple[tuple[int, ...], ...]:
        """By sentence, the columns of its terms."""
        return tuple(part.places for part in self.parts[: len(self.sentences)])

    def with_times(self, told: Sequence[ToldTime]) -> QueryParts:
        """The message with dates that its words told; a part has those whose words it says."""

        def dated(part: Part) -> Part:
            said = [one for one in told if one[1] in part.analysis.text]
            return replace(part, analysis=with_dates(part.analysis, said))

        return replace(self, whole=with_dates(self.whole, told), parts=tuple(map(dated, self.parts)))


def query_parts_of(text: str, now: datetime) -> QueryParts:
    """Take a query apart. `now` is what "yesterday" is measured from."""
    said = list({clause.text: clause for clause in _clauses(sentences(text))}.values())
    chosen = [said[place] for place in _most_telling(said)] if len(said) > 1 else []
    analysed = [(one, analysis) for one in chosen if (analysis := analyse_query(one.text, now)).terms]
    told = list({frozenset(analysis.terms): (one, analysis) for one, analysis in analysed}.values())  # the same said again asks no more
    if len(told) < 2:
        return _plain(told[0][1] if told else analyse_query(text, now))
    in_order = sorted(range(len(told)), key=lambda place: told[place][0].start)
    whole = analyse_query(text if len(chosen) == len(said) else " ".join(told[place][0].text for place in in_order), now)
    parts = [_part(analysis, (place,), asks=one.asks) for place, (one, analysis) in enumerate(told)]
    if len(told) > 2:
        parts += [_part(analyse_query(f"{told[a][0].text} {told[b][0].text}", now), (a, b)) for a, b in pairwise(in_order)]
    parts.append(_part(whole, tuple(range(len(told))), worth=WHOLE if sum(part.asks for part in parts) < 2 else 1.0))
    terms = tuple(dict.fromkeys(term for part in parts for term in part.analysis.terms))
    column = {term: place for place, term in enumerate(terms)}
    placed = [replace(part, places=tuple(column[term] for term in part.analysis.terms)) for part in parts]
    return QueryParts(replace(whole, terms=terms), tuple(analysis.text for _, analysis in told), tuple(placed))


def _clauses(said: Sequence[Sentence]) -> list[Sentence]:
    """The sentences, cut where something is led up to: after a colon, and in a message of several before a clause that asks."""
    cut = _LEADS_UP if len(said) < 2 else _LEADS_UP_OR_ASKS
    found = []
    for one in said:
        start = 0
        for match in cut.finditer(one.text):
            found.append(Sentence(one.text[start : match.end()], one.start + start, one.start + match.end()))
            start = match.end()
        found.append(Sentence(one.text[start:], one.start + start, one.end))
    return found


def _part(analysis: QueryAnalysis, of: tuple[int, ...], *, asks: bool = False, worth: float = 1.0) -> Part:
    """A part whose terms have no columns yet."""
    enough = ENOUGH_TO_ASK if asks else ENOUGH_TERMS
    return Part(analysis, (), of, worth * min(1.0, len(analysis.terms) / enough), asks)


def _plain(analysis: QueryAnalysis) -> QueryParts:
    return QueryParts(analysis, (analysis.text,), (Part(analysis, tuple(range(len(analysis.terms))), (0,)),))


def _most_telling(said: Sequence[Sentence]) -> list[int]:
    """The places of at most MOST_SENTENCES, most telling first: what asks, then what has most telling words, the later of two alike."""
    telling = [len(set(words(one.text)) - FUNCTION_WORDS - QUERY_WORDS) for one in said]
    worth = [(one.asks, min(count, _MOST_COUNTED), place) for place, (one, count) in enumerate(zip(said, telling, strict=True)) if count]
    return [place for _, _, place in sorted(worth, reverse=True)[:MOST_SENTENCES]]

"""The parts of a long query, and the relevance of candidates for them.

A query is a message, and candidates are scored for each of its parts. Note: the parts are no
further searches. A single search gathers the candidates of all sentences, and each part is scored
on the same columns. The vector of a pair of sentences, or of the whole, is the mean of its
sentences' vectors. A query of one sentence has a single part.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise

import numpy as np

from memory_core.domain.memory import Vector
from memory_core.domain.ranking.candidates import CandidateSet, Flags, Floats, Ints, Statistics
from memory_core.domain.ranking.index_terms import of_terms
from memory_core.domain.ranking.learned_order import (
    AskedTokens,
    decreasing_order,
    learned_order,
    order_features,
    order_logits,
    shared_order,
)
from memory_core.domain.ranking.measures import Measures
from memory_core.domain.ranking.query import QueryAnalysis, QueryPart, analyse_query, with_dates
from memory_core.domain.ranking.relevance import Relevance, RelevanceParameters, long_turns
from memory_core.domain.ranking.vectors import TokenStates
from memory_core.domain.text.analyzer import FUNCTION_WORDS, QUERY_WORDS, words
from memory_core.domain.text.dates import Window
from memory_core.domain.text.sentences import Sentence, sentences

MOST_SENTENCES = 6
"""The most informative sentences of a message, which are searched for. Each costs a vector, and a
query of the store if it keeps no index in memory.
"""
ENOUGH_TERMS = 4
"""Terms that a part needs to count in full: "A long day" is covered by any memory of a long day. A
sentence that asks counts in full as it is.
"""
WHOLE = 1.3
"""The weight of the whole message, since hardly any memory has all of its words. With two questions
no memory should have them all: the whole then has the weight 1.
"""
_MOST_COUNTED = 8
"""Informative words of a sentence; further words don't put it before another sentence."""

_LEADS_UP = re.compile(r":\s")
_LEADS_UP_OR_ASKS = re.compile(
    r":\s|,\s(?=(?:what|when|where|which|who|whom|whose|why|how|did|do|does|is|are|was|were|has"
    r"|have|had|can|could|would|will)\b)",
    re.IGNORECASE,
)

ToldTime = tuple[Window, str, str | None]
"""A window, the words that name it, and the id of the memory that dates them."""


@dataclass(frozen=True, slots=True)
class QueryParts:
    """A query, the sentences to search for, and the parts to score.

    Attributes:
        whole: All of it, with the terms of all parts, which are the columns of candidates.
        sentences: The sentences to search for, most informative first. A query that cannot be
            divided has one sentence and one part.
        parts: The sentences, pairs of neighbours if there are more than two, and the whole.

    """

    whole: QueryAnalysis
    sentences: tuple[str, ...]
    parts: tuple[QueryPart, ...]

    @property
    def is_plain(self) -> bool:
        """Whether the query has a single part."""
        return len(self.parts) == 1

    @property
    def columns(self) -> tuple[tuple[int, ...], ...]:
        """By sentence, the columns of its terms."""
        return tuple(part.places for part in self.parts[: len(self.sentences)])

    def with_times(self, times: Sequence[ToldTime]) -> QueryParts:
        """The message with relative times, each in the parts that say its words."""

        def dated(part: QueryPart) -> QueryPart:
            own_times = [told_time for told_time in times if told_time[1] in part.analysis.text]
            return replace(part, analysis=with_dates(part.analysis, own_times))

        return replace(
            self, whole=with_dates(self.whole, times), parts=tuple(map(dated, self.parts))
        )


def query_parts_of(text: str, now: datetime) -> QueryParts:
    """Divide a query into parts.

    Args:
        text: The query.
        now: The moment that "yesterday" is relative to, in the caller's time zone.

    """
    clauses = list({clause.text: clause for clause in _clauses(sentences(text))}.values())
    chosen = [clauses[place] for place in _most_informative(clauses)] if len(clauses) > 1 else []
    analysed = [
        (clause, analysis)
        for clause in chosen
        if (analysis := analyse_query(clause.text, now)).terms
    ]
    distinct = list(
        {frozenset(analysis.terms): (clause, analysis) for clause, analysis in analysed}.values()
    )  # the same said again asks no more
    if len(distinct) < 2:
        return _plain(distinct[0][1] if distinct else analyse_query(text, now))
    in_order = sorted(range(len(distinct)), key=lambda place: distinct[place][0].start)
    whole = analyse_query(
        text
        if len(chosen) == len(clauses)
        else " ".join(distinct[place][0].text for place in in_order),
        now,
    )
    parts = [
        _part(analysis, (place,), asks=clause.asks)
        for place, (clause, analysis) in enumerate(distinct)
    ]
    if len(distinct) > 2:
        parts += [
            _part(analyse_query(f"{distinct[a][0].text} {distinct[b][0].text}", now), (a, b))
            for a, b in pairwise(in_order)
        ]
    parts.append(
        _part(
            whole,
            tuple(range(len(distinct))),
            worth=WHOLE if sum(part.asks for part in parts) < 2 else 1.0,
        )
    )
    terms = tuple(dict.fromkeys(term for part in parts for term in part.analysis.terms))
    column = {term: place for place, term in enumerate(terms)}
    placed = [
        replace(part, places=tuple(column[term] for term in part.analysis.terms)) for part in parts
    ]
    return QueryParts(
        replace(whole, terms=terms), tuple(analysis.text for _, analysis in distinct), tuple(placed)
    )


def _clauses(given: Sequence[Sentence]) -> list[Sentence]:
    """The sentences, cut after a colon, and before a clause that asks.

    The latter cut is made only in a message of several sentences.
    """
    cut = _LEADS_UP if len(given) < 2 else _LEADS_UP_OR_ASKS
    clauses = []
    for sentence in given:
        start = 0
        for match in cut.finditer(sentence.text):
            clauses.append(
                Sentence(
                    sentence.text[start : match.end()],
                    sentence.start + start,
                    sentence.start + match.end(),
                )
            )
            start = match.end()
        clauses.append(Sentence(sentence.text[start:], sentence.start + start, sentence.end))
    return clauses


def _part(
    analysis: QueryAnalysis, of: tuple[int, ...], *, asks: bool = False, worth: float = 1.0
) -> QueryPart:
    """A part whose terms have no columns yet."""
    return QueryPart(
        analysis,
        (),
        of,
        worth * (1.0 if asks else min(1.0, len(analysis.terms) / ENOUGH_TERMS)),
        asks,
    )


def _plain(analysis: QueryAnalysis) -> QueryParts:
    return QueryParts(analysis, (analysis.text,), (QueryPart.whole(analysis),))


def _most_informative(clauses: Sequence[Sentence]) -> list[int]:
    """The places of at most `MOST_SENTENCES` clauses, most informative first.

    Questions come first, then clauses with more informative words, then the later of two equals.
    """
    telling = [len(set(words(clause.text)) - FUNCTION_WORDS - QUERY_WORDS) for clause in clauses]
    worth = [
        (clause.asks, min(count, _MOST_COUNTED), place)
        for place, (clause, count) in enumerate(zip(clauses, telling, strict=True))
        if count
    ]
    return [place for _, _, place in sorted(worth, reverse=True)[:MOST_SENTENCES]]


# The relevance of candidates for a query of several sentences: for each its best part's.


ANSWERED = 0.16
"""The relevance of the best memory from which a question counts as answered, so that it shares the
first places with the other parts.
"""
ENOUGH_SAID = 4
"""The least terms of a part of which a memory must say all, to be found below the thresholds."""
WEIGHT = "part"
"""The name of a part's weight among the factors."""


@dataclass(frozen=True, slots=True)
class PartsRelevance:
    """The relevance of U candidates for all parts of a query.

    Attributes:
        best: The numbers of each candidate's best part.
        part: The number of that part.
        order: The numbers that order candidates (`ordering`), the highest of all parts. For each
            sentence that asks and is answered, the best candidate is raised to the highest number
            of all, so that two questions share the first places.
        features: Of the learned order, U or P × U each; empty without it.

    """

    best: Relevance
    part: Ints
    order: Floats
    features: Mapping[str, Floats] = field(default_factory=dict)

    def features_of(self, part: int) -> dict[str, Floats]:
        """The features of a part, U each."""
        return {
            name: column if column.ndim == 1 else column[part]
            for name, column in self.features.items()
        }


def parts_relevance(
    query_parts: QueryParts,
    vectors: Sequence[Vector],
    candidates: CandidateSet,
    statistics: Statistics,
    parameters: RelevanceParameters,
    asked_tokens: Sequence[TokenStates] = (),
) -> PartsRelevance:
    """Score a candidate set whose term columns are the message's.

    Args:
        query_parts: The message.
        vectors: Of its sentences; empty without vectors.
        candidates: The set.
        statistics: Of the owner's memories.
        parameters: The numbers of relevance.
        asked_tokens: Token states of its sentences; empty without states.

    """
    parts = query_parts.parts
    measures = Measures(parts, candidates, statistics, parameters, vectors)
    weights = np.array([part.weight for part in parts])
    relevant = measures.relevance(weights)
    by_relevance = order = measures.ordering(relevant, weights)
    features: dict[str, Floats] = {}
    logits = None
    if parameters.learned and candidates.turns.any():
        features = _features(measures, relevant, order, weights, asked_tokens)
        logits = order_logits(
            features, long_turns(statistics), (len(parts), len(candidates)), learned_order()
        )
        order = _learned_among_turns(order, logits, candidates.turns)
    best = np.argmax(relevant.score, axis=0)
    is_between = parameters.between and logits is not None
    if query_parts.is_plain:
        if is_between:
            order = _placed_between(by_relevance, order, candidates.turns)
        return PartsRelevance(relevant.of_parts(best), best, order[0], features)
    orders = _shared(order, logits, relevant.score.max(axis=1, initial=0.0), parts, candidates)
    if is_between:
        orders = _placed_between(by_relevance, orders, candidates.turns)
    shared = orders.max(axis=0)
    relevant = replace(relevant, boosts={**relevant.boosts, WEIGHT: weights[:, None]})
    return PartsRelevance(relevant.of_parts(best), best, shared, features)


def _features(
    measures: Measures,
    relevant: Relevance,
    order: Floats,
    weights: Floats,
    asked_tokens: Sequence[TokenStates],
) -> dict[str, Floats]:
    """The features of the learned order, which does not use the parts' weights."""
    if (weights != 1.0).any():
        relevant = measures.relevance()
        order = measures.ordering(relevant)
    tokens = AskedTokens.of(measures.parts, asked_tokens, measures.candidates)
    return order_features(measures, relevant, order, tokens)


def _learned_among_turns(order: Floats, logits: Floats, turns: Flags) -> Floats:
    """The order with turns by the learned sums. P × U each.

    The sums were learned of turns.
    """
    mixed = order.copy()
    mixed[:, turns] = decreasing_order(
        logits[:, turns], order[:, turns].max(axis=1, keepdims=True), learned_order()
    )
    return mixed


def _placed_between(by_relevance: Floats, order: Floats, turns: Flags) -> Floats:
    """The order, with memories that are no turns placed among the turns as by relevance.

    Such a memory has as many turns before it as by relevance. Its number is moved as the numbers of
    the turns beside it were moved. P × U each.
    """
    placed = order.copy()
    if turns.any():
        for before, after in zip(by_relevance, placed, strict=True):
            old, new = np.sort(before[turns]), np.sort(after[turns])
            between = np.interp(before, [0.0, *old], [0.0, *new])
            moved = np.where(before > old[-1], before - old[-1] + new[-1], between)
            after[~turns] = moved[~turns]
    return placed


def _shared(
    orders: Floats,
    logits: Floats | None,
    relevances: Floats,
    parts: Sequence[QueryPart],
    candidates: CandidateSet,
) -> Floats:
    """The orders of the parts, P × U, with each answered question's best candidate raised.

    It is raised to the highest number of all parts. All numbers of the part are raised in
    proportion. If only the relevance were raised, the cosine beside it would keep a second question
    about long texts behind. Of several answered questions, the question whose answer is less sure
    gets more of the first places for its turns.

    Args:
        orders: P × U.
        logits: The learned sums, P × U; None without the learned order.
        relevances: The highest relevance of each part.
        parts: P.
        candidates: U, of which turns have a learned order.

    """
    orders = orders.copy()
    tops = orders.max(axis=1, initial=0.0)
    answered = [
        place
        for place, (part, best) in enumerate(zip(parts, relevances.tolist(), strict=True))
        if part.asks and best >= ANSWERED
    ]
    turns = candidates.turns
    for place in answered:
        orders[place] *= tops.max() / tops[place]
        if len(answered) > 1 and logits is not None:
            orders[place][turns] = orders[place][turns].max() * shared_order(logits[place][turns])
    return orders


def says_all(query_parts: QueryParts, candidates: CandidateSet) -> Flags:
    """Which candidates say every term of a part of `ENOUGH_SAID` or more terms.

    Their share of the words may be low only because they are long, such as a long text that is
    searched by its own rare words.

    Args:
        query_parts: The message.
        candidates: Whose term columns are the message's.

    """
    is_said = np.zeros(len(candidates), dtype=np.bool_)
    for part in query_parts.parts:
        if len(part.places) >= ENOUGH_SAID:
            is_said |= candidates.own[:, list(part.places)].all(axis=1)
    return is_said


def part_of(candidates: CandidateSet, part: QueryPart, vectors: Sequence[Vector]) -> CandidateSet:
    """The candidates with the term columns and cosines of a single part.

    The vector of a part is the mean of its sentences' vectors.

    Args:
        candidates: Whose term columns are the message's.
        part: Of the message.
        vectors: Of the message's sentences; empty without vectors.

    """
    places = list(part.places)
    view = replace(
        candidates,
        tf=candidates.tf[:, places],
        own=candidates.own[:, places],
        near=None if candidates.near is None else candidates.near[:, places],
        places=of_terms(candidates.places, places),
    )
    if candidates.cosines is not None and vectors:
        total = np.sum([vectors[place] for place in part.sentences], axis=0, dtype=np.float64)
        length = float(np.linalg.norm(total)) or 1.0
        view.cosine, view.previous_cosine, view.next_cosine = (
            candidates.cosines[:, :, list(part.sentences)].sum(axis=2) / length
        )
    return view

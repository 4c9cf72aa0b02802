"""The parts of a long query, and the relevance of candidates for them.

A query is a message. Its parts are its most telling sentences, pairs of neighbouring ones where there are more than two, and the whole.
Note: the parts are no further searches. One search gathers the candidates of all sentences, and each part is scored on the same columns;
the vector of a pair, and of the whole, is the mean of its sentences' vectors. A query of one sentence has one part.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise

import numpy as np

from memory_core.domain.memory import Vector
from memory_core.domain.ranking.candidates import CandidateSet, Flags, Floats, Ints, Statistics
from memory_core.domain.ranking.index_terms import of_terms
from memory_core.domain.ranking.learned_order import (
    AskedTokens,
    decreasing_order,
    joined_tokens,
    learned_order,
    order_features,
    order_logits,
    shared_order,
)
from memory_core.domain.ranking.query import QueryAnalysis, analyse_query, with_dates
from memory_core.domain.ranking.relevance import Relevance, RelevanceParameters, long_turns, ordering, relevance
from memory_core.domain.ranking.vectors import TokenStates, nearest_tokens
from memory_core.domain.text.analyzer import FUNCTION_WORDS, QUERY_WORDS, words
from memory_core.domain.text.dates import Window
from memory_core.domain.text.sentences import Sentence, sentences

MOST_SENTENCES = 6
"""Sentences of one query that become parts: each costs a vector, and a query of the store where it keeps no index in memory."""
ENOUGH_TERMS = 4
"""Terms that a part needs for its full weight: any memory covers "A long day". A question has its full weight whatever its terms."""
WHOLE = 1.3
"""The weight of the whole query, all of whose words hardly any memory has; 1 with two questions, which no memory should answer at once."""
_MOST_COUNTED = 8
"""Content words beyond which more of them don't put a sentence before another."""

_LEADS_UP = re.compile(r":\s")
_LEADS_UP_OR_ASKS = re.compile(
    r":\s|,\s(?=(?:what|when|where|which|who|whom|whose|why|how|did|do|does|is|are|was|were|has|have|had|can|could|would|will)\b)",
    re.IGNORECASE,
)

ToldTime = tuple[Window, str, str | None]
"""A window, the words of the query that name it, and the id of the memory that dates them."""


@dataclass(frozen=True, slots=True)
class Part:
    """A sentence of a query, two neighbouring sentences, or all of them.

    Attributes:
        analysis: Its terms, dates and anchors.
        places: The columns of its terms among the query's.
        sentences: The numbers of the sentences that it consists of.
        weight: The factor of its relevance.
        asks: Whether it is a single sentence that asks.

    """

    analysis: QueryAnalysis
    places: tuple[int, ...]
    sentences: tuple[int, ...]
    weight: float = 1.0
    asks: bool = False


@dataclass(frozen=True, slots=True)
class QueryParts:
    """A query and its parts.

    Attributes:
        whole: The whole query, with the terms of all parts, which are the columns of the candidates.
        sentences: The texts of the sentences that are parts, most telling first.
        parts: The sentences, the pairs of neighbours, the whole; a single part for a query of one sentence.

    """

    whole: QueryAnalysis
    sentences: tuple[str, ...]
    parts: tuple[Part, ...]

    @property
    def is_plain(self) -> bool:
        """Whether the query has one part only."""
        return len(self.parts) == 1

    @property
    def columns(self) -> tuple[tuple[int, ...], ...]:
        """Of each sentence the columns of its terms."""
        return tuple(part.places for part in self.parts[: len(self.sentences)])

    def with_times(self, times: Sequence[ToldTime]) -> QueryParts:
        """The query with times that it names; a part has those that its text names."""

        def dated(part: Part) -> Part:
            times_of_part = [time for time in times if time[1] in part.analysis.text]
            return replace(part, analysis=with_dates(part.analysis, times_of_part))

        return replace(self, whole=with_dates(self.whole, times), parts=tuple(map(dated, self.parts)))


def query_parts_of(text: str, now: datetime) -> QueryParts:
    """Analyse a query and its parts. `now` is what "yesterday" is measured from."""
    clauses = list({clause.text: clause for clause in _cut_into_clauses(sentences(text))}.values())
    chosen = [clauses[place] for place in _most_telling_places(clauses)] if len(clauses) > 1 else []
    analysed = [(clause, analysis) for clause in chosen if (analysis := analyse_query(clause.text, now)).terms]
    # A clause that repeats the terms of another asks for nothing new.
    distinct = list({frozenset(analysis.terms): (clause, analysis) for clause, analysis in analysed}.values())
    if len(distinct) < 2:
        return _single_part(distinct[0][1] if distinct else analyse_query(text, now))
    in_order = sorted(range(len(distinct)), key=lambda place: distinct[place][0].start)
    whole = analyse_query(text if len(chosen) == len(clauses) else " ".join(distinct[place][0].text for place in in_order), now)
    parts = [_make_part(analysis, (place,), asks=clause.asks) for place, (clause, analysis) in enumerate(distinct)]
    if len(distinct) > 2:  # of two clauses the pair would be the whole
        parts += [_make_part(analyse_query(f"{distinct[a][0].text} {distinct[b][0].text}", now), (a, b)) for a, b in pairwise(in_order)]
    parts.append(_make_part(whole, tuple(range(len(distinct))), worth=WHOLE if sum(part.asks for part in parts) < 2 else 1.0))
    # The columns of candidates are the terms of all parts, each once.
    terms = tuple(dict.fromkeys(term for part in parts for term in part.analysis.terms))
    column = {term: place for place, term in enumerate(terms)}
    placed = [replace(part, places=tuple(column[term] for term in part.analysis.terms)) for part in parts]
    return QueryParts(replace(whole, terms=terms), tuple(analysis.text for _, analysis in distinct), tuple(placed))


def _cut_into_clauses(sentences_of_query: Sequence[Sentence]) -> list[Sentence]:
    """Cut sentences after a colon and, where there are several, before clauses that ask."""
    cut = _LEADS_UP if len(sentences_of_query) < 2 else _LEADS_UP_OR_ASKS
    clauses = []
    for sentence in sentences_of_query:
        start = 0
        for match in cut.finditer(sentence.text):
            clauses.append(Sentence(sentence.text[start : match.end()], sentence.start + start, sentence.start + match.end()))
            start = match.end()
        clauses.append(Sentence(sentence.text[start:], sentence.start + start, sentence.end))
    return clauses


def _make_part(analysis: QueryAnalysis, of: tuple[int, ...], *, asks: bool = False, worth: float = 1.0) -> Part:
    """Make a part whose terms have no columns yet. of: the numbers of its sentences."""
    return Part(analysis, (), of, worth * (1.0 if asks else min(1.0, len(analysis.terms) / ENOUGH_TERMS)), asks)


def _single_part(analysis: QueryAnalysis) -> QueryParts:
    """The query as its only part."""
    return QueryParts(analysis, (analysis.text,), (Part(analysis, tuple(range(len(analysis.terms))), (0,)),))


def _most_telling_places(clauses: Sequence[Sentence]) -> list[int]:
    """The places of the most telling clauses, at most MOST_SENTENCES.

    Questions come first, then clauses with more content words; of two equals the later one.
    """
    content_word_counts = [len(set(words(clause.text)) - FUNCTION_WORDS - QUERY_WORDS) for clause in clauses]
    worth = [
        (clause.asks, min(count, _MOST_COUNTED), place)
        for place, (clause, count) in enumerate(zip(clauses, content_word_counts, strict=True))
        if count
    ]
    return [place for _, _, place in sorted(worth, reverse=True)[:MOST_SENTENCES]]


# The relevance of candidates for a query of several sentences: of each candidate, that for the part that it answers best.


ANSWERED = 0.16
"""The relevance of its best hit from which a question shares the first places with the other parts."""
ENOUGH_SAID = 4
"""Terms of a part; a memory that says all of so many is a hit below the thresholds, too."""
WEIGHT = "part"
"""The name of a part's weight among the factors."""


@dataclass(frozen=True, slots=True)
class PartsRelevance:
    """The relevance of U candidates, each for the part that it answers best.

    Attributes:
        best: The relevance for that part, U numbers.
        part: The number of that part, U numbers.
        order: What ranks the candidates (`ordering`), U numbers: the highest over the parts. Each question that is answered has its best
            candidate as high as any other part's, so that two questions share the first places.
        features: Of each part the features of the learned order by name; empty without it.

    """

    best: Relevance
    part: Ints
    order: Floats
    features: tuple[Mapping[str, Floats], ...] = ()


def parts_relevance(
    query_parts: QueryParts,
    vectors: Sequence[Vector],
    candidates: CandidateSet,
    statistics: Statistics,
    parameters: RelevanceParameters,
    asked_tokens: Sequence[TokenStates] = (),
) -> PartsRelevance:
    """Score candidates for each part, and take each candidate's best.

    Args:
        query_parts: The query.
        vectors: Of each sentence of the query its vector; empty without embeddings.
        candidates: U candidates, whose term columns are the query's.
        statistics: Of the user's memories.
        parameters: Of relevance.
        asked_tokens: Of each sentence the states of its tokens; empty without them.

    """
    near = nearest_tokens(asked_tokens, candidates.states or [None] * len(candidates)) if parameters.learned else []
    tokens = [AskedTokens(near_tokens, asked.worth) for near_tokens, asked in zip(near, asked_tokens, strict=False)]
    if query_parts.is_plain:
        verdict = _verdict(query_parts.whole, candidates, statistics, parameters, 1.0, tokens)
        return PartsRelevance(verdict.relevant, np.zeros(len(candidates), dtype=np.int64), verdict.order, (verdict.features,))
    verdicts: list[_Verdict] = []
    for part in query_parts.parts:
        view = part_of(candidates, part, vectors)
        tokens_of_part = [tokens[place] for place in part.sentences] if tokens else []
        verdicts.append(_verdict(part.analysis, view, statistics, parameters, part.weight, tokens_of_part))
    best, part_numbers = _best_over_parts(verdicts, query_parts.parts)
    order = _order_over_parts(verdicts, query_parts.parts, candidates.turns)
    return PartsRelevance(best, part_numbers, order, tuple(verdict.features for verdict in verdicts))


@dataclass(frozen=True, slots=True)
class _Verdict:
    """The relevance and order of the candidates for one part.

    logits, features: of the learned order; None and empty without it.
    """

    relevant: Relevance
    order: Floats
    logits: Floats | None
    features: Mapping[str, Floats]


def _verdict(
    query: QueryAnalysis,
    candidates: CandidateSet,
    statistics: Statistics,
    parameters: RelevanceParameters,
    weight: float,
    tokens: Sequence[AskedTokens],
) -> _Verdict:
    """Score and order the candidates for one part, multiplied by its weight.

    The features of the learned order are without the weight.
    """
    relevant = relevance(query, candidates, statistics, parameters, weight)
    order = ordering(query, relevant, candidates, statistics, parameters, weight)
    if not parameters.learned or not candidates.turns.any():
        return _Verdict(relevant, order, None, {})
    unweighted = relevant if weight == 1.0 else relevance(query, candidates, statistics, parameters)
    features = order_features(
        query,
        unweighted,
        order if weight == 1.0 else ordering(query, unweighted, candidates, statistics, parameters),
        candidates,
        statistics,
        parameters,
        joined_tokens(tokens),
    )
    logits = order_logits(features, long_turns(statistics), len(candidates), learned_order())
    return _Verdict(relevant, _learned_among_turns(order, logits, candidates), logits, features)


def _best_over_parts(verdicts: Sequence[_Verdict], parts: Sequence[Part]) -> tuple[Relevance, Ints]:
    """(relevance for the part that a candidate answers best, number of that part), U each."""
    relevances = [verdict.relevant for verdict in verdicts]
    best = np.argmax([relevant.score for relevant in relevances], axis=0)
    rows = np.arange(len(best))

    def of_best(columns: Sequence[Floats]) -> Floats:
        chosen: Floats = np.array(columns)[best, rows]
        return chosen

    names = dict.fromkeys(name for relevant in relevances for name in relevant.boosts)
    unboosted = np.ones(len(best))
    boosts: dict[str, Floats] = {name: of_best([relevant.boosts.get(name, unboosted) for relevant in relevances]) for name in names}
    boosts[WEIGHT] = np.array([part.weight for part in parts])[best]
    best_relevance = Relevance(
        of_best([relevant.score for relevant in relevances]),
        of_best([relevant.lexical for relevant in relevances]),
        of_best([relevant.similarity for relevant in relevances]),
        boosts,
    )
    return best_relevance, best


def _learned_among_turns(order: Floats, logits: Floats, candidates: CandidateSet) -> Floats:
    """Order turns by the learned logits; other memories keep their order by relevance.

    The order was learned of turns alone.
    """
    turns, mixed = candidates.turns, order.copy()
    mixed[turns] = decreasing_order(logits[turns], float(order[turns].max()), learned_order())
    return mixed


def _order_over_parts(verdicts: Sequence[_Verdict], parts: Sequence[Part], turns: Flags) -> Floats:
    """Take each candidate's highest order over the parts, with answered questions lifted.

    Lifted: scaled so that the best candidate of each has the highest order of all.

    The whole order is scaled: were it the relevance alone, the cosine in it would keep a second question about long texts behind. Of
    several answered questions, the less sure one gets more of the first places for its turns (`shared_order`).

    Args:
        verdicts: Of each part.
        parts: The parts of the query.
        turns: Which candidates are turns, U flags: their order was learned.

    """
    orders = [verdict.order for verdict in verdicts]
    tops = [float(order.max(initial=0.0)) for order in orders]
    highest = max(tops)
    answered = [
        part.asks and float(verdict.relevant.score.max(initial=0.0)) >= ANSWERED for part, verdict in zip(parts, verdicts, strict=True)
    ]
    several = sum(answered) > 1
    for place, verdict in enumerate(verdicts):
        if answered[place]:
            orders[place] = orders[place] * (highest / tops[place])
        if answered[place] and several and verdict.logits is not None:
            orders[place][turns] = orders[place][turns].max() * shared_order(verdict.logits[turns])
    lifted: Floats = np.max(orders, axis=0)
    return lifted


def says_all(query_parts: QueryParts, candidates: CandidateSet) -> Flags:
    """Which candidates say every term of a long enough part, U flags.

    Long enough: `ENOUGH_SAID` terms or more. Their relevance may be low for their length alone: a long text that is asked for by its own
    rare words.
    """
    says_a_part = np.zeros(len(candidates), dtype=np.bool_)
    for part in query_parts.parts:
        if len(part.places) >= ENOUGH_SAID:
            says_a_part |= candidates.own[:, list(part.places)].all(axis=1)
    return says_a_part


def part_of(candidates: CandidateSet, part: Part, vectors: Sequence[Vector]) -> CandidateSet:
    """The candidates with the term columns and the cosines of one part.

    Its vector is the mean of its sentences' vectors.
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
        view.cosine, view.previous_cosine, view.next_cosine = candidates.cosines[:, :, list(part.sentences)].sum(axis=2) / length
    return view

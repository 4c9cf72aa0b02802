"""The relevance of candidates for a query of several sentences: for each its best part's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from memory_core.domain.candidates import CandidateSet, Flags, Floats, Ints, Statistics
from memory_core.domain.learned_order import AskedTokens, falling, joined_tokens, learned_order, order_features, order_logits, sharing
from memory_core.domain.models import Vector
from memory_core.domain.query import QueryAnalysis
from memory_core.domain.query_parts import Part, QueryParts
from memory_core.domain.relevance import Relevance, RelevanceParameters, long_turns, ordering, relevance
from memory_core.domain.term_order import of_terms
from memory_core.domain.token_states import TokenStates, nearest_tokens

ANSWERED = 0.16
"""The relevance from which a question is near enough to something to share the first places with what else is said."""
ENOUGH_SAID = 4
"""Terms of a part that a memory must all say to be found below the thresholds."""
WEIGHT = "part"
"""The name of a part's weight among the factors."""


@dataclass(frozen=True, slots=True)
class PartsRelevance:
    """The verdict on U candidates.

    best: of each its best part's numbers. part: which of the message's parts that is. order: what ranks them (`ordering`), of each its
    best part's again, where each sentence that asks and is answered has its best as high as any other's, so that two questions share the
    first places. features: by part, of the learned order; empty without it.
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
    """Score a candidate set whose term columns are the message's.

    vectors, asked_tokens: of its sentences; none where there are none.
    """
    near = nearest_tokens(asked_tokens, candidates.states or [None] * len(candidates)) if parameters.learned else []
    tokens = [AskedTokens(one, of.worth) for one, of in zip(near, asked_tokens, strict=False)]
    if query_parts.is_plain:
        verdict = _verdict(query_parts.whole, candidates, statistics, parameters, 1.0, tokens)
        return PartsRelevance(verdict.relevant, np.zeros(len(candidates), dtype=np.int64), verdict.order, (verdict.features,))
    parts, found = query_parts.parts, list[_Verdict]()
    for part in parts:
        view = part_of(candidates, part, vectors)
        of_part = [tokens[place] for place in part.sentences] if tokens else []
        found.append(_verdict(part.analysis, view, statistics, parameters, part.weight, of_part))
    scores = np.array([one.relevant.score for one in found])
    best = np.argmax(scores, axis=0)
    rows = np.arange(len(candidates))

    def picked(columns: Sequence[Floats] | Floats) -> Floats:
        chosen: Floats = np.array(columns)[best, rows]
        return chosen

    names = dict.fromkeys(name for one in found for name in one.relevant.boosts)
    ones = np.ones(len(candidates))
    boosts: Mapping[str, Floats] = {name: picked([one.relevant.boosts.get(name, ones) for one in found]) for name in names}
    chosen = Relevance(
        picked(scores),
        picked([one.relevant.lexical for one in found]),
        picked([one.relevant.similarity for one in found]),
        {**boosts, WEIGHT: np.array([part.weight for part in parts])[best]},
    )
    order = _shared(found, scores.max(axis=1, initial=0.0), parts, candidates.turns)
    return PartsRelevance(chosen, best, order, tuple(one.features for one in found))


@dataclass(frozen=True, slots=True)
class _Verdict:
    """Of one part. logits and features: of the learned order; None and nothing without it."""

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


def _learned_among_turns(order: Floats, logits: Floats, candidates: CandidateSet) -> Floats:
    """The learned order of turns, of which it was learned; a fact, a note or an episode keeps its place by relevance."""
    turns, mixed = candidates.turns, order.copy()
    mixed[turns] = falling(logits[turns], float(order[turns].max()), learned_order())
    return mixed


def _shared(found: Sequence[_Verdict], relevances: Floats, parts: Sequence[Part], turns: Flags) -> Floats:
    """Of each candidate its best order over the parts, where each answered question's best is as high as the highest.

    What orders is lifted whole: were it the relevance alone, the cosine beside it would keep a second question about long texts behind.
    Of several answered questions the one whose answer is less sure gets more of the first places for its turns. relevances: of each part
    its best hit's. turns: whose order was learned.
    """
    orders = [one.order for one in found]
    tops = [float(order.max(initial=0.0)) for order in orders]
    highest = max(tops)
    answered = [part.asks and best >= ANSWERED for part, best in zip(parts, relevances.tolist(), strict=True)]
    several = sum(answered) > 1
    for place, one in enumerate(found):
        if answered[place]:
            orders[place] = orders[place] * (highest / tops[place])
        if answered[place] and several and one.logits is not None:
            orders[place][turns] = orders[place][turns].max() * sharing(one.logits[turns])
    lifted: Floats = np.max(orders, axis=0)
    return lifted


def says_all(query_parts: QueryParts, candidates: CandidateSet) -> Flags:
    """Which candidates say every term of a part of `ENOUGH_SAID` or more.

    Their share of the words may be low for their length alone: a long text that is asked for by its own rare words.
    """
    said = np.zeros(len(candidates), dtype=np.bool_)
    for part in query_parts.parts:
        if len(part.places) >= ENOUGH_SAID:
            said |= candidates.own[:, list(part.places)].all(axis=1)
    return said


def part_of(candidates: CandidateSet, part: Part, vectors: Sequence[Vector]) -> CandidateSet:
    """The candidates against one part: its terms' columns, and the cosines with its vector, the mean of its sentences'."""
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

"""The relevance of candidates for a query of several sentences: for each its best part's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from memory_core.domain.candidates import CandidateSet, Flags, Floats, Ints, Statistics
from memory_core.domain.models import Vector
from memory_core.domain.query_parts import Part, QueryParts
from memory_core.domain.relevance import Relevance, RelevanceParameters, ordering, relevance
from memory_core.domain.term_order import of_terms

ANSWERED = 0.16
"""The relevance from which a question is near enough to something to share the first places with what else is said."""
ENOUGH_SAID = 4
"""Terms of a part that a memory must all say to be found below the thresholds."""
WEIGHT = "part"
"""The name under which a part's weight stands among the factors."""


@dataclass(frozen=True, slots=True)
class PartsRelevance:
    """The verdict on U candidates.

    best: of each its best part's numbers. part: which of the message's parts that is. order: what ranks them (`ordering`), of each its
    best part's again, where each sentence that asks and is answered has its best as high as any other's, so that two questions share the
    first places.
    """

    best: Relevance
    part: Ints
    order: Floats


def parts_relevance(
    query_parts: QueryParts, vectors: Sequence[Vector], candidates: CandidateSet, statistics: Statistics, parameters: RelevanceParameters
) -> PartsRelevance:
    """Score a candidate set whose term columns are the message's. vectors: of its sentences; none where there are none."""
    if query_parts.is_plain:
        plain = relevance(query_parts.whole, candidates, statistics, parameters)
        order = ordering(query_parts.whole, plain, candidates, statistics, parameters)
        return PartsRelevance(plain, np.zeros(len(candidates), dtype=np.int64), order)
    parts, found, orders = query_parts.parts, [], []
    for part in parts:
        view = part_of(candidates, part, vectors)
        verdict = relevance(part.analysis, view, statistics, parameters, part.weight)
        found.append(verdict)
        orders.append(ordering(part.analysis, verdict, view, statistics, parameters, part.weight))
    scores = np.array([one.score for one in found])
    best = np.argmax(scores, axis=0)
    rows = np.arange(len(candidates))

    def picked(columns: Sequence[Floats] | Floats) -> Floats:
        chosen: Floats = np.array(columns)[best, rows]
        return chosen

    names = dict.fromkeys(name for one in found for name in one.boosts)
    ones = np.ones(len(candidates))
    boosts: Mapping[str, Floats] = {name: picked([one.boosts.get(name, ones) for one in found]) for name in names}
    chosen = Relevance(
        picked(scores),
        picked([one.lexical for one in found]),
        picked([one.similarity for one in found]),
        {**boosts, WEIGHT: np.array([part.weight for part in parts])[best]},
    )
    return PartsRelevance(chosen, best, _lifted(np.array(orders), scores.max(axis=1, initial=0.0), parts))


def _lifted(orders: Floats, relevances: Floats, parts: Sequence[Part]) -> Floats:
    """Of each candidate the best order (P × U) where each answered question's best is as high as the highest.

    What orders is lifted whole: were it the relevance alone, the cosine beside it would keep a second question about long texts behind.
    relevances: of each part its best hit's, P.
    """
    highest = orders.max(axis=1, initial=0.0)
    rows = zip(parts, highest.tolist(), relevances.tolist(), strict=True)
    lifts = [float(highest.max()) / high if part.asks and best >= ANSWERED else 1.0 for part, high, best in rows]
    lifted: Floats = (orders * np.array(lifts)[:, None]).max(axis=0)
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

"""Relevance: how much of a query a memory answers, in [0, 1].

Absolute, never scaled per query: 0.4 means the same for every query, so that an unrelated one finds
nothing. Note: terms that no memory knows STAY in the denominator of the lexical share,
that is what rejects.

tf_i(t)  = own and context + 0.25·[the turn after it says t]
    norm_i   = k1·(1 − b + b·length_i / (mean length, within 30 and 40))
    sat_i(t) = tf / (tf + norm_i)
    LEX_i    = min(1, Σ_t idf(t)·(sat_i(t) + 0.6·near_i(t)·min(1, (1 + k1) / (1 + norm_i))) / Σ_t idf(t))
               of a long text its best passage's, where that is more (`passages`)
    COS_i    = clip((c_i + max(c_before, c_after)) / 2, 0, 1)
    score_i  = min(1, (0.35·COS_i + 0.65·LEX_i^0.7) · actor · question · time · window)

A memory that lies in a time which the query tells from now or from an event ("yesterday", "two
weeks before her birthday") is not asked for the words that tell it: they are in neither of its
sums; a query of nothing else it covers whole.

near_i(t) is how near in meaning the nearest of the memory's own words comes to a term that it does
not say (`candidates`). What each of these is worth is measured by code in `bench/` and recorded in
docs/ranking.md.
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from memory_core.domain.ranking.candidates import CandidateSet, Flags, Floats, Ints, Statistics
from memory_core.domain.ranking.passages import (
    IDF_FLOOR,
    ORDER_B,
    ORDER_K1,
    BestPassages,
    PassageRules,
    best_passages,
    covered_share,
    idf,
    saturation,
)
from memory_core.domain.ranking.query import QueryAnalysis
from memory_core.domain.text.analyzer import FUNCTION_WORDS, QUERY_WORDS, words
from memory_core.domain.text.kept import keep_texts

# Absolute fusion: one score in [0, 1] from what the words say and what the vectors say.
#
# Absolute means that nothing is rescaled per query: with min-max scaling the best of nothing looks
# like a perfect answer (98 % of unrelated queries pass), here an unrelated query finds nothing.


@dataclass(frozen=True, slots=True)
class FusionParameters:
    """s = vector_weight·COS + (1 − vector_weight)·LEX^gamma, with COS = (cosine − cosine_low) /
    (cosine_high − cosine_low).

    cosine_low, cosine_high: the cosines that mean "nothing in common" and "the same" for the
    embedder in use. The optimum is flat: vector_weight .3-.45 and gamma .5-1 stay within .003
    of the best.
    """

    vector_weight: float = 0.35
    gamma: float = 0.7
    cosine_low: float = 0.0
    cosine_high: float = 1.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.vector_weight <= 1.0:
            raise ValueError("vector_weight must be within 0 and 1")
        if not self.gamma > 0.0:
            raise ValueError("gamma must be above 0")
        if not self.cosine_low < self.cosine_high:
            raise ValueError("cosine_low must be below cosine_high")


def rescaled(cosine: Floats, parameters: FusionParameters) -> Floats:
    """Cosines on the embedder's own scale, 0 = nothing in common, 1 = the same;
    not yet clipped, NaN stays NaN.
    """
    return (cosine - parameters.cosine_low) / (parameters.cosine_high - parameters.cosine_low)


def fused(similarity: Floats, lexical: Floats, parameters: FusionParameters) -> Floats:
    """Both in [0, 1], U each, to one score in [0, 1]."""
    return (
        parameters.vector_weight * similarity
        + (1.0 - parameters.vector_weight) * lexical**parameters.gamma
    )


VECTOR_LIST = "vector"
"""The name under which a candidate set keeps the ids of its vector list."""


SHORT_TURNS, LONG_TURNS = 2.75, 2.0
"""The logarithm of a turn's own terms up to which turns are short, and how much more of it
makes them long.
"""

TURNS_AFTER = 2
"""How many turns after one are looked at for the words of a query; as many before it are
among its own.
"""

PASSAGE_TERMS, PASSAGE_LIKENESS = 82.0, 0.2
"""Terms of a passage of some 110 words, and the cosine that two passages of a text are
reckoned to have.
"""


@dataclass(frozen=True, slots=True)
class RelevanceParameters:
    """Every ingredient's number; 0 switches an ingredient off.

    k1, b: term saturation and length, far softer than the textbook's. least_mean_length,
    most_mean_length: a store's mean length counts within these, so that among long texts a long one
    is no short one, and among short ones it is not buried. idf_floor: see `bm25.IDF_FLOOR`.
    near_weight: what a word near a term counts; near_by_length: less in a text longer than the
    mean, as the term itself. next_weight: what a term counts that the turn after this one says, if
    that is a candidate too. cosine_smoothing: weight of the better neighbouring turn's cosine.
    actor_boost: the query names exactly one known actor, whose memory it is. question_penalty: the
    memory only asks, in less than question_length terms (some 30 words): a long one that ends in a
    question has said something before. time_boost: the query asks for a time and the memory tells
    one. window_boost: the query names a date and the memory's event lies in it or within
    window_slack_days after it. excuse_words: whether who lies in a time need not say the words for
    it. around_weight: what the share of the query that the turns around say with it adds to the
    order; see `ordering`. long_text_weight: what the cosine adds to the order where turns are long;
    see `ordering`. passage_terms, passage_enough: sizes of passages that a long text is also
    weighed by, and how many of the query's terms one says to count in full; see `passages`. Without
    sizes a text counts as a whole alone. learned: whether the learned order takes the place of
    `ordering`; see `learned_order`.
    """

    fusion: FusionParameters = field(default_factory=FusionParameters)
    k1: float = 0.7
    b: float = 0.4
    least_mean_length: float = 30.0
    most_mean_length: float = 40.0
    idf_floor: int = IDF_FLOOR
    near_weight: float = 0.6
    near_by_length: bool = True
    next_weight: float = 0.25
    cosine_smoothing: float = 1.0
    actor_boost: float = 0.175
    question_penalty: float = 0.15
    question_length: float = 23.0
    time_boost: float = 0.20
    window_boost: float = 0.20
    window_slack_days: int = 14
    excuse_words: bool = True
    around_weight: float = 0.1
    long_text_weight: float = 2.0
    passage_terms: tuple[int, ...] = (40, 20)
    passage_enough: int = 4
    learned: bool = False


@dataclass(frozen=True, slots=True)
class Relevance:
    """The verdict on U candidates.

    score: relevance in [0, 1]. lexical: share of the query's information covered, in [0, 1].
    similarity: the raw cosine, NaN where unknown. boosts: name → the factor each candidate got, for
    explanations; only those that apply to the query.
    """

    score: Floats
    lexical: Floats
    similarity: Floats
    boosts: Mapping[str, Floats]


@dataclass(frozen=True)
class SpeakerNames:
    """The words of the known speakers' names, read once for all parts of a query."""

    candidates: CandidateSet
    statistics: Statistics

    @cached_property
    def words(self) -> Mapping[str, frozenset[str]]:
        """By speaker."""
        return {
            actor: _name(actor)
            for actor in self.statistics.actors.union(self.candidates.actor)
            if actor
        }


@dataclass(frozen=True)
class TermColumns:
    """How candidates say each term of a query, U × T each.

    whole, places: of a part of a query, what was measured for all of it, and which columns are the
    part's. No column depends on the others, so each is measured once for all parts.
    """

    candidates: CandidateSet
    statistics: Statistics
    parameters: RelevanceParameters
    whole: TermColumns | None = None
    places: Sequence[int] = ()

    def of_part(self, candidates: CandidateSet, places: Sequence[int]) -> TermColumns:
        """Those of a part. candidates: with its columns."""
        return TermColumns(candidates, self.statistics, self.parameters, self, list(places))

    @cached_property
    def mean_length(self) -> float:
        """As `counted_mean_length`."""
        return counted_mean_length(self.statistics, self.parameters)

    @cached_property
    def covered(self) -> Floats:
        """How well each term is covered, with the turn after it and the words near it."""
        if self.whole is not None:
            return self.whole.covered.take(self.places, axis=1)
        candidates, parameters = self.candidates, self.parameters
        covered = saturation(
            _with_next(candidates, parameters),
            candidates.length,
            self.mean_length,
            parameters.k1,
            parameters.b,
        )
        if candidates.near is not None:
            of_length = _of_length(candidates, self.mean_length, parameters)
            covered += parameters.near_weight * (self.near * of_length[:, None])
        return covered

    @cached_property
    def with_before(self) -> Floats:
        """How well each candidate, with the turns before it, covers each term."""
        if self.whole is not None:
            return self.whole.with_before[:, self.places]
        return saturation(
            self.candidates.tf,
            self.candidates.length,
            self.mean_length,
            self.parameters.k1,
            self.parameters.b,
        )

    @cached_property
    def textbook(self) -> Floats:
        """The same as the lexical list is ordered by."""
        if self.whole is not None:
            return self.whole.textbook[:, self.places]
        mean_length = max(self.statistics.mean_length, 1.0)
        return saturation(
            self.candidates.tf, self.candidates.length, mean_length, ORDER_K1, ORDER_B
        )

    @cached_property
    def own(self) -> Floats:
        """1 where it says the term itself, else 0."""
        if self.whole is not None:
            return self.whole.own[:, self.places]
        return self.candidates.own.astype(np.float64)

    @cached_property
    def own_after(self) -> Floats:
        """`own` of the turn after it."""
        if self.whole is not None:
            return self.whole.own_after.take(self.places, axis=1)
        return in_rows(self.own, self.candidates.after)

    @cached_property
    def own_before(self) -> Floats:
        """`own` of the turn before it."""
        if self.whole is not None:
            return self.whole.own_before.take(self.places, axis=1)
        return in_rows(self.own, self.candidates.before)

    @cached_property
    def said_or_before(self) -> Floats:
        """1 where it or a turn before it says the term, else 0."""
        if self.whole is not None:
            return self.whole.said_or_before[:, self.places]
        return (self.candidates.tf > 0).astype(np.float64)

    @cached_property
    def around(self) -> Floats:
        """1 where it, a turn before it or the two after it say the term, else 0.

        The turns before it are among its own term frequencies; those after it are known where they
        are candidates.
        """
        if self.whole is not None:
            return self.whole.around[:, self.places]
        candidates = self.candidates
        is_said = candidates.tf > 0
        after = candidates.after
        for _ in range(TURNS_AFTER):
            is_said |= candidates.own[after] & (after >= 0)[:, None]
            after = np.where(after >= 0, candidates.after[after], -1)
        return is_said.astype(np.float64)

    @cached_property
    def near(self) -> Floats:
        """How near its words come to a term that it does not say itself."""
        if self.whole is not None:
            return self.whole.near[:, self.places]
        candidates = self.candidates
        if candidates.near is None:
            return np.zeros(candidates.own.shape)
        return np.where(candidates.own, 0.0, candidates.near)


@dataclass(frozen=True)
class Measures:
    """What relevance, the order and the learned order ask of candidates, each measured once.

    names: shared by the parts of a query, whose candidates are the same. of_terms: measured for all
    parts together; none = for this query.
    """

    query: QueryAnalysis
    candidates: CandidateSet
    statistics: Statistics
    parameters: RelevanceParameters
    names: SpeakerNames | None = None
    of_terms: TermColumns | None = None

    @cached_property
    def columns(self) -> TermColumns:
        """How the candidates say each of the query's terms."""
        return self.of_terms or TermColumns(self.candidates, self.statistics, self.parameters)

    @cached_property
    def worth(self) -> Floats:
        """As `asked_worth`."""
        return asked_worth(self.query, self.candidates, self.statistics, self.parameters)

    @cached_property
    def mean_length(self) -> float:
        """As `counted_mean_length`."""
        return counted_mean_length(self.statistics, self.parameters)

    @cached_property
    def passages(self) -> BestPassages:
        """The best passage of each candidate, as the share of the words compares it with the whole.
        The query has terms.
        """
        rules = _passage_rules(self.mean_length, self.parameters)
        return best_passages(self.candidates, self.query.terms, self.worth, rules)

    @cached_property
    def around(self) -> Floats:
        """The share of the query's information that each candidate, the two turns before it or the
        two after it say, in [0, 1].
        """
        return covered_share(self.columns.around, self.worth)

    @cached_property
    def by_named_actor(self) -> Flags | None:
        """Which candidates are by the one known actor that the query names; None when it names
        none or several.
        """
        names = (self.names or SpeakerNames(self.candidates, self.statistics)).words
        named = _named(self.query.words, set(names.values()))
        if len(named) != 1:
            return None
        theirs = {actor for actor, name in names.items() if name == named[0]}
        return np.array([actor in theirs for actor in self.candidates.actor], dtype=np.bool_)

    @cached_property
    def cosine(self) -> Floats:
        """As `known_cosine`, on the embedder's own scale."""
        return rescaled(known_cosine(self.candidates), self.parameters.fusion)

    @cached_property
    def _lexical(self) -> Floats:
        return _lexical_share(self)

    @cached_property
    def _boosts(self) -> dict[str, Floats]:
        return _boosts(self)

    @cached_property
    def _unweighted(self) -> Floats:
        """The score before it is weighted and cut at 1."""
        similarity = smoothed_similarity(self.candidates, self.parameters, self.cosine)
        # Without terms the words have no say; with half a say they could only veto.
        score = (
            fused(similarity, self._lexical, self.parameters.fusion)
            if self.query.terms
            else similarity
        )
        for factor in self._boosts.values():
            score = score * factor
        return score

    def relevance(self, weight: float = 1.0) -> Relevance:
        """As the function of that name."""
        return Relevance(
            _within_0_and_1(weight * self._unweighted),
            self._lexical,
            self.candidates.cosine,
            self._boosts,
        )

    def ordering(self, relevant: Relevance, weight: float = 1.0) -> Floats:
        """As the function of that name."""
        order, parameters = relevant.score, self.parameters
        if parameters.around_weight and self.query.terms:
            order = order + weight * parameters.around_weight * self.around
        share = long_turns(self.statistics)
        if not share or not parameters.long_text_weight:
            return order
        similarity = relevant.similarity
        cosine = rescaled(
            np.where(np.isnan(similarity), parameters.fusion.cosine_low, similarity),
            parameters.fusion,
        )
        return order + weight * parameters.long_text_weight * share * passage_factor(
            self.candidates
        ) * np.maximum(cosine, 0.0)


def relevance(
    query: QueryAnalysis,
    candidates: CandidateSet,
    statistics: Statistics,
    parameters: RelevanceParameters,
    weight: float = 1.0,
) -> Relevance:
    """Score a candidate set whose term columns are `query.terms`, in that order. weight: what
    scores count, before they are cut at 1.
    """
    return Measures(query, candidates, statistics, parameters).relevance(weight)


def ordering(
    query: QueryAnalysis,
    relevant: Relevance,
    candidates: CandidateSet,
    statistics: Statistics,
    parameters: RelevanceParameters,
    weight: float = 1.0,
) -> Floats:
    """What orders instead of the score, which stays as it is.

    Two things are added. They say which memory comes first, and not whether any memory answers.

    A turn is part of a conversation: the share of the query that it and the two turns on each side
    of it say, in whichever of their words, adds `around_weight` of itself.

    Among long turns the cosine adds to it, since a long text has words of everything. It is what a
    text's passages have on average: the vector of a text of many passages is their mean made long
    again, so its own cosine is higher than theirs, by what they differ among themselves. Where
    turns are short, as in chats between people, that adds nothing.
    """
    return Measures(query, candidates, statistics, parameters).ordering(relevant, weight)


def passage_factor(candidates: CandidateSet) -> Floats:
    """What the cosine of a text's vector is multiplied by to come to the mean over its passages;
    1 for a single passage.
    """
    passages = np.maximum(candidates.own_length / PASSAGE_TERMS, 1.0)
    factor: Floats = np.sqrt((1.0 + (passages - 1.0) * PASSAGE_LIKENESS) / passages)
    return factor


def around_share(
    query: QueryAnalysis,
    candidates: CandidateSet,
    statistics: Statistics,
    parameters: RelevanceParameters,
) -> Floats:
    """The share of the query's information that each candidate and the turns around it say,
    in [0, 1].
    """
    return Measures(query, candidates, statistics, parameters).around


def long_turns(statistics: Statistics) -> float:
    """How far turns are long texts, in [0, 1]: 0 up to a (geometric) mean of some 20 words,
    1 from some 150 on.
    """
    return min(max((statistics.turn_log_length - SHORT_TURNS) / LONG_TURNS, 0.0), 1.0)


def lexical_share(
    query: QueryAnalysis,
    candidates: CandidateSet,
    statistics: Statistics,
    parameters: RelevanceParameters,
) -> Floats:
    """LEX: the share of the query's information that each candidate's words cover, in [0, 1];
    0 for a query without terms.
    """
    return _lexical_share(Measures(query, candidates, statistics, parameters))


def _lexical_share(measures: Measures) -> Floats:
    if not measures.query.terms:
        return np.zeros(len(measures.candidates))
    share = covered_share(measures.columns.covered, measures.worth)
    if measures.parameters.passage_terms:
        share = np.maximum(share, measures.passages.share)
    return np.minimum(share, 1.0)


def passages_of(
    query: QueryAnalysis,
    candidates: CandidateSet,
    statistics: Statistics,
    parameters: RelevanceParameters,
) -> BestPassages:
    """The best passage of each candidate, as `lexical_share` compares it with the whole.
    The query has terms.
    """
    return Measures(query, candidates, statistics, parameters).passages


def asked_worth(
    query: QueryAnalysis,
    candidates: CandidateSet,
    statistics: Statistics,
    parameters: RelevanceParameters,
) -> Floats:
    """What each term is worth, T; or U × T where some candidates need not say all of them."""
    worth = idf(
        [statistics.document_frequency.get(term, 0) for term in query.terms],
        statistics.documents,
        parameters.idf_floor,
    )
    excused = excused_terms(query, candidates) if parameters.excuse_words else None
    return worth if excused is None else np.where(excused, 0.0, worth)


def counted_mean_length(statistics: Statistics, parameters: RelevanceParameters) -> float:
    """The mean length within what it counts at least and at most."""
    return min(
        max(statistics.mean_length, parameters.least_mean_length), parameters.most_mean_length
    )


def _passage_rules(mean_length: float, parameters: RelevanceParameters) -> PassageRules:
    return PassageRules(
        parameters.passage_terms,
        parameters.passage_enough,
        parameters.k1,
        parameters.b,
        mean_length,
    )


def _of_length(
    candidates: CandidateSet, mean_length: float, parameters: RelevanceParameters
) -> Floats:
    """What each candidate's length leaves of a word near a term: what it leaves of a single
    occurrence, 1 up to the mean length.
    """
    if not parameters.near_by_length:
        return np.ones(len(candidates))
    single = saturation(
        np.ones(len(candidates)), candidates.length, mean_length, parameters.k1, parameters.b
    )
    return np.minimum(1.0, single * (1.0 + parameters.k1))


def excused_terms(query: QueryAnalysis, candidates: CandidateSet) -> Flags | None:
    """U × T: which terms a candidate need not say, since they tell a time that it lies in;
    None where the query tells none.
    """
    if not query.dated:
        return None
    excused = np.zeros(candidates.tf.shape, dtype=np.bool_)
    for dated in query.dated:
        of_it = np.array([term in dated.terms for term in query.terms])
        excused |= dated.window.contains(candidates.event_at, 0, query.zone)[:, None] & of_it
    return excused


def _with_next(candidates: CandidateSet, parameters: RelevanceParameters) -> Floats:
    """Term frequencies with what the following turn says: an answer often names what the turn
    before it only points at.

    Taken at query time, so that no stored memory is ever rewritten for a later one.
    """
    if not parameters.next_weight or not len(candidates):
        return candidates.tf
    is_said = candidates.own[candidates.after] & (candidates.after >= 0)[:, None]
    return candidates.tf + parameters.next_weight * is_said


def in_rows(column: Floats, rows: Ints) -> Floats:
    """The column's values in other rows, 0 for a row that is not there."""
    there = rows >= 0
    return np.where(there if column.ndim == 1 else there[:, None], column[rows], 0.0)


def smoothed_similarity(
    candidates: CandidateSet, parameters: RelevanceParameters, cosine: Floats
) -> Floats:
    """COS: cosine and the better neighbouring turn's, on the embedder's scale, in [0, 1].

    A memory without neighbouring turns keeps its own cosine: no neighbour could have said more.
    cosine: each one's own on that scale.
    """
    neighbour = rescaled(
        np.fmax(candidates.previous_cosine, candidates.next_cosine), parameters.fusion
    )
    weight = np.where(np.isnan(neighbour), 0.0, parameters.cosine_smoothing)
    # fmax takes the 0 where the other is NaN
    return _within_0_and_1((cosine + weight * np.fmax(neighbour, 0.0)) / (1.0 + weight))


def _within_0_and_1(scores: Floats) -> Floats:
    # a third of what np.clip takes for a hundred scores
    return np.minimum(np.maximum(scores, 0.0), 1.0)


def known_cosine(candidates: CandidateSet) -> Floats:
    """The cosines; an unknown one is at most the lowest of the vector list, or the memory
    would be on it.
    """
    unknown = np.isnan(candidates.cosine)
    if not unknown.any():
        return candidates.cosine
    listed = set(candidates.lists.get(VECTOR_LIST, ()))
    bounds = [
        value
        for memory_id, value in zip(candidates.ids, candidates.cosine, strict=True)
        if memory_id in listed and value == value
    ]
    return np.where(unknown, min(bounds, default=0.0), candidates.cosine)


def _boosts(measures: Measures) -> dict[str, Floats]:
    query, candidates, parameters = measures.query, measures.candidates, measures.parameters
    flags: dict[str, tuple[Flags, float]] = {
        "question": (
            candidates.asks & (candidates.own_length < parameters.question_length),
            -parameters.question_penalty,
        )
    }
    if (by_actor := measures.by_named_actor) is not None:
        flags["actor"] = (by_actor, parameters.actor_boost)
    if query.asks_time:
        flags["time"] = (candidates.tells_time, parameters.time_boost)
    if query.windows:
        inside = [
            window.contains(candidates.event_at, parameters.window_slack_days, query.zone)
            for window in query.windows
        ]
        flags["window"] = (np.logical_or.reduce(inside), parameters.window_boost)
    return {
        name: np.where(flag, 1.0 + amount, 1.0) for name, (flag, amount) in flags.items() if amount
    }


def _named(spoken: frozenset[str], known: set[frozenset[str]]) -> list[frozenset[str]]:
    """The names that these words name. A fuller name takes its words: "Ann Lee" is her alone,
    "Ann" is every Ann.
    """
    left, named = spoken, []
    for name in sorted(
        (name for name in known if name and name <= spoken),
        key=lambda name: (-len(name), sorted(name)),
    ):
        if name <= left:
            named.append(name)
            left -= name
    return named + [name for name in known if name not in named and left & _calling(name)]


@keep_texts(4_096)
def _name(actor: str) -> frozenset[str]:
    return frozenset(words(actor))


@keep_texts(4_096)
def _calling(name: frozenset[str]) -> frozenset[str]:
    """The parts of a name by which its bearer may be called: not "of" or "the", not initials,
    not numbers.
    """
    return (
        frozenset(part for part in name if len(part) > 1 and part.isalpha())
        - FUNCTION_WORDS
        - QUERY_WORDS
    )

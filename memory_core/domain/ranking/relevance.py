"""Relevance: how much of a query a memory answers, in [0, 1].

Absolute, never scaled per query: 0.4 means the same for every query, so that an unrelated query has no hits. Note: terms that no memory has
STAY in the denominator of the lexical share; they make an unrelated query's relevance low.

tf_i(t)  = own and context + 0.25·[the turn after it says t]
    norm_i   = k1·(1 − b + b·length_i / (mean length, within 30 and 40))
    sat_i(t) = tf / (tf + norm_i)
    LEX_i    = min(1, Σ_t idf(t)·(sat_i(t) + 0.6·near_i(t)·min(1, (1 + k1) / (1 + norm_i))) / Σ_t idf(t))
               of a long text that of its best passage, if it is greater (`passages`)
    COS_i    = clip((c_i + max(c_before, c_after)) / 2, 0, 1)
    score_i  = min(1, (0.35·COS_i + 0.65·LEX_i^0.7) · actor · question · time · window)

t: a term of the query. idf: `passages.idf`. near_i(t): the greatest likeness of the memory's own words to a term that it does not say
(`candidates.nearness`). c_i, c_before, c_after: the cosines of the memory and of the turns beside it, rescaled (`FusionParameters`). actor,
question, time, window: factors (`RelevanceParameters`). Terms of a relative time ("yesterday", "two weeks before her birthday") are in
neither sum of a memory in that time; it covers a query without other terms as a whole. docs/ranking.md has what each part was measured to
be worth, by code in `bench/`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from memory_core.domain.ranking.candidates import CandidateSet, Flags, Floats, Statistics
from memory_core.domain.ranking.passages import IDF_FLOOR, BestPassages, PassageRules, best_passages, covered_share, idf, saturation
from memory_core.domain.ranking.query import QueryAnalysis
from memory_core.domain.text.analyzer import FUNCTION_WORDS, QUERY_WORDS, words

# Absolute fusion: one score in [0, 1] from the lexical share and the cosine.
#
# Absolute means that nothing is rescaled per query. With min-max scaling the best of unrelated memories has the score of a perfect answer:
# 98 % of unrelated queries had hits.


@dataclass(frozen=True, slots=True)
class FusionParameters:
    """The numbers of the fusion of cosine and lexical share.

    s = vector_weight·COS + (1 − vector_weight)·LEX^gamma, with COS = (cosine − cosine_low) / (cosine_high − cosine_low).

    cosine_low, cosine_high: the cosines of texts with nothing in common and of equal texts, of the embedder in use. The optimum is
    flat: vector_weight .3-.45 and gamma .5-1 stay within .003 of the best.
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
    """Scale cosines: 0 = nothing in common, 1 = equal; not clipped, NaN stays NaN."""
    return (cosine - parameters.cosine_low) / (parameters.cosine_high - parameters.cosine_low)


def fused(similarity: Floats, lexical: Floats, parameters: FusionParameters) -> Floats:
    """Fuse both, U numbers in [0, 1] each, to one score in [0, 1]."""
    return parameters.vector_weight * similarity + (1.0 - parameters.vector_weight) * lexical**parameters.gamma


VECTOR_LIST = "vector"
"""The name under which a candidate set keeps the ids of its vector list."""


SHORT_TURNS, LONG_TURNS = 2.75, 2.0
"""The mean logarithm of turns' own terms up to which turns are short, and what is added to it where they are long (`long_turns`)."""

TURNS_AFTER = 2
"""Turns after a turn whose terms count in `around_share`; those of as many turns before are among its term frequencies."""

PASSAGE_TERMS, PASSAGE_LIKENESS = 82.0, 0.2
"""Terms of a passage of some 110 words, and the cosine that is assumed of two passages of a text."""


@dataclass(frozen=True, slots=True)
class RelevanceParameters:
    """The numbers of relevance; 0 switches a part off.

    Attributes:
        fusion: Of cosine and lexical share.
        k1: Term saturation, far softer than the textbook's.
        b: Normalisation by length, far softer than the textbook's.
        least_mean_length: The least mean length that counts: among short texts a longer one is not buried.
        most_mean_length: The greatest mean length that counts: among long texts a long one does not count as short.
        idf_floor: See `passages.IDF_FLOOR`.
        near_weight: The weight of a word near a term.
        near_by_length: Whether that weight is less in a text longer than the mean, as that of the term itself.
        next_weight: The term frequency of a term that the next turn says, if that is a candidate.
        cosine_smoothing: The weight of the better neighbouring turn's cosine.
        actor_boost: Where the query names exactly one known actor, for that actor's memories.
        question_penalty: For a memory that asks, in less than `question_length` terms.
        question_length: Some 30 words; a longer memory that ends in a question has said something before.
        time_boost: Where the query asks for a time, for memories that tell one.
        window_boost: Where the query names a date, for memories whose event is then.
        window_slack_days: Days after the date that count, too.
        excuse_words: Whether a memory in a relative time need not say the terms of that time.
        around_weight: In `ordering`, the weight of `around_share`.
        long_text_weight: In `ordering`, the weight of the cosine where turns are long.
        passage_terms: The sizes of passages (`passages`), in terms; without any, texts count as a whole alone.
        passage_enough: How many of the query's terms a passage needs for its full weight.
        learned: Whether the learned order replaces `ordering` (`learned_order`).

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
    """The relevance of U candidates, in columns.

    Attributes:
        score: The relevance, in [0, 1].
        lexical: The share of the query's worth that is covered, in [0, 1].
        similarity: The raw cosine, NaN where unknown.
        boosts: The factors by name, for explanations; only those that apply to the query.

    """

    score: Floats
    lexical: Floats
    similarity: Floats
    boosts: Mapping[str, Floats]


def relevance(
    query: QueryAnalysis, candidates: CandidateSet, statistics: Statistics, parameters: RelevanceParameters, weight: float = 1.0
) -> Relevance:
    """Score candidates whose term columns are `query.terms`, in that order.

    weight: a factor of scores, before they are cut at 1.
    """
    lexical = lexical_share(query, candidates, statistics, parameters)
    similarity = smoothed_similarity(candidates, parameters)
    # A query without terms has no lexical share; counted as 0, it would only lower the score.
    score = fused(similarity, lexical, parameters.fusion) if query.terms else similarity
    boosts = _factors(query, candidates, statistics, parameters)
    for factor in boosts.values():
        score = score * factor
    return Relevance(_within_0_and_1(weight * score), lexical, candidates.cosine, boosts)


def ordering(
    query: QueryAnalysis,
    relevant: Relevance,
    candidates: CandidateSet,
    statistics: Statistics,
    parameters: RelevanceParameters,
    weight: float = 1.0,
) -> Floats:
    """What orders candidates in place of the score, U numbers.

    Two summands are added to the score, which decide which memory comes first, but not whether any memory answers:

    `around_weight` · `around_share`: a turn is part of a conversation, so the terms of the turns around it count, too.

    `long_text_weight` · `long_turns` · the mean cosine of a text's passages: a long text has some word of any query. The vector of a long
    text is the mean of its passages' vectors, scaled to length 1, so its cosine is higher than the mean of theirs (`passage_factor`).
    Where turns are short, as in chats between people, this is 0.
    """
    order = relevant.score
    if parameters.around_weight and query.terms:
        order = order + weight * parameters.around_weight * around_share(query, candidates, statistics, parameters)
    share = long_turns(statistics)
    if not share or not parameters.long_text_weight:
        return order
    cosine = rescaled(np.nan_to_num(relevant.similarity, nan=parameters.fusion.cosine_low), parameters.fusion)
    return order + weight * parameters.long_text_weight * share * passage_factor(candidates) * np.maximum(cosine, 0.0)


def passage_factor(candidates: CandidateSet) -> Floats:
    """The mean cosine of a text's n passages over the cosine of its vector, U.

    1 for n = 1; else sqrt((1 + (n − 1)·PASSAGE_LIKENESS) / n): the length of the mean of n vectors of length 1 with these cosines.
    """
    passages = np.maximum(candidates.own_length / PASSAGE_TERMS, 1.0)
    factor: Floats = np.sqrt((1.0 + (passages - 1.0) * PASSAGE_LIKENESS) / passages)
    return factor


def term_coverage(candidates: CandidateSet, statistics: Statistics, parameters: RelevanceParameters) -> Floats:
    """How well each candidate, with the turns before it, covers each term, U × T."""
    return saturation(candidates.tf, candidates.length, counted_mean_length(statistics, parameters), parameters.k1, parameters.b)


def around_share(query: QueryAnalysis, candidates: CandidateSet, statistics: Statistics, parameters: RelevanceParameters) -> Floats:
    """The share of the query that candidates and turns around them say, U.

    In [0, 1]. Two turns on each side count: those before are in its term frequencies, those after are known where they are candidates.
    """
    said_around = candidates.tf > 0
    after = candidates.after
    for _ in range(TURNS_AFTER):
        said_around |= candidates.own[after] & (after >= 0)[:, None]
        after = np.where(after >= 0, candidates.after[after], -1)
    return covered_share(said_around.astype(np.float64), asked_worth(query, candidates, statistics, parameters))


def long_turns(statistics: Statistics) -> float:
    """How long turns are, in [0, 1].

    0 up to a geometric mean of some 20 words, 1 from some 150 words on.
    """
    return min(max((statistics.turn_log_length - SHORT_TURNS) / LONG_TURNS, 0.0), 1.0)


def lexical_share(query: QueryAnalysis, candidates: CandidateSet, statistics: Statistics, parameters: RelevanceParameters) -> Floats:
    """LEX: the share of the query that candidates cover, U in [0, 1]."""
    if not query.terms:
        return np.zeros(len(candidates))
    mean_length = counted_mean_length(statistics, parameters)
    covered = saturation(_tf_with_next_turn(candidates, parameters), candidates.length, mean_length, parameters.k1, parameters.b)
    if candidates.near is not None:
        near = np.where(candidates.own, 0.0, candidates.near)
        covered += parameters.near_weight * (near * _length_factor(candidates, mean_length, parameters)[:, None])
    asked = asked_worth(query, candidates, statistics, parameters)
    share = covered_share(covered, asked)
    if parameters.passage_terms:
        share = np.maximum(share, best_passages(candidates, query.terms, asked, _passage_rules(mean_length, parameters)).share)
    return np.minimum(share, 1.0)


def passages_of(query: QueryAnalysis, candidates: CandidateSet, statistics: Statistics, parameters: RelevanceParameters) -> BestPassages:
    """The best passage of each candidate, as in `lexical_share`. The query has terms."""
    return best_passages(
        candidates,
        query.terms,
        asked_worth(query, candidates, statistics, parameters),
        _passage_rules(counted_mean_length(statistics, parameters), parameters),
    )


def asked_worth(query: QueryAnalysis, candidates: CandidateSet, statistics: Statistics, parameters: RelevanceParameters) -> Floats:
    """The worth of terms, T; U × T where candidates need not say all."""
    worth = idf([statistics.document_frequency.get(term, 0) for term in query.terms], statistics.documents, parameters.idf_floor)
    excused = excused_terms(query, candidates) if parameters.excuse_words else None
    return worth if excused is None else np.where(excused, 0.0, worth)


def counted_mean_length(statistics: Statistics, parameters: RelevanceParameters) -> float:
    """The mean length, within `least_mean_length` and `most_mean_length`."""
    return min(max(statistics.mean_length, parameters.least_mean_length), parameters.most_mean_length)


def _passage_rules(mean_length: float, parameters: RelevanceParameters) -> PassageRules:
    return PassageRules(parameters.passage_terms, parameters.passage_enough, parameters.k1, parameters.b, mean_length)


def _length_factor(candidates: CandidateSet, mean_length: float, parameters: RelevanceParameters) -> Floats:
    """The factor of a word near a term by each candidate's length, U.

    It is 1 up to the mean length, else that of a single occurrence of the term.
    """
    if not parameters.near_by_length:
        return np.ones(len(candidates))
    single = saturation(np.ones(len(candidates)), candidates.length, mean_length, parameters.k1, parameters.b)
    return np.minimum(1.0, single * (1.0 + parameters.k1))


def excused_terms(query: QueryAnalysis, candidates: CandidateSet) -> Flags | None:
    """Which terms candidates need not say, U × T.

    Those of a relative time that a candidate is in. None for a query without relative times.
    """
    if not query.dated:
        return None
    excused = np.zeros(candidates.tf.shape, dtype=np.bool_)
    for time in query.dated:
        of_time = np.array([term in time.terms for term in query.terms])
        excused |= time.window.contains(candidates.event_at, 0, query.zone)[:, None] & of_time
    return excused


def _tf_with_next_turn(candidates: CandidateSet, parameters: RelevanceParameters) -> Floats:
    """Term frequencies with those of the next turn, U × T.

    An answer often names what the turn before it only points at. Added at query time, so that no stored memory is ever rewritten for a
    later one.
    """
    if not parameters.next_weight or not len(candidates):
        return candidates.tf
    said_after = candidates.own[candidates.after] & (candidates.after >= 0)[:, None]
    return candidates.tf + parameters.next_weight * said_after


def smoothed_similarity(candidates: CandidateSet, parameters: RelevanceParameters) -> Floats:
    """COS: the mean of each cosine and the better neighbour's, U in [0, 1].

    Rescaled. A memory without neighbouring turns has its own cosine.
    """
    cosine = rescaled(known_cosine(candidates), parameters.fusion)
    neighbour = rescaled(np.fmax(candidates.previous_cosine, candidates.next_cosine), parameters.fusion)
    weight = np.where(np.isnan(neighbour), 0.0, parameters.cosine_smoothing)
    return _within_0_and_1((cosine + weight * np.fmax(neighbour, 0.0)) / (1.0 + weight))  # fmax takes the 0 where the other is NaN


def _within_0_and_1(scores: Floats) -> Floats:
    return np.minimum(np.maximum(scores, 0.0), 1.0)  # a third of what np.clip takes for a hundred scores


def known_cosine(candidates: CandidateSet) -> Floats:
    """The cosines, U; for an unknown one the lowest of the vector list.

    It can't be higher: the memory would be in the list.
    """
    unknown = np.isnan(candidates.cosine)
    if not unknown.any():
        return candidates.cosine
    listed = set(candidates.lists.get(VECTOR_LIST, ()))
    bounds = [value for memory_id, value in zip(candidates.ids, candidates.cosine, strict=True) if memory_id in listed and value == value]
    return np.where(unknown, min(bounds, default=0.0), candidates.cosine)


def _factors(query: QueryAnalysis, candidates: CandidateSet, statistics: Statistics, parameters: RelevanceParameters) -> dict[str, Floats]:
    """The factors of actor, question, time and window, U each, by name."""
    flags: dict[str, tuple[Flags, float]] = {
        "question": (candidates.asks & (candidates.own_length < parameters.question_length), -parameters.question_penalty)
    }
    if (by_actor := by_named_actor(query, candidates, statistics)) is not None:
        flags["actor"] = (by_actor, parameters.actor_boost)
    if query.asks_time:
        flags["time"] = (candidates.tells_time, parameters.time_boost)
    if query.windows:
        inside = [window.contains(candidates.event_at, parameters.window_slack_days, query.zone) for window in query.windows]
        flags["window"] = (np.logical_or.reduce(inside), parameters.window_boost)
    return {name: np.where(flag, 1.0 + amount, 1.0) for name, (flag, amount) in flags.items() if amount}


def by_named_actor(query: QueryAnalysis, candidates: CandidateSet, statistics: Statistics) -> Flags | None:
    """Which candidates are of the one actor that the query names; else None."""
    names = {actor: _name(actor) for actor in statistics.actors.union(candidates.actor) if actor}
    named = _names_in(query.words, set(names.values()))
    if len(named) != 1:
        return None
    theirs = {actor for actor, name in names.items() if name == named[0]}
    return np.array([actor in theirs for actor in candidates.actor], dtype=np.bool_)


def _names_in(query_words: frozenset[str], names: set[frozenset[str]]) -> list[frozenset[str]]:
    """The names that words name.

    A longer name takes its words: "Ann Lee" names her alone, "Ann" names every Ann.
    """
    left, named = query_words, []
    for name in sorted((name for name in names if name and name <= query_words), key=lambda name: (-len(name), sorted(name))):
        if name <= left:
            named.append(name)
            left -= name
    return named + [name for name in names if name not in named and left & _calling_names(name)]


@lru_cache(maxsize=4_096)
def _name(actor: str) -> frozenset[str]:
    return frozenset(words(actor))


@lru_cache(maxsize=4_096)
def _calling_names(name: frozenset[str]) -> frozenset[str]:
    """The parts of a name that name the person alone: not "of", initials or numbers."""
    return frozenset(part for part in name if len(part) > 1 and part.isalpha()) - FUNCTION_WORDS - QUERY_WORDS

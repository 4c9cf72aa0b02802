"""Relevance: how much of a query a memory answers, in [0, 1].

Relevance is absolute and never scaled per query: 0.4 means the same for every query, so an
unrelated query finds no memory. Note: terms that no memory knows stay in the denominator of the
lexical share. They are the reason that unrelated queries are rejected.

    tf_i(t)  = own and context + 0.25·[the turn after it says t]
    norm_i   = k1·(1 − b + b·length_i / (mean length, within 30 and 40))
    sat_i(t) = tf / (tf + norm_i)
    LEX_i    = min(1, Σ_t idf(t)·(sat_i(t) + 0.6·near_i(t)·min(1, (1 + k1) / (1 + norm_i)))
                      / Σ_t idf(t))
               of a long text its best passage's, where that is more (`passages`)
    COS_i    = clip((c_i + max(c_before, c_after)) / 2, 0, 1)
    score_i  = min(1, (0.35·COS_i + 0.65·LEX_i^0.7) · actor · question · time · window)

A query may name a time relative to now or to an event ("yesterday", "two weeks before her
birthday"). A memory that lies in that time need not say the words that name it: they are in neither
of its two sums. It covers a query that has no other words in full.

near_i(t) is how near in meaning the nearest of the memory's own words comes to a term that it does
not say (`candidates`). The worth of each part of the formula is measured by code in `bench/` and
recorded in docs/ranking.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from memory_core.domain.ranking.candidates import CandidateSet, Flags, Floats, Ints, Statistics
from memory_core.domain.ranking.passages import IDF_FLOOR
from memory_core.domain.ranking.query import QueryAnalysis
from memory_core.domain.text.analyzer import FUNCTION_WORDS, QUERY_WORDS, words
from memory_core.domain.text.text_cache import keep_texts

# Absolute fusion: a score in [0, 1] from words and vectors.
#
# Absolute means that no query rescales the score. With min-max scaling the best of unrelated
# results gets a perfect score (98 % of unrelated queries pass); here an unrelated query finds
# nothing.


@dataclass(frozen=True, slots=True)
class FusionParameters:
    """How words and vectors become one score in [0, 1].

        s = vector_weight·COS + (1 − vector_weight)·LEX^gamma
        COS = (cosine − cosine_low) / (cosine_high − cosine_low)

    The optimum is flat: vector_weight .3-.45 and gamma .5-1 stay within .003 of the best.

    Attributes:
        vector_weight: The weight of the cosine, in [0, 1].
        gamma: The exponent of the lexical share, above 0.
        cosine_low: The cosine that means "nothing in common" for the embedder in use.
        cosine_high: The cosine that means "the same" for that embedder, above `cosine_low`.

    Raises:
        ValueError: For a number outside these bounds.

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
    """Cosines on the embedder's own scale: 0 = unrelated, 1 = the same.

    Args:
        cosine: Of any shape.
        parameters: The ends of the scale.

    Returns:
        Numbers that are not yet clipped to [0, 1]; NaN stays NaN.

    """
    return (cosine - parameters.cosine_low) / (parameters.cosine_high - parameters.cosine_low)


def fused(similarity: Floats, lexical: Floats, parameters: FusionParameters) -> Floats:
    """Fuse cosines and lexical shares into a score in [0, 1].

    Args:
        similarity: In [0, 1], U numbers or P × U.
        lexical: In [0, 1], of the same shape.
        parameters: The weight and the exponent.

    """
    return (
        parameters.vector_weight * similarity
        + (1.0 - parameters.vector_weight) * lexical**parameters.gamma
    )


VECTOR_LIST = "vector"
"""The name under which a candidate set keeps the ids of its vector list."""


SHORT_TURNS, LONG_TURNS = 2.75, 2.0
"""The mean logarithm of turns' own terms up to which turns are short, and the width of the range
above it, at whose end they are long.
"""

PASSAGE_TERMS, PASSAGE_LIKENESS = 82.0, 0.2
"""Terms of a passage of some 110 words, and the assumed cosine of two passages of a text."""


@dataclass(frozen=True, slots=True)
class RelevanceParameters:
    """The number of each ingredient of relevance; 0 switches an ingredient off.

    Attributes:
        fusion: How words and vectors become one score.
        k1: Term saturation, far softer than the textbook's.
        b: Weight of the length, far softer than the textbook's.
        least_mean_length: The least that a store's mean length counts: among short texts a long
            text is not buried.
        most_mean_length: The most that it counts: among long texts a long text is not short.
        idf_floor: See `passages.IDF_FLOOR`.
        near_weight: The weight of a word that is near a term.
        near_by_length: Whether such a word counts less in a text longer than the mean,
            like the term itself.
        next_weight: The weight of a term that the next turn says, if that turn is a candidate.
        cosine_smoothing: Weight of the better neighbouring turn's cosine.
        actor_boost: For memories of the only known actor that the query names.
        question_penalty: For a memory that only asks, in fewer than `question_length` terms.
        question_length: Terms, some 30 words. A longer text that ends in a question has
            stated something before.
        time_boost: For a memory that tells a time, when the query asks for a time.
        window_boost: For a memory whose event lies in a date that the query names, or shortly
            after it.
        window_slack_days: How many days after the date still count.
        excuse_words: Whether a memory that lies in a time need not say the words for that time.
        around_weight: How much the order gains by the share of the query that a memory and the
            turns around it say together; see `Measures.ordering`.
        long_text_weight: How much the order gains by the cosine where turns are long; see
            `Measures.ordering`.
        passage_terms: Sizes of the passages by which a long text is weighed, too; see `passages`.
            Without sizes a text counts only as a whole.
        passage_enough: How many of the query's terms a passage must say to count in full.
        learned: Whether the learned order replaces `Measures.ordering`; see `learned_order`.
        between: Whether a memory that is no turn then has as many turns before it as by
            relevance. Otherwise it keeps its number among the turns' numbers.

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
    between: bool = True


@dataclass(frozen=True, slots=True)
class Relevance:
    """The relevance of U candidates.

    Attributes:
        score: Relevance in [0, 1], P × U for the P parts of a query; U numbers where each
            candidate has the numbers of a single part.
        lexical: Share of the query's information that is covered, in [0, 1].
        similarity: The raw cosine, NaN where unknown.
        boosts: By name the factor that each candidate got, for explanations; only those that
            apply to the query.

    """

    score: Floats
    lexical: Floats
    similarity: Floats
    boosts: Mapping[str, Floats]

    def of_parts(self, best: Ints) -> Relevance:
        """The numbers of a single part for each candidate.

        best: the place of that part, U.
        """
        if len(self.score) == 1:
            boosts = {name: np.atleast_2d(factor)[0] for name, factor in self.boosts.items()}
            return Relevance(self.score[0], self.lexical[0], self.similarity[0], boosts)
        shape, rows = self.score.shape, np.arange(len(best))
        return Relevance(
            self.score[best, rows],
            self.lexical[best, rows],
            self.similarity[best, rows],
            {
                name: np.broadcast_to(factor, shape)[best, rows]
                for name, factor in self.boosts.items()
            },
        )


def passage_factor(candidates: CandidateSet) -> Floats:
    """The factor from the cosine of a text to the mean cosine of its passages.

    It is 1 for a text of a single passage.
    """
    passages = np.maximum(candidates.own_length / PASSAGE_TERMS, 1.0)
    factor: Floats = np.sqrt((1.0 + (passages - 1.0) * PASSAGE_LIKENESS) / passages)
    return factor


def long_turns(statistics: Statistics) -> float:
    """How far turns are long texts, in [0, 1].

    0 up to a geometric mean of some 20 words a turn, 1 from some 150 on.
    """
    return min(max((statistics.turn_log_length - SHORT_TURNS) / LONG_TURNS, 0.0), 1.0)


def counted_mean_length(statistics: Statistics, parameters: RelevanceParameters) -> float:
    """The store's mean length, kept within the two limits.

    Args:
        statistics: Of the owner's memories.
        parameters: The limits, `least_mean_length` and `most_mean_length`.

    """
    return min(
        max(statistics.mean_length, parameters.least_mean_length), parameters.most_mean_length
    )


def excused_terms(query: QueryAnalysis, candidates: CandidateSet) -> Flags | None:
    """The terms of a time that a candidate lies in, which it need not say.

    Args:
        query: With the times that its words name.
        candidates: With their event times.

    Returns:
        Flags, U × T; None for a query that names no such time.

    """
    if not query.dated:
        return None
    excused = np.zeros((len(candidates), len(query.terms)), dtype=np.bool_)
    for dated in query.dated:
        of_it = np.array([term in dated.terms for term in query.terms])
        excused |= dated.window.contains(candidates.event_at, 0, query.zone)[:, None] & of_it
    return excused


def in_rows(values: Floats, rows: Ints, axis: int = 0) -> Floats:
    """The values of other candidates, 0 for row -1.

    Args:
        values: With an axis of U candidates.
        rows: The row to take for each candidate, U.
        axis: The axis of the candidates.

    """
    there = rows >= 0
    others: Floats = values.take(rows, axis=axis)
    return np.where(there if axis == values.ndim - 1 else there[:, None], others, 0.0)


def smoothed_similarity(cosines: Floats, parameters: RelevanceParameters, cosine: Floats) -> Floats:
    """COS: cosine and the better neighbouring turn's, on the embedder's scale, in [0, 1].

    A memory without neighbouring turns keeps its own cosine.

    Args:
        cosines: 3 × P × U, of candidates, the turns before them and the turns after them.
        parameters: The weight of neighbours, and the embedder's scale.
        cosine: The candidates' own cosines on the embedder's scale, P × U.

    """
    neighbour = rescaled(np.fmax(cosines[1], cosines[2]), parameters.fusion)
    weight = np.where(np.isnan(neighbour), 0.0, parameters.cosine_smoothing)
    # fmax takes the 0 where the other is NaN
    return within_0_and_1((cosine + weight * np.fmax(neighbour, 0.0)) / (1.0 + weight))


def within_0_and_1(scores: Floats) -> Floats:
    """Clip scores; takes a third of the time of np.clip for a hundred scores."""
    return np.minimum(np.maximum(scores, 0.0), 1.0)


def known_cosines(candidates: CandidateSet, cosines: Floats) -> Floats:
    """The cosines, P × U, with an estimate for each unknown cosine.

    An unknown cosine is at most the lowest of the vector list, since the memory would otherwise be
    on that list. That lowest is the estimate, or 0 without a list.

    Args:
        candidates: With their vector list.
        cosines: P × U; NaN where unknown.

    """
    unknown = np.isnan(cosines)
    if not unknown.any():
        return cosines
    listed = set(candidates.lists.get(VECTOR_LIST, ()))
    is_listed = np.array([memory_id in listed for memory_id in candidates.ids], dtype=np.bool_)
    known = np.where(is_listed & ~unknown, cosines, np.inf)
    lowest = known.min(axis=1, keepdims=True, initial=np.inf)
    return np.where(unknown, np.where(np.isinf(lowest), 0.0, lowest), cosines)


def speaker_names(candidates: CandidateSet, statistics: Statistics) -> Mapping[str, frozenset[str]]:
    """The words of the known speakers' names, by speaker.

    Args:
        candidates: Whose speakers are known.
        statistics: With the owner's other actors.

    """
    return {actor: _name(actor) for actor in statistics.actors.union(candidates.actor) if actor}


def named_speaker(
    spoken: frozenset[str], names: Mapping[str, frozenset[str]], actors: Sequence[str | None]
) -> Flags | None:
    """Which of U memories are by the only speaker that the words name.

    Args:
        spoken: The words.
        names: The words of each speaker's name (`speaker_names`).
        actors: The memories' speakers, U.

    Returns:
        None where the words name no speaker or several.

    """
    named = _named(spoken, set(names.values()))
    if len(named) != 1:
        return None
    theirs = {actor for actor, name in names.items() if name == named[0]}
    return np.array([actor in theirs for actor in actors], dtype=np.bool_)


def _named(spoken: frozenset[str], known: set[frozenset[str]]) -> list[frozenset[str]]:
    """The names that these words name.

    A fuller name takes its words: "Ann Lee" is her alone, "Ann" is every Ann.
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
    """The parts of a name by which a person may be called.

    These exclude "of" and "the", initials, and numbers.
    """
    return (
        frozenset(part for part in name if len(part) > 1 and part.isalpha())
        - FUNCTION_WORDS
        - QUERY_WORDS
    )

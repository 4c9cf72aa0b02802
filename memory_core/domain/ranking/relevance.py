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

import numpy as np

from memory_core.domain.ranking.candidates import CandidateSet, Flags, Floats, Ints, Statistics
from memory_core.domain.ranking.passages import IDF_FLOOR
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

PASSAGE_TERMS, PASSAGE_LIKENESS = 82.0, 0.2
"""Terms of a passage of some 110 words, and the cosine that two passages of a text are
reckoned to have.
"""


@dataclass(frozen=True, slots=True)
class RelevanceParameters:
    """Every ingredient's number; 0 switches an ingredient off.

    k1, b: term saturation and length, far softer than the textbook's. least_mean_length,
    most_mean_length: a store's mean length counts within these, so that among long texts a long one
    is no short one, and among short ones it is not buried. idf_floor: see `passages.IDF_FLOOR`.
    near_weight: what a word near a term counts; near_by_length: less in a text longer than the
    mean, as the term itself. next_weight: what a term counts that the turn after this one says, if
    that is a candidate too. cosine_smoothing: weight of the better neighbouring turn's cosine.
    actor_boost: the query names exactly one known actor, whose memory it is. question_penalty: the
    memory only asks, in less than question_length terms (some 30 words): a long one that ends in a
    question has said something before. time_boost: the query asks for a time and the memory tells
    one. window_boost: the query names a date and the memory's event lies in it or within
    window_slack_days after it. excuse_words: whether who lies in a time need not say the words for
    it. around_weight: what the share of the query that the turns around say with it adds to the
    order; see `Measures.ordering`. long_text_weight: what the cosine adds to the order where turns
    are long; see there. passage_terms, passage_enough: sizes of passages that a long text is also
    weighed by, and how many of the query's terms one says to count in full; see `passages`. Without
    sizes a text counts as a whole alone. learned: whether the learned order takes the place of
    `Measures.ordering`; see `learned_order`. between: whether what is no turn then has as many
    turns before it as by relevance; else it keeps its number among theirs.
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
    """The verdict on U candidates, for each of P parts of a query or for the best of each.

    score: relevance in [0, 1]. lexical: share of the query's information covered, in [0, 1].
    similarity: the raw cosine, NaN where unknown. boosts: name → the factor each candidate got, for
    explanations; only those that apply to the query.
    """

    score: Floats
    lexical: Floats
    similarity: Floats
    boosts: Mapping[str, Floats]

    def of_parts(self, best: Ints) -> Relevance:
        """Of each candidate the numbers of one part. best: U, which part that is."""
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
    """What the cosine of a text's vector is multiplied by to come to the mean over its passages;
    1 for a single passage.
    """
    passages = np.maximum(candidates.own_length / PASSAGE_TERMS, 1.0)
    factor: Floats = np.sqrt((1.0 + (passages - 1.0) * PASSAGE_LIKENESS) / passages)
    return factor


def long_turns(statistics: Statistics) -> float:
    """How far turns are long texts, in [0, 1]: 0 up to a (geometric) mean of some 20 words,
    1 from some 150 on.
    """
    return min(max((statistics.turn_log_length - SHORT_TURNS) / LONG_TURNS, 0.0), 1.0)


def counted_mean_length(statistics: Statistics, parameters: RelevanceParameters) -> float:
    """The mean length within what it counts at least and at most."""
    return min(
        max(statistics.mean_length, parameters.least_mean_length), parameters.most_mean_length
    )


def excused_terms(query: QueryAnalysis, candidates: CandidateSet) -> Flags | None:
    """U × T: which terms a candidate need not say, since they tell a time that it lies in;
    None where the query tells none.
    """
    if not query.dated:
        return None
    excused = np.zeros((len(candidates), len(query.terms)), dtype=np.bool_)
    for dated in query.dated:
        of_it = np.array([term in dated.terms for term in query.terms])
        excused |= dated.window.contains(candidates.event_at, 0, query.zone)[:, None] & of_it
    return excused


def in_rows(values: Floats, rows: Ints, axis: int = 0) -> Floats:
    """The values of other candidates, 0 for a row that is not there. axis: of the candidates."""
    there = rows >= 0
    others: Floats = values.take(rows, axis=axis)
    return np.where(there if axis == values.ndim - 1 else there[:, None], others, 0.0)


def smoothed_similarity(cosines: Floats, parameters: RelevanceParameters, cosine: Floats) -> Floats:
    """COS: cosine and the better neighbouring turn's, on the embedder's scale, in [0, 1].

    A memory without neighbouring turns keeps its own cosine: no neighbour could have said more.

    Args:
        cosines: 3 × P × U, of candidates, the turns before them and the turns after them.
        parameters: The numbers.
        cosine: P × U, each one's own on the embedder's scale.

    """
    neighbour = rescaled(np.fmax(cosines[1], cosines[2]), parameters.fusion)
    weight = np.where(np.isnan(neighbour), 0.0, parameters.cosine_smoothing)
    # fmax takes the 0 where the other is NaN
    return within_0_and_1((cosine + weight * np.fmax(neighbour, 0.0)) / (1.0 + weight))


def within_0_and_1(scores: Floats) -> Floats:
    """Cut scores; in a third of what np.clip takes for a hundred of them."""
    return np.minimum(np.maximum(scores, 0.0), 1.0)


def known_cosines(candidates: CandidateSet, cosines: Floats) -> Floats:
    """The cosines, P × U; an unknown one is at most the lowest of the vector list, or the memory
    would be on it.
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
    """The words of the known speakers' names, by speaker."""
    return {actor: _name(actor) for actor in statistics.actors.union(candidates.actor) if actor}


def named_speaker(
    spoken: frozenset[str], names: Mapping[str, frozenset[str]], actors: Sequence[str | None]
) -> Flags | None:
    """Which of U memories are by the one speaker whom words name; None where they name
    none or several.

    Args:
        spoken: The words.
        names: As `speaker_names`.
        actors: The memories' speakers, U.

    """
    named = _named(spoken, set(names.values()))
    if len(named) != 1:
        return None
    theirs = {actor for actor, name in names.items() if name == named[0]}
    return np.array([actor in theirs for actor in actors], dtype=np.bool_)


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

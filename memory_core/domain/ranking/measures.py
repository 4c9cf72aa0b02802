"""Measurements of candidates for relevance and the orders, for all parts of a query.

P parts, U candidates and T terms: a column is U × T, a number of each part P × U. A query of one
sentence has a single part. `relevance` has the formulas.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from memory_core.domain.memory import Vector
from memory_core.domain.ranking.candidates import CandidateSet, Flags, Floats, Statistics
from memory_core.domain.ranking.passages import (
    BestPassages,
    PassageRules,
    TermWorth,
    best_passages,
    idf,
    saturation,
)
from memory_core.domain.ranking.query import QueryAnalysis, QueryPart
from memory_core.domain.ranking.relevance import (
    Relevance,
    RelevanceParameters,
    counted_mean_length,
    excused_terms,
    fused,
    in_rows,
    known_cosines,
    long_turns,
    named_speaker,
    passage_factor,
    rescaled,
    smoothed_similarity,
    speaker_names,
    within_0_and_1,
)

TURNS_AFTER = 2
"""How many turns after a candidate are searched for the words of a query. The terms of as many
turns before it are among its own.
"""


@dataclass(frozen=True)
class TermColumns:
    """How candidates say each term of a query, U × T each."""

    candidates: CandidateSet
    statistics: Statistics
    parameters: RelevanceParameters

    @cached_property
    def mean_length(self) -> float:
        """As `counted_mean_length`."""
        return counted_mean_length(self.statistics, self.parameters)

    @cached_property
    def covered(self) -> Floats:
        """How well each term is covered, with the next turn and near words."""
        covered = self._saturation(self._with_next())
        if self.candidates.near is not None:
            covered += self.parameters.near_weight * (self.near * self._of_length()[:, None])
        return covered

    @cached_property
    def with_before(self) -> Floats:
        """How well each candidate, with the turns before it, covers each term."""
        return self._saturation(self.candidates.tf)

    @cached_property
    def own(self) -> Floats:
        """1 where the candidate says the term itself, else 0."""
        return self.candidates.own.astype(np.float64)

    @cached_property
    def own_before(self) -> Floats:
        """`own` of the turn before the candidate."""
        return in_rows(self.own, self.candidates.before)

    @cached_property
    def said_or_before(self) -> Floats:
        """1 where the candidate or a turn before it says the term, else 0."""
        return (self.candidates.tf > 0).astype(np.float64)

    @cached_property
    def around(self) -> Floats:
        """1 where the candidate or a turn around it says the term, else 0.

        The turns around are the two before and the two after. The terms of those before are among
        the candidate's term frequencies; those after are known where they are candidates.
        """
        candidates = self.candidates
        is_said = candidates.tf > 0
        after = candidates.after
        for _ in range(TURNS_AFTER):
            is_said |= candidates.own[after] & (after >= 0)[:, None]
            after = np.where(after >= 0, candidates.after[after], -1)
        return is_said.astype(np.float64)

    @cached_property
    def near(self) -> Floats:
        """How near a candidate's words come to a term that it does not say."""
        candidates = self.candidates
        if candidates.near is None:
            return np.zeros(candidates.own.shape)
        return np.where(candidates.own, 0.0, candidates.near)

    def _saturation(self, tf: Floats) -> Floats:
        parameters = self.parameters
        return saturation(tf, self.candidates.length, self.mean_length, parameters.k1, parameters.b)

    def _with_next(self) -> Floats:
        """Term frequencies, raised by the terms that the next turn says.

        An answer often names the subject that the turn before it only points at. This is done at
        query time, so that no stored memory is ever rewritten for a later memory.
        """
        candidates, weight = self.candidates, self.parameters.next_weight
        if not weight or not len(candidates):
            return candidates.tf
        is_said = candidates.own[candidates.after] & (candidates.after >= 0)[:, None]
        return candidates.tf + weight * is_said

    def _of_length(self) -> Floats:
        """The factor by which a candidate's length lowers the credit for a near word.

        It is the factor of a single occurrence of a term, 1 up to the mean length.
        """
        rows = len(self.candidates)
        if not self.parameters.near_by_length:
            return np.ones(rows)
        return np.minimum(1.0, self._saturation(np.ones(rows)) * (1.0 + self.parameters.k1))


@dataclass(frozen=True)
class Measures:
    """The numbers that relevance and both orders need, each measured once.

    Args:
        parts: Of the query, P ≥ 1.
        candidates: With the columns of the terms of all parts.
        statistics: Of the owner's memories.
        parameters: The numbers of relevance.
        vectors: Of the query's sentences. Without vectors, or for a query of a single sentence,
            the candidates' own cosines are used.

    """

    parts: Sequence[QueryPart]
    candidates: CandidateSet
    statistics: Statistics
    parameters: RelevanceParameters
    vectors: Sequence[Vector] = ()

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """The query's terms, T."""
        terms = [""] * self.candidates.tf.shape[1]
        for part in self.parts:
            for place, term in zip(part.places, part.analysis.terms, strict=True):
                terms[place] = term
        return tuple(terms)

    @cached_property
    def asked(self) -> Flags:
        """Which terms each part has, P × T."""
        asked = np.zeros((len(self.parts), self.candidates.tf.shape[1]), dtype=np.bool_)
        for row, part in enumerate(self.parts):
            asked[row, list(part.places)] = True
        return asked

    @cached_property
    def has_terms(self) -> bool:
        """Whether the query has any terms; of several parts each has."""
        return bool(self.terms)

    @cached_property
    def columns(self) -> TermColumns:
        """How the candidates say each term."""
        return TermColumns(self.candidates, self.statistics, self.parameters)

    @cached_property
    def worth(self) -> TermWorth:
        """The worth of each term to each part."""
        frequency = self.statistics.document_frequency
        worth = idf(
            [frequency.get(term, 0) for term in self.terms],
            self.statistics.documents,
            self.parameters.idf_floor,
        )
        return TermWorth(np.where(self.asked, worth, 0.0), tuple(map(self._excused, self.parts)))

    def _excused(self, part: QueryPart) -> Flags | None:
        """U × T: the terms of a part that a candidate need not say."""
        if not self.parameters.excuse_words:
            return None
        of_part = excused_terms(part.analysis, self.candidates)
        if of_part is None:
            return None
        excused = np.zeros(self.candidates.tf.shape, dtype=np.bool_)
        excused[:, list(part.places)] = of_part
        return excused

    @cached_property
    def passages(self) -> BestPassages:
        """The best passage of each candidate, for a query that has terms."""
        parameters = self.parameters
        rules = PassageRules(
            parameters.passage_terms,
            parameters.passage_enough,
            parameters.k1,
            parameters.b,
            self.columns.mean_length,
        )
        return best_passages(self.candidates, self.terms, self.asked, self.worth, rules)

    @cached_property
    def around(self) -> Floats:
        """The share of a part that a candidate and the turns around it say.

        It is a share of the part's information, in [0, 1]. The turns around are the two before and
        the two after.
        """
        return self.worth.share_of(self.columns.around)

    @cached_property
    def by_named_speaker(self) -> tuple[Flags | None, ...]:
        """By part, which candidates are by the known speaker that the part names.

        None for a part that names no speaker or several.
        """
        names = speaker_names(self.candidates, self.statistics)
        return tuple(
            named_speaker(part.analysis.words, names, self.candidates.actor) for part in self.parts
        )

    @cached_property
    def cosines(self) -> Floats:
        """Cosines of candidates, of the turns before them and of those after.

        3 × P × U; NaN = unknown.
        """
        candidates = self.candidates
        if candidates.cosines is None or not len(self.vectors):
            each = np.array([candidates.cosine, candidates.previous_cosine, candidates.next_cosine])
            return np.repeat(each[:, None, :], len(self.parts), axis=1)
        vectors = np.array(self.vectors, dtype=np.float64)
        lengths = [
            float(np.linalg.norm(vectors[list(part.sentences)].sum(axis=0))) or 1.0
            for part in self.parts
        ]
        # The cosine with a part's vector, which is the mean of its sentences'.
        return np.stack(
            [
                candidates.cosines[:, :, list(part.sentences)].sum(axis=2) / length
                for part, length in zip(self.parts, lengths, strict=True)
            ],
            axis=1,
        )

    @cached_property
    def cosine(self) -> Floats:
        """The candidates' own cosines on the embedder's scale, P × U, as `known_cosines`."""
        return rescaled(known_cosines(self.candidates, self.cosines[0]), self.parameters.fusion)

    @cached_property
    def lexical(self) -> Floats:
        """LEX, P × U: the share of a part that a candidate's words cover.

        It is a share of the part's information, in [0, 1]; 0 for a query without terms.
        """
        if not self.has_terms:
            return np.zeros((len(self.parts), len(self.candidates)))
        share = self.worth.share_of(self.columns.covered)
        if self.parameters.passage_terms:
            share = np.maximum(share, self.passages.share)
        return np.minimum(share, 1.0)

    @cached_property
    def boosts(self) -> dict[str, Floats]:
        """By name the factors of each candidate, U or P × U.

        Only factors that apply to any part are present.
        """
        candidates, parameters, parts = self.candidates, self.parameters, self.parts
        short = candidates.own_length < parameters.question_length
        factors = {"question": _factor(candidates.asks & short, -parameters.question_penalty)}
        if any(flags is not None for flags in self.by_named_speaker):
            none = np.zeros(len(candidates), dtype=np.bool_)
            named = [none if flags is None else flags for flags in self.by_named_speaker]
            factors["actor"] = _factor(np.array(named), parameters.actor_boost)
        if any(part.analysis.asks_time for part in parts):
            asks = np.array([part.analysis.asks_time for part in parts])
            factors["time"] = _factor(asks[:, None] & candidates.tells_time, parameters.time_boost)
        if any(part.analysis.windows for part in parts):
            inside = np.array(
                [self._in_window(part.analysis, by_zone=True) for part in parts], dtype=np.bool_
            )
            factors["window"] = _factor(inside, parameters.window_boost)
        return {name: factor for name, factor in factors.items() if factor is not None}

    @cached_property
    def in_window(self) -> Flags:
        """P × U: which candidates lie in a date that the part names, by UTC."""
        return np.array([self._in_window(part.analysis, by_zone=False) for part in self.parts])

    def _in_window(self, query: QueryAnalysis, *, by_zone: bool) -> Flags:
        inside = np.zeros(len(self.candidates), dtype=np.bool_)
        slack = self.parameters.window_slack_days
        for window in query.windows:
            inside |= (
                window.contains(self.candidates.event_at, slack, query.zone)
                if by_zone
                else window.contains(self.candidates.event_at, slack)
            )
        return inside

    @cached_property
    def _unweighted(self) -> Floats:
        """The scores before they are multiplied by the parts' weights and cut at 1."""
        similarity = smoothed_similarity(self.cosines, self.parameters, self.cosine)
        # Without terms the words have no say; with half a say they could only veto.
        score = (
            fused(similarity, self.lexical, self.parameters.fusion)
            if self.has_terms
            else similarity
        )
        for factor in self.boosts.values():
            score = score * factor
        return score

    def relevance(self, weights: Floats | float = 1.0) -> Relevance:
        """The relevance of each candidate for each part, P × U.

        weights: the factor of each part's scores, before these are cut at 1.
        """
        return Relevance(
            within_0_and_1(np.reshape(weights, (-1, 1)) * self._unweighted),
            self.lexical,
            self.cosines[0],
            self.boosts,
        )

    def ordering(self, relevant: Relevance, weights: Floats | float = 1.0) -> Floats:
        """The numbers that order candidates in place of the score, P × U.

        Two things are added to the score, which stays as it is. They decide which memory comes
        first, and not whether any memory answers.

        A turn is part of a conversation. The share of the query that a turn and the two turns on
        each side of it say, in words of any of them, adds `around_weight` of itself.

        Among long turns the cosine is added, too, since a long text has words about any subject.
        The cosine is scaled to the mean of the text's passages. The vector of a text of many
        passages is their mean at unit length, so its own cosine is higher than theirs; the
        difference grows with the differences among the passages. Where turns are short, as in chats
        between people, the cosine adds 0.

        Args:
            relevant: The relevance of the candidates, weighted.
            weights: The factor of each part's additions.

        """
        order, parameters = relevant.score, self.parameters
        weights = np.reshape(weights, (-1, 1))
        if parameters.around_weight and self.has_terms:
            order = order + weights * parameters.around_weight * self.around
        share = long_turns(self.statistics)
        if not share or not parameters.long_text_weight:
            return order
        similarity = relevant.similarity
        cosine = rescaled(
            np.where(np.isnan(similarity), parameters.fusion.cosine_low, similarity),
            parameters.fusion,
        )
        return order + weights * parameters.long_text_weight * share * passage_factor(
            self.candidates
        ) * np.maximum(cosine, 0.0)


def _factor(flags: Flags, amount: float) -> Floats | None:
    """Factors: 1 + amount where a flag is set, else 1; None for amount 0."""
    return np.where(flags, 1.0 + amount, 1.0) if amount else None

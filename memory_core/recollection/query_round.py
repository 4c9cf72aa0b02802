"""One round of a query: the candidates, and the scores of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from memory_core.domain.memory import Vector
from memory_core.domain.ranking.candidates import CandidateSet, Floats
from memory_core.domain.ranking.query import QueryAnalysis
from memory_core.domain.ranking.query_parts import PartsRelevance, QueryParts
from memory_core.domain.ranking.recipes import Scores
from memory_core.domain.ranking.relevance import Relevance
from memory_core.ports import Filter, Found

DECIMALS = 6
ROUNDED = 10.0**-DECIMALS


@dataclass(frozen=True, slots=True)
class QueryRound:
    """A single round of a query: the candidates and their numbers.

    Attributes:
        query_parts: The query, whole and by its sentences.
        vectors: A vector for each sentence of the query; empty without an embedder.
        where: The filter of the search.
        now: The time of the call.
        moment: The time that the query is about, in the caller's time zone.
        search_answer: The long-term store's answer, with the head and the statistics.
        candidates: The candidates of all stores.
        judged: The relevance of each candidate to each part of the query.
        scores: The recipe's scores, by relevance.
        order: The number that ranks each candidate, U: the recipe's score with
            `PartsRelevance.order` in the place of relevance, unless a reranker moved it.
        short_ids: Candidates that the short-term store has.
        cold_ids: Candidates from the archive.
        degraded: The parts of the service that the round did without.
        reranked: The reranker's score, by row.
        left_out: Memories that shall be no results, whatever their scores.

    """

    query_parts: QueryParts
    vectors: tuple[Vector, ...]
    where: Filter
    now: datetime
    moment: datetime
    search_answer: Found
    candidates: CandidateSet
    judged: PartsRelevance
    scores: Scores
    order: Floats
    short_ids: frozenset[str]
    cold_ids: frozenset[str]
    degraded: tuple[str, ...]
    reranked: Mapping[int, float] = field(default_factory=dict)
    left_out: frozenset[str] = frozenset()

    @property
    def analysis(self) -> QueryAnalysis:
        """The query as a whole; its terms are the candidates' columns."""
        return self.query_parts.whole

    @property
    def relevant(self) -> Relevance:
        """The relevance of each candidate, for the part of the query that it answers best."""
        return self.judged.best

    @property
    def is_search(self) -> bool:
        """Whether memories were compared with the query, by words or vectors."""
        return bool(self.vectors or self.analysis.terms)

    def has_all_terms(self, row: int) -> bool:
        """Whether a candidate says each term of the query itself."""
        own = self.candidates.own[row]
        return bool(own.size and own.all())

    @property
    def sequence(self) -> int:
        """The sequence of the last event that the round knows of."""
        return 0 if self.search_answer.head is None else self.search_answer.head.sequence

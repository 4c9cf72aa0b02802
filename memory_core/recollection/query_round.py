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
    """One round of a query: the candidates and what is known of each.

    vectors: of the message's sentences, none without an embedder.
    scores: the recipe's, by relevance. order: what ranks them, U; the recipe's with
        `PartsRelevance.order` in the place of relevance, unless a reranker moved them.
    reranked: by row, what the reranker gave it.
    left_out: memories that shall be no results, whatever their scores.
    everything: whether all facts answer, each for itself.
    now: of the call; moment: what the query is about, by the asker's clocks.
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
    everything: bool = False

    @property
    def analysis(self) -> QueryAnalysis:
        """The query as a whole; its terms are the candidates' columns."""
        return self.query_parts.whole

    @property
    def relevant(self) -> Relevance:
        """The relevance of each candidate, for the part of the query that it answers best."""
        return self.judged.best

    @property
    def sequence(self) -> int:
        """The log's last event that it knows of."""
        return 0 if self.search_answer.head is None else self.search_answer.head.sequence

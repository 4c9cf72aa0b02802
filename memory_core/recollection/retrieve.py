"""Retrieve, the fast way: one candidate set, one absolute relevance, one recipe, thresholds, the winners' documents.

No model but the embedder. Thresholds cut relevance before boosts: a query is answered when its best memory reaches the answer
threshold, and then everything down to the similarity threshold is returned.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from memory_core.domain.candidates import CandidateSet, Floats, from_memories, joined
from memory_core.domain.errors import EmbeddingMismatch, Unavailable
from memory_core.domain.lifecycle import FOUND_BY_DEFAULT
from memory_core.domain.models import Memory, Status, Vector
from memory_core.domain.query import QueryAnalysis, analyse_query
from memory_core.domain.relevance import Relevance, RelevanceParameters, relevance
from memory_core.domain.requests import RetrieveInput
from memory_core.domain.results import Hit, Retrieved
from memory_core.domain.scope import Owner
from memory_core.domain.scoring import Scores, ScoringParameters, score
from memory_core.evolution.versions import base_id
from memory_core.ledger.commit import as_memory
from memory_core.ports import Clock, Embedder, Filter, Found, LongTermStore, Search, ShortTermStore, Stamp
from memory_core.recollection.explain import explain_hit, explain_query
from memory_core.recollection.filters import shows, taken_back
from memory_core.recollection.working_set import WorkingSet

MIN_CANDIDATES = 50
CANDIDATES_PER_RESULT = 5


@dataclass(frozen=True, slots=True)
class RetrieveRules:
    """The numbers that retrieving goes by; thresholds are on the embedder's scale."""

    answer_threshold: float
    similarity_threshold: float
    score_threshold: float | None
    default_results: int
    relevance: RelevanceParameters
    scoring: ScoringParameters


class Retriever:
    """Answers queries for any owner. Reads never write the long term."""

    def __init__(self, store: LongTermStore, short_term: ShortTermStore, embedder: Embedder, clock: Clock, rules: RetrieveRules) -> None:
        self._store, self._short_term, self._embedder, self._clock, self._rules = store, short_term, embedder, clock, rules
        self._working_set = WorkingSet(store, short_term)

    async def retrieve(self, owner: Owner, query: RetrieveInput) -> Retrieved:
        """The best memories for a query, best first. Raises Unavailable when the long term is down, EmbeddingMismatch as it says."""
        now = self._clock.now()
        moment = query.at or now
        analysis = analyse_query(query.query, moment)
        where = _filter(query, now)
        (vector, degraded), recalled = await self._vector_and_working_set(owner, query)
        limit = max(MIN_CANDIDATES, CANDIDATES_PER_RESULT * self._limit(query))
        found = await self._store.search(owner, Search(vector, analysis.terms, limit, where))
        if self._short_term.degraded:
            degraded += ("short_term",)
        if found.head is None:
            return Retrieved((), 0, degraded, explain_query(analysis, found, found.candidates, query) if query.explain else None)
        candidates, short_ids = self._with_short_term(owner, query, found, recalled, analysis, vector, where)
        relevant = relevance(analysis, candidates, found.statistics, self._rules.relevance)
        scores = score(query.recipe, query.weights, relevant.score, candidates, moment.timestamp(), self._rules.scoring)
        rows = self._chosen(query, candidates, relevant, scores)
        hits = await self._hits(owner, query, candidates, relevant, scores, rows, short_ids, where)
        return Retrieved(hits, found.head.sequence, degraded, explain_query(analysis, found, candidates, query) if query.explain else None)

    async def _vector(self, text: str) -> tuple[Vector | None, tuple[str, ...]]:
        """The query's vector; without an embedder the words alone must do, and the answer says so."""
        try:
            return (await self._embedder.embed([text]))[0], ()
        except EmbeddingMismatch:
            raise
        except Unavailable:
            return None, ("embedder",)

    async def _vector_and_working_set(
        self, owner: Owner, query: RetrieveInput
    ) -> tuple[tuple[Vector | None, tuple[str, ...]], tuple[Stamp | None, list[Memory]]]:
        """Both together where both are wanted: a query over all sessions, or as of an earlier time, has no use for a working set."""
        if query.session_id is None or query.at is not None:
            return await self._vector(query.query), (None, [])
        return await asyncio.gather(self._vector(query.query), self._short_term.recall(owner, query.session_id, MIN_CANDIDATES))

    def _with_short_term(
        self,
        owner: Owner,
        query: RetrieveInput,
        found: Found,
        recalled: tuple[Stamp | None, list[Memory]],
        analysis: QueryAnalysis,
        vector: Vector | None,
        where: Filter,
    ) -> tuple[CandidateSet, frozenset[str]]:
        """The long term's candidates, and those of the session's working set where the head vouches for it."""
        stamp, entries = recalled
        if query.session_id is None or query.at is not None or found.head is None:
            return found.candidates, frozenset()
        if not self._working_set.good(stamp, found.head):
            self._working_set.rebuild_later(owner, query.session_id, stale=stamp is not None)
            return found.candidates, frozenset()
        entries = [memory for memory in entries if shows(where, memory)]
        short = from_memories(entries, analysis.terms, vector)
        short.lists = {"short": short.ids}
        return joined(found.candidates, short), frozenset(short.ids)

    def _chosen(self, query: RetrieveInput, candidates: CandidateSet, relevant: Relevance, scores: Scores) -> list[int]:
        """Rows over the thresholds, best first, one a cell and memory; empty when the best one does not reach the answer threshold."""
        answer, floor = query.answer_threshold, query.similarity_threshold
        if answer is None:
            answer = self._rules.answer_threshold if floor is None else floor
        if floor is None:
            floor = self._rules.similarity_threshold
        if not len(candidates) or float(relevant.score.max()) < answer:
            return []
        passing = relevant.score >= floor
        cut = self._rules.score_threshold if query.score_threshold is None else query.score_threshold
        if cut is not None:
            passing &= scores.score >= cut
        held = np.flatnonzero(passing)
        ranked = held[np.lexsort((-candidates.event_at[held], -relevant.score[held], -scores.score[held]))]
        best: dict[str, int] = {}
        for row in ranked.tolist():
            best.setdefault(candidates.cell[row] or base_id(candidates.ids[row]), row)
            if len(best) == self._limit(query):
                break
        return list(best.values())

    def _limit(self, query: RetrieveInput) -> int:
        return query.limit or self._rules.default_results

    async def _hits(
        self,
        owner: Owner,
        query: RetrieveInput,
        candidates: CandidateSet,
        relevant: Relevance,
        scores: Scores,
        rows: list[int],
        short_ids: frozenset[str],
        where: Filter,
    ) -> tuple[Hit, ...]:
        """The chosen rows with their documents, checked once more: nothing removed since the search, no version of what was removed."""
        memories = await self._documents(owner, candidates, rows)
        cells = _cells(candidates)
        hits: list[Hit] = []
        for row in rows:
            identity = candidates.ids[row]
            memory = memories.get(identity)
            if memory is None or not shows(where, memory):
                continue
            if "." in identity and taken_back(memories.get(base_id(identity))):
                continue
            lists = tuple(name for name, ids in candidates.lists.items() if identity in ids)
            hits.append(
                Hit(
                    rank=len(hits) + 1,
                    memory=memory.model_copy(update={"id": base_id(memory.id)}) if "." in memory.id else memory,
                    similarity_score=_number(candidates.cosine[row]),
                    lexical_score=round(float(relevant.lexical[row]), 6),
                    relevance_score=round(float(relevant.score[row]), 6),
                    recency_score=_at(scores.recency, row),
                    importance_score=round(float(scores.importance[row]), 6),
                    frequency_score=_at(scores.frequency, row),
                    confidence_score=_at(scores.confidence, row),
                    score=round(float(scores.score[row]), 6),
                    composite_score=round(float(scores.composite[row]), 6),
                    tier="short" if identity in short_ids else "long",
                    matched_by=lists,
                    also=tuple(other for other in cells.get(candidates.cell[row] or "", ()) if other != identity),
                    explain=explain_hit(row, candidates, relevant) if query.explain else None,
                )
            )
        return tuple(hits)

    async def _documents(self, owner: Owner, candidates: CandidateSet, rows: list[int]) -> dict[str, Memory]:
        chosen = [candidates.ids[row] for row in rows]
        wanted = [*chosen, *(base_id(identity) for identity in chosen if "." in identity)]
        missing = [identity for identity in wanted if identity not in candidates.memories]
        if not missing:
            return candidates.memories
        snapshot = await self._store.snapshot(owner, missing)
        read = {name: as_memory(document, snapshot.head) for name, document in snapshot.documents.items()}
        return {**candidates.memories, **{name: memory for name, memory in read.items() if memory is not None}}

    async def close(self) -> None:
        """Let rebuilds of working sets that are under way finish."""
        await self._working_set.close()


def _filter(query: RetrieveInput, now: datetime) -> Filter:
    statuses = FOUND_BY_DEFAULT | ({Status.DECAYED} if query.include_decayed else set())
    return Filter(
        statuses=frozenset(status.value for status in statuses),
        types=frozenset(kind.value for kind in query.types or ()),
        categories=frozenset(query.categories or ()),
        tags=frozenset(query.tags or ()),
        session_id=query.session_id,
        agent_id=query.agent_id,
        at=query.at,
        now=now,
    )


def _cells(candidates: CandidateSet) -> dict[str, list[str]]:
    cells: dict[str, list[str]] = {}
    for identity, cell in zip(candidates.ids, candidates.cell, strict=True):
        if cell is not None:
            cells.setdefault(cell, []).append(identity)
    return cells


def _number(value: float) -> float | None:
    return None if np.isnan(value) else round(float(value), 6)


def _at(column: Floats | None, row: int) -> float | None:
    return None if column is None else round(float(column[row]), 6)

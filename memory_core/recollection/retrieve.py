"""Retrieve, the fast way: one candidate set, one absolute relevance, one recipe, thresholds, the winners' documents.

No model but the embedder. Thresholds cut relevance before boosts: a query is answered when its best memory reaches the answer
threshold, and then everything down to the similarity threshold is returned.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from memory_core.domain.candidates import CandidateSet, from_memories, joined
from memory_core.domain.errors import EmbeddingMismatch, Unavailable
from memory_core.domain.lifecycle import FOUND_BY_DEFAULT
from memory_core.domain.models import Memory, Status, Vector
from memory_core.domain.query import QueryAnalysis, analyse_query
from memory_core.domain.related import Related
from memory_core.domain.relevance import Relevance, RelevanceParameters, relevance
from memory_core.domain.requests import RetrieveInput
from memory_core.domain.results import Retrieved
from memory_core.domain.scope import Owner
from memory_core.domain.scoring import Scores, ScoringParameters, score
from memory_core.domain.shown import Shown
from memory_core.domain.versions import base_id, is_of_its_life
from memory_core.ledger.touches import Touches
from memory_core.ports import Clock, Embedder, Filter, Found, LongTermStore, Search, ShortTermStore, Stamp, Thesaurus
from memory_core.recollection.cold import ColdSearch
from memory_core.recollection.explain import explain_query
from memory_core.recollection.filters import shows
from memory_core.recollection.hits import build_hits
from memory_core.recollection.present import present_first
from memory_core.recollection.stale import stale_facts
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

    def __init__(
        self,
        store: LongTermStore,
        short_term: ShortTermStore,
        cold: ColdSearch,
        embedder: Embedder,
        thesaurus: Thesaurus,
        touches: Touches,
        clock: Clock,
        rules: RetrieveRules,
    ) -> None:
        self._store, self._short_term, self._cold = store, short_term, cold
        self._embedder, self._thesaurus = embedder, thesaurus
        self._touches, self._clock, self._rules = touches, clock, rules
        self._working_set = WorkingSet(store, short_term)

    async def retrieve(self, owner: Owner, query: RetrieveInput) -> Retrieved:
        """The best memories for a query, best first. Raises Unavailable when the long term is down, EmbeddingMismatch as it says."""
        now = self._clock.now()
        moment = query.at or now
        analysis = analyse_query(query.query, moment)
        where = _filter(query, now)
        related = await self._thesaurus.related(analysis.terms)
        (vector, degraded), recalled = await self._vector_and_working_set(owner, query)
        limit = max(MIN_CANDIDATES, CANDIDATES_PER_RESULT * self._limit(query))
        found = await self._store.search(owner, Search(vector, analysis.terms, limit, where, related))
        if self._short_term.degraded:
            degraded += ("short_term",)
        if found.head is None:
            return Retrieved((), 0, degraded, explain_query(analysis, found, found.candidates, query) if query.explain else None)
        candidates, short_ids = self._with_short_term(owner, query, found, recalled, analysis, vector, where, related)
        cold_ids: frozenset[str] = frozenset()
        if query.include_archived:
            cold = await self._cold.find(owner, analysis.terms, vector, where, related)
            candidates, cold_ids, degraded = joined(candidates, cold.candidates), cold.ids, (*degraded, *cold.degraded)
        relevant = relevance(analysis, candidates, found.statistics, self._rules.relevance)
        scores = score(query.recipe, query.weights, relevant.score, candidates, moment.timestamp(), self._rules.scoring)
        rows = self._ranked(query, candidates, relevant, scores, self._limit(query))
        shown = await self._shown(owner, candidates, rows, where)
        stale = await stale_facts(self._store, owner, shown, moment)
        if stale:
            # A truth may come in from behind the limit, before the cell that told what it replaced.
            truths = {name: [one.current for one in fallen if one.current is not None] for name, fallen in stale.items()}
            ranked = self._ranked(query, candidates, relevant, scores, len(candidates))
            rows = present_first(ranked, truths, candidates, analysis.terms)[: len(rows)]
            fresh = await self._shown(owner, candidates, [row for row in rows if candidates.ids[row] not in shown], where)
            stale |= await stale_facts(self._store, owner, fresh, moment)
            shown = {name: one for row in rows if (one := fresh.get(name := candidates.ids[row]) or shown.get(name)) is not None}
        if query.at is None:
            self._touches.note(owner, shown, now)
        hits = build_hits(rows, shown, candidates, relevant, scores, short_ids, cold_ids, stale, explain=query.explain)
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
        related: Sequence[Related],
    ) -> tuple[CandidateSet, frozenset[str]]:
        """The long term's candidates, and those of the session's working set where the head vouches for it."""
        stamp, entries = recalled
        if query.session_id is None or query.at is not None or found.head is None:
            return found.candidates, frozenset()
        if not self._working_set.good(stamp, found.head):
            self._working_set.rebuild_later(owner, query.session_id, stale=stamp is not None)
            return found.candidates, frozenset()
        entries = [memory for memory in entries if shows(where, memory)]
        short = from_memories(entries, analysis.terms, vector, related=related)
        short.lists = {"short": short.ids}
        return joined(found.candidates, short), frozenset(short.ids)

    def _ranked(self, query: RetrieveInput, candidates: CandidateSet, relevant: Relevance, scores: Scores, limit: int) -> list[int]:
        """At most `limit` rows over the thresholds, best first, one a cell and memory; none when the best does not reach the answer's."""
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
        held = passing.nonzero()[0]
        ranked = held[np.lexsort((-candidates.event_at[held], -relevant.score[held], -scores.score[held]))]
        best: dict[str, int] = {}
        for row in ranked.tolist():
            best.setdefault(candidates.cell[row] or base_id(candidates.ids[row]), row)
            if len(best) == limit:
                break
        return list(best.values())

    def _limit(self, query: RetrieveInput) -> int:
        return query.limit or self._rules.default_results

    async def _shown(self, owner: Owner, candidates: CandidateSet, rows: list[int], where: Filter) -> dict[str, Shown]:
        """The chosen rows' memories, checked once more: nothing removed since the search, no version of what was removed."""
        chosen = [candidates.ids[row] for row in rows]
        at_hand = {name: Shown.of(candidates.memories[name]) for name in chosen if name in candidates.memories}
        missing = [name for name in chosen if name not in at_hand]
        shown = {**at_hand, **(await self._store.memories(owner, missing, where) if missing else {})}
        versions = [name for name in shown if name != base_id(name)]
        standing = await self._store.memories(owner, [base_id(name) for name in versions]) if versions else {}
        for name in versions:
            base, version = standing.get(base_id(name)), shown[name].memory
            if is_of_its_life(version, base.memory if base else None):
                shown[name] = Shown.of(version.model_copy(update={"id": base_id(name)}))
            else:
                del shown[name]
        return shown

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

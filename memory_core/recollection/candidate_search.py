"""One round of a query: find its candidates, and score each of them.

No model but the embedder, and the reranker where there is one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Any

import numpy as np

from memory_core.domain.fading import Fading
from memory_core.domain.fields import local
from memory_core.domain.memory import Head, Memory, Status, Vector
from memory_core.domain.ranking.candidates import (
    TURNS_THAT_LEND,
    CandidateSet,
    Floats,
    Related,
    from_memories,
    joined,
    without_lent_words,
)
from memory_core.domain.ranking.query import compound_words
from memory_core.domain.ranking.query_parts import (
    PartsRelevance,
    QueryParts,
    parts_relevance,
    query_parts_of,
)
from memory_core.domain.ranking.questions import asks_for_everything
from memory_core.domain.ranking.recipes import FADED_ORDER, Scores, ScoringParameters, score
from memory_core.domain.ranking.relevance import RelevanceParameters
from memory_core.domain.ranking.vectors import VectorKind
from memory_core.domain.requests.memories import RetrieveInput
from memory_core.domain.scope import Owner
from memory_core.domain.transitions import FOUND_BY_DEFAULT
from memory_core.ports import (
    Clock,
    Embedder,
    Filter,
    Found,
    LongTermStore,
    QuerySentence,
    Search,
    ShortTermStore,
    Stamp,
    Thesaurus,
)
from memory_core.recollection.candidate_sources import (
    EMBEDDER,
    ColdSearch,
    Dates,
    WorkingSet,
    Zones,
    asked_tokens,
    no_vectors,
    query_vectors,
)
from memory_core.recollection.earlier_questions import leave_questions_out, put_questions_behind
from memory_core.recollection.filters import shows
from memory_core.recollection.overview import Overview
from memory_core.recollection.passing_rows import PassingRows, episode_of
from memory_core.recollection.query_round import QueryRound
from memory_core.recollection.reorder import (
    MOST_RERANKED,
    RERANKER,
    Reranking,
    put_groups_behind,
    reassign_order,
)
from memory_core.recollection.row_memories import RowMemories

MIN_CANDIDATES = 50
CONTEXT_CANDIDATES = 200
"""The number of candidates for a context, which holds more than the best ten results.

With turns saved individually, 50 candidates for each list put .919 of LoCoMo's evidence into a
context of 2,000 tokens, and 100 put .929. With formed memories among the turns, 100 candidates
put .912 and 200 put .918.
"""
CANDIDATES_PER_RESULT = 5


@dataclass(frozen=True, slots=True)
class RetrieveRules:
    """The numbers of retrieval; the thresholds are on the embedder's scale.

    Attributes:
        answer_threshold: The relevance that an answer needs.
        similarity_threshold: The relevance that a further hit needs.
        score_threshold: The least score of a result; None for no such limit.
        default_results: How many results a query gets that does not say a number.
        finds_faded: Whether a query without `include_decayed` finds faded memories.
        fading: The rules by which memories fade.
        relevance: The parameters of relevance.
        scoring: The parameters of the recipes.

    """

    answer_threshold: float
    similarity_threshold: float
    score_threshold: float | None
    default_results: int
    finds_faded: bool
    fading: Fading
    relevance: RelevanceParameters
    scoring: ScoringParameters


class CandidateSearch:
    """Finds and scores the candidates of queries, for any owner."""

    def __init__(
        self,
        store: LongTermStore,
        short_term: ShortTermStore,
        cold: ColdSearch,
        embedder: Embedder,
        thesaurus: Thesaurus,
        clock: Clock,
        rules: RetrieveRules,
        passing: PassingRows,
        row_memories: RowMemories,
        reranking: Reranking | None = None,
    ) -> None:
        self._store, self._short_term, self._cold = store, short_term, cold
        self._embedder, self._thesaurus, self._clock = embedder, thesaurus, clock
        self._rules, self._passing, self._row_memories = rules, passing, row_memories
        self._reranking = reranking
        self._working_set, self._dates = WorkingSet(store, short_term), Dates(store)
        self._zones = Zones(store)
        self._overview = Overview(store, cold, passing, rules.scoring)

    async def look(
        self, owner: Owner, query: RetrieveInput, *, without: Collection[str] = ()
    ) -> QueryRound:
        """Score every candidate of a query in a single round.

        The order is the reranker's if there is a reranker.

        Args:
            owner: Whose memories are searched.
            query: The query with its filters, limits and thresholds.
            without: The embedder, the reranker or both, if an earlier round waited for them in
                vain. The round does without them and names them as degraded.

        Raises:
            Unavailable: The long-term store is down.
            EmbeddingMismatch: The embedder does not fit the stored vectors.

        """
        if not asks_for_everything(query.query):
            return await self._look(owner, query, without)
        now = self._clock.now()
        known = await self._overview.look(owner, query, self._bounds(query, now)[0], now)
        if len(known.candidates):
            return known
        look = await self._look(owner, query, without)
        return await leave_questions_out(owner, look, self._row_memories)

    async def _look(
        self, owner: Owner, query: RetrieveInput, without: Collection[str]
    ) -> QueryRound:
        """Score the candidates of a search."""
        now = self._clock.now()
        moment = query.at or now
        query_parts = query_parts_of(query.query, moment)
        where, limit = self._bounds(query, now)
        # The embedder first, so that it works while words are looked up.
        embedding = asyncio.ensure_future(
            self._vectors_and_working_set(owner, query, query_parts, EMBEDDER in without)
        )
        ((vectors, degraded), recalled), (related, moment) = await asyncio.gather(
            embedding,
            self._words_and_moment(
                owner, query, query_parts, moment, _search(query_parts, (), limit, where), embedding
            ),
        )
        if moment.tzinfo is not timezone.utc:
            query_parts = query_parts_of(query.query, moment)
        search = _search(query_parts, vectors, limit, where, related)
        query_parts, search_answer = await self._dates.search(owner, query_parts, search, moment)
        if self._short_term.degraded:
            degraded += ("short_term",)
        candidates, short_ids = self._with_short_term(owner, query, search_answer, recalled, search)
        candidates, cold_ids, cold_degraded = await self._with_archive(
            owner, query, search_answer.head, candidates, search
        )
        judged = await self._judge(query, query_parts, vectors, candidates, search_answer)
        look = QueryRound(
            query_parts,
            vectors,
            where,
            now,
            moment,
            search_answer,
            candidates,
            judged,
            self._scores(query, judged.best.score, candidates, moment),
            self._order(query, judged.order, candidates, moment),
            short_ids,
            cold_ids,
            (*degraded, *cold_degraded),
        )
        if RERANKER in without:
            return replace(look, degraded=(*look.degraded, RERANKER))
        if self._reranking is None:
            return await put_questions_behind(owner, query.query, look, self._row_memories)
        return await self._rerank(owner, query, look, self._reranking)

    async def _with_archive(
        self,
        owner: Owner,
        query: RetrieveInput,
        head: Head | None,
        candidates: CandidateSet,
        search: Search,
    ) -> tuple[CandidateSet, frozenset[str], tuple[str, ...]]:
        """The candidates with those of the archive where the query includes it.

        Args:
            owner: Whose archive is searched.
            query: It says whether the archive is included.
            head: None for an unknown owner.
            candidates: Those that were found already.
            search: As the store was asked.

        Returns:
            All candidates, the ids of the archived ones, and the dependencies that failed.

        """
        if not query.include_archived or head is None:
            return candidates, frozenset(), ()
        cold = await self._cold.find(owner, search)
        return joined(candidates, cold.candidates), cold.ids, tuple(cold.degraded)

    async def _judge(
        self,
        query: RetrieveInput,
        query_parts: QueryParts,
        vectors: tuple[Vector, ...],
        candidates: CandidateSet,
        search_answer: Found,
    ) -> PartsRelevance:
        """How relevant each candidate is to the parts of the query."""
        parameters = self._parameters(query)
        tokens = (
            await asked_tokens(self._embedder, query_parts.sentences)
            if vectors and parameters.learned
            else ()
        )
        return parts_relevance(
            query_parts, vectors, candidates, search_answer.statistics, parameters, tokens
        )

    def _scores(
        self, query: RetrieveInput, relevance: Floats, candidates: CandidateSet, moment: datetime
    ) -> Scores:
        """The scores of the query's recipe, from a relevance or an order of each candidate."""
        return score(
            query.recipe,
            query.weights,
            relevance,
            candidates,
            moment.timestamp(),
            self._rules.scoring,
        )

    def _bounds(self, query: RetrieveInput, now: datetime) -> tuple[Filter, int]:
        """The filter of a round, and how many candidates a list of it may have."""
        where = _filter(
            query, now, self._rules.fading, faded=self.finds_faded(query.include_decayed)
        )
        least = CONTEXT_CANDIDATES if query.mode == "reconstruct" else MIN_CANDIDATES
        return where, max(least, CANDIDATES_PER_RESULT * self._passing.limit(query))

    async def _words_and_moment(
        self,
        owner: Owner,
        query: RetrieveInput,
        query_parts: QueryParts,
        moment: datetime,
        search: Search,
        embedding: asyncio.Future[Any],
    ) -> tuple[tuple[Related, ...], datetime]:
        """Return the words near the query's terms, and the moment of the query.

        The moment is in the caller's time zone if a query names days or a context shows them. While
        the vectors are being made, the store prepares the search by its words. Raises Unavailable.
        """
        related = (
            *await self._thesaurus.related(search.terms),
            *compound_words(query.query, search.terms),
        )
        if not embedding.done():
            await self._store.prepare(owner, replace(search, related=related))
        if query.mode == "fast" and not any(
            part.analysis.names_a_time for part in query_parts.parts
        ):
            return related, moment
        return related, local(moment, await self._zones.of(owner, query.time_zone))

    def _parameters(self, query: RetrieveInput) -> RelevanceParameters:
        """Return the parameters of relevance for this query's mode.

        A context has room for more messages if turns count by the learned order's own numbers.
        Without a learned order, a context is ordered without the turns around, which it quotes
        anyway.
        """
        parameters = self._rules.relevance
        if query.mode == "fast":
            return parameters
        around = parameters.around_weight if parameters.learned else 0.0
        return replace(parameters, around_weight=around, between=False)

    def _order(
        self, query: RetrieveInput, order: Floats, candidates: CandidateSet, moment: datetime
    ) -> Floats:
        """Score the candidates with their order in the place of relevance.

        A faded candidate gets a little less (`FADED_ORDER`).
        """
        ranks = self._scores(query, order, candidates, moment).score
        return (
            ranks
            if candidates.faded is None
            else np.where(candidates.faded, FADED_ORDER * ranks, ranks)
        )

    @property
    def fading(self) -> Fading:
        """The rules by which memories fade."""
        return self._rules.fading

    def finds_faded(self, asked: bool | None) -> bool:
        """Whether a query finds faded memories: as the query says, else as the settings say."""
        return self._rules.finds_faded if asked is None else asked

    async def _rerank(
        self, owner: Owner, query: RetrieveInput, look: QueryRound, reranking: Reranking
    ) -> QueryRound:
        """Return the round in the reranker's order.

        If the reranker does not answer in time, the order stays and `degraded` names the reranker.
        """
        rows = self._passing.ranked(query, look, MOST_RERANKED)
        documents = await self._row_memories.read_memories(owner, look, rows)
        rows = [row for row in rows if look.candidates.ids[row] in documents]
        texts = [documents[look.candidates.ids[row]].memory.content for row in rows]
        scored = await reranking.scores(owner, query.query, texts)
        if scored is None:
            return replace(look, degraded=(*look.degraded, RERANKER))
        order = reassign_order(look.order, rows, scored)
        episodes = [episode_of(look, row) for row in range(len(look.candidates))]
        return replace(
            look,
            order=put_groups_behind(order, rows, episodes),
            reranked=dict(zip(rows, scored, strict=True)),
        )

    async def _vectors_and_working_set(
        self, owner: Owner, query: RetrieveInput, query_parts: QueryParts, by_words: bool
    ) -> tuple[tuple[tuple[Vector, ...], tuple[str, ...]], tuple[Stamp | None, list[Memory]]]:
        """Fetch the query's vectors and the session's working set at the same time.

        A query over all sessions or as of an earlier time needs no working set.
        """
        vectors = no_vectors() if by_words else query_vectors(self._embedder, query_parts.sentences)
        if query.session_id is None or query.at is not None:
            return await vectors, (None, [])
        return await asyncio.gather(
            vectors, self._short_term.recall(owner, query.session_id, MIN_CANDIDATES)
        )

    def _with_short_term(
        self,
        owner: Owner,
        query: RetrieveInput,
        search_answer: Found,
        recalled: tuple[Stamp | None, list[Memory]],
        search: Search,
    ) -> tuple[CandidateSet, frozenset[str]]:
        """Join the long-term candidates with those of the session's working set.

        The working set takes part only if the head confirms that it is valid.
        """
        stamp, entries = recalled
        if query.session_id is None or query.at is not None or search_answer.head is None:
            return search_answer.candidates, frozenset()
        if not self._working_set.good(stamp, search_answer.head):
            self._working_set.rebuild_later(owner, query.session_id, stale=stamp is not None)
            return search_answer.candidates, frozenset()
        alone = (
            _after_hidden(entries)
            if search_answer.head.counts.get(Status.DELETED.value)
            else frozenset()
        )
        entries = [self._comparable(memory) for memory in entries if shows(search.where, memory)]
        short = from_memories(
            entries,
            search.terms,
            search.compared,
            related=search.related,
            faded=search.where.has_faded,
        )
        short = without_lent_words(short, alone) if alone else short
        short.lists = {"short": short.ids}
        return joined(search_answer.candidates, short), frozenset(short.ids)

    def _comparable(self, memory: Memory) -> Memory:
        """Return a memory of the working set without a vector that another embedder made."""
        kind = VectorKind(self._embedder.model, self._embedder.dimensions)
        if memory.embedding is None or kind.fits(
            {"embedding_model": memory.embedding_model}, len(memory.embedding)
        ):
            return memory
        return memory.changed(embedding=None)

    async def close(self) -> None:
        """Wait for the rebuilds of working sets that are under way."""
        await self._working_set.close()


def _after_hidden(entries: Sequence[Memory]) -> frozenset[str]:
    """Return turns of a working set whose lent words may be a deleted turn's.

    These are the turns with a preceding turn that is missing from the set.
    """
    turns = {
        memory.id: memory.lexical.turn for memory in entries if memory.lexical.turn is not None
    }
    turn_numbers = frozenset(turns.values())
    return frozenset(
        name
        for name, turn in turns.items()
        if not turn_numbers.issuperset(range(max(turn - TURNS_THAT_LEND, 0), turn))
    )


def _search(
    query_parts: QueryParts,
    vectors: Sequence[Vector],
    limit: int,
    where: Filter,
    related: tuple[Related, ...] = (),
) -> Search:
    """Build a single search for all parts of the query."""
    terms = query_parts.whole.terms
    if query_parts.is_plain:
        return Search(vectors[0] if vectors else None, terms, limit, where, related)
    each = vectors or (None,) * len(query_parts.sentences)
    return Search(
        None,
        terms,
        limit,
        where,
        related,
        tuple(
            QuerySentence(vector, columns)
            for vector, columns in zip(each, query_parts.columns, strict=True)
        ),
    )


def _filter(query: RetrieveInput, now: datetime, fading: Fading, *, faded: bool) -> Filter:
    statuses = FOUND_BY_DEFAULT | ({Status.DECAYED} if faded else set())
    return Filter(
        statuses=frozenset(status.value for status in statuses),
        types=frozenset(kind.value for kind in query.types or ()),
        categories=frozenset(query.categories or ()),
        tags=frozenset(query.tags or ()),
        session_id=query.session_id,
        without_session_id=query.exclude_session_id,
        agent_id=query.agent_id,
        at=query.at,
        now=now,
        fading=fading,
        metadata=query.metadata or (),
    )

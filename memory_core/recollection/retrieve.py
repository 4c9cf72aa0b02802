"""Retrieve, the fast way: one candidate set, one absolute relevance, one recipe, thresholds,
the winners' documents.

No model but the embedder. What passes is in `passing_rows`, in which order it comes in `reorder`,
what a result looks like in `results`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import partial
from typing import Any

import numpy as np

from memory_core.domain.event_log import base_id, is_of_its_life
from memory_core.domain.fading import Fading
from memory_core.domain.fields import local
from memory_core.domain.memory import FOUND_BY_DEFAULT, Memory, MemoryType, Status, Vector
from memory_core.domain.messages import is_message
from memory_core.domain.ranking.candidates import (
    TURNS_THAT_LEND,
    CandidateSet,
    Floats,
    Related,
    from_memories,
    joined,
    without_lent_words,
)
from memory_core.domain.ranking.query import asks_for_everything, compound_words
from memory_core.domain.ranking.query_parts import (
    PartsRelevance,
    QueryParts,
    parts_relevance,
    query_parts_of,
)
from memory_core.domain.ranking.recipes import FADED_ORDER, ScoringParameters, score
from memory_core.domain.ranking.relevance import RelevanceParameters
from memory_core.domain.ranking.vectors import VectorKind
from memory_core.domain.requests.memories import RetrieveInput
from memory_core.domain.results import Passage, Retrieved, SerializedMemory
from memory_core.domain.scope import Owner
from memory_core.domain.statements.change_messages import read
from memory_core.ledger.access_counts import Touches
from memory_core.ledger.ids import note_id
from memory_core.ledger.readable import memories_of, readable_shown
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
from memory_core.recollection.passing_rows import PassingRows, episode_of
from memory_core.recollection.quotations import Untold, is_silenced, said_by, speaker
from memory_core.recollection.read import shows
from memory_core.recollection.reorder import (
    LEAST_SHARE,
    MOST_BEHIND,
    MOST_RERANKED,
    RERANKER,
    Reranking,
    SaidStatement,
    Sources,
    asks_how_it_is,
    put_groups_behind,
    put_present_truths_first,
    put_repeats_behind,
    put_sources_first,
    put_updates_first,
    reassign_order,
    sources_of,
)
from memory_core.recollection.results import (
    MOST_PASSAGES,
    QueryRound,
    build_hits,
    explain_miss,
    explain_query,
    long_rows,
    message_rows,
    part_of_text,
    passages,
    told_rows,
)
from memory_core.recollection.superseded import superseded_facts

MIN_CANDIDATES = 50
CONTEXT_CANDIDATES = 200
"""A context of 2,000 tokens holds more than the best ten: of turns saved one by one 50 a list put
.919 of LoCoMo's evidence into it and 100 put .929; told, with what was formed among them,
100 .912 and 200 .918.
"""
CANDIDATES_PER_RESULT = 5
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RetrieveRules:
    """The numbers that retrieving goes by; thresholds are on the embedder's scale.

    finds_faded: whether a query that does not say so finds what has faded.
    """

    answer_threshold: float
    similarity_threshold: float
    score_threshold: float | None
    default_results: int
    finds_faded: bool
    fading: Fading
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
        reranking: Reranking | None = None,
    ) -> None:
        self._store, self._short_term, self._cold, self._reranking = (
            store,
            short_term,
            cold,
            reranking,
        )
        self._embedder, self._thesaurus = embedder, thesaurus
        self._touches, self._clock, self._rules = touches, clock, rules
        self._working_set, self._dates, self._zones = (
            WorkingSet(store, short_term),
            Dates(store),
            Zones(store),
        )
        self._untold = Untold(store)
        self.passing = PassingRows(
            rules.answer_threshold,
            rules.similarity_threshold,
            rules.score_threshold,
            rules.default_results,
        )

    async def retrieve(self, owner: Owner, query: RetrieveInput) -> Retrieved:
        """The best memories for a query, best first. Raises Unavailable when the long term is down,
        EmbeddingMismatch as it says.
        """
        return await self.answer(owner, query, await self.look(owner, query))

    async def look(
        self, owner: Owner, query: RetrieveInput, *, without: Collection[str] = ()
    ) -> QueryRound:
        """One round: every candidate of a query with all its numbers, in the reranker's order if
        there is one. Raises as `retrieve`.

        without: the embedder, the reranker or both, which a round before waited for in vain; the
        look is degraded by them, too.
        """
        if query.types is None and asks_for_everything(query.query):
            look = await self._look(owner, query, without, everything=True)
            if len(look.candidates):
                return look
        return await self._look(owner, query, without)

    async def _look(
        self,
        owner: Owner,
        query: RetrieveInput,
        without: Collection[str],
        *,
        everything: bool = False,
    ) -> QueryRound:
        """One round. everything: whether all facts answer, whatever they say; then nothing
        else is found.
        """
        now = self._clock.now()
        moment = query.at or now
        query_parts = query_parts_of(query.query, moment)
        where = _filter(
            query, now, self._rules.fading, faded=self.finds_faded(query.include_decayed)
        )
        if everything:
            where = replace(where, types=frozenset({MemoryType.SEMANTIC.value}))
        least = CONTEXT_CANDIDATES if query.mode == "reconstruct" else MIN_CANDIDATES
        limit = max(least, CANDIDATES_PER_RESULT * self.passing.limit(query))
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
        cold_ids: frozenset[str] = frozenset()
        if query.include_archived and search_answer.head is not None:
            cold = await self._cold.find(owner, search)
            candidates, cold_ids, degraded = (
                joined(candidates, cold.candidates),
                cold.ids,
                (*degraded, *cold.degraded),
            )
        parameters = self._parameters(query)
        tokens = (
            await asked_tokens(self._embedder, query_parts.sentences)
            if vectors and parameters.learned
            else ()
        )
        judged = parts_relevance(
            query_parts, vectors, candidates, search_answer.statistics, parameters, tokens
        )
        notes: frozenset[str] = frozenset()
        if everything:
            judged = _at_least(judged, self.passing.thresholds(query)[0])
            notes = frozenset(
                name
                for name, cell in zip(candidates.ids, candidates.cell, strict=True)
                if cell and name == note_id(cell)
            )
        relevant = judged.best
        scores = score(
            query.recipe,
            query.weights,
            relevant.score,
            candidates,
            moment.timestamp(),
            self._rules.scoring,
        )
        order = self._order(query, judged.order, candidates, moment)
        look = QueryRound(
            query_parts,
            vectors,
            where,
            now,
            moment,
            search_answer,
            candidates,
            judged,
            scores,
            order,
            short_ids,
            cold_ids,
            degraded,
            left_out=notes,
            everything=everything,
        )
        if RERANKER in without:
            return replace(look, degraded=(*look.degraded, RERANKER))
        return (
            look
            if self._reranking is None
            else await self._rerank(owner, query, look, self._reranking)
        )

    async def _words_and_moment(
        self,
        owner: Owner,
        query: RetrieveInput,
        query_parts: QueryParts,
        moment: datetime,
        search: Search,
        embedding: asyncio.Future[Any],
    ) -> tuple[tuple[Related, ...], datetime]:
        """The words near the query's terms, and the moment asked for by the asker's clocks, where
        days are named or shown: a query names them, or a context shows them. Raises Unavailable.

        As long as vectors are being made, the store prepares the search by its words.
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
        """Those of relevance. A context has room for more of what was said where turns count by the
        learned order's own numbers; where none was learned, it is ordered without the turns around,
        which it quotes anyway.
        """
        parameters = self._rules.relevance
        if query.mode == "fast":
            return parameters
        around = parameters.around_weight if parameters.learned else 0.0
        return replace(parameters, around_weight=around, between=False)

    def _order(
        self, query: RetrieveInput, order: Floats, candidates: CandidateSet, moment: datetime
    ) -> Floats:
        """The recipe's scores with the order in the place of relevance; of what has faded a
        little less.
        """
        ranks = score(
            query.recipe, query.weights, order, candidates, moment.timestamp(), self._rules.scoring
        ).score
        return (
            ranks
            if candidates.faded is None
            else np.where(candidates.faded, FADED_ORDER * ranks, ranks)
        )

    @property
    def fading(self) -> Fading:
        """By which rules memories fade."""
        return self._rules.fading

    def finds_faded(self, asked: bool | None) -> bool:
        """Whether a query finds what has faded: as it says itself, else as the settings say."""
        return self._rules.finds_faded if asked is None else asked

    async def answer(self, owner: Owner, query: RetrieveInput, look: QueryRound) -> Retrieved:
        """The results of a look. Raises Unavailable."""
        candidates, moment = look.candidates, look.moment
        ranked, documents = await self._rank_without_repeats(owner, query, look)
        rows = ranked[: self.passing.limit(query)]
        at_hand, head = candidates.memories, look.search_answer.head
        superseded = await superseded_facts(self._store, owner, documents, moment, at_hand, head)
        sources = await sources_of(self._store, owner, documents, at_hand, head)
        if superseded.stale or sources:
            # A truth may come in from behind the limit, before the cell that told what it replaced;
            # so may what was said.
            truths = {
                name: [fact.current for fact in fallen if fact.current is not None]
                for name, fallen in superseded.stale.items()
            }
            first = set(ranked)
            ranked += [row for row in self.passing.ranked(query, look, None) if row not in first]
            ranked = put_sources_first(ranked, sources, candidates, look.relevant.score)
            rows = put_present_truths_first(
                ranked, truths, candidates, look.analysis.terms, query.query
            )[: len(rows)]
            fresh = await self.read_memories(
                owner,
                look,
                [row for row in rows if candidates.ids[row] not in documents],
                by_cells=True,
            )
            superseded |= await superseded_facts(self._store, owner, fresh, moment, at_hand, head)
            documents = {
                name: document
                for row in rows
                if (document := fresh.get(name := candidates.ids[row]) or documents.get(name))
                is not None
            }
        if query.at is None:
            cells = {
                row: cell
                for row in rows
                if is_message(candidates.ids[row]) and (cell := candidates.cell[row]) is not None
            }
            dim = [row for row in rows if candidates.faded is not None and candidates.faded[row]]
            faded = [
                name
                for row in dim
                for name in (candidates.ids[row], cells.get(row))
                if name is not None
            ]
            self.note_accesses(owner, [*documents, *cells.values()], look.now, faded)
        quoted = await self._passages(owner, query, look, rows, documents, sources)
        checked = frozenset(documents)
        rows, documents, quoted = await self._put_updates_first(
            owner, query, look, (rows, documents, quoted)
        )
        late = {name: document for name, document in documents.items() if name not in checked}
        superseded |= await superseded_facts(self._store, owner, late, moment, at_hand, head)
        documents = {name: superseded.unnamed(document) for name, document in documents.items()}
        hits = build_hits(rows, documents, look, superseded.stale, quoted, explain=query.explain)
        explanation = explain_query(look, query) if query.explain else None
        if explanation is not None and not hits:
            explanation["nearest"] = await self._explain_nearest(owner, query, look)
        return Retrieved(
            hits,
            look.sequence,
            look.degraded,
            explanation,
            nearest=None if hits else self.passing.nearest(query, look),
        )

    async def _put_updates_first(
        self, owner: Owner, query: RetrieveInput, look: QueryRound, chosen: Chosen
    ) -> Chosen:
        """The results with what was said later before what it updates, where the query asks how
        something is; that costs a read.
        """
        rows, documents, quoted = chosen
        if query.at is not None or not rows or not asks_how_it_is(query.query):
            return chosen
        statements = [
            statement for row in rows for statement in _statements(row, look, documents, quoted)
        ]
        if not any(read(statement.text).numbered for statement in statements):
            return chosen
        behind = _behind(look, {statement.row for statement in statements} | {*rows})
        names = [look.candidates.ids[row] for row in behind]
        memories_behind = await memories_of(
            self._store, owner, names, look.candidates.memories, look.search_answer.head, look.where
        )
        by_cell = {cell: row for row in rows if (cell := look.candidates.cell[row]) is not None}
        for row in behind:
            if (memory := memories_behind.get(look.candidates.ids[row])) is not None:
                cell = look.candidates.cell[row]
                # of a cell that is no result its best row stands for all
                result = row if cell is None else by_cell.setdefault(cell, row)
                relevance = float(look.relevant.score[row])
                statements.append(
                    SaidStatement(
                        row,
                        result,
                        memory.content,
                        said_by(memory),
                        memory.event_timestamp,
                        relevance,
                    )
                )
        ordered, leading = await asyncio.to_thread(
            put_updates_first, rows, statements, query.query, look.analysis.terms
        )
        if not leading:
            return chosen
        documents |= await self.read_memories(
            owner, look, [row for row in ordered if row not in rows], by_cells=True
        )
        documents = {
            name: documents[name]
            for row in ordered
            if (name := look.candidates.ids[row]) in documents
        }
        for row, lead in leading.items():
            if (
                memory := memories_behind.get(look.candidates.ids[lead])
            ) is not None and is_message(memory.id):
                leading_passage = passages(look, [lead], {memory.id: memory}, look.analysis.terms)
                following = (
                    passage for passage in quoted.get(row, ()) if passage.message != memory.id
                )
                quoted[row] = (*leading_passage, *following)[:MOST_PASSAGES]
            elif (others := quoted.get(row)) is not None:
                quoted[row] = tuple(
                    sorted(others, key=lambda passage: passage.message != look.candidates.ids[lead])
                )
        return ordered, documents, quoted

    def note_accesses(
        self, owner: Owner, memory_ids: Sequence[str], at: datetime, faded: Collection[str]
    ) -> None:
        """Note that these memories were found and shown. faded: those of them that
        count as faded.
        """
        self._touches.note(owner, dict.fromkeys(memory_ids), at, frozenset(faded))

    async def _passages(
        self,
        owner: Owner,
        query: RetrieveInput,
        look: QueryRound,
        rows: Sequence[int],
        documents: Mapping[str, SerializedMemory],
        sources: Sources,
    ) -> dict[int, tuple[Passage, ...]]:
        """By row, what was said of it: the messages of its cell that matched, or the part of a long
        text that did; of what was made of several others, those of them.
        """
        groups = message_rows(look, rows, self.passing.thresholds(query)[1])
        groups |= told_rows(look, rows, self.passing.thresholds(query)[1], sources)
        names = [look.candidates.ids[row] for group in groups.values() for row in group]
        read = await memories_of(
            self._store, owner, names, look.candidates.memories, look.search_answer.head
        )
        quotations = {
            row: passages(look, group, read, look.analysis.terms) for row, group in groups.items()
        }
        long = {
            row: look.candidates.ids[row]
            for row in long_rows(look, rows)
            if not quotations.get(row)
        }
        texts, _ = readable_shown(
            {name: documents[name] for name in long.values() if name in documents}
        )
        parts = {
            row: part_of_text(look, row, texts[name], look.analysis.terms)
            for row, name in long.items()
            if name in texts
        }
        return quotations | parts

    async def _rank_without_repeats(
        self, owner: Owner, query: RetrieveInput, look: QueryRound
    ) -> tuple[list[int], dict[str, SerializedMemory]]:
        """The best rows over the thresholds, repeats of a better one behind; and the memories of
        those that may be results.
        """
        limit = self.passing.limit(query)

        async def read(rows: Sequence[int]) -> dict[int, SerializedMemory]:
            documents = await self.read_memories(owner, look, rows, by_cells=True)
            return {
                row: document
                for row in rows
                if (document := documents.get(look.candidates.ids[row])) is not None
            }

        rank = partial(self.passing.ranked, query, look)
        ranked, documents = await put_repeats_behind(rank, limit, read)
        return ranked, {
            look.candidates.ids[row]: documents[row] for row in ranked[:limit] if row in documents
        }

    async def _rerank(
        self, owner: Owner, query: RetrieveInput, look: QueryRound, reranking: Reranking
    ) -> QueryRound:
        """The look in the reranker's order; as it was, and saying so, where that does not
        answer in time.
        """
        rows = self.passing.ranked(query, look, MOST_RERANKED)
        documents = await self.read_memories(owner, look, rows)
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
        """Both together where both are wanted: a query over all sessions, or as of an earlier time,
        has no use for a working set.
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
        """The long term's candidates, and those of the session's working set where the head
        vouches for it.
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
        """A memory of the working set, without a vector that another embedder made."""
        kind = VectorKind(self._embedder.model, self._embedder.dimensions)
        if memory.embedding is None or kind.fits(
            {"embedding_model": memory.embedding_model}, len(memory.embedding)
        ):
            return memory
        return memory.changed(embedding=None)

    async def _explain_nearest(
        self, owner: Owner, query: RetrieveInput, look: QueryRound
    ) -> dict[str, Any] | None:
        """The nearest candidate with what it lacked; None without a candidate, or where it was
        removed since. Raises Unavailable.
        """
        row = self.passing.nearest_row(query, look)
        memories, _ = readable_shown(
            {} if row is None else await self.read_memories(owner, look, [row], by_cells=True)
        )
        memory = None if row is None else memories.get(look.candidates.ids[row])
        return (
            None
            if row is None or memory is None
            else explain_miss(row, look, memory, max(self.passing.needed(query, look)))
        )

    async def read_memories(
        self, owner: Owner, look: QueryRound, rows: Sequence[int], *, by_cells: bool = False
    ) -> dict[str, SerializedMemory]:
        """The chosen rows' memories, checked once more: nothing removed since the search,
        no version of what was removed.

        by_cells: a message is shown by the cell that it belongs to, where that is there.
        """
        candidates = look.candidates
        chosen = [candidates.ids[row] for row in rows]
        at_hand = {
            name: SerializedMemory.of(candidates.memories[name])
            for name in chosen
            if name in candidates.memories
        }
        silenced = await self._untold.of_cells(
            owner, look.search_answer.head, (candidates.cell[row] for row in rows)
        )
        messages = (
            [
                row
                for row in rows
                if is_message(candidates.ids[row]) and candidates.cell[row] not in silenced
            ]
            if by_cells
            else []
        )
        cells = {
            candidates.ids[row]: cell
            for row in messages
            if (cell := candidates.cell[row]) is not None
        }
        missing = [*(name for name in chosen if name not in cells), *dict.fromkeys(cells.values())]
        documents = at_hand | await self._read_intact(
            owner, [name for name in missing if name not in at_hand], look
        )
        alone = [
            name for name, cell in cells.items() if cell not in documents and name not in at_hand
        ]
        documents |= await self._read_intact(owner, alone, look)
        documents |= {name: documents[cell] for name, cell in cells.items() if cell in documents}
        documents = {
            name: documents[name]
            for name in chosen
            if name in documents
            and not (silenced and is_silenced(documents[name].memory, silenced))
        }
        versions = [name for name in documents if name != base_id(name)]
        standing = (
            await self._store.memories(owner, [base_id(name) for name in versions])
            if versions
            else {}
        )
        for name in versions:
            base, version = standing.get(base_id(name)), documents[name].memory
            if is_of_its_life(version, base.memory if base else None):
                documents[name] = SerializedMemory.of(version.shown_as(base_id(name)))
            else:
                del documents[name]
        return documents

    async def _read_intact(
        self, owner: Owner, names: Sequence[str], look: QueryRound
    ) -> dict[str, SerializedMemory]:
        """Those of the memories that the look's filter lets through and that can be read.
        Raises Unavailable.
        """
        read = (
            await self._store.memories(owner, names, look.where, seen=look.search_answer.head)
            if names
            else {}
        )
        if damaged := [name for name, document in read.items() if not document.is_json]:
            log.error(
                "a search leaves out the memories %s: what is stored of them can't be read",
                ", ".join(damaged),
            )
        return {name: document for name, document in read.items() if name not in damaged}

    async def close(self) -> None:
        """Let rebuilds of working sets that are under way finish."""
        await self._working_set.close()


Chosen = tuple[list[int], dict[str, SerializedMemory], dict[int, tuple[Passage, ...]]]
"""The rows of the results, their memories, and the passages of each."""


def _statements(
    row: int,
    look: QueryRound,
    documents: Mapping[str, SerializedMemory],
    quoted: Mapping[int, Sequence[Passage]],
) -> list[SaidStatement]:
    """What a result contains: its passages, or its own text."""
    if quoted.get(row):
        places = {name: place for place, name in enumerate(look.candidates.ids)}
        parts = [
            (places.get(passage.message, row), passage.text, speaker(passage.actor), passage.at)
            for passage in quoted[row]
        ]
        relevance = look.relevant.score
        return [
            SaidStatement(place, row, text, by, at, float(relevance[place]), leads=number == 0)
            for number, (place, text, by, at) in enumerate(parts)
        ]
    document = documents.get(look.candidates.ids[row])
    if document is None:
        return []
    memory = document.memory
    return [
        SaidStatement(
            row,
            row,
            memory.content,
            said_by(memory),
            memory.event_timestamp,
            float(look.relevant.score[row]),
            leads=True,
        )
    ]


def _behind(look: QueryRound, known: Collection[int]) -> list[int]:
    """The rows of what was said and is no result, best first, as far as they come near
    to the best.
    """
    relevance, candidates = look.relevant.score, look.candidates
    least = LEAST_SHARE * float(relevance.max())
    near_rows = [
        row
        for row in np.argsort(-relevance)[: 4 * MOST_BEHIND].tolist()
        if relevance[row] >= least and row not in known
    ]
    statement_rows = [
        row for row in near_rows if is_message(candidates.ids[row]) or candidates.cell[row] is None
    ]
    return [row for row in statement_rows if candidates.ids[row] not in look.left_out][:MOST_BEHIND]


def _after_hidden(entries: Sequence[Memory]) -> frozenset[str]:
    """The turns of a working set whose lent words may be of a deleted turn: one of those before is
    not in the set.
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


def _at_least(judged: PartsRelevance, relevance: float) -> PartsRelevance:
    """The verdict with no candidate's relevance below this."""
    return replace(
        judged, best=replace(judged.best, score=np.maximum(judged.best.score, relevance))
    )


def _search(
    query_parts: QueryParts,
    vectors: Sequence[Vector],
    limit: int,
    where: Filter,
    related: tuple[Related, ...] = (),
) -> Search:
    """One search for all that is asked for."""
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

"""Answer a query with its best memories, the fast way.

By a single candidate set, relevance and recipe, then thresholds, then the winners' documents.
Candidates and scores are in `candidate_search`, thresholds in `passing_rows`, the order of results
in `reorder`, their form in `results`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from memory_core.domain.messages import is_message
from memory_core.domain.ranking.acknowledgements import only_acknowledges
from memory_core.domain.requests.memories import RetrieveInput
from memory_core.domain.results import Passage, Retrieved
from memory_core.domain.scope import Owner
from memory_core.domain.serialized_memory import SerializedMemory
from memory_core.ledger.access_counts import AccessCounts
from memory_core.ledger.readable import readable_shown
from memory_core.ports import Clock, Embedder, LongTermStore, ShortTermStore, Thesaurus
from memory_core.recollection.candidate_search import CandidateSearch, RetrieveRules
from memory_core.recollection.candidate_sources import ColdSearch
from memory_core.recollection.disputes import with_disputes
from memory_core.recollection.explain import explain_miss, explain_query
from memory_core.recollection.passages import (
    long_rows,
    message_rows,
    part_of_text,
    passages,
    told_rows,
)
from memory_core.recollection.passing_rows import PassingRows
from memory_core.recollection.query_round import QueryRound
from memory_core.recollection.quotations import says_nothing
from memory_core.recollection.reorder import (
    Reranking,
    Sources,
    asks_of_the_future,
    begins_later,
    put_present_before_announced,
    put_present_truths_first,
    put_repeats_behind,
    put_sources_first,
    sources_of,
)
from memory_core.recollection.result_marks import (
    Beside,
    ResultMarks,
    find_beside,
    result_marks,
    results_of_talk,
)
from memory_core.recollection.results import build_hits
from memory_core.recollection.row_memories import RowMemories
from memory_core.recollection.superseded_facts import SupersededFacts, find_superseded_facts
from memory_core.recollection.told_updates import told_updates_first
from memory_core.recollection.untold import Untold, has_deleted
from memory_core.recollection.updates import MOST_BEHIND

MOST_RANKED_AGAIN = 3
"""Times that rows are ranked again without those that tell a deleted fact."""


class Retriever:
    """Answers queries for any owner.

    Reads never write the long-term store.
    """

    def __init__(
        self,
        store: LongTermStore,
        short_term: ShortTermStore,
        cold: ColdSearch,
        embedder: Embedder,
        thesaurus: Thesaurus,
        access_counts: AccessCounts,
        clock: Clock,
        rules: RetrieveRules,
        reranking: Reranking | None = None,
    ) -> None:
        self._store, self._access_counts, self._untold = store, access_counts, Untold(store)
        self.row_memories = RowMemories(store)
        self.passing = PassingRows(
            rules.answer_threshold,
            rules.similarity_threshold,
            rules.score_threshold,
            rules.default_results,
        )
        self.candidates = CandidateSearch(
            store,
            short_term,
            cold,
            embedder,
            thesaurus,
            clock,
            rules,
            self.passing,
            self.row_memories,
            reranking,
        )

    async def retrieve(self, owner: Owner, query: RetrieveInput) -> Retrieved:
        """Retrieve the best memories for a query, best first.

        Args:
            owner: Whose memories are searched.
            query: The query with its filters, limits and thresholds.

        Raises:
            Unavailable: The long-term store is down.
            EmbeddingMismatch: The embedder does not fit the stored vectors.

        """
        return await self.answer(owner, query, await self.candidates.look(owner, query))

    async def answer(self, owner: Owner, query: RetrieveInput, look: QueryRound) -> Retrieved:
        """Turn a round into results.

        Args:
            owner: Whose memories are read.
            query: The query of the round.
            look: The round with its candidates and their scores.

        Raises:
            Unavailable: The long-term store is down.

        """
        look, ranked, best = await self._rank_what_may_be_told(owner, query, look)
        superseded = await self._superseded_facts(owner, look, best)
        sources = await sources_of(self.row_memories, owner, look, best)
        rows, documents = await self._put_truths_first(
            owner, query, look, ranked, best, superseded, sources
        )
        rows, documents = await self._put_present_first(owner, query, look, rows, documents)
        rows, documents = await self._tell_disputes(owner, query, look, rows, documents)
        beside = (
            await find_beside(self._store, owner, look, _by_row(rows, documents, look))
            if query.at is None
            else Beside()
        )
        quoted, read = await self._passages(
            owner, query, look, (rows, documents), sources, beside.names
        )
        rows, documents, quoted = await told_updates_first(
            self.row_memories, owner, query, look, (rows, documents, quoted)
        )
        if query.at is None:
            self._note_results(owner, look, rows, documents)
        late = {name: document for name, document in documents.items() if name not in best}
        superseded |= await self._superseded_facts(owner, look, late)
        documents = {
            name: superseded.without_hidden(document) for name, document in documents.items()
        }
        results = _by_row(rows, documents, look) if query.at is None else {}
        marks = await self._marks(owner, look, results, quoted, beside, read)
        hits = build_hits(
            rows, documents, look, superseded.by_memory, quoted, marks, explain=query.explain
        )
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

    async def _superseded_facts(
        self, owner: Owner, look: QueryRound, documents: Mapping[str, SerializedMemory]
    ) -> SupersededFacts:
        """Find the superseded facts of a round's memories."""
        return await find_superseded_facts(
            self._store,
            owner,
            documents,
            look.moment,
            look.candidates.memories,
            look.search_answer.head,
        )

    async def _marks(
        self,
        owner: Owner,
        look: QueryRound,
        results: Mapping[int, SerializedMemory],
        quoted: Mapping[int, tuple[Passage, ...]],
        beside: Beside,
        read: Mapping[str, SerializedMemory],
    ) -> dict[int, ResultMarks]:
        """Return what later messages and open conflicts say against results.

        It costs no read, unless a message replaces a statement and the user has deleted memories.

        Args:
            owner: Whose memories are read.
            look: The round that the results are of.
            results: Their memories by row.
            quoted: The passages of each row.
            beside: What may speak against the results.
            read: The messages of the passages, and the memories of `beside`.

        """
        of_talk = results_of_talk(look, results, quoted)
        if not (beside.sides or of_talk):
            return {}
        marks = await asyncio.to_thread(result_marks, look, results, of_talk, quoted, beside, read)
        tellers = {look.candidates.ids[row]: document for row, document in results.items()} | {
            **read
        }
        names = {name for mark in marks.values() for name in mark.names}
        silenced = await self._untold.among(
            owner,
            look.search_answer.head,
            (tellers[name].memory for name in names if name in tellers),
        )
        return {row: mark.without(silenced) for row, mark in marks.items()}

    async def _put_truths_first(
        self,
        owner: Owner,
        query: RetrieveInput,
        look: QueryRound,
        ranked: list[int],
        documents: dict[str, SerializedMemory],
        superseded: SupersededFacts,
        sources: Sources,
    ) -> tuple[list[int], dict[str, SerializedMemory]]:
        """Put present truths before statements that they replaced, and cut at the limit.

        A truth may come in from behind the limit, before the cell that told what it replaced; so
        may what was said. Only then does it cost a read.

        Args:
            owner: Whose memories are read.
            query: What was asked.
            look: The round that the rows are of.
            ranked: The best rows, in their order.
            documents: The memories of the first of them, as many as are wanted, by id.
            superseded: The facts in the place of which others hold.
            sources: What was made of several others.

        Returns:
            As many rows, and their memories.

        """
        ids, rows = look.candidates.ids, ranked[: self.passing.limit(query)]
        if not (superseded.by_memory or sources):
            return rows, documents
        truths = {
            name: [fact.current for fact in facts if fact.current is not None]
            for name, facts in superseded.by_memory.items()
        }
        first = set(ranked)
        every = [
            *ranked,
            *(row for row in self.passing.ranked(query, look, None) if row not in first),
        ]
        every = put_sources_first(every, sources, look.candidates, look.relevant.score)
        rows = put_present_truths_first(
            every, truths, look.candidates, look.analysis.terms, query.query
        )[: len(rows)]
        read = documents | await self.row_memories.read_memories(
            owner, look, [row for row in rows if ids[row] not in documents], by_cells=True
        )
        return rows, {ids[row]: read[ids[row]] for row in rows if ids[row] in read}

    async def _put_present_first(
        self,
        owner: Owner,
        query: RetrieveInput,
        look: QueryRound,
        rows: list[int],
        documents: dict[str, SerializedMemory],
    ) -> tuple[list[int], dict[str, SerializedMemory]]:
        """Put what holds before what only begins later in the same slot.

        It costs a read, and only if a result begins later and the query does not ask for that.

        Args:
            owner: Whose memories are read.
            query: What was asked.
            look: The round that the rows are of.
            rows: The rows of the results, best first.
            documents: Their memories by id.

        Returns:
            As many rows, and their memories.

        """
        ids = look.candidates.ids
        if not any(
            begins_later(document, look.moment) for document in documents.values()
        ) or asks_of_the_future(query.query):
            return rows, documents
        chosen = {*rows}
        behind = [row for row in self.passing.ranked(query, look, None) if row not in chosen]
        read = documents | await self.row_memories.read_memories(
            owner, look, behind[:MOST_BEHIND], by_cells=True
        )
        memories = {
            row: document.memory
            for row in (*rows, *behind[:MOST_BEHIND])
            if (document := read.get(ids[row])) is not None
        }
        rows = put_present_before_announced([*rows, *behind[:MOST_BEHIND]], memories, look.moment)[
            : len(rows)
        ]
        return rows, {ids[row]: read[ids[row]] for row in rows if ids[row] in read}

    async def _tell_disputes(
        self,
        owner: Owner,
        query: RetrieveInput,
        look: QueryRound,
        rows: list[int],
        documents: dict[str, SerializedMemory],
    ) -> tuple[list[int], dict[str, SerializedMemory]]:
        """Tell the later side of an open conflict before the earlier one.

        It costs a read, and only if a result is in an open conflict.

        Args:
            owner: Whose memories are read.
            query: What was asked.
            look: The round that the rows are of.
            rows: The rows of the results, best first.
            documents: Their memories by id.

        Returns:
            The rows, no more than the query wants, and their memories.

        """
        disputed = with_disputes(rows, documents, look, query.query)[: self.passing.limit(query)]
        if disputed == rows or query.similarity_threshold is not None:
            return rows, documents
        ids = look.candidates.ids
        read = documents | await self.row_memories.read_memories(
            owner, look, [row for row in disputed if ids[row] not in documents]
        )
        return disputed, {ids[row]: read[ids[row]] for row in disputed if ids[row] in read}

    def _note_results(
        self,
        owner: Owner,
        look: QueryRound,
        rows: Sequence[int],
        documents: Mapping[str, SerializedMemory],
    ) -> None:
        """Note accesses of the results, and of the cells of messages among them."""
        candidates = look.candidates
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

    def note_accesses(
        self, owner: Owner, memory_ids: Sequence[str], at: datetime, faded: Collection[str]
    ) -> None:
        """Note that memories were found and shown.

        Args:
            owner: Whose memories they are.
            memory_ids: The memories; a repeated id counts once.
            at: When they were shown.
            faded: The ids among them that count as faded.

        """
        self._access_counts.note(owner, dict.fromkeys(memory_ids), at, frozenset(faded))

    async def _passages(
        self,
        owner: Owner,
        query: RetrieveInput,
        look: QueryRound,
        results: tuple[Sequence[int], Mapping[str, SerializedMemory]],
        sources: Sources,
        beside: Sequence[str],
    ) -> tuple[dict[int, tuple[Passage, ...]], dict[str, SerializedMemory]]:
        """Return the passages of each row, and all memories read for them.

        They are the messages of its cell that matched, or the part of a long text that matched. For
        a memory that was made of several memories, they are the matching source memories. The
        memories `beside` are read with them.
        """
        rows, documents = results
        groups = message_rows(look, rows, self.passing.thresholds(query)[1])
        groups |= told_rows(look, rows, self.passing.thresholds(query)[1], sources)
        names = [look.candidates.ids[row] for group in groups.values() for row in group]
        names = list(dict.fromkeys([*names, *beside]))
        read = await self.row_memories.read_named(owner, look, names)
        quotations = {
            row: passages(look, group, read, look.analysis.terms) for row, group in groups.items()
        }
        long = {
            row: look.candidates.ids[row]
            for row in long_rows(look, rows)
            if not quotations.get(row)
        }
        parts = {
            row: part_of_text(look, row, documents[name], look.analysis.terms)
            for row, name in long.items()
            if name in documents
        }
        return quotations | parts, read

    async def _rank_what_may_be_told(
        self, owner: Owner, query: RetrieveInput, look: QueryRound
    ) -> tuple[QueryRound, list[int], dict[str, SerializedMemory]]:
        """Rank the rows again without those that tell a deleted fact.

        Of a cell, only the best row is ranked. If that tells a deleted fact, another row of the
        cell may still answer.
        """
        ranked, best = await self._rank_without_repeats(owner, query, look)
        for _ in range(MOST_RANKED_AGAIN if has_deleted(look.search_answer.head) else 0):
            ids = [look.candidates.ids[row] for row in ranked[: self.passing.limit(query)]]
            if not (untold := frozenset(ids) - best.keys()):
                break
            look = replace(look, left_out=look.left_out | untold)
            ranked, best = await self._rank_without_repeats(owner, query, look)
        return look, ranked, best

    async def _rank_without_repeats(
        self, owner: Owner, query: RetrieveInput, look: QueryRound
    ) -> tuple[list[int], dict[str, SerializedMemory]]:
        """Rank the rows above the thresholds, with repeats and acknowledgements behind.

        The second value has the memories of the rows that may become results.
        """
        limit = self.passing.limit(query)

        async def read(rows: Sequence[int]) -> dict[int, SerializedMemory]:
            documents = await self.row_memories.read_memories(owner, look, rows, by_cells=True)
            return {
                row: document
                for row in rows
                if (document := documents.get(look.candidates.ids[row])) is not None
            }

        def is_idle(row: int, document: SerializedMemory) -> bool:
            return (
                only_acknowledges(document.fields["content"])
                and says_nothing(document.memory)
                and not look.has_all_terms(row)
            )

        rank = partial(self.passing.ranked, query, look)
        ranked, documents = await put_repeats_behind(rank, limit, read, is_idle)
        return ranked, {
            look.candidates.ids[row]: documents[row] for row in ranked[:limit] if row in documents
        }

    async def _explain_nearest(
        self, owner: Owner, query: RetrieveInput, look: QueryRound
    ) -> dict[str, Any] | None:
        """Explain why the nearest candidate is no result.

        None without a candidate, or if the candidate was removed since. Raises Unavailable.
        """
        row = self.passing.nearest_row(query, look)
        memories, _ = readable_shown(
            {}
            if row is None
            else await self.row_memories.read_memories(owner, look, [row], by_cells=True)
        )
        memory = None if row is None else memories.get(look.candidates.ids[row])
        return (
            None
            if row is None or memory is None
            else explain_miss(row, look, memory, max(self.passing.needed(query, look)))
        )


def _by_row(
    rows: Sequence[int], documents: Mapping[str, SerializedMemory], look: QueryRound
) -> dict[int, SerializedMemory]:
    """Return the memories of rows by row."""
    ids = look.candidates.ids
    return {row: documents[ids[row]] for row in rows if ids[row] in documents}

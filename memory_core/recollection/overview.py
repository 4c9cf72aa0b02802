"""All that is known of a person, as a round, the most important first.

No memory is compared with the query. What is known are the facts that hold, and what the person's
own messages state that is durable and of which no fact was formed. Their order is the profile's
(`place_of`): a name and an allergy, then a home, then a taste.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

import numpy as np

from memory_core.domain.fields import local
from memory_core.domain.memory import Head, Memory, MemoryType, Status
from memory_core.domain.messages import MESSAGE
from memory_core.domain.profile import place_of
from memory_core.domain.ranking.candidates import (
    CandidateSet,
    Floats,
    Statistics,
    from_memories,
    joined,
)
from memory_core.domain.ranking.query_parts import PartsRelevance, query_parts_of
from memory_core.domain.ranking.recipes import ScoringParameters, score
from memory_core.domain.ranking.relevance import Relevance
from memory_core.domain.requests.memories import RetrieveInput
from memory_core.domain.scope import Owner
from memory_core.domain.statements.beside_facts import stated_beside_facts, states_something_durable
from memory_core.domain.text.sameness import normalised
from memory_core.ledger.ids import note_id
from memory_core.ledger.readable import readable, readable_shown
from memory_core.ports import Filter, Found, LongTermStore, Search
from memory_core.recollection.candidate_sources import MOST, ColdFound, ColdSearch, Zones
from memory_core.recollection.passing_rows import PassingRows
from memory_core.recollection.query_round import QueryRound
from memory_core.recollection.quotations import FACT, said_by

MOST_FACTS = 200
"""The most facts that are read, the newest; if there are more, as many of the oldest.

People introduce themselves first. Of a name, an allergy and a home that 350 facts followed, a
search for the words of the question found one, and none of those that 900 followed.
"""
MOST_MESSAGES = 200
"""The most messages that are read, the newest."""


class Overview:
    """Reads all that is known, for any owner."""

    def __init__(
        self,
        store: LongTermStore,
        cold: ColdSearch,
        passing: PassingRows,
        scoring: ScoringParameters,
    ) -> None:
        self._store, self._cold, self._zones = store, cold, Zones(store)
        self._passing, self._scoring = passing, scoring

    async def look(
        self, owner: Owner, query: RetrieveInput, where: Filter, now: datetime
    ) -> QueryRound:
        """Return a round of which every candidate answers, in the order of its importance.

        It costs two bounded pages, a third where there are many facts, and a read of the cells of
        messages. Facts of the archive come last, if the query includes it.

        Args:
            owner: Whose memories are read.
            query: The query, with its limits.
            where: The filter of the query.
            now: The time of the call.

        Raises:
            Unavailable: The long-term store is down.

        """
        (zone, head), facts, messages = await asyncio.gather(
            self._zones.with_head(owner, query.time_zone),
            self._facts(owner, where),
            self._messages(owner, where),
        )
        known = _in_order(_of_life([*facts, *messages], head))
        moment = local(query.at or now, zone)
        search = Search(None, (), MOST, where)
        cold = await self._archived(owner, search) if query.include_archived and head else None
        candidates = _each_for_itself(known, where)
        if cold is not None:
            candidates = joined(candidates, cold.candidates)
        relevance = np.full(len(candidates), self._passing.thresholds(query)[0])
        order = np.arange(len(candidates), 0, -1, dtype=np.float64)
        return QueryRound(
            query_parts_of("", moment),
            (),
            where,
            now,
            moment,
            Found(head, candidates, Statistics(len(known), 0.0, {})),
            candidates,
            _judged(relevance, order),
            score(
                query.recipe,
                query.weights,
                relevance,
                candidates,
                moment.timestamp(),
                self._scoring,
            ),
            order,
            frozenset(),
            frozenset() if cold is None else cold.ids,
            () if cold is None else cold.degraded,
        )

    async def _facts(self, owner: Owner, where: Filter) -> list[Memory]:
        """Return the newest facts, and the oldest, without the notes of cells."""
        newest = await self._page(owner, where, MemoryType.SEMANTIC, MOST_FACTS)
        oldest = (
            await self._page(owner, where, MemoryType.SEMANTIC, MOST_FACTS, newest_first=False)
            if len(newest) == MOST_FACTS
            else []
        )
        facts = {fact.id: fact for fact in (*newest, *oldest)}
        return [fact for fact in facts.values() if fact.id != note_id(fact.cell_id or "")]

    async def _messages(self, owner: Owner, where: Filter) -> list[Memory]:
        """Return what the newest messages state of which no fact was formed."""
        if where.categories and MESSAGE not in where.categories:
            return []
        where = replace(where, categories=frozenset({MESSAGE}))
        messages = await self._page(owner, where, MemoryType.EPISODIC, MOST_MESSAGES)
        stated = await asyncio.to_thread(
            lambda: [
                message
                for message in messages
                if said_by(message) == "" and states_something_durable(message)
            ]
        )
        names = sorted({message.cell_id for message in stated if message.cell_id is not None})
        cells, _ = readable_shown(await self._store.memories(owner, names) if names else {})
        return await asyncio.to_thread(stated_beside_facts, stated, cells)

    async def _page(
        self,
        owner: Owner,
        where: Filter,
        kind: MemoryType,
        limit: int,
        *,
        newest_first: bool = True,
    ) -> list[Memory]:
        """Return the newest or oldest searchable memories of a type, if the filter allows it."""
        if where.types and kind.value not in where.types:
            return []
        where = replace(where, types=frozenset({kind.value}))
        memories, _ = readable(
            await self._store.page(owner, "memory", where, None, limit, newest_first=newest_first)
        )
        return memories

    async def _archived(self, owner: Owner, search: Search) -> ColdFound:
        """Return the newest facts of the archive."""
        where = replace(search.where, statuses=frozenset({Status.ARCHIVED.value}))
        stubs = await self._page(owner, where, MemoryType.SEMANTIC, MOST)
        return await self._cold.fetch(
            owner, [stub for stub in stubs if stub.category == FACT], search
        )


def _of_life(memories: Iterable[Memory], head: Head | None) -> list[Memory]:
    """Return the searchable memories of the owner's present life; none for an unknown owner."""
    return [
        memory
        for memory in memories
        if head is not None and memory.epoch == head.epoch and memory.searchable
    ]


def _each_for_itself(known: list[Memory], where: Filter) -> CandidateSet:
    """Return memories as candidates that belong to no cell, with what is shown of each."""
    candidates = from_memories(known, (), None, faded=where.has_faded)
    candidates.cell = [None] * len(known)
    candidates.memories = {memory.id: memory for memory in known}
    return candidates


def _judged(relevance: Floats, order: Floats) -> PartsRelevance:
    """Return the verdict that gives all candidates this relevance."""
    nothing = np.zeros(len(relevance))
    return PartsRelevance(
        Relevance(relevance, nothing, np.full(len(relevance), np.nan), {}),
        nothing.astype(np.int64),
        order,
    )


def _in_order(memories: Iterable[Memory]) -> list[Memory]:
    """Return the memories, the most important first, each text once."""
    by_text = dict[str, Memory]()
    for memory in sorted(memories, key=place_of):
        by_text.setdefault(normalised(memory.content), memory)
    return list(by_text.values())

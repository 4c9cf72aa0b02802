"""What was said right before and after a turn that answers, in its session.

Note: a session is never read whole. It can have thousands of turns; what is read of it are the
few before and after each hit, of the few sessions that hold the best hits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from math import sqrt

from memory_core.domain.memory import Head, MemoryType
from memory_core.domain.scope import Owner
from memory_core.ledger.readable import readable
from memory_core.ports import Document, Filter, LongTermStore, Place
from memory_core.recollection.quotations import QuotableMemory

BEST_SESSIONS = 5
WINDOW = 2
"""The number of turns before and after a hit that come with it."""
NEIGHBOUR = 0.01
"""The weight of the nearest neighbour beside its hit.

The second neighbour's is less by the root of its distance. Neighbours only fill the room that hits
leave. At 0.8 they brought .001 of the evidence, and long answers of an assistant displaced as much.
"""
PAGE, AHEAD = 40, 20
"""The turns of a session that are read, and how far before its best hit they begin.

The second number counts changes of the user's log.
"""


class Surroundings:
    """Reads the neighbours of memories of any owner."""

    def __init__(self, store: LongTermStore) -> None:
        self._store = store

    async def beside(
        self, owner: Owner, head: Head | None, where: Filter, quotations: Sequence[QuotableMemory]
    ) -> list[QuotableMemory]:
        """Return the neighbours of the hits in the best sessions.

        Args:
            owner: Whose memories are read.
            head: The owner's head; None for an unknown owner, without any neighbours.
            where: The filter that the neighbours must pass.
            quotations: The hits.

        Returns:
            The neighbours, each with the best priority that a hit lends it.

        Raises:
            Unavailable: The long-term store is down.

        """
        if head is None or (where.types and MemoryType.EPISODIC.value not in where.types):
            return []
        where = replace(where, types=frozenset({MemoryType.EPISODIC.value}))
        sessions: dict[str, list[QuotableMemory]] = {}
        for hit in sorted(quotations, key=lambda hit: -hit.priority):
            if hit.memory.session_id is not None and hit.memory.type is MemoryType.EPISODIC:
                sessions.setdefault(hit.memory.session_id, []).append(hit)
        best = list(sessions.items())[:BEST_SESSIONS]
        around = (
            self._around(owner, head, replace(where, session_id=session), hits)
            for session, hits in best
        )
        return [neighbour for few in await asyncio.gather(*around) for neighbour in few]

    async def _around(
        self, owner: Owner, head: Head, where: Filter, hits: Sequence[QuotableMemory]
    ) -> list[QuotableMemory]:
        """Return the neighbours of the hits of a session."""
        place = Place(max(0, hits[0].memory.sequence - AHEAD), "")
        page: list[Document] = await self._store.page(
            owner, "memory", where, place, PAGE, newest_first=False
        )
        read, _ = readable(document for document in page if document.kind == "memory")
        turns = {
            turn.id: turn
            for turn in read
            if turn.epoch == head.epoch
            and turn.searchable
            and not QuotableMemory(turn, 0.0).is_story
        }
        lent = _lent(list(turns), hits)
        return [QuotableMemory(turns[name], worth) for name, worth in lent.items()]


def _lent(order: Sequence[str], hits: Sequence[QuotableMemory]) -> dict[str, float]:
    """Return the turns within `WINDOW` of a hit, with the priority that they get.

    The hits themselves are left out. The best hit nearby decides the priority.
    """
    places = {name: place for place, name in enumerate(order)}
    hit_ids = {hit.memory.id for hit in hits}
    lent: dict[str, float] = {}
    for hit in hits:
        place = places.get(hit.memory.id)
        if place is None:
            continue
        for neighbour in range(max(0, place - WINDOW), min(len(order), place + WINDOW + 1)):
            if order[neighbour] not in hit_ids:
                worth = hit.priority * NEIGHBOUR / sqrt(abs(neighbour - place))
                lent[order[neighbour]] = max(worth, lent.get(order[neighbour], 0.0))
    return lent

"""The dates that only memories know, and the memories of a time that the query's words don't name.

What happened "yesterday", or "two weeks before her birthday", says neither: such memories are on no list by words, and by vector only by
chance. So where a query tells a time that way, a second search looks into that time alone; and before it, the memories
that tell of the event are read for its day. Note: a query with a plain date ("on 8 May") needs none of this, its words are among
those of each memory of that day.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from memory_core.domain.anchors import Anchor, dated, tellers
from memory_core.domain.bm25 import idf
from memory_core.domain.candidates import CandidateSet, joined
from memory_core.domain.models import Memory
from memory_core.domain.query import QueryAnalysis
from memory_core.domain.query_parts import QueryParts, ToldTime
from memory_core.domain.scope import Owner
from memory_core.domain.time_zone import midnight
from memory_core.ports import Found, LongTermStore, Search

LIST = "date"
"""The name of the list that candidates of a time come by."""


class Dates:
    """Looks into times for any owner."""

    def __init__(self, store: LongTermStore) -> None:
        self._store = store

    async def search(self, owner: Owner, query_parts: QueryParts, search: Search, moment: datetime) -> tuple[QueryParts, Found]:
        """The search, and beside it the same in the times alone that the query tells; with the dates of its anchors, which are looked into
        after it: a read of at most a few, and one more search. Raises Unavailable.
        """
        where = _told_times(query_parts, search)
        if where is None:
            result, within = await self._store.search(owner, search), None
        else:
            result, within = await asyncio.gather(self._store.search(owner, search), self._store.search(owner, where))
        if query_parts.whole.anchors and len(result.candidates):
            query_parts = query_parts.with_times(await self._resolved(owner, query_parts.whole, result, search, moment))
            further = _told_times(query_parts, search)
            if further is not None and further != where:
                within = await self._store.search(owner, further)
        if within is None or result.head is None:
            return query_parts, result
        within.candidates.lists = {LIST: within.candidates.ids}
        return query_parts, replace(result, candidates=joined(result.candidates, within.candidates))

    async def _resolved(self, owner: Owner, analysis: QueryAnalysis, result: Found, search: Search, moment: datetime) -> list[ToldTime]:
        """The dates of the query's anchors, as far as candidates tell them."""
        frequencies = result.statistics.document_frequency
        worth = idf([frequencies.get(term, 0) for term in analysis.terms], result.statistics.documents)
        rows_by_anchor = {anchor: tellers(anchor, analysis.terms, result.candidates, worth) for anchor in analysis.anchors}
        read = await self._read(owner, result.candidates, sorted({row for rows in rows_by_anchor.values() for row in rows}), search)
        tellings = {anchor: [read[row] for row in rows if row in read] for anchor, rows in rows_by_anchor.items()}
        return await asyncio.to_thread(_days, tellings, moment)  # to read long texts for dates takes 10 ms each

    async def _read(self, owner: Owner, candidates: CandidateSet, rows: Sequence[int], search: Search) -> dict[int, Memory]:
        missing = [candidates.ids[row] for row in rows if candidates.ids[row] not in candidates.memories]
        documents = await self._store.memories(owner, missing, search.where) if missing else {}
        memories = candidates.memories | {name: document.memory for name, document in documents.items()}
        return {row: memories[candidates.ids[row]] for row in rows if candidates.ids[row] in memories}


def _told_times(query_parts: QueryParts, search: Search) -> Search | None:
    """The same search in the times alone that the query tells; None where it tells none."""
    windows = [
        dated_window.window
        for analysis in (query_parts.whole, *(part.analysis for part in query_parts.parts))
        for dated_window in analysis.dated
        if not dated_window.window.yearly
    ]
    if not windows:
        return None
    zone = query_parts.whole.zone
    since, until = midnight(min(window.start for window in windows), zone), midnight(max(window.end for window in windows), zone)
    return replace(search, where=replace(search.where, since=since, until=until))


def _days(tellings: Mapping[Anchor, Sequence[Memory]], moment: datetime) -> list[ToldTime]:
    dates = [(anchor, dated(anchor, memories, moment)) for anchor, memories in tellings.items()]
    return [(known[0], anchor.said, known[1]) for anchor, known in dates if known is not None]

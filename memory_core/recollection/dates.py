"""The dates that only memories know, and the memories of a time that the query's words don't name.

What happened "yesterday", or "two weeks before her birthday", says neither: such memories are on no list by words, and by vector only by
chance. So where a query tells a time that way, a second search looks into that time alone; and before it, whoever tells of the event
is read for its day. One would get wrong: a query with a plain date ("on 8 May") needs none of this, its words are among those of each
memory of that day.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timezone

from memory_core.domain.anchors import Anchor, dated, tellers
from memory_core.domain.bm25 import idf
from memory_core.domain.candidates import CandidateSet, joined
from memory_core.domain.models import Memory
from memory_core.domain.query import QueryAnalysis, with_dates
from memory_core.domain.scope import Owner
from memory_core.ports import Found, LongTermStore, Search

LIST = "date"
"""The name of the list that candidates of a time come by."""


class Dates:
    """Looks into times for any owner."""

    def __init__(self, store: LongTermStore) -> None:
        self._store = store

    async def resolved(self, owner: Owner, analysis: QueryAnalysis, found: Found, search: Search, moment: datetime) -> QueryAnalysis:
        """The query with the dates of its anchors, as far as candidates tell them: at most one read, of a few. Raises Unavailable."""
        if not analysis.anchors or not len(found.candidates):
            return analysis
        frequencies = found.statistics.document_frequency
        worth = idf([frequencies.get(term, 0) for term in analysis.terms], found.statistics.documents)
        told = {one: tellers(one, analysis.terms, found.candidates, worth) for one in analysis.anchors}
        read = await self._read(owner, found.candidates, sorted({row for rows in told.values() for row in rows}), search)
        tellings = {one: [read[row] for row in rows if row in read] for one, rows in told.items()}
        return await asyncio.to_thread(_with_days, analysis, tellings, moment)  # to read long texts for dates takes 10 ms each

    async def _read(self, owner: Owner, candidates: CandidateSet, rows: Sequence[int], search: Search) -> dict[int, Memory]:
        missing = [candidates.ids[row] for row in rows if candidates.ids[row] not in candidates.memories]
        shown = await self._store.memories(owner, missing, search.where) if missing else {}
        memories = candidates.memories | {name: one.memory for name, one in shown.items()}
        return {row: memories[candidates.ids[row]] for row in rows if candidates.ids[row] in memories}

    async def with_those_of_the_time(self, owner: Owner, analysis: QueryAnalysis, found: Found, search: Search) -> Found:
        """What was found, and what the same search finds in the times alone that the query tells. Raises Unavailable."""
        windows = [one.window for one in analysis.dated if not one.window.yearly]
        if not windows or found.head is None:
            return found
        where = replace(search.where, since=_midnight(min(one.start for one in windows)), until=_midnight(max(one.end for one in windows)))
        within = (await self._store.search(owner, replace(search, where=where))).candidates
        within.lists = {LIST: within.ids}
        return replace(found, candidates=joined(found.candidates, within))


def _with_days(analysis: QueryAnalysis, tellings: Mapping[Anchor, Sequence[Memory]], moment: datetime) -> QueryAnalysis:
    dates = [(one, dated(one, memories, moment)) for one, memories in tellings.items()]
    return with_dates(analysis, [(known[0], one.said, known[1]) for one, known in dates if known is not None])


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, timezone.utc)

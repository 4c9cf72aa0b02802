"""From a query to pieces of a context: the hits of one round or several, what stands beside them in their scenes, what has fallen of it.

One would get wrong: not only the results that a retrieve shows. Every candidate over the thresholds is a hit here, since a budget of
tokens decides, and no number of results.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from memory_core.domain.models import Memory
from memory_core.domain.packing import Piece
from memory_core.domain.requests import RetrieveInput
from memory_core.domain.scope import Owner
from memory_core.domain.shown import Shown
from memory_core.ledger.readable import readable_shown
from memory_core.ports import LongTermStore
from memory_core.recollection.query_vector import EMBEDDER
from memory_core.recollection.rerank import RERANKER
from memory_core.recollection.retrieve import Look, Retriever
from memory_core.recollection.stale import Fallen, stale_facts
from memory_core.recollection.surroundings import Found, Setting, Surroundings
from memory_core.recollection.telling import piece, tells_only_what_has_ended

LATER = 0.9
"""What a hit of a rewritten query is worth beside one of the query itself, which is what was asked."""
MOST_FOUND = 200
"""Hits of one round that are read."""


@dataclass(slots=True)
class Rounds:
    """What the rounds so far have found. looks: of each; asked: their queries; found: the hits by memory id."""

    looks: list[Look] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    found: dict[str, Found] = field(default_factory=dict)

    def add(self, query: str, look: Look, found: Sequence[Found]) -> None:
        """One more round."""
        self.looks.append(look)
        self.asked.append(query)
        for one in found:
            held = self.found.get(one.memory.id)
            if held is None or held.priority < one.priority:
                self.found[one.memory.id] = one

    @property
    def terms(self) -> frozenset[str]:
        """Of all queries."""
        return frozenset(term for look in self.looks for term in look.analysis.terms)


class Gatherer:
    """Gathers for any owner."""

    def __init__(self, store: LongTermStore, retriever: Retriever, surroundings: Surroundings) -> None:
        self._store, self._retriever, self._surroundings = store, retriever, surroundings

    async def look(self, owner: Owner, query: RetrieveInput, rounds: Rounds) -> Look:
        """One round: look, and keep every hit over the thresholds; of a cell and the note about it, the better one.

        What tells only of what has ended is left out of its results.
        """
        silent = {EMBEDDER, RERANKER}.intersection(rounds.looks[-1].degraded) if rounds.looks else ()
        look = await self._retriever.look(owner, query, without=silent)
        rows = self._retriever.passing(query, look)[:MOST_FOUND]
        shown, _ = readable_shown(await self._retriever.shown(owner, look, rows))
        worth = 1.0 if not rounds.looks else LATER
        found: dict[str, Found] = {}
        for row in rows:
            memory = shown.get(look.candidates.ids[row])
            if memory is not None:
                hit = Found(memory, worth * float(look.order[row]))
                found.setdefault(_story(hit), hit)
        rounds.add(query.query, look, list(found.values()))
        ended = (name for name, memory in shown.items() if tells_only_what_has_ended(memory, look.moment))
        return replace(look, left_out=frozenset(ended))

    async def pieces(self, owner: Owner, rounds: Rounds, max_tokens: int) -> list[Piece]:
        """All hits and their neighbours, ready to be packed into a context of about `max_tokens`."""
        hits = list(rounds.found.values())
        if not hits:
            return []
        look = rounds.looks[0]
        missing = sorted({one.cell for one in hits} - rounds.found.keys())
        cells, _ = readable_shown(await self._store.memories(owner, missing) if missing else {})
        settings = await self._surroundings.settings(owner, hits, cells, look.moment)
        placed = [(one, settings[one.memory.id]) for one in hits]
        known = {_story(one) for one in hits}
        beside = await self._surroundings.beside(owner, look.found.head, look.where, hits, settings)
        placed += [(one, setting) for one, setting in beside if _story(one) not in known]
        fallen = await self.fallen(owner, [one.memory for one, _ in placed], cells, look.moment)
        return await asyncio.to_thread(_pieces, placed, fallen, rounds, max_tokens)  # 10 ms of reading and counting for 2,000 tokens

    async def fallen(
        self, owner: Owner, memories: Sequence[Memory], cells: Mapping[str, Memory], moment: datetime
    ) -> Mapping[str, tuple[Fallen, ...]]:
        """By memory, the facts that it tells and that have fallen; a note tells what its cell told."""
        told = {one.id: Shown.of(one) for one in memories if one.atomic_facts}
        notes = {one.id: one.cell_id for one in memories if one.category == "note" and one.cell_id is not None}
        told |= {name: Shown.of(cells[name]) for name in notes.values() if name in cells}
        stale = await stale_facts(self._store, owner, told, moment)
        return stale | {name: stale[cell] for name, cell in notes.items() if cell in stale}


def _story(found: Found) -> str:
    """What two memories must share to tell the same: a cell and the note about it do, its facts each for themselves."""
    memory = found.memory
    return found.cell if memory.category in ("cell", "note") else memory.id


def _pieces(
    placed: Sequence[tuple[Found, Setting]], fallen: Mapping[str, tuple[Fallen, ...]], rounds: Rounds, max_tokens: int
) -> list[Piece]:
    pieces = (
        piece(
            one.memory,
            scene=setting.key,
            title=setting.title,
            priority=one.priority,
            fallen=fallen.get(one.memory.id, ()),
            terms=rounds.terms,
            moment=rounds.looks[0].moment,
            max_tokens=max_tokens,
        )
        for one, setting in placed
    )
    return [one for one in pieces if one is not None]

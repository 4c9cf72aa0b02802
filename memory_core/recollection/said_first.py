"""Turns before what was formed of them, where they answer better: a pattern, or a note merged of several, follows its sources.

Scores stay what they are; only the order changes. Recency and importance favour what a run made last, which may tell less of the query
than the turns that it was made of.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from memory_core.domain.candidates import CandidateSet, Floats
from memory_core.domain.models import Memory
from memory_core.domain.scope import Owner
from memory_core.domain.shown import Shown
from memory_core.ledger.readable import readable_shown
from memory_core.ports import LongTermStore

_MARK = b'"status_reason":"consolidated"'
"""Only a memory whose JSON has this is parsed: it is what runs make of several others."""
Sources = Mapping[str, frozenset[str]]


async def sources_of(store: LongTermStore, owner: Owner, shown: Mapping[str, Shown]) -> Sources:
    """By the id of each memory that was made of several, the ids of what it was made of, and of what merged notes among these were.

    Costs nothing where there is no such memory; else one read. Raises Unavailable.
    """
    made = {
        name: document.memory
        for name, document in shown.items()
        if _MARK in document.json and document.memory.status_reason == "consolidated"
    }
    wanted = sorted({source for memory in made.values() for source in memory.source_ids if not _is_own_cell(memory, source)})
    if not wanted:
        return {}
    read, _ = readable_shown(await store.memories(owner, wanted))
    return {name: _with_theirs(memory.source_ids, read) for name, memory in made.items() if memory.source_ids}


def source_rows(sources: Collection[str], candidates: CandidateSet) -> list[int]:
    """The rows of what a memory was made of, turns of a cell included."""
    return [row for row, (name, cell) in enumerate(zip(candidates.ids, candidates.cell, strict=True)) if name in sources or cell in sources]


def said_first(ranked: Sequence[int], sources: Sources, candidates: CandidateSet, relevance: Floats) -> list[int]:
    """The ranked rows, with each that was made of others behind those of its sources whose relevance is higher."""
    order = list(ranked)
    for row in ranked:
        made_of = sources.get(candidates.ids[row])
        if made_of is None:
            continue
        better = {source for source in source_rows(made_of - {candidates.ids[row]}, candidates) if relevance[source] > relevance[row]}
        place = max((at for at, other_row in enumerate(order) if other_row in better), default=-1)
        if place > order.index(row):
            order.remove(row)
            order.insert(place, row)
    return order


def _is_own_cell(memory: Memory, source: str) -> bool:
    return source == memory.cell_id


def _with_theirs(source_ids: Sequence[str], read: Mapping[str, Memory]) -> frozenset[str]:
    theirs = [
        name for source in source_ids if (note := read.get(source)) is not None and note.category == "note" for name in note.source_ids
    ]
    return frozenset([*source_ids, *theirs])

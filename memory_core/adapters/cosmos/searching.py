"""Two lists of items as one candidate set, with the statistics that relevance needs.

One would get wrong: the service's order of the lexical list picks candidates and does nothing else. What a memory is worth is computed
from its own tokens, by the same function as for every other store.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memory_core.adapters.cosmos.documents import memory_of
from memory_core.adapters.cosmos.queries import SIMILARITY
from memory_core.domain.candidates import CandidateSet, Statistics, from_memories
from memory_core.domain.models import Head, Memory
from memory_core.ports import Found, Search

Rows = Sequence[Mapping[str, Any]]


def found(head: Head | None, search: Search, near: Rows, worded: Rows, charge: float) -> Found:
    """The answer to a search. Memories of another epoch than the head's are left out."""
    rows = {row["id"]: row for row in (*near, *worded) if head is not None and row["epoch"] == head.epoch}
    memories = {identity: memory_of(row) for identity, row in rows.items()}
    cosines = {identity: float(row[SIMILARITY]) for identity, row in rows.items() if SIMILARITY in row}
    shown = [_apart(memory) if rows[memory.id]["kind"] == "version" else memory for memory in memories.values()]
    candidates = from_memories(shown, search.terms, search.vector, cosines)
    candidates.memories = memories
    hits = {one for one, tf in zip(candidates.ids, candidates.tf, strict=True) if tf.any()}
    candidates.lists = {
        "vector": [row["id"] for row in near if row["id"] in memories],
        # The service's analyser may take two terms for one that ours tells apart.
        "lexical": [row["id"] for row in worded if row["id"] in hits],
    }
    return Found(head, candidates, _statistics(head, candidates, search.terms), charge)


def _apart(version: Memory) -> Memory:
    """An old version without its turn: it is nobody's neighbour, since the memory itself holds that place."""
    return version.model_copy(update={"lexical": version.lexical.model_copy(update={"turn": None})})


def _statistics(head: Head | None, candidates: CandidateSet, terms: Sequence[str]) -> Statistics:
    """Counts of the user's memories from the head, where it knows them; how often a term occurs, among the candidates."""
    counted = head is not None and head.lexical_documents > 0
    documents = head.lexical_documents if head is not None and counted else len(candidates)
    total = head.lexical_length if head is not None and counted else float(candidates.length.sum())
    return Statistics(
        documents=documents,
        mean_length=total / documents if documents else 0.0,
        document_frequency=dict(zip(terms, candidates.own.sum(axis=0).tolist(), strict=True)),
        actors=frozenset(actor for actor in candidates.actor if actor is not None),
    )

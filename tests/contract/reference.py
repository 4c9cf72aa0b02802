"""The contract of a search, by brute force over whole memories: slow, plain, and independent of
every index.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memory_core.domain.memory import Memory, Status
from memory_core.domain.ranking.candidates import weighted_length, weighted_tokens
from memory_core.domain.ranking.index_terms import PASSAGE_TERMS
from memory_core.ports import Filter, Search

OVERTAKEN = {"contradicted", "consolidated", "new_version"}


@dataclass
class Stored:
    """A memory or a version, as it was saved."""

    memory: Memory
    version: bool = False


def stands(item: Stored, where: Filter) -> bool:
    memory = item.memory
    if where.at is not None:
        valid = memory.valid_from <= where.at and (
            memory.valid_until is None or where.at < memory.valid_until
        )
        return valid and (
            memory.status in where.statuses - {"deleted"} or memory.status_reason in OVERTAKEN
        )
    if item.version or memory.status not in where.statuses:
        return False
    return where.now is None or memory.valid_until is None or memory.valid_until > where.now


def passes(item: Stored, where: Filter) -> bool:
    memory = item.memory
    return (
        stands(item, where)
        and (not where.types or memory.type in where.types)
        and (not where.categories or memory.category in where.categories)
        and (not where.tags or bool(where.tags & set(memory.tags)))
        and (not where.next_ids or memory.next_id in where.next_ids)
        and (where.session_id is None or memory.session_id == where.session_id)
        and (where.agent_id is None or memory.agent_id == where.agent_id)
        and (where.since is None or memory.event_timestamp >= where.since)
        and (where.until is None or memory.event_timestamp < where.until)
    )


def findable(stored: Sequence[Stored]) -> list[Memory]:
    return [
        item.memory
        for item in stored
        if not item.version and item.memory.status in ("active", "compressed", "decayed")
    ]


def frequency(stored: Sequence[Stored], term: str) -> int:
    return sum(
        term in memory.lexical.own or term in memory.lexical.date for memory in findable(stored)
    )


def mean_length(stored: Sequence[Stored]) -> float:
    counted = findable(stored)
    return sum(map(weighted_length, counted)) / len(counted) if counted else 0.0


def cosine(memory: Memory, search: Search) -> float:
    if memory.embedding is None or search.vector is None:
        return math.nan
    return float(np.dot(memory.embedding.astype(np.float64), search.vector.astype(np.float64)))


def counts_of(stored: Sequence[Stored], memory: Memory) -> dict[str, float]:
    """The weighted terms of a memory; after a deleted turn only those that it says itself."""
    counts, lexical = weighted_tokens(memory.lexical), memory.lexical
    places = (
        [(memory.session_id, lexical.turn - step) for step in (1, 2)]
        if lexical.turn is not None and memory.session_id
        else []
    )
    before = [
        item.memory
        for item in stored
        if not item.version and (item.memory.session_id, item.memory.lexical.turn) in places
    ]
    if any(item.memory.id == memory.id and item.version for item in stored) or all(
        memory.status is not Status.DELETED for memory in before
    ):
        return counts
    return {
        term: count for term, count in counts.items() if term in lexical.own or term in lexical.date
    }


def words(stored: Sequence[Stored], memory: Memory, search: Search) -> float:
    """BM25 with k1 1.2, b 0.75 and at least 400 documents, up to a factor; only its order
    is promised.

    A text longer than the mean and than a passage is no longer than that.
    """
    counts, documents, mean = (
        counts_of(stored, memory),
        max(len(findable(stored)), 400),
        mean_length(stored) or 1.0,
    )
    length = min(weighted_length(memory), max(mean, PASSAGE_TERMS))
    total = 0.0
    for term in search.terms:
        tf, df = counts.get(term, 0.0), frequency(stored, term)
        idf = math.log1p((documents - df + 0.5) / (df + 0.5))
        total += idf * tf / (tf + 1.2 * (0.25 + 0.75 * length / mean))
    return total


def neighbour(stored: Sequence[Stored], memory: Memory, step: int, where: Filter) -> Memory | None:
    """The memory one turn before (−1) or after (+1) in the session, if it passes."""
    if memory.session_id is None or memory.lexical.turn is None:
        return None
    for item in stored:
        other = item.memory
        same = (
            not item.version
            and other.session_id == memory.session_id
            and other.lexical.turn == memory.lexical.turn + step
        )
        if same and stands(item, where):
            return other
    return None

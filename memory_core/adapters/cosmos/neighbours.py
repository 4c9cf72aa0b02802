"""Memories shown to a decision about a new truth: its slot's, or else near ones.

Almost always that is one query. Note: no single query gives both. ORDER BY VectorDistance needs a
TOP, and whatever else the WHERE lets in, the TOP leaves out a member of the slot that is unlike
the new truth; there is no union. But once the slot is filled it alone decides, so the head's
record of filled slots says which of the two to ask for.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from memory_core.adapters.cosmos import queries
from memory_core.adapters.cosmos.client import CosmosConnection, together
from memory_core.adapters.cosmos.container import EmbedderRecord
from memory_core.adapters.cosmos.heads import Known
from memory_core.adapters.cosmos.items import Item, memory_of
from memory_core.domain.errors import Damaged
from memory_core.domain.memory import Vector
from memory_core.domain.ranking.vectors import VectorKind
from memory_core.domain.scope import Owner
from memory_core.domain.truth.slots import marked
from memory_core.ports import Near, Neighbour

log = logging.getLogger(__name__)
COMPARED_AT_ONCE = 25
"""Memories for each vector up to which a single query compares them all.

A row costs about as much as the share of each further query.
"""
VECTORS_A_QUERY = 10
"""Vectors in a query.

A statement may have 512 KB, and a vector takes 30 KB.
"""


class Neighbourhoods:
    """Finds memories that may be neighbours of new facts.

    For a user with few memories, the memories to compare several new facts with are read by a
    single query.
    """

    def __init__(self, connection: CosmosConnection, embedder: EmbedderRecord) -> None:
        self._connection, self._embedder = connection, embedder
        self._about_to_ask: dict[_Compared, _Asking] = {}

    async def around(self, owner: Owner, near: Near, known: Known) -> Sequence[Item]:
        """The memories that may be neighbours, whole.

        A second query is sent only when the slot was filled once and no memory is in it now.

        Args:
            owner: The owner of the memories.
            near: The neighbours to find.
            known: The head; the memories are not older than it.

        Raises:
            Unavailable: The service is down or too slow.

        """
        head, since = known.head, known.token
        if near.key is not None:
            return (
                await self._connection.query(
                    owner, queries.of_key(owner, near.key, near), since=since
                )
            ).rows
        mates: Sequence[Item] = ()
        if near.slot is not None and (head.slots is None or marked(head.slots, near.slot)):
            mates = (
                await self._connection.query(
                    owner, queries.in_slot(owner, near.slot, near), since=since
                )
            ).rows
        if near.vector is None or any(item["epoch"] == head.epoch for item in mates):
            return mates
        return await self._nearest(owner, near, near.vector, known)

    async def _nearest(
        self, owner: Owner, near: Near, vector: Vector, known: Known
    ) -> Sequence[Item]:
        """The nearest memories to a vector.

        When several new facts ask at once and the user has few memories, all memories are read once
        and compared here. The service would send each memory at least as often.
        """
        name = _Compared(owner, known.etag, near.types, near.statuses)
        limits, asking = self._about_to_ask.get(name) or self._begun(name, near, known)
        limits.append(near.limit)
        rows = await asyncio.shield(asking)
        if rows is not None:
            return _best(rows, vector, near.limit)
        query = queries.nearest(owner, near, vector, self._embedder.only)
        return (await self._connection.query(owner, query, since=known.token)).rows

    def _begun(self, name: _Compared, near: Near, known: Known) -> _Asking:
        limits = list[int]()
        asking = asyncio.create_task(self._all(name, limits, near, known))
        asking.add_done_callback(_retrieve_failure)
        self._about_to_ask[name] = limits, asking
        return limits, asking

    async def _all(
        self, name: _Compared, limits: Sequence[int], near: Near, known: Known
    ) -> Sequence[Item] | None:
        """All memories to compare with; None where separate queries cost less."""
        del self._about_to_ask[name]
        if len(limits) == 1 or sum(known.head.counts.values()) > sum(limits):
            return None
        query = queries.comparable(name.owner, near, self._embedder.only)
        return (await self._connection.query(name.owner, query, since=known.token)).rows

    async def nearest(
        self, owner: Owner, nears: Sequence[Near], known: Known
    ) -> list[dict[str, float]]:
        """Similarities by memory id to each of several vectors.

        For a user with few memories a query compares all memories with several vectors; otherwise
        each vector has a query of its own.
        """
        few = sum(known.head.counts.values()) <= COMPARED_AT_ONCE * min(len(nears), VECTORS_A_QUERY)
        size, only = VECTORS_A_QUERY if few else 1, self._embedder.only
        parts = [nears[start : start + size] for start in range(0, len(nears), size)]
        answers = await together(
            *(
                self._connection.query(
                    owner, queries.closest(owner, part, only, of_all=few), since=known.token
                )
                for part in parts
            )
        )
        return [
            _over_the_floor(near, answer.rows, f"similarity_{place}", known.head.epoch)
            for part, answer in zip(parts, answers, strict=True)
            for place, near in enumerate(part)
        ]


def _over_the_floor(near: Near, rows: Sequence[Item], column: str, epoch: str) -> dict[str, float]:
    similar = {
        row["id"]: float(row[column])
        for row in rows
        if row["epoch"] == epoch and row.get(column, -1.0) >= near.floor
    }
    best = sorted(similar, key=lambda name: -similar[name])[: near.limit]
    return {name: similar[name] for name in best}


_Asking = tuple[list[int], asyncio.Task[Sequence[Item] | None]]
"""The limits of several new facts, and the task that reads all memories for them."""


def _retrieve_failure(asking: asyncio.Task[Any]) -> None:
    """Retrieve a failure, even where no caller waits for it any more."""
    if not asking.cancelled():
        asking.exception()


class _Compared(NamedTuple):
    """The memories that several new facts are compared with."""

    owner: Owner
    etag: str
    types: frozenset[str]
    statuses: frozenset[str]


def _best(rows: Sequence[Item], vector: Vector, most: int) -> Sequence[Item]:
    """The nearest of these memories."""
    if len(rows) <= most:
        return rows
    similarity = np.array([row["embedding"] for row in rows], dtype=np.float32) @ vector
    return [rows[place] for place in np.argsort(-similarity, kind="stable")[:most]]


def neighbours(
    near: Near, items: Sequence[Mapping[str, Any]], epoch: str, kind: VectorKind
) -> tuple[Neighbour, ...]:
    """The memories over the floor, in the slot or of the key, nearest first.

    A member of the slot or the key without a vector has similarity 0.

    Args:
        near: The neighbours that were requested.
        items: The items of possible neighbours.
        epoch: The epoch of the head.
        kind: The model and length of the store's vectors.

    Raises:
        Damaged: A member of the slot or the key cannot be parsed.

    """
    made: dict[str, Neighbour] = {}
    for item in items:
        if item["epoch"] != epoch or item["id"] in made:
            continue
        mate = (
            near.slot is not None
            and (item.get("slot_subject"), item.get("slot_attribute")) == near.slot
        )
        mate = mate or (near.key is not None and item.get("key") == near.key)
        try:
            memory = memory_of(item, kind)
        except Damaged as error:
            if mate:  # what it says in its slot must not be ignored
                raise
            log.error("a neighbour is left out: %s", error.detail)
            continue
        known = near.vector is not None and memory.embedding is not None
        similarity = float(np.dot(memory.embedding, near.vector)) if known else 0.0  # type: ignore[arg-type]
        if mate or (known and similarity >= near.floor):
            made[memory.id] = Neighbour(memory, similarity)
    return tuple(sorted(made.values(), key=lambda neighbour: -neighbour.similarity))

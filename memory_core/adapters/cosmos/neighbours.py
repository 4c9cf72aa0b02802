"""Memories shown to a decision about a new truth: its slot's, or else near ones.

Almost always that is one query. Note: no single query gives both. ORDER BY VectorDistance needs a TOP, and whatever else the WHERE
lets in, the TOP leaves out a member of the slot that is unlike the new truth; there is no union. But once the slot is filled it alone
decides, so the head's record of filled slots says which of the two to ask for.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from memory_core.adapters.cosmos import queries
from memory_core.adapters.cosmos.connection import Connection
from memory_core.adapters.cosmos.documents import Item, memory_of
from memory_core.domain.errors import Damaged
from memory_core.domain.memory import Head
from memory_core.domain.ranking.vectors import VectorKind
from memory_core.domain.scope import Owner
from memory_core.domain.truth.slots import marked
from memory_core.ports import Near, Neighbour

log = logging.getLogger(__name__)


async def nearby(connection: Connection, owner: Owner, near: Near, head: Head, only: str | None = None) -> list[Item]:
    """The memories that may be neighbours, whole.

    A second query is sent only when the slot was filled once and no memory is in it now.
    only: the model whose vectors count, where others' are beside them.
    """
    if near.key is not None:
        return (await connection.query(owner, queries.of_key(owner, near.key, near))).rows
    mates: list[Item] = []
    if near.slot is not None and (head.slots is None or marked(head.slots, near.slot)):
        mates = (await connection.query(owner, queries.in_slot(owner, near.slot, near))).rows
        if any(item["status"] in queries.FOUND and item["epoch"] == head.epoch for item in mates):
            return mates
    if near.vector is None:
        return mates
    return mates + (await connection.query(owner, queries.nearest(owner, near, near.vector, only))).rows


def neighbours(near: Near, items: Sequence[Mapping[str, Any]], epoch: str, kind: VectorKind) -> tuple[Neighbour, ...]:
    """The memories over the floor, in the slot or of the key, nearest first.

    A member of the slot or the key without a vector has similarity 0.
    """
    made: dict[str, Neighbour] = {}
    for item in items:
        if item["epoch"] != epoch or item["id"] in made:
            continue
        mate = near.slot is not None and (item.get("slot_subject"), item.get("slot_attribute")) == near.slot
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

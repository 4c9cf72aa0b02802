"""The other side of an open conflict: told beside a memory that is in one, so that neither looks as if it surely held.

Costs nothing where no conflict is open; else one read of the records and one of the memories.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from memory_core.domain.conflict import ConflictRecord
from memory_core.domain.excerpt import excerpt
from memory_core.domain.lifecycle import FOUND_BY_DEFAULT
from memory_core.domain.models import Memory
from memory_core.domain.scope import Owner
from memory_core.ledger.readable import readable_shown
from memory_core.ports import LongTermStore
from memory_core.recollection.telling import shown_at

MOST_CONFLICTS = 3
"""Open conflicts of one memory that are told, the latest."""
MOST_TOKENS = 30
"""Tokens of the other side that are told."""


async def disputed(store: LongTermStore, owner: Owner, memories: Iterable[Memory], moment: datetime) -> dict[str, tuple[str, ...]]:
    """By the id of a memory that is in an open conflict, a line for each memory on its other side, dated as at `moment`."""
    in_conflict = {memory.id: memory.conflict_ids[-MOST_CONFLICTS:] for memory in memories if memory.conflict_state == "pending"}
    names = sorted({name for conflict_ids in in_conflict.values() for name in conflict_ids})
    if not names:
        return {}
    documents = (await store.snapshot(owner, names)).documents
    records = {name: ConflictRecord.model_validate(document.body) for name, document in documents.items()}
    sides = {side for record in records.values() if record.status == "pending" for side in (record.old_id, record.new_id) if side}
    read, _ = readable_shown(await store.memories(owner, sorted(sides)) if sides else {})
    return {
        name: tuple(
            _line(other, moment)
            for conflict_id in conflict_ids
            if (record := records.get(conflict_id)) is not None
            and record.status == "pending"
            and (other := read.get(record.new_id or "" if record.old_id == name else record.old_id)) is not None
            and other.status in FOUND_BY_DEFAULT
        )
        for name, conflict_ids in in_conflict.items()
    }


def _line(other: Memory, moment: datetime) -> str:
    day = shown_at(other.event_timestamp, moment).date().isoformat()
    return f"in conflict with what was said on {day}: {excerpt(other.content, (), MOST_TOKENS)}"

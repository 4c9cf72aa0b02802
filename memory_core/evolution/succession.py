"""How one memory follows another: superseded by it, merged with it, and of one that is alone in its slot when it was told and ended."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from memory_core.domain.chunks import joint_vector
from memory_core.domain.indexing import with_lexical
from memory_core.domain.models import MAX_CONTENT_BYTES, Memory, Status
from memory_core.domain.truth.values import slot_name
from memory_core.evolution.truth_commands import merged_elsewhere, retracts
from memory_core.ledger.batch import Change

MAX_JOINED_BYTES = int(0.6 * MAX_CONTENT_BYTES)
"""Two memories whose texts are longer together are kept both instead of merged."""
MAX_TELLINGS = 40
"""Moments that a memory without a slot remembers to have been told at: the first and the latest of them."""


def tellings(memory: Memory) -> list[datetime]:
    """The event times at which it was told, in order; at least one."""
    return sorted({*memory.told_at, memory.event_timestamp})


def first_telling(memory: Memory) -> datetime:
    """When it was told first."""
    return tellings(memory)[0]


def kept(moments: Iterable[datetime]) -> list[datetime]:
    """As many of the moments as a memory remembers; none where there is but one, which `event_timestamp` holds."""
    ordered = sorted(set(moments))
    if len(ordered) == 1:
        return []
    return ordered if len(ordered) <= MAX_TELLINGS else [ordered[0], *ordered[1 - MAX_TELLINGS :]]


def over(old: Memory, new: Memory) -> bool:
    """Whether the old one had ended when the new one begins: then it neither says the same nor contradicts it."""
    return old.valid_until is not None and old.valid_until <= new.valid_from


def ended(old: Memory, moment: datetime) -> Memory:
    """A memory that ends at `moment` at the latest, though never before it began."""
    until = max(moment, old.valid_from)
    return old.model_copy(update={"valid_until": until if old.valid_until is None else min(old.valid_until, until)})


def superseded_by(old: Memory, new: Memory, now: datetime) -> Memory:
    """The old memory as it is once the new one holds; its validity ends where the new one's begins."""
    fallen = {"status": Status.SUPERSEDED, "status_reason": "contradicted", "next_id": new.id, "conflict_state": "resolved"}
    return ended(old, new.valid_from).model_copy(update={**fallen, "updated_at": now})


def supersession(old: Memory, new: Memory, conflict_id: str, now: datetime) -> Change:
    """The end of a memory that another one supersedes, which is not of its slot."""
    act = retracts(old, new, conflict_id) if slot_name(old) is not None else None
    return Change("superseded", superseded_by(old, new, now), old, {"conflict_id": conflict_id}, says=act)


def merger(source: Memory, merged: Memory, conflict_id: str, now: datetime, *, leaves_slot: bool) -> Change:
    """The end of a memory that is merged into another one. leaves_slot: whether its slot does not learn it from the merged one."""
    into = [*source.consolidated_into_ids, merged.id]
    fields = {"status": Status.UPDATED, "status_reason": "consolidated", "consolidated_into_ids": into}
    act = merged_elsewhere(source, merged, conflict_id) if leaves_slot and slot_name(source) is not None else None
    return Change("merged", superseded_by(source, merged, now).model_copy(update=fields), source, {"conflict_id": conflict_id}, says=act)


def joined_length(old: Memory, new: Memory) -> int:
    """The bytes of the text of both."""
    return len(old.content.encode()) + len(new.content.encode()) + 1


def joined(old: Memory, new: Memory, fields: Mapping[str, Any]) -> Memory:
    """The new memory with both texts, oldest first, and a vector of two chunks. fields: what it has of its own."""
    first, second = sorted((old, new), key=lambda memory: memory.event_timestamp)
    both = {
        "content": f"{first.content}\n{second.content}",
        "value": None,
        "value_text": None,
        "tags": list(dict.fromkeys([*old.tags, *new.tags]))[:50],
        "entities": list(dict.fromkeys([*old.entities, *new.entities]))[:50],
        "event_timestamp": second.event_timestamp,
        "valid_from": max(old.valid_from, new.valid_from),
        "valid_until": latest_end(old, new),
        "supersedes_id": old.id,
        "conflict_state": "resolved",
        "embedding": joint_vector(first, second),
    }
    return with_lexical(new.model_copy(update={**both, **fields}))


def latest_end(old: Memory, new: Memory) -> datetime | None:
    """When a memory that says both ends: with the later of the two, if both end."""
    ends = [memory.valid_until for memory in (old, new) if memory.valid_until is not None]
    return max(ends) if len(ends) == 2 else None

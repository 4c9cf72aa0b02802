"""Bringing back what was deleted, faded or replaced: what it becomes, and what becomes of others.

A member of a slot says to its log that it is back; when it holds follows from that. Note: a memory that is alone in its slot and had been
replaced before somebody deleted it is history, and stays that; only its place in the chain says so.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from memory_core.domain.lifecycle import TRUE_ONCE
from memory_core.domain.models import Memory, Status
from memory_core.domain.truth.values import slot_name
from memory_core.evolution.truth_commands import undoes
from memory_core.ledger.changes import Change


def restored(memory: Memory, reason: str, now: datetime) -> list[Change]:
    """What brings a deleted or faded memory back into use, its last state the last of its own."""
    # Who restores it looks at it: it would else fade again within the hour.
    active: dict[str, Any] = {"status": Status.ACTIVE, "status_reason": "restored", "change_reason": reason}
    back = memory.model_copy(update={**active, "updated_at": now, "last_accessed_at": now})
    first = Change("restored", back, memory, {"reason": reason})
    if slot_name(memory) is not None or memory.status is not Status.DELETED or memory.next_id is None:
        return [first]
    if memory.status_reason in TRUE_ONCE:  # an agent took it for contradicted: whoever restores it says that it was not
        return [replace(first, after=back.model_copy(update={"next_id": None, "valid_until": None}))]
    merged = memory.next_id in memory.consolidated_into_ids
    past = {"status": Status.UPDATED, "status_reason": "consolidated"} if merged else {"status": Status.SUPERSEDED}
    history = back.model_copy(update={"status_reason": "contradicted", **past})
    return [first, Change(history.status.value, history, back)]


def undone(memory: Memory, successor: Memory | None, reason: str, now: datetime) -> list[Change]:
    """What lets a superseded or merged memory hold again.

    Args:
        memory: the memory.
        successor: what `next_id` leads to, if it is there.
        reason: why, as the events say.
        now: the moment of the commit.

    Returns:
        Its own change, and that of a successor which replaced it and is alone in its slot, or in another one: that falls.

    """
    in_slot = slot_name(memory) is not None
    replaced = memory.status is Status.SUPERSEDED and successor is not None and successor.status in (Status.ACTIVE, Status.COMPRESSED)
    ends_there = successor is None or memory.valid_until == max(successor.valid_from, memory.valid_from)
    fields: dict[str, Any] = {
        "status": Status.ACTIVE,
        "status_reason": "restored",
        "change_reason": reason,
        "next_id": None,
        "valid_until": None if ends_there or memory.status is Status.UPDATED else memory.valid_until,
        "updated_at": now,
        "last_accessed_at": now,
    }
    back = memory.model_copy(update=fields)
    changes = [Change("restored", back, memory, {"reason": reason}, says=undoes(memory.id) if in_slot else None)]
    if replaced and successor is not None and (not in_slot or slot_name(successor) != slot_name(memory)):
        changes.append(Change("contradicted", _fallen(successor, back, now), successor, {"reason": "undone"}))
    return changes


def _fallen(one: Memory, back: Memory, now: datetime) -> Memory:
    """It never was so: no look back in time finds it."""
    return one.model_copy(
        update={
            "status": Status.DELETED,
            "status_reason": "contradicted",
            "next_id": back.id,
            "supersedes_id": None if one.supersedes_id == back.id else one.supersedes_id,
            "valid_until": one.valid_from,
            "conflict_state": "resolved",
            "updated_at": now,
        }
    )

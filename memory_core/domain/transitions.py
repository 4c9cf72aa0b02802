"""Transitions of a memory: each by its name, with what the next state says, why and since when."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from memory_core.domain.memory import Memory, Status, back_in_use

ConflictState = Literal["none", "pending", "resolved"]
"""Whether a memory is a side of no conflict, of one that waits for a decision,
or of one that is decided.
"""


def delete(memory: Memory, reason: str, now: datetime, **fields: Any) -> Memory:
    """The memory as it is deleted, though not removed.

    Args:
        memory: In any status.
        reason: A `status_reason` of what is deleted.
        now: When that is.
        fields: What changes besides.

    """
    return memory.model_copy(
        update={**fields, "status": Status.DELETED, "status_reason": reason, "updated_at": now}
    )


def decay(memory: Memory, now: datetime) -> Memory:
    """The memory as it has faded: kept, and found by who asks for such."""
    return memory.model_copy(
        update={"status": Status.DECAYED, "status_reason": "importance_decay", "updated_at": now}
    )


def recall(memory: Memory, now: datetime) -> Memory:
    """The memory as it is in use again, having faded and been found or told again."""
    return memory.model_copy(update=back_in_use(now))


def restore(memory: Memory, now: datetime, **fields: Any) -> Memory:
    """The memory as it is brought back from any other status, which counts as an access;
    `fields` change besides.
    """
    back = {
        "status": Status.ACTIVE,
        "status_reason": "restored",
        "updated_at": now,
        "last_accessed_at": now,
    }
    return memory.model_copy(update={**fields, **back})


def end_validity(memory: Memory, moment: datetime) -> Memory:
    """The memory as it is true until `moment` at the latest, though never to before it began."""
    until = max(moment, memory.valid_from)
    return memory.model_copy(
        update={
            "valid_until": until if memory.valid_until is None else min(memory.valid_until, until)
        }
    )


def mark_conflict(memory: Memory, state: ConflictState, **fields: Any) -> Memory:
    """The memory as the side of a conflict in this state; `fields` change besides."""
    return memory.model_copy(update={**fields, "conflict_state": state})


def retire(
    memory: Memory, successor: Memory, status: Status, reason: str, now: datetime, **fields: Any
) -> Memory:
    """The memory as another one takes its place, where that begins at the latest.

    Args:
        memory: What gives way.
        successor: What it leads to from now on.
        status: `UPDATED` where it was merged into the successor, `SUPERSEDED` or `DELETED` where
            that replaces it.
        reason: A `status_reason` of that status.
        now: When that is.
        fields: What changes besides.

    """
    if status is Status.UPDATED:
        fields["consolidated_into_ids"] = [*memory.consolidated_into_ids, successor.id]
    changed = {
        **fields,
        "status": status,
        "status_reason": reason,
        "next_id": successor.id,
        "updated_at": now,
    }
    return end_validity(memory, successor.valid_from).model_copy(update=changed)

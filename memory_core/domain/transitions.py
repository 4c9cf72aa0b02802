"""Transitions of a memory to its next state, and which status may follow which.

Each sets the fields of that state, such as the status, its reason and the time of the change.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Literal, Unpack

from memory_core.domain.errors import Conflict
from memory_core.domain.memory import Memory, MemoryFields, Status

ConflictState = Literal["none", "pending", "resolved"]
"""A memory's part in conflicts: none, a pending conflict or a resolved conflict."""


def delete(memory: Memory, reason: str, now: datetime, **fields: Unpack[MemoryFields]) -> Memory:
    """The memory, deleted softly.

    Args:
        memory: A memory in any status.
        reason: A `status_reason` of deleted memories.
        now: The time of the change.
        fields: Other fields to change.

    """
    gone: MemoryFields = {"status": Status.DELETED, "status_reason": reason, "updated_at": now}
    return memory.changed(**(fields | gone))


def decay(memory: Memory, now: datetime) -> Memory:
    """The memory as decayed: kept, and found by queries that ask for such memories.

    Args:
        memory: A memory that has faded.
        now: The time of the change.

    """
    return memory.changed(status=Status.DECAYED, status_reason="importance_decay", updated_at=now)


def recall(memory: Memory, now: datetime) -> Memory:
    """The memory in use again after it had faded and was found or said again.

    Args:
        memory: A decayed memory.
        now: The time of the change.

    """
    return memory.changed(**back_in_use(now))


def restore(memory: Memory, now: datetime, **fields: Unpack[MemoryFields]) -> Memory:
    """The memory, brought back from any other status, which counts as an access.

    Args:
        memory: A memory in any status.
        now: The time of the change.
        fields: Other fields to change.

    """
    back: MemoryFields = {
        "status": Status.ACTIVE,
        "status_reason": "restored",
        "updated_at": now,
        "last_accessed_at": now,
    }
    return memory.changed(**(fields | back))


def reactivate(memory: Memory) -> Memory:
    """The memory as it is active again, on the way to its next status.

    Some statuses may only follow `active`: then the change takes two steps.
    """
    return memory.changed(status=Status.ACTIVE, status_reason="restored")


def contradict(memory: Memory, now: datetime) -> Memory:
    """The memory as it is no longer true, without a successor.

    Args:
        memory: In use until now.
        now: When its validity was found to be over.

    """
    return memory.changed(status=Status.SUPERSEDED, status_reason="contradicted", updated_at=now)


def touch(memory: Memory, now: datetime) -> Memory:
    """The memory as it was mentioned again: only its time of change is new.

    Args:
        memory: In any status.
        now: When it was mentioned.

    """
    return memory.changed(updated_at=now)


def compress(memory: Memory, now: datetime) -> Memory:
    """The memory as a short text has taken the place of its long text.

    Args:
        memory: With the short text.
        now: When that is.

    """
    return memory.changed(status=Status.COMPRESSED, status_reason="compressed", updated_at=now)


def end_validity(memory: Memory, moment: datetime) -> Memory:
    """The memory, true until a moment at the latest.

    Args:
        memory: The memory.
        moment: The latest end; the end is never before the validity begins.

    """
    until = max(moment, memory.valid_from)
    return memory.changed(
        valid_until=until if memory.valid_until is None else min(memory.valid_until, until)
    )


def mark_conflict(memory: Memory, state: ConflictState, **fields: Unpack[MemoryFields]) -> Memory:
    """The memory as the side of a conflict.

    Args:
        memory: The memory.
        state: The state of the conflict.
        fields: Other fields to change.

    """
    return memory.changed(**(fields | {"conflict_state": state}))


def retire(
    memory: Memory,
    successor: Memory,
    status: Status,
    reason: str,
    now: datetime,
    conflict_state: ConflictState | None = None,
) -> Memory:
    """The memory as another one takes its place, where that begins at the latest.

    Args:
        memory: What gives way.
        successor: What it leads to from now on.
        status: `UPDATED` where it was merged into the successor, `SUPERSEDED` or `DELETED` where
            that replaces it.
        reason: A `status_reason` of that status.
        now: When that is.
        conflict_state: Its state as the side of a conflict; None where that stays as it is.

    """
    changed: MemoryFields = {
        "status": status,
        "status_reason": reason,
        "next_id": successor.id,
        "updated_at": now,
    }
    if conflict_state is not None:
        changed["conflict_state"] = conflict_state
    if status is Status.UPDATED:
        changed["consolidated_into_ids"] = [*memory.consolidated_into_ids, successor.id]
    return end_validity(memory, successor.valid_from).changed(**changed)


# The status transitions of a memory, with their reasons.
#
# Any other transition is a 409 whose answer names the allowed transitions. `active` may follow
# `active` (a caller confirms it); no other status follows itself.


_MOVES: Mapping[Status, frozenset[Status]] = MappingProxyType(
    {
        Status.ACTIVE: frozenset(Status),
        Status.UPDATED: frozenset({Status.ACTIVE, Status.ARCHIVED, Status.DELETED}),
        Status.SUPERSEDED: frozenset({Status.ACTIVE, Status.ARCHIVED, Status.DELETED}),
        Status.DECAYED: frozenset({Status.ACTIVE, Status.ARCHIVED, Status.DELETED}),
        Status.COMPRESSED: frozenset(
            {Status.ACTIVE, Status.SUPERSEDED, Status.ARCHIVED, Status.DELETED}
        ),
        # Back as it was: a superseded truth that came back as an active one would be a
        # second truth.
        Status.ARCHIVED: frozenset(Status) - {Status.ARCHIVED},
        Status.DELETED: frozenset({Status.ACTIVE}),
    }
)

REASONS: Mapping[Status, frozenset[str]] = MappingProxyType(
    {
        Status.ACTIVE: frozenset(
            {"created", "consolidated", "restored", "recalled", "manual_update"}
        ),
        Status.UPDATED: frozenset({"consolidated"}),
        Status.SUPERSEDED: frozenset({"new_version", "contradicted"}),
        Status.DECAYED: frozenset({"importance_decay"}),
        Status.COMPRESSED: frozenset({"compressed"}),
        Status.ARCHIVED: frozenset({"age_decay"}),
        Status.DELETED: frozenset(
            {
                "contradicted",
                "consolidated",
                "cleared",
                "forgotten",
                "manual_delete",
                "cell_deleted",
            }
        ),
    }
)
"""The `status_reason` values that the product itself writes, for each status."""

FOUND_BY_DEFAULT = frozenset({Status.ACTIVE, Status.COMPRESSED})
"""Statuses that a read shows when it asks for no status."""

BY_HAND = (Status.ACTIVE, Status.DELETED)
"""Statuses that a caller may set; every other status is set by the product alone."""

TRUE_ONCE = frozenset({"contradicted", "consolidated", "new_version"})
"""Reasons that end a truth without taking it back.

A read at a moment inside its validity still finds such a memory.
"""


def back_in_use(now: datetime) -> MemoryFields:
    """The fields of a memory that had faded and was found or stated again."""
    return {"status": Status.ACTIVE, "status_reason": "recalled", "updated_at": now}


def allowed(current: Status) -> frozenset[Status]:
    """The statuses that may follow `current`."""
    return _MOVES[current]


def check_move(current: Status, wanted: Status) -> None:
    """Check that a status may follow the current status.

    Args:
        current: The memory's status.
        wanted: The status that it is to have.

    Raises:
        Conflict: `wanted` may not follow `current`; the detail names the statuses that may.

    """
    if wanted in _MOVES[current]:
        return
    choices = ", ".join(status.value for status in Status if status in _MOVES[current])
    raise Conflict(
        f"a memory that is {current.value} can't become {wanted.value}; allowed: {choices}"
    )

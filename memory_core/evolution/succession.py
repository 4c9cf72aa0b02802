"""How a memory follows another memory, and a record by which that can be undone.

A memory is superseded by another memory, or merged with it. A memory without a shared slot also
remembers when it was asserted, and when it ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from memory_core.domain.conflict import ConflictRecord, Move
from memory_core.domain.memory import (
    MAX_CONTENT_BYTES,
    UNLOGGED_FIELDS,
    EventType,
    Memory,
    MemoryFields,
    Status,
)
from memory_core.domain.ranking.index_terms import with_lexical
from memory_core.domain.ranking.vectors import joint_vector
from memory_core.domain.scope import Owner
from memory_core.domain.transitions import delete, retire
from memory_core.evolution.truth_commands import merged_elsewhere, retracts
from memory_core.ledger.changes import Change

MAX_JOINED_BYTES = int(0.6 * MAX_CONTENT_BYTES)
"""If the texts of two memories are longer together, both are kept instead of merged."""
MAX_TELLINGS = 40
"""Moments of assertion that a memory without a slot remembers: the first moment, and the latest
moments.
"""


def tellings(memory: Memory) -> list[datetime]:
    """The event times at which a memory was asserted, in order."""
    return sorted({*memory.told_at, memory.event_timestamp})


def first_telling(memory: Memory) -> datetime:
    """When a memory was first asserted."""
    return tellings(memory)[0]


def kept(moments: Iterable[datetime]) -> list[datetime]:
    """As many of the moments as a memory remembers.

    The result is empty for a single moment, which `event_timestamp` holds.
    """
    ordered = sorted(set(moments))
    if len(ordered) == 1:
        return []
    return ordered if len(ordered) <= MAX_TELLINGS else [ordered[0], *ordered[1 - MAX_TELLINGS :]]


def over(old: Memory, new: Memory) -> bool:
    """Whether the old memory had ended when the new memory begins.

    Then it neither says the same nor contradicts it.

    Args:
        old: A memory.
        new: A later memory.

    """
    return old.valid_until is not None and old.valid_until <= new.valid_from


_ENDS: Mapping[Status, tuple[EventType, str]] = {
    Status.SUPERSEDED: ("superseded", "contradicted"),
    Status.UPDATED: ("merged", "consolidated"),
    Status.DELETED: ("contradicted", "contradicted"),
}
"""The event and the reason by which a memory gets each of these statuses."""


def succeeded(
    old: Memory,
    new: Memory,
    status: Status,
    conflict_id: str,
    now: datetime,
    *,
    leaves_slot: bool = True,
) -> Change:
    """The end of a memory that another memory supersedes, merges or contradicts.

    Its validity ends where that of the other memory begins.

    Args:
        old: The memory that ends.
        new: The memory that follows it.
        status: Status that the old memory gets.
        conflict_id: Id of the conflict's record.
        now: The present time.
        leaves_slot: Whether its slot, if it has a slot, does not learn this from the new memory.

    """
    event, reason = _ENDS[status]
    retired = retire(old, new, status, reason, now, conflict_state="resolved")
    act = None
    if leaves_slot and status is not Status.DELETED:
        ends = merged_elsewhere if status is Status.UPDATED else retracts
        act = ends(old, new, conflict_id)
    return Change(event, retired, old, {"conflict_id": conflict_id}, says=act)


def joined_length(old: Memory, new: Memory) -> int:
    """The bytes of both texts together.

    Args:
        old: A memory.
        new: The other memory.

    """
    return len(old.content.encode()) + len(new.content.encode()) + 1


def joined(old: Memory, new: Memory, fields: MemoryFields) -> Memory:
    """The new memory with both texts, the oldest first, and a vector of two chunks.

    Args:
        old: A memory.
        new: The other memory, whose remaining fields are kept.
        fields: Further fields of the result.

    """
    first, second = sorted((old, new), key=lambda memory: memory.event_timestamp)
    both: MemoryFields = {
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
    return with_lexical(new.changed(**(both | fields)))


def latest_end(old: Memory, new: Memory) -> datetime | None:
    """When a memory with both texts ends: with the later memory, if both end.

    Args:
        old: A memory.
        new: The other memory.

    Returns:
        None if a memory does not end.

    """
    ends = [memory.valid_until for memory in (old, new) if memory.valid_until is not None]
    return max(ends) if len(ends) == 2 else None


# What a decision changed in each memory, written down so that it can be taken back exactly.
#
# Note: a memory that was merely told again since may be moved back; one that was edited, superseded
# or deleted since may not. What grows by itself, such as the list of its sources, keeps its growth.


_LEFT = ("status", "version", "next_id")
"""Fields that must still be as the decision left them."""
_GROWING = {"source_ids", "consolidated_into_ids", "atomic_facts"}
_ASIDE = UNLOGGED_FIELDS | {
    "updated_at",
    "conflict_state",
    "conflict_ids",
    "reinforcement_count",
    "last_used_at",
}


def moves_of(changes: Iterable[Change], draft: Memory | None = None) -> list[Move]:
    """The moves that some changes make.

    A created memory that is not the draft was made by the decision.

    Args:
        changes: Changes of a decision.
        draft: The new memory as it would be without a contradiction; the decision may have left it
            out.

    """
    first: dict[str, Memory | None] = {} if draft is None else {draft.id: draft}
    last: dict[str, Memory] = {}
    for change in changes:
        first.setdefault(change.after.id, change.before)
        last[change.after.id] = change.after
    return [_move(name, before, last.get(name)) for name, before in first.items()]


def _move(name: str, before: Memory | None, after: Memory | None) -> Move:
    aside = set(UNLOGGED_FIELDS if after is None else _ASIDE)
    was = None if before is None else before.model_dump(mode="json", exclude=aside)
    if after is None:
        return Move(memory_id=name, before=was, after=None)
    left = after.model_dump(mode="json", exclude=aside)
    if was is not None:
        was = {field: value for field, value in was.items() if value != left[field]}
    fields = (*_LEFT, *(_GROWING & (was or {}).keys()))
    return Move(memory_id=name, before=was, after={field: left[field] for field in fields})


def in_the_way(moves: Sequence[Move], memories: dict[str, Memory]) -> list[str]:
    """Later changes, in words, that prevent the undoing of a decision.

    Args:
        moves: Moves of the decision.
        memories: As they are now, by id.

    Returns:
        Empty if the decision can be undone.

    """
    obstacles = (_since(move, memories.get(move.memory_id)) for move in moves)
    return [obstacle for obstacle in obstacles if obstacle is not None]


def _since(move: Move, current: Memory | None) -> str | None:
    if move.after is None:
        return None if current is None else f"{move.memory_id} is there already"
    if current is None:
        return f"{move.memory_id} is gone"
    by = f" by {current.next_id}" if current.next_id is not None else ""
    if current.status.value != move.after["status"]:
        return f"{move.memory_id} is {current.status.value}{by} since"
    if current.version != move.after["version"]:
        return f"{move.memory_id} was edited since"
    if current.next_id != move.after["next_id"]:
        return f"{move.memory_id} is followed{by or ' by nothing'} since"
    return None


def moved_back(
    move: Move, current: Memory | None, owner: Owner, record: ConflictRecord, now: datetime
) -> Memory:
    """The memory as it would be without the decision.

    Later changes must not be in the way. Restored text has neither words nor a vector yet.

    Args:
        move: Move of the decision.
        current: The memory as it is now; None if it is not stored.
        owner: Whose memory it is.
        record: Record of the decision.
        now: The present time.

    """
    if move.before is None:
        assert current is not None
        return delete(current, "manual_delete", now, change_reason=f"{record.id} was undone")
    if current is None:
        return Memory.model_validate(
            {**move.before, "app_id": owner.app_id, "user_id": owner.user_id, "updated_at": now}
        )
    state, fields = current.model_dump(mode="json"), {**move.before, "updated_at": now}
    for name in _GROWING & fields.keys():
        known = [_named(item) for item in (*fields[name], *(move.after or {}).get(name, []))]
        fields[name] = [*fields[name], *(each for each in state[name] if _named(each) not in known)]
    if state["supersedes_id"] not in record.memory_ids:  # another decision's to take back
        fields.pop("supersedes_id", None)
    back = Memory.model_validate({**state, **fields})
    back.embedding = current.embedding
    return back


def _named(item: Any) -> Any:
    """The id by which an item of a growing list is known."""
    return item["fact_id"] if isinstance(item, dict) else item


def brings_text(move: Move) -> bool:
    """Whether undoing this move gives a memory another text."""
    return move.before is not None and "content" in move.before

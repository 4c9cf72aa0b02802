"""How a memory follows another memory, and a record by which that can be undone.

A memory is superseded by another memory, or merged with it. A memory without a shared slot also
remembers when it was asserted, and when it ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from memory_core.domain.conflict import ConflictRecord, Move
from memory_core.domain.event_log import EventType
from memory_core.domain.memory import (
    MAX_CONTENT_BYTES,
    UNLOGGED_FIELDS,
    Memory,
    MemoryFields,
    Status,
)
from memory_core.domain.ranking.index_terms import with_lexical
from memory_core.domain.ranking.vectors import joint_vector
from memory_core.domain.scope import Owner
from memory_core.domain.transitions import delete, retire
from memory_core.domain.truth.slots import slot_name
from memory_core.evolution.truth_commands import merged_elsewhere, retracts
from memory_core.ledger.batch import Change

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
    if leaves_slot and slot_name(old) is not None and status is not Status.DELETED:
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


# What a decision did to each memory, written down so that it can be taken back exactly:
# status, validity, chain, text.
#
# Note: a memory that was merely told again since may be moved back, one that was edited, superseded
# or deleted since may not. So only what says which state a memory is in is compared; and what grows
# by itself, as the list of its sources does, is not set back.


_STANDING = (
    "status",
    "status_reason",
    "version",
    "next_id",
    "supersedes_id",
    "valid_from",
    "valid_until",
)
"""Fields that must still be as the decision left them."""
_GROWING = ("source_ids", "consolidated_into_ids", "atomic_facts")
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
    first: dict[str, Memory | None] = {}
    last: dict[str, Memory] = {}
    for change in changes:
        first.setdefault(change.after.id, change.before)
        last[change.after.id] = change.after
    moves = [
        _move(draft if draft is not None and draft.id == name else first[name], after)
        for name, after in last.items()
    ]
    if draft is not None and draft.id not in last:
        before = draft.model_dump(mode="json", exclude=set(UNLOGGED_FIELDS))
        moves.append(Move(memory_id=draft.id, before=before, after=None))
    return moves


def succession(remaining: Memory, superseded: Memory) -> list[Move]:
    """The move by which a remaining memory names the memory that it superseded.

    Args:
        remaining: The memory that remains.
        superseded: The memory that gave way.

    Returns:
        Empty where the remaining memory does not name the other.

    """
    if remaining.supersedes_id != superseded.id:
        return []
    return moves_of([Change("created", remaining, remaining.changed(supersedes_id=None))])


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
    state = current.model_dump(mode="json")
    fields = {name: value for name, value in move.before.items() if name not in _GROWING}
    if "status" not in fields and _ends_earlier(move, current):
        fields.pop("valid_until", None)
    for name in (name for name in _GROWING if name in move.before):
        was = move.before[name]
        known = [_named(item) for item in (*was, *(move.after or {}).get(name, []))]
        fields[name] = [*was, *(item for item in state[name] if _named(item) not in known)]
    back = Memory.model_validate({**state, **fields, "updated_at": now})
    back.embedding = current.embedding
    return back


def _named(item: Any) -> Any:
    """The id by which an item of a growing list is known."""
    return item["fact_id"] if isinstance(item, dict) else item


def brings_text(move: Move) -> bool:
    """Whether undoing this move gives a memory another text."""
    return move.before is not None and "content" in move.before


def _move(before: Memory | None, after: Memory) -> Move:
    new = after.model_dump(mode="json", exclude=set(_ASIDE))
    standing = {name: new[name] for name in _STANDING}
    if before is None:
        return Move(memory_id=after.id, before=None, after=standing)
    old = before.model_dump(mode="json", exclude=set(_ASIDE))
    changed = {name: value for name, value in new.items() if old[name] != value}
    was = {name: old[name] for name in changed}
    return Move(memory_id=after.id, before=was, after=standing | changed)


def _since(move: Move, current: Memory | None) -> str | None:
    if move.after is None:
        return None if current is None else f"{move.memory_id} is there already"
    if current is None:
        return f"{move.memory_id} is gone"
    now: dict[str, Any] = current.model_dump(mode="json", include=set(move.after))
    # Whom a memory replaced first is another decision's to take back, where this one left
    # it as it was.
    aside = (
        _GROWING
        if move.before is None or "supersedes_id" in move.before
        else (*_GROWING, "supersedes_id")
    )
    different = [
        name for name, value in move.after.items() if name not in aside and now[name] != value
    ]
    if not different or (different == ["valid_until"] and _ends_earlier(move, current)):
        return None
    if "status" in different:
        by = f" by {current.next_id}" if current.next_id is not None else ""
        return f"{move.memory_id} is {current.status.value}{by} since"
    if "version" in different:
        return f"{move.memory_id} was edited since"
    if "next_id" in different:
        return f"{move.memory_id} is followed by {current.next_id or 'nothing'} since"
    return f"{move.memory_id} has another {' and '.join(different)} since"


def _ends_earlier(move: Move, current: Memory) -> bool:
    """Whether a past truth has got an earlier end since the decision.

    Such an end prevents no undo, and is kept.
    """
    assert move.after is not None
    if current.status is not Status.SUPERSEDED or current.valid_until is None:
        return False
    then = move.after["valid_until"]
    return then is None or current.valid_until < datetime.fromisoformat(then)

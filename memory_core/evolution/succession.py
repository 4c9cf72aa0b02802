"""How one memory follows another, and a record of it by which it can be taken back.

How one memory follows another: superseded by it, merged with it, and of one that is alone in its
slot when it was told and ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from memory_core.domain.conflict import ConflictRecord, Move
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
"""Two memories whose texts are longer together are kept both instead of merged."""
MAX_TELLINGS = 40
"""Moments that a memory without a slot remembers to have been told at: the first and the
latest of them.
"""


def tellings(memory: Memory) -> list[datetime]:
    """The event times at which it was told, in order; at least one."""
    return sorted({*memory.told_at, memory.event_timestamp})


def first_telling(memory: Memory) -> datetime:
    """When it was told first."""
    return tellings(memory)[0]


def kept(moments: Iterable[datetime]) -> list[datetime]:
    """As many of the moments as a memory remembers; none where there is but one,
    which `event_timestamp` holds.
    """
    ordered = sorted(set(moments))
    if len(ordered) == 1:
        return []
    return ordered if len(ordered) <= MAX_TELLINGS else [ordered[0], *ordered[1 - MAX_TELLINGS :]]


def over(old: Memory, new: Memory) -> bool:
    """Whether the old one had ended when the new one begins: then it neither says the same nor
    contradicts it.
    """
    return old.valid_until is not None and old.valid_until <= new.valid_from


_ENDS = {
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
    """The end of a memory that another one supersedes, or that is merged into it, or that it
    contradicts; its validity ends where that one's begins.

    leaves_slot: whether its slot, if it is in one, does not learn it from the other one.
    """
    event, reason = _ENDS[status]
    retired = retire(old, new, status, reason, now, conflict_state="resolved")
    act = None
    if leaves_slot and slot_name(old) is not None and status is not Status.DELETED:
        ends = merged_elsewhere if status is Status.UPDATED else retracts
        act = ends(old, new, conflict_id)
    return Change(event, retired, old, {"conflict_id": conflict_id}, says=act)


def joined_length(old: Memory, new: Memory) -> int:
    """The bytes of the text of both."""
    return len(old.content.encode()) + len(new.content.encode()) + 1


def joined(old: Memory, new: Memory, fields: MemoryFields) -> Memory:
    """The new memory with both texts, oldest first, and a vector of two chunks. fields:
    what it has of its own.
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
    """When a memory that says both ends: with the later of the two, if both end."""
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
"""What must still be as the decision left it."""
_GROWING = ("source_ids", "consolidated_into_ids", "atomic_facts")
_ASIDE = UNLOGGED_FIELDS | {
    "updated_at",
    "conflict_state",
    "conflict_ids",
    "reinforcement_count",
    "last_used_at",
}


def moves_of(changes: Iterable[Change], draft: Memory | None = None) -> list[Move]:
    """The moves that some changes are. draft: the new memory as it would be if it contradicted
    nothing; the decision may have left it out.

    A memory that is created and is not the draft was made by the decision.
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


def succession(stays: Memory, falls: Memory) -> list[Move]:
    """What a decision between these two did to the one that stays: it may name the other as the one
    that it replaces.
    """
    if stays.supersedes_id != falls.id:
        return []
    return moves_of([Change("created", stays, stays.changed(supersedes_id=None))])


def in_the_way(moves: Sequence[Move], memories: dict[str, Memory]) -> list[str]:
    """What has happened since to memories that a decision moved, in words; nothing when it can
    be taken back.
    """
    obstacles = (_since(move, memories.get(move.memory_id)) for move in moves)
    return [obstacle for obstacle in obstacles if obstacle is not None]


def moved_back(
    move: Move, current: Memory | None, owner: Owner, record: ConflictRecord, now: datetime
) -> Memory:
    """The memory as it was without the decision, for what is in nothing's way. Text that comes back
    has neither words nor vector yet.
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
    """What tells one of such a list from the others: an id, or the superseded fact."""
    return item["fact_id"] if isinstance(item, dict) else item


def brings_text(move: Move) -> bool:
    """Whether taking this back gives a memory another text than it has."""
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
    """Whether what is past was said since to end earlier than the decision let it:
    that is in the way of nothing, and stays.
    """
    assert move.after is not None
    if current.status is not Status.SUPERSEDED or current.valid_until is None:
        return False
    then = move.after["valid_until"]
    return then is None or current.valid_until < datetime.fromisoformat(then)

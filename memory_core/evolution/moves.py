"""What a decision did to each memory, written down so that it can be taken back exactly: status, validity, chain, text.

Note: a memory that was merely told again since may be moved back, one that was edited, superseded or deleted since may
not. So only what says which state a memory is in is compared; and what grows by itself, as the list of its sources does, is not set back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from memory_core.domain.conflict import ConflictRecord, Move
from memory_core.domain.models import UNLOGGED_FIELDS, Memory, Status
from memory_core.domain.scope import Owner
from memory_core.ledger.batch import Change

_STANDING = ("status", "status_reason", "version", "next_id", "supersedes_id", "valid_from", "valid_until")
"""What must still be as the decision left it."""
_GROWING = ("source_ids", "consolidated_into_ids", "atomic_facts")
_ASIDE = UNLOGGED_FIELDS | {"updated_at", "conflict_state", "conflict_ids", "reinforcement_count", "last_used_at"}


def moves_of(changes: Iterable[Change], draft: Memory | None = None) -> list[Move]:
    """The moves that some changes are. draft: the new memory as it would be if it contradicted nothing; the decision may have left it out.

    A memory that is created and is not the draft was made by the decision.
    """
    first: dict[str, Memory | None] = {}
    last: dict[str, Memory] = {}
    for change in changes:
        first.setdefault(change.after.id, change.before)
        last[change.after.id] = change.after
    moves = []
    for name, after in last.items():
        before = draft if draft is not None and draft.id == name else first[name]
        moves.append(_move(before, after))
    if draft is not None and draft.id not in last:
        moves.append(Move(memory_id=draft.id, before=draft.model_dump(mode="json", exclude=set(UNLOGGED_FIELDS)), after=None))
    return moves


def succession(stays: Memory, falls: Memory) -> list[Move]:
    """What a decision between these two did to the one that stays: it may name the other as the one that it replaces."""
    if stays.supersedes_id != falls.id:
        return []
    return moves_of([Change("created", stays, stays.model_copy(update={"supersedes_id": None}))])


def in_the_way(moves: Sequence[Move], memories: dict[str, Memory]) -> list[str]:
    """What has happened since to memories that a decision moved, in words; nothing when it can be taken back."""
    return [obstacle for move in moves if (obstacle := _since(move, memories.get(move.memory_id))) is not None]


def moved_back(move: Move, current: Memory | None, owner: Owner, record: ConflictRecord, now: datetime) -> Memory:
    """The memory as it was without the decision, for what is in nothing's way. Text that comes back has neither words nor vector yet."""
    if move.before is None:
        assert current is not None
        gone = {"status": Status.DELETED, "status_reason": "manual_delete", "change_reason": f"{record.id} was undone", "updated_at": now}
        return current.model_copy(update=gone)
    if current is None:
        return Memory.model_validate({**move.before, "app_id": owner.app_id, "user_id": owner.user_id, "updated_at": now})
    state = current.model_dump(mode="json")
    fields = {name: value for name, value in move.before.items() if name not in _GROWING}
    if "status" not in fields and _ends_earlier(move, current):
        fields.pop("valid_until", None)
    for name in (name for name in _GROWING if name in move.before):
        was, became = move.before[name], [_named(item) for item in (*move.before[name], *(move.after or {}).get(name, []))]
        fields[name] = [*was, *(item for item in state[name] if _named(item) not in became)]
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
    changed = [name for name, value in new.items() if old[name] != value]
    return Move(memory_id=after.id, before={name: old[name] for name in changed}, after=standing | {name: new[name] for name in changed})


def _since(move: Move, current: Memory | None) -> str | None:
    if move.after is None:
        return None if current is None else f"{move.memory_id} is there already"
    if current is None:
        return f"{move.memory_id} is gone"
    now: dict[str, Any] = current.model_dump(mode="json", include=set(move.after))
    # Whom a memory replaced first is another decision's to take back, where this one left it as it was.
    aside = _GROWING if move.before is None or "supersedes_id" in move.before else (*_GROWING, "supersedes_id")
    different = [name for name, value in move.after.items() if name not in aside and now[name] != value]
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
    """Whether what is past was said since to end earlier than the decision let it: that is in the way of nothing, and stays."""
    assert move.after is not None
    if current.status is not Status.SUPERSEDED or current.valid_until is None:
        return False
    then = move.after["valid_until"]
    return then is None or current.valid_until < datetime.fromisoformat(then)

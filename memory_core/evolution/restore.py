"""Restoring what was deleted: it becomes what it was, which need not be `active`.

One would get wrong: a truth that had been replaced before somebody deleted it is history, and stays that; only its place in the chain says
so, since a deletion writes its own reason over the older one. And what stood in a slot may find another truth there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory_core.domain.conflict import ConflictRecord
from memory_core.domain.endings import is_ending
from memory_core.domain.lifecycle import FOUND_BY_DEFAULT, TRUE_ONCE
from memory_core.domain.models import Memory, MemoryType, Status
from memory_core.domain.slots import same_value, slot_of
from memory_core.evolution.overlap import without_overlap
from memory_core.evolution.pairs import question
from memory_core.evolution.tellings import ended, following, over
from memory_core.ledger.changes import Change
from memory_core.ports import Document, Near

_WHY = "restored by hand while another truth stands in its slot"
_SAME = "restored by hand while another memory in its slot says the same"


@dataclass(frozen=True, slots=True)
class Restored:
    """The changes that restore a memory, its last state the last of its own; the record of a conflict that this brings up.

    opened: how many questions are open now that were not.
    """

    changes: tuple[Change, ...]
    memory: Memory
    conflict: ConflictRecord | None = None
    opened: int = 0


def slot_nears(memory: Memory) -> list[Near]:
    """What a look is asked for to see all truths of the memory's slot; nothing where it fills none."""
    slot = slot_of(memory) if memory.type is MemoryType.SEMANTIC else None
    return [] if slot is None else [Near(None, frozenset({MemoryType.SEMANTIC.value}), 1.0, slot)]


def restored(memory: Memory, truths: Sequence[Memory], reason: str, now: datetime, records: Mapping[str, Document]) -> Restored:
    """The memory as it was before it was deleted, or decayed. truths: the others of its slot, past ones too. records: of its conflicts.

    History comes back as history, and ends where the next truth begins that was told since; what was told since of the time before it
    ends where it begins; so does what stood, where nobody stands any more but others were told later. A truth that meets another one in
    its slot stays beside it, `pending`: who restores by hand has not said which of the two holds. So does one that had been replaced, where
    all that is left was told before it.
    """
    active: dict[str, Any] = {"status": Status.ACTIVE, "status_reason": "restored", "change_reason": reason}
    # Who restores it looks at it: it would else fade again within the hour.
    back = memory.model_copy(update={**active, "updated_at": now, "last_accessed_at": now})
    first = Change("restored", back, memory, {"reason": reason})
    if memory.status is Status.DELETED and memory.next_id is not None:
        if memory.status_reason not in TRUE_ONCE and not _last_of_all(back, truths):
            return _as_past(first, back, truths)
        # It stood, and an agent took it for contradicted: whoever restores it says that it was not. Or what replaced it is gone, and
        # what stands was told before it: that is no later truth to be history of.
        back = back.model_copy(update={"next_id": None, "valid_until": None})
        first = Change("restored", back, memory, {"reason": reason})
    standing = [one for one in truths if one.status in FOUND_BY_DEFAULT]
    if not standing and _follower(back, truths) is not None:
        return _as_past(first, back, truths)
    if not standing:
        return Restored(tuple(without_overlap([first], truths)), back)
    other = max(standing, key=lambda one: (one.event_timestamp, one.sequence))
    return beside(other, back, memory, reason, now, records)


def _last_of_all(back: Memory, truths: Sequence[Memory]) -> bool:
    """Whether it was told after all that is left, and shares a moment with one that stands; an ending gives way to that."""
    if is_ending(back) or back.next_id in back.consolidated_into_ids or back.valid_from == back.valid_until:
        return False
    rivals = [one for one in truths if one.status in FOUND_BY_DEFAULT and not over(one, back) and not over(back, one)]
    return bool(rivals) and _follower(back, truths) is None


def _as_past(first: Change, back: Memory, truths: Sequence[Memory]) -> Restored:
    past = _past(back, truths)
    second = Change(past.status.value, past, back)
    if past.status is not Status.SUPERSEDED:
        return Restored((first, second), past)
    changes = without_overlap([first, second], truths)
    return Restored(tuple(changes), changes[1].after)


def _past(back: Memory, truths: Sequence[Memory]) -> Memory:
    if back.next_id in back.consolidated_into_ids:
        return back.model_copy(update={"status": Status.UPDATED, "status_reason": "consolidated"})
    past = back.model_copy(update={"status": Status.SUPERSEDED, "status_reason": "contradicted"})
    later = _follower(past, truths)
    return past if later is None else ended(past, later.valid_from).model_copy(update={"next_id": later.id})


def _follower(back: Memory, truths: Sequence[Memory]) -> Memory | None:
    """The truth that was told next after it; not one that holds at no moment, or leads to it, as an ending does that was passed over."""
    return following(back, [one for one in truths if one.valid_from != one.valid_until and one.next_id != back.id])


def beside(other: Memory, back: Memory, memory: Memory, reason: str, now: datetime, records: Mapping[str, Document]) -> Restored:
    """`back`, what `memory` becomes, beside another truth of its slot: both stay, the conflict of the two waits to be decided, unless
    they say the same.

    records: by `pair_ids` of the two; where there is one, it is asked again in that.
    """
    record, opened = question(records, other.id, memory.id, _WHY, now)
    if opened and same_value(back, other):
        record, opened = record.model_copy(update={"status": "resolved", "strategy": "keep_both", "reason": _SAME}), 0
    about, state = {"conflict_id": record.id}, {"conflict_state": record.status}
    pending = back.model_copy(update=state)
    # What says the same may have another question open.
    marked = Change("conflict_marked", other if other.conflict_state == "pending" else other.model_copy(update=state), other, about)
    return Restored((Change("restored", pending, memory, {"reason": reason, **about}), marked), pending, record, opened)

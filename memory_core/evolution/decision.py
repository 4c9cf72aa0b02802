"""What a decision about an open conflict does to its two memories, as they are now: supersede, keep both, reject the new one, merge.

Note: here a person decides who has seen both, so event time settles nothing. What is superseded by hand may be the truth
that was told later; then it was never valid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from memory_core.domain.conflict import ConflictRecord, Decision, record_in
from memory_core.domain.conflict_requests import ResolveInput
from memory_core.domain.errors import Conflict
from memory_core.domain.lifecycle import FOUND_BY_DEFAULT
from memory_core.domain.models import Memory, Status
from memory_core.domain.truth.values import slot_name
from memory_core.domain.worth import most_lasting
from memory_core.evolution.moves import moves_of
from memory_core.evolution.page import Page
from memory_core.evolution.ruled import LookedElsewhere
from memory_core.evolution.succession import MAX_JOINED_BYTES, joined, joined_length, merger, supersession
from memory_core.evolution.truth_commands import merges, supersedes, withdraws
from memory_core.ledger.batch import Change
from memory_core.ledger.ids import derived
from memory_core.ports import Document

RESOLVED = "conflict_resolved"
MAX_REASON = 200
Effect = Callable[[Memory, Memory, ConflictRecord, datetime], list[Change]]


def decide(page: Page, document: Document, asked: ResolveInput, by: str) -> ConflictRecord:
    """Put the decision about a pending conflict onto the page; the record as it is then. Raises Conflict where a side does not stand."""
    record = record_in(document.body)
    old, new = standing_sides(page, record)
    return _resolved(page, document, asked, _EFFECTS[asked.decision](old, new, record, page.now), by)


def decide_by_time(page: Page, document: Document, reason: str, by: str) -> ConflictRecord:
    """Let the one of both that was told last hold, also where that is the one that was held; of two told at once, the one written last.

    Raises Conflict where a side does not stand, what would fall is pinned, or leads on to another memory already, or the one that holds
    leads back to it: whatever is superseded has one successor, and none of its successors is itself. Raises LookedElsewhere.
    """
    asked = ResolveInput(decision="supersede", reason=reason[:MAX_REASON])
    record = record_in(document.body)
    falls, stays = sorted(standing_sides(page, record), key=told_last)
    if falls.pinned:
        raise Conflict(f"{falls.id} is pinned")
    if are_of_one_slot(falls, stays):
        return _resolved(page, document, asked, _supersede(falls, stays, record, page.now), by)
    if falls.next_id is not None or stays.id == falls.id or _leads_to(page, stays, falls.id):
        raise Conflict(f"{falls.id} leads on to {falls.next_id or stays.id} already, or {stays.id} leads back to it")
    return _resolved(page, document, asked, _supersede(falls, stays, record, page.now), by)


def told_last(memory: Memory) -> tuple[datetime, int, str]:
    """By what the truth of two is settled: when it was told, then when it was written."""
    return memory.event_timestamp, memory.sequence, memory.id


def _leads_to(page: Page, memory: Memory, name: str) -> bool:
    """Whether a memory's successors lead to another one; a circle among them, or one that is not there, ends the way."""
    seen: set[str] = set()
    step: Memory | None = memory
    while step is not None and step.next_id is not None and step.next_id not in seen:
        if step.next_id == name:
            return True
        seen.add(step.next_id)
        if step.next_id not in page.asked and page.memory(step.next_id) is None:
            raise LookedElsewhere([step.next_id])
        step = page.memory(step.next_id)
    return False


def _resolved(page: Page, document: Document, asked: ResolveInput, changes: Sequence[Change], by: str) -> ConflictRecord:
    """Put the changes and the record that says how to take them back onto the page."""
    record = record_in(document.body)
    metadata = {"conflict_id": record.id, "decision": asked.decision, "reason": asked.reason}
    page.apply([replace(change, metadata=metadata) for change in changes])
    page.pending -= 1
    resolved = record.model_copy(
        update={
            "status": "resolved",
            "strategy": asked.decision,
            "reason": asked.reason or record.reason,
            "grounds": record.reason if asked.reason else None,
            "by": by,
            "at": page.now,
            "moves": moves_of(changes),
        }
    )
    page.puts[record.id] = replace(document, body={**document.body, **resolved.model_dump(mode="json")})
    return resolved


def standing_sides(page: Page, record: ConflictRecord) -> tuple[Memory, Memory]:
    """Both memories, the old one first. Raises Conflict that says what became of one that is not found by default any more."""
    sides = {name: page.memory(name) for name in record.sides}
    gone = [name for name, memory in sides.items() if memory is None or memory.status not in FOUND_BY_DEFAULT]
    if gone or record.new_id is None:
        became_of_them = " and ".join(became(name, sides[name]) for name in gone) or "the new one was never stored"
        raise Conflict(f"both memories must stand for that; {became_of_them}")
    old, new = sides[record.old_id], sides[record.new_id]
    assert old is not None
    assert new is not None
    return old, new


def became(name: str, memory: Memory | None) -> str:
    """What became of a memory, in words."""
    if memory is None:
        return f"{name} is gone"
    return f"{name} is {memory.status.value}{f' by {memory.next_id}' if memory.next_id is not None else ''}"


def _supersede(old: Memory, new: Memory, record: ConflictRecord, now: datetime) -> list[Change]:
    """In a slot the new one is said again, now; elsewhere the old one ends where the new one begins."""
    follows = new.supersedes_id or (old.id if old.supersedes_id != new.id else None)
    holds = new.model_copy(update={"supersedes_id": follows, "conflict_state": "resolved"})
    if are_of_one_slot(old, new):
        resolved_old = old.model_copy(update={"conflict_state": "resolved"})
        return [Change("superseded", resolved_old, old, says=supersedes(old.id, new.id, record.id)), Change(RESOLVED, holds, new)]
    return [supersession(old, new, record.id, now), Change(RESOLVED, holds, new)]


def _keep_both(old: Memory, new: Memory, record: ConflictRecord, now: datetime) -> list[Change]:
    return [Change(RESOLVED, side.model_copy(update={"conflict_state": "resolved"}), side) for side in (old, new)]


def _reject_new(old: Memory, new: Memory, record: ConflictRecord, now: datetime) -> list[Change]:
    """It was never true: no look back in time finds it, and nothing leads from it."""
    in_slot = slot_name(new) is not None
    gone = {"status": Status.DELETED, "status_reason": "contradicted" if in_slot else "manual_delete", "updated_at": now}
    resolved_old = old.model_copy(update={"conflict_state": "resolved"})
    rejected = new.model_copy(update={**gone, "conflict_state": "resolved"})
    return [Change("deleted", rejected, new, says=withdraws(new.id, record.id) if in_slot else None), Change(RESOLVED, resolved_old, old)]


def _merge(old: Memory, new: Memory, record: ConflictRecord, now: datetime) -> list[Change]:
    """A third memory with both texts, oldest first; both lead to it."""
    if (length := joined_length(old, new)) > MAX_JOINED_BYTES:
        raise Conflict(f"together they are too long for one memory, {length} bytes; keep both, or choose one")
    of_one_slot = are_of_one_slot(old, new)
    fields = {
        **_AS_NEW,
        "id": derived("mem", record.id, "merged", str(old.revision), str(new.revision)),
        "source_ids": [old.id, new.id],
        "created_at": now,
        "updated_at": now,
        **({"event_timestamp": now} if of_one_slot else {}),
        "pinned": old.pinned or new.pinned,
        "worth": most_lasting([old.worth, new.worth]),
    }
    merged = joined(old, new, fields)
    made = Change("created", merged, says=merges([old.id, new.id], merged, record.id) if of_one_slot else None)
    return [made, *(merger(source, merged, record.id, now, leaves_slot=not of_one_slot) for source in (old, new))]


def are_of_one_slot(first: Memory, second: Memory) -> bool:
    """Whether the log of one slot says what holds of these two."""
    return slot_name(first) is not None and slot_name(first) == slot_name(second)


_AS_NEW: dict[str, Any] = {
    "atomic_facts": [], "links": [], "status": Status.ACTIVE, "status_reason": "consolidated",
    "version": 1, "change_reason": None, "next_id": None, "consolidated_into_ids": [], "copied_from": None,
    "conflict_ids": [], "reinforcement_count": 0, "access_count": 0, "last_used_at": None, "last_accessed_at": None, "told_at": [],
    "sequence": 0,
}  # fmt: skip


_EFFECTS: Mapping[Decision, Effect] = {"supersede": _supersede, "keep_both": _keep_both, "reject_new": _reject_new, "merge": _merge}

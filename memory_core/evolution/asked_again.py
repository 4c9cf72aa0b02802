"""Questions that are asked again: memories that were kept side by side until a person decides, and are active side by side again.

Note: a question ends when one of its sides is deleted or replaced before it was decided. The log still has the pair, so the two hold
side by side again when that side comes back. What a person or a model decided stays decided.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from memory_core.domain.conflict import MAX_OPEN, RULE, record_in
from memory_core.domain.lifecycle import FOUND_BY_DEFAULT
from memory_core.domain.models import Head, Memory
from memory_core.domain.truth.entries import Pair
from memory_core.evolution.shelf import Shelf
from memory_core.evolution.slot_log import SlotLog
from memory_core.ledger.batch import Change, Changes, Result

MARKED = "conflict_marked"
_WHY = "both hold again"


async def asked_again(shelf: Shelf, changes: Changes[Result], slot: SlotLog, now: datetime) -> Changes[Result]:
    """The changes, with the undecided questions about memories that come back with them, open again.

    Args:
        shelf: where records and other sides are read.
        changes: what is about to be committed, complete as far as this slot goes.
        slot: the log of the slot as they leave it.
        now: the moment of the commit.

    Raises:
        Unavailable: the store does not answer.

    """
    pairs = _standing_pairs(slot, _risen(changes))
    if not pairs:
        return changes
    await shelf.read([name for pair in pairs for name in (pair.conflict_id or "", *pair.memory_ids)])
    states = {change.after.id: change.after for change in changes.changes}
    made, puts, given = [*changes.changes], [*changes.puts], {document.id for document in changes.puts}
    for pair in pairs:
        document = shelf.document(pair.conflict_id or "")
        sides = [states.get(name) or shelf.memory(name) for name in pair.memory_ids]
        if document is None or document.id in given or not all(_has_room(side) for side in sides):
            continue
        record = record_in(document.body)
        if record.open or record.by != RULE or {*record.sides} != {*pair.memory_ids}:
            continue
        opened = record.asked_again(RULE, now, _WHY)
        puts.append(replace(document, body={**document.body, **opened.model_dump(mode="json")}))
        for side in sides:
            if side is not None and side.id not in states:
                states[side.id] = side
                made.append(Change(MARKED, side, side, {"conflict_id": record.id}))
    more = len(puts) - len(changes.puts)
    reads = changes.reads | {change.after.id for change in made}
    return replace(changes, changes=tuple(made), puts=tuple(puts), reads=reads, head_fields=_counting(changes, more)) if more else changes


def _risen(changes: Changes[Any]) -> set[str]:
    """The memories that stand by these changes and did not before."""
    first: dict[str, Memory | None] = {}
    for change in changes.changes:
        first.setdefault(change.after.id, change.before)
    stand = {change.after.id: change.after.status in FOUND_BY_DEFAULT for change in changes.changes}
    return {name for name, before in first.items() if stand[name] and before is not None and before.status not in FOUND_BY_DEFAULT}


def _standing_pairs(slot: SlotLog, risen: set[str]) -> list[Pair]:
    if not risen:
        return []
    pairs = [entry for entry in slot.account.others if isinstance(entry, Pair) and entry.conflict_id is not None]
    return [
        pair
        for pair in pairs
        if not risen.isdisjoint(pair.memory_ids)
        and all(name in slot.rows and slot.rows[name].status in FOUND_BY_DEFAULT for name in pair.memory_ids)
        and slot.timeline.share_a_moment(*pair.memory_ids)
    ]


def _has_room(side: Memory | None) -> bool:
    return side is not None and len(side.conflict_ids) < MAX_OPEN


def _counting(changes: Changes[Any], more: int) -> Any:
    def head_fields(head: Head) -> Mapping[str, Any]:
        fields = dict(changes.head_fields(head))
        return {**fields, "pending_count": int(fields.get("pending_count", head.pending_count)) + more}

    return head_fields

"""Questions that are asked again: what was kept side by side only until somebody decides, and stands side by side anew.

Note: a question ends when one of its sides is deleted or replaced, and nobody has decided it. The log still has the pair, so the two hold
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
from memory_core.ledger.changes import Change, Changes, Result

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
    await shelf.read([name for one in pairs for name in (one.conflict_id or "", *one.memory_ids)])
    states = {one.after.id: one.after for one in changes.changes}
    made, puts, given = [*changes.changes], [*changes.puts], {one.id for one in changes.puts}
    for one in pairs:
        document = shelf.document(one.conflict_id or "")
        sides = [states.get(name) or shelf.memory(name) for name in one.memory_ids]
        if document is None or document.id in given or not all(_has_room(side) for side in sides):
            continue
        record = record_in(document.body)
        if record.open or record.by != RULE or {*record.sides} != {*one.memory_ids}:
            continue
        opened = record.asked_again(RULE, now, _WHY)
        puts.append(replace(document, body={**document.body, **opened.model_dump(mode="json")}))
        for side in sides:
            if side is not None and side.id not in states:
                states[side.id] = side
                made.append(Change(MARKED, side, side, {"conflict_id": record.id}))
    more = len(puts) - len(changes.puts)
    reads = changes.reads | {one.after.id for one in made}
    return replace(changes, changes=tuple(made), puts=tuple(puts), reads=reads, head_fields=_counting(changes, more)) if more else changes


def _risen(changes: Changes[Any]) -> set[str]:
    """The memories that stand by these changes and did not before."""
    first: dict[str, Memory | None] = {}
    for one in changes.changes:
        first.setdefault(one.after.id, one.before)
    stand = {one.after.id: one.after.status in FOUND_BY_DEFAULT for one in changes.changes}
    return {name for name, before in first.items() if stand[name] and before is not None and before.status not in FOUND_BY_DEFAULT}


def _standing_pairs(slot: SlotLog, risen: set[str]) -> list[Pair]:
    if not risen:
        return []
    pairs = [one for one in slot.account.others if isinstance(one, Pair) and one.conflict_id is not None]
    return [
        one
        for one in pairs
        if not risen.isdisjoint(one.memory_ids)
        and all(name in slot.rows and slot.rows[name].status in FOUND_BY_DEFAULT for name in one.memory_ids)
        and slot.timeline.share_a_moment(*one.memory_ids)
    ]


def _has_room(side: Memory | None) -> bool:
    return side is not None and len(side.conflict_ids) < MAX_OPEN


def _counting(changes: Changes[Any], more: int) -> Any:
    def head_fields(head: Head) -> Mapping[str, Any]:
        fields = dict(changes.head_fields(head))
        return {**fields, "pending_count": int(fields.get("pending_count", head.pending_count)) + more}

    return head_fields

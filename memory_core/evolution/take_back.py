"""Taking back what was decided about a conflict: both memories stand again as they would without it, and the question is open.

One would get wrong: nothing is undone by force. Where a later change stands on the decision (the winner was edited, superseded or deleted
since) the undo is refused, and says what is in the way; whoever wants it undoes that first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from memory_core.domain.conflict import ConflictRecord, Earlier, Move, record_in
from memory_core.domain.errors import Conflict
from memory_core.domain.indexing import text_to_embed, with_lexical
from memory_core.domain.lifecycle import FOUND_BY_DEFAULT
from memory_core.domain.models import Memory, Status
from memory_core.domain.slots import slot_of
from memory_core.evolution.decision import standing_sides
from memory_core.evolution.moves import brings_text, in_the_way, moved_back
from memory_core.evolution.page import Page
from memory_core.ledger.changes import Change
from memory_core.ledger.ids import derived
from memory_core.ports import Document

UNDONE = "conflict_undone"


def texts_of(page: Page, record: ConflictRecord) -> dict[str, str]:
    """The texts that need a vector when the decision is taken back, by the ids of their memories."""
    moves = [move for move in record.moves if brings_text(move)]
    return {move.memory_id: text_to_embed(moved_back(move, page.memory(move.memory_id), page.owner, record, page.now)) for move in moves}


def take_back(page: Page, document: Document, by: str, embedded: Mapping[str, Mapping[str, Any]]) -> ConflictRecord:
    """Put the undoing of a resolved conflict onto the page; the record as it is then.

    embedded: the fields of a memory's embedding, for each of `texts_of`. Raises Conflict that names what is in the way.
    """
    record = record_in(document.body)
    memories = {name: memory for name in record.memory_ids if (memory := page.memory(name)) is not None}
    if way := in_the_way(record.moves, memories):
        raise Conflict(f"it can't be undone any more: {'; '.join(way)}")
    for move in record.moves:
        _move_back(page, record, move, embedded)
    pending = _pending(record, by, page)
    old, new = standing_sides(page, pending)
    for one in (old, new):
        if one.id not in {move.memory_id for move in record.moves}:
            page.apply([Change(UNDONE, one, one, {"conflict_id": record.id})])
    for name in record.memory_ids:
        if name not in pending.sides and _stands_again(page, memories, name):
            _ask_beside(page, pending, name)
    page.puts[record.id] = replace(document, body={**document.body, **pending.model_dump(mode="json")})
    page.pending += 1
    return pending


def _move_back(page: Page, record: ConflictRecord, move: Move, embedded: Mapping[str, Mapping[str, Any]]) -> None:
    current = page.memory(move.memory_id)
    back = moved_back(move, current, page.owner, record, page.now)
    if brings_text(move):
        back = with_lexical(back).model_copy(update=embedded[move.memory_id])
    change = Change(UNDONE, back, current, {"conflict_id": record.id, "strategy": record.strategy})
    if current is not None and back.status is Status.COMPRESSED and current.status is not Status.COMPRESSED:
        between = back.model_copy(update={"status": Status.ACTIVE, "status_reason": "restored"})
        page.apply([replace(change, after=between)])
        change = replace(change, before=between)
    page.apply([change])


def _pending(record: ConflictRecord, by: str, page: Page) -> ConflictRecord:
    unstored = next((move.memory_id for move in record.moves if move.after is None), None)
    return record.model_copy(
        update={
            "status": "pending",
            "strategy": "keep_both",
            "reason": record.grounds or record.reason,
            "grounds": None,
            "new_id": record.new_id or unstored,
            "by": by,
            "at": page.now,
            "previous": Earlier(strategy=record.strategy, reason=record.reason, by=record.by, at=record.at),
            "moves": [],
        }
    )


def _stands_again(page: Page, before: Mapping[str, Memory], name: str) -> bool:
    was, now = before.get(name), page.memory(name)
    return now is not None and now.status in FOUND_BY_DEFAULT and (was is None or was.status not in FOUND_BY_DEFAULT)


def _ask_beside(page: Page, pending: ConflictRecord, name: str) -> None:
    """One that fell together with the old one, and stands again, stands against the new one too, where both fill one slot."""
    memory, new = page.memory(name), page.memory(pending.new_id or "")
    if memory is None or new is None or slot_of(memory) is None or slot_of(memory) != slot_of(new):
        return
    identity = derived("cft", memory.id, new.id)
    page.record(pending.model_copy(update={"id": identity, "old_id": memory.id, "similarity": None, "previous": None}))

"""Taking back what was decided about a conflict: both memories stand again as they would without it, and the question is open.

One would get wrong: nothing is undone by force. Where a later change stands on the decision (the winner was edited, superseded or deleted
since) the undo is refused, and says what is in the way; whoever wants it undoes that first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from memory_core.domain.conflict import ConflictRecord, Move, record_in
from memory_core.domain.errors import Conflict
from memory_core.domain.indexing import text_to_embed, with_lexical
from memory_core.domain.models import Memory, Status
from memory_core.domain.slots import folded
from memory_core.domain.truth.values import SlotName, slot_name
from memory_core.evolution.decision import standing_sides
from memory_core.evolution.moves import brings_text, in_the_way, moved_back
from memory_core.evolution.page import Page
from memory_core.evolution.truth_commands import takes_back, undoes_decision
from memory_core.ledger.changes import Change
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
    if (slot := _slot(record, memories)) is not None:
        return _take_back_in_slot(page, document, by, embedded, slot)
    if way := in_the_way(record.moves, memories):
        raise Conflict(f"it can't be undone any more: {'; '.join(way)}")
    for move in record.moves:
        _move_back(page, record, move, embedded)
    pending = _pending(record, by, page)
    for one in standing_sides(page, pending):
        if one.id not in {move.memory_id for move in record.moves}:
            page.apply([Change(UNDONE, one, one, {"conflict_id": record.id})])
    page.puts[record.id] = replace(document, body={**document.body, **pending.model_dump(mode="json")})
    page.pending += 1
    return pending


def _slot(record: ConflictRecord, memories: Mapping[str, Memory]) -> SlotName | None:
    """The slot that both sides are in; the new one may never have been stored, or be another text by now."""
    drafts = [move.before for move in record.moves if move.after is None and move.before is not None]
    old, new = memories.get(record.old_id), memories.get(record.new_id or "")
    names = [None if old is None else slot_name(old)]
    names += [slot_name(new)] if new is not None else [_slot_of_draft(one) for one in drafts]
    return names[0] if len(names) == 2 and names[0] == names[1] else None


def _slot_of_draft(draft: Mapping[str, Any]) -> SlotName | None:
    return None if draft.get("subject") is None else ("slot", folded(draft["subject"]), folded(str(draft["attribute"])))


def _take_back_in_slot(
    page: Page, document: Document, by: str, embedded: Mapping[str, Mapping[str, Any]], slot: SlotName
) -> ConflictRecord:
    """Let the log of the slot forget what was decided: both sides are beside each other again, or for the first time."""
    record = record_in(document.body)
    pending = _pending(record, by, page)
    about = {"conflict_id": record.id, "strategy": record.strategy}
    old, new = page.memory(record.old_id), None if pending.new_id is None else page.memory(pending.new_id)
    assert old is not None
    moves = {move.memory_id: move for move in record.moves}
    move = moves.get(pending.new_id or "")
    draft = None
    if move is not None and (move.after is None or brings_text(move)):
        draft = moved_back(move, new, page.owner, record, page.now)
        draft = with_lexical(draft).model_copy(update={**embedded[move.memory_id], "status": Status.ACTIVE, "next_id": None})
    act = takes_back(record.id, old.id, pending.new_id or "", draft)
    in_use = {"updated_at": page.now, "consolidated_into_ids": [one for one in old.consolidated_into_ids if one in page.states]}
    page.apply([Change(UNDONE, old.model_copy(update=in_use), old, about, says=act)])
    if draft is not None:
        page.apply([Change(UNDONE, draft, new, about, says=lambda slot: [])])
    elif new is not None:
        page.apply([Change(UNDONE, new.model_copy(update={"updated_at": page.now}), new, about, says=lambda slot: [])])
    page.puts[record.id] = replace(document, body={**document.body, **pending.model_dump(mode="json")})
    page.pending += 1
    return pending


def _move_back(page: Page, record: ConflictRecord, move: Move, embedded: Mapping[str, Mapping[str, Any]]) -> None:
    current = page.memory(move.memory_id)
    back = moved_back(move, current, page.owner, record, page.now)
    if brings_text(move):
        back = with_lexical(back).model_copy(update=embedded[move.memory_id])
    act = undoes_decision(record.id) if current is not None and slot_name(current) is not None else None
    change = Change(UNDONE, back, current, {"conflict_id": record.id, "strategy": record.strategy}, says=act)
    if current is not None and back.status is Status.COMPRESSED and current.status is not Status.COMPRESSED:
        between = back.model_copy(update={"status": Status.ACTIVE, "status_reason": "restored"})
        page.apply([replace(change, after=between)])
        change = replace(change, before=between)
    page.apply([change])


def _pending(record: ConflictRecord, by: str, page: Page) -> ConflictRecord:
    unstored = next((move.memory_id for move in record.moves if move.after is None), None)
    return record.asked_again(by, page.now).model_copy(update={"new_id": record.new_id or unstored})

"""Taking back what was decided about a conflict: both memories are as they would be without it, and the question is open.

Note: nothing is undone by force. Where a later change rests on the decision (the winner was edited, superseded or deleted since), the undo
is refused, and says what has to be undone before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from memory_core.domain.conflict import ConflictRecord, Move, record_in
from memory_core.domain.errors import Conflict
from memory_core.domain.indexing import text_to_embed, with_lexical
from memory_core.domain.models import Memory, Status
from memory_core.domain.truth.values import slot_name
from memory_core.evolution.decision import are_of_one_slot, standing_sides
from memory_core.evolution.moves import brings_text, in_the_way, moved_back
from memory_core.evolution.page import Page
from memory_core.evolution.truth_commands import takes_back, undoes_decision
from memory_core.ledger.batch import Change
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
    unstored = next((move.memory_id for move in record.moves if move.after is None), None)
    pending = record.asked_again(by, page.now).model_copy(update={"new_id": record.new_id or unstored})
    moves = {move.memory_id: move for move in record.moves}
    if _are_of_one_slot(page, record, memories):
        _take_back_in_slot(page, record, pending.new_id or "", moves, embedded)
    elif way := in_the_way(record.moves, memories):
        raise Conflict(f"it can't be undone any more: {'; '.join(way)}")
    else:
        for move in record.moves:
            _move_back(page, record, move, embedded)
        sides = [side for side in standing_sides(page, pending) if side.id not in moves]
        page.apply([Change(UNDONE, side, side, {"conflict_id": record.id}) for side in sides])
    page.puts[record.id] = replace(document, body={**document.body, **pending.model_dump(mode="json")})
    page.pending += 1
    return pending


def _are_of_one_slot(page: Page, record: ConflictRecord, memories: Mapping[str, Memory]) -> bool:
    """Whether the log of one slot says what holds of both sides; the new one may never have been stored."""
    old, new = memories.get(record.old_id), memories.get(record.new_id or "")
    if new is None:
        drafts = [move for move in record.moves if move.after is None]
        new = moved_back(drafts[0], None, page.owner, record, page.now) if drafts else None
    return old is not None and new is not None and are_of_one_slot(old, new)


def _take_back_in_slot(
    page: Page, record: ConflictRecord, new_id: str, moves: Mapping[str, Move], embedded: Mapping[str, Mapping[str, Any]]
) -> None:
    """Let the log of the slot forget what was decided: both sides are beside each other again, or for the first time."""
    about, move = {"conflict_id": record.id, "strategy": record.strategy}, moves.get(new_id)
    old, new, draft = page.found(record.old_id), page.memory(new_id), None
    if move is not None and (move.after is None or brings_text(move)):
        draft = moved_back(move, new, page.owner, record, page.now)
        draft = with_lexical(draft).model_copy(update={**embedded[new_id], "status": Status.ACTIVE, "next_id": None})
    act = takes_back(record.id, old.id, new_id, draft)
    page.apply([Change(UNDONE, old.model_copy(update={"updated_at": page.now, "consolidated_into_ids": []}), old, about, says=act)])
    after = draft or (None if new is None else new.model_copy(update={"updated_at": page.now}))
    if after is not None:
        page.apply([Change(UNDONE, after, new, about, says=lambda slot: [])])


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

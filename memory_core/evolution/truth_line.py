"""The truths of one slot in the order of their times: which of them holds, and what follows each that does not.

Among values the latest holds and each other is followed by the next. What a reader would get wrong: an ending ("no longer Berlin") is
passed over where another value stands. It says nothing against that value, so it is history at once, and the value is what it leads to.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memory_core.domain.endings import ends, is_ending
from memory_core.domain.lifecycle import FOUND_BY_DEFAULT
from memory_core.domain.models import Memory, Status
from memory_core.evolution.tellings import ended
from memory_core.ledger.changes import Change


def superseded_by(old: Memory, new: Memory, now: datetime) -> Memory:
    """The old truth as it is once the new one holds; its validity ends where the new one's begins."""
    fallen = {"status": Status.SUPERSEDED, "status_reason": "contradicted", "next_id": new.id, "conflict_state": "resolved"}
    return ended(old, new.valid_from).model_copy(update={**fallen, "updated_at": now})


def followed(line: Sequence[Memory]) -> dict[str, str | None]:
    """By the id of each truth of a line, in the order of time, what follows it: None for the one that holds in the end."""
    after: dict[str, str | None] = {}
    holds: Memory | None = None
    for one in line:
        after[one.id] = None
        if holds is not None and is_ending(one) and not is_ending(holds) and not ends(one, holds):
            after[one.id] = holds.id
            continue
        if holds is not None:
            after[holds.id] = one.id
        holds = one
    return after


def joined(new: Memory, truths: Sequence[Memory], now: datetime) -> tuple[Memory, list[Change]]:
    """The new member of a slot as it is to be stored, and what becomes of the others, when endings are among them.

    Whichever arrives last, the same line results. What nobody told later than is settled: then only standing truths change.
    """
    line = sorted((*truths, new), key=lambda one: (one.event_timestamp, one.id == new.id, one.sequence))
    after, known, place = followed(line), {one.id: one for one in line}, {one.id: number for number, one in enumerate(line)}
    before = {name: one.id for one in line if (name := after[one.id]) is not None and place[one.id] < place[name]}
    placed = new.model_copy(update={"supersedes_id": before.get(new.id), "conflict_state": "resolved"})
    follower = after[new.id]
    if follower is not None:
        placed = superseded_by(placed, known[follower], now).model_copy(update={"updated_at": new.updated_at})
    late = line[-1].id != new.id
    changes = []
    for old in truths:
        turned = _turned(old, after[old.id], known, now, late=late)
        if before.get(old.id) == new.id:
            turned = turned.model_copy(update={"supersedes_id": new.id})
        if turned is not old:
            changes.append(Change(_event(old, turned), turned, old))
    return placed, changes


def _turned(old: Memory, follower: str | None, known: dict[str, Memory], now: datetime, *, late: bool) -> Memory:
    """A truth as the line wants it: fallen, followed by another one than before, or, an ending that was passed over, in force."""
    if old.status in FOUND_BY_DEFAULT:
        return old if follower is None else superseded_by(old, known[follower], now)
    if not late or old.next_id == follower or old.next_id not in known:
        return old
    if follower is not None:
        return superseded_by(old.model_copy(update={"valid_until": None}), known[follower], now)
    risen = {"status": Status.ACTIVE, "status_reason": "restored", "next_id": None, "valid_until": None, "updated_at": now}
    return old.model_copy(update=risen) if is_ending(old) else old


def _event(old: Memory, turned: Memory) -> str:
    if turned.next_id == old.next_id:
        return "preceded"
    return "restored" if turned.next_id is None else "superseded"

"""What a decision about a conflict does, and how it is taken back.

The decisions are: supersede, keep both, reject the new one, merge. Note: here a person decides who
has seen both, so event time settles nothing. What is superseded by hand may be the truth that was
told later; then it was never valid. Nothing is undone by force. Where a later change rests on the
decision (the winner was edited, superseded or deleted since), the undo is refused, and says what
has to be undone before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from memory_core.domain.conflict import ConflictRecord, Decision, Move, record_in
from memory_core.domain.errors import Conflict
from memory_core.domain.memory import Memory, MemoryFields, Status
from memory_core.domain.ranking.index_terms import with_lexical
from memory_core.domain.requests.maintenance import ResolveInput
from memory_core.domain.scope import Owner
from memory_core.domain.statements.worth import most_lasting
from memory_core.domain.transitions import (
    FOUND_BY_DEFAULT,
    delete,
    mark_conflict,
    reactivate,
    touch,
)
from memory_core.domain.truth.entries import (
    Account,
    Entry,
    Merge,
    Pair,
    Place,
    Statement,
    pair_entries,
    withdrawal_entries,
)
from memory_core.domain.truth.slots import are_of_one_slot, slot_name
from memory_core.evolution.changeset import ChangeSet
from memory_core.evolution.reads import session_ids
from memory_core.evolution.slot_log import Act, SlotLog
from memory_core.evolution.succession import (
    MAX_JOINED_BYTES,
    brings_text,
    in_the_way,
    joined,
    joined_length,
    moved_back,
    moves_of,
    succeeded,
)
from memory_core.evolution.truth_commands import pairs, says, statement_in, withdraws
from memory_core.evolution.truth_projection import Projection
from memory_core.ledger.changes import Change
from memory_core.ledger.ids import derived, session_document_id
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import Document

RESOLVED: Final = "conflict_resolved"
MAX_REASON = 200
Effect = Callable[[Memory, Memory, ConflictRecord, datetime], list[Change]]


def decide(page: ChangeSet, document: Document, asked: ResolveInput, by: str) -> ConflictRecord:
    """Add the decision about a pending conflict to the change set.

    Args:
        page: The change set.
        document: Document of the conflict record.
        asked: The decision and its reason.
        by: The caller or the agent that decides.

    Returns:
        The record as it is then.

    Raises:
        Conflict: A side is no longer active.

    """
    record = record_in(document.body)
    old, new = standing_sides(page, record)
    return _put_decision(
        page, document, asked, _EFFECTS[asked.decision](old, new, record, page.now), by
    )


def decide_by_time(page: ChangeSet, document: Document, reason: str, by: str) -> ConflictRecord:
    """Let the memory that was asserted last hold.

    It may be the older side. If both were asserted at once, the memory that was written last holds.
    A superseded memory has a single successor, and is not among its own successors.

    Args:
        page: The change set.
        document: Document of the conflict record.
        reason: Reason of the decision.
        by: The caller or the agent that decides.

    Returns:
        The record as it is then.

    Raises:
        Conflict: A side is no longer active. Or the memory to supersede is pinned, or a side has a
            successor already.

    """
    asked = ResolveInput(decision="supersede", reason=reason[:MAX_REASON])
    record = record_in(document.body)
    falls, stays = sorted(standing_sides(page, record), key=assertion_order)
    if falls.pinned:
        raise Conflict(f"{falls.id} is pinned")
    successor_id = falls.next_id or stays.next_id
    if successor_id is not None and not are_of_one_slot(falls, stays):
        raise Conflict(f"{falls.id} or {stays.id} leads on to {successor_id} already")
    return _put_decision(page, document, asked, _decide_for_new(falls, stays, record, page.now), by)


def reads_of(owner: Owner, record: ConflictRecord, read_set: ReadSet) -> list[str]:
    """The ids of the documents that a decision about a conflict needs.

    As far as they are known, these are the memories that the record names, and their sessions.

    Args:
        owner: Whose conflict it is.
        record: Record of the conflict.
        read_set: What was read so far.

    """
    return [
        *record.memory_ids,
        *session_ids(owner, map(read_set.memory, record.memory_ids)),
        *(session_document_id(owner, name) for name in record.rejected_sessions),
    ]


def assertion_order(memory: Memory) -> tuple[datetime, int, str]:
    """By which of two memories the truth is decided: event time, then order of writing."""
    return memory.event_timestamp, memory.sequence, memory.id


def _put_decision(
    page: ChangeSet, document: Document, asked: ResolveInput, changes: Sequence[Change], by: str
) -> ConflictRecord:
    """Add the changes, and the record that tells how to undo them."""
    record = record_in(document.body)
    metadata = {"conflict_id": record.id, "decision": asked.decision, "reason": asked.reason}
    page.apply([replace(change, metadata=metadata) for change in changes])
    page.pending -= 1
    resolved = record.settled(by, page.now, asked.reason or record.reason).changed(
        strategy=asked.decision,
        grounds=record.reason if asked.reason else None,
        moves=moves_of(changes),
    )
    page.puts[record.id] = replace(
        document, body={**document.body, **resolved.model_dump(mode="json")}
    )
    return resolved


def standing_sides(page: ChangeSet, record: ConflictRecord) -> tuple[Memory, Memory]:
    """Both memories of a conflict, the old memory first.

    Args:
        page: The change set.
        record: Record of the conflict.

    Raises:
        Conflict: A side is not found by default any more; the error tells its status.

    """
    sides = {name: page.memory(name) for name in record.sides}
    standing = [
        side for side in sides.values() if side is not None and side.status in FOUND_BY_DEFAULT
    ]
    if len(standing) == 2:
        return standing[0], standing[1]
    names = {*sides} - {side.id for side in standing}
    became_of_them = " and ".join(became(name, sides[name]) for name in sides if name in names)
    raise Conflict(
        f"both memories must stand for that; {became_of_them or 'the new one was never stored'}"
    )


def _decide_for_new(
    old: Memory, new: Memory, record: ConflictRecord, now: datetime
) -> list[Change]:
    """Supersede the old memory.

    In a slot the new memory is asserted again, now. Elsewhere the old memory's validity ends where
    that of the new memory begins.
    """
    follows = new.supersedes_id or (old.id if old.supersedes_id != new.id else None)
    holds = Change(RESOLVED, mark_conflict(new, "resolved", supersedes_id=follows), new)
    if not are_of_one_slot(old, new):
        return [succeeded(old, new, Status.SUPERSEDED, record.id, now), holds]
    says = supersedes(old.id, new.id, record.id)
    return [Change("superseded", mark_conflict(old, "resolved"), old, says=says), holds]


def _keep_both(old: Memory, new: Memory, record: ConflictRecord, now: datetime) -> list[Change]:
    return [Change(RESOLVED, mark_conflict(side, "resolved"), side) for side in (old, new)]


def _reject_new(old: Memory, new: Memory, record: ConflictRecord, now: datetime) -> list[Change]:
    """Delete the new memory as never true.

    No query at an earlier time finds it, and it has no successor.
    """
    reason = "manual_delete" if slot_name(new) is None else "contradicted"
    rejected = delete(new, reason, now, conflict_state="resolved")
    return [
        Change("deleted", rejected, new, says=withdraws(new.id, record.id)),
        Change(RESOLVED, mark_conflict(old, "resolved"), old),
    ]


def _merge(old: Memory, new: Memory, record: ConflictRecord, now: datetime) -> list[Change]:
    """A third memory with both texts, the oldest first; it is the successor of both."""
    if (length := joined_length(old, new)) > MAX_JOINED_BYTES:
        raise Conflict(
            f"together they are too long for one memory, {length} bytes; keep both, or choose one"
        )
    of_one_slot = are_of_one_slot(old, new)
    fields: MemoryFields = {
        **_AS_NEW,
        "id": derived("mem", record.id, "merged", str(old.revision), str(new.revision)),
        "source_ids": [old.id, new.id],
        "created_at": now,
        "updated_at": now,
        "pinned": old.pinned or new.pinned,
        "worth": most_lasting([old.worth, new.worth]),
    }
    if of_one_slot:
        fields["event_timestamp"] = now
    merged = joined(old, new, fields)
    act = merges([old.id, new.id], merged, record.id) if of_one_slot else None
    return [
        Change("created", merged, says=act),
        *(
            succeeded(side, merged, Status.UPDATED, record.id, now, leaves_slot=not of_one_slot)
            for side in (old, new)
        ),
    ]


_AS_NEW: MemoryFields = {
    "atomic_facts": [], "links": [], "status": Status.ACTIVE, "status_reason": "consolidated",
    "version": 1, "change_reason": None, "next_id": None, "consolidated_into_ids": [],
    "copied_from": None, "conflict_ids": [], "reinforcement_count": 0, "access_count": 0,
    "last_used_at": None, "last_accessed_at": None, "told_at": [], "sequence": 0,
}  # fmt: skip


_EFFECTS: Mapping[Decision, Effect] = {
    "supersede": _decide_for_new,
    "keep_both": _keep_both,
    "reject_new": _reject_new,
    "merge": _merge,
}


UNDONE: Final = "conflict_undone"


def _before(page: ChangeSet, record: ConflictRecord, move: Move) -> Memory:
    """A memory that the decision changed, as it would be without the decision."""
    return moved_back(move, page.memory(move.memory_id), page.owner, record, page.now)


def take_back(
    page: ChangeSet, document: Document, by: str, embedded: Mapping[str, MemoryFields]
) -> ConflictRecord:
    """Add the undoing of a resolved conflict to the change set.

    Args:
        page: The change set.
        document: Document of the conflict record.
        by: The caller or the agent that undoes it.
        embedded: Fields of the embedding of restored texts, by memory id.

    Returns:
        The record as it is then.

    Raises:
        Conflict: Later changes are in the way, which the error names.
        NeedsVector: The embedding of a restored text is missing.

    """
    record = record_in(document.body)
    memories = {
        name: memory for name in record.memory_ids if (memory := page.memory(name)) is not None
    }
    unstored = next((move for move in record.moves if move.after is None), None)
    new_id = record.new_id or ("" if unstored is None else unstored.memory_id)
    pending = record.asked_again(by, page.now).changed(new_id=new_id or None)
    old, new = memories.get(record.old_id), memories.get(record.new_id or "")
    if new is None and unstored is not None:
        new = _before(page, record, unstored)
    moves = {move.memory_id: move for move in record.moves}
    if old is not None and new is not None and are_of_one_slot(old, new):
        _take_back_in_slot(page, record, old, new_id, moves.get(new_id), embedded)
    elif way := in_the_way(record.moves, memories):
        raise Conflict(f"it can't be undone any more: {'; '.join(way)}")
    else:
        for move in record.moves:
            _move_back(page, record, move, embedded)
        for side in standing_sides(page, pending):
            if side.id not in moves:
                alone = side.changed(supersedes_id=None) if side.supersedes_id in moves else side
                page.apply([Change(UNDONE, alone, side, {"conflict_id": record.id})])
    page.puts[record.id] = replace(
        document, body={**document.body, **pending.model_dump(mode="json")}
    )
    page.pending += 1
    return pending


def _take_back_in_slot(
    page: ChangeSet,
    record: ConflictRecord,
    old: Memory,
    new_id: str,
    move: Move | None,
    embedded: Mapping[str, MemoryFields],
) -> None:
    """Remove the decision from the slot's log: both sides coexist.

    `move` is the decision's change of the new memory.
    """
    about = {"conflict_id": record.id, "strategy": record.strategy}
    new, draft = page.memory(new_id), None
    if move is not None and (move.after is None or brings_text(move)):
        draft = _with_vector(_before(page, record, move), embedded)
        draft = draft.changed(status=Status.ACTIVE, next_id=None)
    act = takes_back(record.id, old.id, new_id, draft)
    back = touch(old, page.now).changed(consolidated_into_ids=[])
    page.apply([Change(UNDONE, back, old, about, says=act)])
    after = draft or (None if new is None else touch(new, page.now))
    if after is not None:
        page.apply([Change(UNDONE, after, new, about, says=lambda slot: [])])


def _with_vector(memory: Memory, embedded: Mapping[str, MemoryFields]) -> Memory:
    """A memory whose text was restored, with its words and vector."""
    if memory.id not in embedded:
        raise NeedsVector(memory)
    return with_lexical(memory).changed(**embedded[memory.id])


def _move_back(
    page: ChangeSet, record: ConflictRecord, move: Move, embedded: Mapping[str, MemoryFields]
) -> None:
    current, back = page.memory(move.memory_id), _before(page, record, move)
    if brings_text(move):
        back = _with_vector(back, embedded)
    about = {"conflict_id": record.id, "strategy": record.strategy}
    act = None if current is None else undoes_decision(record.id)
    change = Change(UNDONE, back, current, about, says=act)
    if (
        current is not None
        and back.status is Status.COMPRESSED
        and current.status is not Status.COMPRESSED
    ):
        between = reactivate(back)
        page.apply([replace(change, after=between)])
        change = replace(change, before=between)
    page.apply([change])


class NeedsVector(Exception):
    """The text of a restored memory needs a vector, which is no longer stored."""

    def __init__(self, memory: Memory) -> None:
        super().__init__("a text has to be embedded first")
        self.memory = memory


# The entries of a decision in the log of a slot.


def merges(
    sources: Sequence[str],
    merged: Memory | Statement,
    conflict_id: str | None = None,
    *,
    at_save: bool = False,
) -> Act:
    """Assert both texts from the later start, and merge the sources into them.

    A decision ends the pairs among the sources. The new memory coexists with the memories that
    coexist with the sources.

    Args:
        sources: Ids of the merged memories.
        merged: The memory or statement with both texts.
        conflict_id: Id of the conflict that this decides.
        at_save: Whether the new memory itself has the merged text; then its own start also counts.

    """

    def act(slot: SlotLog) -> Sequence[Entry]:
        statement, account, decision = statement_in(slot, merged), slot.account, list[Entry]()
        starts = [
            min(statement.valid_from for statement in own)
            for name in sources
            if (own := account.said_by(name))
        ]
        if at_save or not starts:
            starts.append(statement.valid_from)
        beside = set[str]()
        if not at_save:
            decision = _end_pairs(account, sources, conflict_id)
            beside = {
                name for source in sources for name in account.pairs.get(source, frozenset())
            } - {*sources}
        return [
            *decision,
            replace(statement, valid_from=max(starts), conflict_id=conflict_id),
            Merge(memory_ids=tuple(sources), into=statement.memory_id, conflict_id=conflict_id),
            *pair_entries(sorted(beside), statement.memory_id, conflict_id),
        ]

    return act


def supersedes(old: str, new: str, conflict_id: str) -> Act:
    """Decide a conflict for the new memory.

    The pair ends, and the new memory is asserted again now, since its own start. The old memory
    keeps the time before.

    Args:
        old: Id of the old memory.
        new: Id of the new memory.
        conflict_id: Id of the conflict that this decides.

    """

    def act(slot: SlotLog) -> Sequence[Entry]:
        statements = slot.said_by(new)
        last = max(statements, key=lambda statement: statement.version)
        start = min(each.valid_from for each in statements if each.version == last.version)
        again = replace(
            last, asserted_at=slot.now, valid_from=start, conflict_id=conflict_id, edits=None
        )
        return [*_end_pairs(slot.account, (old, new), conflict_id), again]

    return act


def undoes_decision(conflict_id: str) -> Act:
    """Withdraw every entry of a decision.

    The pair that opened the conflict is not among them.
    """

    def act(slot: SlotLog) -> Sequence[Entry]:
        entries = (*slot.account.statements, *slot.account.others)
        return withdrawal_entries(
            [
                entry.place
                for entry in entries
                if entry.conflict_id == conflict_id and not isinstance(entry, Pair)
            ]
        )

    return act


def takes_back(conflict_id: str, old_id: str, new_id: str, draft: Memory | None = None) -> Act:
    """Withdraw every entry of a decision, and let both sides coexist.

    Args:
        conflict_id: The conflict that was decided.
        old_id: Id of the old side.
        new_id: Id of the new side.
        draft: The new side as it was without the decision, if the decision did not store it or gave
            it another text.

    Returns:
        An act that raises Conflict if a side does not hold after it, because of later statements.

    """

    def act(slot: SlotLog) -> Sequence[Entry]:
        taken = slot.added(undoes_decision(conflict_id))
        if draft is not None:
            taken = taken.added(withdraws(draft.id)).added(says(draft))
        beside = taken.account.pairs
        beside_old = beside.get(old_id, frozenset())
        if new_id not in beside_old:  # it was decided when the new side was saved
            taken = taken.added(pairs(old_id, new_id, conflict_id))
            for other in sorted(beside.get(new_id, frozenset()) - beside_old - {old_id}):
                taken = taken.added(pairs(old_id, other))
            for other in sorted(_fell_to(taken, new_id) - {old_id}):
                taken = taken.added(pairs(other, new_id))
        gone = [name for name in (old_id, new_id) if name not in taken.active()]
        if gone:
            changed = " and ".join(f"{became(name, taken.rows.get(name))} since" for name in gone)
            raise Conflict(f"it can't be undone any more: {changed}")
        return taken.entries[len(slot.entries) :]

    return act


def _end_pairs(account: Account, names: Collection[str], conflict_id: str | None) -> list[Entry]:
    """End the pairs among some memories.

    If an entry also pairs them with other memories, these pairs are written again.
    """
    ended, rest = list[Place](), list[Entry]()
    for entry in account.others:
        if (
            isinstance(entry, Pair)
            and entry.memory_ids[-1] in names
            and not {*entry.memory_ids[:-1]}.isdisjoint(names)
        ):
            ended.append(entry.place)
            rest += pair_entries(
                [name for name in entry.memory_ids[:-1] if name not in names],
                entry.memory_ids[-1],
                None,
            )
    return [*withdrawal_entries(ended, conflict_id), *rest]


def _fell_to(slot: SlotLog, name: str) -> frozenset[str]:
    """The memories that would hold if a memory had never been asserted."""
    return slot.added(withdraws(name)).active() - slot.active()


def became(name: str, memory: Memory | Projection | None) -> str:
    """The present status of a memory, in words.

    Args:
        name: Id of the memory.
        memory: As it is now; None if it is gone.

    """
    by = "" if memory is None or memory.next_id is None else f" by {memory.next_id}"
    return f"{name} is {'gone' if memory is None else memory.status.value}{by}"

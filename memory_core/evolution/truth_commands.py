"""What operations add to the log of a slot, as acts; the rest of each follows from the log.

A change says what it adds, or it follows from the change: who is created says what it says, who is deleted is hidden, who comes back
from a deletion is shown again.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from memory_core.domain.errors import Conflict, FieldError
from memory_core.domain.models import Memory, Status
from memory_core.domain.truth import operations
from memory_core.domain.truth.entries import Account, Assertion, Entry, Merge, Pair, Retraction, Statement, asserted_at
from memory_core.domain.truth.operations import UndoTooLarge
from memory_core.evolution.projection import GONE, Projection
from memory_core.evolution.slot_log import Act, SlotLog
from memory_core.ledger.changes import Change

_ALIAS_BYTES = 6


def act_of(change: Change) -> Act | None:
    """What a change adds to the log of its slot; None for nothing."""
    if change.says is not None:
        return change.says
    before, after = change.before, change.after
    if change.removed:
        return None  # `forgotten` strikes it from the log
    if before is None or (before.status is Status.DELETED and change.event_type == "created"):
        return says(after)
    was_gone, is_gone = before.status is Status.DELETED, after.status is Status.DELETED
    if is_gone and not was_gone:
        return withdraws(after.id) if after.status_reason == "contradicted" else deletes(after.id)
    if was_gone and not is_gone:
        return restores(after, never_was=before.status_reason == "contradicted")
    if before.status is Status.UPDATED and after.status is Status.ACTIVE:
        return undoes(after)
    return None


def added_by(slot: SlotLog, change: Change) -> SlotLog:
    """The log of a slot with what a change adds. Raises LookedElsewhere where sealed parts have to be read for it."""
    act = act_of(change)
    if slot.seal is not None and (change.removed or (act and change.before is not None and not slot.knows(change.after.id))):
        raise slot.sealed()
    return slot if act is None else slot.added(act)


def says(memory: Memory, *, beside: Sequence[str] = (), conflict_id: str | None = None) -> Act:
    """A memory says what it says, beside others or alone. conflict_id: that opens with it, and is no decision."""

    def act(slot: SlotLog) -> Sequence[Entry]:
        said = slot.statement(memory)
        if not isinstance(said, Assertion) or not beside:
            return [said]
        _, *kept = operations.keep_beside(slot.entries, said, beside)
        return [said, *(replace(one, conflict_id=conflict_id) for one in kept)]

    return act


def copies(memory: Memory, source_id: str) -> Act:
    """A copy for another agent says the same beside its source, and beside what that is kept beside."""

    def act(slot: SlotLog) -> Sequence[Entry]:
        beside = Account.of(slot.entries).pairs.get(source_id, frozenset())
        return says(memory, beside=[source_id, *sorted(beside - {memory.id})])(slot)

    return act


def mentions(held_id: str, version: int, new: Memory) -> Act:
    """A memory that is held is said again, as the new one says it."""
    return lambda slot: [slot.statement(new, memory_id=held_id, version=version)]


def pairs(first: str, second: str, conflict_id: str | None = None) -> Act:
    """Two memories are kept side by side from now on."""
    return lambda slot: [Pair(sequence=slot.pending, memory_ids=(first, second), conflict_id=conflict_id)]


def deletes(memory_id: str) -> Act:
    """A memory is deleted."""
    return lambda slot: operations.delete(memory_id, slot.pending)


def withdraws(memory_id: str) -> Act:
    """A memory never was so."""
    return lambda slot: operations.withdraw(slot.entries, memory_id, slot.pending)


def restores(memory: Memory, *, never_was: bool = False) -> Act:
    """A memory comes back from a deletion or a withdrawal; one that the log does not know says what it says.

    never_was: it was taken back; then one that the log does not know was an earlier time of another, and is none.
    """

    def act(slot: SlotLog) -> Sequence[Entry]:
        if memory.id not in slot.members():
            if never_was and not slot.is_rebuilt:
                raise Conflict(f"{memory.id} holds at no time any more")
            return [slot.statement(memory)]
        return operations.restore(slot.entries, memory.id, slot.pending)

    return act


def undoes(memory: Memory) -> Act:
    """What took the place of a memory is withdrawn."""

    def act(slot: SlotLog) -> Sequence[Entry]:
        try:
            return operations.undo(slot.entries, memory.id, slot.pending)
        except UndoTooLarge as error:
            message = f"more than {operations.MAX_WITHDRAWN} truths were told since; restore a later one before, such as {error.begin_with}"
            raise Conflict(message, errors=(FieldError("status", message),)) from None

    return act


def edits(memory: Memory, valid_from: datetime | None, valid_until: datetime | None) -> Act:
    """The next version of a memory, said now."""

    def act(slot: SlotLog) -> Sequence[Entry]:
        value = slot.value_of(memory)
        entries = operations.edit(
            slot.entries, memory.id, value or "", slot.now, slot.pending, valid_from=valid_from, valid_until=valid_until
        )
        kind = type(slot.statement(memory))
        if kind is Retraction:
            (one,) = (each for each in entries if isinstance(each, Assertion))
            fields = {name: getattr(one, name) for name in Assertion.__dataclass_fields__ if name != "value"}
            return [Retraction(**fields, value=value)]
        return [replace(one, version=memory.version) if isinstance(one, Statement) else one for one in entries]

    return act


def corrects_times(memory: Memory) -> Act:
    """The times of a memory are put right."""
    return lambda slot: operations.correct_times(slot.entries, memory.id, slot.pending, memory.valid_from, memory.valid_until)


def retracts(memory: Memory, by: Memory, conflict_id: str | None = None) -> Act:
    """Something said elsewhere, in another slot, ends a memory where it begins. It has no memory in this slot."""

    def act(slot: SlotLog) -> Sequence[Entry]:
        said = asserted_at(by.event_timestamp, slot.now)
        start = max(by.valid_from, memory.valid_from)
        return [
            Retraction(
                sequence=slot.pending,
                memory_id=f"~{by.id}",
                value=slot.value_of(memory),
                asserted_at=max(said, memory.event_timestamp),
                valid_from=start,
                is_forgotten=True,
                conflict_id=conflict_id,
            )
        ]

    return act


def merged_elsewhere(memory: Memory, into: Memory, conflict_id: str | None = None) -> Act:
    """A memory is merged into one of another slot, or of none, and ends where that begins."""
    retracted = retracts(memory, into, conflict_id)

    def act(slot: SlotLog) -> Sequence[Entry]:
        return [*retracted(slot), Merge(sequence=slot.pending, memory_ids=(memory.id,), into=into.id, conflict_id=conflict_id)]

    return act


def supersedes(old: str, new: str, conflict_id: str) -> Act:
    """A person decides that the new one holds."""
    return lambda slot: operations.decide_supersede(slot.entries, old, new, slot.now, slot.pending, conflict_id)


def rejects(new: str, conflict_id: str) -> Act:
    """A person decides that the new one never was so."""
    return lambda slot: operations.decide_reject_new(slot.entries, new, slot.pending, conflict_id)


def merges(sources: Sequence[str], merged: Memory, conflict_id: str | None = None, *, at_save: bool = False) -> Act:
    """Memories are merged into another one of their slot, which is kept beside what these are kept beside.

    at_save: the new memory itself says the merged text.
    """

    def act(slot: SlotLog) -> Sequence[Entry]:
        said = slot.statement(merged)
        assert isinstance(said, Assertion)
        if at_save:
            return [replace(one, conflict_id=conflict_id) for one in operations.merge(slot.entries, sources, said)]
        beside = Account.of(slot.entries).pairs
        others = sorted({name for one in sources for name in beside.get(one, frozenset())} - {*sources})
        kept = [Pair(sequence=slot.pending, memory_ids=(name, merged.id), conflict_id=conflict_id) for name in others]
        return [*operations.merge(slot.entries, sources, said, conflict_id), *kept]

    return act


def undoes_decision(conflict_id: str) -> Act:
    """Every entry of a decision counts no more."""
    return lambda slot: operations.undo_decision(slot.entries, conflict_id, slot.pending)


def takes_back(conflict_id: str, old_id: str, new_id: str, draft: Memory | None = None) -> Act:
    """Every entry of a decision counts no more, and both sides are kept beside each other.

    Args:
        conflict_id: the conflict that was decided.
        old_id: one side.
        new_id: the other one.
        draft: the new one as it was without the decision, which may not have stored it, or with another text.

    Returns:
        An act that raises Conflict where one side does not hold after it: something was said since.

    """

    def act(slot: SlotLog) -> Sequence[Entry]:
        taken = slot.added(undoes_decision(conflict_id))
        if draft is not None:
            taken = taken.added(withdraws(draft.id)).added(says(draft))
        account = Account.of(taken.entries)
        beside = account.pairs.get(old_id, frozenset())
        if new_id not in beside:
            taken = taken.added(pairs(old_id, new_id, conflict_id))
        for other in sorted(account.pairs.get(new_id, frozenset()) - beside - {old_id}):
            taken = taken.added(pairs(old_id, other))
        for other in sorted(_fell_to(taken, new_id) - {old_id}):
            taken = taken.added(pairs(other, new_id))
        rows = taken.rows
        gone = [name for name in (old_id, new_id) if name not in rows or rows[name].status is not Status.ACTIVE]
        if gone:
            said = " and ".join(
                f"{name} is {rows[name].status.value if name in rows else 'gone'}{_by(rows.get(name))} since" for name in gone
            )
            raise Conflict(f"it can't be undone any more: {said}")
        return taken.entries[len(slot.entries) :]

    return act


def _fell_to(slot: SlotLog, name: str) -> set[str]:
    """The memories that would hold if one had never been said."""
    held, without = slot.rows, slot.added(withdraws(name)).rows
    active = {one.memory_id for one in held.values() if one.status is Status.ACTIVE}
    return {one.memory_id for one in without.values() if one.status is Status.ACTIVE} - active


def _by(row: Projection | None) -> str:
    return "" if row is None or row.next_id is None else f" by {row.next_id}"


def forgotten(slot: SlotLog, memory_ids: Iterable[str]) -> SlotLog:
    """The log without the names of memories that are gone for good."""
    for name in memory_ids:
        alias = f"{GONE}{secrets.token_hex(_ALIAS_BYTES)}"
        entries = operations.forget(slot.entries, name, alias, slot.pending)
        if len(entries) > len(slot.entries):
            taken = [one.part for one in slot.entries if one.sequence == slot.pending]
            entries[-1] = replace(entries[-1], part=1 + max(taken, default=-1))
        slot = slot.with_entries(entries)
    return slot


def is_withdrawn(slot: SlotLog, memory_id: str) -> bool:
    """Whether nothing that a memory said counts."""
    return all(one.memory_id != memory_id for one in Account.of(slot.entries).statements)

"""Entries by which a conflict is decided in the log of a slot, or undone."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from memory_core.domain.errors import Conflict
from memory_core.domain.memory import Memory
from memory_core.domain.truth.account import Account
from memory_core.domain.truth.entries import (
    Entry,
    Merge,
    Pair,
    Place,
    Statement,
    pair_entries,
    withdrawal_entries,
)
from memory_core.evolution.slot_log import Act, SlotLog
from memory_core.evolution.truth_commands import pairs, says, statement_in, withdraws
from memory_core.evolution.truth_projection import Projection


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

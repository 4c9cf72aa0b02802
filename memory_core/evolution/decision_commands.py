"""Entries by which a conflict is decided in the log of a slot, or undone."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from memory_core.domain.errors import Conflict
from memory_core.domain.memory import Memory
from memory_core.domain.truth.account import Account
from memory_core.domain.truth.entries import Entry, Merge, Pair, Place, Statement
from memory_core.evolution.slot_log import Act, SlotLog
from memory_core.evolution.truth_commands import (
    pair_entries,
    pairs,
    says,
    statement_in,
    withdrawal_entries,
    withdraws,
)
from memory_core.evolution.truth_projection import Projection


def merges(
    sources: Sequence[str],
    merged: Memory | Statement,
    conflict_id: str | None = None,
    *,
    at_save: bool = False,
) -> Act:
    """Both texts from where the later begins, and the sources merged into them. A decision ends the
    pairs among these, and keeps the new memory beside what they are kept beside.

    at_save: the new memory itself says the merged text; then its own start counts too.
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
    """A conflict is decided for the new memory: the pair ends, and it is said again, now,
    since its own start.

    The old one keeps the time before.
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
    """Every entry of a decision counts no more. The pair that opened the conflict is
    none of them.
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
    """Every entry of a decision counts no more, and both sides are kept beside each other.

    Args:
        conflict_id: the conflict that was decided.
        old_id: one side.
        new_id: the other one.
        draft: the new one as it was without the decision, which may not have stored it,
            or with another text.

    Returns:
        An act that raises Conflict where one side does not hold after it: something was said since.

    """

    def act(slot: SlotLog) -> Sequence[Entry]:
        taken = slot.added(undoes_decision(conflict_id))
        if draft is not None:
            taken = taken.added(withdraws(draft.id)).added(says(draft))
        beside = taken.account.pairs
        beside_old = beside.get(old_id, frozenset())
        if new_id not in beside_old:
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
    """End the pairs among some memories. What an entry says of others beside them is said again,
    without these.
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
    """The memories that would hold if one had never been said."""
    return slot.added(withdraws(name)).active() - slot.active()


def became(name: str, memory: Memory | Projection | None) -> str:
    """What became of a memory, in words."""
    by = "" if memory is None or memory.next_id is None else f" by {memory.next_id}"
    return f"{name} is {'gone' if memory is None else memory.status.value}{by}"

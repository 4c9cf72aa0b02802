"""What each operation of a person or the product adds to the log of a slot.

A save, a conversation, a pattern and an import assert or retract: one `Assertion` or `Retraction`, no function needed. Every function
returns entries with the given sequence and parts from 0 on; where a commit adds more, number them together with `numbered`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from memory_core.domain.truth.entries import (
    Account,
    Assertion,
    Entry,
    Hiding,
    Merge,
    Pair,
    Retraction,
    Statement,
    Withdrawal,
    numbered,
)
from memory_core.domain.truth.resolve import resolve
from memory_core.domain.truth.timeline import Timeline

MAX_WITHDRAWN = 40
"""Memories that one undo may withdraw: as many changed members as fit a batch."""


class UndoTooLarge(Exception):
    """More memories were said since than one undo withdraws; `begin_with` is a later memory to undo first."""

    def __init__(self, begin_with: str) -> None:
        super().__init__(f"more than {MAX_WITHDRAWN} memories were said since; undo {begin_with} before")
        self.begin_with = begin_with


def keep_beside(log: Sequence[Entry], new: Assertion, others: Iterable[str]) -> list[Entry]:
    """Assert, and keep the new memory beside others; beside none that has the same value, for that is a repeat.

    Args:
        log: the slot's log.
        new: the assertion, with its sequence.
        others: memories that it is kept beside: the pinned one, or each in `holders`.

    Returns:
        The assertion and the pairs.

    """
    values = {one.memory_id: one.value for one in Account.of(log).statements if isinstance(one, Assertion)}
    names = [name for name in others if name != new.memory_id and values.get(name) != new.value]
    pairs = [Pair(sequence=new.sequence, memory_ids=(name, new.memory_id), conflict_id=new.conflict_id) for name in names]
    return numbered([new, *pairs], new.sequence)


def holders(timeline: Timeline, new: Statement) -> list[str]:
    """The memories that hold where a statement takes effect: what `keep_both` pairs with, what `reject_new` asks for."""
    moment = max(new.asserted_at, new.valid_from)
    return list(dict.fromkeys(one.memory_id for one in timeline.at(moment)))


def edit(
    log: Sequence[Entry],
    memory_id: str,
    value: str,
    now: datetime,
    sequence: int,
    *,
    valid_from: datetime | None = None,
    valid_until: datetime | None = None,
) -> list[Entry]:
    """Edit the content or the value of a memory: its next version, said now.

    Args:
        log: the slot's log.
        memory_id: a memory with a statement that counts.
        value: the new value.
        now: the moment of the edit.
        sequence: of the commit.
        valid_from: if the edit names it; else now, or the memory's own if that is later, or if the edit names an end that has passed.
        valid_until: if the edit names it.

    Returns:
        The next version's assertion.

    Raises:
        KeyError: the memory has no statement that counts.

    """
    said = _said(log, memory_id)
    last = max(said, key=lambda one: (one.version, one.place))
    version = 1 + max(one.version for one in log if isinstance(one, Statement) and one.memory_id == memory_id)
    own = min(one.valid_from for one in said if one.version == last.version)
    start = valid_from or max(now, own)
    if valid_from is None and valid_until is not None and valid_until <= start:
        start = own  # an end alone that has passed is the end of all that it held
    timeline = resolve(log)
    holds = any(one.memory_id == memory_id and one.covers(max(now, start)) for one in (*timeline.intervals, *timeline.hidden))
    return [
        Assertion(
            sequence=sequence,
            memory_id=memory_id,
            version=version,
            value=value,
            asserted_at=now,
            valid_from=start,
            valid_until=valid_until,
            edits=last.version,
            corrects_past=not holds,
        )
    ]


def correct_times(log: Sequence[Entry], memory_id: str, sequence: int, valid_from: datetime, valid_until: datetime | None) -> list[Entry]:
    """Correct when the latest version of a memory holds: said when it was, with other times.

    What it held before another value did, and before it came back, stays. A mention keeps its own moment if that is later.

    Args:
        log: the slot's log.
        memory_id: a memory with a statement that counts.
        sequence: of the commit.
        valid_from: the new start.
        valid_until: the new stated end; None for no stated end.

    Returns:
        A withdrawal of the former statements and their corrected successors.

    Raises:
        KeyError: the memory has no statement that counts.

    """
    said = _said(log, memory_id)
    version = max(one.version for one in said)
    said = sorted((one for one in said if one.version == version), key=lambda one: one.order)
    timeline = resolve(log)
    last = [one for one in (*timeline.intervals, *timeline.hidden) if (one.memory_id, one.version) == (memory_id, version)][-1:]
    shows = set(last[0].places) if last else set()
    corrected = [one for one in said if one.place in shows or (last and last[0].covers(max(one.asserted_at, one.valid_from)))] or said
    first = min(corrected, key=lambda one: one.valid_from)
    made: list[Entry] = [Withdrawal(sequence=sequence, places=tuple(one.place for one in corrected))]
    for one in corrected:
        start = valid_from if one is first else max(one.valid_from, valid_from)
        moment = start if one is first else max(start, one.asserted_at)
        if valid_until is None or moment < valid_until:
            made.append(replace(one, valid_from=start, valid_until=valid_until))
    return numbered(made, sequence)


def delete(memory_id: str, sequence: int) -> list[Entry]:
    """Delete, clear or forget a memory softly."""
    return [Hiding(sequence=sequence, memory_id=memory_id)]


def withdraw(log: Sequence[Entry], memory_id: str, sequence: int) -> list[Entry]:
    """Withdraw a memory: a pattern that lost its episodes, a new fact that is rejected."""
    places = tuple(one.place for one in Account.of(log).statements if one.memory_id == memory_id)
    return [Withdrawal(sequence=sequence, places=places)] if places else []


def restore(log: Sequence[Entry], memory_id: str, sequence: int) -> list[Entry]:
    """Take back the deletion and every withdrawal of a memory as a whole; others that were withdrawn with it stay so.

    Statements whose times were corrected stay withdrawn.
    """
    account = Account.of(log)
    replaced = _replaced(account)
    places = [one.place for one in account.others if isinstance(one, Hiding) and one.memory_id == memory_id]
    own = {one.place for one in account.withdrawn if one.memory_id == memory_id}
    for one in account.others:
        if isinstance(one, Withdrawal) and one.place not in replaced and not own.isdisjoint(one.places):
            places.append(one.place)
    return [Withdrawal(sequence=sequence, places=tuple(sorted(places)))] if places else []


def undo(log: Sequence[Entry], memory_id: str, sequence: int) -> list[Entry]:
    """Let a superseded or merged memory hold again from when it was said last.

    Withdrawn is what was said since and meets its time, whether deleted or not. Spared are what it is kept beside, retractions of
    other values, and spans that were over when they were said, if the memory holds on after them.

    Args:
        log: the slot's log.
        memory_id: a memory with a statement that counts.
        sequence: of the commit.

    Returns:
        One withdrawal for each memory, so that each can be restored alone.

    Raises:
        KeyError: the memory has no statement that counts.
        UndoTooLarge: more than MAX_WITHDRAWN memories were said since.

    """
    account, said = Account.of(log), _said(log, memory_id)
    last, start = max(one.order for one in [each for each in said if not each.corrects_past] or said), min(one.valid_from for one in said)
    values = {one.value for one in said}
    ends = [one.valid_until for one in said]
    end = None if None in ends else max(one for one in ends if one is not None)
    by_memory: dict[str, list[Statement]] = {}
    for one in account.statements:
        is_rival = one.order > last and one.memory_id != memory_id and one.memory_id not in account.pairs.get(memory_id, ())
        if is_rival and _meets(one, start, end, values):
            by_memory.setdefault(one.memory_id, []).append(one)
    if len(by_memory) > MAX_WITHDRAWN:
        raise UndoTooLarge([*by_memory][-MAX_WITHDRAWN - 1])
    places = {name: [one.place for one in group] for name, group in by_memory.items()}
    for entry in account.others:
        if isinstance(entry, Merge) and (memory_id in entry.memory_ids or entry.into in by_memory):
            places.setdefault(entry.into, []).append(entry.place)
    return numbered([Withdrawal(sequence=sequence, places=tuple(group)) for group in places.values()], sequence)


def decide_supersede(log: Sequence[Entry], old: str, new: str, now: datetime, sequence: int, conflict_id: str) -> list[Entry]:
    """Decide a conflict for the new memory: the pair ends, and the new one is said again, now, since its own start.

    The old one keeps the time before.
    """
    said = _said(log, new)
    last = max(said, key=lambda one: one.version)
    start = min(one.valid_from for one in said if one.version == last.version)
    again = replace(last, asserted_at=now, valid_from=start, conflict_id=conflict_id, edits=None)
    return numbered([*_end_pairs(log, {old, new}, conflict_id), again], sequence)


def decide_reject_new(log: Sequence[Entry], new: str, sequence: int, conflict_id: str) -> list[Entry]:
    """Decide a conflict for the old memory: the new one never was so."""
    return numbered([replace(one, conflict_id=conflict_id) for one in withdraw(log, new, sequence)], sequence)


def merge(log: Sequence[Entry], sources: Sequence[str], merged: Assertion, conflict_id: str | None = None) -> list[Entry]:
    """Merge memories of a slot: both texts are asserted from where the later one begins, and the sources are merged into them.

    Args:
        log: the slot's log.
        sources: the memories; at least one.
        merged: the assertion of both texts, with its sequence, and the start of the new text where that is no memory of its own.
        conflict_id: the conflict that this decides; then only the starts of the sources count.

    Returns:
        The assertion, the merge, and the end of the pairs among the sources if a conflict is decided.

    """
    starts = [min(one.valid_from for one in said) for said in (_said(log, name, or_none=True) for name in sources) if said]
    if conflict_id is None or not starts:
        starts.append(merged.valid_from)
    asserted = replace(merged, valid_from=max(starts), conflict_id=conflict_id)
    merging = Merge(sequence=merged.sequence, memory_ids=tuple(sources), into=merged.memory_id, conflict_id=conflict_id)
    ended = [] if conflict_id is None else _end_pairs(log, {*sources}, conflict_id)
    return numbered([*ended, asserted, merging], merged.sequence)


def undo_decision(log: Sequence[Entry], conflict_id: str, sequence: int) -> list[Entry]:
    """Take back every entry of a decision that counts. The pair that opened the conflict is none of them."""
    account = Account.of(log)
    entries = (*account.statements, *account.others)
    places = sorted(one.place for one in entries if one.conflict_id == conflict_id and not isinstance(one, Pair))
    return [Withdrawal(sequence=sequence, places=tuple(places))] if places else []


def forget(log: Iterable[Entry], memory_id: str, alias: str, sequence: int) -> list[Entry]:
    """Forget a memory for good: the log without its id, its hash and its conflicts; its moments stay, hidden.

    Note: this is the only function that returns a whole log, and the only one that changes entries. Ids and values become the alias,
    so that a hidden repeat stays a repeat; a value that another memory still has stays, for it is that one's.

    Args:
        log: the slot's log.
        memory_id: the memory; one without entries changes nothing.
        alias: a name that says nothing and is new in this log.
        sequence: of the commit, at which the memory is hidden if it was not.

    Returns:
        The new log.

    """
    entries = list(log)
    others = {_value_of(one) for one in entries if isinstance(one, Statement) and one.memory_id != memory_id}
    made = [_without_names(one, memory_id, alias, others) for one in entries]
    return [*made, Hiding(sequence=sequence, memory_id=alias)] if made != entries else made


def _without_names(entry: Entry, memory_id: str, alias: str, others: Collection[str | None]) -> Entry:
    if isinstance(entry, Statement) and entry.memory_id == memory_id:
        entry = replace(entry, memory_id=alias, conflict_id=None, is_forgotten=True)
        if isinstance(entry, Assertion | Retraction) and entry.value is not None and entry.value not in others:
            # An edit may be another value than the one before it; of one memory these need no more than to differ.
            return replace(entry, value=f"{alias}.{entry.version}")
        return entry
    if isinstance(entry, Hiding) and entry.memory_id == memory_id:
        return replace(entry, memory_id=alias)
    if isinstance(entry, Pair) and memory_id in entry.memory_ids:
        first, second = (alias if name == memory_id else name for name in entry.memory_ids)
        return replace(entry, memory_ids=(first, second), conflict_id=None)
    if isinstance(entry, Merge) and memory_id in (*entry.memory_ids, entry.into):
        names = tuple(alias if name == memory_id else name for name in entry.memory_ids)
        return replace(entry, memory_ids=names, into=alias if entry.into == memory_id else entry.into, conflict_id=None)
    return entry


def _value_of(statement: Statement) -> str | None:
    return statement.value if isinstance(statement, Assertion | Retraction) else None


def _said(log: Iterable[Entry], memory_id: str, *, or_none: bool = False) -> list[Assertion | Retraction]:
    statements = Account.of(log).statements
    said = [one for one in statements if isinstance(one, Assertion | Retraction) and one.memory_id == memory_id]
    if not said and not or_none:
        raise KeyError(memory_id)
    return said


def _meets(one: Statement, start: datetime, end: datetime | None, values: Collection[str | None]) -> bool:
    """Whether a statement said later meets the time of a memory that begins at `start` and has `end` as its stated end."""
    if isinstance(one, Retraction):
        return (one.value is None or one.value in values) and (one.valid_until is None or one.valid_until > start)
    if one.valid_until is None:
        return True
    outlasted = one.valid_until <= one.asserted_at and (end is None or end > one.valid_until)
    return one.valid_until > start and not outlasted


def _replaced(account: Account) -> set[tuple[int, int]]:
    """The withdrawals that came with corrected times: their commit says the same version of the same memory anew."""
    said = {(one.sequence, one.memory_id, one.version) for one in (*account.statements, *account.withdrawn)}
    by_place = {one.place: one for one in account.withdrawn}
    return {
        entry.place
        for entry in account.others
        if isinstance(entry, Withdrawal)
        and any(
            place in by_place and (entry.sequence, by_place[place].memory_id, by_place[place].version) in said for place in entry.places
        )
    }


def _end_pairs(log: Iterable[Entry], names: Collection[str], conflict_id: str) -> list[Entry]:
    pairs = [one for one in Account.of(log).others if isinstance(one, Pair) and set(one.memory_ids) <= set(names)]
    if not pairs:
        return []
    return [Withdrawal(sequence=0, places=tuple(one.place for one in pairs), conflict_id=conflict_id)]

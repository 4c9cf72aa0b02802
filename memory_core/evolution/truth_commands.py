"""What each operation adds to the log of a slot; what becomes of its members follows from the log.

An operation is an `Act`: from the log to new entries, which the log numbers. A change of a memory
names its act, or it follows from the change: what is created says what it says, what is deleted is
hidden, what comes back from a deletion is shown again.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from memory_core.domain.errors import Conflict, FieldError
from memory_core.domain.memory import Memory, Status
from memory_core.domain.truth.account import Account
from memory_core.domain.truth.entries import (
    Assertion,
    Entry,
    Hiding,
    Key,
    Merge,
    Pair,
    Place,
    Retraction,
    Statement,
    Trimming,
    Withdrawal,
    asserted_at,
)
from memory_core.domain.truth.slots import is_retraction
from memory_core.domain.truth.timeline import Interval
from memory_core.evolution.slot_log import Act, SlotLog
from memory_core.evolution.truth_projection import GONE
from memory_core.ledger.batch import Change

MAX_WITHDRAWN = 40
"""Memories that one undo may withdraw: as many changed members as fit a batch."""
MAX_BESIDE = 2000
"""Memories that one may be kept beside: each has to be resolved with each other at every save
into the slot.
"""


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
        return undoes(after.id)
    return None


def added_by(slot: SlotLog, change: Change) -> SlotLog:
    """The log of a slot with what a change adds. Raises LookedElsewhere where sealed parts have to
    be read for it.
    """
    act = act_of(change)
    if slot.seal is not None and (
        change.removed or (act and change.before is not None and not slot.knows(change.after.id))
    ):
        raise slot.sealed()
    return slot if act is None else slot.added(act)


def statement_in(slot: SlotLog, new: Memory | Statement, **fields: Any) -> Statement:
    """What a memory says in its slot, after all that was said at the same time; a statement says
    itself.

    fields: what is otherwise, such as the id of the memory that it is a mention of.
    """
    if isinstance(new, Statement):
        return new
    made: dict[str, Any] = {
        "sequence": slot.pending,
        "part": slot.next_part(),
        "memory_id": new.id,
        "version": new.version,
        "value": slot.value_of(new),
        "asserted_at": asserted_at(new.event_timestamp, slot.now),
        "valid_from": new.valid_from,
        "valid_until": new.valid_until,
    }
    return (Retraction if is_retraction(new) else Assertion)(**(made | fields))


def says(
    new: Memory | Statement, *, beside: Iterable[str] = (), conflict_id: str | None = None
) -> Act:
    """A memory says what it says, beside others or alone. Of those that have its value it is a
    repeat, and none beside them. Retractions stand alone.

    conflict_id: that opens with it, and is no decision.
    """

    def act(slot: SlotLog) -> Sequence[Entry]:
        statement = statement_in(slot, new)
        if not isinstance(statement, Assertion):
            return [statement]
        values = {
            each.memory_id: each.value
            for each in slot.account.statements
            if isinstance(each, Assertion)
        }
        names = [
            name
            for name in beside
            if name != statement.memory_id and values.get(name) != statement.value
        ]
        if len(names) > MAX_BESIDE:
            raise Conflict(
                f"more than {MAX_BESIDE} memories are side by side in this slot already; "
                "supersede, merge or delete some"
            )
        # the same for each, so that a row can refer to the one before it
        order = {name: number for number, name in enumerate(values)}
        names.sort(key=lambda name: order.get(name, -1))
        return [statement, *pair_entries(names, statement.memory_id, conflict_id)]

    return act


def copies(memory: Memory, source_id: str) -> Act:
    """A copy for another agent says the same beside its source, and beside what that is
    kept beside.
    """

    def act(slot: SlotLog) -> Sequence[Entry]:
        beside = slot.account.pairs.get(source_id, frozenset())
        return says(memory, beside=[source_id, *sorted(beside - {memory.id})])(slot)

    return act


def mentions(held_id: str, version: int, new: Memory) -> Act:
    """A memory that is held is said again, as the new one says it."""
    return lambda slot: [statement_in(slot, new, memory_id=held_id, version=version)]


def pairs(first: str, second: str, conflict_id: str | None = None) -> Act:
    """Two memories are kept side by side from now on."""
    return lambda slot: [Pair(memory_ids=(first, second), conflict_id=conflict_id)]


def deletes(memory_id: str) -> Act:
    """A memory is deleted, cleared or softly forgotten."""
    return lambda slot: [Hiding(memory_id=memory_id)]


def withdraws(memory_id: str, conflict_id: str | None = None) -> Act:
    """A memory never was so: a pattern lost its episodes, or a new fact is rejected.
    conflict_id: that this decides.
    """
    return lambda slot: withdrawal_entries(
        [statement.place for statement in slot.account.said_by(memory_id)], conflict_id
    )


def restores(memory: Memory, *, never_was: bool = False) -> Act:
    """A memory comes back from a deletion or a withdrawal; one that the log does not know says
    what it says.

    never_was: it was taken back; then one that the log does not know was an earlier time of
    another, and is none.
    """

    def act(slot: SlotLog) -> Sequence[Entry]:
        if memory.id in slot.timeline.latest_versions():
            return shows_again(memory.id)(slot)
        if never_was:
            raise Conflict(f"{memory.id} holds at no time any more")
        return [statement_in(slot, memory)]

    return act


def shows_again(memory_id: str) -> Act:
    """The deletion and every withdrawal of a memory as a whole are taken back;
    others that were withdrawn with it stay so.

    Statements whose times were corrected stay withdrawn.
    """

    def act(slot: SlotLog) -> Sequence[Entry]:
        account = slot.account
        own = {
            statement.place for statement in account.withdrawn if statement.memory_id == memory_id
        }
        hidings = [
            entry.place
            for entry in account.others
            if isinstance(entry, Hiding) and entry.memory_id == memory_id
        ]
        return withdrawal_entries([*hidings, *_naming(account, Withdrawal, own)])

    return act


def undoes(memory_id: str) -> Act:
    """A superseded or merged memory is active again from when it was said last.

    Withdrawn is what was said since and meets its time, whether deleted or not, each memory by an
    entry of its own, so that it can be restored alone. Spared are what the memory is kept beside,
    retractions of other values, and spans that were over when they were said, if it holds on after
    them. Edits and mentions of what is spared, or was said before, are trimmed, where these take
    time from it. Raises Conflict for more than `MAX_WITHDRAWN` memories.
    """

    def act(slot: SlotLog) -> Sequence[Entry]:
        account, statements = slot.account, slot.said_by(memory_id)
        trimmed = _naming(account, Trimming, {each.place for each in statements})
        if trimmed:
            back = withdrawal_entries(trimmed)
            return [*back, *act(slot.added(lambda _: back))]
        start = min(statement.valid_from for statement in statements)
        plain = [each for each in statements if not each.corrects_past] or statements
        last, values = plain[-1].order, {statement.value for statement in statements}
        ends = [statement.valid_until for statement in statements]
        end = None if None in ends else max(filter(None, ends))
        beside = {memory_id, *account.pairs.get(memory_id, ())}
        rivals, gone = list[Statement](), set[Key]()
        for statement in account.statements:
            is_rival = statement.order > last and statement.memory_id not in beside
            edited = (statement.memory_id, statement.edits or 0)
            if is_rival and (edited in gone or _meets(statement, start, end, values)):
                gone.add(statement.key)
                rivals.append(statement)
        left = {each.key for each in account.statements if each not in rivals}
        since, trims = dict[str, list[Place]](), dict[str, list[Place]]()
        for statement in rivals:
            is_again = (statement.memory_id, statement.edits or statement.version) in left
            left |= {statement.key} if is_again else set()
            places = (trims if is_again else since).setdefault(statement.memory_id, [])
            places.append(statement.place)
        if len(names := since | trims) > MAX_WITHDRAWN:
            later = [*names][-MAX_WITHDRAWN - 1]
            message = (
                f"more than {MAX_WITHDRAWN} truths were told since; restore a later one before, "
                f"such as {later}"
            )
            raise Conflict(message, errors=(FieldError("status", message),))
        gone_whole = since.keys() - {name for name, _ in left}
        for entry in account.others:
            if isinstance(entry, Merge) and (
                account.merged.get(memory_id) == entry or entry.into in gone_whole
            ):
                since.setdefault(entry.into, []).append(entry.place)
        entries: list[Entry] = [Withdrawal(places=tuple(places)) for places in since.values()]
        trimmings = [Trimming(places=tuple(places)) for places in trims.values()]
        times = _times(slot, memory_id, [*entries, *trimmings])
        return entries if times == _times(slot, memory_id, entries) else [*entries, *trimmings]

    return act


def _times(
    slot: SlotLog, memory_id: str, entries: Sequence[Entry]
) -> list[tuple[datetime, datetime | None]]:
    """When a memory would hold with more entries."""
    intervals = slot.added(lambda _: entries).timeline.intervals
    return [(each.begins, each.ends) for each in intervals if each.memory_id == memory_id]


def edits(
    new: Memory | Statement, valid_from: datetime | None, valid_until: datetime | None
) -> Act:
    """The next version of a memory, said now, that holds from now, or from the memory's own start
    if that is later.

    Args:
        new: what it says.
        valid_from: if the edit names it.
        valid_until: if the edit names it; one alone that has passed is the end of all that the
            memory held.

    """

    def act(slot: SlotLog) -> Sequence[Entry]:
        statement = statement_in(slot, new)
        before = slot.said_by(statement.memory_id)
        edited = max(each.version for each in before)
        own = min(each.valid_from for each in before if each.version == edited)
        start = valid_from or max(slot.now, own)
        if valid_from is None and valid_until is not None and valid_until <= start:
            start = own
        moment = max(slot.now, start)
        holds = any(
            interval.memory_id == statement.memory_id and interval.covers(moment)
            for interval in slot.timeline.times
        )
        fields: dict[str, Any] = {
            "asserted_at": slot.now,
            "valid_from": start,
            "valid_until": valid_until,
        }
        return [replace(statement, **fields, edits=edited, corrects_past=not holds)]

    return act


def corrects_times(memory_id: str, valid_from: datetime, valid_until: datetime | None) -> Act:
    """The latest version of a memory holds at other times, and was said when it was.

    What it held before another value did, and before it came back, stays. A mention keeps its own
    moment if that is later.
    """

    def act(slot: SlotLog) -> Sequence[Entry]:
        before = slot.said_by(memory_id)
        version = max(statement.version for statement in before)
        statements = [statement for statement in before if statement.version == version]
        own = [interval for interval in slot.timeline.times if interval.key == (memory_id, version)]
        corrected = [
            statement for statement in statements if own and _tells_of(statement, own[-1])
        ] or statements
        first = min(corrected, key=lambda statement: statement.valid_from)
        made: list[Entry] = withdrawal_entries([statement.place for statement in corrected])
        for statement in corrected:
            start = valid_from if statement is first else max(statement.valid_from, valid_from)
            moment = start if statement is first else max(start, statement.asserted_at)
            if valid_until is None or moment < valid_until:
                made.append(replace(statement, valid_from=start, valid_until=valid_until))
        return made

    return act


def retracts(memory: Memory, by: Memory, conflict_id: str | None = None) -> Act:
    """Something said elsewhere, in another slot, ends a memory where it begins.
    It has no memory in this slot.
    """

    def act(slot: SlotLog) -> Sequence[Entry]:
        moment = asserted_at(by.event_timestamp, slot.now)
        return [
            Retraction(
                memory_id=f"~{by.id}",
                value=slot.value_of(memory),
                asserted_at=max(moment, memory.event_timestamp),
                valid_from=max(by.valid_from, memory.valid_from),
                is_forgotten=True,
                conflict_id=conflict_id,
            )
        ]

    return act


def merged_elsewhere(memory: Memory, into: Memory, conflict_id: str | None = None) -> Act:
    """A memory is merged into one of another slot, or of none, and ends where that begins."""
    merging = Merge(memory_ids=(memory.id,), into=into.id, conflict_id=conflict_id)
    return lambda slot: [*retracts(memory, into, conflict_id)(slot), merging]


def withdrawal_entries(places: Collection[Place], conflict_id: str | None = None) -> list[Entry]:
    """The entry that withdraws the entries at some places; none without a place.

    Args:
        places: Of the entries that count no more.
        conflict_id: Of the conflict whose decision withdraws them.

    """
    return [Withdrawal(places=tuple(sorted(places)), conflict_id=conflict_id)] if places else []


def pair_entries(others: Sequence[str], memory_id: str, conflict_id: str | None) -> list[Entry]:
    """The entry that keeps a memory beside others; none without others.

    Args:
        others: The ids of the others.
        memory_id: Of the memory.
        conflict_id: Of the conflict whose decision keeps them.

    """
    return [Pair(memory_ids=(*others, memory_id), conflict_id=conflict_id)] if others else []


def _tells_of(statement: Statement, interval: Interval) -> bool:
    return statement.place in interval.places or interval.covers(statement.met_at)


def _meets(
    statement: Statement, start: datetime, end: datetime | None, values: Collection[str | None]
) -> bool:
    """Whether a statement said later meets the time of a memory that begins at `start` and has
    `end` as its stated end.
    """
    if end is not None and statement.valid_from >= end:
        return False
    if isinstance(statement, Retraction):
        return (statement.value is None or statement.value in values) and (
            statement.valid_until is None or statement.valid_until > start
        )
    if statement.valid_until is None:
        return True
    outlasted = statement.valid_until <= statement.asserted_at and (
        end is None or end > statement.valid_until
    )
    return statement.valid_until > start and not outlasted


def _naming(account: Account, kind: type[Withdrawal], places: Collection[Place]) -> list[Place]:
    """The places of the withdrawals of a kind that name some of these places; corrections of times
    are none.
    """
    return [
        entry.place
        for entry in account.others
        if type(entry) is kind
        and not {*entry.places}.isdisjoint(places)
        and not _is_correction(entry, account)
    ]


def _is_correction(entry: Withdrawal, account: Account) -> bool:
    """Whether a withdrawal came with corrected times: its commit says the same version of the same
    memory again.
    """
    statements = (*account.statements, *account.withdrawn)
    keys = {statement.key for statement in statements if statement.sequence == entry.sequence}
    return any(
        statement.key in keys for statement in account.withdrawn if statement.place in entry.places
    )


_ALIAS_BYTES = 6


def forgotten(slot: SlotLog, memory_ids: Iterable[str]) -> SlotLog:
    """The log without the names of memories that are gone for good."""
    for name in memory_ids:
        slot = without_names(slot, name, f"{GONE}{secrets.token_hex(_ALIAS_BYTES)}")
    return slot


def without_names(slot: SlotLog, memory_id: str, alias: str) -> SlotLog:
    """The log without a memory's id, hash and conflicts; its moments stay, hidden.
    One that is not in it changes nothing.

    Note: nothing else changes entries. Ids and values become the alias, so that a hidden repeat
    stays a repeat; a value that another memory still has stays, for it is that one's.

    Args:
        slot: the log.
        memory_id: the memory.
        alias: a name that says nothing and is new in this log.

    """
    other_values = {
        entry.value
        for entry in slot.entries
        if isinstance(entry, Statement) and entry.memory_id != memory_id
    }
    made = [_renamed(entry, memory_id, alias, other_values) for entry in slot.entries]
    return slot if made == [*slot.entries] else slot.with_entries(made).added(deletes(alias))


def _renamed(
    entry: Entry, memory_id: str, alias: str, other_values: Collection[str | None]
) -> Entry:
    def new(name: str) -> str:
        return alias if name == memory_id else name

    if isinstance(entry, Statement) and entry.memory_id == memory_id:
        # An edit may be another value than the one before it; of one memory these need no more
        # than to differ.
        is_shared = entry.value is None or entry.value in other_values
        value = entry.value if is_shared else f"{alias}.{entry.version}"
        fields: dict[str, Any] = {"memory_id": alias, "value": value, "is_forgotten": True}
        return replace(entry, **fields, conflict_id=None)
    if isinstance(entry, Hiding):
        return replace(entry, memory_id=new(entry.memory_id))
    if isinstance(entry, Pair | Merge):
        names: dict[str, Any] = {"memory_ids": tuple(map(new, entry.memory_ids))}
        if isinstance(entry, Merge):
            names["into"] = new(entry.into)
        made = replace(entry, **names)
        return entry if made == entry else replace(made, conflict_id=None)
    return entry

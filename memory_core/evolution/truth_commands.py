"""The entries that each operation adds to the log of a slot.

The states of the slot's members follow from the log. An operation is an `Act`: it makes new entries
from the log, which the log numbers. A change of a memory names its act, or the act follows from the
change: a created memory is asserted, a deleted memory is hidden, and a restored memory is shown
again.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from memory_core.domain.errors import Conflict, FieldError
from memory_core.domain.memory import Memory, Status
from memory_core.domain.truth.entries import (
    Account,
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
    pair_entries,
    withdrawal_entries,
)
from memory_core.domain.truth.slots import is_retraction
from memory_core.domain.truth.timeline import Interval
from memory_core.evolution.slot_log import Act, SlotLog
from memory_core.evolution.truth_projection import GONE
from memory_core.ledger.changes import Change

MAX_BESIDE = 2000
"""Memories that may coexist with a memory: at every save into the slot, each of them has to be
resolved with every other.
"""

MAX_WITHDRAWN = 40
"""Memories that an undo may withdraw: as many changed members as fit into a batch."""


def act_of(change: Change) -> Act | None:
    """The act of a change on the log of its slot; None for no act."""
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
    """The log of a slot with the entries of a change.

    Args:
        slot: The log.
        change: Change of a memory of the slot.

    Raises:
        SealedEntries: They must be read for it.
        Conflict: The log refuses the change.

    """
    act = act_of(change)
    if slot.seal is not None and (
        change.removed or (act and change.before is not None and not slot.knows(change.after.id))
    ):
        raise slot.sealed()
    return slot if act is None else slot.added(act)


def statement_in(slot: SlotLog, new: Memory | Statement) -> Statement:
    """The statement of a memory in its slot, after all statements of the same time.

    A statement is returned as it is.

    Args:
        slot: The log.
        new: A memory or a statement.

    """
    if isinstance(new, Statement):
        return new
    fields: dict[str, Any] = {
        "sequence": slot.pending,
        "part": slot.next_part(),
        "memory_id": new.id,
        "version": new.version,
        "value": slot.value_of(new),
        "asserted_at": min(new.event_timestamp, slot.now),
        "valid_from": new.valid_from,
        "valid_until": new.valid_until,
    }
    return (Retraction if is_retraction(new) else Assertion)(**fields)


def says(
    new: Memory | Statement, *, beside: Iterable[str] = (), conflict_id: str | None = None
) -> Act:
    """Assert a memory, coexisting with other memories or alone.

    It is a repeat of memories with its value, and does not coexist with them. A retraction never
    coexists.

    Args:
        new: A memory or a statement.
        beside: Ids of memories with which it coexists.
        conflict_id: Id of the conflict that opens with it; it is no decision.

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
    """Assert a copy for another agent, which coexists with its source.

    It also coexists with the memories that coexist with the source.

    Args:
        memory: The copy.
        source_id: Id of the copied memory.

    """

    def act(slot: SlotLog) -> Sequence[Entry]:
        beside = slot.account.pairs.get(source_id, frozenset())
        return says(memory, beside=[source_id, *sorted(beside - {memory.id})])(slot)

    return act


def mentions(held_id: str, version: int, new: Memory | Statement) -> Act:
    """Repeat an existing memory, as a new memory says it.

    The repeat has the value of the existing memory, even if the new memory gives none. One that
    gives a later start to a value that had not begun when it was said postpones this value.

    Args:
        held_id: Id of the existing memory.
        version: Version of the existing memory.
        new: The new memory, or what it states.

    """

    def act(slot: SlotLog) -> Sequence[Entry]:
        names: dict[str, Any] = {"memory_id": held_id, "version": version}
        statement = replace(statement_in(slot, new), **names)
        if isinstance(statement, Retraction):
            return [statement]
        own = [each for each in slot.timeline.times if each.key == (held_id, version)]
        if not own:
            return [statement]
        repeat = replace(statement, value=own[-1].value)
        return [*_postponed_by(repeat, own, slot), repeat]

    return act


def _postponed_by(repeat: Statement, own: Sequence[Interval], slot: SlotLog) -> list[Entry]:
    """The corrected starts of a value that a repeat postpones; none for any other repeat.

    Args:
        repeat: The repeat of the value.
        own: The intervals of the value's memory and version.
        slot: The log.

    """
    moment, start = repeat.asserted_at, repeat.valid_from
    if not any(moment < each.begins < start and each.covers(start) for each in own):
        return []
    earlier = [
        statement
        for statement in slot.said_by(repeat.memory_id)
        if statement.order < repeat.order and moment < statement.valid_from < start
    ]
    moved = [replace(statement, valid_from=start) for statement in earlier]
    return [*withdrawal_entries([statement.place for statement in earlier]), *moved]


def pairs(first: str, second: str, conflict_id: str | None = None) -> Act:
    """Let two memories coexist from now on.

    Args:
        first: Id of a memory.
        second: Id of the other memory.
        conflict_id: Id of the conflict that opens with it.

    """
    return lambda slot: [Pair(memory_ids=(first, second), conflict_id=conflict_id)]


def deletes(memory_id: str) -> Act:
    """Hide a memory that is deleted, cleared or forgotten.

    Its statements of what has not begun are withdrawn, so that they end no other value.
    """

    def act(slot: SlotLog) -> Sequence[Entry]:
        ahead = [
            statement.place
            for statement in slot.account.said_by(memory_id)
            if statement.valid_from > slot.now
        ]
        return [Hiding(memory_id=memory_id), *withdrawal_entries(ahead)]

    return act


def withdraws(memory_id: str, conflict_id: str | None = None) -> Act:
    """Withdraw a memory, as if it had never been asserted.

    For example, a pattern lost its episodes, or a new fact is rejected.

    Args:
        memory_id: Id of the memory.
        conflict_id: Id of the conflict that this decides.

    """
    return lambda slot: withdrawal_entries(
        [statement.place for statement in slot.account.said_by(memory_id)], conflict_id
    )


def restores(memory: Memory, *, never_was: bool = False) -> Act:
    """Show a memory again after a deletion or a withdrawal.

    A memory that the log does not know is asserted.

    Args:
        memory: As it is restored.
        never_was: It was withdrawn. If the log does not know it, it was an earlier interval of
            another memory that no longer holds.

    Raises:
        KeyError: It is, or was, only an earlier interval of another memory.

    """

    def act(slot: SlotLog) -> Sequence[Entry]:
        if memory.id in slot.timeline.latest_versions():
            return shows_again(memory.id)(slot)
        if never_was or memory.id in slot.rows:
            raise KeyError(memory.id)
        return [statement_in(slot, memory)]

    return act


def shows_again(memory_id: str) -> Act:
    """Undo the deletion and every whole withdrawal of a memory.

    Memories that were withdrawn with it stay withdrawn, and so do statements whose times were
    corrected.
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
    """Reactivate a superseded or merged memory, from when it was last asserted.

    Later statements that meet its time are withdrawn, whether deleted or not. Each memory is
    withdrawn by an entry of its own, so that it can be restored alone. Spared are memories that
    coexist with it, retractions of other values, and spans that were over when they were asserted,
    if the memory holds on after them. Of a memory of which a statement is left, later statements
    are trimmed where they take time from it. The act raises Conflict for more than `MAX_WITHDRAWN`
    memories.
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
        left = {each.memory_id for each in account.statements if each not in rivals}
        since, trims = dict[str, list[Place]](), dict[str, list[Place]]()
        for statement in rivals:
            places = (trims if statement.memory_id in left else since).setdefault(
                statement.memory_id, []
            )
            places.append(statement.place)
        if len(names := since | trims) > MAX_WITHDRAWN:
            later = [*names][-MAX_WITHDRAWN - 1]
            message = (
                f"more than {MAX_WITHDRAWN} truths were told since; restore a later one before, "
                f"such as {later}"
            )
            raise Conflict(message, errors=(FieldError("status", message),))
        gone_whole = {*since}
        for entry in account.others:
            if isinstance(entry, Merge) and (
                account.merged.get(memory_id) == entry or entry.into in gone_whole
            ):
                since.setdefault(entry.into, []).append(entry.place)
        entries: list[Entry] = [Withdrawal(places=tuple(places)) for places in since.values()]
        trimmings = [Trimming(places=tuple(places)) for places in trims.values()]
        times = _times_of(slot, memory_id, [*entries, *trimmings])
        return entries if times == _times_of(slot, memory_id, entries) else [*entries, *trimmings]

    return act


def _times_of(
    slot: SlotLog, memory_id: str, entries: Sequence[Entry]
) -> list[tuple[datetime, datetime | None]]:
    """When a memory would hold with further entries."""
    intervals = slot.added(lambda _: entries).timeline.intervals
    return [(each.begins, each.ends) for each in intervals if each.memory_id == memory_id]


def _meets(
    statement: Statement, start: datetime, end: datetime | None, values: Collection[str | None]
) -> bool:
    """Whether a later statement meets the time of a memory.

    The memory begins at `start` and has `end` as its stated end.
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
    """The places of withdrawals of a kind that name any of these places.

    Corrections of times are left out.
    """
    return [
        entry.place
        for entry in account.others
        if type(entry) is kind
        and not {*entry.places}.isdisjoint(places)
        and not _is_correction(entry, account)
    ]


def _is_correction(entry: Withdrawal, account: Account) -> bool:
    """Whether a withdrawal came with corrected times.

    Its commit then asserts the same version of the same memory again.
    """
    again = {
        statement.key
        for statement in (*account.statements, *account.withdrawn)
        if statement.sequence == entry.sequence and statement.place > entry.place
    }
    return any(
        statement.key in again for statement in account.withdrawn if statement.place in entry.places
    )


def old_values(slot: SlotLog) -> list[Interval]:
    """The last intervals of memories that hold now by an old version."""
    latest = slot.timeline.latest_versions()
    last = {each.memory_id: each for each in slot.timeline.intervals}  # in the order of time
    return [
        interval
        for name, interval in last.items()
        if interval.version != latest[name] and interval.covers(slot.now)
    ]


def says_again(interval: Interval) -> Act:
    """Assert an old version's value as the next version of its memory.

    The version is that of a memory's last interval. It is said when a statement of it was said:
    the last by which no other value holds at any moment. Without one the act adds no entry.

    Args:
        interval: The last interval of the memory.

    """

    def act(slot: SlotLog) -> Sequence[Entry]:
        latest = slot.timeline.latest_versions()[interval.memory_id]
        own = [each for each in slot.account.statements if each.place in interval.places]
        for statement in reversed(own):
            again: dict[str, Any] = {"valid_from": interval.begins, "version": latest + 1}
            entry = replace(statement, **again, edits=None, corrects_past=False)
            after = slot.added(_adds([entry]))
            holds = any(each.key == entry.key for each in after.timeline.at(slot.now))
            if holds and _values(after) == _values(slot):
                return [entry]
        return []

    return act


def _values(slot: SlotLog) -> list[list[Any]]:
    """What holds when: by memory and value, whatever the version."""
    made: list[list[Any]] = []
    for each in sorted(
        slot.timeline.times, key=lambda each: (each.memory_id, each.value or "", each.begins)
    ):
        if made and made[-1][:2] == [each.memory_id, each.value] and made[-1][3] == each.begins:
            made[-1][3] = each.ends
        else:
            made.append([each.memory_id, each.value, each.begins, each.ends])
    return made


def _adds(entries: Sequence[Entry]) -> Act:
    return lambda _: entries


def edits(
    new: Memory | Statement, valid_from: datetime | None, valid_until: datetime | None
) -> Act:
    """Assert the next version of a memory now.

    It holds from now, or from the memory's own start if that is later.

    Args:
        new: The next version.
        valid_from: If the edit names it, else None.
        valid_until: If the edit names it, else None. A past end without `valid_from` ends the whole
            validity of the memory.

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
    """Correct the times of a memory's latest version.

    Times that the memory held before another value, and before it was reactivated, are kept. A
    mention keeps its own moment if that is later.

    Args:
        memory_id: Id of the memory.
        valid_from: The corrected start.
        valid_until: The corrected end; None for none.

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
    """End a memory where a statement of another slot begins.

    That statement has no memory in this slot.

    Args:
        memory: Memory that ends.
        by: The memory of the other slot.
        conflict_id: Id of the conflict that this decides.

    """

    def act(slot: SlotLog) -> Sequence[Entry]:
        moment = min(by.event_timestamp, slot.now)
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
    """Merge a memory into a memory of another slot, or without a slot.

    It ends where the other memory begins.

    Args:
        memory: Memory that ends.
        into: The merged memory.
        conflict_id: Id of the conflict that this decides.

    """
    merging = Merge(memory_ids=(memory.id,), into=into.id, conflict_id=conflict_id)
    return lambda slot: [*retracts(memory, into, conflict_id)(slot), merging]


def _tells_of(statement: Statement, interval: Interval) -> bool:
    return statement.place in interval.places or interval.covers(statement.met_at)


_ALIAS_BYTES = 6


def forgotten(slot: SlotLog, memory_ids: Iterable[str]) -> SlotLog:
    """The log without the names of memories that are hard-deleted.

    Args:
        slot: The log.
        memory_ids: Ids of the memories.

    """
    for name in memory_ids:
        slot = without_names(slot, name, f"{GONE}{secrets.token_hex(_ALIAS_BYTES)}")
    return slot


def without_names(slot: SlotLog, memory_id: str, alias: str) -> SlotLog:
    """The log without a memory's id, hash and conflicts; its moments stay, hidden.

    A memory that is not in the log changes no entry. Note: no other operation changes entries. Ids
    and values become the alias, so that a hidden repeat stays a repeat. A value that another memory
    still has stays, because it belongs to that memory.

    Args:
        slot: The log.
        memory_id: Id of the memory.
        alias: A name without meaning that is new in this log.

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

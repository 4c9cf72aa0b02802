"""Entries that undo a deletion, a withdrawal or a supersession in a slot's log."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from memory_core.domain.errors import Conflict, FieldError
from memory_core.domain.truth.account import Account
from memory_core.domain.truth.entries import (
    Entry,
    Hiding,
    Key,
    Merge,
    Place,
    Retraction,
    Statement,
    Trimming,
    Withdrawal,
    withdrawal_entries,
)
from memory_core.evolution.slot_log import Act, SlotLog

MAX_WITHDRAWN = 40
"""Memories that an undo may withdraw: as many changed members as fit into a batch."""


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
        times = _times(slot, memory_id, [*entries, *trimmings])
        return entries if times == _times(slot, memory_id, entries) else [*entries, *trimmings]

    return act


def _times(
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

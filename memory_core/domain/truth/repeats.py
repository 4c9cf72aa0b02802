"""Repeats of a memory that a log can do without: somebody who says the same thing daily must not make a long log of it.

Note: what arrives late, and was said between two repeats that are gone, holds until the next one that was kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby

from memory_core.domain.truth.entries import Account, Assertion, Entry, Statement, Withdrawal
from memory_core.domain.truth.resolve import resolve
from memory_core.domain.truth.timeline import project

MAX_IN_A_ROW = 40
"""Repeats in a row that a log keeps: the first, and the latest 39."""


def without_surplus_repeats(log: Sequence[Entry], now: datetime) -> Sequence[Entry]:
    """A log without the middle of long rows of repeats, if nothing that is stored follows from these.

    Args:
        log: the entries of one slot that are not sealed.
        now: the moment of the commit.

    Returns:
        The given log where no row is too long.

    """
    gone = {one.place for row in rows(log) for one in surplus(row)}
    if not gone:
        return log
    kept = [one for one in log if one.place not in gone]
    return kept if project(resolve(kept), now) == project(resolve(log), now) else log


def rows(log: Sequence[Entry]) -> Iterator[list[Statement]]:
    """Statements of the same in a row, in the order of saying: plain ones, of which no other entry speaks."""
    account = Account.of(log)
    named = {place for one in log if isinstance(one, Withdrawal) for place in one.places}
    corrected = {one.sequence for one in log if isinstance(one, Withdrawal)}

    def likeness(one: Statement) -> tuple[object, ...]:
        is_plain = isinstance(one, Assertion) and one.valid_until is None and one.edits is None and one.conflict_id is None
        if not is_plain or one.place in named or one.sequence in corrected:
            return (one.place,)
        return one.memory_id, one.version, getattr(one, "value", None), account.hidden_at.get(one.place)

    return (list(row) for _, row in groupby(account.statements, likeness))


def surplus(row: Sequence[Statement], most: int = MAX_IN_A_ROW) -> list[Statement]:
    """What is too much of a row; one that begins before the first is none, for the memory holds from there on."""
    return [one for one in row[1 : 1 - most] if one.valid_from >= row[0].valid_from]

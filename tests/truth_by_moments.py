"""The tables of truth, applied to a grid of single moments: slow, and sharing nothing with
`resolve` but the entries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from itertools import pairwise
from typing import Any

from memory_core.domain.truth.entries import (
    Assertion,
    Entry,
    Hiding,
    Pair,
    Retraction,
    Trimming,
    Withdrawal,
)

Statement = Any
STEP = timedelta(microseconds=1)
"""The least difference of two moments."""


def around(boundaries: Iterable[datetime]) -> list[datetime]:
    """Every boundary, the step before it, and the middle of each time between two; the last two
    moments lie after all.
    """
    starts = sorted(set(boundaries))
    starts += [starts[-1] + timedelta(days=1)] if starts else []
    middles = [first + (second - first) / 2 for first, second in pairwise(starts)]
    return sorted({*starts, *middles, *(start - STEP for start in starts)})


def boundaries_of(log: Iterable[Entry]) -> set[datetime]:
    """Every moment that a log's statements name: only there another value may begin to hold."""
    return {
        moment
        for entry in log
        if isinstance(entry, Assertion | Retraction)
        for moment in (entry.asserted_at, entry.valid_from, entry.valid_until)
        if moment is not None
    }


@dataclass(eq=False, slots=True)
class Mark:
    """What a statement left at a moment."""

    statement: Statement
    shows: str  # value, retraction, nothing
    begins: datetime
    until: datetime | None

    @property
    def value(self) -> str | None:
        return self.statement.value if self.shows == "value" else None


class Grid:
    """What every moment of a grid knows."""

    def __init__(
        self,
        log: Iterable[Entry],
        moments: list[datetime],
        known_at: int | None = None,
        of: Grid | None = None,
    ) -> None:
        """of: the grid of the whole log; then only what it knows of the given statements is put
        on this one.
        """
        self.moments, self.of = moments, of
        self.entries = [entry for entry in log if known_at is None or entry.sequence <= known_at]
        self.by_place = {entry.place: entry for entry in self.entries}
        self.top: dict[datetime, list[Mark]] = {moment: [] for moment in moments}
        self.deletions = [
            entry for entry in self.entries if isinstance(entry, Hiding) and self.counts(entry)
        ]
        pairs = [
            each.memory_ids for each in self.entries if isinstance(each, Pair) and self.counts(each)
        ]
        self.pairs = [{other, names[-1]} for names in pairs for other in names[:-1]]
        self.hidden_at: dict[tuple[int, int], tuple[int, int] | None] = {}
        self.originals: dict[tuple[str, int, tuple[int, int] | None], int] = {}
        self.voided: dict[tuple[int, int], bool] = {}
        statements = [
            entry
            for entry in self.entries
            if isinstance(entry, Assertion | Retraction) and self.counts(entry)
        ]
        statements = [
            statement
            for statement in statements
            if statement.valid_until is None or statement.valid_from < statement.valid_until
        ]
        self.statements = sorted(
            statements, key=lambda statement: (statement.asserted_at, statement.place)
        )
        if of is not None:
            self.deletions, self.pairs, self.hidden_at = of.deletions, of.pairs, of.hidden_at
        for retraction in self.statements:
            if not self.whole.is_voided(retraction):
                self.add(retraction)

    @property
    def whole(self) -> Grid:
        """The grid of the whole log. Note: one that named itself would wait for the collector."""
        return self.of or self

    def values(self, moment: datetime) -> list[str]:
        return sorted(
            mark.statement.value
            for mark in self.top[moment]
            if mark.shows == "value" and self.hidden(mark.statement) is None
        )

    def retraction(self, moment: datetime) -> str | None:
        """The memory of the retraction that holds, where no value does."""
        marks = [
            mark
            for mark in self.top[moment]
            if mark.shows == "retraction" and self.hidden(mark.statement) is None
        ]
        if self.values(moment) or not marks:
            return None
        return str(
            max(
                marks, key=lambda mark: (mark.statement.asserted_at, mark.statement.place)
            ).statement.memory_id
        )

    def counts(self, entry: Entry) -> bool:
        later = [
            withdrawal
            for withdrawal in self.entries
            if isinstance(withdrawal, Withdrawal)
            and not isinstance(withdrawal, Trimming)
            and withdrawal.place > entry.place
            and entry.place in withdrawal.places
        ]
        return not any(self.counts(withdrawal) for withdrawal in later)

    def is_trimmed(self, statement: Statement) -> bool:
        """Whether it takes no time from other memories."""
        return any(
            statement.place in trimming.places and self.counts(trimming)
            for trimming in self.entries
            if isinstance(trimming, Trimming)
        )

    def hidden(self, statement: Statement) -> tuple[int, int] | None:
        if statement.place not in self.hidden_at:
            later = [
                deletion.place
                for deletion in self.deletions
                if deletion.memory_id == statement.memory_id and deletion.place > statement.place
            ]
            self.hidden_at[statement.place] = (
                min(later) if later else (10**9, 0) if statement.is_forgotten else None
            )
        return self.hidden_at[statement.place]

    def paired(self, first: str, second: str) -> bool:
        return {first, second} in self.pairs

    def original(self, memory: str, version: int, until: Statement = None) -> int:
        """The version that a version is an edit of, by the edits said before a statement
        and by itself.
        """
        asked = memory, version, None if until is None else until.place
        while asked not in self.originals:
            edits = [
                edit
                for edit in self.statements
                if (edit.memory_id, edit.version) == (memory, version) and edit.edits is not None
            ]
            edits = [
                edit for edit in edits if until is None or self.order(edit) <= self.order(until)
            ]
            if not edits:
                self.originals[asked] = version
            else:
                version = edits[-1].edits
        return self.originals[asked]

    @staticmethod
    def order(statement: Statement) -> tuple[datetime, tuple[int, int]]:
        return statement.asserted_at, statement.place

    def is_voided(self, statement: Statement) -> bool:
        if statement.place not in self.voided:
            self.voided[statement.place] = isinstance(statement, Assertion) and any(
                self.voids(retraction, statement)
                for retraction in self.statements
                if isinstance(retraction, Retraction)
            )
        return self.voided[statement.place]

    def voids(self, retraction: Retraction, assertion: Assertion) -> bool:
        if (
            retraction.value is None
            or retraction.valid_until is not None
            or self.whole.is_trimmed(retraction)
            or self.order(retraction) < self.order(assertion)
        ):
            return False
        limit = self.hidden(retraction)
        if (
            assertion.edits is None
            and retraction.value == assertion.value
            and retraction.valid_from <= assertion.valid_from
        ):
            return limit is None or assertion.place < limit
        same = [
            assertion_of_memory
            for assertion_of_memory in self.statements
            if isinstance(assertion_of_memory, Assertion)
            and assertion_of_memory.memory_id == assertion.memory_id
        ]
        before = [
            assertion_of_memory
            for assertion_of_memory in same
            if self.order(assertion_of_memory) < self.order(retraction)
        ]
        chain = [
            assertion_of_memory
            for assertion_of_memory in before
            if self.original(assertion_of_memory.memory_id, assertion_of_memory.version)
            == self.original(assertion.memory_id, assertion.version)
        ]
        if (
            not chain
            or chain[-1].value != retraction.value
            or (limit is not None and any(assertion.place > limit for assertion in chain))
        ):
            return False
        edits = [
            number
            for number, assertion_of_memory in enumerate(chain)
            if assertion_of_memory.edits is not None
            and assertion_of_memory.value == retraction.value
        ]
        return any(
            min(assertion.valid_from for assertion in chain[: number + 1]) >= retraction.valid_from
            for number in edits
        )

    def spares(self, statement: Statement, mark: Mark, *, is_gap: bool = False) -> bool:
        limit = self.hidden(statement)
        if limit is not None and mark.statement.place > limit:
            return True
        equal = isinstance(statement, Assertion) and not is_gap and mark.value == statement.value
        return self.paired(statement.memory_id, mark.statement.memory_id) and not equal

    def put(self, moment: datetime, mark: Mark, overwrites: Callable[[Mark], bool]) -> None:
        """Note: a mark that kept its test would hold the grid, which holds the mark."""
        self.top[moment] = [*(each for each in self.top[moment] if not overwrites(each)), mark]

    def met_by(self, statement: Statement, moment: datetime) -> list[Mark]:
        limit = self.hidden(statement)
        if limit is None or all(mark.statement.place < limit for mark in self.top[moment]):
            return self.top[moment]
        before = [
            earlier
            for earlier in self.statements
            if earlier.place < limit and self.order(earlier) < self.order(statement)
        ]
        return Grid(before, self.moments, of=self.whole).top[moment]

    def is_met(self, statement: Statement, mark: Mark) -> bool:
        deletion = self.hidden(mark.statement)
        return mark.shows != "nothing" and (deletion is None or statement.place < deletion)

    def from_on(self, begin: datetime, end: datetime | None) -> list[datetime]:
        return [
            moment for moment in self.moments if begin <= moment and (end is None or moment < end)
        ]

    def run(self, moment: datetime, belongs: Callable[[list[Mark]], bool]) -> datetime | None:
        return next(
            (later for later in self.from_on(moment, None) if not belongs(self.top[later])), None
        )

    def add(self, statement: Statement) -> None:
        if statement.edits is not None:
            self.edit(statement)
        if self.whole.is_trimmed(statement):
            return
        if isinstance(statement, Retraction):
            self.retract(statement)
        elif statement.edits is None and not self.repeat(statement):
            self.plain(statement)

    def plain(self, assertion: Assertion) -> None:
        begin, end = assertion.valid_from, assertion.valid_until
        for moment in self.from_on(begin, end):
            self.put(
                moment,
                Mark(assertion, "value", begin, end),
                lambda mark: not self.spares(assertion, mark),
            )
        if end is not None and end > assertion.asserted_at:
            for moment in self.from_on(end, None):
                self.put(
                    moment,
                    Mark(assertion, "nothing", end, end),
                    lambda mark: mark.begins < end and not self.spares(assertion, mark),
                )

    def repeat(self, assertion: Assertion) -> bool:
        moment = max(assertion.asserted_at, assertion.valid_from)

        def same(mark: Mark) -> bool:
            return mark.value == assertion.value and self.is_met(assertion, mark)

        met = [mark for mark in self.met_by(assertion, moment) if same(mark)]
        if not met or (assertion.valid_until is not None and assertion.valid_until != met[0].until):
            return False
        self.over(
            assertion,
            "value",
            assertion.valid_from,
            self.run(moment, lambda top: any(map(same, top))),
            met[0].until,
            same,
        )
        return True

    def over(
        self,
        statement: Statement,
        shows: str,
        begin: datetime,
        end: datetime | None,
        until: datetime | None,
        own: Callable[[Mark], bool],
        *,
        only_own: bool = False,
    ) -> None:
        limit = self.hidden(statement)

        def ends(mark: Mark) -> bool:
            return own(mark) and (limit is None or mark.statement.place < limit)

        for moment in self.from_on(begin, end):
            if only_own and not any(map(own, self.top[moment])):
                continue
            is_own = self.whole.is_trimmed(statement) or any(
                ends(mark) and (self.hidden(mark.statement) is None or limit is not None)
                for mark in self.top[moment]
            )
            plain: Callable[[Mark], bool] = lambda mark: (  # noqa: E731
                not self.spares(statement, mark, is_gap=shows != "value")
            )
            self.put(moment, Mark(statement, shows, begin, until), ends if is_own else plain)

    def edit(self, statement: Statement) -> None:
        moment, end = max(statement.asserted_at, statement.valid_from), statement.valid_until
        shows = "value" if isinstance(statement, Assertion) else "retraction"

        def own(mark: Mark) -> bool:
            return mark.statement.memory_id == statement.memory_id and self.is_met(statement, mark)

        until, is_trimmed = end, self.whole.is_trimmed(statement)
        if statement.corrects_past:
            shown_at = [
                moment
                for moment in self.moments
                if any(
                    own(mark) and mark.statement.version == statement.edits
                    for mark in self.top[moment]
                )
            ]
            if not shown_at:
                return
            before = [
                moment
                for moment in self.moments
                if moment <= shown_at[-1] and moment not in shown_at
            ]
            begin = next(start for start in shown_at if not before or start > before[-1])
            last = next((moment for moment in self.moments if moment > shown_at[-1]), None)
            if statement.valid_from < statement.asserted_at and (
                last is None or statement.valid_from < last
            ):
                begin = statement.valid_from
            if last is not None and end is not None and end > last:
                end = until = last
        else:
            begin, met = (
                statement.valid_from,
                [mark for mark in self.met_by(statement, moment) if own(mark)],
            )
            if met:
                until = met[0].until if end is None else end
            if is_trimmed:
                last = None
            elif met:
                last = self.run(moment, lambda top: any(map(own, top)))
            else:
                here = {mark.value for mark in self.top[moment]} - {None}
                last = self.run(moment, lambda top: {mark.value for mark in top} - {None} == here)
        ends = last if end is None else end
        self.over(statement, shows, begin, ends, until, own, only_own=is_trimmed)
        if end is not None and (last is None or end < last):
            self.over(statement, "nothing", max(begin, end), last, until, own, only_own=True)

    def retract(self, retraction: Retraction) -> None:
        limit = self.hidden(retraction)

        @cache
        def wording(name: str, version: int) -> str | None:
            edits = [
                edit
                for edit in self.statements
                if edit.edits is not None
                and self.order(edit) <= self.order(retraction)
                and not self.is_voided(edit)
                and edit.memory_id == name
                and self.original(name, edit.version, retraction) == version
            ]
            return edits[-1].value if edits and isinstance(edits[-1], Assertion) else None

        def ends(mark: Mark, value: str | None) -> bool:
            statement = mark.statement
            if mark.shows != "value" or (limit is not None and statement.place >= limit):
                return False
            version = self.original(statement.memory_id, statement.version, statement)
            return value in (mark.value, wording(statement.memory_id, version))

        def left() -> Mark:
            return Mark(retraction, "retraction", retraction.valid_from, retraction.valid_until)

        def end_from(value: str, last: datetime | None) -> None:
            for moment in self.from_on(retraction.valid_from, last):
                if any(ends(mark, value) for mark in self.top[moment]):
                    self.put(moment, left(), lambda mark: ends(mark, value))

        if retraction.value is not None:
            end_from(retraction.value, retraction.valid_until)
        else:
            for value in {mark.value for mark in self.top[retraction.valid_from]} - {None}:
                assert value is not None
                last = self.run(
                    retraction.valid_from,
                    lambda top, value=value: any(ends(mark, value) for mark in top),
                )
                lasts = [
                    moment_of_end
                    for moment_of_end in (last, retraction.valid_until)
                    if moment_of_end is not None
                ]
                end_from(value, min(lasts) if lasts else None)
        if limit is not None:
            return
        for moment in self.from_on(retraction.valid_from, retraction.valid_until):
            if self.values(moment):
                break
            visible: Callable[[Mark], bool] = lambda mark: (  # noqa: E731
                mark.shows == "retraction" and self.hidden(mark.statement) is None
            )
            self.put(moment, left(), visible)

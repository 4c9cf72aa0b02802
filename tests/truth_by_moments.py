"""The tables of truth, applied to a grid of single moments: slow, and sharing nothing with
`resolve` but the entries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory_core.domain.truth.entries import Assertion, Entry, Hiding, Pair, Retraction, Withdrawal

Statement = Any


@dataclass(eq=False)
class Mark:
    """What a statement left at a moment."""

    said: Statement
    shows: str  # value, retraction, nothing
    begins: datetime
    until: datetime | None
    overwrites: Callable[[Mark], bool]

    @property
    def value(self) -> str | None:
        return self.said.value if self.shows == "value" else None


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
        self.moments, self.whole = moments, of or self
        self.entries = [one for one in log if known_at is None or one.sequence <= known_at]
        self.by_place = {entry.place: entry for entry in self.entries}
        self.top: dict[datetime, list[Mark]] = {moment: [] for moment in moments}
        self.deletions = [
            entry for entry in self.entries if isinstance(entry, Hiding) and self.counts(entry)
        ]
        kept = [
            each.memory_ids for each in self.entries if isinstance(each, Pair) and self.counts(each)
        ]
        self.pairs = [{other, names[-1]} for names in kept for other in names[:-1]]
        self.hidden_at: dict[tuple[int, int], tuple[int, int] | None] = {}
        said = [
            entry
            for entry in self.entries
            if isinstance(entry, Assertion | Retraction) and self.counts(entry)
        ]
        said = [one for one in said if one.valid_until is None or one.valid_from < one.valid_until]
        self.said = sorted(said, key=lambda one: (one.asserted_at, one.place))
        if of is not None:
            self.deletions, self.pairs, self.hidden_at = of.deletions, of.pairs, of.hidden_at
        for retraction in self.said:
            if not self.whole.is_voided(retraction):
                self.add(retraction)

    def values(self, moment: datetime) -> list[str]:
        return sorted(
            mark.said.value
            for mark in self.top[moment]
            if mark.shows == "value" and self.hidden(mark.said) is None
        )

    def retraction(self, moment: datetime) -> str | None:
        """The memory of the retraction that holds, where no value does."""
        marks = [
            mark
            for mark in self.top[moment]
            if mark.shows == "retraction" and self.hidden(mark.said) is None
        ]
        if self.values(moment) or not marks:
            return None
        return str(
            max(marks, key=lambda mark: (mark.said.asserted_at, mark.said.place)).said.memory_id
        )

    def counts(self, entry: Entry) -> bool:
        later = [
            one
            for one in self.entries
            if isinstance(one, Withdrawal) and one.place > entry.place and entry.place in one.places
        ]
        return not any(self.counts(withdrawal) for withdrawal in later)

    def hidden(self, said: Statement) -> tuple[int, int] | None:
        if said.place not in self.hidden_at:
            later = [
                one.place
                for one in self.deletions
                if one.memory_id == said.memory_id and one.place > said.place
            ]
            self.hidden_at[said.place] = (
                min(later) if later else (10**9, 0) if said.is_forgotten else None
            )
        return self.hidden_at[said.place]

    def paired(self, first: str, second: str) -> bool:
        return {first, second} in self.pairs

    def original(self, memory: str, version: int, until: Statement = None) -> int:
        """The version that a version is an edit of, by the edits said before a statement
        and by itself.
        """
        while True:
            edits = [
                one
                for one in self.said
                if (one.memory_id, one.version) == (memory, version) and one.edits is not None
            ]
            edits = [
                edit for edit in edits if until is None or self.order(edit) <= self.order(until)
            ]
            if not edits:
                return version
            version = edits[-1].edits

    @staticmethod
    def order(said: Statement) -> tuple[datetime, tuple[int, int]]:
        return said.asserted_at, said.place

    def is_voided(self, said: Statement) -> bool:
        return isinstance(said, Assertion) and any(
            self.voids(retraction, said)
            for retraction in self.said
            if isinstance(retraction, Retraction)
        )

    def voids(self, retraction: Retraction, said: Assertion) -> bool:
        if (
            retraction.value is None
            or retraction.valid_until is not None
            or self.order(retraction) < self.order(said)
        ):
            return False
        limit = self.hidden(retraction)
        if (
            said.edits is None
            and retraction.value == said.value
            and retraction.valid_from <= said.valid_from
        ):
            return limit is None or said.place < limit
        same = [
            one
            for one in self.said
            if isinstance(one, Assertion) and one.memory_id == said.memory_id
        ]
        before = [one for one in same if self.order(one) < self.order(retraction)]
        chain = [
            one
            for one in before
            if self.original(one.memory_id, one.version)
            == self.original(said.memory_id, said.version)
        ]
        if (
            not chain
            or chain[-1].value != retraction.value
            or (limit is not None and any(assertion.place > limit for assertion in chain))
        ):
            return False
        edits = [
            number
            for number, one in enumerate(chain)
            if one.edits is not None and one.value == retraction.value
        ]
        return any(
            min(assertion.valid_from for assertion in chain[: number + 1]) >= retraction.valid_from
            for number in edits
        )

    def spares(self, said: Statement, mark: Mark, *, is_gap: bool = False) -> bool:
        limit = self.hidden(said)
        if limit is not None and mark.said.place > limit:
            return True
        equal = isinstance(said, Assertion) and not is_gap and mark.value == said.value
        return self.paired(said.memory_id, mark.said.memory_id) and not equal

    def put(self, moment: datetime, mark: Mark) -> None:
        self.top[moment] = [one for one in self.top[moment] if not mark.overwrites(one)] + [mark]

    def met_by(self, said: Statement, moment: datetime) -> list[Mark]:
        limit = self.hidden(said)
        if limit is None or all(mark.said.place < limit for mark in self.top[moment]):
            return self.top[moment]
        before = [
            one for one in self.said if one.place < limit and self.order(one) < self.order(said)
        ]
        return Grid(before, self.moments, of=self.whole).top[moment]

    def is_met(self, said: Statement, mark: Mark) -> bool:
        deletion = self.hidden(mark.said)
        return mark.shows != "nothing" and (deletion is None or said.place < deletion)

    def from_on(self, begin: datetime, end: datetime | None) -> list[datetime]:
        return [
            moment for moment in self.moments if begin <= moment and (end is None or moment < end)
        ]

    def run(self, moment: datetime, belongs: Callable[[list[Mark]], bool]) -> datetime | None:
        return next((one for one in self.from_on(moment, None) if not belongs(self.top[one])), None)

    def add(self, said: Statement) -> None:
        if said.edits is not None:
            self.edit(said)
        if isinstance(said, Retraction):
            self.retract(said)
        elif said.edits is None and not self.repeat(said):
            self.plain(said)

    def plain(self, said: Assertion) -> None:
        begin, end = said.valid_from, said.valid_until
        for moment in self.from_on(begin, end):
            self.put(
                moment, Mark(said, "value", begin, end, lambda mark: not self.spares(said, mark))
            )
        if end is not None and end > said.asserted_at:
            for moment in self.from_on(end, None):
                gap = Mark(
                    said,
                    "nothing",
                    end,
                    end,
                    lambda mark: mark.begins < end and not self.spares(said, mark),
                )
                self.put(moment, gap)

    def repeat(self, said: Assertion) -> bool:
        moment = max(said.asserted_at, said.valid_from)

        def same(mark: Mark) -> bool:
            return mark.value == said.value and self.is_met(said, mark)

        met = [mark for mark in self.met_by(said, moment) if same(mark)]
        if not met or (said.valid_until is not None and said.valid_until != met[0].until):
            return False
        self.over(
            said,
            "value",
            said.valid_from,
            self.run(moment, lambda top: any(map(same, top))),
            met[0].until,
            same,
        )
        return True

    def over(
        self,
        said: Statement,
        shows: str,
        begin: datetime,
        end: datetime | None,
        until: datetime | None,
        own: Callable[[Mark], bool],
        *,
        only_own: bool = False,
    ) -> None:
        limit = self.hidden(said)

        def ends(mark: Mark) -> bool:
            return own(mark) and (limit is None or mark.said.place < limit)

        for moment in self.from_on(begin, end):
            if only_own and not any(map(own, self.top[moment])):
                continue
            is_own = any(
                ends(mark) and (self.hidden(mark.said) is None or limit is not None)
                for mark in self.top[moment]
            )
            plain: Callable[[Mark], bool] = lambda mark: (  # noqa: E731
                not self.spares(said, mark, is_gap=shows != "value")
            )
            self.put(moment, Mark(said, shows, begin, until, ends if is_own else plain))

    def edit(self, said: Statement) -> None:
        moment, end = max(said.asserted_at, said.valid_from), said.valid_until
        shows = "value" if isinstance(said, Assertion) else "retraction"

        def own(mark: Mark) -> bool:
            return mark.said.memory_id == said.memory_id and self.is_met(said, mark)

        until = end
        if said.corrects_past:
            held = [
                moment
                for moment in self.moments
                if any(own(mark) and mark.said.version == said.edits for mark in self.top[moment])
            ]
            if not held:
                return
            before = [
                moment for moment in self.moments if moment <= held[-1] and moment not in held
            ]
            begin = next(one for one in held if not before or one > before[-1])
            last = next((moment for moment in self.moments if moment > held[-1]), None)
            if said.valid_from < said.asserted_at and (last is None or said.valid_from < last):
                begin = said.valid_from
            if last is not None and end is not None and end > last:
                end = until = last
        else:
            begin, met = said.valid_from, [mark for mark in self.met_by(said, moment) if own(mark)]
            if met:
                last = self.run(moment, lambda top: any(map(own, top)))
                until = met[0].until if end is None else end
            else:
                here = {mark.value for mark in self.top[moment]} - {None}
                last = self.run(moment, lambda top: {mark.value for mark in top} - {None} == here)
        self.over(said, shows, begin, last if end is None else end, until, own)
        if end is not None and (last is None or end < last):
            self.over(said, "nothing", max(begin, end), last, until, own, only_own=True)

    def retract(self, said: Retraction) -> None:
        limit = self.hidden(said)

        def ends(mark: Mark, value: str | None) -> bool:
            wordings = [
                one
                for one in self.said
                if one.edits is not None
                and self.order(one) <= self.order(said)
                and not self.is_voided(one)
                and one.memory_id == mark.said.memory_id
                and self.original(one.memory_id, one.version, said)
                == self.original(mark.said.memory_id, mark.said.version, mark.said)
            ]
            wording = (
                wordings[-1].value if wordings and isinstance(wordings[-1], Assertion) else None
            )
            named = value in (mark.value, wording)
            return mark.shows == "value" and named and (limit is None or mark.said.place < limit)

        def end_from(value: str, last: datetime | None) -> None:
            for moment in self.from_on(said.valid_from, last):
                if any(ends(mark, value) for mark in self.top[moment]):
                    self.put(
                        moment,
                        Mark(
                            said,
                            "retraction",
                            said.valid_from,
                            said.valid_until,
                            lambda mark: ends(mark, value),
                        ),
                    )

        if said.value is not None:
            end_from(said.value, said.valid_until)
        else:
            for value in {mark.value for mark in self.top[said.valid_from]} - {None}:
                assert value is not None
                last = self.run(
                    said.valid_from, lambda top, value=value: any(ends(mark, value) for mark in top)
                )
                lasts = [one for one in (last, said.valid_until) if one is not None]
                end_from(value, min(lasts) if lasts else None)
        if limit is not None:
            return
        for moment in self.from_on(said.valid_from, said.valid_until):
            if self.values(moment):
                break
            visible: Callable[[Mark], bool] = lambda mark: (  # noqa: E731
                mark.shows == "retraction" and self.hidden(mark.said) is None
            )
            self.put(moment, Mark(said, "retraction", said.valid_from, said.valid_until, visible))

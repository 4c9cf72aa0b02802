"""Sealing: the oldest statements of a long log go to documents of their own, and are read only when
something reaches back.

A `Seal` stands for them. What it covers is frozen: the time before its horizon is as it was stored,
until an entry reaches back; then all is read and resolved as if nothing had been sealed. What is
left is a log like any other, which shows the same from the horizon on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from memory_core.domain.truth.account import Account
from memory_core.domain.truth.cells import Cells
from memory_core.domain.truth.entries import (
    Entry,
    Hiding,
    Key,
    Merge,
    Pair,
    Place,
    Retraction,
    Statement,
    Withdrawal,
)
from memory_core.domain.truth.resolve import Following, paint, timeline_of
from memory_core.domain.truth.timeline import Interval, Reference, Timeline


@dataclass(frozen=True, slots=True, kw_only=True)
class Seal:
    """What a log keeps of the statements that were sealed.

    through: the last statement, in the order of saying, of those among which the sealed ones were.
    latest_start: their latest start. horizon: what is shown before it is frozen. first: what holds
    at the horizon, or next after it, and is where the frozen time leads to. begins: by memory and
    version, where the time began that goes on at the horizon. earlier: by memory and version, how
    many times of it ended before the horizon. watched: memories and versions that are shown since,
    of which some statements are sealed or some times are frozen.
    """

    through: tuple[datetime, Place]
    latest_start: datetime
    horizon: datetime
    first: Reference | None
    begins: tuple[tuple[Key, datetime], ...] = ()
    earlier: tuple[tuple[Key, int], ...] = ()
    watched: frozenset[Key] = frozenset()


def resolve_sealed(log: Iterable[Entry], seal: Seal | None) -> Timeline:
    """The timeline of a log of which some was sealed, from the horizon on. Note:
    ask `reaches_back` and `suffices` first.
    """
    return sealed_timeline_of(Account.of(log), seal)


def sealed_timeline_of(account: Account, seal: Seal | None) -> Timeline:
    """The same of a log whose account is there already."""
    timeline = timeline_of(account)
    if seal is None:
        return timeline
    begins, earlier = dict(seal.begins), dict(seal.earlier)

    def since(intervals: Iterable[Interval]) -> tuple[Interval, ...]:
        left = [interval for interval in intervals if interval.lasts_beyond(seal.horizon)]
        gone = Counter(interval.key for interval in intervals)
        gone.subtract(interval.key for interval in left)
        return tuple(
            replace(
                interval,
                begins=begins.get(interval.key, interval.begins)
                if interval.begins <= seal.horizon
                else interval.begins,
                part=interval.part
                and interval.part - gone[interval.key] + earlier.get(interval.key, 0),
            )
            for interval in left
        )

    return Timeline(
        since(timeline.intervals), since(timeline.hidden), timeline.members, earlier, seal.horizon
    )


def reaches_back(seal: Seal, log: Sequence[Entry], added: Iterable[Entry]) -> bool:
    """Whether the sealed statements have to be read before entries are added.

    Args:
        seal: what the log keeps of them.
        log: the entries that were not sealed.
        added: what is to be added.

    Returns:
        True also in some cases in which the seal would have sufficed: only what is said plainly,
        later and of a later time, and what is done to memories of which all was said so, surely
        does without. Note: of a memory that the log lacks, a statement is the first.

    """
    statements = [entry for entry in log if isinstance(entry, Statement)]
    old = {statement.memory_id for statement in statements if _is_old(seal, statement)}
    old |= {name for name, _ in (*seal.watched, *dict(seal.earlier))}
    recent = {statement.memory_id for statement in statements} - old
    by_place = {entry.place: entry for entry in log}

    def is_recent(entry: Entry | None) -> bool:
        if entry is None:
            return False
        if isinstance(entry, Statement):
            return entry.memory_id in recent
        if isinstance(entry, Withdrawal):
            return all(is_recent(by_place.get(place)) for place in entry.places)
        return recent.issuperset(_names(entry))

    frozen = dict(seal.earlier).keys() - seal.watched
    for entry in added:
        if isinstance(entry, Statement) and (
            _is_old(seal, entry)
            or entry.key in frozen
            or (entry.edits is not None and entry.memory_id not in recent)
        ):
            return True
        if isinstance(entry, Statement):
            recent |= {entry.memory_id} - old
        elif not is_recent(entry):
            return True
        by_place[entry.place] = entry
    return False


def suffices(seal: Seal, timeline: Timeline) -> bool:
    """Whether a sealed log still tells of all that changes.

    What is frozen leads where it led, what is watched is shown, and nothing else is that was
    shown before.
    """
    keys = {interval.key for interval in timeline.times}
    before = seal.watched | dict(seal.earlier).keys()
    return Following(timeline).at(seal.horizon) == seal.first and keys & before == seal.watched


def seal_oldest(
    log: Sequence[Entry], keep: int, last_sequence: int, seal: Seal | None = None
) -> tuple[Seal, list[Entry], list[Entry]] | None:
    """Seal the statements of a log that were said first.

    Args:
        log: the entries that are not sealed.
        keep: how many statements, of those that count, are not looked at: the ones said last.
        last_sequence: of the last commit; what is added now has none yet, and stays.
        seal: of those that are sealed already.

    Returns:
        The seal of all, the entries to be sealed, and the others; None where the others would
        not do without.

    """
    account = Account.of(log)
    old = account.statements[:-keep]
    while old and any(statement.sequence > last_sequence for statement in old):
        old.pop()
    cut = _Cut(account, old, account.statements[len(old) :], last_sequence, seal)
    if not old or not cut.is_possible() or (horizon := cut.horizon()) is None:
        return None
    remaining, places = cut.parted(horizon)
    if len(remaining) == len(old) or _from(paint(account, remaining), horizon) != _from(
        cut.cells, horizon
    ):
        return None
    part, rest = _parted(log, places)
    made = cut.sealed(part, rest, horizon)
    timeline = resolve_sealed(rest, made)
    is_same = _since(timeline, horizon) == _since(cut.timeline, horizon)
    return (made, part, rest) if is_same and suffices(made, timeline) else None


@dataclass
class _Cut:
    """A log of which the statements that were said first, the `old` ones, are to be sealed.

    last_sequence: of the last commit. seal: of those that are sealed already.
    """

    account: Account
    old: Sequence[Statement]
    later: Sequence[Statement]
    last_sequence: int
    seal: Seal | None

    @cached_property
    def cells(self) -> Cells:
        """What the old ones show."""
        return paint(self.account, self.old)

    @cached_property
    def timeline(self) -> Timeline:
        """Of the log as it is."""
        return sealed_timeline_of(self.account, self.seal)

    def is_possible(self) -> bool:
        """Whether no later statement reaches back by itself: a hidden one to what was saved after
        its deletion, an edit to what it edits.
        """
        last = max(statement.place for statement in self.old)
        names = {statement.memory_id for statement in self.old}
        return all(
            self.account.hidden_at.get(statement.place, last) >= last
            and (statement.edits is None or statement.memory_id not in names)
            for statement in self.later
        )

    def horizon(self) -> datetime | None:
        """The last beginning of a cell that no later statement reaches, and that had come when the
        last old one was said; None where there is none that is later than the one before.
        """
        last = self.old[-1]
        following = [
            statement.valid_from
            for statement in (*self.later, *self.account.withdrawn)
            if statement.order > last.order
        ]
        first_later = min(following, default=last.asserted_at)
        begun = [
            start
            for start in self.cells.starts[1:]
            if start <= last.asserted_at and start < first_later
        ]
        if not begun or (self.seal is not None and begun[-1] < self.seal.horizon):
            return None
        return begun[-1]

    def shown_since(self, horizon: datetime) -> set[Key]:
        """The memories and versions that are shown after it."""
        return {each.key for each in self.timeline.times if each.lasts_beyond(horizon)}

    def parted(self, horizon: datetime) -> tuple[list[Statement], set[Place]]:
        """The old statements that the time from the horizon on does not do without, and the places
        of all that are to be sealed.

        These show there, or start later. Of a memory that is named in what stays, all stay while it
        does not show there; else its latest version does. Of a version of which some stay, all do
        while it does not show there. What is withdrawn now stays too.
        """
        account, since = self.account, self.shown_since(horizon)
        cells = _from(self.cells, horizon).cells
        showing = {layer.statement.place for cell in cells for layer in cell}
        needed = [each for each in self.old if each.place in showing or each.valid_from > horizon]
        gone = {
            statement.place: statement
            for statement in account.withdrawn
            if statement.order <= self.old[-1].order
            and statement.valid_from <= horizon
            and statement.sequence <= self.last_sequence
        }
        latest = dict(sorted(statement.key for statement in account.statements))
        keys = {statement.key for statement in (*self.later, *needed)}
        tails = {(name, latest[name]) for name, _ in keys} - keys
        keys |= tails
        keys |= {statement.key for statement in account.withdrawn if statement.place not in gone}
        names = {name for name, _ in keys}
        absent = names - {name for name, _ in since}
        whole, places = tails | keys - since, {statement.place for statement in needed}
        remaining = [
            each
            for each in self.old
            if each.place in places or each.key in whole or each.memory_id in absent
        ]
        sealed = {each.place for each in self.old} - {each.place for each in remaining}
        return remaining, sealed | {
            place for place, statement in gone.items() if statement.memory_id not in names
        }

    def sealed(self, part: Sequence[Entry], rest: Sequence[Entry], horizon: datetime) -> Seal:
        """The seal that replaces the entries of `part` in the log of `rest`."""
        times, earlier = self.timeline.times, Counter(self.timeline.earlier)
        ended = [interval.key for interval in times if not interval.lasts_beyond(horizon)]
        earlier.update(ended)
        left = {entry.key for entry in rest if isinstance(entry, Statement)}
        sealed = {entry.key for entry in part if isinstance(entry, Statement)}
        if self.seal is not None:
            sealed |= self.seal.watched
        begins = {interval.key: interval.begins for interval in times if interval.covers(horizon)}
        return Seal(
            through=self.old[-1].order,
            latest_start=max(statement.valid_from for statement in self.old),
            horizon=horizon,
            first=Following(self.timeline).at(horizon),
            begins=tuple(sorted(begins.items())),
            earlier=tuple(sorted((key, number) for key, number in earlier.items() if key in left)),
            watched=frozenset(self.shown_since(horizon) & (sealed | {*ended})),
        )


def _is_old(seal: Seal, statement: Statement) -> bool:
    """Whether a statement is none that was said after all that is sealed, of a later time."""
    since = seal.latest_start if isinstance(statement, Retraction) else seal.horizon
    return statement.order <= seal.through or statement.valid_from <= max(since, seal.horizon)


def _names(entry: Entry) -> tuple[str, ...]:
    if isinstance(entry, Hiding):
        return (entry.memory_id,)
    assert isinstance(entry, Pair | Merge)
    return entry.memory_ids


def _from(cells: Cells, moment: datetime) -> Cells:
    """The cells from a moment on, those in a row that are equal made one."""
    made = Cells([moment], [cells.at(moment)])
    for start, cell in zip(cells.starts, cells.cells, strict=True):
        if start > moment and cell != made.cells[-1]:
            made.starts.append(start)
            made.cells.append(cell)
    return made


def _parted(log: Iterable[Entry], places: set[Place]) -> tuple[list[Entry], list[Entry]]:
    """The entries in some places, with those that are about these alone, and the others."""
    log = list(log)
    names = {
        entry.memory_id
        for entry in log
        if isinstance(entry, Statement) and entry.place not in places
    }
    by_place = {entry.place: entry for entry in log}

    def is_about(entry: Entry) -> bool:
        if isinstance(entry, Statement):
            return entry.place in places
        if isinstance(entry, Withdrawal):
            return all(place in by_place and is_about(by_place[place]) for place in entry.places)
        return names.isdisjoint(_names(entry)) and not (
            isinstance(entry, Merge) and entry.into in names
        )

    part = [entry for entry in log if is_about(entry)]
    return part, [entry for entry in log if not is_about(entry)]


def _since(
    timeline: Timeline, horizon: datetime
) -> list[tuple[str, int, datetime, datetime | None]]:
    return [
        (*interval.key, interval.begins, interval.ends)
        for interval in timeline.times
        if interval.lasts_beyond(horizon)
    ]

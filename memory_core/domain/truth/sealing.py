"""Sealing: the oldest statements of a long log are moved to documents of their own.

They are read only when an entry reaches back to them. A `Seal` replaces them in the log. The time
that it covers is frozen: before its horizon the intervals are as they were stored, until an entry
reaches back. Then the whole log is read and resolved as if it had never been sealed. The rest is a
log like any other, which shows the same from the horizon on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from memory_core.domain.truth.entries import (
    Account,
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
from memory_core.domain.truth.resolve import Stacks, paint, timeline_of
from memory_core.domain.truth.timeline import Following, Interval, Reference, Timeline


@dataclass(frozen=True, slots=True, kw_only=True)
class Seal:
    """The part of sealed statements that a log keeps.

    Attributes:
        through: Order of the last of the oldest statements, among which the sealed statements were.
        latest_start: The latest start of these oldest statements.
        horizon: The moment before which all intervals are frozen.
        first: The interval that holds at the horizon, or follows it. The frozen time leads to it.
        begins: For a memory and version, where its interval began that goes on at the horizon.
        earlier: For a memory and version, how many of its intervals ended before the horizon.
        watched: Memories and versions that are shown since, and of which some statements are sealed
            or some intervals are frozen.

    """

    through: tuple[datetime, Place]
    latest_start: datetime
    horizon: datetime
    first: Reference | None
    begins: tuple[tuple[Key, datetime], ...] = ()
    earlier: tuple[tuple[Key, int], ...] = ()
    watched: frozenset[Key] = frozenset()


def sealed_timeline_of(account: Account, seal: Seal | None) -> Timeline:
    """The timeline of a sealed log, from the horizon on.

    Note: ask `reaches_back` and `suffices` first.

    Args:
        account: The account of the entries that were not sealed.
        seal: The seal of the rest; None for a log without a seal.

    """
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
        seal: The seal of these statements.
        log: The entries that were not sealed.
        added: The entries to add.

    Returns:
        True also in some cases in which the seal would have been enough. It is surely enough for
            plain statements that are said later and start later, and for changes of memories that
            have only such statements. Note: a statement of a memory that the log lacks is the
            memory's first.

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
    """Whether a sealed log still gives all changes.

    The frozen time must lead to the same interval as before. The watched members must be shown, and
    no other member that was shown before.

    Args:
        seal: The seal.
        timeline: The timeline of the sealed log, from the horizon on.

    """
    keys = {interval.key for interval in timeline.times}
    before = seal.watched | dict(seal.earlier).keys()
    return Following(timeline).at(seal.horizon) == seal.first and keys & before == seal.watched


def seal_oldest(
    log: Sequence[Entry], keep: int, last_sequence: int, seal: Seal | None = None
) -> tuple[Seal, list[Entry], list[Entry]] | None:
    """Seal the statements of a log that were said first.

    Args:
        log: The entries that are not sealed.
        keep: How many of the statements that count are left alone: those that were said last.
        last_sequence: Sequence of the last commit. Statements that are added now have none yet, and
            stay.
        seal: The seal of earlier statements, or None.

    Returns:
        The seal of all, the entries to be sealed, and the rest; None where the rest would not be
            enough.

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
        cut.stacks, horizon
    ):
        return None
    part, rest = _parted(log, places)
    made = cut.sealed(part, rest, horizon)
    timeline = sealed_timeline_of(Account.of(rest), made)
    is_same = _since(timeline, horizon) == _since(cut.timeline, horizon)
    return (made, part, rest) if is_same and suffices(made, timeline) else None


@dataclass
class _Cut:
    """A log whose oldest statements are to be sealed: the statements that were said first.

    `old` are these statements, and `later` the rest. `last_sequence` is that of the last commit.
    `seal` is the seal of earlier statements.
    """

    account: Account
    old: Sequence[Statement]
    later: Sequence[Statement]
    last_sequence: int
    seal: Seal | None

    @cached_property
    def stacks(self) -> Stacks:
        """The stacks of the old statements."""
        return paint(self.account, self.old)

    @cached_property
    def timeline(self) -> Timeline:
        """The timeline of the log as it is."""
        return sealed_timeline_of(self.account, self.seal)

    def is_possible(self) -> bool:
        """Whether no later statement reaches back by itself.

        A hidden statement reaches back to statements that were saved after its deletion, and an
        edit to the statement that it edits.
        """
        last = max(statement.place for statement in self.old)
        names = {statement.memory_id for statement in self.old}
        return all(
            self.account.hidden_at.get(statement.place, last) >= last
            and (statement.edits is None or statement.memory_id not in names)
            for statement in self.later
        )

    def horizon(self) -> datetime | None:
        """The moment before which the time can be frozen.

        It is the last start of a stack that no later statement reaches, and that had come when the
        last old statement was said. None means that no such start is later than the horizon before.
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
            for start in self.stacks.starts[1:]
            if start <= last.asserted_at and start < first_later
        ]
        if not begun or (self.seal is not None and begun[-1] < self.seal.horizon):
            return None
        return begun[-1]

    def shown_since(self, horizon: datetime) -> set[Key]:
        """The memories and versions that are shown after a horizon."""
        return {each.key for each in self.timeline.times if each.lasts_beyond(horizon)}

    def parted(self, horizon: datetime) -> tuple[list[Statement], set[Place]]:
        """The old statements that must stay, and the places of all statements to be sealed.

        Statements stay that show from the horizon on, or start later. If a remaining entry names a
        memory that does not show there, all of its statements stay; otherwise its latest version
        stays. If some statements of a version stay and it does not show there, all of its
        statements stay. Statements that are withdrawn now stay too.
        """
        account, since = self.account, self.shown_since(horizon)
        stacks = _from(self.stacks, horizon).stacks
        showing = {layer.statement.place for stack in stacks for layer in stack}
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
    """Whether a statement reaches back to sealed statements.

    It does unless it was said after all of them and starts later.
    """
    since = seal.latest_start if isinstance(statement, Retraction) else seal.horizon
    return statement.order <= seal.through or statement.valid_from <= max(since, seal.horizon)


def _names(entry: Entry) -> tuple[str, ...]:
    if isinstance(entry, Hiding):
        return (entry.memory_id,)
    assert isinstance(entry, Pair | Merge)
    return entry.memory_ids


def _from(stacks: Stacks, moment: datetime) -> Stacks:
    """The stacks from a moment on, with equal neighbours joined."""
    made = Stacks([moment], [stacks.at(moment)])
    for start, stack in zip(stacks.starts, stacks.stacks, strict=True):
        if start > moment and stack != made.stacks[-1]:
            made.starts.append(start)
            made.stacks.append(stack)
    return made


def _parted(log: Iterable[Entry], places: set[Place]) -> tuple[list[Entry], list[Entry]]:
    """The entries in some places, with entries about these alone, and the rest."""
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

"""Sealing: the oldest statements of a long log go to documents of their own, and are read only when
something reaches back.

A `Seal` stands for them. What it covers is frozen: the time before its horizon is as it was stored,
until an entry reaches back; then all is read and resolved as if nothing had been sealed. What is
left is a log like any other, which shows the same from the horizon on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memory_core.domain.truth.entries import (
    Account,
    Entry,
    Hiding,
    Merge,
    Pair,
    Place,
    Retraction,
    Statement,
    Withdrawal,
)
from memory_core.domain.truth.resolve import Cells, paint, timeline_of
from memory_core.domain.truth.timeline import Following, Interval, Key, Reference, Timeline


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
    begins = dict(seal.begins)

    def since(intervals: Iterable[Interval]) -> tuple[Interval, ...]:
        going_on = (
            interval
            for interval in intervals
            if interval.ends is None or interval.ends > seal.horizon
        )
        return tuple(
            replace(interval, begins=begins.get(_key(interval), interval.begins))
            if interval.begins <= seal.horizon
            else interval
            for interval in going_on
        )

    return Timeline(
        since(timeline.intervals),
        since(timeline.hidden),
        timeline.members,
        dict(seal.earlier),
        seal.horizon,
    )


def reaches_back(seal: Seal, log: Sequence[Entry], added: Iterable[Entry]) -> bool:
    """Whether the sealed statements have to be read before entries are added.

    Args:
        seal: what the log keeps of them.
        log: the entries that were not sealed.
        added: what is to be added.

    Returns:
        True also in some cases in which the seal would have sufficed: only what is said plainly,
            later and of a later time, and what is
        done to memories of which all was said so, surely does without. Note: of a memory that the
            log lacks, a statement is the first.

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
            or _key(entry) in frozen
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
    keys = {_key(interval) for interval in (*timeline.intervals, *timeline.hidden)}
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
    later = account.statements[len(old) :]
    if not old or not _can_be_parted(account, old, later):
        return None
    cells = paint(account, old)
    horizon = _horizon(account, cells, old, later)
    if horizon is None or (seal is not None and horizon < seal.horizon):
        return None
    timeline = sealed_timeline_of(account, seal)
    since = {
        _key(interval)
        for interval in _times(timeline)
        if interval.ends is None or interval.ends > horizon
    }
    gone = [
        statement
        for statement in account.withdrawn
        if statement.order <= old[-1].order
        and statement.valid_from <= horizon
        and statement.sequence <= last_sequence
    ]
    places = _places_to_seal(account, old, later, gone, cells, horizon, since)
    if places is None:
        return None
    part, rest = _parted(log, places)
    made = _seal_of(part, rest, old, timeline, horizon, since, seal)
    sealed_timeline = resolve_sealed(rest, made)
    is_same = _since(sealed_timeline, horizon) == _since(timeline, horizon) and suffices(
        made, sealed_timeline
    )
    return (made, part, rest) if is_same else None


def _times(timeline: Timeline) -> tuple[Interval, ...]:
    return (*timeline.intervals, *timeline.hidden)


def _horizon(
    account: Account, cells: Cells, old: Sequence[Statement], later: Sequence[Statement]
) -> datetime | None:
    """The last beginning of a cell that no later statement reaches, and that had come when the last
    old one was said; None where there is none.
    """
    first_later = min(
        (
            statement.valid_from
            for statement in (*later, *account.withdrawn)
            if statement.order > old[-1].order
        ),
        default=old[-1].asserted_at,
    )
    begun = [
        start for start in cells.starts[1:] if start <= old[-1].asserted_at and start < first_later
    ]
    return begun[-1] if begun else None


def _places_to_seal(
    account: Account,
    old: Sequence[Statement],
    later: Sequence[Statement],
    gone: Sequence[Statement],
    cells: Cells,
    horizon: datetime,
    since: set[Key],
) -> set[Place] | None:
    """Where the statements are that the time from the horizon on does without; None where it needs
    all of them.

    Args:
        account: Of the whole log.
        old: Its statements that were said first.
        later: The others.
        gone: Withdrawn ones of the old time.
        cells: What the old ones show.
        horizon: Where the frozen time ends.
        since: Memories and versions that are shown after it.

    """
    shown_places = {layer.statement.place for cell in _from(cells, horizon).cells for layer in cell}
    remaining = _kept(
        account,
        old,
        later,
        shown_places | {statement.place for statement in old if statement.valid_from > horizon},
    )
    gone_places = {statement.place for statement in gone}
    stay = [
        *remaining,
        *later,
        *(statement for statement in account.withdrawn if statement.place not in gone_places),
    ]
    names, present = {statement.memory_id for statement in stay}, {name for name, _ in since}
    whole = {_key(statement) for statement in stay} - since | {
        _key(statement) for statement in old if statement.memory_id in names - present
    }
    places = {statement.place for statement in remaining}
    remaining = [
        statement for statement in old if statement.place in places or _key(statement) in whole
    ]
    if len(remaining) == len(old) or _from(paint(account, remaining), horizon) != _from(
        cells, horizon
    ):
        return None
    return {statement.place for statement in old} - {statement.place for statement in remaining} | {
        statement.place for statement in gone if statement.memory_id not in names
    }


def _seal_of(
    part: Sequence[Entry],
    rest: Sequence[Entry],
    old: Sequence[Statement],
    timeline: Timeline,
    horizon: datetime,
    since: set[Key],
    seal: Seal | None,
) -> Seal:
    """The seal that replaces the entries of `part` in the log of `rest`.

    Args:
        part: What is sealed now.
        rest: What stays.
        old: The statements among which the sealed ones are.
        timeline: Of the log as it was.
        horizon: Where the frozen time ends.
        since: Memories and versions that are shown after it.
        seal: Of those that were sealed before.

    """
    times = _times(timeline)
    ended = [
        _key(interval)
        for interval in times
        if interval.ends is not None and interval.ends <= horizon
    ]
    earlier = {
        key: timeline.earlier.get(key, 0) + ended.count(key) for key in {*ended, *timeline.earlier}
    }
    left = {_key(entry) for entry in rest if isinstance(entry, Statement)}
    sealed = {_key(entry) for entry in part if isinstance(entry, Statement)} | (
        seal.watched if seal is not None else set()
    )
    begins = {_key(interval): interval.begins for interval in times if _goes_on(interval, horizon)}
    return Seal(
        through=old[-1].order,
        latest_start=max(statement.valid_from for statement in old),
        horizon=horizon,
        first=Following(timeline).at(horizon),
        begins=tuple(sorted(begins.items())),
        earlier=tuple(sorted((key, number) for key, number in earlier.items() if key in left)),
        watched=frozenset(since & (sealed | {*ended})),
    )


def _key(statement_or_interval: Statement | Interval) -> Key:
    return statement_or_interval.memory_id, statement_or_interval.version


def _is_old(seal: Seal, statement: Statement) -> bool:
    """Whether a statement is none that was said after all that is sealed, of a later time."""
    since = seal.latest_start if isinstance(statement, Retraction) else seal.horizon
    return statement.order <= seal.through or statement.valid_from <= max(since, seal.horizon)


def _names(entry: Entry) -> tuple[str, ...]:
    if isinstance(entry, Hiding):
        return (entry.memory_id,)
    assert isinstance(entry, Pair | Merge)
    return entry.memory_ids


def _can_be_parted(account: Account, old: Sequence[Statement], later: Sequence[Statement]) -> bool:
    """Whether no later statement reaches back by itself: a hidden one to what was saved after its
    deletion, an edit to what it edits.
    """
    last, names = (
        max(statement.place for statement in old),
        {statement.memory_id for statement in old},
    )
    return all(
        account.hidden_at.get(statement.place, last) >= last
        and (statement.edits is None or statement.memory_id not in names)
        for statement in later
    )


def _kept(
    account: Account, old: Sequence[Statement], later: Sequence[Statement], places: set[Place]
) -> list[Statement]:
    """Of the old statements those in some places, and the last versions of all memories that are
    named in what stays.
    """
    stay = {
        statement.memory_id
        for statement in (*later, *(statement for statement in old if statement.place in places))
    }
    latest: dict[str, int] = {}
    for statement in account.statements:
        latest[statement.memory_id] = max(statement.version, latest.get(statement.memory_id, 0))
    has_latest = {
        statement.memory_id
        for statement in later
        if statement.version == latest[statement.memory_id]
    }
    has_latest |= {
        statement.memory_id
        for statement in old
        if statement.place in places and statement.version == latest[statement.memory_id]
    }
    return [
        statement
        for statement in old
        if statement.place in places
        or (
            statement.memory_id in stay - has_latest
            and statement.version == latest[statement.memory_id]
        )
    ]


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


def _goes_on(interval: Interval, horizon: datetime) -> bool:
    return interval.begins <= horizon and (interval.ends is None or interval.ends > horizon)


def _since(
    timeline: Timeline, horizon: datetime
) -> list[tuple[str, int, datetime, datetime | None]]:
    intervals = (*timeline.intervals, *timeline.hidden)
    return [
        (interval.memory_id, interval.version, interval.begins, interval.ends)
        for interval in intervals
        if interval.ends is None or interval.ends > horizon
    ]

"""Sealed parts: the oldest statements of a long log leave it, and what they painted stays from a horizon on.

Before the horizon nothing changes any more without the sealed parts, so that a long past costs nothing.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain

from memory_core.domain.truth.entries import Account, Entry, Hiding, Merge, Pair, Place, Retraction, Statement, Withdrawal
from memory_core.domain.truth.painting import BEGINNING, Cell, Cells, Kind
from memory_core.domain.truth.resolve import Seal, members_of, paint, resolve, timeline_of
from memory_core.domain.truth.timeline import Interval, Member, Reference, State, Timeline, references_of

Key = tuple[str, int]
"""A memory and its version."""


def seal_oldest(log: Sequence[Entry], count: int, before: Seal | None = None) -> tuple[Seal, list[Entry], list[Entry]] | None:
    """Seal the statements that were said first, with the withdrawals and deletions that concern only these.

    Args:
        log: all entries that are not sealed yet.
        count: how many statements to seal; with these, the edits of what they say.
        before: the seal that there is already.

    Returns:
        The new seal, the entries of the sealed part and those that stay; None if the rest cannot be resolved without these
        statements. Ask for another count then.

    """
    statements = sorted((one for one in log if isinstance(one, Statement)), key=lambda one: one.order)
    if not 0 < count <= len(statements):
        return None
    count = _with_edits(statements, count)
    oldest, rest = statements[:count], statements[count:]
    account = Account.of(log)
    latest_start = max(chain((one.valid_from for one in oldest), [before.latest_start] if before else []))
    if any(one.place in account.hidden_at and account.hidden_at[one.place] < max(each.place for each in oldest) for one in rest):
        return None  # what such a statement repeats is decided by what the sealed ones covered
    if any(isinstance(one, Retraction) and one.valid_from <= latest_start for one in rest):
        return None  # it may void what is sealed
    both = {_key(one) for one in oldest} & {_key(one) for one in rest}
    if any(_key(one) in both and one.place in account.hidden_at for one in statements):
        return None  # which of its statements was saved last decides whether the member is hidden
    merged = {name for one in account.others if isinstance(one, Merge) for name in one.memory_ids}
    if merged & {one.memory_id for one in oldest} & {one.memory_id for one in rest}:
        return None  # which of its statements was saved last decides whether it is merged
    gone = _sealed_places(log, oldest, {one.memory_id for one in rest})
    seal, kept = _seal_of(log, account, oldest, rest, before), [one for one in log if one.place not in gone]
    timeline = resolve(kept, seal=seal)
    seal = replace(seal, first=_first(seal, timeline))
    return (seal, [one for one in log if one.place in gone], kept) if suffices(seal, timeline) else None


def _key(one: Statement | Interval | Member) -> Key:
    return one.memory_id, one.version


def _with_edits(statements: Sequence[Statement], count: int) -> int:
    """How many statements are sealed so that no edit stays behind: a retraction voids it with what it edits."""
    names = {_key(one) for one in statements[:count]}
    for number, one in enumerate(statements[count:], count + 1):
        if one.edits is not None and (one.memory_id, one.edits) in names:
            names |= {_key(each) for each in statements[count:number]}
            count = number
    return count


def _sealed_places(log: Sequence[Entry], oldest: Sequence[Statement], kept: set[str]) -> set[Place]:
    gone = {one.place for one in oldest}
    here = {one.place for one in log}
    for entry in sorted(log, key=lambda one: one.place):
        is_hiding = isinstance(entry, Hiding) and entry.memory_id not in kept
        if is_hiding or (isinstance(entry, Withdrawal) and all(place in gone or place not in here for place in entry.places)):
            gone.add(entry.place)
    return gone  # pairs and merges are few, and later statements ask for them


def _seal_of(log: Sequence[Entry], account: Account, oldest: Sequence[Statement], rest: Sequence[Statement], before: Seal | None) -> Seal:
    places = {one.place for one in oldest}
    only = replace(
        account,
        statements=[one for one in account.statements if one.place in places],
        withdrawn=[one for one in account.withdrawn if one.place in places],
    )
    painting = paint(only, before)
    timeline = timeline_of(only, painting, before)
    members = members_of(only, before)
    needed, horizon = _needed(painting.cells, (timeline, resolve(log, seal=before)), members, rest)
    names = {name for name, _ in needed} | {one.memory_id for one in rest}
    sealed = {one.memory_id for one in oldest} | (before.split | {one.memory_id for one in before.members} if before else set())
    starts, cells = _from(painting.cells, horizon)
    earlier = {} if before is None else dict(before.earlier)
    times = _times(timeline)
    return Seal(
        through=max(chain((one.order for one in oldest), [before.through] if before else [])),
        last_place=max(one.place for one in log),
        latest_start=max(chain((one.valid_from for one in oldest), [before.latest_start] if before else [])),
        horizon=horizon,
        starts=starts,
        cells=cells,
        wordings=tuple(sorted((key, value) for key, value in painting.wordings.items() if key[0] in names)),
        members=tuple(one for one in members if _key(one) in needed),
        earlier=tuple(
            (key, number)
            for key in sorted(needed)
            if (number := earlier.get(key, 0) + sum(one.ends is not None and one.ends <= horizon for one in times.get(key, ())))
        ),
        split=frozenset(sealed & {one.memory_id for one in rest}),
    )


def _times(timeline: Timeline) -> dict[Key, list[Interval]]:
    """The times of each member that its stored fields are about: of a hidden one those in which it would hold."""
    hidden = {_key(one) for one in timeline.members if one.state is State.HIDDEN}
    times: dict[Key, list[Interval]] = {}
    for one in timeline.intervals:
        if _key(one) not in hidden:
            times.setdefault(_key(one), []).append(one)
    for one in timeline.hidden:
        if _key(one) in hidden:
            times.setdefault(_key(one), []).append(one)
    return times


def _needed(
    cells: Cells, timelines: tuple[Timeline, Timeline], members: Sequence[Member], rest: Sequence[Statement]
) -> tuple[set[Key], datetime]:
    """The members that a later statement may change, and the moment from which on their times are all to be kept.

    timelines: without the rest, and with it.
    """
    needed = {_key(one) for one in members} & {_key(one) for one in rest}
    versions: dict[str, int] = {}
    for one in rest:
        versions[one.memory_id] = min(one.version, versions.get(one.memory_id, one.version))
    horizon = _held_since(cells, min((one.valid_from for one in rest), default=cells.starts[-1]), is_before=True)
    times, times_now = map(_times, timelines)
    shown = [one for timeline in timelines for one in (*timeline.intervals, *timeline.hidden)]
    while True:
        later = [one for one in shown if one.begins < horizon and (one.ends is None or one.ends > horizon)]
        later += [one for one in (*timelines[0].intervals, *timelines[0].hidden) if one.begins >= horizon]
        found = needed | {_key(one) for one in later} | {_key(one) for one in members if one.valid_from >= horizon}
        found |= {
            (one.memory_id, one.version) for cell in cells.cells[cells.starts.index(horizon) :] for one in cell if one.kind is not Kind.GAP
        }
        for name, version in found:
            versions[name] = min(version, versions.get(name, version))
        found |= {_key(one) for one in members if one.version >= versions.get(one.memory_id, one.version + 1)}
        begins = [one.begins for one in later]
        begins += [each[_key(one)][-1].begins for one in members for each in (times, times_now) if _key(one) in found & each.keys()]
        leads_from = [one.valid_from for one in members if _key(one) in found - (times.keys() & times_now.keys())]
        earliest = _held_since(cells, min([horizon, *begins, *leads_from]))
        if (found, earliest) == (needed, horizon):
            return needed, horizon
        needed, horizon = found, earliest


def _held_since(cells: Cells, moment: datetime, *, is_before: bool = False) -> datetime:
    """The start of the last cell by a moment, or before it, in which something holds: what ended before leads there."""
    last = (bisect_left if is_before else bisect_right)(cells.starts, moment) - 1
    shown = (one for one in range(last, 0, -1) if any(each.kind is not Kind.GAP and each.hidden_at is None for each in cells.cells[one]))
    return cells.starts[next(shown, 0)]


def _from(cells: Cells, horizon: datetime) -> tuple[tuple[datetime, ...], tuple[Cell, ...]]:
    first = cells.starts.index(horizon)
    bare = [tuple(replace(layer, beneath=None, ends_only=None) for layer in cell) for cell in cells.cells[first:]]
    if horizon == BEGINNING:
        return tuple(cells.starts), tuple(bare)
    return (BEGINNING, *cells.starts[first:]), ((), *bare)


def reaches_back(seal: Seal, log: Iterable[Entry], known_at: int | None = None) -> bool:
    """Whether the sealed parts have to be read to resolve a log.

    Args:
        seal: what the slot keeps of them.
        log: the entries that are not sealed, with those that are to be added.
        known_at: as of `resolve`.

    Returns:
        True also in some cases in which the seal would have sufficed. Note: a statement of a memory that the seal does not name, and
        that the log has none of, is taken for one of a new memory.

    """
    if known_at is not None and known_at < seal.last_place[0]:
        return True
    here = {one.place: one for one in log}
    sealed = seal.split | {one.memory_id for one in seal.members}
    whole = {one.memory_id for one in here.values() if isinstance(one, Statement)} - sealed
    return any(_touches(one, seal, here, whole) for one in here.values() if one.place > seal.last_place)


def suffices(seal: Seal, timeline: Timeline) -> bool:
    """Whether a timeline that was resolved with a seal tells of all that changes.

    It does not where something before the horizon is now the last time of its member, or leads elsewhere.
    """
    sealed, times = {_key(one) for one in seal.members}, _times(timeline)
    if any(one.valid_from < seal.horizon and _key(one) in sealed and _key(one) not in times for one in timeline.members):
        return False
    return _first(seal, timeline) == seal.first


def _first(seal: Seal, timeline: Timeline) -> Reference | None:
    held = [one for one in timeline.intervals if one.begins == seal.horizon]
    return references_of(timeline)[id(max(held, key=lambda one: one.order))] if held else None


def _touches(entry: Entry, seal: Seal, here: Mapping[Place, Entry], whole: set[str]) -> bool:
    if isinstance(entry, Hiding):
        return entry.memory_id not in whole
    if isinstance(entry, Pair):
        return whole.isdisjoint(entry.memory_ids)
    if isinstance(entry, Merge):
        return not whole.issuperset(entry.memory_ids)
    if isinstance(entry, Withdrawal):
        return any(place not in here or _touches(here[place], seal, here, whole) for place in entry.places)
    assert isinstance(entry, Statement)
    if entry.memory_id not in whole and (
        entry.edits is not None or any(one.memory_id == entry.memory_id and one.state is State.MERGED for one in seal.members)
    ):
        return True
    if isinstance(entry, Retraction) and entry.valid_from <= seal.latest_start:
        return True
    return entry.order < seal.through or entry.valid_from <= seal.horizon

"""The timeline of a slot, and what each of its members is by it.

The table of `project` is the only place where a status follows from a timeline.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from enum import Enum, auto
from itertools import accumulate, takewhile

from memory_core.domain.models import Status
from memory_core.domain.truth.entries import Place

_NEVER = datetime.max.replace(tzinfo=timezone.utc)


class State(Enum):
    """What became of a member."""

    COUNTS = auto()
    HIDDEN = auto()
    WITHDRAWN = auto()
    MERGED = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A time in which a memory, or one of its versions, holds.

    ends: the first moment at which it does not; None if it has no end.
    value: None for a retraction.
    order: when the last statement of it was said that shows here.
    places: of the statements that show here, in their order.
    """

    memory_id: str
    version: int
    value: str | None
    begins: datetime
    ends: datetime | None
    order: tuple[datetime, Place]
    places: tuple[Place, ...]

    def covers(self, moment: datetime) -> bool:
        """Whether it holds at a moment."""
        return self.begins <= moment and (self.ends is None or moment < self.ends)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A memory, or one of its versions, that a slot knows.

    valid_from: where the first of its statements begins.
    merged_into: the memory that has its text, if it was merged.
    """

    memory_id: str
    version: int
    valid_from: datetime
    state: State = State.COUNTS
    merged_into: str | None = None


@dataclass(frozen=True, slots=True)
class Timeline:
    """What holds when in a slot.

    intervals: in the order of time; of two that begin together the one said later last.
    hidden: what would hold but for a deletion.
    members: all that the log knows, by memory and version, what holds at no moment too.
    horizon: since when it tells; what was before is frozen. None for all time.
    earlier: how many times of a member ended before the horizon.
    """

    intervals: tuple[Interval, ...]
    hidden: tuple[Interval, ...]
    members: tuple[Member, ...]
    earlier: Mapping[tuple[str, int], int] = field(default_factory=dict)
    horizon: datetime | None = None

    def at(self, moment: datetime) -> tuple[Interval, ...]:
        """What holds at a moment; more than one only if they are kept side by side."""
        return tuple(one for one in self.intervals if one.covers(moment))

    def share_a_moment(self, first_id: str, second_id: str) -> bool:
        """Whether two memories hold at once somewhere; the question about two that do not is closed by rule."""
        first = [one for one in self.intervals if one.memory_id == first_id]
        second = [one for one in self.intervals if one.memory_id == second_id]
        return any(one.covers(max(one.begins, two.begins)) and two.covers(max(one.begins, two.begins)) for one in first for two in second)


Reference = tuple[str, int, int]
"""(memory, version, part): part 0 is the member itself, 1 the first of its earlier intervals, which has a derived id.

Version 0 is the memory of another slot that has the merged text.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Projection:
    """The stored fields of a member, or of one of its earlier intervals, that follow from the timeline.

    status_reason: None where the timeline does not say why (active, deleted by somebody).
    next: what `next_id` leads to.
    """

    memory_id: str
    version: int
    part: int
    status: Status
    status_reason: str | None
    valid_from: datetime
    valid_until: datetime | None
    next: Reference | None


def project(timeline: Timeline, now: datetime) -> tuple[Projection, ...]:
    """The stored fields of all members. Archived, decayed and compressed memories keep their status.

    Args:
        timeline: of one slot.
        now: the moment of the commit.

    Returns:
        One projection for each member and each earlier interval of it, in the order of members and time; none for what is frozen.

    """
    intervals, hidden, following = _by_member(timeline.intervals), _by_member(timeline.hidden), Following(timeline)
    latest = _latest_versions(timeline.members)
    ends = {one.memory_id: _last_end(one, hidden if one.state is State.HIDDEN else intervals) for one in timeline.members}

    def next_of(member: Member, end: datetime | None) -> Reference | None:
        found, into = None if end is None else following.at(end), member.merged_into
        if found is not None or into is None or (into in ends and ends[into] < (end or _NEVER)):
            return found
        return into, 0, 0

    made: list[Projection] = []
    for member in timeline.members:
        key = member.memory_id, member.version
        is_old = member.version != latest[member.memory_id]
        held = (hidden if member.state is State.HIDDEN else intervals).get(key, [])
        first = 1 + timeline.earlier.get(key, 0)
        for part, interval in [*enumerate(held[:-1], first), *((0, one) for one in held[-1:])]:
            has_ended = part > 0 or (interval.ends is not None and interval.ends <= now)
            status, reason = _status(member, has_ended=has_ended, is_old=is_old, is_earlier=part > 0)
            fields = (interval.begins, interval.ends, next_of(member, interval.ends))
            made.append(_projection(key, part, status, reason, *fields))
        if not held and key not in timeline.earlier and (timeline.horizon is None or member.valid_from > timeline.horizon):
            status, reason = _status(member, has_ended=True, is_old=is_old, is_earlier=False)
            fields = (member.valid_from, member.valid_from, next_of(member, member.valid_from))
            made.append(_projection(key, 0, status, reason, *fields))
    return tuple(made)


def _by_member(intervals: Iterable[Interval]) -> dict[tuple[str, int], list[Interval]]:
    members: dict[tuple[str, int], list[Interval]] = {}
    for interval in intervals:
        members.setdefault((interval.memory_id, interval.version), []).append(interval)
    return members


class Following:
    """What leads on from a moment: what holds then, or begins next after it. Chains go forward in time, so that they end.

    A memory stands where its latest version holds last. What holds by an old version alone, while that is elsewhere, is passed over.
    """

    def __init__(self, timeline: Timeline) -> None:
        self._references: dict[int, Reference] = {}
        versions = _latest_versions(timeline.members)
        last: dict[str, Interval] = {}
        for (name, version), held in _by_member(timeline.intervals).items():
            first = 1 + timeline.earlier.get((name, version), 0)
            self._references |= {id(one): (name, version, 0 if one is held[-1] else part) for part, one in enumerate(held, first)}
            if version == versions[name]:
                last[name] = held[-1]
        self._intervals = [one for one in timeline.intervals if one.memory_id in last and last[one.memory_id].begins >= one.begins]
        self._begins = [one.begins for one in self._intervals]
        self._latest_ends = [*accumulate((_NEVER if one.ends is None else one.ends for one in self._intervals), max)]

    def at(self, moment: datetime) -> Reference | None:
        """What leads on from a moment; of several that hold the one said last."""
        following = place = bisect_right(self._begins, moment)
        found: list[Interval] = []
        while place and self._latest_ends[place - 1] > moment:
            place -= 1
            found += [self._intervals[place]] if self._intervals[place].covers(moment) else []
        if not found and following < len(self._intervals):
            found = list(takewhile(lambda one: one.begins == self._begins[following], self._intervals[following:]))
        holder = max(found, key=lambda one: one.order, default=None)
        return None if holder is None else self._references[id(holder)]


def _last_end(member: Member, held: Mapping[tuple[str, int], list[Interval]]) -> datetime:
    last = held.get((member.memory_id, member.version), [])[-1:]
    return last[0].ends or _NEVER if last else member.valid_from


def _projection(
    key: tuple[str, int], part: int, status: Status, reason: str | None, begins: datetime, ends: datetime | None, follower: Reference | None
) -> Projection:
    return Projection(
        memory_id=key[0],
        version=key[1],
        part=part,
        status=status,
        status_reason=reason,
        valid_from=begins,
        valid_until=ends,
        next=follower,
    )


def _status(member: Member, *, has_ended: bool, is_old: bool, is_earlier: bool) -> tuple[Status, str | None]:
    if member.state is State.WITHDRAWN:
        return Status.DELETED, "contradicted"
    if member.state is State.HIDDEN:
        return Status.DELETED, None
    if member.state is State.MERGED and not is_earlier:
        return Status.UPDATED, "consolidated"
    if has_ended or is_old:
        return Status.SUPERSEDED, "new_version" if is_old else "contradicted"
    return Status.ACTIVE, None


def _latest_versions(members: Iterable[Member]) -> dict[str, int]:
    latest: dict[str, int] = {}
    for member in members:
        latest[member.memory_id] = max(member.version, latest.get(member.memory_id, 0))
    return latest

"""The timeline of a slot: its intervals, its members and its horizon."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from enum import Enum, auto
from itertools import accumulate

from memory_core.domain.truth.entries import Key, Place

NEVER = datetime.max.replace(tzinfo=timezone(timedelta(hours=-23)))
"""After all moments, and after the last moment in UTC too."""
Reference = tuple[str, int, int]
"""(memory, version, part).

Part 0 is the last interval of a member, 1 the first of its earlier intervals.
"""


class State(Enum):
    """How a member counts."""

    COUNTS = auto()
    HIDDEN = auto()
    WITHDRAWN = auto()
    MERGED = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A time in which a memory, or an old version of it, holds.

    Attributes:
        value: The value; None for a retraction.
        ends: The first moment at which it does not hold; None if it has no end.
        order: When the last of its statements that show here was said.
        places: Places of the statements that show here, in their order.
        part: 0 for the last interval of its member, else its number among the earlier intervals.

    """

    memory_id: str
    version: int
    value: str | None
    begins: datetime
    ends: datetime | None
    order: tuple[datetime, Place]
    places: tuple[Place, ...]
    part: int = 0

    @property
    def key(self) -> Key:
        """The memory and its version."""
        return self.memory_id, self.version

    @property
    def reference(self) -> Reference:
        """The member and the number of the interval."""
        return self.memory_id, self.version, self.part

    def lasts_beyond(self, moment: datetime) -> bool:
        """Whether it ends after a moment, or never."""
        return self.ends is None or self.ends > moment

    def covers(self, moment: datetime) -> bool:
        """Whether it holds at a moment."""
        return self.begins <= moment and self.lasts_beyond(moment)

    def overlaps(self, other: Interval) -> bool:
        """Whether both hold at some moment."""
        return self.covers(other.begins) or other.covers(self.begins)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A memory, or an old version of it, in the log of a slot.

    Attributes:
        valid_from: Where the first of its statements begins.
        merged_into: The memory that has its text, if it was merged.

    """

    memory_id: str
    version: int
    valid_from: datetime
    state: State = State.COUNTS
    merged_into: str | None = None

    @property
    def key(self) -> Key:
        """The memory and its version."""
        return self.memory_id, self.version


@dataclass(frozen=True, slots=True)
class Timeline:
    """The intervals of a slot, and its members.

    Attributes:
        intervals: In the order of time. If two begin together, the interval that was said later
            comes last.
        hidden: Intervals that would hold but for a deletion.
        members: All members in the log by memory and version, including those that never hold.
        earlier: How many intervals of a member ended before the horizon.
        horizon: Begin of the time that the timeline covers; earlier time is frozen. None for all
            time.

    """

    intervals: tuple[Interval, ...]
    hidden: tuple[Interval, ...]
    members: tuple[Member, ...]
    earlier: Mapping[Key, int] = field(default_factory=dict)
    horizon: datetime | None = None

    @property
    def times(self) -> tuple[Interval, ...]:
        """All intervals, including hidden intervals."""
        return (*self.intervals, *self.hidden)

    def at(self, moment: datetime) -> tuple[Interval, ...]:
        """The intervals that hold at a moment.

        There are several only if their memories coexist.
        """
        return tuple(interval for interval in self.intervals if interval.covers(moment))

    def share_a_moment(self, first_id: str, second_id: str) -> bool:
        """Whether two memories hold at the same moment anywhere.

        A pending conflict about two memories that do not is closed by rule.

        Args:
            first_id: Id of a memory.
            second_id: Id of another memory.

        """
        first = [interval for interval in self.intervals if interval.memory_id == first_id]
        second = [interval for interval in self.intervals if interval.memory_id == second_id]
        return any(interval.overlaps(other) for interval in first for other in second)

    def latest_versions(self) -> dict[str, int]:
        """By memory, the number of its latest version."""
        return {member.memory_id: member.version for member in self.members}


class Following:
    """The intervals that follow moments: an interval that holds then, or begins next.

    Chains go forward in time, so that they end. A memory is found where its latest version holds
    last. A memory that holds only by an old version, while its latest version is elsewhere, is
    ignored.
    """

    def __init__(self, timeline: Timeline) -> None:
        versions = timeline.latest_versions()
        last = {  # intervals are in the order of time
            interval.memory_id: interval.begins
            for interval in timeline.intervals
            if interval.version == versions[interval.memory_id]
        }
        self._intervals = [
            interval
            for interval in timeline.intervals
            if interval.memory_id in last and last[interval.memory_id] >= interval.begins
        ]
        self._begins = [interval.begins for interval in self._intervals]
        self._latest_ends = [
            *accumulate((interval.ends or NEVER for interval in self._intervals), max)
        ]

    def at(self, moment: datetime) -> Reference | None:
        """The interval that follows a moment.

        If several intervals hold, it is the interval that was said last.
        """
        following = place = bisect_right(self._begins, moment)
        holders: list[Interval] = []
        while place and self._latest_ends[place - 1] > moment:
            place -= 1
            holders += [self._intervals[place]] if self._intervals[place].covers(moment) else []
        if not holders and following < len(self._intervals):
            begins = self._begins[following]
            holders = self._intervals[following : bisect_right(self._begins, begins)]
        last = max(holders, key=lambda interval: interval.order, default=None)
        return None if last is None else last.reference

"""The timeline of a slot: what holds when, what its members are, and what leads on
from a moment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from enum import Enum, auto

from memory_core.domain.truth.entries import Key, Place

NEVER = datetime.max.replace(tzinfo=timezone(timedelta(hours=-23)))
"""After all moments, the last of them in UTC too."""
Reference = tuple[str, int, int]
"""(memory, version, part): part 0 is the last interval of a member, 1 the first of its
earlier ones.
"""


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
    part: 0 for the last one of its member, else its number among the earlier ones.
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
        """Which interval of which member it is."""
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
    """A memory, or one of its versions, that a slot knows.

    valid_from: where the first of its statements begins.
    merged_into: the memory that has its text, if it was merged.
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
    earlier: Mapping[Key, int] = field(default_factory=dict)
    horizon: datetime | None = None

    @property
    def times(self) -> tuple[Interval, ...]:
        """The intervals, and the hidden ones."""
        return (*self.intervals, *self.hidden)

    def at(self, moment: datetime) -> tuple[Interval, ...]:
        """What holds at a moment; more than one only if they are kept side by side."""
        return tuple(interval for interval in self.intervals if interval.covers(moment))

    def share_a_moment(self, first_id: str, second_id: str) -> bool:
        """Whether two memories hold at once somewhere; the question about two that do not is
        closed by rule.
        """
        first = [interval for interval in self.intervals if interval.memory_id == first_id]
        second = [interval for interval in self.intervals if interval.memory_id == second_id]
        return any(interval.overlaps(other) for interval in first for other in second)

    def latest_versions(self) -> dict[str, int]:
        """By memory, the number of its latest version."""
        return {member.memory_id: member.version for member in self.members}

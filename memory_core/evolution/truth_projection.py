"""The stored fields of a slot's members, derived from its timeline.

A member's latest version is the memory itself, an earlier version is `<id>.v<n>`, and an earlier
interval of either is a memory of its own. Note: an archived, decayed or compressed memory keeps its
status. It also keeps a `next_id` that is outside of the timeline, such as a merge into another
slot.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from operator import itemgetter
from typing import Any, cast

from memory_core.domain.event_log import base_id, version_id
from memory_core.domain.memory import Memory, MemoryFields, Status
from memory_core.domain.truth.entries import Key
from memory_core.domain.truth.timeline import (
    NEVER,
    Following,
    Interval,
    Member,
    Reference,
    State,
    Timeline,
)
from memory_core.ledger.ids import earlier_interval_id

GONE = "gone_"
"""The prefix of a log's names for hard-deleted memories."""
_KEEPS_STATUS = frozenset({Status.ARCHIVED, Status.DECAYED, Status.COMPRESSED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Projection:
    """The stored fields of a member, or of an earlier interval of it.

    Attributes:
        id: Under which it is stored.
        memory_id: Id of the member.
        version: Version of the member.
        part: Number of the interval; 0 for the member itself.
        member_id: Under which the member itself is stored.
        status: By the timeline.
        status_reason: None if the timeline gives no reason (active, or deleted by a caller).
        valid_from: By the timeline.
        valid_until: By the timeline.
        next_id: The successor.
        supersedes_id: The memory that held before it, if `holds`.
        holds: Whether it is visible at some moment.
        members: Ids of all memories of the slot, and of their earlier intervals. A new id makes no
            other row unequal.

    """

    id: str
    memory_id: str
    version: int
    part: int
    member_id: str
    status: Status
    status_reason: str | None
    valid_from: datetime
    valid_until: datetime | None
    next_id: str | None
    supersedes_id: str | None
    holds: bool
    members: frozenset[str] = field(compare=False)

    @property
    def key(self) -> Key:
        """The member and its version."""
        return self.memory_id, self.version

    def on(self, stored: Memory) -> Memory:
        """The stored memory with these fields; the same object if it has them."""
        changed = {name: wanted for name, (_, wanted) in self.differences(stored).items()}
        return stored.changed(**cast(MemoryFields, changed)) if changed else stored

    def differences(self, stored: Memory) -> dict[str, tuple[Any, Any]]:
        """By field, the stored value and the value of the timeline."""
        return {
            name: (getattr(stored, name), value)
            for name, value in self._fields(stored).items()
            if getattr(stored, name) != value
        }

    def _fields(self, stored: Memory) -> MemoryFields:
        status, reason = self.status, self.status_reason
        if stored.status in _KEEPS_STATUS and status in (Status.ACTIVE, Status.SUPERSEDED):
            status, reason = stored.status, stored.status_reason
        if reason is None:
            is_said = stored.status is status and (
                status is not Status.DELETED or stored.status_reason != "contradicted"
            )
            why = "restored" if status is Status.ACTIVE else "manual_delete"
            reason = stored.status_reason if is_said else why
        next_id, before = self.next_id, self.supersedes_id
        if next_id is None and status is not Status.ACTIVE and self.status is not Status.ACTIVE:
            next_id = self._elsewhere(stored.next_id)
        if self.holds:
            before = before or self._elsewhere(stored.supersedes_id)
        else:
            never_so = self.status is Status.DELETED and self.status_reason == "contradicted"
            before = stored.supersedes_id
            before = self._elsewhere(before) if never_so else before
        return {
            "status": status,
            "status_reason": reason,
            "valid_from": self.valid_from,
            "valid_until": self.valid_until,
            "next_id": next_id,
            "supersedes_id": before,
        }

    def _elsewhere(self, name: str | None) -> str | None:
        """The name of a memory outside of the slot; else None."""
        return None if name in self.members else name


Time = tuple[Member, datetime, datetime | None]
"""A member, and from when until when it holds."""


def project(timeline: Timeline, now: datetime) -> dict[str, Projection]:
    """The stored fields of all members, by the ids under which they are stored.

    Args:
        timeline: Timeline of a slot.
        now: The time of the commit.

    Returns:
        A projection for each member and each earlier interval of it, in the order of members and
            intervals; none for frozen members.

    """
    following, latest = Following(timeline), timeline.latest_versions()
    times = _times(timeline)
    stored_ids = {reference: _stored_id(reference, latest) for reference in times}
    members = frozenset(stored_ids.values()) | {memory_id for memory_id, _, _ in times}
    before = _held_before(timeline, stored_ids)
    last_ends = {
        member.memory_id: times[*member.key, 0][2]
        if (*member.key, 0) in times
        else member.valid_from
        for member in timeline.members
    }
    made: dict[str, Projection] = {}
    for reference, (member, begins, ends) in times.items():
        identity, part = stored_ids[reference], reference[2]
        has_ended = part > 0 or (ends is not None and (ends <= now or ends == begins))
        status, reason = _status(
            member,
            has_ended=has_ended,
            is_old=member.version != latest[member.memory_id],
            is_earlier=part > 0,
        )
        follower = None if ends is None else following.at(ends)
        next_id = None if follower is None else base_id(stored_ids[follower])
        if (
            follower is None
            and member.merged_into is not None
            and (last_ends.get(member.merged_into) or NEVER) >= (ends or NEVER)
        ):
            next_id = member.merged_into  # it may be in another slot
        made[identity] = Projection(
            id=identity,
            memory_id=member.memory_id,
            version=member.version,
            part=part,
            member_id=_stored_id((*member.key, 0), latest),
            status=status,
            status_reason=reason,
            valid_from=begins,
            valid_until=ends,
            next_id=None
            if next_id is None or next_id == identity or next_id.startswith(GONE)
            else next_id,
            supersedes_id=before.get(reference),
            holds=reference in before,
            members=members,
        )
    return made


def _times(timeline: Timeline) -> dict[Reference, Time]:
    """Each time of each member; a member that never held has an empty time."""
    hidden = {member.key for member in timeline.members if member.state is State.HIDDEN}
    own: defaultdict[Key, list[Interval]] = defaultdict(list)
    deleted = (interval for interval in timeline.hidden if interval.key in hidden)
    for interval in (*timeline.intervals, *deleted):
        own[interval.key].append(interval)
    times: dict[Reference, Time] = {}
    for member in timeline.members:
        for each in own[member.key]:
            times[each.reference] = member, each.begins, each.ends
        if (
            not own[member.key]
            and member.key not in timeline.earlier
            and (timeline.horizon is None or member.valid_from > timeline.horizon)
        ):
            times[*member.key, 0] = member, member.valid_from, member.valid_from
    return times


def _status(
    member: Member, *, has_ended: bool, is_old: bool, is_earlier: bool
) -> tuple[Status, str | None]:
    if member.state is State.WITHDRAWN:
        return Status.DELETED, "contradicted"
    if member.state is State.HIDDEN:
        return Status.DELETED, None
    if member.state is State.MERGED and not is_earlier:
        return Status.UPDATED, "consolidated"
    if has_ended or is_old:
        return Status.SUPERSEDED, "new_version" if is_old else "contradicted"
    return Status.ACTIVE, None


def _stored_id(reference: Reference, latest: Mapping[str, int]) -> str:
    """The id under which a member, an old version or an earlier interval is stored."""
    memory_id, version, part = reference
    if part:
        return earlier_interval_id(memory_id, version, part)
    return memory_id if version == latest[memory_id] else version_id(memory_id, version)


def _held_before(
    timeline: Timeline, stored_ids: Mapping[Reference, str]
) -> dict[Reference, str | None]:
    """By each visible interval, the memory that held last before it.

    That memory may have been deleted since.
    """
    names = [base_id(stored_ids[interval.reference]) for interval in timeline.intervals]
    times = [(interval.ends, -1, interval.memory_id) for interval in timeline.hidden]
    times += [
        (interval.ends, number, name)
        for number, (interval, name) in enumerate(zip(timeline.intervals, names, strict=True))
    ]
    ended = sorted((ends, number, name) for ends, number, name in times if ends is not None)
    others: list[str | None] = []  # by each end, the name of the last one before it with another
    for place, (_, _, name) in enumerate(ended):
        last = ended[place - 1][2] if place else None
        others.append(others[-1] if place and last == name else last)
    before: dict[Reference, str | None] = {}
    for interval, own in zip(timeline.intervals, names, strict=True):
        place = bisect_right(ended, interval.begins, key=itemgetter(0)) - 1
        is_own = place >= 0 and ended[place][2] == own
        last = None if place < 0 else ended[place][2]
        before[interval.reference] = others[place] if is_own else last
    return before

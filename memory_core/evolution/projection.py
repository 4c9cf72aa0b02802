"""The stored fields of a slot's members, as they follow from its timeline; `_status` is the only table of statuses.

A member's latest version is the memory itself, an earlier one `<id>.v<n>`, an earlier time of either a memory of its own. Note: what is
archived, decayed or compressed keeps its status, and what timelines do not say (a merge into another slot) its `next_id`.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory_core.domain.models import Memory, Status
from memory_core.domain.truth.timeline import NEVER, Following, Member, Reference, State, Timeline
from memory_core.domain.versions import base_id, version_id
from memory_core.ledger.ids import earlier_interval_id

GONE = "gone_"
"""How the names begin that a log has for memories which are forgotten for good."""
_KEEPS_STATUS = frozenset({Status.ARCHIVED, Status.DECAYED, Status.COMPRESSED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Projection:
    """What a timeline wants stored of a member, or of one of its earlier times.

    id: under which it is stored.
    memory_id, version, part: of which member and time it is; part 0 is the member itself. member_id: under which that is stored.
    status_reason: None where the timeline does not say why (active, deleted by a caller).
    holds: whether it shows at some moment; then `supersedes_id` is what held before it.
    members: ids of all memories of the slot, and of their earlier times.
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
    members: frozenset[str]

    def on(self, stored: Memory) -> Memory:
        """The stored memory with these fields; the very same one where it has them."""
        changed = {name: wanted for name, (_, wanted) in self.differences(stored).items()}
        return stored.model_copy(update=changed) if changed else stored

    def differences(self, stored: Memory) -> dict[str, tuple[Any, Any]]:
        """By field, what is stored and what the timeline wants."""
        wanted = self._fields(stored)
        return {name: (getattr(stored, name), value) for name, value in wanted.items() if getattr(stored, name) != value}

    def _fields(self, stored: Memory) -> dict[str, Any]:
        status, reason = self.status, self.status_reason
        if stored.status in _KEEPS_STATUS and status in (Status.ACTIVE, Status.SUPERSEDED):
            status, reason = stored.status, stored.status_reason
        if reason is None:
            is_said = stored.status is status and (status is not Status.DELETED or stored.status_reason != "contradicted")
            reason = stored.status_reason if is_said else "restored" if status is Status.ACTIVE else "manual_delete"
        return {
            "status": status,
            "status_reason": reason,
            "valid_from": self.valid_from,
            "valid_until": self.valid_until,
            "next_id": self._elsewhere(stored.next_id) if self.next_id is None and status is not Status.ACTIVE else self.next_id,
            "supersedes_id": self._before(stored.supersedes_id),
        }

    def _elsewhere(self, name: str | None) -> str | None:
        """What an agent or a merge leads to in another slot."""
        return None if name is None or name in self.members or self.status is Status.ACTIVE else name

    def _before(self, name: str | None) -> str | None:
        if not self.holds:
            return None if self.status_reason == "contradicted" and self.status is Status.DELETED and name in self.members else name
        return self.supersedes_id if self.supersedes_id is not None or name in self.members else name


def project(timeline: Timeline, now: datetime) -> dict[str, Projection]:
    """The stored fields of all members, by the ids under which they are stored.

    Args:
        timeline: of one slot.
        now: the moment of the commit.

    Returns:
        One projection for each member and each earlier time of it, in the order of members and times; none for what is frozen.

    """
    following, latest = Following(timeline), timeline.latest_versions()
    shown, hidden = timeline.parts(timeline.intervals), timeline.parts(timeline.hidden)
    times: dict[Reference, tuple[Member, datetime, datetime | None]] = {}
    for member in timeline.members:
        key = member.memory_id, member.version
        own = (hidden if member.state is State.HIDDEN else shown).get(key, [])
        times |= {(*key, part): (member, interval.begins, interval.ends) for part, interval in own}
        if not own and key not in timeline.earlier and (timeline.horizon is None or member.valid_from > timeline.horizon):
            times[*key, 0] = member, member.valid_from, member.valid_from
    stored_ids = {reference: _stored_id(reference, latest) for reference in times}
    members = frozenset(stored_ids.values()) | {memory_id for memory_id, _, _ in times}
    before = _held_before(timeline, stored_ids)
    last_ends = {
        member.memory_id: times.get((member.memory_id, member.version, 0), (member, NEVER, member.valid_from))[2]
        for member in timeline.members
    }
    made: dict[str, Projection] = {}
    for reference, (member, begins, ends) in times.items():
        identity, part = stored_ids[reference], reference[2]
        has_ended = part > 0 or (ends is not None and (ends <= now or ends == begins))
        status, reason = _status(member, has_ended=has_ended, is_old=member.version != latest[member.memory_id], is_earlier=part > 0)
        follower = None if ends is None else following.at(ends)
        next_id = None if follower is None else base_id(stored_ids[follower])
        if follower is None and member.merged_into is not None and (last_ends.get(member.merged_into) or NEVER) >= (ends or NEVER):
            next_id = member.merged_into  # it may be in another slot
        made[identity] = Projection(
            id=identity,
            memory_id=member.memory_id,
            version=member.version,
            part=part,
            member_id=_stored_id((member.memory_id, member.version, 0), latest),
            status=status,
            status_reason=reason,
            valid_from=begins,
            valid_until=ends,
            next_id=None if next_id is None or next_id == identity or next_id.startswith(GONE) else next_id,
            supersedes_id=before.get(reference),
            holds=reference in before,
            members=members,
        )
    return made


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


def _stored_id(reference: Reference, latest: Mapping[str, int]) -> str:
    """The id under which a member, an old version or an earlier time of one is stored."""
    memory_id, version, part = reference
    if part:
        return earlier_interval_id(memory_id, version, part)
    return memory_id if version == latest[memory_id] else version_id(memory_id, version)


def _held_before(timeline: Timeline, stored_ids: Mapping[Reference, str]) -> dict[Reference, str | None]:
    """By each time that shows, the memory that held last of those that had ended by then; also one that was deleted since."""
    references = {id(interval): (*key, part) for key, own in timeline.parts(timeline.intervals).items() for part, interval in own}
    ended = sorted((interval.ends, -1, interval.memory_id) for interval in timeline.hidden if interval.ends is not None)
    before: dict[Reference, str | None] = {}
    for number, interval in enumerate(timeline.intervals):
        reference = references[id(interval)]
        own = base_id(stored_ids[reference])
        earlier = range(bisect_right(ended, interval.begins, key=lambda each: each[0]) - 1, -1, -1)
        before[reference] = next((ended[place][2] for place in earlier if ended[place][2] != own), None)
        if interval.ends is not None:
            insort(ended, (interval.ends, number, own))
    return before

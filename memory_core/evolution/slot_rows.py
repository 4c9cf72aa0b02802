"""The stored fields of a slot's members: where each projection of a timeline is kept, and what it makes of what is stored there.

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
from memory_core.domain.truth.timeline import Projection, Reference, Timeline, project
from memory_core.domain.versions import base_id, version_id
from memory_core.ledger.ids import earlier_interval_id

GONE = "gone_"
"""How the names begin that a log has for memories which are forgotten for good."""
_KEEPS_STATUS = frozenset({Status.ARCHIVED, Status.DECAYED, Status.COMPRESSED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What a timeline wants stored in one place.

    memory_id, version, part: of what it is the projection. members: ids of all memories of the slot, and of their earlier times.
    """

    id: str
    memory_id: str
    version: int
    part: int
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
        wanted = self._fields(stored)
        changed = {name: value for name, value in wanted.items() if getattr(stored, name) != value}
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


def rows_of(timeline: Timeline, now: datetime) -> dict[str, Row]:
    """By the ids under which they are stored, what a timeline makes of all its members."""
    projections = project(timeline, now)
    latest: dict[str, int] = {}
    for one in projections:
        latest[one.memory_id] = max(one.version, latest.get(one.memory_id, 0))
    places = {(one.memory_id, one.version, one.part): place_of((one.memory_id, one.version, one.part), latest) for one in projections}
    members = frozenset(places.values()) | frozenset(latest)
    before = _before(timeline, places)
    made = {}
    for one in projections:
        reference = one.memory_id, one.version, one.part
        name = places[reference]
        made[name] = Row(
            id=name,
            memory_id=one.memory_id,
            version=one.version,
            part=one.part,
            status=one.status,
            status_reason=one.status_reason,
            valid_from=one.valid_from,
            valid_until=one.valid_until,
            next_id=_next(one, places),
            supersedes_id=before.get(reference),
            holds=reference in before,
            members=members,
        )
    return made


def place_of(reference: Reference, latest: Mapping[str, int]) -> str:
    """The id under which a member, an old version or an earlier time of one is stored."""
    memory_id, version, part = reference
    if part:
        return earlier_interval_id(memory_id, version, part)
    return memory_id if version == latest[memory_id] else version_id(memory_id, version)


def _next(one: Projection, places: Mapping[Reference, str]) -> str | None:
    """What `next_id` names: a memory, never one of its old versions, nor itself, except from an old version."""
    if one.next is None:
        return None
    own = places[one.memory_id, one.version, one.part]
    name = base_id(places.get(one.next, one.next[0]))
    return None if name == own or name.startswith(GONE) else name


def _before(timeline: Timeline, places: Mapping[Reference, str]) -> dict[Reference, str | None]:
    """By each time that holds, the memory that held last of those that had ended by then; also one that was deleted since."""
    parts: dict[tuple[str, int], int] = {}
    hidden = sorted((one.ends, -1, one.memory_id) for one in timeline.hidden if one.ends is not None)
    last = {(one.memory_id, one.version): number for number, one in enumerate(timeline.intervals)}
    before: dict[Reference, str | None] = {}
    ended: list[tuple[datetime, int, str]] = [*hidden]
    for number, one in enumerate(timeline.intervals):
        key = one.memory_id, one.version
        parts[key] = parts.get(key, 0) + 1
        reference = (*key, 0 if last[key] == number else parts[key])
        own = base_id(places[reference])
        earlier = range(bisect_right(ended, one.begins, key=lambda each: each[0]) - 1, -1, -1)
        before[reference] = next((ended[place][2] for place in earlier if ended[place][2] != own), None)
        if one.ends is not None:
            insort(ended, (one.ends, number, own))
    return before

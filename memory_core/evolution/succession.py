"""How one memory follows another that is alone in its slot: when it was told, when it ended, what it leads to."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from memory_core.domain.models import Memory, Status

MAX_TELLINGS = 40
"""Moments that a memory without a slot remembers to have been told at: the first and the latest of them."""


def tellings(memory: Memory) -> list[datetime]:
    """The event times at which it was told, in order; at least one."""
    return sorted({*memory.told_at, memory.event_timestamp})


def first_telling(memory: Memory) -> datetime:
    """When it was told first."""
    return tellings(memory)[0]


def kept(moments: Iterable[datetime]) -> list[datetime]:
    """As many of the moments as a memory remembers; none where there is but one, which `event_timestamp` holds."""
    told = sorted(set(moments))
    if len(told) == 1:
        return []
    return told if len(told) <= MAX_TELLINGS else [told[0], *told[1 - MAX_TELLINGS :]]


def over(old: Memory, new: Memory) -> bool:
    """Whether the old one had ended when the new one begins: then it neither says the same nor stands against it."""
    return old.valid_until is not None and old.valid_until <= new.valid_from


def ended(old: Memory, moment: datetime) -> Memory:
    """A memory that ends at `moment` at the latest, though never before it began."""
    until = max(moment, old.valid_from)
    return old.model_copy(update={"valid_until": until if old.valid_until is None else min(old.valid_until, until)})


def superseded_by(old: Memory, new: Memory, now: datetime) -> Memory:
    """The old memory as it is once the new one holds; its validity ends where the new one's begins."""
    fallen = {"status": Status.SUPERSEDED, "status_reason": "contradicted", "next_id": new.id, "conflict_state": "resolved"}
    return ended(old, new.valid_from).model_copy(update={**fallen, "updated_at": now})


def latest_end(old: Memory, new: Memory) -> datetime | None:
    """When a memory that says both ends: with the later of the two, if both end."""
    ends = [one.valid_until for one in (old, new) if one.valid_until is not None]
    return max(ends) if len(ends) == 2 else None

"""What upkeep does to a memory that nobody has looked at for long: it becomes `decayed`, or its long text gives way to a short one.

Pure, and a function of the memory as it is stored and of a moment: whoever asks every hour and whoever asks once after ten years get the
same. One would get wrong: of a long memory both may be due by now. What would have come first counts, or the answer would depend on
how often it was asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import inf, log2
from typing import Any

from memory_core.domain.decay import DAY_S
from memory_core.domain.messages import is_told, is_told_as
from memory_core.domain.models import Memory, MemoryType, Status
from memory_core.domain.slots import slot_of

LEAST_IMPORTANCE = 1e-12
"""Taken for 0, whose logarithm is none: 40 halvings, so it is under any floor at once."""

NEVER = -1e9
"""A level, as halvings, that nothing falls under while there are clocks."""


@dataclass(frozen=True, slots=True)
class Fading:
    """When a memory counts as faded. half_life_days: idle days that halve importance. floor: under it a memory is `decayed`.

    A formed text of `long_characters` or more, never one that was told, gives way to a shorter one when its memory is `long_days` old and
    its importance under `long_floor`.
    """

    half_life_days: float = 30.0
    floor: float = 0.05
    long_characters: int = 2000
    long_days: float = 90.0
    long_floor: float = 0.2

    @property
    def half_life_s(self) -> float:
        """The half-life in seconds."""
        return self.half_life_days * DAY_S

    def bounds(self, now: datetime) -> dict[str, float]:
        """The numbers that a store compares by, each name a parameter of its query; times in epoch seconds, levels as `halvings`."""
        return {
            "now": now.timestamp(),
            "half_life": self.half_life_s,
            "floor": halvings(self.floor) if self.floor > 0 else NEVER,
            "long_floor": halvings(self.long_floor) if self.long_floor > 0 else NEVER,
            "long_characters": self.long_characters,
            "long_before": now.timestamp() - self.long_days * DAY_S + 1,
            "long_age": self.long_days * DAY_S,
        }

    def passed_at(self, idle_since_s: float, importance_base: float, level: float) -> float:
        """The moment (epoch seconds) after which importance is under `level`: idle since + half-life · log2(base / level). inf: never."""
        return inf if level <= 0 else idle_since_s + self.half_life_s * max(0.0, halvings(importance_base) - halvings(level))


def idle_since(memory: Memory) -> datetime:
    """Since when nobody has looked at it: its last access, else its creation."""
    return memory.last_accessed_at or memory.created_at


def halvings(importance_base: float) -> float:
    """How often 1 must be halved to give the importance, negative: log2 of it."""
    return log2(max(importance_base, LEAST_IMPORTANCE))


def fades(kind: str, *, pinned: bool, in_slot: bool) -> bool:
    """Whether time alone may take a memory of this type out of sight: not what is pinned, how things are done, or the truth of a slot."""
    return not (pinned or kind == MemoryType.PROCEDURAL or (kind == MemoryType.SEMANTIC and in_slot))


def shrinkable_length(body: Mapping[str, Any]) -> int:
    """Characters of a memory's text that may give way to a shorter one; 0 of what was told, which stays word for word."""
    told = is_told_as(body["id"], body.get("cell_id"), body.get("consolidation_run"))
    return 0 if told else len(body["content"])


def due(memory: Memory, now: datetime, rules: Fading) -> Status | None:
    """`decayed` or `compressed` when an active memory has to become that by now, else None."""
    if memory.status is not Status.ACTIVE or not fades(memory.type, pinned=memory.pinned, in_slot=slot_of(memory) is not None):
        return None
    since, base = idle_since(memory).timestamp(), memory.importance_base
    decays, shrinks = rules.passed_at(since, base, rules.floor), inf
    if not is_told(memory) and len(memory.content) >= rules.long_characters:
        old = (memory.created_at + timedelta(days=rules.long_days)).timestamp()
        shrinks = max(old, rules.passed_at(since, base, rules.long_floor))
    if now.timestamp() <= min(decays, shrinks):
        return None
    return Status.COMPRESSED if shrinks <= decays else Status.DECAYED

"""When an idle memory fades, and what brings it back into use.

Pure, and a function of the stored memory and of a moment: a caller who asks every hour and a caller
who asks once after ten years get the same answer. Note: of a long memory both may be due by now.
The earlier one counts, or the answer would depend on how often it was asked.

Half-life = that of the settings × the factor of the memory's worth (`worth.HALF_LIVES`) × what its
use adds (`lengthened_by_use`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from math import inf, log2
from typing import Any

from memory_core.domain.importance import DAY_S
from memory_core.domain.memory import Memory, MemoryType, Status
from memory_core.domain.messages import is_told, is_told_as
from memory_core.domain.statements.worth import kept_for_good, worth_factor
from memory_core.domain.truth.slots import slot_of

LEAST_IMPORTANCE = 1e-12
"""Taken for 0, whose logarithm is none: 40 halvings, so it is under any floor at once."""

NEVER = -1e9
"""A level, as halvings, that nothing falls under while there are clocks."""

USES_A_TELLING = 5
"""A memory that is told again counts as if it had been shown so often."""
MOST_USES = 20
"""Further uses add nothing."""
USES_THAT_DOUBLE = 10


@dataclass(frozen=True, slots=True)
class Fading:
    """When a memory counts as faded. half_life_days: idle days that halve importance. floor:
    under it a memory is `decayed`.

    A formed text of `long_characters` or more, never one that was told, gives way to a shorter one
    when its memory is `long_days` old and its importance under `long_floor`.
    """

    half_life_days: float = 30.0
    floor: float = 0.05
    long_characters: int = 2000
    long_days: float = 90.0
    long_floor: float = 0.2

    @property
    def half_life_s(self) -> float:
        """The half-life in seconds, of a memory of no special worth that was never used."""
        return self.half_life_days * DAY_S

    def bounds(self, now: datetime) -> dict[str, float]:
        """The numbers that a store compares by, each name a parameter of its query; times in epoch
        seconds, levels as `halvings`.
        """
        return {
            "now": now.timestamp(),
            "half_life": self.half_life_s,
            "floor": halvings(self.floor) if self.floor > 0 else NEVER,
            "long_floor": halvings(self.long_floor) if self.long_floor > 0 else NEVER,
            "long_characters": self.long_characters,
            "long_before": now.timestamp() - self.long_days * DAY_S + 1,
            "long_age": self.long_days * DAY_S,
        }

    def passed_at(
        self, idle_since_s: float, importance_base: float, level: float, factor: float = 1.0
    ) -> float:
        """The moment after which importance is under `level`: idle since + half-life · factor ·
        log2(base / level).

        Args:
            idle_since_s: Epoch seconds of the last access, else of the creation.
            importance_base: The importance at that moment.
            level: The importance to fall under; at 0 or less it never does.
            factor: By what the half-life is multiplied.

        Returns:
            Epoch seconds; inf: never.

        """
        return (
            inf
            if level <= 0
            else idle_since_s
            + self.half_life_s * factor * max(0.0, halvings(importance_base) - halvings(level))
        )


def idle_since(memory: Memory) -> datetime:
    """The last access of a memory, else its creation."""
    return memory.last_accessed_at or memory.created_at


def halvings(importance_base: float) -> float:
    """How often 1 must be halved to give the importance, negative: log2 of it."""
    return log2(max(importance_base, LEAST_IMPORTANCE))


def fades(kind: str, *, pinned: bool, in_slot: bool, worth: str | None = None) -> bool:
    """Whether time alone may make a memory of this type `decayed`."""
    return why_never(kind, pinned=pinned, in_slot=in_slot, worth=worth) is None


def why_never(kind: str, *, pinned: bool, in_slot: bool, worth: str | None = None) -> str | None:
    """Why a memory never fades: it is pinned, a procedure, the truth of a slot, or of a worth that
    is kept for good; None: it fades.
    """
    if pinned:
        return "pinned"
    if kind == MemoryType.PROCEDURAL:
        return "procedure"
    if kind == MemoryType.SEMANTIC and in_slot:
        return "slot"
    return worth if kept_for_good(worth) else None


def lengthened_by_use(access_count: int, reinforcement_count: int) -> float:
    """By what use multiplies the half-life, 1 to 3: a tenth more for each time shown, half as much
    again for each time told again.
    """
    return (
        1.0 + min(access_count + USES_A_TELLING * reinforcement_count, MOST_USES) / USES_THAT_DOUBLE
    )


def has_faded(memory: Memory, now: datetime, rules: Fading) -> bool:
    """Whether a memory counts as faded at a moment, whether or not a run has marked it as
    `decayed` since.
    """
    if memory.status is Status.DECAYED:
        return True
    if memory.status is not Status.ACTIVE or _why_never(memory) is not None:
        return False
    since, base = idle_since(memory).timestamp(), memory.importance_base
    return rules.passed_at(since, base, rules.floor, half_life_multiplier(memory)) < now.timestamp()


def half_life_multiplier(memory: Memory) -> float:
    """By what the half-life of the settings is multiplied for this memory."""
    return worth_factor(memory.worth) * lengthened_by_use(
        memory.access_count, memory.reinforcement_count
    )


def shrinkable_length(body: Mapping[str, Any]) -> int:
    """Characters of a memory's text that may give way to a shorter one; 0 of what was told,
    which stays word for word.
    """
    is_said = is_told_as(body["id"], body.get("cell_id"), body.get("consolidation_run"))
    return 0 if is_said else len(body["content"])


def due(memory: Memory, now: datetime, rules: Fading) -> Status | None:
    """`decayed` or `compressed` when an active memory has to become that by now, else None."""
    moment, status = next_change(memory, rules)
    return status if now.timestamp() > moment else None


def next_change(memory: Memory, rules: Fading) -> tuple[float, Status]:
    """When time alone changes a memory (epoch seconds, inf: never), and whether it becomes
    `decayed` or `compressed` then.
    """
    if memory.status is not Status.ACTIVE or _why_never(memory) is not None:
        return inf, Status.DECAYED
    since, base, factor = (
        idle_since(memory).timestamp(),
        memory.importance_base,
        half_life_multiplier(memory),
    )
    decays, shrinks = rules.passed_at(since, base, rules.floor, factor), inf
    if not is_told(memory) and len(memory.content) >= rules.long_characters:
        old = (memory.created_at + timedelta(days=rules.long_days)).timestamp()
        shrinks = max(old, rules.passed_at(since, base, rules.long_floor, factor))
    return (shrinks, Status.COMPRESSED) if shrinks <= decays else (decays, Status.DECAYED)


def explained(memory: Memory, rules: Fading) -> dict[str, Any]:
    """How a memory fades, and why so.

    Returns:
        worth: for what it is worth keeping, None for nothing special. never:
            why it does not fade (`why_never`), else None.
        half_life_days: with what worth and use make of it. worth_factor, use_factor: by what each
            multiplies that of the settings.
        at, becomes: when it changes unless it is used before, and into what;
            None for a memory that does not.

    """
    never, use = (
        _why_never(memory),
        lengthened_by_use(memory.access_count, memory.reinforcement_count),
    )
    moment, status = next_change(memory, rules)
    at = _moment(moment)
    return {
        "worth": memory.worth,
        "never": never,
        "half_life_days": None
        if never is not None
        else round(rules.half_life_days * half_life_multiplier(memory), 6),
        "worth_factor": None if never is not None else worth_factor(memory.worth),
        "use_factor": None if never is not None else use,
        "at": at,
        "becomes": None if at is None else status.value,
    }


def _moment(epoch_s: float) -> str | None:
    """The moment as text; None where no calendar reaches it."""
    try:
        return datetime.fromtimestamp(int(epoch_s), timezone.utc).isoformat().replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        return None


def _why_never(memory: Memory) -> str | None:
    return why_never(
        memory.type, pinned=memory.pinned, in_slot=slot_of(memory) is not None, worth=memory.worth
    )


# What brings a faded memory back into use.
#
# It was shown since, as what a reader asked for.


def is_recalled(memory: Memory, now: datetime, rules: Fading) -> bool:
    """Whether a decayed memory was accessed since it decayed, and has not faded again by `now`.

    Note: a memory whose importance is under the floor from the first has faded again at once. It
    stays as it is, and is found all the same.
    """
    if (
        memory.status is not Status.DECAYED
        or memory.last_accessed_at is None
        or memory.last_accessed_at < memory.updated_at
    ):
        return False
    return due(memory.changed(status=Status.ACTIVE), now, rules) is not Status.DECAYED

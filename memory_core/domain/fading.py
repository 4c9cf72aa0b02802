"""When an idle memory fades, and when it is in use again.

The rules are pure functions of the stored memory and of a moment. A caller that asks every hour and
a caller that asks once after ten years get the same answer. Note: a long memory may be due for
decay and for compression by now. The earlier change counts, or the answer would depend on how often
it was asked for.

Half-life = half-life of the settings × factor of the memory's worth (`worth.HALF_LIFE_FACTORS`)
× factor of its use (`lengthened_by_use`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from math import inf, log2
from typing import Any

from memory_core.domain.importance import DAY_S
from memory_core.domain.memory import Memory, MemoryType, Status
from memory_core.domain.messages import is_told, was_sent_as
from memory_core.domain.statements.worth import kept_for_good, worth_factor
from memory_core.domain.truth.slots import slot_of

LEAST_IMPORTANCE = 1e-12
"""Least importance, which replaces 0, since 0 has no logarithm.

It is 40 halvings, so it is under any floor at once.
"""

NEVER = -1e9
"""A level, in halvings, that no importance goes below while there are clocks."""

USES_A_TELLING = 5
"""Uses that a repetition of a memory's statement counts."""
MOST_USES = 20
"""Uses that count at most; further uses have no effect."""
USES_THAT_DOUBLE = 10


@dataclass(frozen=True, slots=True)
class Fading:
    """The rules by which memories fade.

    A formed text, but never a text that a caller sent, is replaced by a shorter text when it is
    long, old and unimportant enough.

    Attributes:
        half_life_days: Idle days that halve importance.
        floor: Importance under which a memory is `decayed`.
        long_characters: Least length of a long text.
        long_days: Age at which a long text may become short.
        long_floor: Importance under which a long text becomes short.

    """

    half_life_days: float = 30.0
    floor: float = 0.05
    long_characters: int = 2000
    long_days: float = 90.0
    long_floor: float = 0.2

    @property
    def half_life_s(self) -> float:
        """The half-life in seconds of a memory of no special worth that was never used."""
        return self.half_life_days * DAY_S

    def bounds(self, now: datetime) -> dict[str, float]:
        """The numbers that a store compares by, each named like a parameter of its query.

        Times are in epoch seconds, levels in `halvings`.
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
        """The moment after which importance is under `level`.

        The formula is: idle since + half-life · factor · log2(base / level).

        Args:
            idle_since_s: Epoch seconds of the last access, else of the creation.
            importance_base: The importance at that moment.
            level: The importance to go below; at 0 or less it never does.
            factor: The factor of the half-life.

        Returns:
            Epoch seconds; inf means never.

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
    """The binary logarithm of an importance.

    It is minus the number of times that 1 must be halved to give the importance.
    """
    return log2(max(importance_base, LEAST_IMPORTANCE))


def fades(kind: str, *, pinned: bool, in_slot: bool, worth: str | None = None) -> bool:
    """Whether time alone may make a memory of this type `decayed`.

    Args:
        kind: The memory's type.
        pinned: Whether it is pinned.
        in_slot: Whether it fills a slot.
        worth: Reason to keep it, or None.

    """
    return why_never(kind, pinned=pinned, in_slot=in_slot, worth=worth) is None


def why_never(kind: str, *, pinned: bool, in_slot: bool, worth: str | None = None) -> str | None:
    """Why a memory never fades; None if it fades.

    The reasons are: pinned, a procedure, the truth of a slot, or a worth that is kept for good.

    Args:
        kind: The memory's type.
        pinned: Whether it is pinned.
        in_slot: Whether it fills a slot.
        worth: Reason to keep it, or None.

    """
    if pinned:
        return "pinned"
    if kind == MemoryType.PROCEDURAL:
        return "procedure"
    if kind == MemoryType.SEMANTIC and in_slot:
        return "slot"
    return worth if kept_for_good(worth) else None


def lengthened_by_use(access_count: int, reinforcement_count: int) -> float:
    """The factor by which use multiplies the half-life, from 1 to 3.

    Each access adds a tenth, each repetition of the statement a half.

    Args:
        access_count: How often the memory was shown.
        reinforcement_count: How often it was said again.

    """
    return (
        1.0 + min(access_count + USES_A_TELLING * reinforcement_count, MOST_USES) / USES_THAT_DOUBLE
    )


def has_faded(memory: Memory, now: datetime, rules: Fading) -> bool:
    """Whether a memory counts as faded at a moment.

    It does whether or not a run has marked it as `decayed` since.

    Args:
        memory: The memory.
        now: The moment.
        rules: The rules of fading.

    """
    if memory.status is Status.DECAYED:
        return True
    if memory.status is not Status.ACTIVE or _why_never(memory) is not None:
        return False
    since, base = idle_since(memory).timestamp(), memory.importance_base
    return rules.passed_at(since, base, rules.floor, half_life_multiplier(memory)) < now.timestamp()


def half_life_multiplier(memory: Memory) -> float:
    """The factor of worth and use by which this memory's half-life is multiplied."""
    return worth_factor(memory.worth) * lengthened_by_use(
        memory.access_count, memory.reinforcement_count
    )


def shrinkable_length(body: Mapping[str, Any]) -> int:
    """Characters of a memory's text that may be replaced by a shorter text.

    It is 0 for a text that a caller sent, which stays word for word.
    """
    is_said = was_sent_as(body["id"], body.get("cell_id"), body.get("consolidation_run"))
    return 0 if is_said else len(body["content"])


def due(memory: Memory, now: datetime, rules: Fading) -> Status | None:
    """The status that an active memory has to take by now, or None.

    Args:
        memory: The memory.
        now: The moment.
        rules: The rules of fading.

    Returns:
        `decayed`, `compressed` or None.

    """
    moment, status = next_change(memory, rules)
    return status if now.timestamp() > moment else None


def next_change(memory: Memory, rules: Fading) -> tuple[float, Status]:
    """When and how time alone changes a memory next.

    Args:
        memory: The memory.
        rules: The rules of fading.

    Returns:
        Epoch seconds, where inf means never, and the status then: `decayed` or `compressed`.

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
    """How a memory fades, and why.

    Args:
        memory: The memory.
        rules: The rules of fading.

    Returns:
        worth: The reason to keep it; None for no special reason.
        never: Why it does not fade (`why_never`), else None.
        half_life_days: The half-life with the factors of worth and use.
        worth_factor: Factor of its worth.
        use_factor: Factor of its use.
        at: When it changes unless it is used before; None for a memory that does not change.
        becomes: The status that it takes then, or None.

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
    """The moment as text; None for a moment outside the calendar."""
    try:
        return datetime.fromtimestamp(int(epoch_s), timezone.utc).isoformat().replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        return None


def _why_never(memory: Memory) -> str | None:
    return why_never(
        memory.type, pinned=memory.pinned, in_slot=slot_of(memory) is not None, worth=memory.worth
    )


# Bring a faded memory back into use, after it was shown as a result.


def is_recalled(memory: Memory, now: datetime, rules: Fading) -> bool:
    """Whether a decayed memory was accessed since and has not faded again by `now`.

    Note: a memory whose importance is under the floor from the first has faded again at once. It
    stays as it is, and is found all the same.

    Args:
        memory: The memory.
        now: The moment.
        rules: The rules of fading.

    """
    if (
        memory.status is not Status.DECAYED
        or memory.last_accessed_at is None
        or memory.last_accessed_at < memory.updated_at
    ):
        return False
    return due(memory.changed(status=Status.ACTIVE), now, rules) is not Status.DECAYED

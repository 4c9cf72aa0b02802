"""Memories and clocks for tests: plain values, nothing clever."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import numpy as np

from memory_core.domain.memory import Lexical, Memory, MemoryType, Vector
from memory_core.domain.scope import Owner

NOON = datetime(2026, 5, 8, 12, 0, tzinfo=timezone.utc)
ANA = Owner("shop", "ana")
BEN = Owner("shop", "ben")


class MovableClock:
    """A clock that stays where it is until it is moved."""

    def __init__(self, now: datetime = NOON) -> None:
        self._now = now

    def now(self) -> datetime:
        return self._now

    def advance(self, **how_far: float) -> None:
        self._now += timedelta(**how_far)


def unit_vector(seed: int, dimensions: int = 8) -> Vector:
    vector = np.random.default_rng(seed).standard_normal(dimensions).astype(np.float32)
    return vector / np.linalg.norm(vector)


def turn(
    number: int, *, owner: Owner = ANA, session: str | None = "s1", epoch: str = "e1", **fields: Any
) -> Memory:
    """The memory `mem_<number>`, saved by the commit that brought the head to that number."""
    at = NOON + timedelta(minutes=number)
    values: dict[str, Any] = {
        "id": f"mem_{number}", "app_id": owner.app_id, "user_id": owner.user_id,
        "session_id": session, "type": MemoryType.EPISODIC,
        "content": f"turn {number}: кофе and 日本語",
        "lexical": Lexical(own={"turn": 1, str(number): 1}, turn=number),
        "embedding": unit_vector(number), "created_at": at, "updated_at": at, "event_timestamp": at,
        "valid_from": at, "epoch": epoch, "sequence": number, "revision": number,
    }  # fmt: skip
    return Memory(**{**values, **fields})

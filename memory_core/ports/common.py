"""What every part of the world has in common: time, fresh ids, health, and who is told what something costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol


class Clock(Protocol):
    """Where "now" comes from; tests move it."""

    def now(self) -> datetime:
        """The present moment, aware UTC."""


class IdSource(Protocol):
    """Where fresh ids come from. Whatever is derived gets a deterministic id instead."""

    def new(self, prefix: str) -> str:
        """A new id `<prefix>_<random>`."""


class Pooled(Protocol):
    """Something that holds connections or threads."""

    def pool(self) -> tuple[int, int]:
        """How many it may hold, and how many of these are in use now."""


@dataclass(frozen=True, slots=True)
class Health:
    """What a readiness check saw. `detail` says what is wrong, in words for an operator."""

    adapter: str
    status: Literal["ok", "degraded", "unavailable", "off"]
    latency_ms: float | None = None
    last_ok: datetime | None = None
    detail: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


Charged = Callable[[float], None]
"""Told what each answer of a store that charges has cost, in request units: refusals and each page of a query by itself."""


class Meter(Protocol):
    """Where agents say what they took and how it ended."""

    def tokens(self, app_id: str, model: str, prompt: int, completion: int) -> None:
        """Tokens that one call of a model took, for whom."""

    def agent_call(self, call: str, outcome: str) -> None:
        """How one call ended: ok, repaired, failed, unavailable or over_budget."""

    def answer_cut(self, call: str, field: str) -> None:
        """A field of what rules answered was cut to its schema; `answer` where a plainer rule answered all of it."""

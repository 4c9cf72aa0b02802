"""Whether the product can work: what each dependency says of itself, and what that means together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memory_core.ports import Health


def readiness(seen: Mapping[str, Health]) -> dict[str, Any]:
    """`{"status": ready · degraded · unavailable, "dependencies": {…}}`: without the long term nothing works, without others less."""
    status = "ready"
    if any(health.status in ("degraded", "unavailable") for health in seen.values()):
        status = "degraded"
    if seen["long_term"].status == "unavailable":
        status = "unavailable"
    return {"status": status, "dependencies": {name: _shown(health) for name, health in seen.items()}}


def _shown(health: Health) -> Mapping[str, Any]:
    return {
        "adapter": health.adapter,
        "status": health.status,
        "latency_ms": None if health.latency_ms is None else round(health.latency_ms, 3),
        "last_ok": None if health.last_ok is None else health.last_ok.isoformat(),
        "detail": health.detail,
        **({"facts": dict(health.facts)} if health.facts else {}),
    }

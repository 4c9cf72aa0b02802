"""Readiness: what of this process's dependencies answers now, and what that means for its callers.

Whoever balances load asks every few seconds, so a dependency that hangs is called unavailable soon, whatever deadlines its own calls have.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Protocol

from memory_core.ports import Health

WAIT_S = 3.0


class Checked(Protocol):
    """Anything that says whether it answers."""

    async def check(self) -> Health:
        """See the ports."""


async def readiness(dependencies: Mapping[str, tuple[str, Checked]], wait_s: float = WAIT_S) -> dict[str, Any]:
    """`{"status": ready · degraded · unavailable, "dependencies": {…}}`: without the long term nothing works, without others less.

    dependencies: by name, the adapter's name and the adapter. All are asked at once, each for `wait_s` seconds at most.
    """
    checks = await asyncio.gather(*(_checked(adapter, one, wait_s) for adapter, one in dependencies.values()))
    seen = dict(zip(dependencies, checks, strict=True))
    status = "ready"
    if any(health.status in ("degraded", "unavailable") for health in checks):
        status = "degraded"
    if seen["long_term"].status == "unavailable":
        status = "unavailable"
    return {"status": status, "dependencies": {name: _shown(health) for name, health in seen.items()}}


async def _checked(adapter: str, dependency: Checked, wait_s: float) -> Health:
    try:
        async with asyncio.timeout(wait_s):
            return await dependency.check()
    except TimeoutError:
        return Health(adapter, "unavailable", detail=f"did not answer within {wait_s:g} s")


def _shown(health: Health) -> Mapping[str, Any]:
    return {
        "adapter": health.adapter,
        "status": health.status,
        "latency_ms": None if health.latency_ms is None else round(health.latency_ms, 3),
        "last_ok": None if health.last_ok is None else health.last_ok.isoformat(),
        "detail": health.detail,
        **({"facts": dict(health.facts)} if health.facts else {}),
    }

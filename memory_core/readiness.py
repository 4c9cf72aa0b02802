"""Readiness: what of this process's dependencies answers now, and what that means for its callers.

A load balancer asks every few seconds, so a dependency that hangs is called unavailable soon, whatever deadlines its own calls have.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Any, Protocol

from memory_core.domain.described import described
from memory_core.ports import Clock, Health

log = logging.getLogger(__name__)
WAIT_S = 3.0
FRESH_S = 1.0


class Checked(Protocol):
    """Anything that says whether it answers."""

    async def check(self) -> Health:
        """See the ports."""


class SharedReadiness:
    """One run of the checks for all callers that ask at once, and for those of the second after it.

    Anybody may ask, without a key, so what the checks cost must not depend on how many do.
    """

    def __init__(self, check: Callable[[], Awaitable[dict[str, Any]]], clock: Clock) -> None:
        self._check, self._clock = check, clock
        self._run: asyncio.Task[dict[str, Any]] | None = None
        self._checked_at: datetime | None = None

    async def latest(self) -> dict[str, Any]:
        """What the last run answered, with the time of its end as `checked_at`. Raises what the checks raise."""
        if self._run is None or (self._run.done() and not self._is_fresh()):
            self._run, self._checked_at = asyncio.ensure_future(self._checked()), None
        # shield: a caller that goes away must not end a run that others wait for.
        return await asyncio.shield(self._run)

    async def _checked(self) -> dict[str, Any]:
        state = await self._check()
        self._checked_at = self._clock.now()
        return {**state, "checked_at": self._checked_at}

    def _is_fresh(self) -> bool:
        """Whether the last run succeeded, a moment ago. One that lies in the future was seen by a clock that has been set back."""
        return self._checked_at is not None and 0 <= (self._clock.now() - self._checked_at).total_seconds() < FRESH_S


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
    except Exception as error:
        log.exception("the check of %s failed", adapter)
        return Health(adapter, "unavailable", detail=described(error))


def _shown(health: Health) -> Mapping[str, Any]:
    return {
        "adapter": health.adapter,
        "status": health.status,
        "latency_ms": None if health.latency_ms is None else round(health.latency_ms, 3),
        "last_ok": None if health.last_ok is None else health.last_ok.isoformat(),
        "detail": health.detail,
        **({"facts": dict(health.facts)} if health.facts else {}),
    }

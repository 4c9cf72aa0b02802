"""The end of `bench.chaos`: lets all work end, and reads everything back."""

from __future__ import annotations

import asyncio
import time
from datetime import datetime, timedelta, timezone
from typing import Any, Self

import httpx

from bench.chaos_check import WAITING, Stored, check_user
from bench.chaos_clients import MEMORIES, TRY_AGAIN, USERS, Notebook
from bench.chaos_servers import System
from memory_core.adapters.system import SystemClock
from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.errors import Unavailable
from tests.tasks import Hand

READY_S = 120.0
LOOK_S = 10.0
TIMER_S = 20.0
"""How often the hourly timer is fired while work is let end."""
HOURS = (1, 2, 4, 8)
"""How many hours later the sweep looks again; a task that was sent again n times is overdue after 5
· 2ⁿ minutes.
"""
QUEUES = ("formation", "consolidation", "webhooks")


class Checker:
    """Reads everything back, through a host that runs undisturbed."""

    def __init__(self, system: System, notebook: Notebook) -> None:
        self._system, self._notebook = system, notebook
        self._users = [f"user-{number}" for number in range(USERS)]
        self._http = httpx.AsyncClient(base_url=system.hosts[0].url, timeout=90, trust_env=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._http.aclose()

    async def wait_until_ready(self) -> None:
        """Wait for the host. Raises RuntimeError when it does not come back."""
        deadline = time.monotonic() + READY_S
        while time.monotonic() < deadline:
            try:
                if (await self._http.get("/health/ready")).json()["status"] == "ready":
                    return
            except httpx.TransportError:
                pass
            await asyncio.sleep(0.5)
        raise RuntimeError(
            f"the host is not ready {READY_S:.0f} s after the last disturbance: "
            f"{self._system.hosts[0].log}"
        )

    async def settle(self, seconds: float) -> list[dict[str, Any]]:
        """Wait until no task waits, firing the hourly timer meanwhile; those that still do."""
        deadline, fire_at = time.monotonic() + seconds, 0.0
        while (waiting := await self._waiting()) and time.monotonic() < deadline:
            if time.monotonic() >= fire_at:
                await self._http.post("/admin/functions/timer_hourly", json={})
                fire_at = time.monotonic() + TIMER_S
            await asyncio.sleep(LOOK_S)
        return waiting

    async def _waiting(self) -> list[dict[str, Any]]:
        return [
            task
            for user in self._users
            for status in WAITING
            for task in await self._all("tasks", user, status=status)
        ]

    async def check(self) -> None:
        """Accuse of everything that is not as it was acknowledged."""
        for user in self._users:
            check_user(self._notebook, user, await self._stored(user))

    async def _stored(self, user: str) -> Stored:
        """All that a user has, read while nothing works on it: the timer that begins runs of
        consolidation does not wait for a check.
        """
        deadline = time.monotonic() + READY_S
        while True:
            memories = await self._all("memories", user, status="all", view="full")
            versions = {
                memory["id"]: await self._versions(user, memory["id"])
                for memory in memories
                if memory["version"] > 1 and memory["key"]
            }
            tasks = await self._all("tasks", user)
            if time.monotonic() > deadline or not any(task["status"] in WAITING for task in tasks):
                return Stored(memories, versions, tasks)
            await asyncio.sleep(LOOK_S)

    async def _versions(self, user: str, memory_id: str) -> list[dict[str, Any]]:
        page = await self._get(f"{MEMORIES}/{memory_id}/versions", {"user_id": user})
        versions: list[dict[str, Any]] = page["versions"]
        return versions

    async def _all(self, kind: str, user: str, **query: str) -> list[dict[str, Any]]:
        """Every page of a list."""
        items: list[dict[str, Any]] = []
        asked = {"user_id": user, "limit": "100", **query}
        while True:
            page = await self._get(f"/api/v1/{kind}", asked)
            items += page[kind]
            if page["next_cursor"] is None:
                return items
            asked["cursor"] = page["next_cursor"]

    async def _get(self, path: str, query: dict[str, str]) -> dict[str, Any]:
        """One answer, asked for again while it is a 503. Raises httpx.HTTPError for any other that
        is not 200, or when that goes on.
        """
        deadline = time.monotonic() + READY_S
        while True:
            response = await self._http.get(path, params=query)
            if response.status_code not in TRY_AGAIN or time.monotonic() > deadline:
                break
            await asyncio.sleep(0.5)
        response.raise_for_status()
        body: dict[str, Any] = response.json()
        return body


class Later(SystemClock):
    """A clock that is some hours ahead."""

    def __init__(self) -> None:
        self.hours = 0

    def now(self) -> datetime:
        """That moment, aware UTC."""
        return datetime.now(timezone.utc) + timedelta(hours=self.hours)


async def work_hours_later(system: System) -> None:
    """Do what the hourly timer and the queues do in the next hours, in this process,
    with the hosts stopped.

    The sweep sends a task again that is a minute late, so this is the promise "formed an hour
    later at most" without the hour.
    """
    clock = Later()
    async with MemoryCore(Settings.from_env(system.environment()), clock=clock) as core:
        await core.warm_up()
        for hours in HOURS:
            clock.hours = hours
            try:
                swept = await core.sweep()
                for queue in (*QUEUES, *(f"{name}-poison" for name in QUEUES)):
                    await Hand(core, queue).work_all()
            except Unavailable as error:
                print(f"{hours} h later: {error.detail}", flush=True)
                continue
            print(
                f"{hours} h later: {swept.users} users with waiting work, {swept.due} tasks "
                f"overdue, {swept.sent} sent again",
                flush=True,
            )
            if not swept.users:
                return

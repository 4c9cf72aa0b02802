"""What `bench.chaos` does when the time is over: it lets all work end, and compares what is there with what was acknowledged."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Any, Self

import httpx

from bench.chaos_clients import MEMORIES, USERS, Notebook, Save
from bench.chaos_servers import System
from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.errors import Unavailable
from tests.tasks import Hand

READY_S = 120.0
LOOK_S = 3.0
TIMER_S = 20.0
"""How often the hourly timer is fired while work is let end."""
HOURS = (1, 2, 4, 8)
"""How many hours later the sweep looks again; a task that was sent again n times is overdue after 5 · 2ⁿ minutes."""
QUEUES = ("formation", "consolidation", "webhooks")
WAITING = ("accepted", "running")
GIVEN_UP = ("failed", "poisoned", "cancelled")


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
        raise RuntimeError(f"the host is not ready {READY_S:.0f} s after the last disturbance: {self._system.hosts[0].log}")

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
        return [task for user in self._users for status in WAITING for task in await self._all("tasks", user, status=status)]

    async def check(self) -> None:
        """Accuse of everything that is not as it was acknowledged."""
        saves, told = defaultdict(list), defaultdict(list)
        for mark, save in self._notebook.saves.items():
            saves[save.user].append((mark, save))
        for conversation in self._notebook.told:
            told[conversation.user].append(conversation)
        for user in self._users:
            memories = await self._all("memories", user, status="all")
            tasks = await self._all("tasks", user)
            self._check_saves(user, memories, [save for _, save in saves[user] if save.slot is None])
            await self._check_slots(user, memories, [(mark, save) for mark, save in saves[user] if save.slot is not None])
            self._check_tasks(user, tasks)
            self._check_conversations(user, memories, {task["task_id"]: task for task in tasks}, told[user])

    def _check_saves(self, user: str, memories: list[dict[str, Any]], saves: list[Save]) -> None:
        by_id = {memory["id"]: memory for memory in memories}
        copies = Counter(memory["content"] for memory in memories if memory["status"] != "deleted")
        for save in saves:
            memory, name = by_id.get(save.memory_id), f"{user} {save.memory_id}"
            if memory is None:
                self._notebook.accuse("lost", f"{name}: not there")
                continue
            if save.deleted and memory["status"] != "deleted":
                self._notebook.accuse("back", f"{name}: deleted, and {memory['status']} again")
            elif not save.deleted and not save.unclear and memory["status"] == "deleted":
                self._notebook.accuse("lost", f"{name}: deleted ({memory['status_reason']}), though nobody did that")
            if memory["content"] not in save.contents:
                self._notebook.accuse("lost", f"{name}: says {memory['content']!r} and should say {sorted(save.contents)}")
            count = copies[memory["content"]]
            if save.once and count > 1:
                self._notebook.accuse("doubled", f"{name}: {count} memories say {memory['content']!r}")
            if save.deleted and save.once and count:
                self._notebook.accuse("back", f"{name}: deleted, and {count} others say the same")

    async def _check_slots(self, user: str, memories: list[dict[str, Any]], saves: list[tuple[str, Save]]) -> None:
        """Of each slot and key: all that was told is there, one holds, and that is what was told last."""
        by_slot = defaultdict(list)
        for memory in memories:
            by_slot[memory["key"] or memory["subject"]].append(memory)
        told = defaultdict(list)
        for mark, save in saves:
            told[str(save.slot)].append((str(save.event), mark, save))
        for slot, sayings in told.items():
            said = [memory["content"] for memory in by_slot[slot]]
            for memory in by_slot[slot]:
                if memory["version"] > 1:
                    said += [version["content"] for version in await self._versions(user, memory["id"])]
            for _, mark, save in sayings:
                count = len({text for text in said if f"Mark {mark}." in text})
                if not count:
                    self._notebook.accuse("lost", f"{user} {slot} {save.memory_id}: nothing says {mark}")
            holding = [memory["content"] for memory in by_slot[slot] if memory["status"] == "active"]
            last = max(sayings)[1]
            if len(holding) > 1:
                self._notebook.accuse("doubled", f"{user} {slot}: {len(holding)} hold: {holding}")
            elif f"{user} {slot}" not in self._notebook.unclear and not any(f"Mark {last}." in text for text in holding):
                self._notebook.accuse("lost", f"{user} {slot}: {last} was told last and does not hold, but {holding}")

    async def _versions(self, user: str, memory_id: str) -> list[dict[str, Any]]:
        response = await self._http.get(f"{MEMORIES}/{memory_id}/versions", params={"user_id": user})
        response.raise_for_status()
        found: list[dict[str, Any]] = response.json()["versions"]
        return found

    def _check_tasks(self, user: str, tasks: list[dict[str, Any]]) -> None:
        for task in tasks:
            self._notebook.counts[f"tasks {task['kind']}"] += 1
            name = (
                f"{user} {task['kind']} {task['task_id']}: {task['status']} at {task['step']}, {task['attempts']} attempts, {task['error']}"
            )
            if task["status"] in WAITING:
                self._notebook.accuse("stuck", name)
            elif task["status"] in GIVEN_UP:
                self._notebook.accuse("poisoned", name)

    def _check_conversations(self, user: str, memories: list[dict[str, Any]], tasks: Mapping[str, Any], told: list[Any]) -> None:
        by_id = {memory["id"]: memory for memory in memories}
        cells = [memory for memory in memories if memory["category"] == "cell" and memory["status"] != "deleted"]
        words = Counter(word for cell in cells for word in str(cell["episode"]).replace(".", " ").split() if word.startswith("mark"))
        for conversation in told:
            task, name = tasks.get(conversation.task_id), f"{user} {conversation.task_id}"
            if task is None:
                self._notebook.accuse("lost", f"{name}: the accepted task is not there")
                continue
            if task["status"] != "succeeded":
                continue  # accused already
            for cell in task["result"]["cells"]:
                for memory_id in cell["memory_ids"]:
                    if memory_id not in by_id:
                        self._notebook.accuse("lost", f"{name}: {memory_id}, which it made, is not there")
            for memory_id in conversation.deleted_cells:
                if by_id[memory_id]["status"] != "deleted":
                    self._notebook.accuse("back", f"{name}: cell {memory_id} was deleted, and is {by_id[memory_id]['status']} again")
            if not conversation.unclear:
                self._check_marks(name, conversation, words)

    def _check_marks(self, name: str, conversation: Any, words: Counter[str]) -> None:
        """Each message is in one cell; in none once the cells were deleted."""
        for mark in conversation.marks:
            count = words[mark]
            if conversation.deleted_cells and count:
                self._notebook.accuse("back", f"{name}: {mark} is in {count} cells, and its own was deleted")
            elif not conversation.deleted_cells and count != 1:
                self._notebook.accuse("doubled" if count else "lost", f"{name}: {mark} is in {count} cells")

    async def _all(self, what: str, user: str, **query: str) -> list[dict[str, Any]]:
        """Every page of a list."""
        found: list[dict[str, Any]] = []
        asked = {"user_id": user, "limit": "100", **query}
        while True:
            response = await self._http.get(f"/api/v1/{what}", params=asked)
            response.raise_for_status()
            page = response.json()
            found += page[what]
            if page["next_cursor"] is None:
                return found
            asked["cursor"] = page["next_cursor"]


class Later:
    """A clock that is some hours ahead."""

    def __init__(self) -> None:
        self.hours = 0

    def now(self) -> datetime:
        """That moment, aware UTC."""
        return datetime.now(timezone.utc) + timedelta(hours=self.hours)


async def work_hours_later(system: System) -> None:
    """Do what the hourly timer and the queues do in the next hours, in this process, with the hosts stopped.

    The sweep sends a task again that is five minutes late, so this is the promise "formed an hour later at most" without the hour.
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
            print(f"{hours} h later: {swept.users} users with waiting work, {swept.due} tasks overdue, {swept.sent} sent again", flush=True)
            if not swept.users:
                return

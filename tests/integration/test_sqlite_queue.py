"""The embedded queue as a file: killed processes, several at once, what expires,
and files that are not its own.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from memory_core.adapters.sqlite.queue import SqliteQueue
from memory_core.adapters.system import SystemClock
from memory_core.domain.errors import Unavailable
from tests import fork_server
from tests.builders import StillClock
from tests.world import World

ROOT = Path(__file__).parents[2]
HOUR = timedelta(hours=1)
DAY_S = 86_400


@pytest.fixture
def clock() -> StillClock:
    return StillClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "queue.db"


@pytest.fixture
async def queue(path: Path, clock: StillClock) -> AsyncIterator[SqliteQueue]:
    made = SqliteQueue(path, clock=clock, synchronous="normal")
    await made.open()
    yield made
    await made.close()


def child(action: str, path: Path, name: str) -> subprocess.Popen[str]:
    command = fork_server.command("tests.integration.queue_child", action, str(path), name)
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


async def drained(queue: SqliteQueue) -> list[str]:
    bodies: list[str] = []
    while got := await queue.receive("formation", 32, HOUR):
        bodies += [delivery.body for delivery in got]
    return bodies


async def test_every_message_of_a_killed_sender_that_was_acknowledged_is_there(path: Path) -> None:
    acknowledged: set[str] = set()
    for name in ("first", "second"):
        sender = child("send", path, name)
        assert sender.stdout is not None
        acknowledged |= {sender.stdout.readline().strip() for _ in range(200)}
        sender.kill()
        acknowledged |= {line.strip() for line in sender.stdout if line.endswith("\n")}
        sender.wait()
        sender.stdout.close()
    reader = SqliteQueue(path, clock=SystemClock(), synchronous="normal")
    await reader.open()
    bodies = await drained(reader)
    await reader.close()
    assert acknowledged <= set(bodies)
    assert len(bodies) == len(set(bodies))


async def test_processes_that_drain_one_queue_share_it(path: Path) -> None:
    sender = SqliteQueue(path, clock=SystemClock(), synchronous="normal")
    await sender.open()
    for number in range(300):
        await sender.send("formation", f"m{number}")
    await sender.close()
    drains = [child("drain", path, name) for name in ("a", "b", "c")]
    taken = [
        line.strip()
        for process in drains
        for line in process.communicate(timeout=60)[0].splitlines()
    ]
    assert sorted(taken) == sorted(f"m{number}" for number in range(300))


async def test_a_message_nobody_came_for_is_gone_after_a_week(
    queue: SqliteQueue, clock: StillClock
) -> None:
    await queue.send("formation", "a")
    clock.forward(7 * DAY_S - 1)
    assert await queue.length("formation") == 1
    clock.forward(1)
    assert await queue.length("formation") == 0
    assert await queue.receive("formation", 1, HOUR) == []


async def test_a_message_expires_while_it_is_held(queue: SqliteQueue, clock: StillClock) -> None:
    await queue.send("formation", "a")
    clock.forward(7 * DAY_S - 60)
    (delivery,) = await queue.receive("formation", 1, HOUR)
    clock.forward(60)
    assert await queue.extend("formation", delivery, HOUR) is None
    assert not await queue.complete("formation", delivery)


async def test_a_message_delayed_by_a_week_is_not_expired_when_it_comes(
    queue: SqliteQueue, clock: StillClock
) -> None:
    await queue.send("formation", "a", delay=timedelta(days=7))
    clock.forward(7 * DAY_S)
    assert await drained(queue) == ["a"]


async def test_what_was_sent_while_the_clock_was_ahead_comes_once_it_is_right_again(
    queue: SqliteQueue, clock: StillClock
) -> None:
    clock.forward(DAY_S)
    await queue.send("formation", "at once")
    await queue.send("formation", "in a minute", delay=timedelta(minutes=1))
    clock.forward(-DAY_S)
    assert await drained(queue) == ["at once"]
    clock.forward(60)
    assert await drained(queue) == ["in a minute"]
    assert await drained(queue) == []


async def test_what_was_received_while_the_clock_was_ahead_is_hidden_no_longer_than_was_asked(
    queue: SqliteQueue, clock: StillClock
) -> None:
    await queue.send("formation", "received")
    await queue.send("formation", "extended")
    clock.forward(DAY_S)
    received, extended = await queue.receive("formation", 2, HOUR)
    assert (received.body, extended.body) == ("received", "extended")
    assert await queue.extend("formation", extended, HOUR * 2)
    clock.forward(-DAY_S)
    assert await drained(queue) == []
    clock.forward(HOUR.total_seconds())
    (again,) = await queue.receive("formation", 2, HOUR * 2)
    assert again.body == "received"
    clock.forward(HOUR.total_seconds())
    assert await drained(queue) == ["extended"]


async def test_a_file_of_an_earlier_version_is_read_on(path: Path, clock: StillClock) -> None:
    earlier = SqliteQueue(path, clock=clock, synchronous="normal")
    await earlier.open()
    await earlier.send("formation", "a")
    await earlier.close()
    with sqlite3.connect(path) as file:
        file.execute("ALTER TABLE messages DROP COLUMN hidden_at")
    file.close()
    queue = SqliteQueue(path, clock=clock, synchronous="normal")
    await queue.open()
    assert await drained(queue) == ["a"]
    await queue.close()


async def test_what_expired_leaves_the_file(
    queue: SqliteQueue, path: Path, clock: StillClock
) -> None:
    await queue.send("webhooks", "old")
    clock.forward(7 * DAY_S)
    await queue.send("formation", "new")
    assert await drained(queue) == ["new"]
    with sqlite3.connect(path) as file:
        assert file.execute("SELECT body FROM messages").fetchall() == [("new",)]
    file.close()


async def test_what_a_receiver_that_gave_up_was_about_to_get_comes_back(
    queue: SqliteQueue, clock: StillClock
) -> None:
    await queue.send("formation", "a")
    receiving = asyncio.create_task(queue.receive("formation", 1, HOUR))
    await asyncio.sleep(0)
    receiving.cancel()
    await asyncio.gather(receiving, return_exceptions=True)
    clock.forward(HOUR.total_seconds())
    assert await drained(queue) == ["a"]


async def test_the_stores_own_file_is_not_taken_for_a_queue(
    world: World, clock: StillClock
) -> None:
    await world.core()
    queue = SqliteQueue(world.folder / "memory.db", clock=clock)
    with pytest.raises(Unavailable, match="another program"):
        await queue.open()
    await queue.close()


@pytest.fixture
def damaged(path: Path) -> Path:
    path.parent.mkdir()
    path.write_bytes(b"not a database" * 1000)
    return path


async def test_a_damaged_file_says_so_and_works_once_it_is_gone(
    damaged: Path, clock: StillClock
) -> None:
    queue = SqliteQueue(damaged, clock=clock)
    with pytest.raises(Unavailable, match="not a database") as refused:
        await queue.open()
    assert refused.value.dependency == "queue"
    os.remove(damaged)
    await queue.send("formation", "a")
    assert await drained(queue) == ["a"]
    assert (await queue.check()).status == "ok"
    await queue.close()


async def test_a_queue_that_is_not_open_says_so(path: Path, clock: StillClock) -> None:
    queue = SqliteQueue(path, clock=clock)
    with pytest.raises(Unavailable, match="not open"):
        await queue.send("formation", "a")
    await queue.close()


async def test_memories_are_kept_without_a_queue_and_readiness_says_so(world: World) -> None:
    (world.folder / "queue.db").mkdir()
    core = await world.core()
    ready = await core.ready()
    assert ready["status"] == "degraded"
    assert ready["dependencies"]["queue"]["status"] == "unavailable"
    assert ready["dependencies"]["long_term"]["status"] == "ok"

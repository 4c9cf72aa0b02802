"""`python -m bench.archive`: how fast old memories move to the archive, in how much memory, and
what that does to finding the others.

1,000 users with 100 memories each, a fifth of them eleven years old; the `hash` embedder, SQLite
and a folder. The run over all users is a process of its own: its memory is its own, and it is
killed in the middle and started again.

Note: the retrieves of before and after are not of two runs. The data are copied before the archive
runs, and each query is asked of both in turn, so that other work of the machine slows both alike.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from itertools import islice
from pathlib import Path
from typing import Any

from bench.library import owner
from bench.tables import percentile
from bench.texts import loaded, queries
from memory_core.adapters.system import SystemClock
from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.requests.maintenance import ArchiveInput
from memory_core.domain.requests.memories import ListInput, RetrieveInput, SaveInput
from memory_core.domain.results import Accepted

SEED = 23
OLD, NOW = datetime(2015, 3, 1, tzinfo=timezone.utc), datetime(2026, 3, 2, tzinfo=timezone.utc)
VISIBILITY = timedelta(minutes=5)
USERS_AT_ONCE = 4
ASKED = 40
"""Users whose retrieves are measured."""


@dataclass
class Moved(SystemClock):
    """A clock that the bench sets, and that goes on from there."""

    moment: datetime = NOW

    def __post_init__(self) -> None:
        self._set = time.monotonic()

    def set(self, moment: datetime) -> None:
        """It is `moment` now."""
        self.moment, self._set = moment, time.monotonic()

    def now(self) -> datetime:
        """The present moment, aware UTC."""
        return self.moment + timedelta(seconds=time.monotonic() - self._set)


@asynccontextmanager
async def opened(data: Path, clock: Moved) -> AsyncIterator[MemoryCore]:
    """A MemoryCore with the hash embedder over a folder."""
    async with MemoryCore(Settings(embedding_provider="hash", data=data), clock=clock) as core:
        await core.warm_up()
        yield core


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.archive", description="Measures the archive run over all users."
    )
    parser.add_argument("--users", type=int, default=1_000)
    parser.add_argument("--memories", type=int, default=100, help="of each user (default 100)")
    parser.add_argument(
        "--seconds",
        type=float,
        default=20.0,
        help="of retrieves, on both sides together (default 20)",
    )
    parser.add_argument("--data", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.data is not None:
        asyncio.run(_archive_all(options.data, options.users))
        return 0
    with tempfile.TemporaryDirectory(prefix="memory-core-bench-") as folder:
        _measure(Path(folder), options.users, options.memories, options.seconds)
    return 0


def _measure(folder: Path, users: int, each: int, seconds: float) -> None:
    print(
        f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, Python "
        f"{platform.python_version()}",
        flush=True,
    )
    before, after = folder / "before", folder / "after"
    asyncio.run(_load(after, users, each))
    shutil.copytree(after, before)
    old = users * (each // 5)
    first, killed_at = _run(after, users, kill_after=old // 2)
    print(f"killed after {killed_at:,} of {old:,}", flush=True)
    second, _ = _run(after, users, kill_after=None)
    for name, progress in (("until it was killed", first), ("after that", second)):
        print(
            f"{name}: {progress['archived']:,} memories in {progress['seconds']:.1f} s, "
            f"{progress['archived'] / progress['seconds']:.0f} a second; "
            f"memory idle {progress['idle_mb']:.0f} "
            f"MB, at most {progress['peak_mb'] - progress['idle_mb']:.0f} MB more",
            flush=True,
        )
    asyncio.run(_compare(before, after, users, each, seconds))


async def _load(data: Path, users: int, each: int) -> None:
    """Give each user `each` memories: the first fifth of them eleven years ago."""
    clock, began = Moved(), time.perf_counter()
    async with opened(data, clock) as core:
        for moment, of_each in ((OLD, slice(0, each // 5)), (NOW, slice(each // 5, each))):
            clock.set(moment)
            for name in _names(users):
                bodies = list(islice(loaded(SEED, name), of_each.start, of_each.stop))
                for start in range(0, len(bodies), 100):
                    await core.bulk(
                        owner(name),
                        [SaveInput.model_validate(body) for body in bodies[start : start + 100]],
                    )
    print(
        f"loaded {users * each:,} memories of {users:,} users in "
        f"{time.perf_counter() - began:.0f} s",
        flush=True,
    )


def _run(data: Path, users: int, kill_after: int | None) -> tuple[dict[str, Any], int]:
    """The archive run in a process of its own: what it told last, and how many memories it had
    moved when it was killed.
    """
    command = [sys.executable, "-m", "bench.archive", "--data", str(data), "--users", str(users)]
    progress: dict[str, Any] = {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            progress = json.loads(line)
            if kill_after is not None and progress["archived"] >= kill_after:
                process.send_signal(signal.SIGKILL)
                break
    return progress, int(progress["archived"])


async def _archive_all(data: Path, users: int) -> None:
    """The child: a run for each user, some at once; a line of numbers after each."""
    async with opened(data, Moved()) as core:
        idle, began, archived = _resident_mb(), time.perf_counter(), 0
        room = asyncio.Semaphore(USERS_AT_ONCE)

        async def one(name: str) -> None:
            nonlocal archived
            async with room:
                moved = await _archive(core, name)
                archived += moved
                numbers = {
                    "archived": archived,
                    "seconds": time.perf_counter() - began,
                    "idle_mb": idle,
                    "peak_mb": _peak_mb(),
                }
                print(json.dumps(numbers), flush=True)

        await asyncio.gather(*(one(name) for name in _names(users)))


async def _archive(core: MemoryCore, name: str) -> int:
    """One user's run, from the call to the task's end; how many memories it moved."""
    accepted = await core.archive(owner(name), ArchiveInput())
    assert isinstance(accepted, Accepted)
    while True:
        for delivery in await core.queue.receive("consolidation", 1, VISIBILITY):
            await core.work(delivery.body, "consolidation")
            await core.queue.complete("consolidation", delivery)
        task = await core.task(owner(name), accepted.task_id)
        if task.finished:
            if task.status != "succeeded":
                raise RuntimeError(f"the run of {name} ended {task.status}: {task.error}")
            return int((task.result or {})["counts"]["archived"])
        await asyncio.sleep(0.005)  # another of this process's runs has taken the message


async def _compare(before: Path, after: Path, users: int, each: int, seconds: float) -> None:
    """Retrieves of what is hot, each asked of the data from before and of those from after,
    in turn.
    """
    times: tuple[list[float], list[float]] = ([], [])
    results = [0, 0]
    async with opened(before, Moved()) as core_before, opened(after, Moved()) as core_after:
        cores = (core_before, core_after)
        left = sum([await _count(core_after, name) for name in list(_names(users))[:ASKED]])
        print(f"{left:,} hot memories of {ASKED} users are left of {ASKED * each:,}", flush=True)
        streams = [(name, queries(SEED, name, each)) for name in list(_names(users))[:ASKED]]
        for name, stream in streams:  # the first query of a user reads the memories in
            for core in cores:
                await core.retrieve(owner(name), RetrieveInput(query=next(stream)))
        ends = time.perf_counter() + seconds
        turn = 0
        while time.perf_counter() < ends:
            for name, stream in streams:
                asked = RetrieveInput(query=next(stream), limit=10, similarity_threshold=0.0)
                turn += 1
                for side in (0, 1) if turn % 2 else (1, 0):
                    begun = time.perf_counter()
                    results[side] += len((await cores[side].retrieve(owner(name), asked)).results)
                    times[side].append(time.perf_counter() - begun)
    for name, side in (("before", 0), ("after", 1)):
        middle, high = (1000 * percentile(sorted(times[side]), share) for share in (0.5, 0.95))
        print(
            f"retrieve {name}: p50 {middle:.2f} ms, p95 {high:.2f} ms, "
            f"{results[side] / len(times[side]):.1f} results, n {len(times[side]):,}"
        )


async def _count(core: MemoryCore, name: str) -> int:
    total, cursor = 0, None
    while True:
        page = await core.list(owner(name), ListInput(limit=100, cursor=cursor))
        total, cursor = total + len(page.memories), page.next_cursor
        if cursor is None:
            return total


def _names(users: int) -> Iterator[str]:
    return (f"user-{number}" for number in range(users))


def _resident_mb() -> float:
    return _status("VmRSS:")


def _peak_mb() -> float:
    return _status("VmHWM:")


def _status(name: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name))


if __name__ == "__main__":
    sys.exit(main())

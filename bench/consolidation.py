"""`python -m bench.consolidation`: how many users' hours are consolidated a second, on this
machine, and what each step takes.

One process, embedded, agents without a model, the `hash` embedder: the product is measured, not a
model. Each user has ten new memories: turns, facts and notes. An hour goes its whole way: timer,
messages, the run's task, all steps, report.

Note: users a second are of eight workers at once, as a host has them, on what this machine has
left. The CPU of a step is of one user after the other, all threads together, and is what to compare
between machines that are busy.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from bench.counted import CountedStore
from bench.tables import show
from bench.users import Hands, news, owner
from memory_core.bootstrap.adapters import Adapters
from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.errors import MemoryCoreError
from memory_core.ports.infrastructure import QueueName
from memory_core.telemetry import Telemetry

AT_ONCE = 8
TARGET = 50.0
HOURS = 2
"""The first hour of a user, and one in which scenes, a profile and truths are there already."""
QUEUE: QueueName = "consolidation"


class Bench:
    """A MemoryCore of `users` users, hour after hour."""

    def __init__(self, folder: Path, users: int) -> None:
        settings = Settings(
            embedding_provider="hash",
            llm_provider="offline",
            data=folder,
            consolidation_spread_minutes=0,
            consolidation_threshold=10_000,
        )
        self.clock, telemetry = Hands(), Telemetry()
        made = Adapters.of(settings, self.clock, telemetry.charged, telemetry)
        self.counts = Counter[str]()
        made = replace(made, long_term=CountedStore(made.long_term, self.counts))
        self.core = MemoryCore(settings, clock=self.clock, adapters=made)
        self._users = users

    async def told(self, hour: int) -> None:
        """Save an hour's news of every user."""
        for number in range(self._users):
            for result in await self.core.bulk(owner(number), list(news(number, hour))):
                if isinstance(result, MemoryCoreError):
                    raise result

    async def hour(self, at_once: int) -> tuple[float, float]:
        """The timer's tick and all that comes of it: seconds, and seconds of CPU."""
        self.clock.forward(timedelta(hours=1))
        self.counts.clear()
        begun, cpu = time.perf_counter(), time.process_time()
        await self.core.fan_out()
        await asyncio.gather(*(self._work() for _ in range(at_once)))
        return time.perf_counter() - begun, time.process_time() - cpu

    async def _work(self) -> None:
        while taken := await self.core.queue.receive(QUEUE, 1, timedelta(minutes=5)):
            await self.core.work(taken[0].body, QUEUE)
            await self.core.queue.complete(QUEUE, taken[0])

    async def ended(self) -> int:
        """How many of the users' last runs have succeeded."""
        runs = [
            (
                await self.core._services.task_services.tasks.page(
                    owner(number), None, "consolidate", None, 1
                )
            ).tasks
            for number in range(self._users)
        ]
        return sum(bool(tasks) and tasks[0].status == "succeeded" for tasks in runs)


class Watch:
    """CPU and calls of the store by part of a run. For one user after the other."""

    def __init__(self, bench: Bench) -> None:
        self._counts = bench.counts
        self.cpu: dict[str, float] = defaultdict(float)
        self.calls = Counter[str]()
        phase = bench.core._services.consolidation
        self._wrap(phase.consolidator, "_further", lambda work, step: step.name)
        self._wrap(phase.consolidator._starter, "begin_due", lambda *given: "beginning")
        self._wrap(phase.consolidator._finisher, "end", lambda *given: "end")

    @contextmanager
    def _watched(self, name: str) -> Any:
        cpu, before = time.process_time(), Counter(self._counts)
        yield
        self.cpu[name] += time.process_time() - cpu
        for call, number in (Counter(self._counts) - before).items():
            self.calls[f"{name} {call}"] += number

    def _wrap(self, of: Any, name: str, called: Callable[..., str]) -> None:
        inner: Callable[..., Awaitable[Any]] = getattr(of, name)

        async def watched(*given: Any) -> Any:
            with self._watched(called(*given)):
                return await inner(*given)

        setattr(of, name, watched)


async def measure(folder: Path, users: int) -> tuple[list[list[str]], list[list[str]], int]:
    """The hours' table, the steps' table, and how many runs did not succeed."""
    bench, hours, failed = Bench(folder, users), [], 0
    async with bench.core:
        await bench.core.warm_up()
        for hour in range(HOURS):
            await bench.told(hour)
            took, cpu = await bench.hour(AT_ONCE)
            calls = sum(number for name, number in bench.counts.items() if "." not in name)
            hours.append(
                [
                    f"hour {hour + 1}",
                    f"{users}",
                    f"{users / took:.1f}",
                    f"{1000 * cpu / users:.1f}",
                    f"{cpu / took:.2f}",
                    f"{calls / users:.1f}",
                ]
            )
            failed += users - await bench.ended()
        watch = Watch(bench)
        await bench.told(HOURS)
        _, cpu = await bench.hour(1)
        failed += users - await bench.ended()
    return hours, steps_of(watch, cpu, bench.counts, users), failed


def steps_of(watch: Watch, cpu: float, counts: Counter[str], users: int) -> list[list[str]]:
    """CPU in ms a user, reads and writes of the store a user, of each part; the rest is the
    messages, the lease and the run's news.
    """
    writes = ("commit", "keep", "fold")
    lines: list[tuple[str, float, Counter[str]]] = []
    left, calls = cpu, Counter({name: number for name, number in counts.items() if "." not in name})
    for name, spent in watch.cpu.items():
        here = Counter(
            {
                call.removeprefix(f"{name} "): number
                for call, number in watch.calls.items()
                if call.startswith(f"{name} ")
            }
        )
        here = Counter({call: number for call, number in here.items() if "." not in call})
        left, calls = left - spent, calls - here
        lines.append((name, spent, here))
    lines += [
        ("messages, lease, news", left, calls),
        ("all", cpu, sum((line[2] for line in lines), calls)),
    ]
    return [
        [
            name,
            f"{1000 * spent / users:.2f}",
            f"{sum(number for call, number in here.items() if call not in writes) / users:.1f}",
            f"{sum(here[call] for call in writes) / users:.1f}",
        ]
        for name, spent, here in lines
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; 1 when a run did not succeed."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.consolidation", description="Measures consolidation on this machine."
    )
    parser.add_argument("--users", type=int, default=200)
    options = parser.parse_args(arguments)
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.system()} "
        f"{platform.machine()}",
        flush=True,
    )
    with tempfile.TemporaryDirectory(prefix="memory-core-bench-") as folder:
        hours, steps, failed = asyncio.run(measure(Path(folder), options.users))
    show(
        "Users consolidated, 10 new memories each",
        ("", "users", "users/s", "CPU ms/user", "CPU share", "store calls/user"),
        hours,
    )
    show("One user after the other, a third hour", ("", "CPU ms/user", "reads", "writes"), steps)
    print(f"\ntarget: {TARGET:g} users a second; {failed} runs did not succeed")
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main())

"""`python -m bench.soak`: a steady load for minutes, and whether what the host holds stays level.

A host of its own with the embedded stores is asked the same mixture of calls at the same rate by
the same number of users. Each is erased after a hundred calls or so, and a new one comes in its
place: so what is kept stays level, too. Meanwhile its resident memory, open descriptors, threads,
files and waiting tasks are counted. The first third of the time is for warming up; through the rest
goes a straight line, and its slope has a bound.

Note: the bound is for the slope in an hour, and a short run has few points;
below ten minutes a wave may look like a slope.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import httpx

from bench.host import Host
from bench.tables import show
from bench.texts import text

USERS, CLIENTS, SESSIONS = 24, 4, 3
ERASED = 0.01
"""The share of calls that erase a user."""
RECEIPTS = "erasures"
"""The folder of the receipts of erasures, which stay on purpose: one file for each erased user."""
LOOK_S, PRINT_EVERY = 10.0, 6
"""Seconds between two looks, and every which of them is printed."""
WARM_UP = 1 / 3
"""The share of the time that is not judged."""
BOUNDS = {
    "memory, MB": 60.0,
    "descriptors": 20.0,
    "threads": 8.0,
    "files": 8.0,
    "waiting tasks": 60.0,
}
"""The highest slope of each in an hour."""
SLACK = {"memory, MB": 3.0, "descriptors": 3.0, "threads": 2.0, "files": 2.0, "waiting tasks": 3.0}
"""How much each may rise along the line in the time that is judged, whatever that makes in an hour:
less is noise.
"""


class Sample(NamedTuple):
    """What the host held at a moment. at: seconds since the load began. measures: by name, as in
    `BOUNDS`.
    """

    at: float
    measures: dict[str, float]


def slope(points: Sequence[tuple[float, float]]) -> float:
    """The slope of the line through these points that is nearest to them by squares;
    0 where there are less than two.
    """
    if len(points) < 2:
        return 0.0
    middle = sum(at for at, _ in points) / len(points)
    spread = sum((at - middle) ** 2 for at, _ in points)
    return sum((at - middle) * value for at, value in points) / spread


def judged(samples: Sequence[Sample], seconds: float) -> dict[str, tuple[float, bool]]:
    """Of each measure: its slope in an hour after the warming up, and whether that is too steep."""
    last = [sample for sample in samples if sample.at >= seconds * WARM_UP]
    verdicts = {}
    for name, bound in BOUNDS.items():
        per_second = slope([(sample.at, sample.measures[name]) for sample in last])
        risen = per_second * seconds * (1 - WARM_UP)
        verdicts[name] = (per_second * 3600, per_second * 3600 > bound and risen > SLACK[name])
    return verdicts


class Load:
    """Clients who call at a steady rate. wrong: answers of another status than the right one."""

    def __init__(self, url: str, rate: float, seed: int, seconds: float) -> None:
        self._http = httpx.AsyncClient(base_url=url, timeout=60, trust_env=False)
        self._rate, self._chance = rate, random.Random(f"soak {seed}")
        self._until = time.monotonic() + seconds
        self._generations = [0] * USERS
        self.counts: Counter[str] = Counter()
        self.wrong: list[str] = []

    async def run(self) -> None:
        """Call until the time is over."""
        async with self._http:
            await asyncio.gather(*(self._client(number) for number in range(CLIENTS)))

    def users(self) -> list[str]:
        """Those who are there now."""
        return [
            f"user-{number}-{generation}" for number, generation in enumerate(self._generations)
        ]

    async def _client(self, number: int) -> None:
        """Calls for every fourth user, so that no user is called for while it is erased."""
        deeds: dict[Callable[[str], Awaitable[None]], int] = {
            self._save: 30, self._converse: 10, self._append: 10, self._retrieve: 20,
            self._context: 10, self._list: 13, self._clear: 6,
        }  # fmt: skip
        due = time.monotonic()
        while (due := due + CLIENTS / self._rate) < self._until:
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            place = self._chance.randrange(number, USERS, CLIENTS)
            user = self.users()[place]
            if self._chance.random() < ERASED:
                await self._call("DELETE", f"users/{user}")
                self._generations[place] += 1
                self.counts["erased users"] += 1
                continue
            (deed,) = self._chance.choices(list(deeds), list(deeds.values()))
            await deed(user)

    def _session(self) -> str:
        return f"session-{self._chance.randrange(SESSIONS)}"

    async def _post(self, path: str, user: str, **body: object) -> None:
        await self._call("POST", path, json={"user_id": user, **body})

    async def _call(self, method: str, path: str, **options: object) -> None:
        response = await self._http.request(method, f"/api/v1/{path}", **options)  # type: ignore[arg-type]
        self.counts["requests"] += 1
        if response.status_code >= 300:
            self.wrong.append(f"{method} {path}: {response.status_code} {response.text[:300]}")

    async def _save(self, user: str) -> None:
        await self._post(
            "memories/save", user, content=text(self._chance), session_id=self._session()
        )

    async def _converse(self, user: str) -> None:
        messages = [{"role": role, "content": text(self._chance)} for role in ("user", "assistant")]
        await self._post("memories", user, session_id=self._session(), messages=messages)

    async def _append(self, user: str) -> None:
        await self._post(
            f"sessions/{self._session()}/messages",
            user,
            messages=[{"role": "user", "content": text(self._chance)}],
        )

    async def _retrieve(self, user: str) -> None:
        await self._post(
            "memories/retrieve", user, query=text(self._chance)[:60], session_id=self._session()
        )

    async def _context(self, user: str) -> None:
        await self._post("context", user, query=text(self._chance)[:60])

    async def _list(self, user: str) -> None:
        await self._call("GET", "memories", params={"user_id": user, "limit": 50})

    async def _clear(self, user: str) -> None:
        await self._post("memories/clear", user, session_id=self._session())


def held_by_process(host: Host, data: Path) -> dict[str, float]:
    """What the host's process and folder hold now."""
    process = Path(f"/proc/{host.pid}")
    return {
        "memory, MB": host.rss_mb() or 0.0,
        "descriptors": len(list((process / "fd").iterdir())),
        "threads": len(list((process / "task").iterdir())),
        "files": sum(path.is_file() and RECEIPTS not in path.parts for path in data.rglob("*")),
    }


async def waiting_tasks(client: httpx.AsyncClient, users: Sequence[str]) -> int:
    """How many tasks of these users have not ended."""
    waiting = 0
    for user in users:
        for status in ("accepted", "running"):
            page = await client.get(
                "/api/v1/tasks", params={"user_id": user, "status": status, "limit": 100}
            )
            waiting += len(page.json()["tasks"])
    return waiting


async def _watch(host: Host, data: Path, load: Load, began: float, seconds: float) -> list[Sample]:
    samples = []
    async with httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{host.port}", timeout=60, trust_env=False
    ) as client:
        while (at := time.monotonic() - began) < seconds:
            held_by_name = {
                **held_by_process(host, data),
                "waiting tasks": await waiting_tasks(client, load.users()),
            }
            samples.append(Sample(at, held_by_name))
            if len(samples) % PRINT_EVERY == 1:
                print(
                    f"{at:4.0f} s: "
                    f"{', '.join(f'{name} {value:.0f}' for name, value in held_by_name.items())}",
                    flush=True,
                )
            await asyncio.sleep(LOOK_S)
    return samples


async def _run(host: Host, data: Path, options: argparse.Namespace) -> tuple[Load, list[Sample]]:
    seconds = options.minutes * 60
    load = Load(f"http://127.0.0.1:{host.port}", options.rate, options.seed, seconds)
    _, samples = await asyncio.gather(
        load.run(), _watch(host, data, load, time.monotonic(), seconds)
    )
    return load, samples


def main(arguments: Sequence[str] | None = None) -> int:
    """Run and print; 1 when something rose too steeply or was answered wrongly."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.soak",
        description="A steady load, and whether memory, files and tasks stay level.",
    )
    parser.add_argument("--minutes", type=float, default=15.0)
    parser.add_argument("--rate", type=float, default=20.0, help="requests a second (default 20)")
    parser.add_argument(
        "--embedder",
        choices=("hash", "minilm"),
        default="hash",
        help="minilm: the local model (default hash)",
    )
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    if sys.platform != "linux":
        parser.error("only Linux tells what a process holds")
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} cores, load "
        f"{os.getloadavg()[0]:.1f}, seed {options.seed}",
        flush=True,
    )
    with tempfile.TemporaryDirectory(prefix="memory-core-soak-") as folder:
        data = Path(folder) / "data"
        host = Host(data, options.embedder)
        try:
            load, samples = asyncio.run(_run(host, data, options))
        finally:
            host.kill()
    is_level = _show_slopes(load, samples, options.minutes)
    print(
        f"{len(load.wrong)} of {load.counts['requests']:,} requests were answered wrongly",
        flush=True,
    )
    for complaint in load.wrong[:10]:
        print(complaint, flush=True)
    return int(bool(load.wrong) or not is_level)


def _show_slopes(load: Load, samples: Sequence[Sample], minutes: float) -> bool:
    """Print how each measure rose; whether all are level."""
    verdicts = judged(samples, minutes * 60)
    rows = [
        [
            name,
            *(
                f"{value:,.1f}"
                for value in (
                    samples[0].measures[name],
                    samples[-1].measures[name],
                    max(sample.measures[name] for sample in samples),
                )
            ),
            f"{hourly:+,.1f}",
            f"{BOUNDS[name]:,.0f}",
            "too steep" if is_steep else "level",
        ]
        for name, (hourly, is_steep) in verdicts.items()
    ]
    headings = ("", "at first", "at last", "at most", "slope an hour", "bound", "")
    show(
        f"Soak, {minutes:g} minutes, {load.counts['requests'] / minutes / 60:.1f} "
        "requests a second",
        headings,
        rows,
    )
    return not any(is_steep for _, is_steep in verdicts.values())


if __name__ == "__main__":
    raise SystemExit(main())

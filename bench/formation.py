"""`python -m bench.formation`: how fast conversations are taken in, and how fast they become
memories, on this machine.

One process, agents without a model, the `hash` embedder: the product is measured, not a model.
Conversations have ten messages and are of many users. First all are accepted, then all are worked
on; after that a development host is told conversations over HTTP while it forms those before, which
is the latency that a caller sees.

Note: the seconds of the second part are for the whole way of a conversation, its queue message,
boundary, agents, comparison and commits included. `cpu` is the share of them that this process had.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import os
import platform
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

from bench.host import Host
from bench.library import owner
from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.requests.memories import ConverseInput, TasksInput

MESSAGES = 10
AT_ONCE = 8
"""Messages of the queue that are worked on at once, as the host does."""
TARGET = 15.0
BEGUN = datetime(2026, 1, 5, 9, 0, tzinfo=timezone.utc)
PLACES = ("Lisbon", "Berlin", "Oslo", "Porto", "Madrid", "Turin", "Graz", "Lyon", "Ghent", "Krakow")
JOBS = ("nurse", "teacher", "carpenter", "data analyst", "pilot", "baker", "lawyer", "gardener")
LIKES = (
    "green tea",
    "hiking",
    "jazz",
    "chess",
    "swimming",
    "old maps",
    "mushroom soup",
    "photography",
    "fado",
    "black coffee",
)
TOPICS = (
    (
        "I live in {place} now, in a small flat near the river.",
        "How do you like the flat and the river?",
        "The flat is quiet, and I walk along the river to work.",
        "A walk along the river is a good start of the day.",
        "Only the rent of the flat is high, {number}00 euros.", "For {place} that rent is usual.",
    ),
    (
        "I work as a {job} and the shifts are long this month.",
        "How long are the shifts of a {job}?", "Twelve hours, and the night shifts are the worst.",
        "Sleep before the night shifts, it helps.", "My colleague Petra takes my shifts on Friday.",
        "Then rest from the shifts on Friday.",
    ),
    (
        "I love {like}, it is what I do on every free day.", "How did you come to {like}?",
        "My sister Ana showed {like} to me when I was {number}.",
        "Then {like} belongs to the family.",
        "She visits me for two weeks, so there will be more {like}.",
        "Two weeks of {like} with Ana sound lovely.",
    ),
    (
        "I don't like {other} at all, it was never for me.", "What is wrong with {other}?",
        "I have a cold, and {other} makes it worse.", "Leave {other} until the cold is over.",
        "The doctor says the cold takes a week.", "Then drink tea until the cold is gone.",
    ),
)  # fmt: skip
"""What people talk about: three exchanges of each topic. A conversation has three of one and
two of another.
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """What came out: times in ms, rates a second, and how many tasks ended as they should."""

    conversations: int
    users: int
    cells: int
    memories: int
    post_p50_ms: float
    post_p95_ms: float
    formed_per_second: float
    cpu: float
    succeeded: int
    http_post_p50_ms: float = 0.0
    http_post_p95_ms: float = 0.0


def conversations(seed: int, count: int) -> Iterator[ConverseInput]:
    """Made-up conversations, the same in every run."""
    chance = random.Random(seed)
    for number in range(count):
        like, other = chance.sample(LIKES, 2)
        words = {
            "place": chance.choice(PLACES),
            "job": chance.choice(JOBS),
            "like": like,
            "other": other,
            "number": chance.randint(2, 12),
        }
        first, second = chance.sample(TOPICS, 2)
        lines = [
            line.format(**words)
            for line in (*first, f"By the way, {second[0]}", *second[1 : MESSAGES - len(first)])
        ]
        began = BEGUN + timedelta(hours=number)
        messages = [
            {
                "role": ("user", "assistant")[place % 2],
                "content": line,
                "timestamp": (began + timedelta(minutes=place)).isoformat(),
            }
            for place, line in enumerate(lines)
        ]
        yield ConverseInput.model_validate({"session_id": f"s{number // 10}", "messages": messages})


async def measure(folder: Path, count: int, users: int) -> Measured:
    """Accept `count` conversations, then form them all."""
    async with MemoryCore(
        Settings(embedding_provider="hash", llm_provider="offline", data=folder)
    ) as core:
        await core.warm_up()
        names = [f"user{number}" for number in range(users)]
        posts = []
        for number, conversation in enumerate(conversations(7, count)):
            begun = time.perf_counter()
            await core.converse(owner(names[number % users]), conversation)
            posts.append((time.perf_counter() - begun) * 1000)
        begun, cpu = time.perf_counter(), time.process_time()
        await asyncio.gather(*(_work(core) for _ in range(AT_ONCE)))
        took, spent = time.perf_counter() - begun, time.process_time() - cpu
        succeeded, cells, memories = await _ended(core, names)
    p50, p95 = _p50_p95(sorted(posts))
    return Measured(
        conversations=count,
        users=users,
        cells=cells,
        memories=memories,
        post_p50_ms=p50,
        post_p95_ms=p95,
        formed_per_second=round(count / took, 1),
        cpu=round(spent / took, 2),
        succeeded=succeeded,
    )


def measure_over_http(folder: Path, count: int) -> list[float]:
    """Tell a host `count` conversations, ten a second, while it forms those before; the times of
    its answers in ms, in order of size.
    """
    host, times = Host(folder), []
    try:
        connection = http.client.HTTPConnection("127.0.0.1", host.port, timeout=30)
        for number, conversation in enumerate(conversations(8, count)):
            body = json.dumps(
                {"user_id": f"user{number % 10}", **conversation.model_dump(mode="json")}
            )
            begun = time.perf_counter()
            connection.request(
                "POST", "/api/v1/memories", body, {"Content-Type": "application/json"}
            )
            answer = connection.getresponse()
            answer.read()
            times.append((time.perf_counter() - begun) * 1000)
            if answer.status != 202:
                raise RuntimeError(f"the host answered {answer.status}")
            time.sleep(max(0.0, 0.1 - (time.perf_counter() - begun)))
    finally:
        host.stop()
    return sorted(times)


def _p50_p95(times: Sequence[float]) -> tuple[float, float]:
    return round(times[len(times) // 2], 2), round(times[int(len(times) * 0.95)], 2)


async def _work(core: MemoryCore) -> None:
    """Receive and work until nothing is left, one message at a time."""
    while taken := await core.queue.receive("formation", 1, timedelta(minutes=5)):
        await core.work(taken[0].body)
        await core.queue.complete("formation", taken[0])


async def _ended(core: MemoryCore, names: Sequence[str]) -> tuple[int, int, int]:
    """How many tasks succeeded, and how many cells and memories they name."""
    succeeded = cells = memories = 0
    for name in names:
        cursor = None
        while True:
            page = await core.tasks(
                owner(name), TasksInput(status="succeeded", limit=100, cursor=cursor)
            )
            succeeded += len(page.tasks)
            made = [
                cell["memory_ids"]
                for task in page.tasks
                for cell in (task.result or {}).get("cells", ())
            ]
            cells, memories = cells + len(made), memories + sum(map(len, made))
            cursor = page.next_cursor
            if cursor is None:
                break
    return succeeded, cells, memories


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; 1 when a task did not end well."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.formation", description="Measures formation on this machine."
    )
    parser.add_argument("--conversations", type=int, default=300)
    parser.add_argument("--users", type=int, default=20)
    parser.add_argument("--json", help="write the numbers to this file too")
    options = parser.parse_args(arguments)
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.system()} "
        f"{platform.machine()}",
        flush=True,
    )
    with tempfile.TemporaryDirectory(prefix="memory-core-bench-") as folder:
        measured = asyncio.run(
            measure(Path(folder) / "library", options.conversations, options.users)
        )
        p50, p95 = _p50_p95(
            measure_over_http(Path(folder) / "http", max(20, options.conversations // 3))
        )
        measured = replace(measured, http_post_p50_ms=p50, http_post_p95_ms=p95)
    for name, value in asdict(measured).items():
        print(f"{name.replace('_', ' '):22} {value}")
    print(f"target: {TARGET:g} conversations a second")
    if options.json:
        Path(options.json).write_text(json.dumps(asdict(measured), indent=1))
    return int(measured.succeeded != measured.conversations)


if __name__ == "__main__":
    raise SystemExit(main())

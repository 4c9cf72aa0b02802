"""`python -m bench.formation`: how fast conversations are taken in, and how fast they become memories, on this machine.

One process, agents without a model, the `hash` embedder: the product is measured, not a model. Conversations have ten messages and are
of many users. First all are accepted, which is the latency that a caller sees, then all are worked on. What a reader would get wrong:
the seconds of the second part are for the whole way of a conversation, its queue message, boundary, agents, comparison and commits
included; `cpu` is the share of them that this process had.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path

from bench.library import owner
from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.requests import ConverseInput, TasksInput

MESSAGES = 10
AT_ONCE = 8
"""Messages of the queue that are worked on at once, as the host does."""
TARGET = 15.0
BEGUN = datetime(2026, 1, 5, 9, 0, tzinfo=timezone.utc)
PLACES = ("Lisbon", "Berlin", "Oslo", "Porto", "Madrid", "Turin", "Graz", "Lyon", "Ghent", "Krakow")
JOBS = ("nurse", "teacher", "carpenter", "data analyst", "pilot", "baker", "lawyer", "gardener")
LIKES = ("green tea", "hiking", "jazz", "chess", "swimming", "old maps", "mushroom soup", "photography", "fado", "black coffee")
SAID = (
    ("I live in {place} now, in a small flat near the river.", "How do you like {place} so far?"),
    ("I work as a {job} and the shifts are long this month.", "A {job} needs good shoes and good breaks."),
    ("I love {like}, it is what I do on every free day.", "Then let us plan more time for {like}."),
    ("My sister Ana visits me for two weeks and brings the children.", "Two weeks with children, that will be lively."),
    ("By the way, I have a cold and should stay at home.", "Drink something warm and rest until it is over."),
    ("I don't like {other} at all, it was never for me.", "Good to know, no {other} then."),
    ("The report about the water of {place} is due on Friday.", "Which numbers of the report are still missing?"),
    ("We bought {number} chairs for the kitchen yesterday.", "{number} chairs are plenty for a kitchen."),
)
"""What people say and what is answered; eight exchanges, of which a conversation has five."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What came out: times in ms, rates a second, and how many tasks ended as they should."""

    conversations: int
    users: int
    post_p50_ms: float
    post_p95_ms: float
    formed_per_second: float
    memories_per_second: float
    cpu: float
    succeeded: int


def conversations(seed: int, count: int) -> Iterator[ConverseInput]:
    """Made-up conversations, the same in every run."""
    chance = random.Random(seed)
    for number in range(count):
        like, other = chance.sample(LIKES, 2)
        words = {"place": chance.choice(PLACES), "job": chance.choice(JOBS), "like": like, "other": other, "number": chance.randint(2, 12)}
        said = [line.format(**words) for pair in chance.sample(SAID, MESSAGES // 2) for line in pair]
        began = BEGUN + timedelta(hours=number)
        messages = [
            {"role": ("user", "assistant")[place % 2], "content": line, "timestamp": (began + timedelta(minutes=place)).isoformat()}
            for place, line in enumerate(said)
        ]
        yield ConverseInput.model_validate({"session_id": f"s{number // 10}", "messages": messages})


async def measure(folder: Path, count: int, users: int) -> Measured:
    """Accept `count` conversations, then form them all."""
    async with MemoryCore(Settings(embedding_provider="hash", llm_provider="offline", data=folder)) as core:
        await core.warm_up()
        names = [f"user{number}" for number in range(users)]
        posts = []
        for number, told in enumerate(conversations(7, count)):
            begun = time.perf_counter()
            await core.converse(owner(names[number % users]), told)
            posts.append((time.perf_counter() - begun) * 1000)
        begun, cpu = time.perf_counter(), time.process_time()
        await asyncio.gather(*(_work(core) for _ in range(AT_ONCE)))
        took, spent = time.perf_counter() - begun, time.process_time() - cpu
        succeeded, memories = await _ended(core, names)
    posts.sort()
    return Measured(
        conversations=count,
        users=users,
        post_p50_ms=round(posts[len(posts) // 2], 2),
        post_p95_ms=round(posts[int(len(posts) * 0.95)], 2),
        formed_per_second=round(count / took, 1),
        memories_per_second=round(memories / took, 1),
        cpu=round(spent / took, 2),
        succeeded=succeeded,
    )


async def _work(core: MemoryCore) -> None:
    """Receive and work until nothing is left, one message at a time."""
    while taken := await core.queue.receive("formation", 1, timedelta(minutes=5)):
        await core.work(taken[0].body)
        await core.queue.complete("formation", taken[0])


async def _ended(core: MemoryCore, names: Sequence[str]) -> tuple[int, int]:
    """How many tasks succeeded, and how many memories they name."""
    succeeded = memories = 0
    for name in names:
        cursor = None
        while True:
            page = await core.tasks(owner(name), TasksInput(status="succeeded", limit=100, cursor=cursor))
            succeeded += len(page.tasks)
            memories += sum(len(cell["memory_ids"]) for task in page.tasks for cell in (task.result or {}).get("cells", ()))
            cursor = page.next_cursor
            if cursor is None:
                break
    return succeeded, memories


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; 1 when a task did not end well."""
    parser = argparse.ArgumentParser(prog="python -m bench.formation", description="Measures formation on this machine.")
    parser.add_argument("--conversations", type=int, default=300)
    parser.add_argument("--users", type=int, default=20)
    parser.add_argument("--json", help="write the numbers to this file too")
    options = parser.parse_args(arguments)
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}", flush=True)
    with tempfile.TemporaryDirectory(prefix="memory-core-bench-") as folder:
        measured = asyncio.run(measure(Path(folder), options.conversations, options.users))
    for name, value in asdict(measured).items():
        print(f"{name.replace('_', ' '):22} {value}")
    print(f"target: {TARGET:g} conversations a second")
    if options.json:
        Path(options.json).write_text(json.dumps(asdict(measured), indent=1))
    return int(measured.succeeded != measured.conversations)


if __name__ == "__main__":
    raise SystemExit(main())

"""Processes that share a file or die over it: what was acknowledged is there,
nothing is half there.
"""

from __future__ import annotations

import asyncio
import os
import random
from pathlib import Path

from memory_core.adapters.sqlite.store import SqliteStore
from tests import fork_server
from tests.builders import ALICE, DIMENSIONS, StillClock, query

ROOT = Path(__file__).parents[2]


async def child(path: Path, name: str, commits: int) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *fork_server.command("tests.integration.committing_child", str(path), name, str(commits)),
        stdout=asyncio.subprocess.PIPE, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


async def checked(path: Path, acknowledged: set[str]) -> int:
    """Open the file and hold it against what was acknowledged; the number of commits in it."""
    store = SqliteStore(path, clock=StillClock(), embedding_model="test", dimensions=DIMENSIONS)
    await store.open()
    try:
        events = await store.events(ALICE, 0, 100_000)
        committed = [event.id.removeprefix("evt_").removesuffix("_0") for event in events]
        assert acknowledged <= set(committed)
        assert [event.sequence for event in events] == list(range(1, len(events) + 1))
        snapshot = await store.snapshot(ALICE, ["counter"])
        assert snapshot.head is not None
        assert snapshot.head.sequence == snapshot.documents["counter"].body["n"] == len(events)
        answer = await store.search(ALICE, query("tea", limit=100_000))
        assert set(answer.candidates.ids) == {
            f"mem_{commit_id}_{half}" for commit_id in committed for half in "ab"
        }
        return len(events)
    finally:
        await store.close()


async def test_killed_while_committing_it_loses_nothing_acknowledged_and_keeps_nothing_half(
    tmp_path: Path,
) -> None:
    path, rng, acknowledged = tmp_path / "memory.db", random.Random(5), set[str]()
    for life in range(8):
        process = await child(path, f"life{life}", 10_000)
        assert process.stdout is not None
        for _ in range(rng.randint(1, 60)):
            acknowledged.add((await process.stdout.readline()).decode().strip())
        process.kill()
        # what it said before the kill reached it
        rest = (await process.stdout.read()).decode().split("\n")[:-1]
        acknowledged.update(rest)
        await process.wait()
        assert await checked(path, acknowledged) >= len(acknowledged)


async def test_two_processes_on_one_file_lose_no_update(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    processes = [await child(path, name, 60) for name in ("left", "right")]
    outputs = await asyncio.gather(*(process.communicate() for process in processes))
    assert [process.returncode for process in processes] == [0, 0]
    acknowledged = {line for out, _ in outputs for line in out.decode().split()}
    assert len(acknowledged) == 120
    assert await checked(path, acknowledged) == 120


async def test_processes_that_open_a_new_file_at_once_all_get_it(tmp_path: Path) -> None:
    for number in range(4):
        processes = [
            await child(tmp_path / f"{number}.db", name, 1) for name in ("one", "two", "three")
        ]
        outputs = await asyncio.gather(*(process.communicate() for process in processes))
        assert [process.returncode for process in processes] == [0, 0, 0]
        assert all(out for out, _ in outputs)

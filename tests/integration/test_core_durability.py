"""Killed while saving, again and again: every acknowledged save is there, and what is
there is whole.
"""

from __future__ import annotations

import asyncio
import os
import random
from pathlib import Path

from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.memory import Status
from memory_core.domain.requests.memories import RetrieveInput
from tests import fork_server
from tests.builders import ALICE
from tests.world import listed

ROOT = Path(__file__).parents[2]
KILLS = 5


async def child(folder: Path, name: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *fork_server.command("tests.integration.saving_child", str(folder), name),
        stdout=asyncio.subprocess.PIPE, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


async def lived(folder: Path, name: str, saves: int) -> set[str]:
    """Let a process save about so many memories, kill it, and answer which it had acknowledged."""
    process = await child(folder, name)
    assert process.stdout is not None
    lines = [(await process.stdout.readline()).decode().strip() for _ in range(saves)]
    process.kill()
    lines += (await process.stdout.read()).decode().split("\n")[:-1]
    await process.wait()
    return set(lines)


async def test_killed_at_any_moment_every_acknowledged_save_is_there(tmp_path: Path) -> None:
    rng, acknowledged = random.Random(7), set[str]()
    settings = Settings(embedding_provider="hash", data=tmp_path)
    for life in range(KILLS):
        acknowledged |= await lived(tmp_path, f"life{life}", rng.randint(1, 90))
        async with MemoryCore(settings) as core:
            memories = {memory.id: memory for memory in await listed(core, status="all")}
            assert acknowledged <= memories.keys()
            answer = await core.retrieve(
                ALICE,
                RetrieveInput(query=f"life{life} stands at", limit=100, similarity_threshold=0.0),
            )
            assert {hit.memory.id for hit in answer.results} <= memories.keys()
            assert answer.results
            standing = [
                memory
                for memory in memories.values()
                if memory.status is Status.ACTIVE and memory.subject
            ]
            assert len({memory.subject for memory in standing}) == len(standing), "one truth a slot"
            for session in ("s1", "s2"):
                turns = [memory for memory in memories.values() if memory.session_id == session]
                assert sorted(turn.lexical.turn or 0 for turn in turns) == list(range(len(turns)))
                assert (await core.session(ALICE, session)).counts == {"episodic": len(turns)}


async def test_two_processes_saving_for_one_user_are_killed_and_lose_nothing(
    tmp_path: Path,
) -> None:
    ids = await asyncio.gather(*(lived(tmp_path, name, 60) for name in ("left", "right")))
    async with MemoryCore(Settings(embedding_provider="hash", data=tmp_path)) as core:
        memories = {memory.id: memory for memory in await listed(core, status="all")}
        assert ids[0] | ids[1] <= memories.keys()
        for session in ("s1", "s2"):
            turns = sorted(
                (memory for memory in memories.values() if memory.session_id == session),
                key=lambda memory: memory.sequence,
            )
            assert [turn.lexical.turn for turn in turns] == list(range(len(turns)))

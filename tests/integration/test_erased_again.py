"""The long term of an earlier moment put back under an archive that is of now,
as after a restore of a backup.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from memory_core import erasures
from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.scope import Owner
from tests.builders import ALICE
from tests.tasks import Hand
from tests.world import BOB, listed, turn

T = TypeVar("T")
ELSEWHERE = Owner("another-app", ALICE.user_id)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in {
        "MEMORY_DATA": str(tmp_path),
        "EMBEDDING_PROVIDER": "hash",
        "MEMORY_ERASE_SETTLE_S": "0",
    }.items():
        monkeypatch.setenv(name, value)
    return tmp_path / "memory.db"


def by_a_process(work: Callable[[MemoryCore], Awaitable[T]]) -> T:
    """What a process of its own does, from opening the stores to closing them."""

    async def run() -> T:
        core = MemoryCore(Settings.from_env())
        try:
            await core.open()
            return await work(core)
        finally:
            await core.close()

    return asyncio.run(run())


async def filled(core: MemoryCore) -> None:
    for owner in (ALICE, BOB, ELSEWHERE):
        await core.save(owner, turn("I keep bees"))


async def erased(core: MemoryCore) -> None:
    await core.erase(ALICE)
    await Hand(core, "consolidation").work_all()


async def begun_anew(core: MemoryCore) -> None:
    await core.save(ALICE, turn("I keep wasps"))


async def told(core: MemoryCore) -> dict[Owner, list[str]]:
    return {
        owner: [memory.content for memory in await listed(core, owner)]
        for owner in (ALICE, BOB, ELSEWHERE)
    }


async def emptied(core: MemoryCore) -> int:
    await Hand(core, "consolidation").work_all()
    return len(await core.erasures(ALICE.app_id))


def test_whom_a_restored_backup_brings_back_is_erased_again(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    by_a_process(filled)
    shutil.copy(store, backup := store.with_name("backup"))
    by_a_process(erased)
    by_a_process(begun_anew)
    shutil.copy(store, later := store.with_name("later"))
    shutil.copy(backup, store)
    assert by_a_process(told)[ALICE] == ["I keep bees"], "that is what a restore does"
    assert erasures.main(["--dry-run"]) == 0
    assert by_a_process(told)[ALICE] == ["I keep bees"]
    assert erasures.main([]) == 0
    assert by_a_process(told) == {ALICE: [], BOB: ["I keep bees"], ELSEWHERE: ["I keep bees"]}
    assert by_a_process(emptied) == 1
    assert b"bees" in store.read_bytes(), "of the others"
    assert erasures.main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["1", "1", "0"]
    shutil.copy(later, store)
    assert erasures.main([]) == 0
    assert by_a_process(told)[ALICE] == ["I keep wasps"], (
        "whoever began anew is not erased for the life before"
    )


def test_a_store_that_does_not_answer_is_said(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store.mkdir()
    assert erasures.main([]) == 1
    assert "Not done" in capsys.readouterr().err

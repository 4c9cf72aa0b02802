"""Another embedder for all users: who has vectors of the former one is named, and a task begun."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from memory_core import reembed
from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.scope import Owner
from tests.builders import ALICE
from tests.tasks import Hand
from tests.world import BOB, turn

ELSEWHERE = Owner("another-app", ALICE.user_id)


@pytest.fixture
def another_embedder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three users with vectors of one embedder, Bob also with one of the present embedder."""
    given = {"MEMORY_DATA": str(tmp_path), "EMBEDDING_PROVIDER": "hash"}
    for name, value in (given | {"EMBEDDING_DIMENSIONS": "64"}).items():
        monkeypatch.setenv(name, value)

    async def fill(core: MemoryCore) -> None:
        for owner in (ALICE, BOB, ELSEWHERE):
            await core.save(owner, turn("I keep bees"))
            await core.save(owner, turn("I keep wasps"))

    async def save_more(core: MemoryCore) -> None:
        await core.save(BOB, turn("I keep hornets"))
        await core.save(Owner("app", "carol"), turn("I keep cats"))

    by_a_process(fill)
    monkeypatch.setenv("EMBEDDING_DIMENSIONS", "128")
    by_a_process(save_more)


def by_a_process(work: Callable[[MemoryCore], Awaitable[None]]) -> None:
    async def run() -> None:
        async with MemoryCore(Settings.from_env()) as core:
            await work(core)

    asyncio.run(run())


def lines(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    assert reembed.main(arguments) == 0
    return [
        " ".join("TASK" if word.startswith("tsk_") else word for word in line.split())
        for line in capsys.readouterr().out.splitlines()
    ]


@pytest.mark.usefixtures("another_embedder")
def test_all_users_are_embedded_anew_and_each_once(capsys: pytest.CaptureFixture[str]) -> None:
    users = [(owner.app_id, owner.user_id) for owner in (ELSEWHERE, ALICE, BOB)]

    def named(state: str, end: str) -> list[str]:
        return [
            *(f"{app} {user}: 2 vectors to make, {state}" for app, user in users),
            f"{end} vectors of another embedder",
        ]

    assert lines(capsys, "--dry-run") == named("no task", "3 users have")
    assert lines(capsys, "--app", "another-app", "--dry-run") == [
        "another-app alice: 2 vectors to make, no task",
        "1 user has vectors of another embedder",
    ]
    assert lines(capsys) == named("TASK is begun", "3 users have")
    assert lines(capsys) == named("TASK is accepted, 0%", "3 users have")

    async def work(core: MemoryCore) -> None:
        await Hand(core, "consolidation").work_all()

    by_a_process(work)
    assert lines(capsys) == ["0 users have vectors of another embedder"]

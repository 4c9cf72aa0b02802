"""What is exported is everything, as of one moment; what is brought in is the same again, or nothing."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from memory_core.consolidation import export_file
from memory_core.core import MemoryCore
from memory_core.domain.errors import Conflict, NotFound
from memory_core.domain.people_requests import ImportCommitInput
from memory_core.domain.requests import UpdateInput
from memory_core.domain.scope import Owner
from memory_core.domain.task import Task
from tests.builders import ALICE
from tests.tasks import Hand, converse
from tests.world import BOB, Killed, Meanwhile, World, fact, listed, rule, turn

ELSEWHERE = Owner("another-app", "carol")
Lines = list[dict[str, Any]]


async def worked(world: World, core: MemoryCore, task_id: str, owner: Owner = ALICE) -> Task:
    """Work, and let time go by, until the task is done."""
    hand = Hand(core, "consolidation")
    for _ in range(20):
        await hand.work_all()
        task = await core.task(owner, task_id)
        if task.finished:
            return task
        world.clock.forward(61)
    raise AssertionError(f"the task never ends: {task}")


async def exported(world: World, core: MemoryCore, owner: Owner = ALICE) -> bytes:
    """The whole file."""
    task = await worked(world, core, (await core.export(owner)).task_id, owner)
    assert task.status == "succeeded", task.error
    return await fetched(core, task, owner)


async def fetched(core: MemoryCore, task: Task, owner: Owner = ALICE) -> bytes:
    assert task.result is not None
    parts = [await core.export_part(owner, task.task_id, number) for number in range(1, task.result["parts"] + 1)]
    assert all(len(part) <= 2**20 and part.endswith(b"\n") for part in parts)
    file = b"".join(parts)
    assert (len(file), hashlib.sha256(file).hexdigest()) == (task.result["bytes"], task.result["sha256"])
    return file


async def brought(world: World, core: MemoryCore, file: bytes, owner: Owner = BOB, size: int = 2**20) -> Task:
    """The task of its import, done or refused. size: of a part."""
    task_id = await gathered(core, file, owner, size)
    return await worked(world, core, task_id, owner)


async def gathered(core: MemoryCore, file: bytes, owner: Owner = BOB, size: int = 2**20) -> str:
    task_id = (await core.begin_import(owner)).task_id
    parts = [file[at : at + size] for at in range(0, len(file), size)]
    for number, part in reversed([*enumerate(parts, 1)]):
        await core.import_part(owner, task_id, number, part)
    await core.commit_import(owner, task_id, ImportCommitInput(parts=len(parts), sha256=hashlib.sha256(file).hexdigest()))
    return task_id


def parsed(file: bytes) -> tuple[dict[str, Any], Lines]:
    """The first line, and all others."""
    first, *others = [orjson.loads(line) for line in file.splitlines()]
    return first, others


def of_kind(lines: Lines, kind: str) -> Lines:
    return [line for line in lines if line["kind"] == kind]


async def filled(core: MemoryCore) -> None:
    """One of everything that is easily made."""
    await core.save(ALICE, turn("I keep bees", actor="Ana"))
    await core.save(ALICE, turn("They make honey", actor="Ana"))
    await core.save(ALICE, fact("Ana lives in Lisbon", subject="Ana", attribute="city"))
    await core.save(ALICE, fact("Ana lives in Porto", subject="Ana", attribute="city"))
    await core.save(ALICE, rule("language", "pt"))
    await core.save(ALICE, rule("language", "en"))
    told = (await core.save(ALICE, fact("The hive is blue", session_id="s2"))).memory
    changed = await core.update(ALICE, told.id, UpdateInput(content="The hive is green 🐝"), told.etag)
    await core.delete(ALICE, (await core.save(ALICE, turn("forget this", session="s3"))).memory.id)
    assert changed.version == 2
    await converse(core)
    await Hand(core).work_all()


async def test_what_comes_back_out_of_another_app_and_user_is_the_same(world: World) -> None:
    core = await world.core()
    await filled(core)
    file = await exported(world, core)
    task = await brought(world, core, file, ELSEWHERE, size=3_000)
    assert task.status == "succeeded", task.error
    first, lines = parsed(file)
    copied = await exported(world, core, ELSEWHERE)
    again, same = parsed(copied)
    assert same == lines
    assert copied.splitlines()[1:] == file.splitlines()[1:]
    changing = ("app_id", "user_id", "exported_at")
    assert {name: value for name, value in again.items() if name not in changing} == {
        name: value for name, value in first.items() if name not in changing
    }
    assert (again["app_id"], again["user_id"]) == ELSEWHERE
    assert first["counts"]["memory"] == len(of_kind(lines, "memory")) == 10
    assert not any(word in file for word in (b"embedding", b"epoch"))


async def test_what_was_brought_in_works_like_what_it_was(world: World) -> None:
    core = await world.core()
    await filled(core)
    await brought(world, core, await exported(world, core))
    for ask in (
        lambda owner: listed(core, owner, status="all"),
        lambda owner: listed(core, owner),
    ):
        here, there = await ask(ALICE), await ask(BOB)
        assert [(one.id, one.content, one.status) for one in there] == [(one.id, one.content, one.status) for one in here]
    assert (await core.procedure(BOB, "language")).value == "en"
    assert (await core.save(BOB, rule("language", "fr"))).memory.version == 3
    assert (await core.save(BOB, turn("They sting", actor="Ana"))).memory.session_id == "s1"
    assert (await core.session(BOB, "s1")).counts == {"episodic": 5, "semantic": 1, **(await core.session(ALICE, "s1")).counts} | {
        "episodic": (await core.session(ALICE, "s1")).counts["episodic"] + 1
    }
    here, there = await core.get(ALICE, (await listed(core))[0].id), await core.get(BOB, (await listed(core))[0].id)
    assert here.embedding is not None
    assert there.embedding is not None
    assert here.embedding.tolist() == there.embedding.tolist()

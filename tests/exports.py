"""Exports and imports as tests make them: the file whole, brought in part by part,
and something that happens in between.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import orjson

from memory_core.core import MemoryCore
from memory_core.domain.conversation import Task
from memory_core.domain.requests.maintenance import ImportCommitInput, ImportInput
from memory_core.domain.requests.memories import UpdateInput
from memory_core.domain.scope import Owner
from memory_core.ports import LongTermStore
from tests.builders import ALICE
from tests.tasks import Hand, converse, ended
from tests.world import BOB, World, fact, rule, turn

EXPORT = ImportInput()
Lines = list[dict[str, Any]]


async def worked(world: World, core: MemoryCore, task_id: str, owner: Owner = ALICE) -> Task:
    """The task, done; one that found others writing has waited for a minute."""
    return await ended(world, core, task_id, owner, apart_s=61)


async def exported(world: World, core: MemoryCore, owner: Owner = ALICE) -> bytes:
    """The whole file."""
    task = await worked(world, core, (await core.export(owner)).task_id, owner)
    assert task.status == "succeeded", task.error
    return await fetched(core, task, owner)


async def fetched(core: MemoryCore, task: Task, owner: Owner = ALICE) -> bytes:
    assert task.result is not None
    parts = [
        await core.export_part(owner, task.task_id, number)
        for number in range(1, task.result["parts"] + 1)
    ]
    assert all(len(part) <= 2**20 and part.endswith(b"\n") for part in parts)
    file = b"".join(parts)
    assert (len(file), hashlib.sha256(file).hexdigest()) == (
        task.result["bytes"],
        task.result["sha256"],
    )
    return file


async def brought(
    world: World, core: MemoryCore, file: bytes, owner: Owner = BOB, size: int = 2**20
) -> Task:
    """The task of its import, done or refused. size: of a part."""
    task_id = await gathered(core, file, owner, size)
    return await worked(world, core, task_id, owner)


def without_logs(file: bytes) -> bytes:
    """The file as a version without logs of slots would have written it."""
    lines = [orjson.loads(line) for line in file.splitlines()]
    del lines[0]["counts"]["slot"]
    others = (line for line in lines if line.get("kind") != "slot")
    return b"".join(orjson.dumps(line) + b"\n" for line in others)


async def gathered(
    core: MemoryCore,
    file: bytes,
    owner: Owner = BOB,
    size: int = 2**20,
    import_input: ImportInput = EXPORT,
    sha256: str | None = None,
) -> str:
    """The task of an import whose parts are committed. size: of a part. sha256:
    another one than the file's.
    """
    task_id = (await core.begin_import(owner, import_input)).task_id
    parts = [file[at : at + size] for at in range(0, len(file), size)]
    for number, part in reversed([*enumerate(parts, 1)]):
        await core.import_part(owner, task_id, number, part)
    await core.commit_import(
        owner,
        task_id,
        ImportCommitInput(parts=len(parts), sha256=sha256 or hashlib.sha256(file).hexdigest()),
    )
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
    memory = (await core.save(ALICE, fact("The hive is blue", session_id="s2"))).memory
    changed = await core.update(
        ALICE, memory.id, UpdateInput(content="The hive is green 🐝"), memory.etag
    )
    await core.delete(ALICE, (await core.save(ALICE, turn("forget this", session="s3"))).memory.id)
    assert changed.version == 2
    await converse(core)
    await Hand(core).work_all()


async def more(core: MemoryCore) -> None:
    """So much that it takes several commits to bring it in."""
    await core.bulk(
        ALICE, [turn(f"note {number}", session=f"s{number % 7}") for number in range(90)]
    )


@dataclass
class Before:
    """A store before whose `left`-th call of a name something else happens.

    It is another caller's, so it goes on to its end though the call itself is cancelled.
    """

    inner: LongTermStore
    name: str
    then: Callable[[], Awaitable[None]]
    left: int = 0

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self.inner, name)
        if name != self.name:
            return attribute

        async def late(*args: Any, **options: Any) -> Any:
            self.left -= 1
            if self.left == 0:
                await asyncio.shield(self.then())
            return await attribute(*args, **options)

        return late

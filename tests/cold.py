"""Memories that are old enough for the archive, runs that move them there, and eyes for
what is where.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import numpy as np

from memory_core.core import MemoryCore
from memory_core.domain.conversation import Task
from memory_core.domain.errors import Unavailable
from memory_core.domain.memory import Memory
from memory_core.domain.requests.maintenance import ArchiveInput
from memory_core.domain.requests.memories import SaveInput
from memory_core.domain.results import Accepted, Call
from memory_core.domain.scope import Owner
from memory_core.ledger.archive_files import KEY_NAME, ColdCopies, OwnerHashes
from memory_core.ports import Archive
from tests.builders import ALICE
from tests.tasks import ended
from tests.world import World

YEARS = timedelta(days=365.25)


def years_go_by(world: World, years: float = 11) -> None:
    """Move the clock, without waiting."""
    world.clock.moment += years * YEARS


async def saved(core: MemoryCore, *items: SaveInput, owner: Owner = ALICE) -> list[Memory]:
    """Save items one by one; the memories that they became."""
    return [(await core.save(owner, item)).memory for item in items]


async def begun(core: MemoryCore, owner: Owner = ALICE, **asked: Any) -> Accepted:
    """Ask for a run."""
    accepted = await core.archive(owner, ArchiveInput(**asked), Call())
    assert isinstance(accepted, Accepted)
    return accepted


async def done(world: World, core: MemoryCore, accepted: Accepted, owner: Owner = ALICE) -> Task:
    """The task of a run, done."""
    return await ended(world, core, accepted.task_id, owner)


async def archived(
    world: World, core: MemoryCore, owner: Owner = ALICE, **asked: Any
) -> dict[str, int]:
    """Make a run; what it says that it did."""
    task = await done(world, core, await begun(core, owner, **asked), owner)
    assert (task.status, task.error) == ("succeeded", None)
    assert task.result is not None
    return {name: number for name, number in task.result["counts"].items() if number}


async def everything(world: World, owner: Owner = ALICE) -> dict[str, Memory]:
    """Every memory and old version of a user by id, with vectors, as a process of its
    own reads them.
    """
    store = await world.look_on()
    memories: dict[str, Memory] = {}
    for kind in ("memory", "version"):
        documents = await store.page(owner, kind, None, None, 10_000)  # type: ignore[arg-type]
        for start in range(0, len(documents), 90):
            snapshot = await store.snapshot(
                owner, [document.id for document in documents[start : start + 90]]
            )
            for document in snapshot.documents.values():
                memory = Memory.model_validate(document.body)
                memory.embedding = document.vector
                memories[memory.id] = memory
    return memories


async def blobs(world: World) -> list[str]:
    """The names of all cold copies, of whomever."""
    archive = world.archive()
    await archive.open()
    try:
        return [name for name in await archive.names("", None, 5000) if name != KEY_NAME]
    finally:
        await archive.close()


def copies_of(archive: Archive) -> ColdCopies:
    """The cold copies in an archive."""
    return ColdCopies(archive, OwnerHashes(archive))


@dataclass
class Steps:
    """The calls that a process makes of its store and its archive, counted; after the one numbered
    `at`, `then` happens, once.

    counted: the calls that count, where not all do: accesses are written beside them at any moment.
    """

    at: int | None = None
    then: Callable[[], Awaitable[Any]] | None = None
    asleep: bool = True
    names: list[str] = field(default_factory=list)
    counted: tuple[str, ...] = ()

    async def after(self, name: str) -> None:
        """A call is done."""
        if self.asleep or (self.counted and name not in self.counted):
            return
        self.names.append(name)
        if len(self.names) == self.at and self.then is not None:
            await self.then()


@dataclass
class Stepping:
    """A store or an archive whose every call is a step. down: it answers Unavailable."""

    inner: Any
    steps: Steps = field(default_factory=Steps)
    down: bool = False

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self.inner, name)
        if name in ("open", "close", "pool", "check"):
            return attribute

        async def call(*args: Any, **options: Any) -> Any:
            if self.down:
                raise Unavailable("archive", "does not answer")
            answer = await attribute(*args, **options)
            await self.steps.after(name)
            return answer

        return call


def equal(memory: Memory, other: Memory, *but: str) -> bool:
    """The same in all fields but some, to the last bit of the vector."""
    same_vector = (memory.embedding is None) == (other.embedding is None) and (
        memory.embedding is None or np.array_equal(memory.embedding, other.embedding)  # type: ignore[arg-type]
    )
    return ("embedding" in but or same_vector) and memory.model_dump(
        exclude=set(but)
    ) == other.model_dump(exclude=set(but))


async def pointed_to(world: World, owner: Owner = ALICE) -> list[str]:
    """The locations that memories point to, each once, in order."""
    return sorted(
        {
            memory.archival_location
            for memory in (await everything(world, owner)).values()
            if memory.archival_location
        }
    )


async def nothing_is_lost(world: World, before: dict[str, Memory], owner: Owner = ALICE) -> None:
    """Each memory is there as a whole, or as a stub whose cold copy is whole."""
    archive = world.archive()
    await archive.open()
    copies = copies_of(archive)
    now = await everything(world, owner)
    assert now.keys() >= before.keys()
    try:
        for identity, was in before.items():
            stands = now[identity]
            if stands.archived_at is not None:
                assert "." in identity or (stands.embedding is None) == (was.embedding is None), (
                    "a query finds it by its vector, too"
                )
                assert stands.archival_location is not None
                memory = (await copies.read(owner, stands.archival_location)).memory(identity)
                assert memory is not None
                stands = memory
            assert stands.content == was.content
            assert (stands.embedding is None) == (was.embedding is None)
    finally:
        await archive.close()

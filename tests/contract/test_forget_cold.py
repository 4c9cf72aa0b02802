"""Forgetting for good reaches the archive: the copies that hold it go, what else was in them
stays, whole.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.memory import Memory, Status
from memory_core.domain.requests.maintenance import ForgetInput
from memory_core.domain.requests.memories import UpdateInput
from memory_core.domain.results import Accepted
from tests.builders import ALICE
from tests.cold import archived, blobs, done, nothing_is_lost, pointed_to, years_go_by
from tests.contract.test_forget import no_trace
from tests.exports import exported
from tests.mortal import Moment, Mortal
from tests.past import told_by_the_log
from tests.tasks import Hand, task_of
from tests.world import Killed, World, fact, listed, turn

CITY: dict[str, Any] = {"subject": "Ana", "attribute": "city"}


@pytest.fixture
def world(cold_world: World) -> World:
    return cold_world


@pytest.fixture
async def core(world: World) -> MemoryCore:
    return await world.core()


async def asked(core: MemoryCore, *ids: str) -> Accepted:
    accepted = await core.forget(
        ALICE, ForgetInput.model_validate({"mode": "hard", "filter": {"ids": list(ids)}})
    )
    assert isinstance(accepted, Accepted)
    return accepted


async def forgotten(core: MemoryCore, *ids: str) -> None:
    accepted = await asked(core, *ids)
    await Hand(core, "consolidation").work_all()
    task = await task_of(core, accepted)
    assert task.status == "succeeded", task.error


async def told(world: World, core: MemoryCore) -> tuple[Memory, Memory]:
    """A chain of two in the archive, the first with an old version."""
    stavanger = (await core.save(ALICE, fact("Ana lives in Stavanger", **CITY))).memory
    world.clock.forward(60)
    await core.update(
        ALICE,
        stavanger.id,
        UpdateInput(content="Ana lives in Stavanger, by the sea"),
        stavanger.etag,
    )
    world.clock.forward(60)
    bergen = (await core.save(ALICE, fact("Ana lives in Bergen", **CITY))).memory
    years_go_by(world)
    await archived(world, core)
    return stavanger, bergen


async def test_what_is_in_the_archive_alone_goes_with_its_copy(
    core: MemoryCore, world: World
) -> None:
    memory = (await core.save(ALICE, turn("swordfish"))).memory
    years_go_by(world)
    await archived(world, core)
    assert len(await blobs(world)) == 1
    await forgotten(core, memory.id)
    assert await blobs(world) == []
    await no_trace(world, "swordfish")


@pytest.mark.parametrize("which", [0, 1])
async def test_of_a_chain_the_other_member_gets_a_copy_of_its_own(
    core: MemoryCore, world: World, which: int
) -> None:
    both = await told(world, core)
    await forgotten(core, both[which].id)
    assert await blobs(world) == await pointed_to(world)
    (left,) = await listed(core, status="all")
    assert left.id == both[1 - which].id
    assert (left.status, left.next_id, left.supersedes_id) == (Status.ARCHIVED, None, None)
    await no_trace(world, "Stavanger" if which == 0 else "Bergen")
    await told_by_the_log(core, world)
    back = await core.restore(ALICE, left.id)
    assert back.content == (
        "Ana lives in Bergen" if which == 0 else "Ana lives in Stavanger, by the sea"
    )
    assert back.embedding is not None
    assert (back.next_id, back.supersedes_id) == (None, None)
    versions = [version.content for version in await core.versions(ALICE, left.id)]
    assert versions == (
        ["Ana lives in Bergen"]
        if which == 0
        else ["Ana lives in Stavanger", "Ana lives in Stavanger, by the sea"]
    )


async def lived(world: World, moment: Moment) -> tuple[Memory, Memory, Accepted | None]:
    """The first of a chain is forgotten by a process that dies at `moment`, or whole, in however
    many tries; None: not asked for.
    """
    archive: Any = Mortal(world.archive(), moment)
    core = await world.core(wrap=lambda store: Mortal(store, moment), archive=archive)
    moment.asleep = True
    both, accepted = await told(world, core), None
    moment.asleep = False
    with suppress(Killed):
        accepted = await asked(core, both[0].id)
        task = await done(world, core, accepted)
        assert (task.status, task.error) == ("succeeded", None)
    moment.asleep = True
    return *both, accepted


async def test_killed_at_any_write_what_stays_is_whole(cold_worlds: Any, adapter: str) -> None:
    """In a storm some writes are sent twice, so a life may have fewer of them than the whole one,
    and end in peace.

    There a life takes ten seconds, so each write is died at before or after it was done, not both.
    """
    whole, world = Moment(), cold_worlds()
    await lived(world, whole)
    await world.close()
    assert len(whole.names) > 10, whole.names
    for at, name in enumerate(whole.names, 1):
        for after in (at % 2 == 0,) if adapter == "storm" else (False, True):
            world, moment = cold_worlds(), Moment(at, after)
            stavanger, bergen, accepted = await lived(world, moment)
            assert moment.dead or adapter == "storm", (at, after, name)
            moment.dead = True
            rescuer = await world.core()
            await nothing_is_lost(world, {})
            world.clock.forward(200)
            if accepted is None:
                accepted = await asked(rescuer, stavanger.id)
            for _ in range(4):
                await Hand(rescuer, "consolidation").work_all()
                await rescuer.sweep()
                world.clock.forward(1000)
            assert (await task_of(rescuer, accepted)).status == "succeeded", (at, after, name)
            assert await blobs(world) == await pointed_to(world)
            await no_trace(world, "Stavanger")
            assert (await rescuer.restore(ALICE, bergen.id)).content == "Ana lives in Bergen"
            moment.dead = False
            await world.close()


async def test_an_export_that_waits_to_be_fetched_goes_too(core: MemoryCore, world: World) -> None:
    memory = (await core.save(ALICE, turn("swordfish"))).memory
    stays = (await core.save(ALICE, turn("the garden is large"))).memory
    assert b"swordfish" in await exported(world, core)
    assert [name for name in await blobs(world) if name.startswith("people/")]
    await forgotten(core, memory.id)
    assert [name for name in await blobs(world) if name.startswith("people/")] == []
    assert b"swordfish" not in await exported(world, core)
    assert [memory.id for memory in await listed(core)] == [stays.id]

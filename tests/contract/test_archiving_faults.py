"""The archive run when things go wrong: killed between any two writes, overtaken at every step,
the archive down or damaged.

After each of them every memory is there as a whole, or its stub has a cold copy that is whole;
and no slot has two truths.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest

from memory_core.consolidation.archive import TRIES
from memory_core.core import MemoryCore
from memory_core.domain.errors import Damaged, MemoryCoreError, Unavailable
from memory_core.domain.memory import Memory, Status
from memory_core.domain.requests.maintenance import ArchiveInput
from memory_core.domain.requests.memories import UpdateInput
from memory_core.domain.results import Accepted, Call
from memory_core.domain.scope import Owner
from memory_core.ports import AccessCount, Batch, LongTermStore, Near, Snapshot
from tests.archives import Folder, Place
from tests.builders import ALICE, NOW, accessed
from tests.cold import (
    Stepping,
    Steps,
    archived,
    begun,
    blobs,
    done,
    equal,
    everything,
    nothing_is_lost,
    pointed_to,
    saved,
    years_go_by,
)
from tests.contract.insistent import Insistent
from tests.mortal import Moment, Mortal
from tests.tasks import Hand, task_of
from tests.world import Killed, World, fact, listed, turn

SLOT = {"subject": "Ana", "attribute": "city"}
NewWorld = Callable[[], World]


@dataclass
class Overtaking:
    """A store before whose next `times` commits that move memories another process saves."""

    inner: LongTermStore
    rival: MemoryCore
    times: int

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    async def snapshot(self, owner: Owner, ids: Sequence[str] = (), *near: Near) -> Snapshot:
        moves = {"mem", "tsk"} <= {name.partition("_")[0] for name in ids}
        if moves and self.times:
            self.times -= 1
            await self.rival.save(owner, turn(f"news {self.times}"))
        return await self.inner.snapshot(owner, ids, *near)


Act = Callable[[MemoryCore, list[Memory]], Awaitable[Any]]


@pytest.fixture
def world(cold_world: World) -> World:
    return cold_world


async def told(world: World, core: MemoryCore) -> list[Memory]:
    """A chain of two with an old version, and two memories apart; old by now."""
    (oslo,) = await saved(core, fact("Ana lives in Oslo", **SLOT))
    world.clock.forward(60)
    await core.update(
        ALICE, oslo.id, UpdateInput(content="Ana lives in Oslo, by the sea"), oslo.etag
    )
    world.clock.forward(60)
    made = await saved(
        core, fact("Ana lives in Bergen", **SLOT), turn("good morning"), turn("good night")
    )
    years_go_by(world)
    return [oslo, *made]


async def settled(world: World) -> None:
    """Nothing is left that is not pointed to, nothing pointed to is missing, and one truth is
    active in the slot.
    """
    assert await blobs(world) == await pointed_to(world)
    standing = [
        memory
        for memory in (await everything(world)).values()
        if memory.attribute == "city" and memory.status is Status.ACTIVE
    ]
    assert len(standing) <= 1


async def lived(world: World, moment: Moment) -> dict[str, Memory]:
    """A run by a process that dies at `moment`, or does it whole, in however many tries:
    every memory as it was before.
    """
    mortal = Mortal(world.archive(), moment)
    core = await world.core(wrap=lambda store: Mortal(store, moment), archive=mortal)  # type: ignore[arg-type]
    moment.asleep = True
    await told(world, core)
    before = await everything(world)
    moment.asleep = False
    with suppress(Killed):
        task = await done(world, core, await begun(core))
        assert (task.status, task.error) == ("succeeded", None)
    moment.asleep = True
    return before


async def test_killed_at_any_write_it_goes_on_and_nothing_is_lost(
    cold_worlds: NewWorld, adapter: str
) -> None:
    """In a storm some writes are sent twice, so a life may have fewer of them than the whole one,
    and end in peace.

    None has fewer than in the calm, so what is walked is every write, or more.
    """
    whole, world = Moment(), cold_worlds()
    await lived(world, whole)
    await world.close()
    assert len(whole.names) > 10, whole.names
    for at, name in enumerate(whole.names, 1):
        for after in (False, True):
            world, moment = cold_worlds(), Moment(at, after)
            before = await lived(world, moment)
            assert moment.dead or adapter == "storm", (at, after, name)
            ended, moment.dead = not moment.dead, True
            await nothing_is_lost(world, before)
            rescuer = await world.core()
            if at > 1 or after or ended:
                world.clock.forward(7200)
                await rescuer.sweep()
                tasks = [
                    task
                    for task in (await rescuer.tasks(ALICE, _all())).tasks
                    if task.kind == "archive"
                ]
                assert [
                    (await done(world, rescuer, Accepted(task.task_id))).status for task in tasks
                ] == ["succeeded"], (at, after, name)
            await archived(world, rescuer)
            await nothing_is_lost(world, before)
            assert {memory.status for memory in await listed(rescuer, status="all")} == {
                Status.ARCHIVED
            }
            await settled(world)
            moment.dead = False
            await world.close()


def _all() -> Any:
    from memory_core.domain.requests.memories import TasksInput

    return TasksInput(limit=100)


async def _update(core: MemoryCore, made: list[Memory]) -> None:
    bergen = await core.get(ALICE, made[1].id)
    await core.update(
        ALICE, bergen.id, UpdateInput(content="Ana lives in Bergen, still"), bergen.etag
    )


async def _touch(core: MemoryCore, made: list[Memory]) -> None:
    await accessed(core._services.adapters.long_term, ALICE, {made[1].id: AccessCount(3, NOW)})


async def _tell_earlier(core: MemoryCore, made: list[Memory]) -> None:
    """A late fact: stored already superseded by a member, which changes nothing of that member but
    what comes before it.
    """
    await core.save(
        ALICE, fact("Ana lives in Rome", **SLOT, event_timestamp=NOW.replace(year=2020))
    )


async def _tell_later(core: MemoryCore, made: list[Memory]) -> None:
    await core.save(ALICE, fact("Ana lives in Kiel", **SLOT))


async def _delete(core: MemoryCore, made: list[Memory]) -> None:
    await core.delete(ALICE, made[0].id)


async def _tell_elsewhere(core: MemoryCore, made: list[Memory]) -> None:
    await core.save(ALICE, turn("what a day", "s9"))


ACTS: dict[str, Act] = {
    "update": _update, "touch": _touch, "tell_earlier": _tell_earlier, "tell_later": _tell_later,
    "delete": _delete, "tell_elsewhere": _tell_elsewhere,
}  # fmt: skip


EVERY_STEP = frozenset({"update", "tell_earlier"})
"""Acts for which each single step of a run is tried; the others are tried at every third, and on
Cosmos DB, as slow, at every seventh.
"""


@pytest.mark.parametrize("act", ACTS)
async def test_overtaken_at_any_step_what_changed_stays_and_nothing_is_lost(
    cold_worlds: NewWorld, act: str
) -> None:
    at = 1
    while True:
        world = cold_worlds()
        steps = Steps(at)
        core = await world.core(
            wrap=lambda store, steps=steps: Stepping(store, steps),
            archive=Stepping(world.archive(), steps),
        )  # type: ignore[misc]
        other = await world.core()
        made = await told(world, core)
        accepted = await begun(core)
        refused: list[MemoryCoreError] = []

        async def then(
            other: MemoryCore = other,
            made: list[Memory] = made,
            refused: list[MemoryCoreError] = refused,
        ) -> None:
            try:
                await ACTS[act](other, made)
            except MemoryCoreError as error:  # it is in the archive already
                refused.append(error)

        steps.then, steps.asleep = then, False
        task = await done(world, core, accepted)
        if len(steps.names) < at:
            await world.close()
            assert at > 10
            return
        assert (task.status, task.error) == ("succeeded", None), (at, steps.names)
        await _checked(world, core, act, made, refused, (at, steps.names[: at + 1]))
        await world.close()
        at += 7 if world.elsewhere else 1 if act in EVERY_STEP else 3


async def _checked(
    world: World,
    core: MemoryCore,
    act: str,
    made: list[Memory],
    refused: list[MemoryCoreError],
    stored_before: Any,
) -> None:
    """What the other did is there, whole; then everything comes back, and it still is."""
    before = await everything(world)
    await nothing_is_lost(
        world, {name: memory for name, memory in before.items() if memory.archived_at is None}
    )
    await settled(world)
    cold = [memory.id for memory in await listed(core, status="archived")]
    for identity in cold:
        # its chain has not brought it back already
        if (await core.get(ALICE, identity)).archived_at is not None:
            await core.restore(ALICE, identity)
    after = await everything(world)
    assert all(
        memory.archived_at is None and memory.embedding is not None for memory in after.values()
    ), stored_before
    contents = {memory.content for memory in after.values()}
    wanted = {
        "Ana lives in Oslo",
        "Ana lives in Oslo, by the sea",
        "Ana lives in Bergen",
        "good morning",
        "good night",
    }
    assert wanted <= contents, stored_before
    standing = [memory.content for memory in await listed(core) if memory.attribute == "city"]
    if act == "update" and not refused:
        assert standing == ["Ana lives in Bergen, still"], stored_before
    elif act == "tell_later":
        assert standing == ["Ana lives in Kiel"], stored_before
    elif act == "touch":
        # a touch may be lost to a commit that had read the memory before
        assert after[made[1].id].access_count in (0, 3), stored_before
    elif act == "delete":
        assert (
            after[made[0].id].status is Status.DELETED
            or after[made[0].id].status is Status.SUPERSEDED
        ), stored_before
    if act in ("tell_earlier", "touch", "delete", "tell_elsewhere"):
        assert standing == ["Ana lives in Bergen"], stored_before


async def test_a_member_that_joins_while_the_copy_is_written_keeps_its_chain_hot(
    world: World,
) -> None:
    """What comes before a member changes nothing of the member itself: the revisions are those that
    were archived.
    """
    steps = Steps()
    core = await world.core(archive=Stepping(world.archive(), steps))
    made = await told(world, core)
    accepted = await begun(core)
    steps.at, steps.asleep = 3, False

    async def then() -> None:
        await _tell_earlier(core, made)

    steps.then = then
    task = await done(world, core, accepted)
    assert task.result is not None
    assert task.result["counts"]["abandoned"] == 1
    assert task.result["counts"]["swept"] == 1
    assert {memory.content for memory in await listed(core)} == {"Ana lives in Bergen"}
    await settled(world)


async def test_a_chain_that_writers_were_faster_with_goes_an_hour_later(world: World) -> None:
    """It waited for the next run, which begins when another memory has become old."""
    core = await world.core()
    (old,) = await saved(core, turn("good morning"))
    years_go_by(world)
    slow = await world.core(wrap=lambda store: Overtaking(store, core, times=TRIES))
    accepted = await begun(core)
    task = await done(world, slow, accepted)
    assert task.result is not None
    assert (task.result["counts"]["archived"], task.result["counts"]["abandoned"]) == (0, 1)
    for minutes, status in ((30, Status.ACTIVE), (35, Status.ARCHIVED)):
        world.clock.forward(60 * minutes)
        await core.sweep()
        await Hand(core, "consolidation").work_all()
        assert (await core.get(ALICE, old.id)).status is status
    await settled(world)


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_copies_that_are_written_at_once_make_one_key_of_names(world: World) -> None:
    steps = Steps()
    core = await world.core(archive=Stepping(world.archive(), steps))
    await told(world, core)
    accepted = await begun(core)
    steps.asleep = False
    await done(world, core, accepted)
    assert steps.names.count("put") == 3 + 1, steps.names


async def test_two_workers_on_one_run_do_it_once(world: World) -> None:
    steps = Steps()
    first = await world.core(archive=Stepping(world.archive(), steps))
    second = await world.core()
    await told(world, first)
    before = await everything(world)
    accepted = await begun(first)
    world_gate = asyncio.Event()

    async def frozen() -> None:
        world.clock.forward(3600)
        await done(world, second, accepted)
        world_gate.set()

    steps.at, steps.then, steps.asleep = 3, frozen, False
    await Hand(first, "consolidation").work_all()
    assert world_gate.is_set()
    task = await task_of(first, accepted)
    assert task.status == "succeeded"
    assert len([event for event in await world.log() if event.event_type == "archived"]) == 4
    await nothing_is_lost(world, before)
    await settled(world)


async def test_the_archive_down_the_task_waits_and_spends_no_attempt(world: World) -> None:
    archive = Stepping(world.archive())
    core = await world.core(archive=archive)
    made = await told(world, core)
    accepted = await begun(core)
    archive.down = True
    hand = Hand(core, "consolidation")
    for _ in range(6):
        await hand.work_all()
        world.clock.forward(1200)
    task = await task_of(core, accepted)
    assert (task.status, task.attempts) == ("accepted", 0)
    assert task.error is not None
    assert "archive" in task.error
    assert len(await listed(core, status="active")) == 3
    archive.down = False
    assert (await done(world, core, accepted)).status == "succeeded"
    archive.down = True
    with pytest.raises(Unavailable):
        await core.restore(ALICE, made[0].id)
    assert (await core.get(ALICE, made[0].id)).status is Status.ARCHIVED
    assert await core.save(ALICE, turn("life goes on"))


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_a_copy_that_is_not_what_was_written_leaves_its_chain_hot_and_is_counted(
    world: World,
) -> None:
    place = Folder(world.folder / "archive")
    steps = Steps()
    core = await world.core(archive=Stepping(place.process(), steps))
    await saved(core, turn("good morning"))
    years_go_by(world)
    before = await everything(world)
    # the key of the names is known then, and the first step is the first copy
    await archived(world, core, session_id="nobody's")
    spoilt: list[str] = []

    async def spoil() -> None:
        spoilt.append((await blobs(world))[0])
        await place.damage(spoilt[0], b"not this")

    accepted = await begun(core)
    steps.at, steps.then, steps.asleep = 1, spoil, False
    task = await done(world, core, accepted)
    assert task.result is not None
    assert task.result["counts"]["damaged"] == 1
    await nothing_is_lost(world, before)
    assert spoilt[0] not in await blobs(world)
    await settled(world)
    await archived(world, core)
    assert await listed(core) == []
    await nothing_is_lost(world, before)


async def test_a_damaged_copy_is_said_when_it_is_asked_for_and_the_stub_stays(
    world: World, core: MemoryCore
) -> None:
    made = await told(world, core)
    await archived(world, core)
    location = (await core.get(ALICE, made[2].id)).archival_location
    assert location is not None
    place: Place = world.cold or Folder(world.folder / "archive")
    await place.damage(location, b"spoilt")
    before = await world.head()
    with pytest.raises(Damaged):
        await core.restore(ALICE, made[2].id)
    assert (await core.get(ALICE, made[2].id)).content == "good morning"
    assert await world.head() == before
    archive = world.archive()
    await archive.open()
    await archive.remove(location)
    await archive.close()
    with pytest.raises(Damaged, match="gone"):
        await core.restore(ALICE, made[2].id)


async def test_many_who_restore_at_once_restore_once(world: World, core: MemoryCore) -> None:
    made = await told(world, core)
    before = await everything(world)
    await archived(world, core)
    processes = [core, *[await world.core() for _ in range(3)]]
    asked = [made[0].id, made[1].id]
    back = await asyncio.gather(
        *(process.restore(ALICE, asked[place % 2]) for place, process in enumerate(processes * 2))
    )
    assert len({memory.etag for memory in back}) == 2
    assert len([event for event in await world.log() if event.event_type == "restored"]) == 2
    after = await everything(world)
    for identity in asked:
        assert equal(
            after[identity],
            before[identity],
            "updated_at",
            "revision",
            "status_reason",
            "last_accessed_at",
        )
    await settled_after_sweep(world, core)


async def settled_after_sweep(world: World, core: MemoryCore) -> None:
    await archived(world, core)
    await settled(world)


async def test_a_restore_whose_process_dies_or_whose_answer_is_lost_is_done_once(
    cold_worlds: NewWorld,
) -> None:
    for at in (1, 2):
        for after in (False, True):
            world = cold_worlds()
            moment = Moment(at, after, asleep=True)
            core = await world.core(wrap=lambda store, moment=moment: Mortal(store, moment))  # type: ignore[misc]
            made, keyed = await told(world, core), Call(idempotency_key="k1")
            before = await everything(world)
            await archived(world, core)
            moment.asleep = False
            try:
                await core.restore(ALICE, made[0].id, keyed)
            except Killed:
                moment.dead, moment.asleep = True, True
            await nothing_is_lost(world, before)
            rescuer = await world.core()
            assert (await rescuer.restore(ALICE, made[0].id, keyed)).status is Status.SUPERSEDED
            assert (
                len([event for event in await world.log() if event.event_type == "restored"]) == 2
            )
            await settled_after_sweep(world, rescuer)
            moment.dead = False
            await world.close()


async def test_a_restore_between_archive_and_sweep_keeps_the_copies_that_are_pointed_to(
    cold_worlds: NewWorld,
) -> None:
    """At every step of a second run: what it sweeps is what is not pointed to then."""
    at = 1
    while True:
        world = cold_worlds()
        steps = Steps(at)
        core = await world.core(
            wrap=lambda store, steps=steps: Stepping(store, steps),
            archive=Stepping(world.archive(), steps),
        )  # type: ignore[misc]
        other = await world.core()
        made = await told(world, core)
        before = await everything(world)
        await archived(world, core)
        accepted = await begun(core)

        async def then(other: MemoryCore = other, made: list[Memory] = made) -> None:
            await other.restore(ALICE, made[0].id)

        steps.then, steps.asleep = then, False
        await done(world, core, accepted)
        await nothing_is_lost(world, before)
        steps.asleep = True
        await settled_after_sweep(world, core)
        await world.close()
        if len(steps.names) < at:
            assert at > 5, "it was overtaken at some steps at least"
            return
        at += 2 if world.elsewhere is None else 9


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_a_cancelled_run_leaves_what_it_moved_and_its_leftovers_are_swept(
    world: World,
) -> None:
    steps = Steps()
    core = await world.core(archive=Stepping(world.archive(), steps))
    await told(world, core)
    before = await everything(world)
    accepted = await begun(core)

    async def cancel() -> None:
        await core.cancel(ALICE, accepted.task_id)

    steps.at, steps.then, steps.asleep = 5, cancel, False
    task = await done(world, core, accepted)
    assert task.status == "cancelled"
    await nothing_is_lost(world, before)
    assert len(await blobs(world)) > len(await pointed_to(world))
    await archived(world, core)
    await nothing_is_lost(world, before)
    await settled(world)


async def test_a_dry_run_with_the_archive_down_still_counts(world: World) -> None:
    archive = Stepping(world.archive())
    core = await world.core(archive=archive)
    await told(world, core)
    archive.down = True
    seen: Any = await core.archive(ALICE, ArchiveInput(dry_run=True))
    assert seen.counts == {"archived": 4, "chains": 3, "too_large": 0}


async def test_of_a_user_who_is_erased_meanwhile_no_copy_is_left(world: World) -> None:
    """Whenever another life begins: the run commits nothing more, and takes back what it wrote."""
    steps = Steps()
    core = await world.core(archive=Stepping(world.archive(), steps))
    await told(world, core)
    await begun(core)

    async def erase() -> None:
        store = await world.look_on()
        head = (await store.snapshot(ALICE)).head
        assert head is not None
        erasing = head.model_copy(update={"epoch": "ep_another", "state": "erasing"})
        await Insistent(store).commit(ALICE, Batch("cmt_erase", head, erasing, (), ()))

    steps.at, steps.then, steps.asleep = 4, erase, False
    await Hand(core, "consolidation").work_all()
    assert len(steps.names) > 4
    assert await blobs(world) == []
    head = await world.head()
    assert head is not None
    assert (head.epoch, head.state) == ("ep_another", "erasing")

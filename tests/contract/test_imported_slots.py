"""What is exported has the logs of slots; of a file without them the first to write to a slot
builds its log from the memories.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import orjson
import pytest

from memory_core.core import MemoryCore
from memory_core.domain.requests.memories import ListInput, UpdateInput
from memory_core.domain.scope import Owner
from tests.builders import ALICE, NOW
from tests.conflicts import OSLO, lives
from tests.contract.test_forget import forgotten
from tests.exports import brought, exported, without_logs
from tests.world import BOB, World, fact, rule


async def held_true(core: MemoryCore, owner: Owner, days: float) -> list[str]:
    page = await core.list(owner, ListInput(at=NOW + timedelta(days=days), limit=100))
    return sorted(memory.content for memory in page.memories)


async def test_a_life_that_was_brought_in_goes_on_as_it_would_have_where_it_was(
    world: World,
) -> None:
    core = await world.core()
    await lives(core, "Oslo", -20)
    await lives(core, "Bergen", -15)
    turku = await lives(core, "Turku", -5)
    await core.delete(ALICE, turku.memory.id)
    task = await brought(world, core, await exported(world, core))
    assert task.status == "succeeded", task.error
    for owner in (ALICE, BOB):
        for days, town in ((-3, "Porto"), (-17, "Narvik"), (-1, "Bergen")):
            item: dict[str, Any] = {**OSLO, "event_timestamp": NOW + timedelta(days=days)}
            await core.save(owner, fact(f"Ana lives in {town}", **item))
        await core.restore(owner, turku.memory.id)
    for days in range(-21, 1):
        assert await held_true(core, BOB, days) == await held_true(core, ALICE, days), days
    await world.check_slots()


async def test_logs_are_brought_along_so_that_nothing_of_a_life_is_lost(world: World) -> None:
    """A trip that is undone gives its time back only to whom the log knows to have held it."""
    core = await world.core()
    await lives(core, "Oslo", -20)
    trip: dict[str, Any] = {
        "valid_from": NOW - timedelta(days=10),
        "valid_until": NOW - timedelta(days=8),
    }
    paris = await lives(core, "Paris", -7, **trip)
    await core.save(
        ALICE,
        fact(
            "Ana lives in Rome",
            on_conflict="keep_both",
            event_timestamp=NOW - timedelta(days=2),
            **OSLO,
        ),
    )
    assert (await brought(world, core, await exported(world, core))).status == "succeeded"
    assert [line async for line in core.slot_differences()] == []
    for owner in (ALICE, BOB):
        await core.delete(owner, paris.memory.id)
        await lives_as(core, owner, "Bergen", -5)
    for days in range(-21, 1):
        assert await held_true(core, BOB, days) == await held_true(core, ALICE, days), days
    await world.check_slots()


async def lives_as(core: MemoryCore, owner: Owner, town: str, days: int) -> None:
    await core.save(
        owner, fact(f"Ana lives in {town}", event_timestamp=NOW + timedelta(days=days), **OSLO)
    )


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_a_file_whose_memories_are_not_as_their_log_says_is_refused(world: World) -> None:
    core = await world.core()
    await lives(core, "Oslo", -20)
    await lives(core, "Bergen", -15)
    lines = [orjson.loads(line) for line in (await exported(world, core)).splitlines()]
    oslo = next(
        line
        for line in lines
        if line.get("kind") == "memory" and line["body"]["content"].endswith("Oslo")
    )
    oslo["body"]["valid_until"] = None
    task = await brought(world, core, b"".join(orjson.dumps(line) + b"\n" for line in lines))
    assert task.status == "failed"
    assert "is not as the log of its slot says: valid_until" in str(task.error)


async def brought_without_logs(world: World, core: MemoryCore) -> None:
    """Bring in for Bob what Alice has, as a version without logs would have written it."""
    task = await brought(world, core, without_logs(await exported(world, core)))
    assert task.status == "succeeded", task.error


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_a_file_of_an_earlier_version_without_logs_is_taken(world: World) -> None:
    core = await world.core()
    await lives(core, "Oslo", -20)
    await lives(core, "Bergen", -15)
    await brought_without_logs(world, core)
    await lives_as(core, BOB, "Turku", -3)
    truths = [await held_true(core, BOB, days) for days in (-18, -10, -1)]
    assert truths == [[f"Ana lives in {town}"] for town in ("Oslo", "Bergen", "Turku")]


@pytest.mark.parametrize("act", ["save", "bulk", "edit", "delete", "restore", "undo", "key"])
async def test_slots_without_logs_get_them_by_whatever_is_done_first(
    world: World, act: str
) -> None:
    core = await world.core()
    oslo = (await lives(core, "Oslo", -20)).memory
    bergen = (await lives(core, "Bergen", -15)).memory
    turku = (await lives(core, "Turku", -5)).memory
    await core.delete(ALICE, turku.id)
    for number, editor in enumerate(("vim", "nano")):
        event = NOW + timedelta(days=number - 10)
        await core.save(ALICE, rule("editor", editor, event_timestamp=event))
    await brought_without_logs(world, core)
    for owner in (ALICE, BOB):
        match act:
            case "save":
                await lives_as(core, owner, "Narvik", -17)
            case "bulk":
                towns = [
                    fact(f"Ana lives in {town}", event_timestamp=NOW + timedelta(days=day), **OSLO)
                    for town, day in (("Narvik", -17), ("Porto", -2))
                ]
                job = fact("Ana is a baker", subject="Ana", attribute="occupation")
                await core.bulk(owner, [*towns, job, rule("editor", "ed")])
            case "edit":
                await core.update(owner, bergen.id, UpdateInput(content="Ana lives in Bern"), "*")
            case "delete":
                await core.delete(owner, oslo.id)
            case "restore":
                await core.restore(owner, turku.id)
            case "undo":
                await core.restore(owner, oslo.id)
            case "key":
                late = NOW + timedelta(days=-9.5)
                await core.save(owner, rule("editor", "ed", event_timestamp=late))
    for days in range(-21, 1):
        assert await held_true(core, BOB, days) == await held_true(core, ALICE, days), days
    await world.check_slots()


async def test_two_processes_that_come_upon_a_slot_without_a_log_make_one(world: World) -> None:
    core, other = await world.core(), await world.core()
    await lives(core, "Oslo", -20)
    await lives(core, "Bergen", -15)
    await brought_without_logs(world, core)
    await asyncio.gather(
        *(
            lives_as(each, BOB, town, day)
            for each, town, day in (
                (core, "Turku", -3),
                (other, "Porto", -2),
                (core, "Narvik", -17),
                (other, "Bern", -1),
            )
        )
    )
    truths = [await held_true(core, BOB, days) for days in (-18, -16, -10, -2.5, -1.5, 0)]
    towns = ("Oslo", "Narvik", "Bergen", "Turku", "Porto", "Bern")
    assert truths == [[f"Ana lives in {town}"] for town in towns]
    await world.check_slots()


async def test_a_slot_of_which_all_was_forgotten_begins_anew(world: World) -> None:
    core = await world.core()
    oslo = (await lives(core, "Oslo", -20)).memory
    await forgotten(core, "hard", ids=[oslo.id])
    assert (await lives(core, "Bergen", -15)).outcome == "created"
    assert (await lives(core, "Turku", -10)).outcome == "superseded"
    assert await held_true(core, ALICE, -12) == ["Ana lives in Bergen"]
    await world.check_slots()

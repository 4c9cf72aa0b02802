"""What is exported has the logs of slots; of a file without them the first to write to a slot
builds its log from the memories.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import orjson
import pytest

from memory_core.core import MemoryCore
from memory_core.domain.requests.memories import ListInput
from memory_core.domain.scope import Owner
from tests.builders import ALICE, NOW
from tests.conflicts import OSLO, lives
from tests.exports import brought, exported
from tests.world import BOB, World, fact


async def held_true(core: MemoryCore, owner: Owner, days: int) -> list[str]:
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


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_a_file_of_an_earlier_version_without_logs_is_taken(world: World) -> None:
    core = await world.core()
    await lives(core, "Oslo", -20)
    await lives(core, "Bergen", -15)
    lines = [orjson.loads(line) for line in (await exported(world, core)).splitlines()]
    del lines[0]["counts"]["slot"]
    task = await brought(
        world,
        core,
        b"".join(orjson.dumps(line) + b"\n" for line in lines if line.get("kind") != "slot"),
    )
    assert task.status == "succeeded", task.error
    await lives_as(core, BOB, "Turku", -3)
    truths = [await held_true(core, BOB, days) for days in (-18, -10, -1)]
    assert truths == [[f"Ana lives in {town}"] for town in ("Oslo", "Bergen", "Turku")]

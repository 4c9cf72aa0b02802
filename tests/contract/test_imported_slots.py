"""What was exported has no logs of slots: the first to write to a slot builds its log from the memories."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from memory_core.core import MemoryCore
from memory_core.domain.requests import ListInput
from memory_core.domain.scope import Owner
from tests.builders import ALICE, NOW
from tests.conflicts import OSLO, lives
from tests.exports import brought, exported
from tests.world import BOB, World, fact


async def held_true(core: MemoryCore, owner: Owner, days: int) -> list[str]:
    page = await core.list(owner, ListInput(at=NOW + timedelta(days=days), limit=100))
    return sorted(one.content for one in page.memories)


async def test_a_life_that_was_brought_in_goes_on_as_it_would_have_where_it_was(world: World) -> None:
    core = await world.core()
    await lives(core, "Oslo", -20)
    await lives(core, "Bergen", -15)
    turku = await lives(core, "Turku", -5)
    await core.delete(ALICE, turku.memory.id)
    task = await brought(world, core, await exported(world, core))
    assert task.status == "succeeded", task.error
    for owner in (ALICE, BOB):
        for days, town in ((-3, "Porto"), (-17, "Narvik"), (-1, "Bergen")):
            told: dict[str, Any] = {**OSLO, "event_timestamp": NOW + timedelta(days=days)}
            await core.save(owner, fact(f"Ana lives in {town}", **told))
        await core.restore(owner, turku.memory.id)
    for days in range(-21, 1):
        assert await held_true(core, BOB, days) == await held_true(core, ALICE, days), days
    await world.check_slots()

"""What is announced, and deleted or put off before it begins, was as good as never said."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.memory import Memory
from memory_core.domain.requests.memories import ClearInput, StatusInput
from tests.builders import ALICE, NOW
from tests.contract.test_forget import forgotten
from tests.contract.test_imported_slots import held_true
from tests.contract.test_one_truth_a_moment import CITY, held, since
from tests.exports import brought, exported
from tests.world import BOB, World, fact, listed, rule


async def told(core: MemoryCore, city: str, day: int = 0, **fields: Any) -> Memory:
    item = fact(f"Ana lives in {city}", value=city, event_timestamp=NOW + timedelta(days=day))
    saved = await core.save(ALICE, item.model_copy(update={**CITY, **fields}))
    return saved.memory


async def announced(core: MemoryCore) -> tuple[Memory, Memory]:
    """Oslo, and Rome from the tenth day on."""
    oslo = await told(core, "Oslo", -20)
    return oslo, await told(core, "Rome", session_id="plans", **since(10))


@pytest.mark.parametrize("way", ["delete", "status", "clear", "soft", "hard"])
async def test_however_an_announcement_is_deleted_what_holds_goes_on(
    core: MemoryCore, world: World, way: str
) -> None:
    oslo, rome = await announced(core)
    assert await held(core, 9, 10) == ["Oslo", "Rome"]
    match way:
        case "delete":
            await core.delete(ALICE, rome.id)
        case "status":
            await core.set_status(ALICE, rome.id, StatusInput(status="deleted", reason="no"))
        case "clear":
            await core.clear(ALICE, ClearInput(session_id="plans"))
        case _:
            await forgotten(core, way, ids=[rome.id])
    assert await held(core, 9, 10, 90) == ["Oslo", "Oslo", "Oslo"]
    left = await core.get(ALICE, oslo.id)
    assert (left.valid_until, left.next_id) == (None, None)
    await world.check_slots()
    if way != "hard":
        gone = await core.get(ALICE, rome.id)
        reasons = {"clear": "cleared", "soft": "forgotten"}
        assert gone.status_reason == reasons.get(way, "manual_delete")
        back = await core.restore(ALICE, rome.id)
        assert (back.valid_from, back.valid_until) == (rome.valid_from, None)
        assert await held(core, 9, 10, 90) == ["Oslo", "Rome", "Rome"]
        await world.check_slots()


async def test_both_deleted_and_the_present_one_restored_it_goes_on(
    core: MemoryCore, world: World
) -> None:
    for memory in await announced(core):
        await core.delete(ALICE, memory.id)
    assert await held(core, 9, 10) == ["", ""]
    oslo = next(each for each in await listed(core, status="deleted") if each.value == "Oslo")
    await core.restore(ALICE, oslo.id)
    assert await held(core, 9, 10, 90) == ["Oslo", "Oslo", "Oslo"]
    await world.check_slots()


async def test_told_again_with_a_later_start_it_is_the_same_memory_that_begins_then(
    core: MemoryCore, world: World
) -> None:
    _, rome = await announced(core)
    world.clock.forward(3600)
    again = fact("Ana lives in Rome", value="Rome", **CITY, **since(40))
    saved = await core.save(ALICE, again)
    assert (saved.outcome.value, saved.memory.id) == ("reinforced", rome.id)
    assert saved.memory.valid_from == NOW + timedelta(days=40)
    assert await held(core, 9, 10, 39, 40) == ["Oslo", "Oslo", "Oslo", "Rome"]
    await world.check_slots()
    await core.delete(ALICE, rome.id)
    assert await held(core, 9, 40, 90) == ["Oslo", "Oslo", "Oslo"]
    await core.restore(ALICE, rome.id)
    assert await held(core, 10, 39, 40) == ["Oslo", "Oslo", "Rome"]
    await world.check_slots()


async def test_one_bulk_announces_it_and_puts_it_off(core: MemoryCore, world: World) -> None:
    await told(core, "Oslo", -20)
    items = [
        fact(
            "Ana lives in Rome",
            value="Rome",
            event_timestamp=NOW - timedelta(days=2 - number),
            **CITY,
            **since(start),
        )
        for number, start in enumerate((10, 40))
    ]
    await core.bulk(ALICE, items)
    assert await held(core, 9, 10, 39, 40) == ["Oslo", "Oslo", "Oslo", "Rome"]
    await world.check_slots()


@pytest.mark.parametrize("way", ["delete", "put off"])
async def test_the_coming_value_of_a_key(core: MemoryCore, world: World, way: str) -> None:
    await core.save(ALICE, rule("editor", "vim", event_timestamp=NOW - timedelta(days=5)))
    nano = await core.save(ALICE, rule("editor", "nano", **since(10)))
    world.clock.forward(3600)
    if way == "delete":
        await core.delete(ALICE, nano.memory.id)
    else:
        await core.save(ALICE, rule("editor", "nano", **since(40)))
    world.clock.forward(20 * 86_400)
    assert (await core.procedure(ALICE, "editor")).value == "vim"
    world.clock.forward(30 * 86_400)
    after = "vim" if way == "delete" else "nano"
    assert (await core.procedure(ALICE, "editor")).value == after
    await world.check_slots()


async def test_it_is_unsaid_where_it_is_brought_to(core: MemoryCore, world: World) -> None:
    _, rome = await announced(core)
    await core.delete(ALICE, rome.id)
    assert (await brought(world, core, await exported(world, core))).status == "succeeded"
    for owner in (ALICE, BOB):
        await core.save(owner, fact("Ana lives in Graz", value="Graz", **CITY, **since(60)))
        assert [await held_true(core, owner, days) for days in (9, 11, 61)] == [
            ["Ana lives in Oslo"],
            ["Ana lives in Oslo"],
            ["Ana lives in Graz"],
        ]
        await core.restore(owner, rome.id)
        assert await held_true(core, owner, 11) == ["Ana lives in Rome"]
    await world.check_slots()

"""A key finds the value that holds now, whatever was announced, was over, or was undone."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.memory import Memory, Status
from memory_core.domain.requests.memories import UpdateInput
from tests.builders import ALICE, NOW, StillClock
from tests.world import World, listed, rule

KEY = "editor"


def day(number: float) -> datetime:
    return NOW + timedelta(days=number - 40)


async def told(core: MemoryCore, value: str, number: int, **days: float) -> Memory:
    times: dict[str, Any] = {name: day(moment) for name, moment in days.items()}
    return (await core.save(ALICE, rule(KEY, value, event_timestamp=day(number), **times))).memory


async def held(core: MemoryCore, *numbers: float) -> list[str]:
    """The values that a list tells of these days."""
    pages = [await listed(core, at=day(number)) for number in numbers]
    return ["/".join(str(memory.value) for memory in page) for page in pages]


async def found(core: MemoryCore) -> Any:
    """The value by the key, which a list tells too, and that holds now."""
    memory = await core.procedure(ALICE, KEY)
    assert memory.status is Status.ACTIVE
    assert memory.id in [each.id for each in await listed(core)]
    assert await held(core, 40) == [memory.value]
    return memory.value


async def test_an_announced_value_leaves_the_present_one_until_it_begins(
    world: World, core: MemoryCore, clock: StillClock
) -> None:
    await told(core, "vim", 1)
    emacs = await told(core, "emacs", 10, valid_from=60)
    assert emacs.status is Status.ACTIVE
    assert await found(core) == "vim"
    assert await held(core, 59, 61) == ["vim", "emacs"]
    clock.moment = day(60.5)
    assert (await core.procedure(ALICE, KEY)).value == "emacs"
    assert [memory.value for memory in await listed(core)] == ["emacs"]
    await told(core, "nano", 61)
    assert await held(core, 59, 60.5, 62) == ["vim", "emacs", "nano"]
    await world.check_slots()


async def test_a_value_that_was_over_when_it_was_told_leaves_the_one_before(
    world: World, core: MemoryCore
) -> None:
    await told(core, "vim", 1)
    emacs = await told(core, "emacs", 15, valid_from=5, valid_until=12)
    assert (emacs.value, emacs.status) == ("emacs", Status.SUPERSEDED)
    assert await found(core) == "vim"
    assert await held(core, 3, 8, 13) == ["vim", "emacs", "vim"]
    await world.check_slots()


async def test_a_key_whose_change_is_undone_has_been_replaced_and_not_deleted(
    world: World, core: MemoryCore
) -> None:
    await told(core, "vim", 1)
    key = await told(core, "emacs", 10)
    nano = await told(core, "nano", 5)
    before = await core.get(ALICE, key.id)
    await core.restore(ALICE, nano.id)
    assert await found(core) == "nano"
    assert await held(core, 3, 8) == ["vim", "nano"]
    undone = await core.get(ALICE, key.id)
    assert (undone.status, undone.next_id) == (Status.SUPERSEDED, nano.id)
    await core.restore(ALICE, key.id)
    again = await core.get(ALICE, key.id)
    assert again.value == "emacs"
    assert (again.status, again.valid_from, again.valid_until, again.next_id) == (
        before.status,
        before.valid_from,
        before.valid_until,
        before.next_id,
    )
    assert await held(core, 3, 8, 11) == ["vim", "nano", "emacs"]
    await world.check_slots()


async def test_a_key_whose_change_is_undone_says_again_the_value_that_holds_on(
    world: World, core: MemoryCore
) -> None:
    await told(core, "vim", 1)
    key = await told(core, "emacs", 20, valid_from=10)
    nano = await told(core, "nano", 15, valid_from=5, valid_until=12)
    assert await held(core, 3, 8, 11, 13) == ["vim", "nano", "emacs", "emacs"]
    await core.restore(ALICE, nano.id)
    assert await found(core) == "vim"
    assert await held(core, 3, 8, 11, 13) == ["vim", "nano", "nano", "vim"]
    assert (await core.procedure(ALICE, KEY)).id == key.id
    await told(core, "helix", 30)
    assert await held(core, 3, 8, 11, 13, 31) == ["vim", "nano", "nano", "vim", "helix"]
    await world.check_slots()


@pytest.mark.parametrize("is_edited", [False, True])
async def test_a_value_that_turns_out_to_be_over_gives_back_the_one_before(
    world: World, core: MemoryCore, *, is_edited: bool
) -> None:
    await told(core, "vim", 1)
    key = await told(core, "emacs", 10)
    times = {"valid_from": day(5), "valid_until": day(9)}
    await core.update(ALICE, key.id, UpdateInput(**times), "*")
    assert await held(core, 3, 6, 9.5) == ["vim", "emacs", "vim"]
    assert await found(core) == "vim"
    if is_edited:
        await core.update(ALICE, key.id, UpdateInput(value="vi"), "*")
        assert await found(core) == "vi"
        assert await held(core, 3, 6, 9.5) == ["vim", "emacs", "vim"]
    await world.check_slots()

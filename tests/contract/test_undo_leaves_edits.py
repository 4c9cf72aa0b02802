"""An undo takes back what was said since and takes time from what comes back. A typo that was put
right in another memory takes none, so it stays.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.memory import Memory, Status
from memory_core.domain.requests.memories import UpdateInput
from tests.builders import ALICE, NOW
from tests.world import fact, listed

CITY: dict[str, Any] = {"subject": "Ana", "attribute": "city"}
START = NOW - timedelta(days=200)


def day(number: float) -> datetime:
    """A day of the story; the clock is on the 200th."""
    return START + timedelta(days=number)


async def lives(core: MemoryCore, city: str, day_told: float, **fields: Any) -> Memory:
    item = fact(f"Ana lives in {city}", event_timestamp=day(day_told), **(CITY | fields))
    return (await core.save(ALICE, item)).memory


async def edit(core: MemoryCore, memory: Memory, city: str, **fields: Any) -> Memory:
    asked = UpdateInput(content=f"Ana lives in {city}", **fields)
    return await core.update(ALICE, memory.id, asked, "*")


async def cities(core: MemoryCore, *days: float) -> list[str]:
    """What held on these days, several side by side with a slash between them."""
    by_day = [await listed(core, at=day(number)) for number in days]
    return [
        "/".join(sorted(memory.content.removeprefix("Ana lives in ") for memory in at))
        for at in by_day
    ]


async def test_an_edit_of_an_earlier_truth_stays_when_a_later_one_comes_back(
    core: MemoryCore,
) -> None:
    porto, faro = await lives(core, "Porot", 0), await lives(core, "Faro", 10)
    await lives(core, "Lisbon", 20)
    edited = await edit(core, porto, "Porto")
    await core.restore(ALICE, faro.id)
    after = await core.get(ALICE, porto.id)
    assert (after.status, after.version, after.content) == (
        Status.SUPERSEDED,
        edited.version,
        "Ana lives in Porto",
    )
    assert (after.next_id, after.valid_until) == (faro.id, day(10))
    assert await cities(core, 5, 15, 25) == ["Porto", "Faro", "Faro"]


async def test_an_edit_of_an_earlier_truth_stays_though_its_value_is_another(
    core: MemoryCore,
) -> None:
    porto, faro = await lives(core, "Porto", 0, value="Porto"), await lives(core, "Faro", 10)
    await lives(core, "Lisbon", 20)
    await edit(core, porto, "Braga", value="Braga")
    await edit(core, porto, "Sines", value="Sines")
    await core.restore(ALICE, faro.id)
    assert (await core.get(ALICE, porto.id)).version == 3
    assert await cities(core, 5, 15, 25) == ["Sines", "Faro", "Faro"]


async def test_an_edit_of_what_holds_stays_when_a_stay_that_was_over_comes_back(
    core: MemoryCore,
) -> None:
    porto = await lives(core, "Porot", 0)
    stay = await lives(core, "Faro", 30, valid_from=day(10), valid_until=day(12))
    edited = await edit(core, porto, "Porto")
    await core.restore(ALICE, stay.id)
    after = await core.get(ALICE, porto.id)
    assert (after.status, after.version) == (Status.ACTIVE, edited.version)
    assert await cities(core, 5, 11, 200) == ["Porot", "Faro", "Porto"]


async def test_an_edit_of_what_holds_stays_when_what_was_announced_comes_back(
    core: MemoryCore,
) -> None:
    porto = await lives(core, "Porot", 0)
    announced = await lives(core, "Faro", 10, valid_from=day(300))
    await lives(core, "Lisbon", 20, valid_from=day(300))
    edited = await edit(core, porto, "Porto")
    await core.restore(ALICE, announced.id)
    after = await core.get(ALICE, porto.id)
    assert (after.status, after.version, after.valid_until) == (
        Status.ACTIVE,
        edited.version,
        day(300),
    )
    assert await cities(core, 5, 250, 350) == ["Porot", "Porto", "Faro"]


async def test_an_edit_in_another_slot_or_in_none_stays(core: MemoryCore) -> None:
    faro = await lives(core, "Faro", 10)
    job = await lives(core, "a baker's", 5, attribute="job")
    alone = await lives(core, "peace", 5, subject=None, attribute=None)
    await lives(core, "Lisbon", 20)
    others = [await edit(core, memory, "other words") for memory in (job, alone)]
    await core.restore(ALICE, faro.id)
    for edited in others:
        assert (await core.get(ALICE, edited.id)).version == edited.version


@pytest.mark.parametrize("typo", [False, True])
async def test_an_edit_of_what_an_undo_takes_back_goes_with_it(
    core: MemoryCore, typo: bool
) -> None:
    faro, lisbon = await lives(core, "Faro", 10), await lives(core, "Lisbno", 20)
    await edit(core, lisbon, "Lisbon" if typo else "Braga")
    await core.restore(ALICE, faro.id)
    assert (await core.get(ALICE, lisbon.id)).status is Status.DELETED
    assert await cities(core, 15, 25, 200) == ["Faro", "Faro", "Faro"]


async def test_an_edit_that_took_time_from_what_comes_back_goes(core: MemoryCore) -> None:
    porto = await lives(core, "Porto", 5, valid_from=day(100))
    faro = await lives(core, "Faro", 10, valid_until=day(100))
    await edit(core, porto, "Braga", valid_from=day(50))
    assert await cities(core, 15, 60, 200) == ["Faro", "Braga", "Braga"]
    await core.restore(ALICE, faro.id)
    assert await cities(core, 15, 60) == ["Faro", "Faro"]


@pytest.mark.parametrize("edits", [1, 2])
@pytest.mark.parametrize("end", [{}, {"valid_until": day(300)}])
async def test_an_edit_that_took_time_gives_back_the_time_alone(
    core: MemoryCore, edits: int, end: dict[str, Any]
) -> None:
    """Its words stay, in what is left of the time that it named."""
    porto = await lives(core, "Porto", 5, valid_from=day(100))
    faro = await lives(core, "Faro", 10, valid_until=day(100))
    for city in ("Evora", "Braga")[-edits:]:
        edited = await edit(core, porto, city, valid_from=day(50), **end)
    await core.restore(ALICE, faro.id)
    after = await core.get(ALICE, porto.id)
    assert (after.status, after.version, after.content) == (
        Status.ACTIVE,
        edited.version,
        "Ana lives in Braga",
    )
    assert (after.valid_from, after.valid_until) == (day(100), end.get("valid_until"))
    assert await cities(core, 15, 60, 150, 200) == ["Faro", "Faro", "Braga", "Braga"]
    assert [line async for line in core.slot_differences("app", ALICE)] == []


async def test_an_edit_of_what_held_before_what_comes_back_leaves_it_as_it_was(
    core: MemoryCore,
) -> None:
    """It was said of a time that is not its memory's any more."""
    faro, porto = await lives(core, "Faro", 20), await lives(core, "Porto", 10)
    await core.restore(ALICE, porto.id)
    edited = await edit(core, porto, "Braga")
    await core.restore(ALICE, faro.id)
    assert (await core.restore(ALICE, faro.id)).status is Status.ACTIVE
    after = await core.get(ALICE, porto.id)
    assert (after.status, after.version) == (Status.SUPERSEDED, edited.version)
    assert await cities(core, 15, 25, 200) == ["Porto", "Faro", "Faro"]


async def test_an_edit_of_what_holds_no_more_takes_its_time_again_when_it_is_edited_again(
    core: MemoryCore,
) -> None:
    porto = await lives(core, "Porto", 5, valid_from=day(100))
    faro = await lives(core, "Faro", 10, valid_until=day(100))
    await edit(core, porto, "Braga", valid_from=day(50))
    await core.restore(ALICE, faro.id)
    await core.update(ALICE, porto.id, UpdateInput(valid_from=day(50)), "*")
    assert await cities(core, 15, 60, 150) == ["Faro", "Braga", "Braga"]


async def test_a_stay_put_right_stays_when_what_went_on_after_it_comes_back(
    core: MemoryCore,
) -> None:
    faro = await lives(core, "Faro", 10)
    stay = await lives(core, "Pariss", 30, valid_from=day(15), valid_until=day(17))
    await lives(core, "Lisbon", 40)
    edited = await edit(core, stay, "Paris")
    await core.restore(ALICE, faro.id)
    after = await core.get(ALICE, stay.id)
    assert (after.status, after.version) == (Status.SUPERSEDED, edited.version)
    assert await cities(core, 12, 16, 20, 50) == ["Faro", "Paris", "Faro", "Faro"]


async def test_what_was_said_again_stays_when_a_stay_that_was_over_comes_back(
    core: MemoryCore,
) -> None:
    porto = await lives(core, "Porto", 0)
    stay = await lives(core, "Faro", 30, valid_from=day(10), valid_until=day(12))
    await lives(core, "Porto", 40)
    await lives(core, "Lisbon", 50)
    await core.restore(ALICE, stay.id)
    assert (await core.get(ALICE, porto.id)).status is Status.SUPERSEDED
    assert await cities(core, 5, 11, 45, 200) == ["Porto", "Faro", "Porto", "Lisbon"]

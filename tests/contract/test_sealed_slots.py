"""A slot of many truths: the oldest of its log are sealed, which no answer shows,
whatever reaches back.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.errors import Conflict
from memory_core.domain.memory import Memory, Status
from memory_core.domain.requests.memories import UpdateInput
from memory_core.evolution.slot_log import MAX_STATEMENTS
from memory_core.ports import Document
from tests.builders import ALICE, NOW
from tests.contract.test_forget import forgotten
from tests.world import World, fact, listed

HOME = {"subject": "Ann", "attribute": "home"}
FIRST = NOW - timedelta(days=400)


def moment(number: float) -> datetime:
    return FIRST + timedelta(hours=6 * number)


async def lives_in(core: MemoryCore, city: str, number: float, **fields: object) -> Memory:
    item = fact(
        f"Ann lives in {city}", value=city, event_timestamp=moment(number), **{**HOME, **fields}
    )
    return (await core.save(ALICE, item)).memory


async def moved_often(core: MemoryCore, times: int) -> list[Memory]:
    return [await lives_in(core, f"town {number}", number) for number in range(times)]


async def homes(core: MemoryCore, number: float) -> list[str]:
    return [str(memory.value) for memory in await listed(core, at=moment(number), limit=5)]


async def logs(world: World) -> list[Document]:
    store = await world.look_on()
    return list(await store.page(ALICE, "slot", None, None, 50))


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_what_reaches_back_into_sealed_time_is_decided_by_all_that_was_said(
    core: MemoryCore, world: World
) -> None:
    towns = await moved_often(core, MAX_STATEMENTS + 10)
    assert len(await logs(world)) == 2
    assert max(len(log.body["entries"]) for log in await logs(world)) <= MAX_STATEMENTS
    assert [await homes(core, number) for number in (0, 7, 150, 209)] == [
        ["town 0"],
        ["town 7"],
        ["town 150"],
        ["town 209"],
    ]
    assert [line async for line in core.slot_differences()] == []

    # a trip, told when it was over
    await lives_in(core, "Paris", 7.9, valid_from=moment(7.5), valid_until=moment(7.7))
    assert [await homes(core, number) for number in (7.4, 7.6, 7.8)] == [
        ["town 7"],
        ["Paris"],
        ["town 7"],
    ]

    await core.delete(ALICE, towns[20].id)
    assert [await homes(core, number) for number in (19, 20, 21)] == [["town 19"], [], ["town 21"]]
    back = await core.restore(ALICE, towns[20].id)
    assert (back.status, back.valid_until) == (Status.SUPERSEDED, moment(21))

    memory = await core.get(ALICE, towns[30].id)
    await core.update(ALICE, memory.id, UpdateInput(valid_until=moment(30.5)), memory.etag)
    assert [await homes(core, number) for number in (30.4, 30.6, 31)] == [
        ["town 30"],
        [],
        ["town 31"],
    ]
    assert [line async for line in core.slot_differences()] == []

    last = await lives_in(core, "Rome", 300)
    assert [await homes(core, number) for number in (209, 299, 300)] == [
        ["town 209"],
        ["town 209"],
        ["Rome"],
    ]
    assert (await core.get(ALICE, towns[-1].id)).next_id == last.id

    (first,) = (each for each in await listed(core, at=moment(7.4)) if each.id != towns[7].id)
    with pytest.raises(Conflict, match=f"is an earlier time of {towns[7].id}"):
        await core.update(ALICE, first.id, UpdateInput(tags=["odd"]), first.etag)
    await forgotten(core, ids=[first.id])
    assert [await homes(core, number) for number in (7.4, 7.6, 7.8)] == [[], ["Paris"], []]
    assert [line async for line in core.slot_differences()] == []


@pytest.mark.parametrize("adapter", ["sqlite", "cosmos"], indirect=True)
async def test_what_is_forgotten_for_good_is_forgotten_in_sealed_parts_too(
    core: MemoryCore, world: World
) -> None:
    towns = await moved_often(core, MAX_STATEMENTS + 5)
    odd = await lives_in(core, "Xanten", 3, tags=["odd"])  # said later of the same moment
    assert await homes(core, 3) == ["Xanten"]
    await forgotten(core, "hard", tags=["odd"])
    assert odd.id not in repr([log.body for log in await logs(world)])
    assert [await homes(core, number) for number in (2, 3, 4)] == [["town 2"], [], ["town 4"]]
    assert towns[3].id in repr([log.body for log in await logs(world)])
    assert [line async for line in core.slot_differences()] == []

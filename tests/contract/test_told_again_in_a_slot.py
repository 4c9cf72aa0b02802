"""What is told again is one memory: of an earlier time, and with or without its value."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.errors import Conflict
from memory_core.domain.memory import MemoryType, Outcome, Status
from memory_core.domain.requests.memories import SaveInput, StatusInput, UpdateInput
from tests.builders import ALICE, NOW
from tests.conflicts import lives, records_of
from tests.world import World, listed


async def test_a_fact_told_of_an_earlier_time_begins_then(world: World, core: MemoryCore) -> None:
    first = await lives(core, "Oslo", -2)
    again = await lives(core, "Oslo", -9)
    assert (again.outcome, again.memory.id) == (Outcome.REINFORCED, first.memory.id)
    (memory,) = await listed(core, ALICE, status="all")
    assert (memory.valid_from, memory.valid_until) == (NOW - timedelta(days=9), None)
    assert memory.status is Status.ACTIVE
    assert await records_of(world) == []
    assert await listed(core, ALICE, at=NOW - timedelta(days=5)) != []


async def test_another_value_before_it_stays_a_change_that_is_recorded(core: MemoryCore) -> None:
    await lives(core, "Rome", -20)
    first = await lives(core, "Oslo", -2)
    earlier = await lives(core, "Oslo", -9)
    assert earlier.memory.id != first.memory.id
    assert [each.content for each in await listed(core, ALICE, at=NOW - timedelta(days=5))] == [
        "Ana lives in Oslo"
    ]


async def test_a_value_that_ended_between_is_another_time(core: MemoryCore) -> None:
    await lives(core, "Oslo", -2)
    await lives(core, "Rome", -5)
    earlier = await lives(core, "Oslo", -9)
    assert earlier.outcome is not Outcome.REINFORCED
    assert [each.content for each in await listed(core, ALICE, at=NOW - timedelta(days=4))] == [
        "Ana lives in Rome"
    ]


async def test_what_is_done_to_an_earlier_time_alone_is_refused_with_the_id_of_its_fact(
    core: MemoryCore,
) -> None:
    oslo = (await lives(core, "Oslo", -9)).memory
    await lives(core, "Oslo", -2)
    rome = (await lives(core, "Rome", -5)).memory
    before = await listed(core, status="all")
    (name,) = (each.id for each in before if each.id not in (oslo.id, rome.id))
    done: list[Callable[[], Awaitable[Any]]] = [
        *(
            partial(core.update, ALICE, name, UpdateInput.model_validate(fields), "*")
            for fields in (
                {"content": "Ana lives in Bergen"},
                {"valid_from": NOW - timedelta(days=30)},
                {"tags": ["home"]},
                {"pinned": True},
            )
        ),
        partial(core.delete, ALICE, name),
        partial(core.restore, ALICE, name),
        partial(core.set_status, ALICE, name, StatusInput(status=Status.ACTIVE)),
    ]
    for do in done:
        with pytest.raises(Conflict, match=f"is an earlier time of {oslo.id}"):
            await do()
    assert await listed(core, status="all") == before

    await core.delete(ALICE, oslo.id)
    for do in done[-2:]:
        with pytest.raises(Conflict, match=f"is an earlier time of {oslo.id}"):
            await do()
    await core.restore(ALICE, oslo.id)
    assert [each.status for each in await listed(core, status="all")] == [
        each.status for each in before
    ]


async def test_a_key_told_of_an_earlier_time_begins_then(core: MemoryCore) -> None:
    async def theme(days: int) -> None:
        await core.save(
            ALICE,
            SaveInput(
                type=MemoryType.PROCEDURAL,
                content="User wants the dark theme",
                key="theme",
                value="dark",
                event_timestamp=NOW + timedelta(days=days),
            ),
        )

    await theme(-2)
    await theme(-9)
    (memory,) = await listed(core, ALICE, status="all")
    assert (memory.valid_from, memory.valid_until) == (NOW - timedelta(days=9), None)


@pytest.mark.parametrize("values", [("Oslo", None), (None, "Oslo"), ("Oslo", None, "Oslo")])
async def test_the_same_words_with_and_without_a_value_are_one_memory(
    world: World, core: MemoryCore, values: tuple[str | None, ...]
) -> None:
    saved = [
        await lives(core, "Oslo", number - 9, value=value) for number, value in enumerate(values)
    ]
    assert [each.outcome for each in saved[1:]] == [Outcome.REINFORCED] * (len(values) - 1)
    (memory,) = await listed(core, ALICE, status="all")
    assert (memory.valid_from, memory.value) == (NOW - timedelta(days=9), values[0])
    assert await records_of(world) == []
    rome = await lives(core, "Rome", -1, value="Rome")
    assert rome.outcome is Outcome.SUPERSEDED


async def test_the_same_words_without_a_value_begin_earlier_too(core: MemoryCore) -> None:
    await lives(core, "Oslo", -2, value="Oslo")
    assert (await lives(core, "Oslo", -9)).outcome is Outcome.REINFORCED
    (memory,) = await listed(core, ALICE, status="all")
    assert (memory.valid_from, memory.value) == (NOW - timedelta(days=9), "Oslo")


async def test_other_words_without_a_value_are_another_value(core: MemoryCore) -> None:
    await lives(core, "Oslo", -9, value="Oslo")
    assert (await lives(core, "Bergen", -2)).outcome is Outcome.SUPERSEDED


async def test_the_same_words_with_other_values_are_two(core: MemoryCore) -> None:
    await lives(core, "two places", -9, value="Oslo")
    assert (await lives(core, "two places", -2, value="Rome")).outcome is Outcome.SUPERSEDED

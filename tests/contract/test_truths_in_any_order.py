"""A truth that returns, told in every order: each moment has the right value, one truth is
active, and the chain ends.
"""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from itertools import permutations
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.memory import Memory, MemoryType, Status
from memory_core.domain.requests.memories import SaveInput
from memory_core.domain.results import Saved
from memory_core.domain.scope import Owner
from tests.builders import ALICE, NOW
from tests.tasks import Hand, formed_counts
from tests.telling import Tellers, of_category, talk, tell
from tests.world import World, listed

Telling = tuple[int, str]
RETURNING = [("Oslo", "Bergen", "Oslo", "Bergen"), ("Oslo", "Bergen", "Oslo", "Turku")]


def day(number: float) -> datetime:
    return NOW + timedelta(days=number)


def city(telling: Telling) -> SaveInput:
    moment, value = day(telling[0]), telling[1]
    slot = {"subject": "Ana", "attribute": "city", "value": value}
    return SaveInput(
        type=MemoryType.SEMANTIC,
        content=f"Ana's city is {value}",
        category="fact",
        event_timestamp=moment,
        **slot,
    )


async def facts(core: MemoryCore, owner: Owner, **query: Any) -> list[Memory]:
    return [memory for memory in await listed(core, owner, **query) if memory.category == "fact"]


async def check(core: MemoryCore, owner: Owner, values: tuple[str, ...]) -> None:
    for number, value in enumerate(values):
        assert [fact.value for fact in await facts(core, owner, at=day(number + 0.5))] == [value], (
            number
        )
    assert [fact.value for fact in await facts(core, owner)] == [values[-1]]
    memories = {fact.id: fact for fact in await facts(core, owner, status="all")}
    for memory in memories.values():
        assert (
            memory.next_id is None
            if memory.status is Status.ACTIVE
            else memories[memory.next_id or ""].valid_from > memory.valid_from
        )


@pytest.mark.parametrize("values", RETURNING)
async def test_saved_in_any_order_a_truth_that_returns_is_right_at_every_moment(
    core: MemoryCore, values: tuple[str, ...]
) -> None:
    for number, order in enumerate(permutations(enumerate(values))):
        owner = Owner("app", f"user{number}")
        for telling in order:
            await core.save(owner, city(telling))
        await check(core, owner, values)


@pytest.mark.parametrize("values", RETURNING)
async def test_in_one_call_it_is_right_as_well(core: MemoryCore, values: tuple[str, ...]) -> None:
    for number, order in enumerate(permutations(enumerate(values))):
        owner = Owner("app", f"user{number}")
        assert all(
            isinstance(result, Saved)
            for result in await core.bulk(owner, [city(telling) for telling in order])
        )
        await check(core, owner, values)


async def test_told_in_any_order_a_truth_that_returns_is_right_at_every_moment(
    world: World,
) -> None:
    core = await world.core(agents=Tellers(notes=False))
    for number, order in enumerate(permutations(enumerate(RETURNING[0]))):
        owner = Owner("app", f"user{number}")
        for place, value in order:
            await core.converse(
                owner, talk(f"Ana's city is {value}", at=day(place), session=f"{place}")
            )
            await Hand(core).work_all()
        await check(core, owner, RETURNING[0])


async def test_worked_on_by_two_processes_at_once_it_is_right_as_well(world: World) -> None:
    cores = [await world.core(agents=Tellers(notes=False), commit_deadline_s=60) for _ in range(2)]
    for place, value in reversed(list(enumerate(RETURNING[0]))):
        await cores[0].converse(
            ALICE, talk(f"Ana's city is {value}", at=day(place), session=f"{place}")
        )
    deliveries = await Hand(cores[0]).take()
    await asyncio.gather(
        *(Hand(cores[place % 2]).work(delivery) for place, delivery in enumerate(deliveries))
    )
    await check(cores[0], ALICE, RETURNING[0])


async def test_the_cells_of_a_truth_that_was_interrupted_know_the_truth_that_stands(
    world: World,
) -> None:
    core = await world.core(agents=Tellers())
    for place, value in ((0, "Oslo"), (2, "Oslo"), (1, "Bergen")):
        await tell(core, f"Ana's city is {value}", at=day(place), session=f"{place}")
    oslo, bergen, again = sorted(
        await facts(core, ALICE, status="all"), key=lambda fact: fact.valid_from
    )
    assert [memory.value for memory in (oslo, bergen, again)] == ["Oslo", "Bergen", "Oslo"]
    assert [memory.supersedes_id for memory in (oslo, bergen, again)] == [None, oslo.id, bergen.id]
    assert (oslo.status_reason, oslo.valid_until, oslo.next_id) == (
        "contradicted",
        day(1),
        bergen.id,
    )
    assert (again.status, again.reinforcement_count) == (Status.ACTIVE, 1)
    first, other, last = await of_category(core, "cell")
    named = [
        (cell.atomic_facts[0].fact_id, cell.atomic_facts[0].superseded_by)
        for cell in (first, other, last)
    ]
    assert named == [(again.id, None), (bergen.id, again.id), (again.id, None)]
    assert await formed_counts(world, core) == {"active": 7, "superseded": 2}


async def test_what_was_told_earlier_of_the_present_truth_holds_until_that(
    core: MemoryCore,
) -> None:
    await core.save(ALICE, city((0, "Oslo")))
    await core.save(ALICE, city((3, "Bergen")))
    earlier = await core.save(ALICE, city((2, "Bergen")))
    assert (earlier.outcome, earlier.memory.valid_from) == ("created", day(2)), (
        "who said it first keeps an id of its own"
    )
    assert [fact.value for fact in await facts(core, ALICE, at=day(2.5))] == ["Bergen"]
    assert [fact.value for fact in await facts(core, ALICE, at=day(1.5))] == ["Oslo"]


async def test_when_a_truth_was_told_is_nobodys_business_but_ours(core: MemoryCore) -> None:
    for place in range(3):
        saved = await core.save(ALICE, city((place, "Oslo")))
    assert "told_at" not in saved.memory.public()


async def test_a_truth_that_only_an_ending_told_apart_before_is_told_apart_by_what_was_ended(
    world: World,
) -> None:
    """A caller that looks for the past of a slot can't know beforehand which of its
    truths held twice.
    """
    core = await world.core(agents=Tellers(notes=False))
    lines = {0: "Oslo", 5: "no longer Bergen", 7: "Oslo", 3: "Bergen"}
    for place, value in lines.items():
        assert (
            await tell(core, f"Ana's city is {value}", at=day(place), session=f"{place}")
        ).status == "succeeded"
    for at, value in ((1, "Oslo"), (4, "Bergen"), (6, {"no_longer": "Bergen"}), (8, "Oslo")):
        assert [fact.value for fact in await facts(core, ALICE, at=day(at))] == [value], at
    (standing,) = await facts(core, ALICE)
    assert (standing.value, standing.valid_from) == ("Oslo", day(7))


async def test_an_ending_that_changes_nothing_is_kept_once(world: World) -> None:
    core = await world.core(agents=Tellers(notes=False))
    for place, value in enumerate(
        ("Lisbon", "no longer Berlin", "no longer Berlin", "no longer Berlin")
    ):
        await tell(core, f"Ana's city is {value}", at=day(place), session=f"{place}")
    assert [(fact.value, fact.reinforcement_count) for fact in await facts(core, ALICE)] == [
        ("Lisbon", 0)
    ]
    assert [fact.reinforcement_count for fact in await facts(core, ALICE, status="superseded")] == [
        2
    ]

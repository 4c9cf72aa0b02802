"""Frozen answers: asked once, the same for everybody, gone with their user."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from memory_core.domain.agent_schemas import Answered, Boundaries, Cut, Provenance
from memory_core.domain.errors import AgentFailed, NotFound, Unavailable
from memory_core.ports import LongTermStore
from memory_core.tasks.agent_steps import LIFETIME, Steps
from tests.builders import ALICE, StillClock, batch, commit
from tests.contract.conftest import StoreFactory
from tests.world import Down


class Oracle:
    """Never answers the same thing twice."""

    def __init__(self, after: int = 0) -> None:
        self.asked = after

    async def __call__(self) -> Answered[Boundaries]:
        self.asked += 1
        return Answered(
            Boundaries(cuts=[Cut(after=self.asked)]),
            Provenance("oracle", "boundary", "3"),
            (120, 7),
            by_rule=True,
        )


async def frozen(
    store: LongTermStore,
    clock: StillClock,
    oracle: Oracle,
    work: str = "cnv_1",
    name: str = "boundary",
) -> Answered[Boundaries]:
    return await Steps(store, clock).frozen(ALICE, work, name, oracle, Boundaries)


async def test_what_was_answered_once_is_the_answer_from_then_on(
    store: LongTermStore, clock: StillClock
) -> None:
    await commit(store, ALICE)
    oracle = Oracle()
    first, again = [await frozen(store, clock, oracle) for _ in range(2)]
    assert oracle.asked == 1
    assert (again.value, again.provenance) == (first.value, first.provenance)
    assert again.by_rule
    assert (first.tokens, again.tokens) == ((120, 7), (0, 0)), "they are counted when they are paid"


async def test_each_step_of_each_work_is_a_question_of_its_own(
    store: LongTermStore, clock: StillClock
) -> None:
    await commit(store, ALICE)
    oracle = Oracle()
    asked = [
        ("cnv_1", "boundary"),
        ("cnv_1", "boundary 1"),
        ("cnv_2", "boundary"),
        ("cnv_1", "boundary"),
    ]
    cuts = [
        (await frozen(store, clock, oracle, work, name)).value.cuts[0].after for work, name in asked
    ]
    assert cuts == [1, 2, 3, 1]


async def test_of_two_who_ask_at_once_both_use_the_answer_that_was_stored_first(
    store_factory: StoreFactory, clock: StillClock
) -> None:
    stores = [await store_factory(), await store_factory()]
    await commit(stores[0], ALICE)
    oracles = [Oracle(), Oracle(after=100)]
    both = await asyncio.gather(
        *(frozen(store, clock, oracle) for store, oracle in zip(stores, oracles, strict=True))
    )
    assert both[0].value == both[1].value
    assert (await frozen(stores[1], clock, Oracle(after=200))).value == both[0].value


async def test_an_answer_that_never_came_is_asked_for_again(
    store: LongTermStore, clock: StillClock
) -> None:
    await commit(store, ALICE)

    async def fails() -> Answered[Boundaries]:
        raise AgentFailed("garbage")

    with pytest.raises(AgentFailed):
        await Steps(store, clock).frozen(ALICE, "cnv_1", "boundary", fails, Boundaries)
    assert (await frozen(store, clock, Oracle())).value.cuts[0].after == 1


async def test_an_answer_that_can_not_be_stored_is_not_used(
    store: LongTermStore, clock: StillClock
) -> None:
    await commit(store, ALICE)
    switched = Down(store)

    async def paid() -> Answered[Boundaries]:
        switched.down = True
        return await Oracle()()

    with pytest.raises(Unavailable):
        await Steps(switched, clock).frozen(ALICE, "cnv_1", "boundary", paid, Boundaries)


async def test_a_step_lives_as_long_as_a_message_that_may_come_again(
    store: LongTermStore, clock: StillClock
) -> None:
    await commit(store, ALICE)
    oracle = Oracle()
    await frozen(store, clock, oracle)
    clock.forward((LIFETIME - timedelta(minutes=1)).total_seconds())
    await frozen(store, clock, oracle)
    assert oracle.asked == 1
    clock.forward(120)
    await frozen(store, clock, oracle)
    assert oracle.asked == 2


async def test_answers_of_before_the_user_was_erased_are_void_and_none_are_kept_of_an_erased_one(
    store: LongTermStore, clock: StillClock
) -> None:
    head = await commit(store, ALICE)
    oracle = Oracle()
    assert (await frozen(store, clock, oracle)).value.cuts[0].after == 1
    await store.commit(ALICE, batch(head, events=0, head={"epoch": "epoch-2"}))
    assert (await frozen(store, clock, oracle)).value.cuts[0].after == 2
    assert (await frozen(store, clock, oracle)).value.cuts[0].after == 2
    snapshot = await store.snapshot(ALICE)
    await store.commit(ALICE, batch(snapshot.head, events=0, head={"state": "erasing"}))
    with pytest.raises(NotFound):
        await frozen(store, clock, oracle, "cnv_2")
    assert oracle.asked == 2


async def test_for_an_unknown_user_nobody_is_asked(store: LongTermStore, clock: StillClock) -> None:
    oracle = Oracle()
    with pytest.raises(NotFound):
        await frozen(store, clock, oracle)
    assert oracle.asked == 0

"""The tokens that an app may spend in a day: one count for all processes on the same store."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, cast

import pytest

from memory_core.access.usage import Usage, UsageLimits
from memory_core.adapters.openai.budget import LEAST_BLOCK, Budget
from memory_core.domain.errors import AgentFailed, Unavailable
from memory_core.domain.scope import Owner
from memory_core.ports import LongTermStore
from tests.builders import StillClock
from tests.contract.conftest import StoreFactory
from tests.world import World, fact

CAP = 20 * LEAST_BLOCK
CALL = 1_500


@dataclass
class Asked:
    """A store that counts its calls, until it is `down`."""

    inner: LongTermStore
    calls: int = 0
    down: bool = False

    def __getattr__(self, name: str) -> Any:
        if self.down:
            raise Unavailable("long_term", "down")
        self.calls += 1
        return getattr(self.inner, name)


ANA = Owner("shop", "ana")


async def spent(budget: Budget, owner: Owner = ANA) -> int:
    """Ask until the day is used up; how many tokens that took."""
    total = 0
    while True:
        try:
            await budget.check(owner)
        except AgentFailed:
            return total
        budget.spend(owner, CALL)
        total += CALL


async def test_processes_together_spend_the_day_and_no_more(
    store_factory: StoreFactory, clock: StillClock
) -> None:
    budgets = [Budget(CAP, clock, await store_factory()) for _ in range(3)]
    total = sum(await asyncio.gather(*map(spent, budgets)))
    assert CAP - 3 * LEAST_BLOCK < total <= CAP + 3 * CALL
    assert await spent(Budget(CAP, clock, await store_factory())) == 0, (
        "a process that begins later has nothing left"
    )
    assert [budget.exhausted() for budget in budgets] == [{"apps_over_daily_tokens": 1}] * 3
    assert await spent(budgets[0], Owner("another-app", "ana")) >= CAP
    clock.forward(86_400)
    assert budgets[0].exhausted() == {}
    assert sum([await spent(budget) for budget in budgets]) >= CAP


async def test_a_block_costs_two_requests_and_a_used_up_day_none(
    store: LongTermStore, clock: StillClock
) -> None:
    seen = Asked(store)
    budget = Budget(CAP, clock, cast("LongTermStore", seen))
    await spent(budget)
    asked = seen.calls
    assert asked <= 2 * (CAP // LEAST_BLOCK + 1)
    assert await spent(budget) == 0
    assert seen.calls == asked
    seen.down = True
    with pytest.raises(Unavailable):
        await Budget(CAP, clock, cast("LongTermStore", seen)).check(ANA)


async def test_a_user_spends_their_own_day_and_others_go_on(
    world: World, clock: StillClock
) -> None:
    core, store = await world.core(), await world.look_on()
    ben = Owner("shop", "ben")
    for owner in (ANA, ben):
        await core.save(owner, fact("They like tea"))
    budgets = [Budget(3 * CAP, clock, store, user_daily_tokens=20_000) for _ in range(3)]
    assert 20_000 - 3 * 1_000 < sum(await asyncio.gather(*map(spent, budgets))) <= 20_000 + 3 * CALL
    assert budgets[0].exhausted() == {"users_over_daily_tokens": 1}
    assert await spent(Budget(None, clock, store, user_daily_tokens=20_000), ben) >= 20_000
    clock.forward(86_400)
    assert await spent(budgets[0]) >= 20_000
    await core.erase(ANA)
    assert await spent(Budget(None, clock, store, user_daily_tokens=20_000)) >= 20_000, (
        "what was counted of an erased user is gone with them"
    )


async def test_an_erased_user_begins_the_day_anew_in_the_process_that_knew_them_as_over_it(
    world: World, clock: StillClock
) -> None:
    core, store = await world.core(), await world.look_on()
    await core.save(ANA, fact("They like tea"))
    budget = Budget(None, clock, store, user_daily_tokens=20_000)
    await spent(budget)
    assert await spent(budget) == 0
    assert budget.exhausted() == {"users_over_daily_tokens": 1}
    await core.erase(ANA)
    assert 20_000 <= await spent(budget) < 20_000 + CALL, (
        "what went over the day in the life before is not asked back"
    )
    assert await spent(budget) == 0


async def test_a_user_of_whom_nothing_is_kept_has_a_day_too(
    store: LongTermStore, clock: StillClock
) -> None:
    budget = Budget(None, clock, store, user_daily_tokens=20_000)
    idle_owner = Owner("shop", "nobody")
    assert 20_000 <= await spent(budget, idle_owner) < 20_000 + CALL
    assert await spent(budget, idle_owner) == 0
    begun_later = Budget(None, clock, store, user_daily_tokens=20_000)
    assert await spent(begun_later, idle_owner) == 0
    usage = Usage(store, cast("Any", None), clock, UsageLimits(tokens_per_user=20_000))
    assert (await usage.of_user(idle_owner))["model_tokens"]["used"] == 20_000

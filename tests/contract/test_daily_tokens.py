"""The tokens that an app may spend in a day: one count for all processes on the same store."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, cast

import pytest

from memory_core.adapters.openai.agents import LEAST_BLOCK, Budget
from memory_core.domain.errors import AgentFailed, Unavailable
from memory_core.ports import LongTermStore
from tests.builders import StillClock
from tests.contract.conftest import StoreFactory

CAP = 4 * LEAST_BLOCK
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


async def spent(budget: Budget, app_id: str = "shop") -> int:
    """Ask until the day is used up; how many tokens that took."""
    total = 0
    while True:
        try:
            await budget.check(app_id)
        except AgentFailed:
            return total
        budget.spend(app_id, CALL)
        total += CALL


async def test_processes_together_spend_the_day_and_no_more(store_factory: StoreFactory, clock: StillClock) -> None:
    budgets = [Budget(CAP, clock, await store_factory()) for _ in range(3)]
    total = sum(await asyncio.gather(*map(spent, budgets)))
    assert CAP - 3 * LEAST_BLOCK < total <= CAP + 3 * CALL
    assert await spent(Budget(CAP, clock, await store_factory())) == 0, "a process that begins later has nothing left"
    assert [budget.exhausted() for budget in budgets] == [1, 1, 1]
    assert await spent(budgets[0], "another-app") >= CAP
    clock.forward(86_400)
    assert budgets[0].exhausted() == 0
    assert sum([await spent(budget) for budget in budgets]) >= CAP


async def test_a_block_costs_two_requests_and_a_used_up_day_none(store: LongTermStore, clock: StillClock) -> None:
    seen = Asked(store)
    budget = Budget(CAP, clock, cast("LongTermStore", seen))
    await spent(budget)
    asked = seen.calls
    assert asked <= 2 * (CAP // LEAST_BLOCK + 1)
    assert await spent(budget) == 0
    assert seen.calls == asked
    seen.down = True
    with pytest.raises(Unavailable):
        await Budget(CAP, clock, cast("LongTermStore", seen)).check("shop")

"""Workers whose clocks are wrong: a clock that is hours ahead holds up no user,
and clocks that differ by up to a minute share no lease.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta

import pytest

from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.errors import Conflict
from memory_core.domain.requests.maintenance import ImportInput
from memory_core.domain.results import Accepted
from memory_core.ports import POISON, Delivery
from memory_core.tasks.lifecycle import message_for
from tests.agents import Gate, ScriptedAgents
from tests.batches import IDLE_S, gather, handed_over
from tests.builders import ALICE, NOW, StillClock
from tests.runs import QUEUE, hour, runs
from tests.tasks import ASKED, VISIBILITY, Hand, converse, formed_once, pending, task_of
from tests.world import DiesAfter, Killed, World, turn

HOURS = timedelta(hours=3)
SETTLE_S = 2
LEASE_S = Settings.model_fields["task_lease_s"].default


def wrong_by(difference: timedelta) -> StillClock:
    return StillClock(NOW + difference)


async def begin_and_be_killed(world: World, difference: timedelta) -> None:
    """A worker takes the lease of the conversation and is killed. difference: how far its clock is
    ahead.
    """
    gate = Gate("summary")
    worker = await world.core(agents=ScriptedAgents(before=gate), clock=wrong_by(difference))
    (delivery,) = await Hand(worker).take()
    working = asyncio.create_task(Hand(worker).work(delivery))
    await gate.reached.wait()
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    await world.end(worker)


async def killed_at_work(world: World, difference: timedelta) -> tuple[MemoryCore, Accepted]:
    """A process with a right clock, and a conversation of which another's worker took the lease
    before it was killed. difference: how far the other's clock is ahead.
    """
    core = await world.core()
    accepted = await converse(core)
    await begin_and_be_killed(world, difference)
    return core, accepted


async def killed_with_a_right_clock(world: World) -> tuple[MemoryCore, Accepted]:
    """A process with a right clock, and a conversation that another with one had begun to form
    before it was killed; it had been accepted by a clock hours ahead.
    """
    core, ahead = await world.core(), await world.core(clock=wrong_by(HOURS))
    accepted = await converse(ahead)
    await world.end(ahead)
    await begin_and_be_killed(world, timedelta(0))
    return core, accepted


async def lose_messages(core: MemoryCore, queue: str = "formation") -> None:
    for delivery in await Hand(core, queue).take():
        await core.queue.complete(queue, delivery)


async def test_a_task_whose_worker_was_hours_ahead_is_formed_when_its_message_comes_again(
    world: World,
) -> None:
    core, accepted = await killed_at_work(world, HOURS)
    world.clock.forward(VISIBILITY.total_seconds())
    await Hand(core).work_all()
    await formed_once(world, core, accepted)


async def test_a_task_whose_worker_was_a_minute_ahead_is_formed_when_its_lease_is_over(
    world: World,
) -> None:
    core, accepted = await killed_at_work(world, timedelta(minutes=1))
    for _ in range(6):
        world.clock.forward(VISIBILITY.total_seconds())
        await Hand(core).work_all()
    await formed_once(world, core, accepted)


async def test_a_task_whose_worker_was_hours_ahead_is_sent_again_by_the_sweep(world: World) -> None:
    core, accepted = await killed_at_work(world, HOURS)
    world.clock.forward(VISIBILITY.total_seconds())
    await lose_messages(core)
    assert (await core.sweep()).sent == 1
    assert (await core.sweep()).due == 0, "what the sweep writes is written by a right clock"
    await Hand(core).work_all()
    await formed_once(world, core, accepted)


async def test_a_task_accepted_by_a_clock_hours_ahead_is_formed_when_its_worker_was_killed(
    world: World,
) -> None:
    core, accepted = await killed_with_a_right_clock(world)
    world.clock.forward(LEASE_S + VISIBILITY.total_seconds())
    await Hand(core).work_all()
    await formed_once(world, core, accepted)


async def test_a_task_accepted_by_a_clock_hours_ahead_is_sent_again_when_its_worker_was_killed(
    world: World,
) -> None:
    core, accepted = await killed_with_a_right_clock(world)
    world.clock.forward(LEASE_S + VISIBILITY.total_seconds())
    await lose_messages(core)
    world.clock.forward(90)
    assert (await core.sweep()).sent == 1
    await Hand(core).work_all()
    await formed_once(world, core, accepted)


async def test_a_task_whose_worker_was_hours_ahead_can_be_retried(world: World) -> None:
    core, accepted = await killed_at_work(world, HOURS)
    await core.retry(ALICE, accepted.task_id)
    await Hand(core).work_all()
    await formed_once(world, core, accepted)


async def test_a_task_whose_worker_was_hours_ahead_is_given_up_with_its_message(
    world: World,
) -> None:
    core, accepted = await killed_at_work(world, HOURS)
    world.clock.forward(VISIBILITY.total_seconds())
    (delivery,) = await Hand(core).take()
    await core.queue.send("formation" + POISON, delivery.body)
    await Hand(core, "formation" + POISON).work_all()
    assert (await task_of(core, accepted)).status == "poisoned"


async def test_a_task_put_off_by_a_worker_hours_ahead_waits_no_longer_than_it_said(
    world: World,
) -> None:
    agents = ScriptedAgents(down=True)
    other = await world.core(agents=agents, clock=wrong_by(HOURS))
    core = await world.core()
    accepted = await converse(core)
    await Hand(other).work_all()
    assert (await task_of(core, accepted)).waiting_for == "agents"
    world.clock.forward(4)
    await Hand(core).work_all()
    await formed_once(world, core, accepted)


async def test_messages_gathered_by_a_clock_hours_ahead_are_formed_after_a_minute(
    world: World,
) -> None:
    other = await world.core(clock=wrong_by(HOURS))
    core = await world.core()
    await gather(other, "I live in Lisbon")
    world.clock.forward(IDLE_S + 1)
    await Hand(core).work_all()
    assert await handed_over(world) == [["I live in Lisbon"]]


async def test_an_erasure_that_a_clock_hours_ahead_began_ends_as_soon_as_any_other(
    world: World,
) -> None:
    other = await world.core(clock=wrong_by(HOURS), erase_settle_s=SETTLE_S)
    core = await world.core(erase_settle_s=SETTLE_S)
    await core.save(ALICE, turn("I keep bees"))
    accepted = await other.erase(ALICE)
    await Hand(other, QUEUE).work_all()
    assert (await core.task(ALICE, accepted.task_id)).status == "accepted"
    for _ in range(3):
        world.clock.forward(SETTLE_S + 1)
        await Hand(core, QUEUE).work_all()
    assert (await core.task(ALICE, accepted.task_id)).status == "succeeded"


async def test_a_run_is_due_with_a_right_clock_though_the_log_is_hours_ahead(world: World) -> None:
    other = await world.core(clock=wrong_by(HOURS))
    core = await world.core()
    await other.save(ALICE, turn("it rains"))
    await core.save(ALICE, turn("it snows"))
    await hour(core)
    assert [task.status for task in await runs(core, [ALICE])] == ["succeeded"]


async def test_an_hour_whose_tick_was_sent_hours_ahead_is_worked_on_within_its_spread(
    world: World,
) -> None:
    other = await world.core(clock=wrong_by(HOURS), consolidation_spread_minutes=45)
    core = await world.core(consolidation_spread_minutes=45)
    await core.save(ALICE, turn("it rains"))
    await other.fan_out()
    for _ in range(46):
        await Hand(core, QUEUE).work_all()
        world.clock.forward(60)
    assert [task.status for task in await runs(core, [ALICE])] == ["succeeded"]


async def test_a_run_that_was_given_up_hours_ahead_holds_up_no_other(world: World) -> None:
    core = await world.core()
    ahead = await world.core(
        clock=wrong_by(timedelta(days=400)), wrap=lambda store: DiesAfter(store, 1)
    )
    await core.save(ALICE, turn("it rains"))
    with suppress(Killed):
        await hour(ahead)
    await world.end(ahead)
    (run,) = await runs(core, [ALICE])
    await core.give_up(message_for(ALICE, run).model_dump_json(), QUEUE)
    await core.save(ALICE, turn("it snows"))
    await hour(core)
    assert {task.status for task in await runs(core, [ALICE])} == {"succeeded", "poisoned"}


async def test_an_import_that_waits_for_its_parts_waits_on_when_the_clock_is_set_back(
    world: World,
) -> None:
    core, ahead = await world.core(), await world.core(clock=wrong_by(HOURS))
    accepted = await ahead.begin_import(ALICE, ImportInput())
    for _ in range(8):
        await core.sweep()
        await Hand(core, QUEUE).work_all()
        await Hand(core, QUEUE + POISON).work_all()
        world.clock.forward(1200)
    task = await task_of(core, accepted)
    assert (task.status, task.attempts) == ("accepted", 0)


async def taken_by_another(
    world: World, difference: timedelta
) -> tuple[MemoryCore, Accepted, Delivery, asyncio.Task[None], Gate, StillClock]:
    """A worker of a process whose clock is ahead by `difference` is at work, and its message is
    there once more.
    """
    gate, clock = Gate("summary"), wrong_by(difference)
    other = await world.core(agents=ScriptedAgents(unsteady=True, before=gate), clock=clock)
    core = await world.core(agents=ScriptedAgents(unsteady=True))
    accepted = await converse(core)
    (delivery,) = await Hand(other).take()
    working = asyncio.create_task(Hand(other).work(delivery))
    await gate.reached.wait()
    return core, accepted, delivery, working, gate, clock


@pytest.mark.parametrize("ahead_s", [-60, -1, 0, 1, 60])
async def test_no_lease_is_taken_from_a_worker_whose_clock_differs_by_a_minute(
    world: World, ahead_s: int
) -> None:
    """A worker renews its lease after a third of it: till then no other worker gets it."""
    core, accepted, delivery, working, gate, clock = await taken_by_another(
        world, timedelta(seconds=ahead_s)
    )
    holder = (await task_of(core, accepted)).leased_by
    for moved in (world.clock, clock):
        moved.forward(LEASE_S / 3 - 1)
    await core.work(delivery.body)
    assert (await core.sweep()).sent == 0
    with pytest.raises(Conflict):
        await core.retry(ALICE, accepted.task_id)
    assert (await task_of(core, accepted)).leased_by == holder
    gate.open()
    await working
    await formed_once(world, core, accepted)


@pytest.mark.parametrize("difference", [HOURS, -HOURS], ids=["ahead", "behind"])
async def test_a_worker_hours_ahead_or_behind_that_lives_on_makes_nothing_twice(
    world: World, difference: timedelta
) -> None:
    core, accepted, delivery, working, gate, _ = await taken_by_another(world, difference)
    await core.work(delivery.body)
    await formed_once(world, core, accepted)
    log = await world.log()
    gate.open()
    await working
    assert await world.log() == log
    await formed_once(world, core, accepted)


async def test_a_worker_hours_behind_works_on_what_others_sent(world: World) -> None:
    agents = ScriptedAgents()
    core = await world.core()
    other = await world.core(agents=agents, clock=wrong_by(-HOURS))
    accepted = await converse(core)
    assert await Hand(other).work_all() == 1
    await formed_once(world, core, accepted)
    assert agents.calls == ASKED
    assert await pending(world) == 0

"""Tasks when nothing works: agents, stores and programs that fail, messages that come too often;
what waits and what is given up.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from memory_core.domain.errors import Malformed
from memory_core.domain.scope import Owner
from memory_core.ports import POISON
from tests.agents import Gate, ScriptedAgents
from tests.builders import ALICE
from tests.tasks import Hand, converse, finished, formed_once, pending, stored, task_of, told
from tests.world import Down, World


async def test_ten_minutes_without_agents_poison_none_of_many_tasks(
    world: World, adapter: str
) -> None:
    tasks = 200 if adapter == "sqlite" else 40
    agents = ScriptedAgents(down=True)
    core = await world.core(agents=agents)
    owners = [Owner("app", f"user{n % 100}") for n in range(tasks)]
    accepted = [await converse(core, f"said{n}", owner=owner) for n, owner in enumerate(owners)]
    hand = Hand(core)
    for _ in range(20):
        await hand.work_all()
        assert await core.queue.length("formation") <= 2 * len(owners)
        world.clock.forward(30)
    waiting = [
        await task_of(core, answer, owner) for answer, owner in zip(accepted, owners, strict=True)
    ]
    assert {(task.status, task.attempts, task.waiting_for) for task in waiting} == {
        ("accepted", 0, "agents")
    }
    assert hand.received <= 9 * len(owners), "they come less and less often"
    agents.down = False
    for _ in range(40):
        await hand.work_all()
        world.clock.forward(30)
    assert {
        (await task_of(core, answer, owner)).status
        for answer, owner in zip(accepted, owners, strict=True)
    } == {"succeeded"}
    assert await core.queue.length("formation") == 0
    assert sum([await pending(world, owner) for owner in set(owners)]) == 0


async def test_a_store_that_is_down_spends_no_attempt_and_loses_no_message(world: World) -> None:
    core = await world.core(wrap=Down)
    store = core._services.adapters.long_term
    assert isinstance(store, Down)
    accepted = [await converse(core, f"said{n}") for n in range(5)]
    store.down = True
    hand = Hand(core)
    for _ in range(20):
        await hand.work_all()
        assert await core.queue.length("formation") == len(accepted)
        world.clock.forward(30)
    assert await core.queue.length("formation" + POISON) == 0
    assert hand.received <= 9 * len(accepted)
    store.down = False
    assert [(await finished(world, core, answer)).status for answer in accepted] == [
        "succeeded"
    ] * len(accepted)


async def test_a_store_that_goes_down_in_the_middle_of_the_work_is_waited_for(world: World) -> None:
    core = await world.core(wrap=Down, agents=(agents := ScriptedAgents()))
    store = core._services.adapters.long_term
    assert isinstance(store, Down)

    async def go_down(name: str) -> None:
        store.down = store.down or name == "summary"  # whichever call comes after it

    agents.before = go_down
    accepted = await converse(core)
    await Hand(core).work_all()
    store.down, agents.before = False, None
    task = await task_of(core, accepted)
    assert (task.status, task.attempts) == ("running", 0)
    await finished(world, core, accepted)
    await formed_once(world, core, accepted)


async def test_a_task_that_fails_five_times_is_poisoned_and_a_retry_begins_anew(
    world: World,
) -> None:
    agents = ScriptedAgents(broken=True)
    core = await world.core(agents=agents)
    accepted = await converse(core)
    task = await finished(world, core, accepted)
    assert (task.status, task.attempts, task.error) == ("poisoned", 5, "RuntimeError")
    assert await told(core) == []
    assert (await stored(world, task.subject_id)).state == "poisoned"
    assert await pending(world) == 0
    world.clock.forward(timedelta(days=30).total_seconds())
    assert (await task_of(core, accepted)).status == "poisoned", "it stays until somebody looks"
    agents.broken = False
    again = await core.retry(ALICE, accepted.task_id)
    assert (again.status, again.attempts, again.error, again.generation) == ("accepted", 0, None, 1)
    assert await pending(world) == 1
    await finished(world, core, accepted)
    await formed_once(world, core, accepted)


async def test_a_poison_message_marks_its_own_generation_only_and_no_finished_task(
    world: World,
) -> None:
    core = await world.core()
    done = await converse(core)
    await Hand(core).work_all()
    (old,) = [f'{{"app_id":"app","user_id":"alice","task_id":"{done.task_id}","generation":0}}']
    await core.give_up(old)
    await formed_once(world, core, done)
    other = await converse(core, "I live in Faro")
    await core.retry(ALICE, other.task_id)
    await core.give_up(old.replace(done.task_id, other.task_id))
    assert (await task_of(core, other)).status == "accepted"
    await core.give_up(old.replace(done.task_id, other.task_id).replace(":0}", ":1}"))
    task = await task_of(core, other)
    assert (task.status, task.error is not None and "too often" in task.error) == ("poisoned", True)
    assert await pending(world) == 0
    await core.give_up(old.replace(done.task_id, "tsk_unknown"))


async def test_a_poison_message_waits_for_whoever_works_on_the_task(world: World) -> None:
    gate = Gate("summary")
    core = await world.core(agents=ScriptedAgents(before=gate))
    accepted = await converse(core)
    (delivery,) = await Hand(core).take()
    working = asyncio.create_task(Hand(core).work(delivery))
    await gate.reached.wait()
    await core.give_up(delivery.body)
    assert await core.queue.length("formation" + POISON) == 1
    gate.open()
    await working
    world.clock.forward(120)
    assert await Hand(core, "formation" + POISON).work_all() == 1
    await formed_once(world, core, accepted)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "hello",
        "{}",
        '{"app_id":"a","user_id":"b","task_id":"c","generation":0,"more":1}',
        '{"app_id":"a","user_id":"b","task_id":"../../c","generation":0}',
        '{"app_id":"a","user_id":"b/c","task_id":"d","generation":0}',
        '{"app_id":"a/b","user_id":"c","task_id":"d","generation":0}',
    ],
)
async def test_a_message_that_is_not_one_of_ours_ends_in_the_poison_queue_and_then_in_the_log(
    world: World, body: str, caplog: pytest.LogCaptureFixture
) -> None:
    core = await world.core()
    with pytest.raises(Malformed):
        await core.work(body)
    await core.give_up(body)
    assert (
        f"a message of {len(body)} characters that is not ours is dropped from the poison queue"
        in caplog.text
    )
    assert not body or body not in caplog.text


async def test_messages_of_tasks_that_are_gone_are_dropped(world: World) -> None:
    core = await world.core()
    accepted = await converse(core)
    (delivery,) = await Hand(core).take()
    await core.work(delivery.body.replace(accepted.task_id, "tsk_unknown"))
    await core.work(delivery.body.replace("alice", "nobody"))
    await core.cancel(ALICE, accepted.task_id)
    await core.work(delivery.body)
    assert await told(core) == []

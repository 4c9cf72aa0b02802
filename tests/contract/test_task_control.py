"""Retry, cancel, list, sweep: what people and the hourly timer may do to tasks,
at every moment of a task's life.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from memory_core.adapters.sqlite.queue import SqliteQueue
from memory_core.core import MemoryCore
from memory_core.domain.conversation import Task
from memory_core.domain.errors import Conflict, Malformed, NotFound, Unavailable
from memory_core.domain.requests.memories import TasksInput
from memory_core.domain.results import Accepted, Call, Swept, Told
from memory_core.domain.scope import Owner
from tests.agents import Gate, ScriptedAgents
from tests.builders import ALICE
from tests.tasks import (
    MADE,
    TWO_TOPICS,
    Hand,
    converse,
    finished,
    formed_once,
    pending,
    stored,
    task_of,
    texts,
    told,
)
from tests.world import BOB, Down, World

LATE = timedelta(minutes=6).total_seconds()
KEYED = Call(idempotency_key="k1")


async def with_a_queue(world: World, **options: object) -> tuple[MemoryCore, Down]:
    """A core, and the switch of its queue."""
    queue = Down(
        SqliteQueue(world.folder / "queue.db", clock=world.clock, synchronous="normal"),
        name="queue",
    )
    return await world.core(queue=queue, **options), queue


async def test_a_task_that_is_cancelled_before_its_turn_makes_nothing(world: World) -> None:
    agents = ScriptedAgents()
    core = await world.core(agents=agents)
    accepted = await converse(core)
    assert (await core.cancel(ALICE, accepted.task_id)).status == "cancelled"
    assert await pending(world) == 0
    await Hand(core).work_all()
    task = await task_of(core, accepted)
    assert task.status == "cancelled"
    assert await told(core) == []
    assert not agents.calls
    assert await core.cancel(ALICE, accepted.task_id) == task, "again changes nothing"
    with pytest.raises(Conflict):
        await core.retry(ALICE, accepted.task_id)


async def test_a_task_that_is_cancelled_while_it_is_worked_on_keeps_what_it_has_formed(
    world: World,
) -> None:
    gate = Gate("summary", skip=1)
    core = await world.core(agents=ScriptedAgents(before=gate))
    accepted = await converse(core)
    working = asyncio.create_task(Hand(core).work_all())
    await gate.reached.wait()
    await core.cancel(ALICE, accepted.task_id)
    gate.open()
    await working
    assert await texts(core) == sorted([" ".join(TWO_TOPICS[:2]), "The user lives in Lisbon"])
    task = await task_of(core, accepted)
    assert task.status == "cancelled"
    conversation = await stored(world, task.subject_id)
    assert (conversation.state, len(conversation.formed_cells)) == ("cancelled", 1)
    assert task.result is not None
    assert task.result["cells"] == [cell.public() for cell in conversation.formed_cells], (
        "what stays is named"
    )
    assert task.result["counts"] == {"created": 2}
    assert await pending(world) == 0


async def test_a_task_that_is_done_can_be_neither_cancelled_nor_retried(world: World) -> None:
    core = await world.core()
    accepted = await converse(core)
    await Hand(core).work_all()
    for act in (core.cancel, core.retry):
        with pytest.raises(Conflict, match="succeeded"):
            await act(ALICE, accepted.task_id)
    await formed_once(world, core, accepted)


async def test_a_poisoned_task_can_be_cancelled_for_good(world: World) -> None:
    core = await world.core(agents=ScriptedAgents(broken=True))
    accepted = await converse(core)
    assert (await finished(world, core, accepted)).status == "poisoned"
    await core.cancel(ALICE, accepted.task_id)
    assert await pending(world) == 0
    world.clock.forward(timedelta(days=8).total_seconds())
    with pytest.raises(NotFound):
        await task_of(core, accepted)


async def test_what_is_being_worked_on_is_not_retried(world: World) -> None:
    gate = Gate("summary")
    core = await world.core(agents=ScriptedAgents(before=gate))
    accepted = await converse(core)
    working = asyncio.create_task(Hand(core).work_all())
    await gate.reached.wait()
    with pytest.raises(Conflict, match="worked on"):
        await core.retry(ALICE, accepted.task_id)
    gate.open()
    await working
    await formed_once(world, core, accepted)


async def test_a_retry_of_a_task_that_waits_does_not_wait_any_longer(world: World) -> None:
    agents = ScriptedAgents(down=True)
    core = await world.core(agents=agents)
    accepted = await converse(core)
    await Hand(core).work_all()
    agents.down = False
    assert await Hand(core).work_all() == 0
    await core.retry(ALICE, accepted.task_id)
    assert await Hand(core).work_all() == 1
    await formed_once(world, core, accepted)
    world.clock.forward(60)
    await Hand(core).work_all()
    assert await core.queue.length("formation") == 0
    await formed_once(world, core, accepted)


@pytest.mark.parametrize("name", ["retry", "cancel"])
async def test_the_same_call_with_the_same_key_steers_once(world: World, name: str) -> None:
    core = await world.core(agents=ScriptedAgents(down=True))
    accepted = await converse(core)
    answers: list[Task] = [
        await getattr(core, name)(ALICE, accepted.task_id, KEYED) for _ in range(3)
    ]
    assert answers[1:] == answers[:1] * 2
    other = await converse(core, "something else")
    with pytest.raises(Conflict):
        await getattr(core, name)(ALICE, other.task_id, KEYED)


@pytest.mark.parametrize("name", ["task", "retry", "cancel"])
async def test_nobody_sees_or_steers_anothers_task(world: World, name: str) -> None:
    core = await world.core()
    accepted = await converse(core)
    await converse(core, owner=BOB)
    for owner in (BOB, Owner("other", "alice")):
        with pytest.raises(NotFound):
            await getattr(core, name)(owner, accepted.task_id)


async def test_tasks_are_listed_by_status_newest_first_page_by_page(world: World) -> None:
    core = await world.core()
    accepted = []
    for n in range(7):
        accepted.append((await converse(core, f"said{n}")).task_id)
        world.clock.forward(0.001)
    for identity in accepted[::2]:
        await core.cancel(ALICE, identity)
    task_ids: list[str] = []
    cursor = None
    while True:
        page = await core.tasks(ALICE, TasksInput(status="cancelled", cursor=cursor, limit=2))
        task_ids += [task.task_id for task in page.tasks]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert task_ids == accepted[::2][::-1]
    assert {task.status for task in (await core.tasks(ALICE, TasksInput())).tasks} == {
        "accepted",
        "cancelled",
    }
    assert (await core.tasks(ALICE, TasksInput(kind="webhook"))).tasks == ()
    assert (await core.tasks(BOB, TasksInput())).tasks == ()
    first = await core.tasks(ALICE, TasksInput(limit=1))
    with pytest.raises(Malformed):
        await core.tasks(ALICE, TasksInput(status="poisoned", cursor=first.next_cursor))


async def test_a_finished_task_can_be_looked_at_for_seven_days(world: World) -> None:
    core = await world.core()
    accepted = await converse(core)
    await Hand(core).work_all()
    world.clock.forward(timedelta(days=7).total_seconds() - 60)
    assert (await task_of(core, accepted)).status == "succeeded"
    world.clock.forward(120)
    with pytest.raises(NotFound):
        await task_of(core, accepted)
    assert await texts(core) == MADE


async def test_a_conversation_is_accepted_while_the_queue_is_down_and_the_sweep_sends_it(
    world: World,
) -> None:
    core, queue = await with_a_queue(world)
    queue.down = True
    accepted = await converse(core)
    assert accepted == Accepted(accepted.task_id, ("queue",), Told(4, 0))
    world.clock.forward(LATE)
    with pytest.raises(Unavailable):
        await core.sweep()
    queue.down = False
    world.clock.forward(3600)
    assert await core.sweep() == Swept(users=1, due=1, sent=1, capped=False)
    await Hand(core).work_all()
    await formed_once(world, core, accepted)
    assert await core.sweep() == Swept(users=0, due=0, sent=0, capped=False)


async def test_a_queue_that_goes_down_while_a_task_is_put_off_leaves_it_to_the_sweep(
    world: World,
) -> None:
    agents = ScriptedAgents(down=True)
    core, queue = await with_a_queue(world, agents=agents)
    accepted = await converse(core)
    (delivery,) = await Hand(core).take()
    queue.down = True
    await core.work(delivery.body)
    queue.down = agents.down = False
    await core.queue.complete("formation", delivery)
    world.clock.forward(LATE + 60)
    assert (await core.sweep()).sent == 1
    await Hand(core).work_all()
    await formed_once(world, core, accepted)


async def test_a_sweep_leaves_alone_what_is_not_late_what_is_worked_on_and_what_waits(
    world: World,
) -> None:
    gate = Gate("summary")
    agents = ScriptedAgents(before=gate)
    core = await world.core(agents=agents, task_lease_s=3600)
    accepted = await converse(core)
    assert (await core.sweep()).due == 0
    working = asyncio.create_task(Hand(core).work_all())
    await gate.reached.wait()
    world.clock.forward(LATE)
    assert await core.sweep() == Swept(users=1, due=0, sent=0, capped=False)
    gate.open()
    await working
    await formed_once(world, core, accepted)
    agents.down = True
    await converse(core, "said later")
    await Hand(core).work_all()
    world.clock.forward(20)
    assert await core.sweep() == Swept(users=1, due=0, sent=0, capped=False)


async def test_sweeps_at_once_send_a_task_once_and_void_the_message_that_was_only_late(
    world: World,
) -> None:
    cores = [await world.core(), await world.core()]
    accepted = await converse(cores[0])
    world.clock.forward(LATE)
    assert (await cores[0].sweep(dry_run=True)) == Swept(users=1, due=1, sent=0, capped=False)
    swept = await asyncio.gather(*(core.sweep() for core in (*cores, *cores)))
    assert sum(run.sent for run in swept) == 1
    assert (await cores[0].sweep()).due == 0
    assert (await task_of(cores[0], accepted)).generation == 1
    late, sent = await Hand(cores[0]).take()
    await cores[0].work(late.body)
    assert (await task_of(cores[0], accepted)).status == "accepted"
    await cores[0].work(sent.body)
    await formed_once(world, cores[0], accepted)


async def test_each_sweep_waits_longer_for_a_message_that_it_sent(world: World) -> None:
    core = await world.core()
    await converse(core)
    sent = []
    for _ in range(48):
        world.clock.forward(LATE)
        sent.append((await core.sweep()).sent)
    assert [n for n, count in enumerate(sent) if count] == [0, 1, 2, 4, 7, 13, 24, 46]


async def test_a_sweep_finds_the_one_that_waits_among_many_that_are_done(
    world: World, adapter: str
) -> None:
    core = await world.core()
    accepted = await converse(core, "the first of all")
    await core.queue.receive("formation", 1, timedelta(days=1))
    for n in range(1200 if adapter == "sqlite" else 120):
        await converse(core, f"said{n}")
    for task in await every(core):
        if task.task_id != accepted.task_id:
            await core.cancel(ALICE, task.task_id)
    world.clock.forward(LATE)
    assert await core.sweep() == Swept(users=1, due=1, sent=1, capped=False)


async def every(core: MemoryCore) -> list[Task]:
    tasks: list[Task] = []
    cursor = None
    while True:
        page = await core.tasks(ALICE, TasksInput(cursor=cursor, limit=100))
        tasks += page.tasks
        cursor = page.next_cursor
        if cursor is None:
            return tasks


async def test_a_sweep_stops_at_its_limit_and_the_next_one_goes_on(world: World) -> None:
    core = await world.core()
    for n in range(5):
        await converse(core, owner=Owner("app", f"user{n}"))
    world.clock.forward(LATE)
    assert await core._services.task_services.sweep.run(limit=3) == Swept(
        users=4, due=3, sent=3, capped=True
    )
    assert (await core.sweep()).sent == 2


async def test_cancelling_a_task_stops_the_work_on_it_at_once(world: World) -> None:
    """A caller that cancels wants it to stop: what agents are still doing is not waited for."""
    asked, stopped = asyncio.Event(), asyncio.Event()

    async def never_answer(name: str) -> None:
        if name == "facts":
            asked.set()
            try:
                await asyncio.Event().wait()
            finally:
                stopped.set()

    core = await world.core(agents=ScriptedAgents(before=never_answer))
    accepted = await converse(core)
    working = asyncio.create_task(Hand(core).work_all())
    await asked.wait()
    await core.cancel(ALICE, accepted.task_id)
    async with asyncio.timeout(60):
        await stopped.wait()
        await working
    assert (await task_of(core, accepted)).status == "cancelled"
    assert await pending(world) == 0
    assert await told(core) == []

"""Tasks, whatever happens: the conversation is there, one set of memories results,
and the task says what is true.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from memory_core.adapters.sqlite.queue import SqliteQueue
from memory_core.domain.errors import Conflict
from memory_core.domain.requests.memories import TasksInput
from memory_core.domain.results import Accepted, Call
from memory_core.domain.scope import Owner
from tests.agents import Gate, Gated, ScriptedAgents
from tests.builders import ALICE, AnswerLost
from tests.mortal import Moment, Mortal
from tests.tasks import (
    ASKED,
    MADE,
    Hand,
    converse,
    finished,
    formed_once,
    pending,
    task_of,
    texts,
    told,
)
from tests.world import Killed, World


async def test_a_conversation_is_accepted_at_once_and_formed_by_its_message(world: World) -> None:
    agents = ScriptedAgents()
    core = await world.core(agents=agents)
    accepted = await converse(core, call=Call(correlation_id="c-1"))
    task = await task_of(core, accepted)
    assert (task.status, task.progress, task.kind, task.correlation_id) == (
        "accepted",
        0.0,
        "converse",
        "c-1",
    )
    assert await told(core) == []
    assert await pending(world) == 1
    assert await Hand(core).work_all() == 1
    await formed_once(world, core, accepted)
    assert agents.calls == ASKED
    assert {event.correlation_id for event in await world.log()} == {"c-1"}


async def test_a_conversation_told_while_the_clock_was_ahead_is_formed_once_it_is_right_again(
    world: World,
) -> None:
    core = await world.core()
    world.clock.forward(3600)
    accepted = await converse(core)
    world.clock.forward(-3600)
    assert await Hand(core).work_all() == 1
    await formed_once(world, core, accepted)


async def test_the_same_told_twice_without_a_session_makes_two_tasks_and_nothing_twice(
    world: World,
) -> None:
    core = await world.core()
    accepted = [await converse(core, session=None) for _ in range(3)]
    assert len({answer.task_id for answer in accepted}) == 3
    await Hand(core).work_all()
    assert [(await task_of(core, answer)).status for answer in accepted] == ["succeeded"] * 3
    assert await texts(core) == MADE
    assert await pending(world) == 0


async def test_twenty_equal_calls_at_once_with_one_idempotency_key_make_one_task(
    world: World,
) -> None:
    cores = [await world.core(commit_deadline_s=60), await world.core(commit_deadline_s=60)]
    call = Call(idempotency_key="k1")
    accepted = await asyncio.gather(*(converse(cores[n % 2], call=call) for n in range(20)))
    assert len({answer.task_id for answer in accepted}) == 1
    assert await cores[0].queue.length("formation") == 1
    assert await pending(world) == 1
    with pytest.raises(Conflict):
        await converse(cores[0], "something else", call=call)
    await Hand(cores[0]).work_all()
    await formed_once(world, cores[0], accepted[0])


async def test_an_answer_lost_after_the_commit_makes_no_second_task(world: World) -> None:
    core = await world.core(wrap=AnswerLost)
    accepted = await converse(core)
    assert await pending(world) == 1
    assert [task.task_id for task in (await core.tasks(ALICE, TasksInput())).tasks] == [
        accepted.task_id
    ]


async def lived(world: World, moment: Moment, owner: Owner) -> tuple[Accepted, ScriptedAgents]:
    """Send a conversation, and let a process that dies at `moment` work on it."""
    agents = ScriptedAgents(unsteady=True, before=moment.on_agent)
    queue = Mortal(
        SqliteQueue(world.folder / "queue.db", clock=world.clock, synchronous="normal"), moment
    )
    core = await world.core(wrap=lambda store: Mortal(store, moment), agents=agents, queue=queue)
    moment.asleep = True
    accepted = await converse(core, owner=owner)
    moment.asleep = False
    (delivery,) = await Hand(core).take()
    with suppress(Killed):
        await Hand(core).work(delivery)
    await world.end(core)
    agents.before = None
    return accepted, agents


async def test_killed_between_any_two_steps_and_delivered_again_it_is_formed_once(
    world: World, adapter: str
) -> None:
    """Each life ends at another write or call of an agent, before or after it was done; then
    another worker takes the message.
    """
    if adapter == "storm":
        pytest.skip("where some writes are sent twice, they can't be numbered")
    whole = Moment()
    await lived(world, whole, Owner("app", "whole"))
    assert whole.names.count("commit") == 2
    assert len(whole.names) > 15
    for at, name in enumerate(whole.names, 1):
        for after in (False, True) if name in Mortal.WRITES else (False,):
            owner, moment = Owner("app", f"{at}-{after}"), Moment(at, after)
            accepted, agents = await lived(world, moment, owner)
            assert moment.dead
            again = await world.core(agents=agents)
            await finished(world, again, accepted, owner)
            await formed_once(world, again, accepted, owner)
            # What was asked and not yet frozen when the process died is lost: the three of a cell
            # are asked together.
            assert sum((agents.calls - ASKED).values()) <= 3, (at, after, name)
            await world.end(again)


@pytest.mark.parametrize("asleep_at", ["boundary", "summary", "keep", "commit"])
async def test_frozen_past_its_lease_and_let_go_when_another_has_finished_it_changes_nothing(
    world: World, asleep_at: str
) -> None:
    gate, agents = Gate(asleep_at, skip=asleep_at == "keep"), ScriptedAgents(unsteady=True)
    slow = await world.core(
        agents=ScriptedAgents(unsteady=True, before=gate), wrap=lambda store: Gated(store, gate)
    )
    quick = await world.core(agents=agents)
    accepted = await converse(quick)
    (delivery,) = await Hand(slow).take()
    frozen = asyncio.create_task(Hand(slow).work(delivery))
    await gate.reached.wait()
    world.clock.forward(91)
    await finished(world, quick, accepted)
    log = await world.log()
    gate.open()
    await frozen
    await formed_once(world, quick, accepted)
    assert await world.log() == log
    assert not agents.calls - ASKED


async def test_frozen_past_its_lease_it_uses_the_answers_of_whoever_goes_on(world: World) -> None:
    """Both ask, since the first had not yet been answered; what the second froze counts for both,
    though the first commits.
    """
    gate, late = Gate("summary"), Gate("episode")
    slow = await world.core(agents=ScriptedAgents(unsteady=True, before=gate))
    quick = await world.core(agents=ScriptedAgents(before=late))
    accepted = await converse(slow)
    (delivery,) = await Hand(slow).take()
    first = asyncio.create_task(Hand(slow).work(delivery))
    await gate.reached.wait()
    world.clock.forward(91)
    (again,) = await Hand(quick).take()
    second = asyncio.create_task(Hand(quick).work(again))
    await late.reached.wait()
    gate.open()
    late.open()
    await asyncio.gather(first, second)
    await finished(world, quick, accepted)
    await formed_once(world, quick, accepted)


async def test_a_worker_that_takes_long_keeps_its_lease(world: World) -> None:
    gate = Gate("summary")
    core = await world.core(agents=ScriptedAgents(before=gate), task_lease_s=0.06)
    accepted = await converse(core)
    (delivery,) = await Hand(core).take()
    working = asyncio.create_task(Hand(core).work(delivery))
    await gate.reached.wait()
    began = await task_of(core, accepted)
    world.clock.forward(10)
    async with asyncio.timeout(10):
        while (await task_of(core, accepted)).leased_until == began.leased_until:
            await asyncio.sleep(0.005)
    assert (await task_of(core, accepted)).leased_by == began.leased_by
    gate.open()
    await working
    await formed_once(world, core, accepted)


async def test_a_message_delivered_twice_at_once_is_worked_on_once(world: World) -> None:
    agents = ScriptedAgents(unsteady=True)
    cores = [await world.core(agents=agents), await world.core(agents=agents)]
    accepted = await converse(cores[0])
    (delivery,) = await Hand(cores[0]).take()
    await asyncio.gather(*(core.work(delivery.body) for core in (*cores, *cores)))
    await Hand(cores[0]).work(delivery)
    await formed_once(world, cores[0], accepted)
    assert agents.calls == ASKED
    world.clock.forward(120)
    await Hand(cores[0]).work_all()
    assert await cores[0].queue.length("formation") == 0
    await formed_once(world, cores[0], accepted)

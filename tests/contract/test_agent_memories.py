"""The agent path: an agent's own words become one memory after one fast summary, compared with
nothing and as durable as any.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from memory_core.adapters.sqlite.queue import SqliteQueue
from memory_core.core import MemoryCore
from memory_core.domain.agent_schemas import Answered, ConversationSummary
from memory_core.domain.errors import AgentFailed, Conflict
from memory_core.domain.memory import Memory
from memory_core.domain.requests.maintenance import AgentMemoryInput
from memory_core.domain.requests.memories import RetrieveInput
from memory_core.domain.results import Accepted, Call
from memory_core.domain.scope import Owner
from tests.agents import ScriptedAgents
from tests.builders import ALICE, NOW
from tests.mortal import Moment, Mortal
from tests.tasks import Hand, converse, finished, pending, stored, task_of, told
from tests.world import Killed, World

WORDS = "Booked the 9:40 to Porto for Friday"


async def say(
    core: MemoryCore,
    messages: Any = WORDS,
    *,
    owner: Owner = ALICE,
    call: Call = Call(),  # noqa: B008
    **fields: Any,
) -> Accepted:
    return await core.agent_memory(
        owner, AgentMemoryInput.model_validate({"messages": messages, **fields}), call
    )


async def remembered(core: MemoryCore, owner: Owner = ALICE) -> list[Memory]:
    return [memory for memory in await told(core, owner) if memory.category == "agent"]


async def test_words_become_one_memory_by_one_call_of_a_model(world: World) -> None:
    agents = ScriptedAgents()
    core = await world.core(agents=agents)
    accepted = await say(core, agent_id="planner", session_id="s1", call=Call(correlation_id="c-1"))
    assert (await task_of(core, accepted)).kind == "agent_memory"
    assert await pending(world) == 1
    await Hand(core).work_all()
    assert agents.calls == Counter({"summary": 1})
    (memory,) = await remembered(core)
    assert (memory.type, memory.category, memory.source) == ("episodic", "agent", "agent")
    assert (memory.content, memory.episode) == (WORDS, f"planner: {WORDS}")
    assert (memory.agent_id, memory.session_id, memory.correlation_id) == ("planner", "s1", "c-1")
    assert (memory.event_timestamp, memory.importance_basis, memory.model) == (
        NOW,
        "type",
        "scripted",
    )
    assert (await core.get(ALICE, memory.id)).embedding is not None
    task = await task_of(core, accepted)
    assert (task.status, task.progress) == ("succeeded", 1.0)
    assert task.result is not None
    assert task.result["cells"] == [{"first": 0, "last": 0, "memory_ids": [memory.id]}]
    assert (await stored(world, task.result["conversation_id"])).path == "agent"
    assert (await core.session(ALICE, "s1")).counts == {"messages": 1, "episodic": 1}
    assert await pending(world) == 0


async def test_the_memory_is_found_by_its_words(world: World) -> None:
    core = await world.core()
    await say(core)
    await Hand(core).work_all()
    (hit,) = (await core.retrieve(ALICE, RetrieveInput(query="Porto Friday"))).results
    assert hit.memory.content == WORDS


@pytest.mark.parametrize(
    ("messages", "episode"),
    [
        ("one text", "planner: one text"),
        (["two", "texts"], "planner: two\nplanner: texts"),
        ([{"content": "a message"}], "planner: a message"),
        (
            [
                {"role": "user", "content": "asked"},
                {"role": "tool", "content": "ran", "actor": "search"},
                "said",
            ],
            "user: asked\nsearch: ran\nplanner: said",
        ),
    ],
)
async def test_words_come_as_a_text_or_as_messages(
    world: World, messages: Any, episode: str
) -> None:
    core = await world.core()
    await say(core, messages, agent_id="planner")
    await Hand(core).work_all()
    assert [memory.episode for memory in await remembered(core)] == [episode]


async def test_messages_may_say_when_they_were_said(world: World) -> None:
    core = await world.core()
    early = NOW - timedelta(days=3)
    await say(
        core,
        [
            {"content": "then", "timestamp": early.isoformat()},
            {"content": "later", "timestamp": NOW.isoformat()},
        ],
    )
    await Hand(core).work_all()
    (memory,) = await remembered(core)
    assert (memory.valid_from, memory.event_timestamp) == (early, NOW)


async def test_the_same_words_said_again_later_are_another_memory_and_told_twice_the_same(
    world: World,
) -> None:
    core = await world.core()
    dated = [{"content": WORDS, "timestamp": NOW.isoformat()}]
    await say(core, dated)
    await say(core, dated)
    world.clock.forward(60)
    await say(core)
    await say(core, dated, agent_id="another")
    await Hand(core).work_all()
    memories = await remembered(core)
    assert sorted((memory.agent_id or "", memory.reinforcement_count) for memory in memories) == [
        ("", 0),
        ("", 1),
        ("another", 0),
    ]
    assert await pending(world) == 0


async def test_words_replace_nothing_and_are_compared_with_nothing(world: World) -> None:
    agents = ScriptedAgents()
    core = await world.core(agents=agents)
    await converse(core, "I live in Lisbon")
    await Hand(core).work_all()
    agents.calls.clear()
    await say(core, "I live in Faro")
    await Hand(core).work_all()
    assert agents.calls == Counter({"summary": 1})
    assert {memory.content: memory.status for memory in await told(core)}[
        "The user lives in Lisbon"
    ] == "active"
    (memory,) = await remembered(core)
    assert memory.links == []


async def test_the_same_call_with_the_same_key_is_one_task(world: World) -> None:
    core = await world.core()
    first, second = [await say(core, call=Call(idempotency_key="k1")) for _ in range(2)]
    assert first.task_id == second.task_id
    with pytest.raises(Conflict):
        await say(core, "something else", call=Call(idempotency_key="k1"))
    await Hand(core).work_all()
    assert len(await remembered(core)) == 1


async def lived(world: World, moment: Moment, owner: Owner) -> tuple[Accepted, ScriptedAgents]:
    agents = ScriptedAgents(unsteady=True, before=moment.on_agent)
    queue = Mortal(
        SqliteQueue(world.folder / "queue.db", clock=world.clock, synchronous="normal"), moment
    )
    core = await world.core(wrap=lambda store: Mortal(store, moment), agents=agents, queue=queue)
    moment.asleep = True
    accepted = await say(core, owner=owner)
    moment.asleep = False
    with suppress(Killed):
        await Hand(core).work_all()
    await world.end(core)
    agents.before = None
    return accepted, agents


async def test_killed_between_any_two_steps_they_are_remembered_once_and_no_call_is_paid_twice(
    world: World, adapter: str
) -> None:
    """In a storm some writes are sent twice, so a life may have fewer steps than the whole one,
    and end in peace.
    """
    whole = Moment()
    await lived(world, whole, Owner("app", "whole"))
    assert whole.names.count("summary") == 1
    for at, name in enumerate(whole.names, 1):
        for after in (False, True) if name in Mortal.WRITES else (False,):
            owner, moment = Owner("app", f"{at}-{after}"), Moment(at, after)
            accepted, agents = await lived(world, moment, owner)
            assert moment.dead or adapter == "storm", (at, after, name)
            core = await world.core(agents=agents)
            task = await finished(world, core, accepted, owner)
            assert (task.status, len(await remembered(core, owner))) == ("succeeded", 1), (
                at,
                after,
                name,
            )
            assert await pending(world, owner) == 0
            frozen_too_late = moment.dead and moment.names[-1] == "keep" and not after
            assert agents.calls["summary"] <= 1 + frozen_too_late, (at, after, name)
            await world.end(core)


class Useless(ScriptedAgents):
    """Answers nothing that can be used."""

    model = "useless"

    async def summarise(self, *args: Any, **options: Any) -> Answered[ConversationSummary]:
        raise AgentFailed("garbage")


async def test_a_model_that_answers_garbage_is_replaced_by_rules(world: World) -> None:
    core = await world.core(agents=Useless())
    accepted = await say(core)
    assert (await finished(world, core, accepted)).status == "succeeded"
    assert [memory.model for memory in await remembered(core)] == ["scripted"]


async def test_a_model_that_is_down_is_waited_for(world: World) -> None:
    agents = ScriptedAgents(down=True)
    core = await world.core(agents=agents)
    accepted = await say(core)
    await Hand(core).work_all()
    task = await task_of(core, accepted)
    assert (task.status, task.attempts, task.waiting_for) == ("accepted", 0, "agents")
    agents.down = False
    assert (await finished(world, core, accepted)).status == "succeeded"
    assert len(await remembered(core)) == 1

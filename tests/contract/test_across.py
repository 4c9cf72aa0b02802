"""What an admin sees of all users of an app: tasks that were given up, and agents. On every
adapter, in the product's own life.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.conversation import Task
from memory_core.domain.errors import Malformed
from memory_core.domain.requests.memories import AcrossInput, TasksInput
from memory_core.domain.results import AgentView
from memory_core.domain.scope import Owner
from tests.agents import ScriptedAgents
from tests.builders import ALICE, NOW
from tests.exports import exported, gathered, worked
from tests.tasks import Hand, converse, ended, finished
from tests.world import BOB, DiesAfter, Killed, World, fact, rule, turn

ELSEWHERE = Owner("another", "alice")
HOUR = timedelta(hours=1).total_seconds()


async def given_up(
    core: MemoryCore, app_id: str = "app", limit: int = 100
) -> list[tuple[str, Task]]:
    """Every page, as one."""
    tasks: list[tuple[str, Task]] = []
    cursor = None
    while True:
        page = await core.poisoned_tasks(app_id, AcrossInput(cursor=cursor, limit=limit))
        assert len(page.tasks) <= limit
        tasks += page.tasks
        if (cursor := page.next_cursor) is None:
            return tasks


async def agents(core: MemoryCore, app_id: str = "app", limit: int = 100) -> list[AgentView]:
    """Every page, as one."""
    views: list[AgentView] = []
    cursor = None
    while True:
        page = await core.agents(app_id, AcrossInput(cursor=cursor, limit=limit))
        assert len(page.agents) <= limit
        views += page.agents
        if (cursor := page.next_cursor) is None:
            return views


def counted(views: list[AgentView]) -> list[tuple[str, str, int]]:
    return [(view.user_id, view.agent_id, view.memories) for view in views]


async def poisoned(world: World, core: MemoryCore, owner: Owner) -> str:
    """A task that was given up, accepted a second after the one before; its id."""
    world.clock.forward(1)
    accepted = await converse(core, "I keep bees", owner=owner, session=None)
    assert (await finished(world, core, accepted, owner)).status == "poisoned"
    return accepted.task_id


async def test_what_was_given_up_is_listed_of_all_users_of_the_app_newest_first(
    world: World,
) -> None:
    scripted = ScriptedAgents(broken=True)
    core = await world.core(agents=scripted)
    first = [(owner.user_id, await poisoned(world, core, owner)) for owner in (ALICE, BOB, ALICE)]
    theirs = await poisoned(world, core, ELSEWHERE)
    await core.save(ALICE, turn("not a task"))
    expected = first[::-1]
    for limit in (1, 2, 3, 100):
        assert [
            (user, task.task_id) for user, task in await given_up(core, limit=limit)
        ] == expected
    assert [(user, task.task_id) for user, task in await given_up(core, "another")] == [
        ("alice", theirs)
    ]
    assert await given_up(core, "nobody") == []
    (_, task), *_ = await given_up(core)
    assert task == await core.task(ALICE, first[-1][1]), "as its owner sees it"

    scripted.broken = False
    await core.retry(BOB, first[1][1])
    await core.cancel(ALICE, first[0][1])
    assert [task.task_id for _, task in await given_up(core)] == [first[2][1]]
    await finished(world, core, await converse(core, owner=BOB), BOB)
    assert [task.task_id for _, task in await given_up(core)] == [first[2][1]]


async def test_what_was_given_up_of_an_erased_life_is_not_shown_but_an_erasure_that_got_stuck_is(
    world: World,
) -> None:
    core = await world.core(agents=ScriptedAgents(broken=True), erase_settle_s=0)
    await poisoned(world, core, BOB)
    mine = await poisoned(world, core, ALICE)
    erasure = await core.erase(BOB)
    assert [task.task_id for _, task in await given_up(core)] == [mine]
    await core.give_up(
        f'{{"app_id":"app","user_id":"bob","task_id":"{erasure.task_id}","generation":0}}',
        "consolidation",
    )
    stuck = await given_up(core)
    assert [(user, task.kind, task.task_id) for user, task in stuck] == [
        ("bob", "erase", erasure.task_id),
        ("alice", "converse", mine),
    ]
    await core.erase(BOB)
    assert [task.task_id for _, task in await given_up(core)] == [mine], (
        "asked for again, it goes on"
    )


async def test_a_cursor_is_good_for_its_list_and_its_app_only(world: World) -> None:
    core = await world.core(agents=ScriptedAgents(broken=True))
    for owner in (ALICE, BOB):
        await poisoned(world, core, owner)
        await core.save(owner, turn("one", agent_id="planner"))
    tasks = (await core.poisoned_tasks("app", AcrossInput(limit=1))).next_cursor
    theirs = (await core.agents("app", AcrossInput(limit=1))).next_cursor
    own = (await core.tasks(ALICE, TasksInput(limit=1))).next_cursor
    assert tasks is not None
    assert theirs is not None
    for ask, app_id, cursor in (
        (core.poisoned_tasks, "another", tasks),
        (core.agents, "another", theirs),
        (core.poisoned_tasks, "app", theirs),
        (core.agents, "app", tasks),
        (core.agents, "app", own or "AAAA"),
        (core.poisoned_tasks, "app", tasks[:-2]),
        (core.poisoned_tasks, "app", "é"),
    ):
        with pytest.raises(Malformed, match="cursor"):
            await ask(app_id, AcrossInput(cursor=cursor))
    with pytest.raises(Malformed, match="cursor"):
        await core.tasks(ALICE, TasksInput(cursor=tasks))


async def test_agents_are_counted_for_every_user_of_the_app(world: World) -> None:
    core = await world.core()
    for number in range(3):
        await core.save(ALICE, turn(f"turn {number}", agent_id="planner"))
    world.clock.forward(HOUR)
    await core.save(ALICE, fact("Alice lives in Porto", agent_id="地図"))
    await core.save(ALICE, turn("nobody's"))
    await core.save(BOB, turn("one", agent_id="planner"))
    await core.save(Owner("app", "cy"), turn("without an agent"))
    await core.save(ELSEWHERE, turn("one", agent_id="planner"))
    views = await agents(core)
    assert counted(views) == [("alice", "planner", 3), ("alice", "地図", 1), ("bob", "planner", 1)]
    assert [(agent_view.last_active_at - NOW) // timedelta(minutes=59) for agent_view in views] == [
        0,
        1,
        1,
    ]
    for limit in (1, 2, 3):
        assert await agents(core, limit=limit) == views
    assert counted(await agents(core, "another")) == [("alice", "planner", 1)]
    assert await agents(core, "nobody") == []


async def test_an_agents_memories_are_those_that_are_found_and_it_was_active_when_any_of_them_changed(  # noqa: E501
    world: World,
) -> None:
    core = await world.core()
    first = (
        await core.save(ALICE, fact("tea", subject="Alice", attribute="drink", agent_id="a"))
    ).memory
    await core.save(ALICE, rule("style", "brief", agent_id="b"))
    world.clock.forward(HOUR)
    second = (
        await core.save(ALICE, fact("coffee", subject="Alice", attribute="drink", agent_id="a"))
    ).memory
    assert second.supersedes_id == first.id
    await core.save(ALICE, rule("style", "long", agent_id="b"))
    assert counted(await agents(core)) == [("alice", "a", 1), ("alice", "b", 1)]
    world.clock.forward(HOUR)
    deleted = (await core.delete(ALICE, second.id)).memory
    by_agent = {agent.agent_id: agent for agent in await agents(core)}
    assert (by_agent["a"].memories, by_agent["a"].last_active_at) == (0, deleted.updated_at)
    assert by_agent["b"].last_active_at == (await core.procedure(ALICE, "style")).updated_at


async def test_who_is_being_erased_or_was_has_no_agents(world: World) -> None:
    core = await world.core(erase_settle_s=0)
    for owner in (ALICE, BOB):
        for name in ("a", "b"):
            await core.save(owner, turn(f"of {name}", agent_id=name))
    page = await core.agents("app", AcrossInput(limit=1))
    assert counted([*page.agents]) == [("alice", "a", 1)]
    erasure = await core.erase(ALICE)
    rest = await core.agents("app", AcrossInput(cursor=page.next_cursor))
    assert (
        counted([*rest.agents]) == counted(await agents(core)) == [("bob", "a", 1), ("bob", "b", 1)]
    )
    assert (await ended(world, core, erasure.task_id)).status == "succeeded"
    assert [agent.user_id for agent in await agents(core)] == ["bob", "bob"]
    await core.save(ALICE, turn("anew", agent_id="b"))
    assert counted(await agents(core))[0] == ("alice", "b", 1)


# the head tells it, whatever the store
@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_what_is_being_brought_in_has_no_agents_until_it_is_the_users(world: World) -> None:
    core = await world.core()
    await core.bulk(ALICE, [turn(f"note {number}", agent_id="a") for number in range(100)])
    file = await exported(world, core)
    mortal = await world.core(wrap=lambda store: DiesAfter(store, 6))
    task_id = await gathered(mortal, file, BOB)
    with suppress(Killed):
        await Hand(mortal, "consolidation").work_all()
    assert "memory" in {stray.kind for stray in await (await world.look_on()).strays(BOB, 100)}, (
        "it died while it was storing"
    )
    assert counted(await agents(core)) == [("alice", "a", 100)]
    assert (await worked(world, core, task_id, BOB)).status == "succeeded"
    assert counted(await agents(core)) == [("alice", "a", 100), ("bob", "a", 100)]


async def test_names_of_any_length_and_script_can_be_gone_on_from(world: World) -> None:
    core = await world.core()
    owner = Owner("app", "𝔘" * 128)
    for name in ("𝔄" * 128, "𝔅" * 128):
        await core.save(owner, turn(name[0], agent_id=name))
    assert [agent.agent_id for agent in await agents(core, limit=1)] == ["𝔄" * 128, "𝔅" * 128]


class Counted:
    """A store that counts its calls by name."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.calls = inner, dict[str, int]()

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self.inner, name)
        if name in ("owners", "agents", "poisoned", "snapshot"):
            self.calls[name] = self.calls.get(name, 0) + 1
        return attribute


async def test_a_page_looks_at_a_hundred_users_at_most_and_the_next_goes_on(world: World) -> None:
    core = await world.core(wrap=Counted)
    store = core._services.adapters.long_term
    assert isinstance(store, Counted)
    users = [f"user{number:03}" for number in range(130)]
    for name in users:
        await core.save(
            Owner("app", name), turn("one", agent_id="planner" if name == "user120" else None)
        )
    store.calls.clear()
    page = await core.agents("app", AcrossInput())
    assert (page.agents, store.calls) == ((), {"owners": 4, "agents": 100})
    assert page.next_cursor is not None
    rest = await core.agents("app", AcrossInput(cursor=page.next_cursor))
    assert (counted([*rest.agents]), rest.next_cursor) == ([("user120", "planner", 1)], None)

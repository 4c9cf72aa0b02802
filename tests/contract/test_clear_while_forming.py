"""Clearing a session while what was told in it waits, or is being formed: what was told before the
clear does not come back.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.memory import MemoryType, Status
from memory_core.domain.messages import MESSAGE
from memory_core.domain.requests.maintenance import AgentMemoryInput
from memory_core.domain.requests.memories import ClearInput, TasksInput
from memory_core.domain.results import Buffered
from tests.agents import NEW_TOPIC, Gate, ScriptedAgents
from tests.batches import gather, settled, waiting
from tests.builders import ALICE, NOW
from tests.tasks import Hand, converse, finished, pending, task_of, texts
from tests.telling import Tellers, facts_of, statuses, talk, tell
from tests.world import Meanwhile, World, listed, turn

S1 = ClearInput(session_id="s1")
EPISODES, TRUTHS = (
    ClearInput(session_id="s1", type=kind) for kind in (MemoryType.EPISODIC, MemoryType.SEMANTIC)
)
OSLO = ("Ana's city is Oslo", "Ana's dog is Bo")


async def standing(core: MemoryCore) -> list[str]:
    return sorted(memory.content for memory in await listed(core))


async def test_what_waited_when_its_session_was_cleared_is_not_formed(world: World) -> None:
    agents = Tellers()
    core = await world.core(agents=agents)
    accepted = await core.converse(ALICE, talk(*OSLO))
    assert await core.clear(ALICE, S1) == len(OSLO), "its messages"
    await Hand(core).work_all()
    task = await task_of(core, accepted)
    assert (task.status, task.error, task.result and task.result["counts"]) == (
        "succeeded",
        None,
        {"cleared": 1},
    )
    assert task.result is not None
    assert task.result["cells"] == [{"first": 0, "last": 1, "memory_ids": []}]
    assert {(memory.category, memory.status) for memory in await listed(core, status="all")} == {
        (MESSAGE, Status.DELETED)
    }
    assert [session.counts for session in (await core.sessions(ALICE)).sessions] == [{}]
    assert await pending(world) == 0
    assert set(agents.calls) <= {"boundary"}, "nobody is asked about what is not to be kept"


async def test_what_is_told_after_the_clear_is_formed_as_ever(world: World) -> None:
    core = await world.core(agents=Tellers())
    await core.converse(ALICE, talk(*OSLO))
    await core.clear(ALICE, S1)
    after = await core.converse(ALICE, talk("Ana's city is Bergen"))
    await Hand(core).work_all()
    assert (await task_of(core, after)).status == "succeeded"
    assert {memory.value for memory in (await facts_of(core)).values()} == {"Bergen"}
    again = await tell(core, *OSLO, at=NOW + timedelta(days=1))
    assert "cleared" not in (again.result or {})["counts"]
    assert statuses(await facts_of(core))["Ana's city is Oslo"] == "active"


async def test_another_sessions_clear_and_a_conversation_without_one_are_left_alone(
    world: World,
) -> None:
    core = await world.core()
    await core.converse(ALICE, talk("I live in Oslo", session="s2"))
    await core.converse(ALICE, talk("Tea is good", session=None))
    await core.clear(ALICE, S1)
    await Hand(core).work_all()
    assert await standing(core) == ["I live in Oslo", "Tea is good", "The user lives in Oslo"]


@pytest.mark.parametrize("filled", [False, True], ids=["an empty session", "one with memories"])
@pytest.mark.parametrize("name", ["facts", "summary", "conflicts"])
async def test_a_clear_while_agents_are_asked_leaves_nothing(
    world: World, name: str, filled: bool
) -> None:
    other = await world.core(agents=Tellers())
    await tell(other, "Ana's city is Turku", session="s0")
    if filled:
        await other.save(ALICE, turn("hello"))
    cleared: list[int] = []

    async def then(asked: str) -> None:
        if asked == name and not cleared:
            cleared.append(await other.clear(ALICE, S1))

    core = await world.core(agents=Tellers(before=then), link_threshold=0.0)
    task = await tell(core, *OSLO, at=NOW + timedelta(days=1))
    assert cleared == [len(OSLO) + int(filled)], "messages, and what was saved"
    assert (task.status, task.error, (task.result or {})["counts"]) == (
        "succeeded",
        None,
        {"cleared": 1},
    )
    assert {memory.session_id for memory in await listed(core)} == {"s0"}
    assert await pending(world) == 0


@pytest.mark.parametrize("filled", [False, True], ids=["an empty session", "one with memories"])
async def test_a_clear_between_a_forming_commits_look_and_that_commit_leaves_nothing(
    world: World, filled: bool
) -> None:
    other = await world.core()
    if filled:
        await other.save(ALICE, turn("hello"))
    accepted = await other.converse(ALICE, talk(*OSLO))
    evolving = Clears(other)
    core = await world.core(agents=Tellers(), wrap=evolving.beside)
    await Hand(core).work_all()
    task = await task_of(core, accepted)
    assert evolving.done
    assert (task.status, task.error, (task.result or {})["counts"]) == (
        "succeeded",
        None,
        {"cleared": 1},
    )
    assert await listed(core) == []
    assert await pending(world) == 0


class Clears:
    """Clears the session right before the first commit that would write a memory."""

    def __init__(self, core: MemoryCore) -> None:
        self.core, self.done = core, False

    def beside(self, store: object) -> object:
        clears = self

        class Store:
            async def commit(self, owner: object, batch: object) -> None:
                if not clears.done and any(
                    write.document.kind == "memory" for write in batch.writes
                ):  # type: ignore[attr-defined]
                    clears.done = True
                    await clears.core.clear(ALICE, S1)
                await store.commit(owner, batch)  # type: ignore[attr-defined]

            def __getattr__(self, name: str) -> object:
                return getattr(store, name)

        return Store()


@pytest.mark.parametrize("call", ["snapshot", "page"])
async def test_what_is_formed_between_the_clears_plan_and_its_commit_is_cleared(
    world: World, call: str
) -> None:
    worker = await world.core(agents=Tellers())
    await worker.converse(ALICE, talk(*OSLO))
    core = await world.core(wrap=lambda store: Meanwhile(store, call, Hand(worker).work_all))
    assert await core.clear(ALICE, S1) == 4 + len(OSLO)
    assert await listed(core) == []
    head = await world.head()
    assert head is not None
    assert (head.pending_operations, head.pending_tasks) == ([], 0)


async def test_of_two_cells_the_formed_one_is_cleared_and_the_other_left_out(world: World) -> None:
    other = await world.core()
    gate = Gate("summary", skip=1)
    asked: list[int] = []

    async def before(name: str) -> None:
        if name == "summary":
            asked.append(1)
            if len(asked) == 2:
                assert await other.clear(ALICE, S1) == 2

    core = await world.core(agents=ScriptedAgents(before=before))
    gate.open()
    accepted = await converse(core, "I live in Oslo", f"{NEW_TOPIC} I like flamenco")
    task = await finished(world, core, accepted)
    assert (task.status, (task.result or {})["counts"]) == (
        "succeeded",
        {"created": 2, "cleared": 1},
    )
    assert [len(cell["memory_ids"]) for cell in (task.result or {})["cells"]] == [2, 0]
    assert {memory.status for memory in await listed(core, status="all")} == {Status.DELETED}


async def test_a_clear_of_one_type_leaves_out_that_type_only(world: World) -> None:
    core = await world.core(agents=Tellers())
    accepted = await core.converse(ALICE, talk(*OSLO))
    await core.clear(ALICE, EPISODES)
    await Hand(core).work_all()
    assert {memory.category for memory in await listed(core)} == {"note", "fact"}
    assert (await task_of(core, accepted)).result["counts"] == {"created": 3, "cleared": 1}  # type: ignore[index]
    accepted = await core.converse(ALICE, talk("Ana's city is Bergen", at=NOW + timedelta(days=1)))
    await core.clear(ALICE, TRUTHS)
    await Hand(core).work_all()
    assert (await task_of(core, accepted)).result["counts"] == {"created": 1, "cleared": 2}  # type: ignore[index]
    assert {memory.category for memory in await listed(core)} == {"cell"}


async def test_a_truth_of_another_session_does_not_fall_for_what_was_cleared(world: World) -> None:
    core = await world.core(agents=Tellers())
    await tell(core, "Ana's city is Oslo", session="s2")
    await core.converse(ALICE, talk("Ana's city is Bergen", at=NOW + timedelta(days=1)))
    await core.clear(ALICE, S1)
    await Hand(core).work_all()
    assert statuses(await facts_of(core)) == {"Ana's city is Oslo": "active"}


async def test_an_agents_words_do_not_come_back_either(world: World) -> None:
    core = await world.core()
    words = AgentMemoryInput.model_validate(
        {"session_id": "s1", "agent_id": "a", "messages": "The order is out"}
    )
    first = await core.agent_memory(ALICE, words)
    await core.clear(ALICE, EPISODES)
    await Hand(core).work_all()
    assert ((await task_of(core, first)).result or {})["counts"] == {"cleared": 1}
    assert await listed(core) == []
    await core.agent_memory(ALICE, words)
    await Hand(core).work_all()
    assert await standing(core) == ["The order is out"]


async def test_a_poisoned_conversation_that_is_retried_after_the_clear_makes_nothing(
    world: World,
) -> None:
    agents = ScriptedAgents(broken=True)
    core = await world.core(agents=agents)
    accepted = await converse(core, "I live in Oslo")
    assert (await finished(world, core, accepted)).status == "poisoned"
    await core.clear(ALICE, S1)
    agents.broken = False
    await core.retry(ALICE, accepted.task_id)
    assert (await finished(world, core, accepted)).status == "succeeded"
    assert {(memory.category, memory.status) for memory in await listed(core, status="all")} == {
        (MESSAGE, Status.DELETED)
    }


async def test_messages_that_are_gathered_are_dropped_with_the_session(world: World) -> None:
    core = await world.core()
    await gather(core, "I live in Oslo", "I like flamenco")
    await gather(core, "I live in Bergen", session="s2")
    await core.clear(ALICE, S1)
    assert await core.batch_state(ALICE, "s1") == Buffered(0, None)
    assert await core.batch_flush(ALICE, "s1") is None
    dropped = next(
        task for task in (await core.tasks(ALICE, TasksInput(kind="flush"))).tasks if task.finished
    )
    assert (dropped.status, dropped.step, dropped.result) == (
        "succeeded",
        None,
        {"cells": [], "counts": {"cleared": 1}},
    )
    assert await pending(world) == 1
    await gather(core, "I live in Turku")
    await settled(world, core)
    assert await texts(core) == [
        "I live in Bergen",
        "I live in Turku",
        "The user lives in Bergen",
        "The user lives in Turku",
    ]
    assert await pending(world) == 0


async def test_a_clear_of_one_type_leaves_what_is_gathered(world: World) -> None:
    core = await world.core()
    await gather(core, "I live in Oslo")
    await core.clear(ALICE, TRUTHS)
    assert await waiting(world) == [["I live in Oslo"]]


async def test_messages_handed_over_before_the_clear_are_not_formed(world: World) -> None:
    core = await world.core()
    await gather(core, "I live in Oslo")
    flushed = await core.batch_flush(ALICE, "s1")
    assert flushed is not None
    await core.clear(ALICE, S1)
    assert (await finished(world, core, flushed)).result["counts"] == {"cleared": 1}  # type: ignore[index]
    assert await listed(core) == []
    assert [message.status for message in await listed(core, status="all")] == [Status.DELETED]


@pytest.mark.parametrize("call", ["page", "snapshot"])
async def test_an_append_and_a_flush_beside_a_clear_lose_nothing_but_what_was_told_before_it(
    world: World, call: str
) -> None:
    other = await world.core()
    await gather(other, "I live in Oslo")

    async def meanwhile() -> None:
        await gather(other, "I like flamenco")
        await other.batch_flush(ALICE, "s1")

    core = await world.core(wrap=lambda store: Meanwhile(store, call, meanwhile))
    await core.clear(ALICE, S1)
    await gather(core, "It rains")
    await settled(world, core)
    assert await standing(core) == ["It rains"]
    assert await pending(world) == 0

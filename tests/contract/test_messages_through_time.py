"""What was said long ago: never made short, archived and brought back like any memory,
exported and imported with its cell.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from memory_core.adapters.offline.agents import OfflineAgents
from memory_core.core import MemoryCore
from memory_core.domain.archival import is_cold
from memory_core.domain.memory import Memory, Status
from memory_core.domain.messages import messages_of
from memory_core.domain.requests.memories import AcrossInput, RetrieveInput
from memory_core.domain.scope import Owner
from tests.builders import ALICE
from tests.cold import archived, years_go_by
from tests.contract.test_compress import LONG
from tests.contract.test_decay import DAY, decayed
from tests.contract.test_forget import forgotten, no_trace
from tests.exports import brought, exported
from tests.past import told_by_the_log
from tests.said_and_formed import messages, the_cell
from tests.tasks import Hand
from tests.telling import Tellers, formed, talk, tell
from tests.world import BOB, World, listed

SAID = ("Ana's city is Oslo", "the ferry was late", "zebra crossing")


@pytest.fixture
def world(cold_world: World) -> World:
    return cold_world


@pytest.fixture
async def core(world: World) -> MemoryCore:
    return await world.core(agents=Tellers(notes=False))


def statuses(turns: Mapping[str, Memory]) -> set[Status]:
    return {memory.status for memory in turns.values()}


async def quoted(core: MemoryCore, query: str, owner: Owner) -> set[str]:
    hits = (await core.retrieve(owner, RetrieveInput(query=query))).results
    return {passage.text for hit in hits for passage in hit.passages}


async def test_a_long_message_is_never_made_short(world: World) -> None:
    core = await world.core(rules=OfflineAgents())
    accepted = await core.converse(ALICE, talk(LONG))
    world.clock.forward(95 * DAY)
    assert (await decayed(core)).result == {
        "counts": {"recalled": 0, "decayed": 0, "compressed": 0},
        "capped": False,
    }
    (message,) = (await messages(core)).values()
    assert (message.status, message.content) == (Status.ACTIVE, LONG)
    await Hand(core).work_all()
    assert accepted.task_id


async def test_messages_go_cold_with_their_cell_and_come_back_with_it(
    core: MemoryCore, world: World
) -> None:
    await tell(core, *SAID)
    cell = await the_cell(core, "ferry")
    years_go_by(world)
    await archived(world, core)
    turns = await messages(core)
    assert {memory.cell_id for memory in turns.values()} == {cell.id}
    assert all(is_cold(memory) for memory in (*turns.values(), await core.get(ALICE, cell.id)))
    await told_by_the_log(core, world)
    back = await core.restore(ALICE, cell.id)
    assert back.status is Status.ACTIVE
    turns = await messages(core)
    assert (statuses(turns), {memory.cell_id for memory in turns.values()}) == (
        {Status.ACTIVE},
        {cell.id},
    )
    assert [
        memory for memory in turns.values() if is_cold(memory) or memory.embedding_model is None
    ] == []
    await told_by_the_log(core, world)


async def test_a_cell_deleted_in_the_archive_takes_its_messages_along_and_brings_them_back(
    core: MemoryCore, world: World
) -> None:
    await tell(core, *SAID)
    cell = await the_cell(core, "ferry")
    years_go_by(world)
    await archived(world, core)
    await core.delete(ALICE, cell.id)
    assert statuses(await messages(core)) == {Status.DELETED}
    await core.restore(ALICE, cell.id)
    turns = await messages(core)
    assert (statuses(turns), any(is_cold(memory) for memory in turns.values())) == (
        {Status.ACTIVE},
        False,
    )
    await told_by_the_log(core, world)


async def test_a_cold_message_forgotten_for_good_leaves_no_copy(
    core: MemoryCore, world: World
) -> None:
    await tell(core, *SAID)
    ferry = (await messages(core))["the ferry was late"]
    years_go_by(world)
    await archived(world, core)
    await forgotten(core, "hard", ids=[ferry.id])
    assert sorted(await messages(core)) == ["Ana's city is Oslo", "zebra crossing"]
    assert {message.cell_id for message in (await messages(core)).values()} == {None}
    await no_trace(world, "ferry")
    await told_by_the_log(core, world)


async def test_a_file_brings_messages_back_with_their_cells_and_vectors(
    core: MemoryCore, world: World
) -> None:
    await tell(core, *SAID)
    accepted = await core.converse(ALICE, talk("a walrus came by", session="s2"))
    file = await exported(world, core)
    task = await brought(world, core, file)
    assert task.status == "succeeded", task.error
    here, there = await messages(core), await messages(core, BOB)
    assert {
        text: (memory.id, memory.cell_id, memory.sequence, memory.metadata)
        for text, memory in there.items()
    } == {
        text: (memory.id, memory.cell_id, memory.sequence, memory.metadata)
        for text, memory in here.items()
    }
    assert (
        {memory.embedding_model for memory in there.values()}
        == {memory.embedding_model for memory in here.values()}
        != {None}
    )
    assert (await exported(world, core, BOB)).splitlines()[1:] == file.splitlines()[1:]
    assert (
        await quoted(core, "the ferry was late", BOB)
        == await quoted(core, "the ferry was late", ALICE)
        != set()
    )
    await formed(core, accepted)
    world.clock.forward(3600)
    await core.sweep()
    await Hand(core).work_all()
    walrus = await the_cell(core, "walrus", BOB)
    assert [
        message.cell_id
        for message in (await messages(core, BOB)).values()
        if message.id in messages_of(walrus)
    ] == [walrus.id]
    assert [memory.id for memory in await listed(core, BOB)] == [
        memory.id for memory in await listed(core)
    ]


async def test_agents_are_counted_without_messages(core: MemoryCore) -> None:
    await core.converse(ALICE, talk(*SAID).model_copy(update={"agent_id": "planner"}))
    await Hand(core).work_all()
    (agent,) = (await core.agents("app", AcrossInput())).agents
    assert agent.memories == len(await listed(core, agent_id="planner"))

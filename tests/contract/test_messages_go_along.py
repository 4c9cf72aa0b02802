"""What was said goes with what was formed of it, and comes back with it: softly, for good,
out of the past and the archive.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.memory import Memory, Status
from memory_core.domain.messages import MESSAGE, WITH_CELL, messages_of
from memory_core.domain.requests.maintenance import ReplayInput
from memory_core.domain.requests.memories import (
    ClearInput,
    ConverseInput,
    CopyInput,
    RetrieveInput,
    StatusInput,
)
from memory_core.domain.results import Call
from memory_core.ledger.documents import messages_id
from tests.agents import ScriptedAgents
from tests.builders import ALICE, NOW
from tests.contract.test_forget import everything, foreseen, forgotten, no_trace
from tests.past import told_by_the_log
from tests.said_and_formed import messages, the_cell
from tests.tasks import Hand
from tests.telling import Tellers, formed, talk, tell
from tests.world import DiesAfter, Killed, World, find, listed

SAID = ("Ana's city is Stavanger", "the ferry was late", "zebra crossing")


@pytest.fixture
async def core(world: World) -> MemoryCore:
    return await world.core(agents=Tellers(notes=False))


async def found(core: MemoryCore, query: str) -> set[str]:
    """The ids that a search shows, and those of the messages that it quotes."""
    hits = (await core.retrieve(ALICE, RetrieveInput(query=query))).results
    return {
        name
        for hit in hits
        for name in (hit.memory.id, *(passage.message for passage in hit.passages))
    }


def statuses(turns: dict[str, Memory]) -> set[tuple[Status, str]]:
    return {(memory.status, memory.status_reason) for memory in turns.values()}


async def counted(core: MemoryCore) -> dict[str, int]:
    (session,) = (await core.sessions(ALICE)).sessions
    return dict(session.counts)


async def test_a_deleted_cell_takes_its_messages_along_and_brings_them_back(
    core: MemoryCore, world: World
) -> None:
    await tell(core, *SAID)
    cell, before = await the_cell(core, "ferry"), await counted(core)
    assert {message.cell_id for message in (await messages(core)).values()} == {cell.id}
    assert cell.id in await found(core, "ferry late")
    await core.delete(ALICE, cell.id)
    assert statuses(await messages(core)) == {(Status.DELETED, WITH_CELL)}
    assert not await found(core, "ferry late zebra") & {cell.id, *messages_of(cell)}
    assert "messages" not in await counted(core)
    deletions = [event for event in await world.log() if event.event_type == "deleted"]
    assert {event.correlation_id for event in deletions} == {None}
    assert len(deletions) == 1 + len(SAID)
    await told_by_the_log(core, world)
    await core.set_status(ALICE, cell.id, StatusInput(status="active"))
    assert statuses(await messages(core)) == {(Status.ACTIVE, "restored")}
    assert {message.cell_id for message in (await messages(core)).values()} == {cell.id}
    assert cell.id in await found(core, "ferry late")
    assert await counted(core) == before
    await told_by_the_log(core, world)


async def test_a_message_deleted_by_itself_leaves_its_cell_and_stays_deleted_when_that_comes_back(
    core: MemoryCore, world: World
) -> None:
    await tell(core, *SAID)
    cell, ferry = await the_cell(core, "ferry"), (await messages(core))["the ferry was late"]
    await core.delete(ALICE, ferry.id)
    assert (await core.get(ALICE, cell.id)).status is Status.ACTIVE
    assert ferry.id not in await found(core, "ferry late")
    await core.delete(ALICE, cell.id)
    await core.set_status(ALICE, cell.id, StatusInput(status="active"))
    turns = await messages(core)
    assert {text: memory.status for text, memory in turns.items()} == dict.fromkeys(
        SAID, Status.ACTIVE
    ) | {ferry.content: Status.DELETED}
    await told_by_the_log(core, world)


async def test_a_message_restored_without_its_cell_stands_for_itself_until_that_comes_back(
    core: MemoryCore, world: World
) -> None:
    await tell(core, *SAID)
    cell, ferry = await the_cell(core, "ferry"), (await messages(core))["the ferry was late"]
    await core.delete(ALICE, cell.id)
    await core.set_status(ALICE, ferry.id, StatusInput(status="active"))
    assert (await core.get(ALICE, ferry.id)).cell_id is None
    assert ferry.id in [memory.id for memory in await listed(core)]
    assert ferry.id in await found(core, "ferry late")
    await told_by_the_log(core, world)
    await core.restore(ALICE, cell.id)
    turns = await messages(core)
    assert {memory.cell_id for memory in turns.values()} == {cell.id}
    assert {memory.status for memory in turns.values()} == {Status.ACTIVE}
    await told_by_the_log(core, world)


async def test_of_a_long_cell_all_messages_go_and_come_back_also_when_somebody_dies_in_between(
    world: World,
) -> None:
    core = await world.core(agents=ScriptedAgents())
    lines = [f"line number {number} of a long evening" for number in range(90)]
    await tell(core, *lines)
    cells = await listed(core, status="all", category="cell")
    cell = max(cells, key=lambda candidate: len(messages_of(candidate)))
    assert len(messages_of(cell)) > 41, "or it fits one commit"
    own = {*messages_of(cell)}
    dying = await world.core(wrap=lambda store: DiesAfter(store, 1))
    with pytest.raises(Killed):
        await dying.delete(ALICE, cell.id)
    await core.delete(ALICE, cell.id, Call(idempotency_key="again"))
    await core.delete(ALICE, cell.id, Call(idempotency_key="again"))
    assert {
        message.id
        for message in (await messages(core)).values()
        if message.status is Status.DELETED
    } == own
    await core.restore(ALICE, cell.id)
    assert [
        message for message in (await messages(core)).values() if message.status is Status.DELETED
    ] == []


async def test_softly_forgotten_cells_take_their_messages_along_in_as_many_commits_as_it_takes(
    core: MemoryCore, world: World
) -> None:
    for number in range(4):
        await tell(
            core,
            *(f"day {number} line {line}" for line in range(15)),
            at=NOW + timedelta(days=number),
            session=f"s{number}",
        )
    cells = await listed(core, status="all", category="cell")
    task = await forgotten(core, ids=[cell.id for cell in cells])
    turns = await messages(core)
    assert task.result is not None
    assert task.result["counts"] == {"forgotten": len(cells), "messages": len(turns)}
    assert {memory.status for memory in turns.values()} == {Status.DELETED}
    assert await listed(core) == []
    await told_by_the_log(core, world)
    await core.restore(ALICE, cells[0].id)
    assert sorted(
        message.id for message in (await messages(core)).values() if message.status is Status.ACTIVE
    ) == sorted(messages_of(cells[0]))


@pytest.mark.parametrize("adapter", ["sqlite", "cosmos"], indirect=True)
async def test_a_softly_forgotten_session_counts_each_message_once_as_its_dry_run_does(
    core: MemoryCore, world: World
) -> None:
    """The filter fits the messages themselves: none goes only along, and each is changed once."""
    await tell(core, *SAID)
    seen, turns = await foreseen(core, session_id="s1"), await messages(core)
    task = await forgotten(core, session_id="s1")
    assert task.result is not None
    assert task.result["counts"] == seen.counts
    events = await (await world.look_on()).events(ALICE, 0, 100)
    written = [
        event.memory_id
        for event in events
        if event.memory_id in {turn.id for turn in turns.values()}
    ]
    assert len(written) == 2 * len(turns), "told, and forgotten"
    (session,) = (await core.sessions(ALICE)).sessions
    assert not any(session.counts.values())


@pytest.mark.parametrize("adapter", ["sqlite", "cosmos"], indirect=True)
async def test_an_episode_forgotten_with_one_of_its_messages_leaves_the_others(
    core: MemoryCore,
) -> None:
    await tell(core, *SAID)
    cell = await the_cell(core, "ferry")
    first = next(iter((await messages(core)).values()))
    task = await forgotten(core, ids=[cell.id, first.id])
    assert task.result is not None
    assert task.result["counts"] == {"forgotten": 2}
    left = await messages(core)
    assert [turn.status for turn in left.values()].count(Status.DELETED) == 1
    assert {turn.cell_id for turn in left.values() if turn.status is Status.ACTIVE} == {None}


async def test_a_cleared_session_is_cleared_of_its_messages_and_a_restored_cell_brings_them_back(
    core: MemoryCore,
) -> None:
    await tell(core, *SAID)
    cell = await the_cell(core, "ferry")
    await core.clear(ALICE, ClearInput(session_id="s1"))
    assert statuses(await messages(core)) == {(Status.DELETED, "cleared")}
    assert await found(core, "ferry late") == set()
    await core.restore(ALICE, cell.id)
    assert statuses(await messages(core)) == {(Status.ACTIVE, "restored")}


async def test_a_copy_of_a_cell_is_deleted_without_the_messages_and_a_copied_message_belongs_to_no_cell(  # noqa: E501
    core: MemoryCore,
) -> None:
    await tell(core, *SAID)
    cell, ferry = await the_cell(core, "ferry"), (await messages(core))["the ferry was late"]
    copied = await core.copy(ALICE, cell.id, CopyInput(to_agent_id="planner"))
    await core.delete(ALICE, copied.id)
    assert {message.status for message in (await messages(core)).values()} == {Status.ACTIVE}
    alone = await core.copy(ALICE, ferry.id, CopyInput(to_agent_id="planner"))
    assert alone.cell_id is None
    assert alone.id in [memory.id for memory in await listed(core)]


async def test_a_cell_told_again_in_its_session_has_each_message_once_and_takes_them_along(
    core: MemoryCore,
) -> None:
    await tell(core, *SAID)
    await core.converse(ALICE, talk(*SAID))
    cell = await the_cell(core, "ferry")
    memories = await listed(core, status="all", category=MESSAGE)
    assert len(memories) == len(SAID)
    assert sorted(messages_of(cell)) == sorted(message.id for message in memories)
    await core.delete(ALICE, cell.id)
    assert {memory.status for memory in await listed(core, status="all", category=MESSAGE)} == {
        Status.DELETED
    }


async def test_a_message_forgotten_for_good_takes_its_cell_and_leaves_the_other_messages_to_themselves(  # noqa: E501
    core: MemoryCore, world: World
) -> None:
    await tell(core, "Ana's city is Stavanger", "the ferry was late", "Ben's city is Turku")
    ana = (await messages(core))["Ana's city is Stavanger"]
    await forgotten(core, "hard", ids=[ana.id])
    assert sorted(memory.content for memory in await listed(core, status="all")) == sorted(
        ["Ben's city is Turku", "Ben's city is Turku", "the ferry was late"]
    ), "two messages, and a fact of one of them"
    assert {message.cell_id for message in (await messages(core)).values()} == {None}
    assert ana.conversation_id is not None
    assert await (await world.look_on()).page(ALICE, "messages", None, None, 10) == []
    await no_trace(world, "Stavanger")
    assert "Turku" in await everything(world)
    await told_by_the_log(core, world)
    assert "the ferry was late" in await find(core, "the ferry was late")


async def test_a_fact_forgotten_for_good_takes_the_message_that_told_it_and_leaves_the_others(
    core: MemoryCore, world: World
) -> None:
    await tell(core, *SAID)
    (lives,) = await listed(core, category="fact")
    seen = await foreseen(core, "hard", ids=[lives.id])
    assert seen.counts == {"forgotten": 1, "derived": 2, "messages": 1, "episodes": 1}
    await forgotten(core, "hard", ids=[lives.id])
    assert sorted(memory.content for memory in await listed(core, status="all")) == [
        "the ferry was late",
        "zebra crossing",
    ]
    await no_trace(world, "Stavanger")
    await told_by_the_log(core, world)


@pytest.mark.parametrize("names", [("message", "fact"), ("fact", "message")])
async def test_asked_for_with_a_fact_of_its_cell_a_message_goes_beside_that_of_the_fact(
    core: MemoryCore, world: World, names: Sequence[str]
) -> None:
    await tell(core, *SAID)
    (lives,) = await listed(core, category="fact")
    known = {"message": (await messages(core))["zebra crossing"].id, "fact": lives.id}
    await forgotten(core, "hard", ids=[known[name] for name in names])
    assert [*await messages(core)] == ["the ferry was late"]
    await no_trace(world, "Stavanger", "zebra")


@pytest.mark.parametrize("names", [("message", "cell"), ("cell", "message")])
async def test_asked_for_with_its_cell_all_messages_go(
    core: MemoryCore, world: World, names: Sequence[str]
) -> None:
    await tell(core, *SAID)
    known = {
        "message": (await messages(core))["zebra crossing"].id,
        "cell": (await the_cell(core, "ferry")).id,
    }
    await forgotten(core, "hard", ids=[known[name] for name in names])
    assert await messages(core) == {}
    await no_trace(world, "ferry", "zebra")


async def test_words_that_a_forgotten_message_lent_to_those_after_it_are_gone(
    core: MemoryCore, world: World
) -> None:
    await core.converse(ALICE, talk("the quagga stood there", "why did it?", "nobody knows"))
    turns = await messages(core)
    assert "quagga" in str((await core.get(ALICE, turns["why did it?"].id)).lexical)
    await forgotten(core, "hard", ids=[turns["the quagga stood there"].id])
    assert sorted(await messages(core)) == ["nobody knows", "why did it?"]
    await no_trace(world, "quagga")


@pytest.mark.parametrize("state", ["waiting", "poisoned", "cancelled"])
async def test_a_session_forgotten_for_good_takes_messages_of_which_nothing_was_formed(
    world: World, state: str
) -> None:
    core = await world.core(agents=ScriptedAgents(broken=state == "poisoned"))
    accepted = await core.converse(ALICE, talk(*SAID))
    if state == "poisoned":
        assert (await formed_or_not(core, world)) is None
    if state == "cancelled":
        await core.cancel(ALICE, accepted.task_id)
    assert len(await messages(core)) == len(SAID)
    await forgotten(core, "hard", session_id="s1")
    assert await messages(core) == {}
    await no_trace(world, "Stavanger", "ferry", "zebra")
    await Hand(core).work_all()
    assert await listed(core, status="all") == []


async def formed_or_not(core: MemoryCore, world: World) -> None:
    for _ in range(12):
        await Hand(core).work_all()
        world.clock.forward(600)


async def test_what_was_known_before_and_after_it_was_formed_is_what_lists_showed(
    core: MemoryCore, world: World
) -> None:
    accepted = await core.converse(ALICE, talk(*SAID))
    world.clock.forward(1)
    before, memories = world.clock.now(), await listed(core)
    world.clock.forward(5)
    await formed(core, accepted)
    assert {memory.category for memory in memories} == {MESSAGE}
    assert {memory.category for memory in await listed(core)} == {"cell", "fact"}
    assert [memory.id for memory in await listed(core, known_at=before)] == [
        memory.id for memory in memories
    ]
    cell = await the_cell(core, "ferry")
    world.clock.forward(5)
    known = await listed(core, known_at=world.clock.now())
    assert [memory.id for memory in known] == [memory.id for memory in await listed(core)]
    replayed = {
        memory.id: memory
        for memory in await listed(core, known_at=world.clock.now(), category=MESSAGE)
    }
    assert {memory.cell_id for memory in replayed.values()} == {cell.id}
    head = await world.head()
    assert head is not None
    page = await core.replay(ALICE, ReplayInput(sequence=head.sequence, limit=100))
    assert [memory.id for memory in page.memories] == [
        memory.id for memory in await listed(core, status="all")
    ]


async def test_a_message_told_again_is_forgotten_in_every_conversation_that_told_it(
    core: MemoryCore, world: World
) -> None:
    sent = [
        {"role": "user", "content": f"the {word} was there", "timestamp": NOW}
        for word in ("quagga", "heron", "stork")
    ]
    for count in (1, 3):
        await core.converse(ALICE, ConverseInput.model_validate({"messages": sent[:count]}))
    assert len(await messages(core)) == 3
    await forgotten(core, "hard", ids=[(await messages(core))["the quagga was there"].id])
    assert sorted(await messages(core)) == ["the heron was there", "the stork was there"]
    await Hand(core).work_all()
    await no_trace(world, "quagga")


async def test_a_forgotten_conversation_leaves_no_document_of_messages(
    core: MemoryCore, world: World
) -> None:
    await tell(core, *SAID)
    cell = await the_cell(core, "ferry")
    assert cell.conversation_id is not None
    await forgotten(core, "hard", ids=[cell.id])
    store = await world.look_on()
    assert (
        await store.snapshot(ALICE, [messages_id(cell.conversation_id), *messages_of(cell)])
    ).documents == {}
    await no_trace(world, "ferry", "zebra")
    await core.converse(
        ALICE,
        ConverseInput.model_validate(
            {"messages": [{"role": "user", "content": "hello", "timestamp": NOW}]}
        ),
    )

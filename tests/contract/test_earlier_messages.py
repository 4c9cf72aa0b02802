"""Conversations that an earlier version formed, without memories of their messages,
have these from the next run on.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from memory_core.adapters.system import RandomIds
from memory_core.core import MemoryCore
from memory_core.domain.memory import Head, Status
from memory_core.domain.messages import MESSAGE, messages_of
from memory_core.domain.requests.maintenance import ConsolidateInput
from memory_core.domain.requests.memories import ClearInput, RetrieveInput, TasksInput
from memory_core.domain.results import Accepted, Call
from memory_core.ledger.changes import Change, Changes
from memory_core.ledger.commit import Ledger
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import Document
from tests.builders import ALICE, NOW
from tests.contract.test_forget import forgotten
from tests.said_and_formed import messages, the_cell
from tests.tasks import Hand
from tests.telling import Tellers, facts_of, tell
from tests.world import DiesAfter, Killed, World, listed

SAID = ("Ana's city is Oslo", "the ferry was late", "zebra crossing")


@pytest.fixture
async def core(world: World) -> MemoryCore:
    return await world.core(agents=Tellers(notes=False))


async def as_written_before(world: World, core: MemoryCore) -> None:
    """Give all conversations the form in which an earlier version stored them: no message is a
    memory, and nothing counts or names one.
    """
    store = await world.look_on()
    documents = [
        document
        for kind in ("conversation", "session")
        for document in await store.page(ALICE, kind, None, None, 100)
    ]
    memories = [*(await listed(core, status="all")), *(await messages(core)).values()]

    def decide(look: ReadSet) -> Changes[None]:
        turns = [look.memory(memory.id) for memory in memories if memory.category == MESSAGE]
        cells = [look.memory(memory.id) for memory in memories if memory.category == "cell"]
        changes = [
            Change("forgotten", turn, turn, removed=True) for turn in turns if turn is not None
        ]
        changes += [
            Change("told", cell.model_copy(update={"source_ids": []}), cell)
            for cell in cells
            if cell is not None
        ]
        return Changes(
            None,
            tuple(changes),
            tuple(_as_before(look.documents[document.id]) for document in documents),
            head_fields=head_fields,
        )

    def head_fields(head: Head) -> dict[str, Any]:
        return {"messages_backfilled": False}

    ids = [document.id for document in (*documents, *memories)]
    await Ledger(store, world.clock, RandomIds()).commit(ALICE, decide, ids=ids, call=Call())
    assert await messages(core) == {}


def _as_before(document: Document) -> Document:
    body: dict[str, Any] = {
        name: value
        for name, value in document.body.items()
        if name not in ("written", "embedded", "history", "last_turns")
    }
    if document.kind == "session":
        body["counts"] = {
            name: count for name, count in body["counts"].items() if name != "messages"
        }
    return replace(document, body=body)


async def run(core: MemoryCore) -> None:
    await core.consolidate(ALICE, ConsolidateInput())
    await Hand(core, "consolidation").work_all()


async def quoted(core: MemoryCore, query: str) -> set[str]:
    hits = (await core.retrieve(ALICE, RetrieveInput(query=query))).results
    return {
        text
        for hit in hits
        for text in (hit.memory.content, *(passage.text for passage in hit.passages))
    }


async def test_messages_of_an_earlier_version_are_found_and_read_back_after_the_next_run(
    core: MemoryCore, world: World
) -> None:
    await tell(core, *SAID)
    await tell(core, "a parrot of our own", "it bites", at=NOW + timedelta(days=1), session=None)
    before = dict((await core.session(ALICE, "s1")).counts)
    last = (await core.session(ALICE, "s1")).last_active_at
    await as_written_before(world, core)
    world.clock.moment += timedelta(days=1)
    await run(core)
    message, ferry, parrot = (
        await messages(core),
        await the_cell(core, "ferry"),
        await the_cell(core, "parrot"),
    )
    assert {*message} == {*SAID, "a parrot of our own", "it bites"}
    assert messages_of(ferry) == [message[text].id for text in SAID]
    assert {message[text].cell_id for text in SAID} == {ferry.id}
    assert message["it bites"].cell_id == parrot.id
    assert all(memory.embedding_model for memory in message.values())
    assert "the ferry was late" in await quoted(core, "ferry late")
    assert [message.content for message in (await core.session_messages(ALICE, "s1")).messages] == [
        *SAID
    ]
    assert dict((await core.session(ALICE, "s1")).counts) == before
    assert (await core.session(ALICE, "s1")).last_active_at == last
    assert [memory.category for memory in await listed(core) if memory.category == MESSAGE] == [], (
        "they are listed under their cells"
    )
    await core.delete(ALICE, ferry.id)
    assert {message.status for text, message in (await messages(core)).items() if text in SAID} == {
        Status.DELETED
    }


async def test_it_is_done_once(core: MemoryCore, world: World) -> None:
    await tell(core, *SAID)
    await as_written_before(world, core)
    await run(core)
    head = await world.head()
    assert head is not None
    assert head.messages_backfilled
    turns = await messages(core)
    await core.delete(ALICE, turns["zebra crossing"].id)
    world.clock.moment += timedelta(days=1)
    await run(core)
    assert (await messages(core))["zebra crossing"].status is Status.DELETED
    assert len(await messages(core)) == len(SAID)


@pytest.mark.parametrize(
    "how",
    [
        "a fact is deleted",
        "the cell is forgotten",
        "the cell is gone for good",
        "the session is cleared",
    ],
)
async def test_what_somebody_deleted_does_not_come_back(
    core: MemoryCore, world: World, how: str
) -> None:
    await tell(core, *SAID)
    await as_written_before(world, core)
    cell, (fact,) = await the_cell(core, "ferry"), (await facts_of(core)).values()
    world.clock.moment += timedelta(minutes=1)
    if how == "a fact is deleted":
        await core.delete(ALICE, fact.id)
    elif how == "the session is cleared":
        await core.clear(ALICE, ClearInput(session_id="s1"))
    else:
        await forgotten(core, "soft" if how == "the cell is forgotten" else "hard", ids=[cell.id])
    await run(core)
    assert await messages(core) == {}


@pytest.mark.parametrize("commits", [1, 2, 3, 4])
async def test_a_run_that_died_half_way_goes_on(
    core: MemoryCore, world: World, commits: int
) -> None:
    lines = [f"line number {number} of a long evening" for number in range(30)]
    await tell(core, *lines[:15])
    await tell(core, *lines[15:], at=NOW + timedelta(days=1), session="s2")
    await as_written_before(world, core)
    accepted = await core.consolidate(ALICE, ConsolidateInput())
    dying = await world.core(
        agents=Tellers(notes=False), wrap=lambda store: DiesAfter(store, commits)
    )
    with suppress(Killed):
        await Hand(dying, "consolidation").work_all()
    world.clock.moment += timedelta(hours=1)
    await Hand(core, "consolidation").work_all()
    assert isinstance(accepted, Accepted)
    assert (await core.task(ALICE, accepted.task_id)).status == "succeeded"
    assert {*await messages(core)} == {*lines}
    assert [
        message.content
        for message in (await core.session_messages(ALICE, "s1", limit=100)).messages
    ] == lines[:15]


async def test_what_was_told_since_is_taken_back_before_what_an_earlier_version_was_told(
    core: MemoryCore, world: World
) -> None:
    await tell(core, *SAID)
    await as_written_before(world, core)
    world.clock.moment += timedelta(days=1)
    await tell(core, "a parrot of our own", at=NOW + timedelta(days=1))
    await run(core)
    taken = [(await core.take_back(ALICE, "s1", 1)).messages[0].content for _ in range(3)]
    assert taken == ["a parrot of our own", "zebra crossing", "the ferry was late"]


async def test_what_one_run_leaves_the_next_one_writes(world: World) -> None:
    core = await world.core(agents=Tellers(notes=False), upkeep_cap=4)
    for day in range(3):
        await tell(
            core,
            *(f"line {number} of day {day}" for number in range(3)),
            at=NOW + timedelta(days=day),
        )
    await as_written_before(world, core)
    await run(core)
    runs = (await core.tasks(ALICE, TasksInput(kind="consolidate"))).tasks
    written = [(run.result or {})["counts"].get("messages_written", 0) for run in runs]
    assert max(written) < sum(written) == 9
    assert len(await messages(core)) == 9
    head = await world.head()
    assert head is not None
    assert (head.messages_backfilled, head.backfill_position) == (True, None)

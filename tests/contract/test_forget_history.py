"""A message that was forgotten for good stays away when its history is sent again,
and the rest of that is known.
"""

from __future__ import annotations

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.chat.history import is_hole, is_sealed, message_mark
from memory_core.domain.errors import Unavailable
from memory_core.domain.requests.memories import ClearInput, ConverseInput
from memory_core.domain.results import Told
from memory_core.ledger.ids import session_document_id
from memory_core.ledger.sessions import history_of
from tests.builders import ALICE
from tests.cold import Stepping
from tests.contract.test_forget import forgotten, no_trace
from tests.exports import brought, exported, worked
from tests.said_and_formed import messages
from tests.tasks import Hand
from tests.telling import Tellers
from tests.world import BOB, World

PIN = "My word for the safe is quokkalamp"
SAID = [
    ("user", PIN),
    ("assistant", "I keep it in mind"),
    ("user", "ok"),
    ("assistant", "Anything else?"),
    ("user", "I live in Graz"),
    ("assistant", "ok"),
    ("user", "What is for dinner?"),
    ("assistant", "Pasta"),
]


@pytest.fixture
async def core(world: World) -> MemoryCore:
    return await world.core(agents=Tellers())


def history(end: int, *, ids: bool = False) -> ConverseInput:
    sent = [
        {"role": role, "content": text, **({"id": f"m{place}"} if ids else {})}
        for place, (role, text) in enumerate(SAID[:end])
    ]
    return ConverseInput.model_validate({"session_id": "s1", "messages": sent})


async def read_back(core: MemoryCore) -> list[str]:
    return [
        message.content
        for message in (await core.session_messages(ALICE, "s1", limit=100)).messages
    ]


async def marks(world: World) -> list[str]:
    name = session_document_id(ALICE, "s1")
    documents = (await (await world.look_on()).snapshot(ALICE, [name])).documents
    return [*history_of(documents[name]).marks]


@pytest.mark.parametrize("adapter", ["sqlite", "cosmos"], indirect=True)
@pytest.mark.parametrize("is_formed", [False, True])
@pytest.mark.parametrize("ids", [False, True])
async def test_a_history_goes_on_without_the_message_that_was_forgotten_for_good(
    core: MemoryCore, world: World, is_formed: bool, ids: bool
) -> None:
    await core.converse(ALICE, history(6, ids=ids))
    if is_formed:
        await Hand(core).work_all()
    world.clock.forward(60)
    await forgotten(core, "hard", ids=[(await messages(core))[PIN].id])
    for end, new in ((6, 0), (8, 2), (8, 0)):
        world.clock.forward(60)
        assert (await core.converse(ALICE, history(end, ids=ids))).messages == Told(new, end - new)
        await Hand(core).work_all()
    assert await read_back(core) == [text for _, text in SAID[1:]]
    await no_trace(world, "quokkalamp", message_mark("user", PIN))
    assert [is_hole(mark) for mark in await marks(world)] == [True, *[False] * 7]


@pytest.mark.parametrize("adapter", ["sqlite", "cosmos"], indirect=True)
async def test_of_the_same_words_only_those_that_were_forgotten_leave_a_hole(
    core: MemoryCore, world: World
) -> None:
    for end in (2, 4, 6, 8):
        await core.converse(ALICE, history(end))
        world.clock.forward(60)
    await forgotten(core, "hard", ids=[(await messages(core))["Anything else?"].id])
    (first, _) = [
        message
        for message in (await core.session_messages(ALICE, "s1", limit=100)).messages
        if message.content == "ok"
    ]
    await forgotten(core, "hard", ids=[first.memory_id])
    assert [is_hole(mark) for mark in await marks(world)] == [
        False,
        False,
        True,
        True,
        False,
        False,
        False,
        False,
    ]
    assert (await core.converse(ALICE, history(8))).messages == Told(0, 8)


@pytest.mark.parametrize("adapter", ["sqlite", "cosmos"], indirect=True)
@pytest.mark.parametrize("is_formed", [False, True])
@pytest.mark.parametrize("ids", [False, True])
@pytest.mark.parametrize("by", ["session_id", "ids"])
async def test_a_session_that_was_forgotten_for_good_does_not_come_back_with_its_history(
    core: MemoryCore, world: World, is_formed: bool, ids: bool, by: str
) -> None:
    """All of its messages, by the session or by their ids: only what is new is stored."""
    await core.converse(ALICE, history(6, ids=ids))
    if is_formed:
        await Hand(core).work_all()
    world.clock.forward(60)
    listed_messages = (await core.session_messages(ALICE, "s1", limit=100)).messages
    every = (
        {"session_id": "s1"}
        if by == "session_id"
        else {"ids": [message.memory_id for message in listed_messages]}
    )
    await forgotten(core, "hard", **every)
    for end, new in ((6, 0), (8, 2), (8, 0)):
        world.clock.forward(60)
        assert (await core.converse(ALICE, history(end, ids=ids))).messages == Told(new, end - new)
        await Hand(core).work_all()
    assert await read_back(core) == [text for _, text in SAID[6:]]
    assert [is_hole(mark) for mark in await marks(world)] == [True] * 6 + [False] * 2
    await no_trace(world, "quokkalamp", message_mark("user", PIN))


@pytest.mark.parametrize("adapter", ["sqlite", "cosmos"], indirect=True)
async def test_other_messages_are_new_in_a_session_that_was_forgotten_for_good(
    core: MemoryCore, world: World
) -> None:
    await core.converse(ALICE, history(6))
    await forgotten(core, "hard", session_id="s1")
    world.clock.forward(60)
    sent = [{"role": "user", "content": PIN}, {"role": "assistant", "content": "So it is"}]
    again = ConverseInput.model_validate({"session_id": "s1", "messages": sent})
    assert (await core.converse(ALICE, again)).messages == Told(2, 0)


@pytest.mark.parametrize("adapter", ["sqlite", "cosmos"], indirect=True)
async def test_what_was_forgotten_for_good_stays_away_after_a_clear(
    core: MemoryCore, world: World
) -> None:
    """A clear lets what it deleted be told again, and nothing else."""
    await core.converse(ALICE, history(6))
    await forgotten(core, "hard", session_id="s1")
    await core.converse(ALICE, history(8))
    await core.clear(ALICE, ClearInput(session_id="s1"))
    world.clock.forward(60)
    assert (await core.converse(ALICE, history(8))).messages == Told(2, 6)


@pytest.mark.parametrize("adapter", ["sqlite", "cosmos"], indirect=True)
async def test_without_its_key_a_forgotten_history_is_refused_and_not_taken_for_new(
    core: MemoryCore, world: World
) -> None:
    """Another process, which has not read the key yet, can't reach the archive."""
    await core.converse(ALICE, history(6))
    await forgotten(core, "hard", session_id="s1")
    archive = Stepping(world.archive())
    other = await world.core(agents=Tellers(), archive=archive)
    archive.down = True
    with pytest.raises(Unavailable):
        await other.converse(ALICE, history(8))
    elsewhere = history(8).model_copy(update={"session_id": "s2"})
    assert (await other.converse(ALICE, elsewhere)).messages == Told(8, 0)
    archive.down = False
    assert (await other.converse(ALICE, history(8))).messages == Told(2, 6)


@pytest.mark.parametrize("adapter", ["sqlite", "cosmos"], indirect=True)
async def test_an_erased_users_history_is_new(core: MemoryCore, world: World) -> None:
    await core.converse(ALICE, history(6))
    await forgotten(core, "hard", session_id="s1")
    task = await worked(world, core, (await core.erase(ALICE)).task_id)
    assert task.status == "succeeded"
    assert (await core.converse(ALICE, history(6))).messages == Told(6, 0)


@pytest.mark.parametrize("adapter", ["sqlite", "cosmos"], indirect=True)
async def test_an_export_holds_no_seal_of_what_was_forgotten_for_good(
    core: MemoryCore, world: World
) -> None:
    """One message is known by its place where it is imported."""
    await core.converse(ALICE, history(6))
    await Hand(core).work_all()
    await forgotten(core, "hard", ids=[(await messages(core))[PIN].id])
    (seal,) = [mark for mark in await marks(world) if is_sealed(mark)]
    file = await exported(world, core)
    assert seal[-9:].encode() not in file
    assert (await brought(world, core, file)).status == "succeeded"
    world.clock.forward(60)
    assert (await core.converse(BOB, history(8))).messages == Told(2, 6)


@pytest.mark.parametrize("adapter", ["sqlite", "cosmos"], indirect=True)
async def test_an_import_knows_nothing_of_a_session_that_was_forgotten_for_good(
    core: MemoryCore, world: World
) -> None:
    await core.converse(ALICE, history(6))
    await Hand(core).work_all()
    await forgotten(core, "hard", session_id="s1")
    file = await exported(world, core)
    assert all(mark[-9:].encode() not in file for mark in await marks(world))
    assert (await brought(world, core, file)).status == "succeeded"
    world.clock.forward(60)
    assert (await core.converse(BOB, history(6))).messages == Told(6, 0)


@pytest.mark.parametrize("adapter", ["sqlite", "cosmos"], indirect=True)
async def test_a_turn_is_taken_back_behind_what_was_forgotten(
    core: MemoryCore, world: World
) -> None:
    await core.converse(ALICE, history(6))
    world.clock.forward(60)
    await forgotten(core, "hard", ids=[(await messages(core))["Anything else?"].id])
    assert [message.content for message in (await core.take_back(ALICE, "s1")).messages] == [
        "I live in Graz",
        "ok",
    ]
    world.clock.forward(60)
    assert (await core.converse(ALICE, history(6))).messages == Told(2, 4)
    assert await read_back(core) == [text for place, (_, text) in enumerate(SAID[:6]) if place != 3]

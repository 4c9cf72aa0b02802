"""What is forgotten, or deleted, before it is formed is left out of what is formed,
whichever comes first.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.requests.memories import StatusInput
from memory_core.domain.results import Accepted
from tests.batches import gather, settled
from tests.builders import ALICE
from tests.contract.test_forget import asked, forgotten
from tests.said_and_formed import messages
from tests.tasks import Hand, pending, task_of
from tests.telling import Tellers, facts_of, talk
from tests.world import World, listed

Delete = Callable[[MemoryCore], Awaitable[None]]
TREASURE, DOG = "Ana's treasure is Walrus", "Ana's dog is Bo"


@pytest.fixture
async def core(world: World) -> MemoryCore:
    return await world.core(agents=Tellers())


async def shown(core: MemoryCore) -> list[str]:
    """All that is shown but messages."""
    return sorted(memory.content for memory in await listed(core))


async def the_first(core: MemoryCore) -> str:
    """The id of the message that was told first."""
    return (await messages(core))[TREASURE].id


async def deleted(core: MemoryCore) -> None:
    await core.delete(ALICE, await the_first(core))


async def softly(core: MemoryCore) -> None:
    await forgotten(core, ids=[await the_first(core)])


@pytest.mark.parametrize("first", ["consolidation", "formation"])
async def test_a_session_that_is_forgotten_softly_right_after_it_was_told_is_not_formed(
    core: MemoryCore, world: World, first: str
) -> None:
    answer = await core.converse(ALICE, talk(TREASURE, DOG))
    accepted = await core.forget(ALICE, asked(session_id="s1"))
    assert isinstance(accepted, Accepted)
    for queue in (first, "formation", "consolidation"):
        await Hand(core, queue).work_all()
    assert [(await task_of(core, started)).status for started in (answer, accepted)] == [
        "succeeded"
    ] * 2
    assert (await shown(core), await facts_of(core), await pending(world)) == ([], {}, 0)


async def test_a_history_that_is_sent_again_after_a_soft_forget_is_still_known(
    core: MemoryCore, world: World
) -> None:
    await core.converse(ALICE, talk(TREASURE, DOG))
    await forgotten(core, session_id="s1")
    world.clock.forward(60)
    await core.converse(ALICE, talk(TREASURE, DOG, "Ana's cat is Mia"))
    await Hand(core).work_all()
    assert [*await facts_of(core)] == ["Ana's cat is Mia"]


async def test_what_is_told_after_a_soft_forget_is_formed(core: MemoryCore) -> None:
    await core.converse(ALICE, talk(TREASURE))
    await core.forget(ALICE, asked(session_id="s1"))
    await core.converse(ALICE, talk(DOG))
    for queue in ("consolidation", "formation"):
        await Hand(core, queue).work_all()
    assert [*await facts_of(core)] == [DOG]


@pytest.mark.parametrize("delete", [deleted, softly])
async def test_a_message_that_is_deleted_before_it_is_formed_is_left_out(
    core: MemoryCore, world: World, delete: Delete
) -> None:
    answer = await core.converse(ALICE, talk(TREASURE, DOG))
    await delete(core)
    await Hand(core).work_all()
    assert (await task_of(core, answer)).status == "succeeded"
    assert not [text for text in await shown(core) if "Walrus" in text]
    assert [*await facts_of(core)] == [DOG]
    assert await pending(world) == 0


@pytest.mark.parametrize("delete", [deleted, softly])
async def test_a_message_that_is_deleted_while_it_is_formed_is_left_out(
    world: World, delete: Delete
) -> None:
    other = await world.core(agents=Tellers())
    begun = list[str]()

    async def before(name: str) -> None:
        if name == "summary" and not begun:
            begun.append(name)
            await delete(other)

    core = await world.core(agents=Tellers(before=before))
    answer = await core.converse(ALICE, talk(TREASURE, DOG))
    await Hand(core).work_all()
    assert begun
    assert (await task_of(core, answer)).status == "succeeded"
    assert not [text for text in await shown(core) if "Walrus" in text]
    assert [*await facts_of(core)] == [DOG]
    assert await pending(world) == 0


async def test_a_message_that_comes_back_before_it_is_formed_is_formed(core: MemoryCore) -> None:
    await core.converse(ALICE, talk(TREASURE, DOG))
    await deleted(core)
    await core.set_status(ALICE, await the_first(core), StatusInput(status="active", reason="back"))
    await Hand(core).work_all()
    assert sorted(await facts_of(core)) == [DOG, TREASURE]


@pytest.mark.parametrize("delete", [deleted, softly])
async def test_what_is_left_of_a_batch_is_formed(
    core: MemoryCore, world: World, delete: Delete
) -> None:
    await gather(core, TREASURE, DOG)
    world.clock.forward(1)
    await delete(core)
    world.clock.forward(1)
    await core.batch_flush(ALICE, "s1")
    await settled(world, core)
    assert [*await facts_of(core)] == [DOG]
    assert not [text for text in await shown(core) if "Walrus" in text]
    assert await pending(world) == 0


async def test_a_batch_that_is_forgotten_softly_is_not_formed(
    core: MemoryCore, world: World
) -> None:
    await gather(core, TREASURE, DOG)
    world.clock.forward(1)
    await forgotten(core, session_id="s1")
    world.clock.forward(1)
    await core.batch_flush(ALICE, "s1")
    await settled(world, core)
    assert (await shown(core), await facts_of(core), await pending(world)) == ([], {}, 0)
    assert {message.status.value for message in (await messages(core)).values()} <= {"deleted"}

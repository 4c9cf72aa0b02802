"""A note that was merged of several goes as soon as one of them is taken back, cleared, forgotten
or deleted; the others stand again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.memory import Memory, Status
from memory_core.domain.requests.maintenance import ConflictsInput
from memory_core.domain.requests.memories import ClearInput, StatusInput
from tests.builders import ALICE, NOW
from tests.contract.test_forget import forgotten
from tests.past import told_by_the_log
from tests.telling import Tellers, facts_of, of_category, on_all, tell
from tests.world import WordsEmbedder, World, listed

ROSE, FERN, IVY = (
    f"On my list is the plant {plant} for the garden" for plant in ("rose", "fern", "ivy")
)
VOLVO = "Ana's car is Volvo"
Take = Callable[[MemoryCore, str], Awaitable[object]]


async def taken_back(core: MemoryCore, session: str) -> None:
    await core.take_back(ALICE, session)


async def cleared(core: MemoryCore, session: str) -> None:
    await core.clear(ALICE, ClearInput(session_id=session))


async def forgotten_softly(core: MemoryCore, session: str) -> None:
    await forgotten(core, session_id=session)


async def deleted(core: MemoryCore, session: str) -> None:
    for memory in await listed(core, status="all", session_id=session):
        if memory.category == "note":
            await core.delete(ALICE, memory.id)


every_way = pytest.mark.parametrize("take", [taken_back, cleared, forgotten_softly, deleted])


async def merged(world: World, *texts: str) -> MemoryCore:
    """Sessions a, b, c that told these, each note merged into the next."""
    agents = Tellers(
        rulings=on_all("UPDATE", category="note"),
        merged=lambda notes: "\n".join(note.text for note in notes),
    )
    core = await world.core(agents=agents, embedder=WordsEmbedder())
    for day, text in enumerate(texts):
        await tell(core, text, session="abc"[day], at=NOW + timedelta(days=day))
        world.clock.forward(60)
    assert [note.status for note in await notes(core)] == [
        *[Status.UPDATED] * (len(texts) - 1),
        Status.ACTIVE,
    ], "or nothing was merged"
    return core


async def notes(core: MemoryCore) -> list[Memory]:
    return await of_category(core, "note")


async def shown(core: MemoryCore) -> str:
    """All notes that hold, as one text."""
    return " ".join(note.content for note in await notes(core) if note.status is Status.ACTIVE)


def plants(text: str) -> set[str]:
    return {plant for plant in ("rose", "fern", "ivy") if plant in text}


async def plain(core: MemoryCore, world: World) -> None:
    """No question is open, and the log tells what is stored."""
    assert (await core.conflicts(ALICE, ConflictsInput(status="pending"))).conflicts == ()
    await told_by_the_log(core, world)


@every_way
async def test_a_merged_note_goes_with_a_source_of_it_and_the_other_stands_again(
    world: World, take: Take
) -> None:
    core = await merged(world, ROSE, FERN)
    await take(core, "a")
    assert plants(await shown(core)) == {"fern"}
    await plain(core, world)


@pytest.mark.parametrize("take", [taken_back, cleared, forgotten_softly])
async def test_the_source_of_a_merged_note_that_goes_with_its_session_stands_again(
    world: World, take: Take
) -> None:
    core = await merged(world, ROSE, FERN)
    await take(core, "b")
    assert plants(await shown(core)) == {"rose"}
    await plain(core, world)


@every_way
async def test_the_middle_of_three_leaves_the_first_and_the_last(world: World, take: Take) -> None:
    core = await merged(world, ROSE, FERN, IVY)
    await take(core, "b")
    assert plants(await shown(core)) == {"rose", "ivy"}
    await plain(core, world)


async def test_a_source_that_was_deleted_with_a_merged_note_comes_back_by_itself(
    world: World,
) -> None:
    core = await merged(world, ROSE, FERN)
    await deleted(core, "a")
    (gone,) = [note for note in await notes(core) if note.status is Status.DELETED]
    await core.set_status(ALICE, gone.id, StatusInput(status="active"))
    assert plants(await shown(core)) == {"rose", "fern"}


@every_way
async def test_the_first_of_three_takes_both_merges_with_it(world: World, take: Take) -> None:
    core = await merged(world, ROSE, FERN, IVY)
    await take(core, "a")
    assert plants(await shown(core)) == {"fern", "ivy"}


@every_way
async def test_the_words_are_gone_where_the_embedder_is_down(world: World, take: Take) -> None:
    core = await merged(world, ROSE, FERN)
    assert isinstance(world.embedder, WordsEmbedder)
    world.embedder.down = True
    await take(core, "a")
    assert "rose" not in await shown(core)


@pytest.mark.parametrize("order", ["ab", "ba"])
async def test_a_fact_goes_with_the_last_of_those_that_told_it(world: World, order: str) -> None:
    core = await world.core(agents=Tellers(notes=False))
    for day, session in enumerate("ab"):
        await tell(core, VOLVO, session=session, at=NOW + timedelta(days=day))
        world.clock.forward(60)
    statuses = []
    for session in order:
        await core.take_back(ALICE, session)
        statuses.append((await facts_of(core))[VOLVO].status)
    assert statuses == [Status.ACTIVE, Status.DELETED]
    assert await listed(core) == []


@pytest.mark.parametrize("order", ["ab", "ba"])
async def test_a_note_that_was_told_twice_goes_with_the_last_of_its_tellers(
    world: World, order: str
) -> None:
    core = await world.core(
        agents=Tellers(rulings=on_all("SKIP", category="note")), embedder=WordsEmbedder()
    )
    for day, session in enumerate("ab"):
        await tell(core, ROSE, session=session, at=NOW + timedelta(days=day))
        world.clock.forward(60)
    assert len(await notes(core)) == 1
    for session in order:
        assert "rose" in await shown(core)
        await core.take_back(ALICE, session)
    assert await listed(core) == []

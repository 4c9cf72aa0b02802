"""Forgetting one session for good leaves the others: what they told too stays theirs,
and what was merged with it is active again.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.memory import Memory, Status
from tests.builders import ALICE, NOW
from tests.contract.test_forget import foreseen, forgotten, no_trace
from tests.past import told_by_the_log
from tests.telling import Tellers, facts_of, of_category, on_all, tell
from tests.world import WordsEmbedder, World, fact, listed

COUGH, RASH = "My daughter has a fever and a cough", "My daughter has a fever and a headache"
VOLVO = "Ana's car is Volvo"
LATER = NOW + timedelta(days=1)


async def merging(world: World) -> MemoryCore:
    """A core that merges each note into the next."""
    agents = Tellers(
        rulings=on_all("UPDATE", category="note"),
        merged=lambda notes: "\n".join(note.text for note in notes),
    )
    return await world.core(agents=agents, embedder=WordsEmbedder())


async def of_session(core: MemoryCore, session: str) -> set[str]:
    """What is shown of a session, messages apart."""
    return {memory.content for memory in await listed(core) if memory.session_id == session}


async def both(core: MemoryCore, world: World) -> tuple[Memory, Memory]:
    """Two sessions that told of a fever, and whose notes were merged: the source,
    and what it was merged into.
    """
    await tell(core, COUGH, session="s")
    world.clock.forward(60)
    await tell(core, RASH, session="t", at=LATER)
    world.clock.forward(60)
    source, merged = await of_category(core, "note")
    assert (source.status, source.next_id, merged.session_id) == (Status.UPDATED, merged.id, "t"), (
        "or nothing was merged"
    )
    return source, merged


async def test_a_session_stays_whose_note_was_merged_into_the_forgotten_ones(world: World) -> None:
    core = await merging(world)
    source, merged = await both(core, world)
    expected = await foreseen(core, "hard", session_id="t")
    result = (await forgotten(core, "hard", session_id="t")).result
    assert result is not None
    assert {name: result["counts"][name] for name in expected.counts} == expected.counts
    memory = await core.get(ALICE, source.id)
    assert (memory.status, memory.next_id, memory.valid_until, memory.consolidated_into_ids) == (
        Status.ACTIVE,
        None,
        None,
        [],
    )
    assert await of_session(core, "s") == {COUGH, source.content}
    assert [message.content for message in (await core.session_messages(ALICE, "s")).messages] == [
        COUGH
    ]
    assert await of_session(core, "t") == set()
    assert merged.id not in {memory.id for memory in await listed(core, status="all")}
    await no_trace(world, "headache")
    await told_by_the_log(core, world)


async def test_a_session_stays_whose_note_took_the_forgotten_one_in(world: World) -> None:
    core = await merging(world)
    await both(core, world)
    await forgotten(core, "hard", session_id="s")
    assert RASH in await of_session(core, "t")
    assert [message.content for message in (await core.session_messages(ALICE, "t")).messages] == [
        RASH
    ]
    assert await of_session(core, "s") == set()
    await no_trace(world, "cough")
    await told_by_the_log(core, world)


async def test_a_merged_note_that_is_forgotten_by_its_id_leaves_the_sources_it_took_in(
    world: World,
) -> None:
    core = await merging(world)
    source, merged = await both(core, world)
    await forgotten(core, "hard", ids=[merged.id])
    assert (await core.get(ALICE, source.id)).status is Status.ACTIVE
    assert COUGH in await of_session(core, "s")
    await no_trace(world, "headache")


@pytest.mark.parametrize(("gone", "stays"), [("s", "t"), ("t", "s")])
async def test_a_fact_that_another_session_tells_stays_with_that(
    world: World, gone: str, stays: str
) -> None:
    core = await world.core(agents=Tellers(notes=False))
    await tell(core, VOLVO, session="s")
    world.clock.forward(60)
    await tell(core, VOLVO, "The harbour is loud", session="t", at=LATER)
    world.clock.forward(60)
    foreseen_ = await foreseen(core, "hard", session_id=gone)
    result = (await forgotten(core, "hard", session_id=gone)).result
    assert result is not None
    assert {name: result["counts"][name] for name in foreseen_.counts} == foreseen_.counts
    (memory,) = (await facts_of(core)).values()
    (cell,) = await of_category(core, "cell")
    assert (memory.status, memory.session_id, memory.cell_id, memory.source_ids) == (
        Status.ACTIVE,
        stays,
        cell.id,
        [cell.id],
    )
    assert [fact.fact_id for fact in cell.atomic_facts] == [memory.id]
    assert (
        next(message.content for message in (await core.session_messages(ALICE, stays)).messages)
        == VOLVO
    )
    assert (await core.session(ALICE, stays)).counts["semantic"] == 1
    assert await listed(core, status="all", session_id=gone) == []
    await told_by_the_log(core, world)


async def test_a_fact_goes_with_the_last_session_that_tells_it(world: World) -> None:
    core = await world.core(agents=Tellers(notes=False))
    for session in ("s", "t"):
        await tell(core, VOLVO, session=session)
        world.clock.forward(60)
    for session in ("s", "t"):
        await forgotten(core, "hard", session_id=session)
    assert await listed(core, status="all") == []
    await no_trace(world, "Volvo")


async def test_an_episode_that_is_forgotten_by_its_id_leaves_a_fact_that_another_one_tells(
    world: World,
) -> None:
    core = await world.core(agents=Tellers(notes=False))
    await tell(core, VOLVO, session="s")
    world.clock.forward(60)
    await tell(core, VOLVO, session="t", at=LATER)
    first, second = await of_category(core, "cell")
    await forgotten(core, "hard", ids=[first.id])
    (memory,) = (await facts_of(core)).values()
    assert (memory.session_id, memory.cell_id) == ("t", second.id)
    await told_by_the_log(core, world)


async def test_a_saved_text_that_was_merged_into_another_sessions_stands_again(
    core: MemoryCore, world: World
) -> None:
    slot = {"subject": "team", "attribute": "meeting"}
    memory = (
        await core.save(ALICE, fact("they meet at 9 in the swordfish room", session_id="s", **slot))
    ).memory
    await core.save(
        ALICE,
        fact("they meet at 10 in the marlin room", session_id="t", on_conflict="merge", **slot),
    )
    await forgotten(core, "hard", session_id="t")
    (left_memory,) = await listed(core, status="all")
    assert (left_memory.id, left_memory.status, left_memory.next_id) == (
        memory.id,
        Status.ACTIVE,
        None,
    )
    await no_trace(world, "marlin")

"""Bringing memories back: faded, deleted, replaced; one truth a slot and no circles,
whatever is restored, and however often.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.errors import Conflict, NotFound
from memory_core.domain.memory import Memory, Status
from memory_core.domain.requests.maintenance import DecayInput
from memory_core.domain.requests.memories import StatusInput, UpdateInput
from memory_core.domain.results import Call
from tests.builders import ALICE, NOW
from tests.past import told_by_the_log
from tests.tasks import Hand, converse, finished, told
from tests.world import World, fact, find, listed, turn

DAY = 86_400.0
CITY: dict[str, Any] = {"subject": "Ana", "attribute": "city"}


async def lives(core: MemoryCore, city: str, day: int, **fields: Any) -> Memory:
    return (
        await core.save(
            ALICE,
            fact(
                f"Ana lives in {city}", event_timestamp=NOW + timedelta(days=day), **CITY, **fields
            ),
        )
    ).memory


async def standing(core: MemoryCore) -> list[str]:
    return [memory.content for memory in await listed(core) if memory.attribute == "city"]


async def chain(core: MemoryCore, memory: Memory) -> list[str]:
    """From the first to what holds, each once."""
    ahead = (await core.evolution(ALICE, memory.id, "forward")).memories
    assert len({memory.id for memory in ahead}) == len(ahead)
    return [memory.content.removeprefix("Ana lives in ") for memory in ahead]


async def test_a_faded_memory_comes_back_and_does_not_fade_again_at_once(
    core: MemoryCore, world: World
) -> None:
    memory = (await core.save(ALICE, turn("Ana sings flamenco", importance=0.4))).memory
    world.clock.forward(100 * DAY)
    for _ in range(2):
        await core.decay(ALICE, DecayInput())
        await Hand(core, "consolidation").work_all()
    assert (await core.get(ALICE, memory.id)).status is Status.DECAYED
    back = await core.restore(ALICE, memory.id)
    assert (back.status, back.status_reason, back.last_accessed_at) == (
        Status.ACTIVE,
        "restored",
        world.clock.now(),
    )
    await core.decay(ALICE, DecayInput())
    await Hand(core, "consolidation").work_all()
    assert (await core.get(ALICE, memory.id)).status is Status.ACTIVE
    assert await find(core, "Ana sings flamenco") == ["Ana sings flamenco"]
    # nothing to do is done once
    assert (await core.restore(ALICE, memory.id)).revision == back.revision
    await told_by_the_log(core, world)


@pytest.mark.parametrize("by_status", [False, True], ids=["restore", "status"])
async def test_undoing_a_replacement_gives_the_slot_back_to_the_old_truth(
    core: MemoryCore, world: World, by_status: bool
) -> None:
    porto = await lives(core, "Porto", 0)
    lisbon = await lives(core, "Lisbon", 5)
    if by_status:
        back = await core.set_status(
            ALICE, porto.id, StatusInput(status="active", reason="a mistake")
        )
        assert back.change_reason == "a mistake"
    else:
        back = await core.restore(ALICE, porto.id)
    assert (back.status, back.status_reason, back.next_id, back.valid_until) == (
        Status.ACTIVE,
        "restored",
        None,
        None,
    )
    fallen = await core.get(ALICE, lisbon.id)
    assert (fallen.status, fallen.status_reason, fallen.next_id, fallen.supersedes_id) == (
        Status.DELETED,
        "contradicted",
        porto.id,
        None,
    )
    assert await standing(core) == ["Ana lives in Porto"]
    assert await chain(core, lisbon) == ["Lisbon", "Porto"]
    for day in (1, 6, 30):  # the other one was true at no moment
        assert await find(core, "Ana lives in", at=NOW + timedelta(days=day)) == [
            "Ana lives in Porto"
        ]
    assert [event.event_type for event in await world.log()][-2:] == ["restored", "contradicted"]
    await told_by_the_log(core, world)


async def test_of_a_chain_of_three_the_first_can_come_back(core: MemoryCore) -> None:
    porto, lisbon, faro = [
        await lives(core, city, day) for city, day in (("Porto", 0), ("Lisbon", 5), ("Faro", 9))
    ]
    await core.restore(ALICE, porto.id)
    assert await standing(core) == ["Ana lives in Porto"]
    assert await chain(core, lisbon) == ["Lisbon", "Porto"]
    for fallen in (lisbon, faro):
        assert (await core.get(ALICE, fallen.id)).status is Status.DELETED
    for day in (1, 6, 10):  # what came in between was true at no moment either
        assert [memory.content for memory in await listed(core, at=NOW + timedelta(days=day))] == [
            "Ana lives in Porto"
        ]
    braga = await lives(core, "Braga", 12)
    assert await standing(core) == ["Ana lives in Braga"]
    assert (await core.get(ALICE, porto.id)).next_id == braga.id


async def test_a_truth_that_arrives_late_after_an_undo_is_ordered_among_those_that_held(
    core: MemoryCore,
) -> None:
    porto = await lives(core, "Porto", 0)
    await lives(core, "Lisbon", 5)
    await core.restore(ALICE, porto.id)
    await lives(core, "Faro", 3)
    assert await standing(core) == ["Ana lives in Faro"]


@pytest.mark.parametrize("edited", [False, True])
async def test_what_is_told_late_after_the_first_of_three_came_back_follows_it(
    core: MemoryCore, world: World, edited: bool
) -> None:
    """The second one had been overtaken too; put in order before it, a late truth would lead over
    it back to itself.
    """
    porto, _, faro = [
        await lives(core, city, day) for city, day in (("Porto", 0), ("Lisbon", 5), ("Faro", 9))
    ]
    if edited:
        await core.update(ALICE, faro.id, UpdateInput(content="Ana lives in Sines"), "*")
    await core.restore(ALICE, porto.id)
    await lives(core, "Braga", 3)
    assert await standing(core) == ["Ana lives in Braga"]
    assert await chain(core, faro) == ["Sines" if edited else "Faro", "Braga"]
    assert [memory.content for memory in await listed(core, at=NOW + timedelta(days=6))] == [
        "Ana lives in Braga"
    ]
    await told_by_the_log(core, world)


async def test_of_too_long_a_past_a_later_truth_has_to_come_back_before(core: MemoryCore) -> None:
    memories = [await lives(core, f"city {day}", day) for day in range(43)]
    with pytest.raises(Conflict, match=memories[2].id):
        await core.restore(ALICE, memories[0].id)
    for memory in (memories[2], memories[1], memories[0]):
        await core.restore(ALICE, memory.id)
        assert await standing(core) == [memory.content]


async def test_what_an_undo_took_away_comes_back_as_it_was(core: MemoryCore) -> None:
    porto = await lives(core, "Porto", 0)
    lisbon = await lives(core, "Lisbon", 5)
    await core.restore(ALICE, porto.id)
    back = await core.restore(ALICE, lisbon.id)
    assert (back.status, back.supersedes_id) == (Status.ACTIVE, porto.id)
    assert await standing(core) == ["Ana lives in Lisbon"]


async def test_what_was_merged_comes_back_instead_of_the_merged(core: MemoryCore) -> None:
    memory = (
        await core.save(ALICE, fact("they meet at 9", subject="team", attribute="meeting"))
    ).memory
    merged = await core.save(
        ALICE, fact("they meet at 10", subject="team", attribute="meeting", on_conflict="merge")
    )
    assert (await core.get(ALICE, memory.id)).status is Status.UPDATED
    back = await core.restore(ALICE, memory.id)
    assert (back.status, back.next_id) == (Status.ACTIVE, None)
    assert (await core.get(ALICE, merged.memory.id)).status is Status.DELETED


async def test_the_cells_that_told_the_facts_learn_which_holds(
    core: MemoryCore, world: World
) -> None:
    await finished(world, core, await converse(core, "I live in Porto"))
    world.clock.forward(3600)
    later = await converse(core, "I live in Lisbon", session="s2")
    await finished(world, core, later)
    facts = {memory.content: memory for memory in await told(core) if memory.category == "fact"}
    porto = next(fact for text, fact in facts.items() if "Porto" in text)
    # both were told at one moment: the later one arrived later
    if porto.status is not Status.SUPERSEDED:
        porto = next(fact for fact in facts.values() if fact.status is Status.SUPERSEDED)
    await core.restore(ALICE, porto.id)
    cells = [memory for memory in await told(core) if memory.category == "cell"]
    marks = {fact.fact_id: fact.superseded_by for cell in cells for fact in cell.atomic_facts}
    other = next(fact for fact in facts.values() if fact.id != porto.id)
    assert marks == {porto.id: None, other.id: porto.id}
    await told_by_the_log(core, world)


async def test_only_what_can_come_back_does(core: MemoryCore) -> None:
    memory = (await core.save(ALICE, turn("a"))).memory
    assert (await core.restore(ALICE, memory.id)).revision == memory.revision
    with pytest.raises(NotFound):
        await core.restore(ALICE, "mem_nobodys")


async def test_two_who_restore_two_truths_of_one_slot_leave_one_standing_or_a_conflict(
    world: World,
) -> None:
    cores = [await world.core() for _ in range(2)]
    porto, lisbon, _ = [
        await lives(cores[0], city, day) for city, day in (("Porto", 0), ("Lisbon", 5), ("Faro", 9))
    ]
    results = await asyncio.gather(
        cores[0].restore(ALICE, porto.id),
        cores[1].restore(ALICE, lisbon.id),
        return_exceptions=True,
    )
    assert all(isinstance(result, (Memory, Conflict)) for result in results)
    assert len(await standing(cores[0])) == 1
    for memory in (porto, lisbon):
        await chain(cores[0], memory)


async def test_one_key_undoes_once(core: MemoryCore, world: World) -> None:
    porto = await lives(core, "Porto", 0)
    await lives(core, "Lisbon", 5)
    keyed = Call(idempotency_key="k1")
    first = await core.restore(ALICE, porto.id, keyed)
    await lives(core, "Faro", 9)
    again = await core.restore(ALICE, porto.id, keyed)
    assert (first.id, again.status) == (again.id, Status.SUPERSEDED)
    assert await standing(core) == ["Ana lives in Faro"]

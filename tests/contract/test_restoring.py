"""Restoring by hand: a memory becomes what it was before it was deleted, and no slot gets a second
truth without a word.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from memory_core.core import MemoryCore
from memory_core.domain.conflict import ConflictRecord
from memory_core.domain.memory import Memory, OnConflict, Outcome, Status
from memory_core.domain.requests.memories import ClearInput, StatusInput
from tests.builders import ALICE, NOW
from tests.telling import Tellers, of_category, on_all, tell
from tests.world import Meanwhile, World, fact, listed

DELETED, ACTIVE = StatusInput(status="deleted"), StatusInput(status="active")
CITY = {"subject": "Ana", "attribute": "city"}


def day(number: float) -> datetime:
    return NOW + timedelta(days=number)


async def save(
    core: MemoryCore, value: str, number: int, on_conflict: OnConflict = OnConflict.AUTO
) -> Memory:
    item = fact(
        f"Ana's city is {value}",
        value=value,
        event_timestamp=day(number),
        session_id=value,
        on_conflict=on_conflict,
        **CITY,
    )
    return (await core.save(ALICE, item)).memory


async def standing(core: MemoryCore) -> list[str]:
    return sorted(str(memory.value) for memory in await listed(core))


async def records(world: World) -> list[ConflictRecord]:
    documents = await (await world.look_on()).page(ALICE, "conflict", None, None, 100)
    return [
        ConflictRecord.model_validate(
            {name: document.body[name] for name in ConflictRecord.model_fields}
        )
        for document in documents
    ]


async def pending(world: World) -> int:
    head = await world.head()
    assert head is not None
    return head.pending_count


async def test_history_that_was_deleted_comes_back_as_history(core: MemoryCore) -> None:
    oslo, bergen = await save(core, "Oslo", 0), await save(core, "Bergen", 5)
    await core.set_status(ALICE, oslo.id, DELETED)
    back = await core.set_status(ALICE, oslo.id, ACTIVE)
    assert (back.status, back.status_reason, back.next_id, back.valid_until) == (
        "superseded",
        "contradicted",
        bergen.id,
        day(5),
    )
    assert await standing(core) == ["Bergen"]
    assert [memory.value for memory in await listed(core, at=day(2))] == ["Oslo"]
    assert (await core.session(ALICE, "Oslo")).counts == {"semantic": 1}


async def test_history_of_a_cleared_session_comes_back_as_history(core: MemoryCore) -> None:
    oslo, bergen = await save(core, "Oslo", 0), await save(core, "Bergen", 5)
    await core.clear(ALICE, ClearInput(session_id="Oslo"))
    back = await core.set_status(ALICE, oslo.id, ACTIVE)
    assert (back.status, back.next_id) == ("superseded", bergen.id)


async def test_history_that_comes_back_ends_where_what_was_told_since_begins(
    core: MemoryCore,
) -> None:
    oslo = await save(core, "Oslo", 0)
    await save(core, "Bergen", 5)
    await core.delete(ALICE, oslo.id)
    turku = await save(core, "Turku", 3)
    back = await core.set_status(ALICE, oslo.id, ACTIVE)
    assert (back.status, back.next_id, back.valid_until) == ("superseded", turku.id, day(3))
    assert [[memory.value for memory in await listed(core, at=day(at))] for at in (1, 4, 6)] == [
        ["Oslo"],
        ["Turku"],
        ["Bergen"],
    ]


async def test_what_was_merged_away_comes_back_as_that(core: MemoryCore) -> None:
    oslo = await save(core, "Oslo", 0)
    merged = await save(core, "Bergen", 5, OnConflict.MERGE)
    await core.delete(ALICE, oslo.id)
    back = await core.set_status(ALICE, oslo.id, ACTIVE)
    assert (back.status, back.status_reason, back.next_id) == ("updated", "consolidated", merged.id)


async def test_a_truth_that_finds_a_later_one_in_its_slot_is_history(world: World) -> None:
    core = await world.core()
    oslo = await save(core, "Oslo", 0)
    await core.delete(ALICE, oslo.id)
    bergen = await save(core, "Bergen", 5)
    for _ in range(2):
        back = await core.set_status(ALICE, oslo.id, ACTIVE)
        assert (back.status, back.next_id, back.valid_until) == ("superseded", bergen.id, day(5))
        assert (await core.get(ALICE, bergen.id)).supersedes_id == oslo.id
        assert await pending(world) == 0
        await core.delete(ALICE, oslo.id)
    await core.set_status(ALICE, oslo.id, ACTIVE)
    later = await core.save(
        ALICE, fact("Ana's city is Turku", value="Turku", event_timestamp=day(9), **CITY)
    )
    assert later.outcome is Outcome.SUPERSEDED
    assert await standing(core) == ["Turku"]


async def test_a_truth_that_comes_while_another_one_is_restored_is_seen(world: World) -> None:
    other = await world.core()
    oslo = await save(other, "Oslo", 0)
    await other.delete(ALICE, oslo.id)
    core = await world.core(
        wrap=lambda store: Meanwhile(store, "snapshot", lambda: save(other, "Bergen", 5))
    )
    back = await core.set_status(ALICE, oslo.id, ACTIVE)
    assert back.status == "superseded"
    assert await standing(core) == ["Bergen"]


async def test_a_truth_that_stands_alone_comes_back_without_a_conflict(world: World) -> None:
    core = await world.core()
    oslo = await save(core, "Oslo", 0)
    await core.delete(ALICE, oslo.id)
    back = await core.set_status(ALICE, oslo.id, ACTIVE)
    assert (back.status, back.status_reason, back.conflict_state) == ("active", "restored", "none")
    assert await records(world) == []


async def test_a_note_that_an_agent_took_for_contradicted_stands_again(world: World) -> None:
    agents = Tellers()
    core = await world.core(agents=agents, link_threshold=0.0)
    await tell(core, "We spoke about the old garden wall")
    agents.rulings = on_all("DELETE", category="note")
    await tell(core, "We spoke about the old garden gate", at=day(1))
    fallen = next(
        memory for memory in await of_category(core, "note") if memory.status is Status.DELETED
    )
    assert fallen.status_reason == "contradicted"
    back = await core.set_status(ALICE, fallen.id, ACTIVE)
    assert (back.status, back.next_id, back.valid_until) == ("active", None, None)
    assert len([memory for memory in await listed(core) if memory.category == "note"]) == 2

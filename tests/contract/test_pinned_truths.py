"""What a person has pinned is superseded by nothing that decides by itself: not by a conversation,
nor by a save that leaves it open.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import permutations
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.conflict import ConflictRecord
from memory_core.domain.memory import Memory, MemoryType, OnConflict, Outcome
from memory_core.domain.requests.memories import SaveInput, UpdateInput
from memory_core.domain.results import Saved
from tests.builders import ALICE, NOW
from tests.telling import Tellers, tell
from tests.world import World, listed


def day(number: float) -> datetime:
    return NOW + timedelta(days=number)


async def save(
    core: MemoryCore,
    value: str,
    number: int,
    on_conflict: OnConflict = OnConflict.AUTO,
    *,
    pinned: bool = False,
) -> Saved:
    slot = {"subject": "Ana", "attribute": "city", "value": value}
    item = SaveInput(
        type=MemoryType.SEMANTIC, content=f"Ana's city is {value}", category="fact",
        event_timestamp=day(number), on_conflict=on_conflict, pinned=pinned, **slot,
    )  # fmt: skip
    return await core.save(ALICE, item)


async def cities(core: MemoryCore, **query: Any) -> dict[str, Memory]:
    return {
        str(memory.value): memory
        for memory in await listed(core, **query)
        if memory.category == "fact"
    }


async def records(world: World) -> list[ConflictRecord]:
    store = await world.look_on()
    documents = await store.page(ALICE, "conflict", None, None, 100)
    return [
        ConflictRecord.model_validate(
            {name: document.body[name] for name in ConflictRecord.model_fields}
        )
        for document in documents
    ]


async def test_what_is_pinned_stays_beside_what_a_conversation_says_until_somebody_decides(
    world: World,
) -> None:
    core = await world.core(agents=Tellers(notes=False))
    oslo = (await save(core, "Oslo", 0, pinned=True)).memory
    task = await tell(core, "Ana's city is Bergen", at=day(1))
    assert (task.status, (task.result or {})["counts"]) == (
        "succeeded",
        {"created": 1, "pending": 1},
    )
    standing = await cities(core)
    assert {name: memory.conflict_state for name, memory in standing.items()} == {
        "Oslo": "pending",
        "Bergen": "pending",
    }
    assert (
        standing["Oslo"].id,
        standing["Oslo"].valid_until,
        standing["Bergen"].supersedes_id,
    ) == (oslo.id, None, None)
    (record,) = await records(world)
    assert (record.status, record.old_id, record.new_id) == (
        "pending",
        oslo.id,
        standing["Bergen"].id,
    )
    head = await world.head()
    assert head is not None
    assert head.pending_count == 1


async def test_what_stands_beside_a_pinned_truth_falls_to_the_next_one_as_ever(
    world: World,
) -> None:
    core = await world.core(agents=Tellers(notes=False))
    await save(core, "Oslo", 0, pinned=True)
    await tell(core, "Ana's city is Bergen", at=day(1))
    await tell(core, "Ana's city is Turku", at=day(2))
    everything = await cities(core, status="all")
    assert {name: memory.status.value for name, memory in everything.items()} == {
        "Oslo": "active",
        "Bergen": "superseded",
        "Turku": "active",
    }
    assert (everything["Bergen"].next_id, everything["Turku"].supersedes_id) == (
        everything["Turku"].id,
        everything["Bergen"].id,
    )
    made = {(record.old_id, record.new_id): record.status for record in await records(world)}
    assert made[everything["Oslo"].id, everything["Turku"].id] == "pending"
    assert made[everything["Bergen"].id, everything["Turku"].id] == "resolved"


async def test_a_fact_pinned_after_it_was_told_is_held_as_well(world: World) -> None:
    core = await world.core(agents=Tellers(notes=False))
    await tell(core, "Ana's city is Oslo")
    memory = (await cities(core))["Oslo"]
    await core.update(ALICE, memory.id, UpdateInput(pinned=True), memory.etag)
    await tell(core, "Ana's city is Bergen", at=day(1))
    assert set(await cities(core)) == {"Oslo", "Bergen"}


async def test_a_save_that_leaves_it_open_keeps_both_and_one_that_says_so_replaces_the_pinned_one(
    core: MemoryCore,
) -> None:
    oslo = (await save(core, "Oslo", 0, pinned=True)).memory
    result = await save(core, "Bergen", 1)
    assert result.outcome is Outcome.KEPT_BOTH
    assert result.conflict is not None
    assert (result.conflict.status, result.conflict.old_id) == ("pending", oslo.id)
    assert "pinned" in result.conflict.reason
    assert (await save(core, "Turku", 2, OnConflict.SUPERSEDE)).outcome is Outcome.SUPERSEDED
    assert set(await cities(core)) == {"Turku"}


async def test_what_is_told_of_before_a_pinned_truth_is_history(world: World) -> None:
    core = await world.core(agents=Tellers(notes=False))
    await save(core, "Oslo", 5, pinned=True)
    await tell(core, "Ana's city is Bergen", at=day(1))
    assert set(await cities(core)) == {"Oslo"}
    assert set(await cities(core, at=day(2))) == {"Bergen"}
    assert [record.status for record in await records(world)] == ["resolved"]


@pytest.mark.parametrize("order", [*permutations([("Oslo", 2), ("Bergen", 1)])])
async def test_a_pinned_truth_that_is_told_again_is_not_interrupted_in_any_order(
    world: World, order: list[tuple[str, int]]
) -> None:
    core = await world.core(agents=Tellers(notes=False))
    await save(core, "Oslo", 0, pinned=True)
    for value, moment in order:
        await tell(core, f"Ana's city is {value}", at=day(moment), session="s1")
    standing = await cities(core)
    assert {name: memory.conflict_state for name, memory in standing.items()} == {
        "Oslo": "pending",
        "Bergen": "pending",
    }
    assert standing["Oslo"].valid_from == day(0)

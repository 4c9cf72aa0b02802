"""Slots as an earlier version stored them: they open, answer the same, and go on.

The files in tests/data/stored_slots are exports of that version, and what it answered: three drawn
lives of one slot (`tests.slot_lives`); and a slot whose oldest part is sealed beside one in
which an undo had withdrawn an edit alone.
"""

from __future__ import annotations

import gzip
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from memory_core.core import MemoryCore
from memory_core.domain.requests.memories import UpdateInput
from tests.exports import brought, without_logs
from tests.slot_lives import SLOT, Life, day
from tests.world import BOB, World, fact, listed

FOLDER = Path(__file__).parents[1] / "data/stored_slots"
ANSWERS: dict[str, Any] = orjson.loads(gzip.decompress((FOLDER / "answers.json.gz").read_bytes()))
LIVES = (3, 41, 1108)


def file_of(name: str) -> bytes:
    return gzip.decompress((FOLDER / f"{name}.jsonl.gz").read_bytes())


async def opened(world: World, core: MemoryCore, name: str) -> None:
    """Check that a file, brought in a day after it was written, answers what it answered."""
    world.clock.forward(86_400)
    task = await brought(world, core, file_of(name))
    assert task.status == "succeeded", task.error
    wanted = ANSWERS[name]
    stored = [
        [
            memory.id,
            memory.status.value,
            memory.status_reason,
            memory.valid_from.isoformat(),
            memory.valid_until and memory.valid_until.isoformat(),
            memory.version,
        ]
        for memory in await listed(core, BOB, status="all")
    ]
    assert sorted(stored) == wanted["all"]
    for moment, answered in wanted["at"].items():
        at = await listed(core, BOB, at=datetime.fromisoformat(moment))
        assert sorted([each.id, str(each.value or each.content)] for each in at) == answered, moment
    assert [line async for line in core.slot_differences()] == []


@pytest.mark.parametrize("seed", LIVES)
async def test_a_stored_life_answers_the_same_and_goes_on(world: World, seed: int) -> None:
    core = await world.core()
    await opened(world, core, f"life_{seed}")
    life = Life(world, core, seed)
    life.owner = BOB
    assert await life.differences() == []
    late = fact("Ana lives in Turku", value="Turku", event_timestamp=day(7.3), **SLOT)
    await core.save(BOB, late)
    await life.live()
    assert await life.differences() == []


@pytest.mark.parametrize("seed", LIVES)
async def test_a_stored_life_whose_log_is_lost_gets_one_of_its_members_and_goes_on(
    world: World, seed: int
) -> None:
    core = await world.core()
    world.clock.forward(86_400)
    task = await brought(world, core, without_logs(file_of(f"life_{seed}")))
    assert task.status == "succeeded", task.error
    life = Life(world, core, seed)
    life.owner = BOB
    await life.live()
    await world.check_slots()


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_a_stored_slot_with_a_sealed_part_answers_the_same_and_goes_on(world: World) -> None:
    core = await world.core()
    await opened(world, core, "sealed")
    memories = {str(memory.value): memory for memory in await listed(core, BOB, status="all")}
    await core.restore(BOB, memories["town 20"].id)
    await core.update(BOB, memories["town 30"].id, UpdateInput(value="town 31a"), "*")
    await core.save(
        BOB,
        fact(
            "Ann lives in Turku", value="Turku", **{**SLOT, "subject": "Ann", "attribute": "home"}
        ),
    )
    await world.check_slots()

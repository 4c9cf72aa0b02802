"""What a decision took from old versions they have again once it is taken back: nothing of a
truth's past is lost on the way.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from memory_core.core import MemoryCore
from memory_core.domain.memory import Memory, Status
from memory_core.domain.requests.memories import UpdateInput
from memory_core.domain.results import Saved
from tests.builders import ALICE, NOW
from tests.conflicts import asking, lives, port, warring
from tests.past import check_that_the_log_tells_it, stored
from tests.world import World, listed


def day(number: int) -> datetime:
    return NOW + timedelta(days=number)


async def ends(world: World, result: Saved) -> dict[str, tuple[str, str]]:
    """The stretches of a memory's old versions."""
    memories = await stored(world)
    return {
        name: (body["valid_from"], body["valid_until"])
        for name, body in memories.items()
        if name.startswith(f"{result.memory.id}.v")
    }


async def corrected(core: MemoryCore, result: Saved, content: str, since: datetime) -> Memory:
    return await core.update(
        ALICE, result.memory.id, UpdateInput(content=content, valid_from=since), "*"
    )


async def held_true(core: MemoryCore, moment: datetime) -> list[str]:
    return sorted(memory.content for memory in await listed(core, at=moment))


async def test_versions_that_a_decision_ended_are_given_back_when_it_is_undone(
    world: World,
) -> None:
    core = await warring(world)
    old = await port(core, 8080, days=-20)
    await corrected(core, old, "the big old server listens on port 8090", day(-10))
    new = await port(core, 8081, days=-5, valid_from=day(-15))  # said after the edit
    assert new.conflict is not None
    assert new.conflict.open
    before, was = await ends(world, old), await held_true(core, day(-12))
    await core.resolve_conflict(ALICE, new.conflict.id, asking("supersede"))
    assert await ends(world, old) != before
    await check_that_the_log_tells_it(world)
    await core.undo_conflict(ALICE, new.conflict.id)
    assert await ends(world, old) == before
    assert await held_true(core, day(-12)) == was
    await check_that_the_log_tells_it(world)


async def test_a_truth_told_late_gives_back_its_place_between_two_versions(
    core: MemoryCore, world: World
) -> None:
    old = await lives(core, "Oslo", -20)
    await corrected(core, old, "Ana lives in Bergen", day(-10))
    before = await ends(world, old)
    late = await lives(core, "Turku", -15)
    assert late.conflict is not None
    assert late.memory.status is Status.SUPERSEDED
    assert await held_true(core, day(-12)) == ["Ana lives in Turku"]
    await core.undo_conflict(ALICE, late.conflict.id)
    assert await ends(world, old) == before
    assert await held_true(core, day(-12)) == ["Ana lives in Oslo", "Ana lives in Turku"]
    await check_that_the_log_tells_it(world)
    await core.resolve_conflict(ALICE, late.conflict.id, asking("reject_new"))
    assert await held_true(core, day(-12)) == ["Ana lives in Oslo"]


async def test_a_truth_that_holds_again_has_its_versions_back_and_what_replaced_it_none(
    core: MemoryCore, world: World
) -> None:
    old = await lives(core, "Oslo", -20)
    await corrected(core, old, "Ana lives in Bergen", day(-10))
    before = await ends(world, old)
    # said after the edit, which is said when it is done
    new = await lives(core, "Turku", 400, valid_from=day(-15))
    assert (await core.get(ALICE, old.memory.id)).status is Status.SUPERSEDED
    assert await held_true(core, day(-12)) == ["Ana lives in Turku"]
    await corrected(core, new, "Ana lives in Tampere", day(-5))
    await core.restore(ALICE, old.memory.id)
    assert await ends(world, old) == before
    assert await held_true(core, day(-12)) == ["Ana lives in Oslo"]
    assert await held_true(core, day(-1)) == ["Ana lives in Bergen"]
    await check_that_the_log_tells_it(world)
    await core.delete(ALICE, old.memory.id)
    await core.restore(ALICE, new.memory.id)
    assert await held_true(core, day(-12)) == ["Ana lives in Turku"], (
        "it did hold, who restores it says"
    )
    assert await held_true(core, day(-1)) == ["Ana lives in Tampere"]
    await check_that_the_log_tells_it(world)

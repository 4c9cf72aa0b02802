"""A truth whose stated end has come: reads leave it out at once, and the next run writes that
it has ended.
"""

from __future__ import annotations

from datetime import timedelta

from memory_core.core import MemoryCore
from memory_core.domain.memory import Status
from memory_core.domain.requests.maintenance import ConsolidateInput
from memory_core.domain.results import Foreseen
from tests.builders import ALICE, NOW
from tests.conflicts import lives
from tests.past import check_that_the_log_tells_it
from tests.runs import settled
from tests.world import World, fact, listed

TOMORROW = NOW + timedelta(days=1)


async def ended(core: MemoryCore) -> int:
    """How many truths a run says have ended."""
    result = (await settled(core)).result
    assert result is not None
    return int(result["counts"].get("truths_ended", 0))


async def test_a_run_writes_which_truths_have_ended(world: World) -> None:
    core = await world.core()
    ending = await lives(core, "Oslo", valid_until=TOMORROW)
    lasting = await lives(core, "Bergen", subject="Ben")
    world.clock.forward(2 * 24 * 3600)
    assert [memory.id for memory in await listed(core)] == [lasting.memory.id]
    assert (await core.get(ALICE, ending.memory.id)).status is Status.ACTIVE
    foreseen = await core.consolidate(ALICE, ConsolidateInput(dry_run=True))
    assert isinstance(foreseen, Foreseen)
    assert foreseen.counts["truths_ended"] == 1
    assert await ended(core) == 1
    after = await core.get(ALICE, ending.memory.id)
    assert (after.status, after.status_reason, after.valid_until) == (
        Status.SUPERSEDED,
        "contradicted",
        TOMORROW,
    )
    await world.check_slots()
    await check_that_the_log_tells_it(world)
    assert await ended(core) == 0


async def test_a_memory_that_is_in_no_slot_keeps_its_status(world: World) -> None:
    core = await world.core()
    saved = await core.save(ALICE, fact("the shop is closed", valid_until=TOMORROW))
    world.clock.forward(2 * 24 * 3600)
    assert await ended(core) == 0
    assert (await core.get(ALICE, saved.memory.id)).status is Status.ACTIVE

"""Forgetting a memory of which earlier times have become memories of their own: for good they go
with it, softly each is its own.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from memory_core.core import MemoryCore
from memory_core.domain.memory import Memory, Status
from memory_core.domain.requests.memories import CopyInput, UpdateInput
from tests.builders import ALICE, NOW
from tests.contract.test_edited_into_a_slot import HOME, ON_ONE_STORE, told
from tests.contract.test_forget import foreseen, forgotten, no_trace
from tests.past import told_by_the_log
from tests.world import World, listed, rule

pytestmark = ON_ONE_STORE


async def moved(core: MemoryCore) -> tuple[Memory, Memory, Memory]:
    """Stavanger, which stays in the slot; Palermo, which goes into another; and what it held in the
    one that it left.
    """
    stavanger, palermo = (
        await told(core, "Stavanger", -20),
        await told(core, "Palermo", -10, session_id="s"),
    )
    moved = await core.update(
        ALICE, palermo.id, UpdateInput(**HOME, content="Ana was born in Grenoble"), palermo.etag
    )
    return stavanger, moved, await core.get(ALICE, str(moved.supersedes_id))


async def for_good(
    core: MemoryCore, world: World, memory: Memory, *words: str, derived: int = 1
) -> None:
    counts = {"forgotten": 1, "derived": derived}
    assert (await foreseen(core, "hard", ids=[memory.id])).counts == counts
    result = (await forgotten(core, "hard", ids=[memory.id])).result or {}
    assert {name: result["counts"][name] for name in counts} == counts
    await no_trace(world, *words)
    await told_by_the_log(core, world)


async def test_an_earlier_time_goes_with_a_truth_that_was_edited_since(
    core: MemoryCore, world: World
) -> None:
    await told(core, "Stavanger", -20)
    await told(core, "Stavanger", -5)
    palermo, (stavanger,) = await told(core, "Palermo", -10), await listed(core)
    assert stavanger.content == "Ana lives in Stavanger"
    edited = await core.update(
        ALICE, stavanger.id, UpdateInput(content="Ana lives in Grenoble"), stavanger.etag
    )
    assert len(await listed(core, status="all")) == 3
    await for_good(core, world, edited, "Stavanger", "Grenoble")
    assert [memory.id for memory in await listed(core, status="all")] == [palermo.id]


async def test_softly_an_earlier_time_goes_with_its_truth_where_a_filter_names_both(
    core: MemoryCore, world: World
) -> None:
    await told(core, "Stavanger", -20)
    await told(core, "Stavanger", -5)
    await told(core, "Palermo", -10)
    assert len(await listed(core, status="all")) == 3
    assert (await forgotten(core, types=["semantic"])).status == "succeeded"
    assert {memory.status for memory in await listed(core, status="all")} == {Status.DELETED}
    await told_by_the_log(core, world)


async def test_an_earlier_time_goes_with_the_session_of_its_truth(
    core: MemoryCore, world: World
) -> None:
    await told(core, "Stavanger", -20, session_id="s")
    await told(core, "Stavanger", -5, session_id="s")
    await told(core, "Palermo", -10, session_id="s")
    assert (await foreseen(core, "hard", session_id="s")).counts["derived"] == 1
    assert (await forgotten(core, "hard", session_id="s")).status == "succeeded"
    assert await listed(core, status="all") == []
    await no_trace(world, "Stavanger", "Palermo")
    await told_by_the_log(core, world)


async def test_an_earlier_time_of_a_key_goes_with_it(core: MemoryCore, world: World) -> None:
    async def said(value: str, day: int) -> Memory:
        return (
            await core.save(ALICE, rule("zone", value, event_timestamp=NOW + timedelta(days=day)))
        ).memory

    managua = await said("Managua", -20)
    await said("Managua", -5)
    quito = await said("Quito", -10)
    assert sorted(str(memory.value) for memory in await listed(core, status="all")) == [
        "Managua",
        "Managua",
        "Quito",
    ]
    await for_good(core, world, managua, "Managua")
    assert [memory.id for memory in await listed(core, status="all")] == [quito.id]


async def test_a_value_that_a_key_held_goes_with_it_wherever_it_was_told_late_as_well(
    core: MemoryCore, world: World
) -> None:
    fields: dict[str, Any] = {"event_timestamp": NOW - timedelta(days=20)}
    key = (await core.save(ALICE, rule("zone", "Managua", **fields))).memory
    await core.save(ALICE, rule("other", "Managua", **fields))
    key = (await core.save(ALICE, rule("zone", "Quito"))).memory
    await for_good(core, world, key, "Quito", derived=0)
    assert [memory.key for memory in await listed(core, status="all")] == ["other"]


async def test_a_copy_for_another_agent_goes_alone(core: MemoryCore) -> None:
    key = (await core.save(ALICE, rule("zone", "Managua"))).memory
    copy = await core.copy(ALICE, key.id, CopyInput(to_agent_id="other"))
    await forgotten(core, "hard", ids=[copy.id])
    assert [memory.id for memory in await listed(core, status="all")] == [key.id]

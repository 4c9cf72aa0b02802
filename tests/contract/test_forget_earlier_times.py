"""Forgetting a fact of which earlier times have become memories of their own: they go with it, and
their ids name it.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.memory import Memory, Status
from memory_core.domain.requests.memories import CopyInput, UpdateInput
from tests.builders import ALICE, NOW
from tests.contract.test_edited_into_a_slot import HOME, ON_ONE_STORE, told
from tests.contract.test_forget import foreseen, forgotten, no_trace
from tests.past import told_by_the_log
from tests.world import World, listed, rule


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


async def back_again(core: MemoryCore, **fields: Any) -> tuple[Memory, Memory, Memory]:
    """Stavanger, its earlier time, and Palermo between the two."""
    first = await told(core, "Stavanger", -20, **fields)
    await told(core, "Stavanger", -5, **fields)
    palermo = await told(core, "Palermo", -10, **fields)
    known = {first.id, palermo.id}
    (earlier,) = (each for each in await listed(core, status="all") if each.id not in known)
    return await core.get(ALICE, first.id), earlier, palermo


@pytest.mark.parametrize("mode", ["soft", "hard"])
async def test_the_id_of_an_earlier_time_names_its_fact(
    core: MemoryCore, world: World, mode: str
) -> None:
    stavanger, earlier, palermo = await back_again(core)
    for ids in ([earlier.id], [earlier.id, stavanger.id]):
        seen = await foreseen(core, mode, ids=ids)
        assert seen.counts == (await foreseen(core, mode, ids=[stavanger.id])).counts
    result = (await forgotten(core, mode, ids=[earlier.id])).result or {}
    assert seen.counts.items() <= result["counts"].items()
    left = await listed(core, status="all")
    assert [each.id for each in left if each.status is not Status.DELETED] == [palermo.id]
    if mode == "hard":
        assert len(left) == 1
        await no_trace(world, "Stavanger")
    else:
        await core.restore(ALICE, stavanger.id)
        assert (await core.get(ALICE, earlier.id)).status is Status.SUPERSEDED
    await told_by_the_log(core, world)


@ON_ONE_STORE
@pytest.mark.parametrize("mode", ["soft", "hard"])
@pytest.mark.parametrize(
    "fields", [{"tags": ["home"]}, {"before": NOW - timedelta(days=1)}], ids=["tags", "before"]
)
async def test_a_filter_that_fits_an_earlier_time_alone_forgets_no_fact(
    core: MemoryCore, fields: dict[str, Any], mode: str
) -> None:
    stavanger, _, palermo = await back_again(core, tags=["home"])
    await core.update(ALICE, stavanger.id, UpdateInput(tags=["other"]), "*")
    await told(core, "Stavanger", 0)
    assert (await foreseen(core, mode, **fields)).counts["forgotten"] == 1
    assert ((await forgotten(core, mode, **fields)).result or {})["counts"]["forgotten"] == 1
    left = await listed(core, status="all")
    assert palermo.id not in {each.id for each in left if each.status is not Status.DELETED}
    assert (await core.get(ALICE, stavanger.id)).status is Status.ACTIVE


@ON_ONE_STORE
async def test_an_earlier_time_of_a_later_version_goes_with_the_session(
    core: MemoryCore, world: World
) -> None:
    await told(core, "Trondheim", -20, session_id="s")
    (memory,) = await listed(core)
    await core.update(ALICE, memory.id, UpdateInput(content="Ana lives in Stavanger"), "*")
    world.clock.forward(20 * 86_400)
    await told(core, "Stavanger", 15, session_id="s")
    await told(core, "Palermo", 10, session_id="s")
    assert len(await listed(core, status="all")) == 3
    await forgotten(core, "hard", session_id="s")
    assert await listed(core, status="all") == []
    await no_trace(world, "Trondheim", "Stavanger", "Palermo")


@ON_ONE_STORE
@pytest.mark.parametrize("mode", ["soft", "hard"])
async def test_an_earlier_time_that_was_lost_is_no_fact_to_forget(
    core: MemoryCore, world: World, mode: str
) -> None:
    _, earlier, palermo = await back_again(core, session_id="s")
    await core.update(ALICE, palermo.id, UpdateInput(valid_from=NOW - timedelta(days=30)), "*")
    lost = await core.get(ALICE, earlier.id)
    assert (lost.status, lost.status_reason) == (Status.DELETED, "contradicted")
    seen = await foreseen(core, mode, session_id="s")
    assert seen.counts["forgotten"] == 2
    await forgotten(core, mode, session_id="s")
    assert (await forgotten(core, mode, types=["semantic"])).status == "succeeded"
    assert [line async for line in core.slot_differences()] == []
    if mode == "hard":
        assert await listed(core, status="all") == []
        await no_trace(world, "Stavanger", "Palermo")


@ON_ONE_STORE
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


@ON_ONE_STORE
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


@ON_ONE_STORE
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


@ON_ONE_STORE
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


@ON_ONE_STORE
async def test_a_value_that_a_key_held_goes_with_it_wherever_it_was_told_late_as_well(
    core: MemoryCore, world: World
) -> None:
    fields: dict[str, Any] = {"event_timestamp": NOW - timedelta(days=20)}
    key = (await core.save(ALICE, rule("zone", "Managua", **fields))).memory
    await core.save(ALICE, rule("other", "Managua", **fields))
    key = (await core.save(ALICE, rule("zone", "Quito"))).memory
    await for_good(core, world, key, "Quito", derived=0)
    assert [memory.key for memory in await listed(core, status="all")] == ["other"]


@ON_ONE_STORE
async def test_a_copy_for_another_agent_goes_alone(core: MemoryCore) -> None:
    key = (await core.save(ALICE, rule("zone", "Managua"))).memory
    copy = await core.copy(ALICE, key.id, CopyInput(to_agent_id="other"))
    await forgotten(core, "hard", ids=[copy.id])
    assert [memory.id for memory in await listed(core, status="all")] == [key.id]

"""The log tells of what is in the archive as reads show it: stubs, old versions among them, and
whole again once they are back.
"""

from __future__ import annotations

from datetime import timedelta

from memory_core.core import MemoryCore
from memory_core.domain.requests.memories import UpdateInput
from tests.builders import ALICE, NOW
from tests.cold import archived, years_go_by
from tests.conflicts import lives
from tests.past import as_of, check_that_the_log_tells_it, full_read, replayed
from tests.world import World, rule

LONG = "Ana lives in Oslo, and " + "has much to say about it. " * 20


async def test_old_versions_are_told_as_the_stubs_that_they_are_and_whole_when_they_are_back(
    core: MemoryCore, world: World
) -> None:
    memory = (await lives(core, "Oslo", -5)).memory
    for day, content in ((-4, LONG), (-2, "Ana lives in Bergen")):
        await core.update(
            ALICE,
            memory.id,
            UpdateInput(content=content, valid_from=NOW + timedelta(days=day)),
            "*",
        )
    moments = [None, *(NOW - timedelta(days=day) for day in (1, 3, 4.5))]
    years_go_by(world)
    answers = []
    for step in ("hot", "cold", "back"):
        if step == "cold":
            assert await archived(world, core) == {"archived": 1, "chains": 1}
        if step == "back":
            await core.restore(ALICE, memory.id)
        await check_that_the_log_tells_it(world)
        for at in moments:
            answers.append((await as_of(core), at, await full_read(core, at=at)))
    contents = {
        (sequence, at): [body["content"] for body in answer] for sequence, at, answer in answers
    }
    assert [len(texts[0]) for (_, at), texts in contents.items() if at == moments[2]] == [
        len(LONG),
        200,
        len(LONG),
    ]
    for sequence, at, answer in answers:
        assert await replayed(core, sequence=sequence, at=at) == answer


async def test_a_snapshot_of_cold_versions_is_gone_on_from_when_they_come_back(
    core: MemoryCore, world: World
) -> None:
    memory = (await lives(core, "Oslo", -5)).memory
    await core.update(
        ALICE, memory.id, UpdateInput(content=LONG, valid_from=NOW - timedelta(days=4)), "*"
    )
    await core.update(
        ALICE,
        memory.id,
        UpdateInput(content="Ana lives in Bergen", valid_from=NOW - timedelta(days=2)),
        "*",
    )
    years_go_by(world)
    await archived(world, core)
    for number in range(20):  # each mention resolves its slot's log again
        await core.bulk(ALICE, [rule(f"key {number}.{n % 6}", 1) for n in range(48)])
    await core.write_snapshots(ALICE)
    cold = await as_of(core), await full_read(core, at=NOW - timedelta(days=3))
    await core.restore(ALICE, memory.id)
    back = await as_of(core), await full_read(core, at=NOW - timedelta(days=3))
    assert cold[1] != back[1]
    for sequence, answer in (cold, back):
        assert await replayed(core, sequence=sequence, at=NOW - timedelta(days=3)) == answer

"""A request whose deadline passes is cancelled: what it wrote is there as a whole or not at all,
and nothing stays locked.
"""

from __future__ import annotations

import asyncio

from memory_core.domain.requests.memories import SaveInput
from memory_core.domain.results import Call
from tests.builders import ALICE
from tests.world import World, fact, listed

TURNS = 24


async def test_cancelled_at_any_turn_a_save_is_whole_or_absent_and_sent_again_is_there_once(
    world: World,
) -> None:
    core = await world.core()

    def asked(turns: int) -> tuple[SaveInput, Call]:
        return fact(f"Boat {turns} is number {turns * 7}", tags=[f"t{turns}"]), Call(
            idempotency_key=f"k{turns}"
        )

    for turns in range(TURNS):
        item, call = asked(turns)
        saving = asyncio.create_task(core.save(ALICE, item, call))
        for _ in range(turns):
            await asyncio.sleep(0)
        saving.cancel()
        await asyncio.gather(saving, return_exceptions=True)
    ids = {memory.content: memory.id for memory in await listed(core, ALICE)}
    for turns in range(TURNS):
        item, call = asked(turns)
        again = await core.save(ALICE, item, call)
        assert ids.setdefault(item.content, again.memory.id) == again.memory.id
    assert sorted(ids) == sorted(memory.content for memory in await listed(core, ALICE))
    events = await world.log()
    assert [event.sequence for event in events] == list(range(1, TURNS + 1))

"""Many conversations of one user told at once: each is formed by the first worker that takes it up,
and decided on at most twice.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from memory_core.domain.errors import HeadMoved, Unavailable
from memory_core.domain.scope import Owner
from memory_core.formation.cell_work import WriteTurns
from memory_core.tasks.leases import FIRST_PAUSE, MOMENT, OUTAGE_PAUSE, retry_pause
from tests.builders import ALICE, NOW
from tests.tasks import Hand, finished, pending
from tests.telling import Tellers, facts_of, on_all, statuses, talk
from tests.world import World

BOB = Owner("app", "bob")
COUNT = 20


async def test_twenty_conversations_at_once_that_contradict_each_other_are_formed_without_a_wait(
    world: World, adapter: str
) -> None:
    """Each is compared with what all before it told; deciding beside the others, most would be
    refused until they gave up for a while.
    """
    agents = Tellers(rulings=on_all("SKIP", category="note"))
    core = await world.core(agents=agents, commit_deadline_s=60)
    accepted = [
        await core.converse(
            ALICE,
            talk(
                f"Ana's city is Town{number}", at=NOW + timedelta(days=number), session=f"s{number}"
            ),
        )
        for number in range(COUNT)
    ]
    deliveries = await Hand(core).take()
    while len(deliveries) < COUNT:
        deliveries += await Hand(core).take()
    await asyncio.gather(*(Hand(core).work(delivery) for delivery in deliveries))
    tasks = [await finished(world, core, answer) for answer in accepted]
    assert {task.status for task in tasks} == {"succeeded"}
    if adapter != "storm":  # a store that fails for too long is waited for
        assert sum(task.waits + task.attempts for task in tasks) == 0
        assert agents.calls["conflicts"] <= 2 * COUNT
    assert sorted(statuses(await facts_of(core)).values()) == ["active"] + ["superseded"] * (
        COUNT - 1
    )
    assert await pending(world) == 0


async def test_turns_of_one_user_come_one_after_the_other_in_the_order_asked() -> None:
    turns, order = WriteTurns(), list[str]()

    async def work(name: str, owner: Owner) -> None:
        async with turns.of(owner) as turn:
            await turn.take()
            await turn.take()
            order.append(f"{name} begins")
            for _ in range(5):
                await asyncio.sleep(0)
            order.append(f"{name} ends")

    await asyncio.gather(work("first", ALICE), work("second", ALICE), work("third", BOB))
    assert [name for name in order if not name.startswith("third")] == [
        "first begins",
        "first ends",
        "second begins",
        "second ends",
    ]
    assert order.index("third begins") < order.index("first ends")


async def test_a_turn_ends_with_the_work_however_that_ends() -> None:
    turns = WriteTurns()

    async def refused() -> None:
        async with turns.of(ALICE) as turn:
            await turn.take()
            raise HeadMoved("others were faster")

    with pytest.raises(HeadMoved):
        await refused()
    async with asyncio.timeout(5), turns.of(ALICE) as turn:
        await turn.take()


async def test_work_that_needs_no_turn_waits_for_nobody() -> None:
    turns = WriteTurns()
    async with turns.of(ALICE) as turn, asyncio.timeout(5):
        await turn.take()
        async with turns.of(ALICE):
            pass


def test_pauses_begin_short_where_nothing_has_to_be_mended_and_grow_to_a_quarter_of_an_hour() -> (
    None
):
    assert retry_pause(0, HeadMoved("busy", retry_after_s=2)) < timedelta(seconds=3)
    assert retry_pause(0, HeadMoved("busy")) >= 0.75 * MOMENT
    assert (
        0.75 * OUTAGE_PAUSE
        <= retry_pause(0, Unavailable("long_term", "down"))
        <= 1.25 * OUTAGE_PAUSE
    )
    assert retry_pause(0, Unavailable("archive", "down", retry_after_s=40)) == timedelta(seconds=40)
    assert retry_pause(0) >= 0.75 * FIRST_PAUSE
    for error in (HeadMoved("busy"), Unavailable("long_term", "down"), None):
        assert retry_pause(30, error) >= 0.75 * timedelta(minutes=15)

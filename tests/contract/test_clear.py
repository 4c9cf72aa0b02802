"""Clearing a session: all of it, in chunks, through deaths and rivals, and never a memory too
many or too few.
"""

from __future__ import annotations

import asyncio

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.errors import Unavailable
from memory_core.domain.memory import MemoryType, Outcome, Status
from memory_core.domain.requests.memories import ClearInput, RetrieveInput
from memory_core.domain.results import Call, Saved
from memory_core.ports import LongTermStore
from tests.builders import ALICE, NOW
from tests.runs import hour, settled
from tests.world import BOB, DiesAfter, Down, Killed, Meanwhile, World, fact, listed, rule, turn

S1 = ClearInput(session_id="s1")
KEYED = Call(idempotency_key="k1")


async def fill(core: MemoryCore, count: int = 200, session: str = "s1") -> None:
    for start in range(0, count, 100):
        await core.bulk(
            ALICE, [turn(f"word{n}", session) for n in range(start, min(start + 100, count))]
        )


async def pending(world: World) -> list[str]:
    head = await world.head()
    return head.pending_operations if head else []


async def test_it_clears_one_session_and_no_other(core: MemoryCore) -> None:
    await core.bulk(
        ALICE,
        [
            turn("a"),
            fact("b", session_id="s1"),
            rule("c", 1, session_id="s1"),
            turn("d", "s2"),
            turn("e", None),
        ],
    )
    await core.save(BOB, turn("f"))
    assert await core.clear(ALICE, S1) == 3
    assert {memory.content for memory in await listed(core)} == {"d", "e"}
    assert [memory.content for memory in await listed(core, BOB)] == ["f"]
    gone = await listed(core, status="deleted")
    assert {(memory.status, memory.status_reason) for memory in gone} == {
        (Status.DELETED, "cleared")
    }
    assert (await core.session(ALICE, "s1")).counts == {}


async def test_it_clears_one_type_when_asked(core: MemoryCore) -> None:
    await core.bulk(ALICE, [turn("a"), fact("b", session_id="s1"), turn("c")])
    assert await core.clear(ALICE, ClearInput(session_id="s1", type=MemoryType.EPISODIC)) == 2
    assert [memory.content for memory in await listed(core)] == ["b"]
    assert (await core.session(ALICE, "s1")).counts == {"semantic": 1}


async def test_a_session_that_is_not_there_has_nothing_to_clear(core: MemoryCore) -> None:
    assert await core.clear(ALICE, S1) == 0
    await core.save(ALICE, turn("a", "s2"))
    assert await core.clear(ALICE, S1) == 0


async def test_what_was_cleared_is_not_found_and_lends_nothing(core: MemoryCore) -> None:
    await core.bulk(ALICE, [turn("swordfish one"), turn("swordfish two")])
    assert (await core.retrieve(ALICE, RetrieveInput(query="swordfish", session_id="s1"))).results
    await core.clear(ALICE, S1)
    for query in (
        RetrieveInput(query="swordfish", session_id="s1"),
        RetrieveInput(query="swordfish"),
        RetrieveInput(query="swordfish", at=NOW),
    ):
        assert (await core.retrieve(ALICE, query)).results == ()
    after = await core.save(ALICE, turn("good night"))
    assert "swordfish" not in after.memory.search_text


async def test_two_hundred_memories_go_in_chunks_and_are_counted(
    core: MemoryCore, world: World
) -> None:
    await fill(core)
    await fill(core, 3, "s2")
    assert await core.clear(ALICE, S1) == 200
    assert len(await listed(core)) == 3
    assert await pending(world) == []
    assert (await core.session(ALICE, "s1")).counts == {}


async def test_long_memories_are_cleared_in_chunks_that_fit(core: MemoryCore) -> None:
    long = " ".join(f"word{n}" for n in range(3_500))
    await core.bulk(ALICE, [turn(f"{n} {long}") for n in range(50)])
    assert await core.clear(ALICE, S1) == 50


@pytest.mark.parametrize("applied", [False, True], ids=["before the commit", "after the commit"])
@pytest.mark.parametrize("chunks", range(5))
async def test_killed_in_any_chunk_the_same_call_finishes_it(
    world: World, chunks: int, applied: bool
) -> None:
    await fill(await world.core())
    dying = await world.core(wrap=lambda store: DiesAfter(store, chunks, applied))
    with pytest.raises(Killed):
        await dying.clear(ALICE, S1, KEYED)
    core = await world.core()
    left = await listed(core)
    assert len(left) == 200 - 40 * (chunks + applied)
    assert await core.clear(ALICE, S1, KEYED) == 200
    assert await listed(core) == []
    assert await pending(world) == []
    assert len(await world.log()) == 400
    assert await core.clear(ALICE, S1, KEYED) == 200


@pytest.mark.parametrize("chunks", [1, 4])
async def test_killed_between_chunks_the_next_hour_finishes_it(world: World, chunks: int) -> None:
    await fill(await world.core())
    world.clock.forward(60)
    core = await world.core()
    await settled(core)
    dying = await world.core(wrap=lambda store: DiesAfter(store, chunks))
    with pytest.raises(Killed):
        await dying.clear(ALICE, S1, KEYED)
    world.clock.forward(3600)
    await hour(core)
    assert (await listed(core), await pending(world)) == ([], [])
    assert await core.clear(ALICE, S1, KEYED) == 200


async def test_killed_when_it_had_only_begun_the_next_hour_does_it(world: World) -> None:
    """A commit came between its plan and its first commit, which then clears nothing."""
    core = await world.core()
    await fill(core, 3)
    await settled(core)

    async def retell() -> None:
        await core.delete(ALICE, (await listed(core))[0].id)
        await settled(core)

    def wrap(store: LongTermStore) -> LongTermStore:
        return DiesAfter(Meanwhile(store, "page", retell), 1)

    dying = await world.core(wrap=wrap)
    with pytest.raises(Killed):
        await dying.clear(ALICE, S1)
    assert len(await listed(core)) == 2
    world.clock.forward(3600)
    await hour(core)
    assert (await listed(core), await pending(world)) == ([], [])


async def test_a_day_later_a_key_is_of_another_clear(world: World) -> None:
    core = await world.core()
    await fill(core)
    assert await core.clear(ALICE, S1, KEYED) == 200
    world.clock.forward(86_401)
    await fill(core, 50, "s2")
    assert await core.clear(ALICE, ClearInput(session_id="s2"), KEYED) == 50
    assert await listed(core) == []


async def test_killed_between_chunks_another_clear_finishes_it_and_counts_what_it_took(
    world: World,
) -> None:
    await fill(await world.core())
    dying = await world.core(wrap=lambda store: DiesAfter(store, 2))
    with pytest.raises(Killed):
        await dying.clear(ALICE, S1)
    core = await world.core()
    assert await core.clear(ALICE, S1) == 120
    assert await listed(core) == []
    assert await pending(world) == []


async def test_a_clear_of_another_session_finishes_it_too_without_counting_it(world: World) -> None:
    await fill(await world.core())
    await fill(world.cores[0], 5, "s2")
    dying = await world.core(wrap=lambda store: DiesAfter(store, 1))
    with pytest.raises(Killed):
        await dying.clear(ALICE, S1, KEYED)
    core = await world.core()
    assert await core.clear(ALICE, ClearInput(session_id="s2")) == 5
    assert await listed(core) == []
    assert await core.clear(ALICE, S1, KEYED) == 200


async def test_two_operations_of_two_processes_stand_side_by_side_until_each_is_finished(
    world: World,
) -> None:
    first = await world.core()
    for session in ("s1", "s2", "s3"):
        await fill(first, 100, session)
    dying = [await world.core(wrap=lambda store: DiesAfter(store, 1)) for _ in range(2)]
    for core, session in zip(dying, ("s1", "s2"), strict=True):
        with pytest.raises(Killed):
            await core.clear(ALICE, ClearInput(session_id=session), Call(idempotency_key=session))
        if session == "s1":
            assert len(await pending(world)) == 1
    # the second one finished what the first had left before it began, and died over that
    cores = [await world.core(commit_deadline_s=60) for _ in range(2)]
    cleared = await asyncio.gather(
        *(
            core.clear(ALICE, ClearInput(session_id=s), Call(idempotency_key=s))
            for core, s in zip(cores, ("s1", "s2"), strict=True)
        )
    )
    assert cleared == [100, 100]
    assert await pending(world) == []
    assert {memory.session_id for memory in await listed(first)} == {"s3"}


async def test_clears_of_many_sessions_at_once_lose_no_operation(world: World) -> None:
    cores = [await world.core(commit_deadline_s=60) for _ in range(2)]
    sessions = [f"s{n}" for n in range(4)]
    for session in sessions:
        await fill(cores[0], 90, session)
    calls = (
        cores[n % 2].clear(ALICE, ClearInput(session_id=s), Call(idempotency_key=s))
        for n, s in enumerate(sessions)
    )
    assert await asyncio.gather(*calls) == [90] * 4
    assert await pending(world) == []
    assert await listed(cores[0]) == []
    assert len(await world.log()) == 720


async def test_a_store_that_goes_down_between_chunks_is_said_and_the_call_can_be_repeated(
    world: World,
) -> None:
    await fill(await world.core())
    stores: list[Down] = []

    async def goes_down() -> None:
        stores[0].down = True

    def wrap(store: LongTermStore) -> Down:
        stores.append(Down(Meanwhile(store, "commit", goes_down)))
        return stores[0]

    core = await world.core(wrap=wrap)
    with pytest.raises(Unavailable):
        await core.clear(ALICE, S1, KEYED)
    stores[0].down = False
    assert len(await listed(core)) == 160
    assert await core.clear(ALICE, S1, KEYED) == 200


@pytest.mark.parametrize("count", [30, 200])
async def test_two_processes_clearing_at_once_take_every_memory_once(
    world: World, count: int
) -> None:
    cores = [await world.core(commit_deadline_s=60) for _ in range(2)]
    await fill(cores[0], count)
    cleared = await asyncio.gather(*(cores[n % 2].clear(ALICE, S1) for n in range(4)))
    assert sum(cleared) >= count
    assert await listed(cores[0]) == []
    assert await pending(world) == []
    assert len(await world.log()) == 2 * count, "each was saved once and cleared once"


@pytest.mark.parametrize("count", [30, 200])
async def test_the_same_clear_twenty_times_at_once_has_one_effect_and_one_answer(
    world: World, count: int
) -> None:
    cores = [await world.core(commit_deadline_s=60) for _ in range(2)]
    await fill(cores[0], count)
    cleared = await asyncio.gather(*(cores[n % 2].clear(ALICE, S1, KEYED) for n in range(20)))
    assert cleared == [count] * 20
    assert await pending(world) == []
    assert len(await world.log()) == 2 * count


async def test_a_save_into_the_session_meanwhile_survives_or_is_cleared_but_is_never_lost(
    world: World,
) -> None:
    core, other = await world.core(commit_deadline_s=60), await world.core(commit_deadline_s=60)
    await fill(core)
    cleared, *saved = await asyncio.gather(
        core.clear(ALICE, S1), *(other.save(ALICE, turn(f"late{n}")) for n in range(10))
    )
    late = {
        result.memory.id
        for result in saved
        if isinstance(result, Saved) and result.outcome is Outcome.CREATED
    }
    assert len(late) == 10
    everything = {memory.id: memory.status for memory in await listed(core, status="all")}
    assert len(everything) == 210
    standing = {name for name, status in everything.items() if status is Status.ACTIVE}
    assert standing <= late
    assert cleared == 210 - len(standing)
    assert (await core.session(ALICE, "s1")).counts == (
        {"episodic": len(standing)} if standing else {}
    )


async def test_a_memory_saved_after_the_plan_stays(world: World) -> None:
    other = await world.core()
    core = await world.core(
        wrap=lambda store: Meanwhile(store, "commit", lambda: other.save(ALICE, turn("late")))
    )
    await fill(other, 100)
    assert await core.clear(ALICE, S1) == 100
    assert [memory.content for memory in await listed(core)] == ["late"]


async def test_a_memory_deleted_meanwhile_is_counted_by_whoever_deleted_it(world: World) -> None:
    other = await world.core()
    await fill(other, 100)
    last = (await listed(other))[0]
    core = await world.core(
        wrap=lambda store: Meanwhile(store, "commit", lambda: other.delete(ALICE, last.id))
    )
    assert await core.clear(ALICE, S1) == 99
    assert (await core.get(ALICE, last.id)).status_reason == "manual_delete"


async def test_a_clear_that_found_nothing_stays_a_clear_of_nothing_when_repeated(
    core: MemoryCore,
) -> None:
    assert await core.clear(ALICE, S1, KEYED) == 0
    await core.save(ALICE, turn("saved after"))
    assert await core.clear(ALICE, S1, KEYED) == 0
    assert [memory.content for memory in await listed(core)] == ["saved after"]

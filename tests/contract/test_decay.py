"""Decay as its users see it: computed when read, written only when it takes a memory out of sight,
however often it is asked for.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.conversation import Task
from memory_core.domain.errors import Conflict
from memory_core.domain.importance import importance_at
from memory_core.domain.memory import Status
from memory_core.domain.requests.maintenance import DecayInput
from memory_core.domain.requests.memories import RetrieveInput, UpdateInput
from memory_core.domain.results import Accepted, Call, Foreseen
from tests.builders import ALICE
from tests.tasks import Hand, task_of
from tests.world import BOB, DiesAfter, Killed, Meanwhile, World, fact, listed, rule, turn

DAY = 86_400.0
NOTHING = {"recalled": 0, "decayed": 0, "compressed": 0}


async def decayed(core: MemoryCore, call: Call = Call(), **asked: Any) -> Task:  # noqa: B008
    """Ask for it, work, and what came of it."""
    accepted = await core.decay(ALICE, DecayInput(**asked), call)
    assert isinstance(accepted, Accepted)
    await Hand(core, "consolidation").work_all()
    task = await task_of(core, accepted)
    assert task.status == "succeeded", (task.status, task.step, task.error)
    return task


async def foreseen(core: MemoryCore, **asked: Any) -> Foreseen:
    seen = await core.decay(ALICE, DecayInput(dry_run=True, **asked))
    assert isinstance(seen, Foreseen)
    return seen


async def importance(core: MemoryCore) -> float:
    (hit,) = (
        await core.retrieve(ALICE, RetrieveInput(query="flamenco", include_decayed=True))
    ).results
    return hit.importance_score


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_240_hourly_calls_are_as_good_as_one(core: MemoryCore, world: World) -> None:
    base = (await core.save(ALICE, turn("Ana sings flamenco", importance=0.7))).memory
    for _ in range(240):
        world.clock.forward(3600)
        task = await decayed(core)
        assert task.result == {"counts": NOTHING, "capped": False}
    assert abs(await importance(core) - 0.7 * 2 ** (-1 / 3)) < 1e-9
    memory = await core.get(ALICE, base.id)
    assert memory.model_dump(exclude={"embedding"}) == base.model_dump(exclude={"embedding"})
    assert len(await world.log()) == 1


async def test_a_crossing_is_written_once_and_no_list_shows_the_memory(
    core: MemoryCore, world: World
) -> None:
    saved = (await core.save(ALICE, turn("Ana sings flamenco", importance=0.4))).memory
    world.clock.forward(89 * DAY)
    assert (await decayed(core)).result == {"counts": NOTHING, "capped": False}
    world.clock.forward(2 * DAY)
    assert await foreseen(core) == Foreseen(
        {"recalled": 0, "decayed": 1, "compressed": 0}, capped=False
    )
    assert len(await world.log()) == 1
    assert (await decayed(core)).result == {
        "counts": {"recalled": 0, "decayed": 1, "compressed": 0},
        "capped": False,
    }
    assert (await decayed(core)).result == {"counts": NOTHING, "capped": False}
    assert (
        abs(await importance(core) - importance_at(0.4, saved.created_at, world.clock.now())) < 1e-9
    )
    memory = await core.get(ALICE, saved.id)
    assert (memory.status, memory.status_reason, memory.importance_base) == (
        Status.DECAYED,
        "importance_decay",
        0.4,
    )
    assert [event.event_type for event in await world.log()] == ["created", "decayed"]
    assert (
        await core.retrieve(ALICE, RetrieveInput(query="flamenco", include_decayed=False))
    ).results == ()
    assert await listed(core) == []


async def test_what_is_pinned_true_or_known_how_never_fades(core: MemoryCore, world: World) -> None:
    items = [
        turn("a pinned one", importance=0.1, pinned=True),
        fact("Ana lives in Porto", subject="Ana", attribute="city", importance=0.1),
        rule("language", "pt", importance=0.1),
        fact("a fact without a slot", importance=0.1),
    ]
    await core.bulk(ALICE, items)
    world.clock.forward(4000 * DAY)
    await decayed(core)
    assert [memory.content for memory in await listed(core, status="decayed")] == [
        "a fact without a slot"
    ]


async def test_a_session_can_be_named_and_another_user_is_not_touched(
    core: MemoryCore, world: World
) -> None:
    await core.bulk(ALICE, [turn("one", "s1", importance=0.1), turn("two", "s2", importance=0.1)])
    await core.save(BOB, turn("three", importance=0.1))
    world.clock.forward(100 * DAY)
    assert (await foreseen(core, session_id="s1")).counts == {
        "recalled": 0,
        "decayed": 1,
        "compressed": 0,
    }
    await decayed(core, session_id="s1")
    assert [memory.content for memory in await listed(core, status="active")] == ["two"]
    assert len(await listed(core, BOB, status="active")) == 1


async def test_what_is_edited_or_told_again_has_been_looked_at(
    core: MemoryCore, world: World
) -> None:
    edited = (await core.save(ALICE, fact("the door is green", importance=0.1))).memory
    memory = (await core.save(ALICE, fact("the roof leaks", importance=0.1))).memory
    world.clock.forward(100 * DAY)
    await core.update(ALICE, edited.id, UpdateInput(tags=["house"]), edited.etag)
    await core.save(ALICE, fact("the roof leaks", importance=0.1))
    await decayed(core)
    assert {memory.id for memory in await listed(core)} == {edited.id, memory.id}


async def test_what_was_found_has_been_looked_at(core: MemoryCore, world: World) -> None:
    await core.bulk(
        ALICE, [fact("the door is green", importance=0.1), fact("the roof leaks", importance=0.1)]
    )
    world.clock.forward(29 * DAY)
    assert (await core.retrieve(ALICE, RetrieveInput(query="the door is green", limit=1))).results
    assert (await decayed(core)).result == {"counts": NOTHING, "capped": False}
    world.clock.forward(20 * DAY)
    assert await foreseen(core) == Foreseen(
        {"recalled": 0, "decayed": 1, "compressed": 0}, capped=False
    )
    await decayed(core)
    assert [memory.content for memory in await listed(core)] == ["the door is green"]


async def test_a_dry_run_counts_what_the_run_changes_where_accesses_wait_to_be_written(
    core: MemoryCore, world: World
) -> None:
    await core.bulk(
        ALICE, [fact("the door is green", importance=0.1), fact("the roof leaks", importance=0.1)]
    )
    world.clock.forward(29 * DAY)
    assert (await core.retrieve(ALICE, RetrieveInput(query="the door is green", limit=1))).results
    world.clock.forward(20 * DAY)
    expected = {"recalled": 0, "decayed": 1, "compressed": 0}
    assert await foreseen(core) == Foreseen(expected, capped=False)
    assert len(await world.log()) == 2, "no memory was changed"
    assert (await decayed(core)).result == {"counts": expected, "capped": False}


async def test_more_than_one_commit_holds_goes_in_chunks_and_a_cap_ends_it(world: World) -> None:
    core = await world.core(upkeep_cap=130)
    for start in (0, 100):
        await core.bulk(
            ALICE, [turn(f"word{n}", importance=0.1) for n in range(start, start + 100)]
        )
    world.clock.forward(100 * DAY)
    assert await foreseen(core) == Foreseen(
        {"recalled": 0, "decayed": 130, "compressed": 0}, capped=True
    )
    assert (await decayed(core)).result == {
        "counts": {"recalled": 0, "decayed": 130, "compressed": 0},
        "capped": True,
    }
    assert (await decayed(core)).result == {
        "counts": {"recalled": 0, "decayed": 70, "compressed": 0},
        "capped": False,
    }


async def test_long_memories_go_in_chunks_that_fit(core: MemoryCore, world: World) -> None:
    long = " ".join(f"word{n}" for n in range(3_500))
    await core.bulk(ALICE, [turn(f"{n} {long}", importance=0.0) for n in range(50)])
    world.clock.forward(10 * DAY)
    assert (await decayed(core)).result == {
        "counts": {"recalled": 0, "decayed": 50, "compressed": 0},
        "capped": False,
    }


@pytest.mark.parametrize("applied", [False, True], ids=["before the commit", "after the commit"])
@pytest.mark.parametrize("commits", [1, 2, 3])
async def test_killed_in_any_chunk_the_work_goes_on_from_there(
    world: World, commits: int, applied: bool
) -> None:
    first = await world.core()
    await first.bulk(ALICE, [turn(f"word{n}", importance=0.1) for n in range(100)])
    world.clock.forward(100 * DAY)
    dying = await world.core(wrap=lambda store: DiesAfter(store, commits, applied))
    accepted = await dying.decay(ALICE, DecayInput())
    assert isinstance(accepted, Accepted)
    hand = Hand(dying, "consolidation")
    with pytest.raises(Killed):
        await hand.work_all()
    world.clock.forward(100)
    await Hand(first, "consolidation").work_all()
    task = await task_of(first, accepted)
    assert (task.status, task.result) == (
        "succeeded",
        {"counts": {"recalled": 0, "decayed": 100, "compressed": 0}, "capped": False},
    )
    log = await world.log()
    assert len(log) == len({event.sequence for event in log}) == 200


async def test_two_workers_write_each_crossing_once(world: World) -> None:
    cores = [await world.core(commit_deadline_s=60) for _ in range(2)]
    await cores[0].bulk(ALICE, [turn(f"word{n}", importance=0.1) for n in range(100)])
    world.clock.forward(100 * DAY)
    await cores[0].decay(ALICE, DecayInput())
    await cores[0].decay(ALICE, DecayInput())
    await asyncio.gather(*(Hand(core, "consolidation").work_all() for core in cores))
    assert [event.event_type for event in await world.log()].count("decayed") == 100


async def test_a_memory_that_is_looked_at_between_the_search_and_the_commit_stays(
    world: World,
) -> None:
    first = await world.core()
    saved = (await first.save(ALICE, fact("the roof leaks", importance=0.1))).memory
    world.clock.forward(100 * DAY)

    async def edit() -> None:
        await first.update(ALICE, saved.id, UpdateInput(pinned=True), saved.etag)

    meddled = Meanwhile(None, "faded", edit)  # type: ignore[arg-type]

    def between(store: Any) -> Any:
        meddled.inner = store
        return meddled

    core = await world.core(wrap=between)
    assert (await decayed(core)).result == {"counts": NOTHING, "capped": False}
    assert (await first.get(ALICE, saved.id)).status is Status.ACTIVE


async def test_one_idempotency_key_is_one_task(core: MemoryCore) -> None:
    await core.save(ALICE, turn("one"))
    keyed = Call(idempotency_key="k1")
    first, again = [await core.decay(ALICE, DecayInput(), keyed) for _ in range(2)]
    assert isinstance(first, Accepted)
    assert isinstance(again, Accepted)
    assert first.task_id == again.task_id
    with pytest.raises(Conflict):
        await core.decay(ALICE, DecayInput(session_id="s1"), keyed)


async def test_a_call_with_nothing_due_reads_no_memory(world: World) -> None:
    core = await world.core()
    await core.bulk(ALICE, [turn(f"word{n}") for n in range(100)])
    read: list[str] = []

    class Counting:
        def __init__(self, inner: Any) -> None:
            self._inner = inner

        async def snapshot(self, owner: Any, ids: Any = (), near: Any = None) -> Any:
            read.extend(name for name in ids if name.startswith("mem_"))
            return await self._inner.snapshot(owner, ids, near)

        async def page(self, *args: Any, **options: Any) -> Any:
            raise AssertionError("nothing is paged")

        def __getattr__(self, name: str) -> Any:
            return getattr(self._inner, name)

    watched = await world.core(wrap=Counting)
    world.clock.forward(timedelta(days=30).total_seconds())
    await decayed(watched)
    assert read == []

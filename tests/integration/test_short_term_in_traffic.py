"""A real redis-server that goes away in the middle of traffic: everything goes on, says so,
recovers, and nothing comes back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from memory_core.adapters.breaker import Breaker
from memory_core.adapters.redis.client import server
from memory_core.adapters.redis.store import RedisShortTermStore
from memory_core.core import MemoryCore
from memory_core.domain.memory import OnConflict, Outcome
from memory_core.domain.requests.memories import ClearInput, RetrieveInput, StatusInput, UpdateInput
from memory_core.domain.results import Hit
from tests.builders import ALICE, StillClock
from tests.redis_server import RedisServer
from tests.world import Paused, WordsEmbedder, World, fact, listed, turn

REST_S = 2.0
OSLO = {"subject": "Ana", "attribute": "city", "session_id": "s1"}


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    process = RedisServer()
    process.start()
    yield process
    process.kill()


def short_term(redis: RedisServer, clock: StillClock) -> RedisShortTermStore:
    return RedisShortTermStore(
        server(redis.url),
        clock,
        timeout_s=0.5,
        breaker=Breaker(clock, rest=timedelta(seconds=REST_S)),
    )


async def process(world: World, redis: RedisServer, **options: Any) -> MemoryCore:
    """One more process on the same file and the same Redis."""
    return await world.core(
        short_term=short_term(redis, world.clock),
        embedder=WordsEmbedder(),
        commit_deadline_s=60,
        **options,
    )


async def hits(core: MemoryCore, query: str = "boat", session: str = "s1") -> tuple[Hit, ...]:
    asked = RetrieveInput(query=query, session_id=session, similarity_threshold=0.0, limit=100)
    return (await core.retrieve(ALICE, asked)).results


async def contents(core: MemoryCore, query: str = "boat", session: str = "s1") -> set[str]:
    return {hit.memory.content for hit in await hits(core, query, session)}


async def until_back(core: MemoryCore, clock: StillClock) -> None:
    """Use the product, the clock going on, until an answer is no longer degraded."""
    for _ in range(200):
        clock.forward(REST_S)
        if not (await core.retrieve(ALICE, RetrieveInput(query="boat", session_id="s1"))).degraded:
            return
    pytest.fail("the short term did not recover")


async def served_from_redis(core: MemoryCore, clock: StillClock) -> set[str]:
    """What is found once the session's set, void at first, is rebuilt and served again."""
    for _ in range(200):
        clock.forward(REST_S)
        answer_hits = await hits(core)
        if any(hit.tier == "short" for hit in answer_hits):
            return {hit.memory.content for hit in answer_hits}
        await asyncio.sleep(0)
    pytest.fail("the working set was never served again")


async def test_stopped_in_the_middle_of_saves_and_retrieves_all_go_on_and_say_so(
    world: World, redis: RedisServer
) -> None:
    core = await process(world, redis)
    stop_at = 20

    async def traffic(n: int) -> tuple[str, ...]:
        if n == stop_at:
            redis.kill()
        saved = await core.save(ALICE, turn(f"boat {n}"))
        assert saved.outcome is Outcome.CREATED
        answer = await core.retrieve(ALICE, RetrieveInput(query=f"boat {n}", session_id="s1"))
        assert f"boat {n}" in {hit.memory.content for hit in answer.results}
        return answer.degraded

    traffics = [await traffic(n) for n in range(40)]
    assert traffics == [()] * stop_at + [("short_term",)] * (40 - stop_at)
    assert (await core.save(ALICE, turn("boat last"))).degraded == ("short_term",)
    ready = await core.ready()
    assert ready["status"] == "degraded"
    assert ready["dependencies"]["short_term"]["status"] == "unavailable"
    assert ready["dependencies"]["long_term"]["status"] == "ok"
    assert 'short_term"} 1' in core.metrics().decode()
    redis.start()
    await until_back(core, world.clock)
    assert (await core.ready())["status"] == "ready"
    assert (await core.save(ALICE, turn("boat again"))).degraded == ()
    assert len(await listed(core)) == 42


async def test_a_hanging_server_holds_nobody_up_for_long(world: World, redis: RedisServer) -> None:
    core = await process(world, redis)
    await core.save(ALICE, turn("boat 0"))
    redis.freeze()
    async with asyncio.timeout(30):
        done = await asyncio.gather(*(core.save(ALICE, turn(f"boat {n}")) for n in range(1, 20)))
        assert {result.outcome for result in done} == {Outcome.CREATED}
        assert len(await hits(core)) == 20
    redis.thaw()
    await until_back(core, world.clock)


async def delete(core: MemoryCore, name: str) -> None:
    await core.delete(ALICE, name)


async def clear(core: MemoryCore, name: str) -> None:
    await core.clear(ALICE, ClearInput(session_id="s1"))


async def supersede(core: MemoryCore, name: str) -> None:
    await core.save(ALICE, fact("red boat sold", on_conflict=OnConflict.SUPERSEDE, **OSLO))


async def update(core: MemoryCore, name: str) -> None:
    memory = await core.get(ALICE, name)
    await core.update(ALICE, name, UpdateInput(content="red boat sold"), memory.etag)


async def by_status(core: MemoryCore, name: str) -> None:
    await core.set_status(ALICE, name, StatusInput(status="deleted"))


REMOVALS = [delete, clear, supersede, update, by_status]


@pytest.mark.parametrize("remove", REMOVALS)
@pytest.mark.parametrize("outage", ["frozen", "restarted", "never down"])
async def test_what_went_while_redis_was_down_does_not_come_back_with_it(
    world: World, redis: RedisServer, outage: str, remove: Any
) -> None:
    core = await process(world, redis)
    memory = (await core.save(ALICE, fact("red boat for sale", **OSLO))).memory
    await core.save(ALICE, turn("green boat"))
    assert {hit.tier for hit in await hits(core)} == {"short"}
    if outage == "frozen":
        redis.freeze()
    elif outage == "restarted":
        redis.kill()
    await remove(core, memory.id)
    assert "red boat for sale" not in await contents(core)
    if outage == "frozen":
        redis.thaw()
    elif outage == "restarted":
        redis.start()
    await until_back(core, world.clock)
    for n in range(3):
        assert "red boat for sale" not in await contents(core)
        await core.save(ALICE, turn(f"blue boat {n}"))
    served = await served_from_redis(core, world.clock)
    assert "red boat for sale" not in served
    assert {"blue boat 0", "blue boat 1", "blue boat 2"} <= served


async def test_a_removal_by_a_process_without_redis_is_seen_by_those_with_it(
    world: World, redis: RedisServer
) -> None:
    core, other = (
        await process(world, redis),
        await world.core(short_term=None, embedder=WordsEmbedder()),
    )
    memory = (await core.save(ALICE, turn("red boat"))).memory
    await other.delete(ALICE, memory.id)
    assert await contents(core) == set()
    await core.save(ALICE, turn("blue boat"))
    assert await contents(core) == {"blue boat"}
    assert await served_from_redis(core, world.clock) == {"blue boat"}


@pytest.mark.parametrize("remove", [delete, clear, by_status])
async def test_a_write_back_paused_while_another_process_removes_brings_nothing_back(
    world: World, redis: RedisServer, remove: Any
) -> None:
    paused = Paused(short_term(redis, world.clock))
    slow = await world.core(short_term=paused, embedder=WordsEmbedder())
    other = await process(world, redis)
    await other.save(ALICE, turn("green boat"))
    paused.hold()
    saving = asyncio.create_task(slow.save(ALICE, turn("red boat")))
    await paused.waiting.wait()
    memory = next(memory for memory in await listed(other) if memory.content == "red boat")
    await remove(other, memory.id)
    paused.release()
    await saving
    for core in (slow, other):
        assert "red boat" not in await contents(core)
    await other.save(ALICE, turn("blue boat"))
    for core in (slow, other):
        assert "red boat" not in await served_from_redis(core, world.clock)


async def test_the_sets_of_other_sessions_are_served_again_after_a_removal_elsewhere(
    world: World, redis: RedisServer
) -> None:
    core = await process(world, redis)
    await core.save(ALICE, turn("red boat"))
    elsewhere = (await core.save(ALICE, turn("blue boat", "s2"))).memory
    await core.delete(ALICE, elsewhere.id)
    assert await served_from_redis(core, world.clock) == {"red boat"}


async def test_a_set_that_redis_forgot_costs_nothing_but_warmth(
    world: World, redis: RedisServer
) -> None:
    core = await process(world, redis)
    await core.bulk(ALICE, [turn(f"boat {n}") for n in range(30)])
    redis.kill()
    redis.start()
    await until_back(core, world.clock)
    answer_hits = await hits(core)
    assert len(answer_hits) == 30
    assert {hit.tier for hit in answer_hits} == {"long"}


async def test_a_session_under_fire_never_shows_what_is_gone(
    world: World, redis: RedisServer
) -> None:
    cores = [await process(world, redis) for _ in range(2)]
    gone: set[str] = set()

    async def life(n: int) -> None:
        core, other = cores[n % 2], cores[(n + 1) % 2]
        saved = await core.save(ALICE, turn(f"boat {n}"))
        if n % 3 == 0:
            await other.delete(ALICE, saved.memory.id)
            gone.add(saved.memory.content)
        known = set(gone)
        assert not known & await contents(cores[n % 2])

    await asyncio.gather(*(life(n) for n in range(60)))
    for core in cores:
        assert await contents(core) == {f"boat {n}" for n in range(60) if n % 3}

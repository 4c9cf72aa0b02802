"""A real redis-server that dies, hangs and comes back in the middle of traffic.

A saving process goes on without it; what was deleted meanwhile is not served when it is back.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta

import pytest
from redis.asyncio import Redis
from redis.credentials import CredentialProvider

from memory_core.adapters.breaker import Breaker
from memory_core.adapters.redis.client import server
from memory_core.adapters.redis.store import RedisShortTermStore
from memory_core.ports import Stamp
from tests.memories import ANA, MovableClock, turn, unit_vector
from tests.redis_server import RedisServer

CALLS_UNTIL_OPEN = 3
REST = timedelta(seconds=2)


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    process = RedisServer()
    process.start()
    yield process
    process.kill()


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


@pytest.fixture
async def store(redis: RedisServer, clock: MovableClock) -> AsyncIterator[RedisShortTermStore]:
    made = RedisShortTermStore(
        server(redis.url),
        clock,
        timeout_s=0.5,
        breaker=Breaker(clock, failures=CALLS_UNTIL_OPEN, rest=REST),
    )
    await made.open()
    yield made
    await made.close()


async def every_call(store: RedisShortTermStore) -> list[object]:
    """All that the port offers, with the answers of an empty cache spelt out by the caller."""
    await store.drop(ANA, ["s1"], ["mem_1"], Stamp("e1", 9, 9), 0)
    await store.keep_vectors({"v": unit_vector(1)})
    return [
        await store.recall(ANA, "s1", 10),
        await store.remember(turn(2), Stamp("e1", 2, 0)),
        await store.rebuild(ANA, "s1", [turn(2)], Stamp("e1", 2, 0)),
        await store.vectors(["v", "w"]),
    ]


NOTHING: list[object] = [(None, []), False, False, [None, None]]


async def until_back(store: RedisShortTermStore, clock: MovableClock) -> None:
    """Use the store as traffic would, the clock going on, until it answers; each try is bounded by
    the store's own timeout.
    """
    for _ in range(200):
        clock.advance(seconds=REST.total_seconds())
        await store.recall(ANA, "s1", 1)
        if not store.degraded:
            return
    pytest.fail("the store did not recover")


async def test_a_server_that_dies_makes_every_call_empty_and_none_raise(
    store: RedisShortTermStore, redis: RedisServer
) -> None:
    assert await store.remember(turn(1), Stamp("e1", 1, 0))
    redis.kill()
    assert await every_call(store) == NOTHING
    assert store.degraded
    health = await store.check()
    assert health.status == "unavailable"
    assert health.detail is not None
    assert "ConnectionError" in health.detail
    assert health.facts["circuit"] == "open"


async def test_a_server_that_hangs_makes_every_call_empty_and_none_raise(
    store: RedisShortTermStore, redis: RedisServer
) -> None:
    redis.freeze()
    # no call waits for the server; without the bound this would hang for good
    async with asyncio.timeout(30):
        assert await every_call(store) == NOTHING
        assert (await store.check()).status == "unavailable"
    assert store.degraded


async def test_an_open_circuit_asks_nobody(store: RedisShortTermStore, redis: RedisServer) -> None:
    redis.kill()
    for _ in range(20):
        await store.recall(ANA, "s1", 10)
    assert store.failures == CALLS_UNTIL_OPEN


async def test_it_recovers_by_itself_when_the_server_is_back(
    store: RedisShortTermStore, redis: RedisServer, clock: MovableClock
) -> None:
    redis.kill()
    await every_call(store)
    redis.start()
    await until_back(store, clock)
    assert await store.remember(turn(3), Stamp("e1", 3, 0))
    assert [memory.id for memory in (await store.recall(ANA, "s1", 10))[1]] == ["mem_3"]
    assert (await store.check()).status == "ok"


async def test_a_check_sees_the_server_back_before_the_circuit_would(
    store: RedisShortTermStore, redis: RedisServer
) -> None:
    redis.kill()
    await every_call(store)
    redis.start()
    assert (await store.check()).status == "ok"
    assert not store.degraded


@pytest.mark.parametrize("refusing", ["replica", "full"])
async def test_a_check_does_not_call_a_server_well_that_answers_and_takes_no_writes(
    store: RedisShortTermStore, redis: RedisServer, refusing: str
) -> None:
    client = Redis.from_url(redis.url)
    assert await store.remember(turn(1), Stamp("e1", 1, 0))
    if refusing == "replica":
        await client.execute_command("REPLICAOF", "127.0.0.1", "1")
    else:
        await client.config_set("maxmemory-policy", "noeviction")
        await client.config_set("maxmemory", 1)
    assert not await store.remember(turn(2), Stamp("e1", 2, 0))
    assert (await store.check()).status == "unavailable"
    assert store.degraded
    await client.execute_command("REPLICAOF", "NO", "ONE")
    await client.config_set("maxmemory", 0)
    assert (await store.check()).status == "ok"
    await client.aclose()


async def test_a_server_that_is_down_at_the_start_is_only_noted(
    redis: RedisServer, clock: MovableClock
) -> None:
    redis.kill()
    store = RedisShortTermStore(server(redis.url), clock, timeout_s=5)
    await store.open()
    assert store.degraded
    redis.start()
    await until_back(store, clock)
    await store.close()


async def test_an_outage_is_logged_once_and_its_end_once(
    store: RedisShortTermStore,
    redis: RedisServer,
    clock: MovableClock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, logger="memory_core")
    redis.kill()
    for _ in range(5):
        await every_call(store)
        clock.advance(seconds=REST.total_seconds())
    redis.start()
    await until_back(store, clock)
    await store.recall(ANA, "s1", 10)
    levels = [
        record.levelname for record in caplog.records if record.name.startswith("memory_core")
    ]
    assert levels == ["WARNING", "INFO"]


async def test_answers_that_came_too_late_are_not_taken_for_others(
    store: RedisShortTermStore, redis: RedisServer, clock: MovableClock
) -> None:
    """A timed-out call leaves an answer on its way; no later call may read it as its own."""
    await store.remember(turn(1), Stamp("e1", 1, 0))
    await store.keep_vectors({"v": unit_vector(1)})
    redis.freeze()
    await asyncio.gather(
        *(store.recall(ANA, "s1", 10) for _ in range(CALLS_UNTIL_OPEN)), store.vectors(["v"])
    )
    assert store.degraded
    redis.thaw()
    await until_back(store, clock)
    for _ in range(10):
        vectors, (stamp, memories) = await asyncio.gather(
            store.vectors(["v"]), store.recall(ANA, "s1", 10)
        )
        assert vectors[0] is not None
        assert vectors[0].shape == (8,)
        assert stamp == Stamp("e1", 1, 1)
        assert [memory.id for memory in memories] == ["mem_1"]


@pytest.mark.parametrize("later_saves", [0, 2])
async def test_what_was_deleted_during_an_outage_is_void_when_redis_is_back(
    store: RedisShortTermStore, redis: RedisServer, clock: MovableClock, later_saves: int
) -> None:
    """Memory 1 is deleted by commit 3 while Redis hangs. Its set is still there afterwards, stamped
    older than the removal, and saves that come later do not make it look clean;
    only a rebuild does.
    """
    await store.remember(turn(1), Stamp("e1", 1, 0))
    await store.remember(turn(2), Stamp("e1", 2, 0))
    redis.freeze()
    for _ in range(CALLS_UNTIL_OPEN):
        await store.recall(ANA, "s1", 1)
    await store.drop(ANA, ["s1"], ["mem_1"], Stamp("e1", 3, 3), previous_removal=0)
    redis.thaw()
    await until_back(store, clock)
    for number in range(4, 4 + later_saves):
        await store.remember(turn(number), Stamp("e1", number, 3))
    stamp, _ = await store.recall(ANA, "s1", 10)
    assert stamp is not None
    assert stamp.sequence < 3
    assert await store.rebuild(ANA, "s1", [turn(2)], Stamp("e1", 6, 3))
    stamp, memories = await store.recall(ANA, "s1", 10)
    assert stamp is not None
    assert stamp.sequence >= 3
    assert [memory.id for memory in memories] == ["mem_2"]


async def test_an_erase_during_an_outage_voids_what_was_held(
    store: RedisShortTermStore, redis: RedisServer, clock: MovableClock
) -> None:
    await store.remember(turn(1), Stamp("e1", 1, 0))
    redis.freeze()
    await store.drop(ANA, ["s1"], [], Stamp("e2", 1, 1), previous_removal=0)
    redis.thaw()
    await until_back(store, clock)
    stamp, _ = await store.recall(ANA, "s1", 10)
    assert stamp is None or stamp.epoch != "e2"
    await store.remember(turn(1, epoch="e2", content="a new life"), Stamp("e2", 2, 1))
    stamp, memories = await store.recall(ANA, "s1", 10)
    assert stamp == Stamp("e2", 2, 2)
    assert [memory.content for memory in memories] == ["a new life"]


async def test_a_flushed_server_gets_its_scripts_again(
    store: RedisShortTermStore, redis: RedisServer, clock: MovableClock
) -> None:
    await store.remember(turn(1), Stamp("e1", 1, 0))
    redis.kill()
    redis.start()
    await until_back(store, clock)
    assert await store.remember(turn(2), Stamp("e1", 2, 0))


async def test_a_burst_far_over_the_connections_is_served(
    redis: RedisServer, clock: MovableClock
) -> None:
    store = RedisShortTermStore(server(redis.url), clock, timeout_s=10)
    burst = asyncio.gather(
        *(store.remember(turn(number), Stamp("e1", 0, 0)) for number in range(1, 201))
    )
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert store.pool() == (32, 32)
    assert await burst == [True] * 200
    assert store.pool() == (32, 0)
    assert len((await store.recall(ANA, "s1", 500))[1]) == 200
    await store.close()


async def test_a_password_given_apart_signs_in(
    redis: RedisServer, clock: MovableClock, store: RedisShortTermStore
) -> None:
    admin = server(redis.url)()
    await admin.config_set("requirepass", "s3cret/:@")
    await admin.aclose()
    wrong = RedisShortTermStore(server(redis.url, password="guess"), clock, timeout_s=5)
    right = RedisShortTermStore(server(redis.url, password="s3cret/:@"), clock, timeout_s=5)
    assert (await wrong.check()).status == "unavailable"
    assert (await right.check()).status == "ok"
    await wrong.close()
    await right.close()


class SlowAtFirst(CredentialProvider):
    """A source of passwords that hangs the first time it is asked, as a cold managed
    identity does.
    """

    def __init__(self, password: str) -> None:
        self._password = password
        self._asked = 0

    def get_credentials(self) -> tuple[str]:
        return (self._password,)

    async def get_credentials_async(self) -> tuple[str]:
        self._asked += 1
        if self._asked == 1:
            await asyncio.Event().wait()
        return (self._password,)


class SlowAlways(CredentialProvider):
    """A sign-in that takes longer than a call may, every time, as one does whose tokens
    are not cached yet.
    """

    async def get_credentials_async(self) -> tuple[str]:
        await asyncio.sleep(0.3)
        return ("secret",)


async def test_a_sign_in_that_outlasts_every_call_is_finished_beside_them(
    redis: RedisServer, clock: MovableClock, store: RedisShortTermStore
) -> None:
    """Each call would cut its own connection short, so that Redis stayed away for as long as the
    process lived.
    """
    async with Redis.from_url(redis.url) as client:
        await client.config_set("requirepass", "secret")
    slow = RedisShortTermStore(
        lambda: Redis(port=redis.port, credential_provider=SlowAlways()),
        clock,
        timeout_s=0.1,
        breaker=Breaker(clock, rest=REST),
    )
    try:
        assert await slow.recall(ANA, "s1", 1) == (None, [])
        assert slow.degraded
        await until_back(slow, clock)
    finally:
        await slow.close()


async def test_a_connection_whose_sign_in_was_cut_short_is_not_used(
    redis: RedisServer, clock: MovableClock
) -> None:
    admin = server(redis.url)()
    await admin.config_set("requirepass", "s3cret")
    await admin.aclose()

    def connect() -> Redis:
        client = server(redis.url)()
        client.connection_pool.connection_kwargs["credential_provider"] = SlowAtFirst("s3cret")
        return client

    store = RedisShortTermStore(connect, clock, timeout_s=0.5)
    assert (await store.check()).status == "unavailable"
    assert (await store.check()).status == "ok"
    assert await store.remember(turn(1), Stamp("e1", 1, 0))
    await store.close()


async def test_a_call_after_the_end_makes_no_connection_until_it_is_opened_again(
    redis: RedisServer, store: RedisShortTermStore
) -> None:
    admin = server(redis.url)()
    await store.close()
    assert await store.recall(ANA, "s1", 1) == (None, [])
    assert (await store.check()).status == "unavailable"
    assert len(await admin.client_list()) == 1
    await store.open()
    assert await store.remember(turn(1), Stamp("e1", 1, 0))
    await admin.aclose()

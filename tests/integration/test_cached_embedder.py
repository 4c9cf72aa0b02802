"""Remembered embeddings: requests that reach the service are counted on its own side
of the socket.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from aiohttp import web
from redis.asyncio import Redis

from memory_core.adapters.embedders.cached import CachedEmbedder
from memory_core.adapters.openai.client import Retries, Service
from memory_core.adapters.openai.embedder import OpenAIEmbedder
from memory_core.adapters.redis.client import server
from memory_core.adapters.redis.local import NullShortTermStore
from memory_core.adapters.redis.store import RedisShortTermStore
from memory_core.domain.errors import Unavailable
from memory_core.ports import ShortTermStore
from tests.memories import MovableClock
from tests.openai_server import Behaviour, OpenAIServer, refuses
from tests.redis_server import in_process

Make = Callable[..., CachedEmbedder]


@pytest.fixture
async def service() -> AsyncIterator[OpenAIServer]:
    made = OpenAIServer(16)
    await made.start()
    yield made
    await made.stop()


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


@pytest.fixture
def redis() -> Redis:
    return in_process()()


@pytest.fixture
async def short_term(redis: Redis, clock: MovableClock) -> AsyncIterator[ShortTermStore]:
    store = RedisShortTermStore(lambda: redis, clock, timeout_s=5)
    yield store
    await store.close()
    await redis.aclose()


@pytest.fixture
async def make(
    service: OpenAIServer, clock: MovableClock, short_term: ShortTermStore
) -> AsyncIterator[Make]:
    made: list[CachedEmbedder] = []

    def build(
        *,
        dimensions: int = 16,
        model: str = "m",
        over: ShortTermStore = short_term,
        **settings: Any,
    ) -> CachedEmbedder:
        where = Service(base_url=f"{service.root}/v1", api_key="k")
        plain = OpenAIEmbedder(where, model, dimensions, clock, retries=Retries(tries=1))
        made.append(CachedEmbedder(plain, over, clock, **settings))
        return made[-1]

    yield build
    for embedder in made:
        await embedder.close()


def asked(service: OpenAIServer) -> list[list[str]]:
    return [body["input"] for body in service.bodies]


def gated(service: OpenAIServer, gate: asyncio.Event) -> Behaviour:
    """The proper answer, once the gate is open."""

    async def behave(body: dict[str, Any]) -> web.StreamResponse:
        await gate.wait()
        return await service.well(body)

    return behave


async def until_asked(service: OpenAIServer, times: int) -> None:
    async with asyncio.timeout(10):
        while len(service.bodies) < times:
            await asyncio.sleep(0)


async def test_a_text_is_embedded_once(make: Make, service: OpenAIServer) -> None:
    embedder = make()
    first = await embedder.embed(["one", "two", "one"])
    second = await embedder.embed(["two", "one"])
    assert asked(service) == [["one", "two"]]
    np.testing.assert_array_equal(second[0], first[1])
    np.testing.assert_array_equal(first[0], first[2])


async def test_what_was_asked_is_not_embedded_again_when_it_is_saved_nor_what_was_saved_when_it_is_asked(  # noqa: E501
    make: Make, service: OpenAIServer
) -> None:
    embedder = make()
    asked_first = (await embedder.embed_queries(["one"]))[0]
    (saved_first,) = await embedder.embed(["two"])
    np.testing.assert_array_equal((await embedder.embed(["one"]))[0], asked_first)
    np.testing.assert_array_equal((await embedder.embed_queries(["two"]))[0], saved_first)
    assert asked(service) == [["one"], ["two"]]


async def test_only_what_is_new_is_asked_for(make: Make, service: OpenAIServer) -> None:
    embedder = make()
    await embedder.embed(["one"])
    await embedder.embed(["two", "one", "three"])
    assert asked(service) == [["one"], ["two", "three"]]


async def test_after_an_hour_the_process_forgets_and_the_short_term_still_knows(
    make: Make, service: OpenAIServer, clock: MovableClock
) -> None:
    lasting, alone = make(), make(over=NullShortTermStore(), model="other")
    before = await lasting.embed(["one"])
    await alone.embed(["one"])
    clock.advance(hours=1)
    after = await lasting.embed(["one"])
    await alone.embed(["one"])
    np.testing.assert_array_equal(before[0], after[0])
    assert [body["model"] for body in service.bodies] == ["m", "other", "other"]


async def test_another_process_finds_it_in_the_short_term(
    make: Make, service: OpenAIServer
) -> None:
    first, second = make(), make()
    await first.embed(["one"])
    await first.close()
    assert len((await second.embed(["one"]))[0]) == 16
    assert len(service.bodies) == 1


async def test_models_and_dimensions_do_not_share(make: Make, service: OpenAIServer) -> None:
    for embedder in (make(), make(dimensions=8), make(model="n")):
        assert len((await embedder.embed(["one"]))[0]) == embedder.dimensions
    assert len(service.bodies) == 3


async def test_the_least_recently_used_leaves_a_full_cache(
    make: Make, service: OpenAIServer
) -> None:
    embedder = make(over=NullShortTermStore(), entries=2)
    for text in ("one", "two", "one", "three", "one", "two"):
        await embedder.embed([text])
    assert asked(service) == [["one"], ["two"], ["three"], ["two"]]


async def test_texts_asked_for_at_the_same_time_are_embedded_once(
    make: Make, service: OpenAIServer
) -> None:
    embedder, gate = make(), asyncio.Event()
    service.script = [gated(service, gate), gated(service, gate)]
    first = asyncio.create_task(embedder.embed(["one", "two"]))
    await until_asked(service, 1)
    others = [asyncio.create_task(embedder.embed(["two", "three"])) for _ in range(20)]
    await until_asked(service, 2)
    gate.set()
    answers = await asyncio.gather(*others)
    assert asked(service) == [["one", "two"], ["three"]]
    for answer in answers:
        np.testing.assert_array_equal(answer[0], (await first)[1])


async def test_a_caller_that_leaves_takes_nothing_from_the_others(
    make: Make, service: OpenAIServer
) -> None:
    embedder, gate = make(), asyncio.Event()
    service.script = [gated(service, gate)]
    leaving = asyncio.create_task(embedder.embed(["one"]))
    await until_asked(service, 1)
    staying = asyncio.create_task(embedder.embed(["one"]))
    await asyncio.sleep(0)
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    gate.set()
    assert len((await staying)[0]) == 16
    assert len(service.bodies) == 1


async def test_an_error_reaches_everybody_who_waits_and_is_not_kept(
    make: Make, service: OpenAIServer
) -> None:
    embedder = make()
    service.script = [refuses(401)]
    answers = await asyncio.gather(
        *(embedder.embed(["one"]) for _ in range(3)), return_exceptions=True
    )
    assert [type(answer) for answer in answers] == [Unavailable] * 3
    assert len((await embedder.embed(["one"]))[0]) == 16
    assert len(service.bodies) == 2


async def test_a_short_term_that_is_down_only_costs_the_work_again(
    make: Make, service: OpenAIServer, clock: MovableClock
) -> None:
    down = RedisShortTermStore(server("redis://127.0.0.1:1"), clock, timeout_s=5)
    embedder = make(over=down)
    assert len((await embedder.embed(["one"]))[0]) == 16
    assert len((await embedder.embed(["one"]))[0]) == 16
    assert len(service.bodies) == 1
    assert down.degraded
    await down.close()


async def test_a_damaged_vector_in_the_short_term_is_made_again(
    make: Make, service: OpenAIServer, redis: Redis
) -> None:
    writer = make()
    await writer.embed(["one", "two"])
    await writer.close()
    for name, damage in zip(
        await redis.keys("mc:vector:*"), (b"\x00" * 12, b"\x00" * 7), strict=True
    ):
        await redis.set(name, damage)
    assert [len(vector) for vector in await make().embed(["one", "two"])] == [16, 16]
    assert asked(service) == [["one", "two"]] * 2


async def test_shared_vectors_can_not_be_changed(make: Make) -> None:
    embedder = make()
    for _ in range(2):
        (vector,) = await embedder.embed(["one"])
        with pytest.raises(ValueError, match="read-only"):
            vector[0] = 1


async def test_closing_tells_those_who_wait(make: Make, service: OpenAIServer) -> None:
    embedder = make()
    service.script = [gated(service, asyncio.Event())]
    asked_already = asyncio.create_task(embedder.embed(["one"]))
    await until_asked(service, 1)
    just_begun = asyncio.create_task(embedder.embed(["two"]))
    await asyncio.sleep(0)
    await embedder.close()
    for waiting in (asked_already, just_begun):
        with pytest.raises(Unavailable, match="closing"):
            await waiting


async def test_a_query_waits_for_its_deadline_and_finds_later_what_came_too_late(
    make: Make, service: OpenAIServer
) -> None:
    gate = asyncio.Event()
    service.script = [gated(service, gate)]
    embedder = make(query_deadline_s=0.05)
    for _ in range(2):
        with pytest.raises(Unavailable):
            (await embedder.embed_queries(["one"]))[0]
    gate.set()
    async with asyncio.timeout(10):
        while True:
            await asyncio.sleep(0)
            with suppress(Unavailable):
                assert len((await embedder.embed_queries(["one"]))[0]) == 16
                break
    assert asked(service) == [["one"]]


async def test_a_text_that_is_saved_waits_as_long_as_it_takes(
    make: Make, service: OpenAIServer
) -> None:
    gate = asyncio.Event()
    service.script = [gated(service, gate), gated(service, gate)]
    embedder = make(query_deadline_s=0.01)
    saved = asyncio.create_task(embedder.embed(["one"]))
    with pytest.raises(Unavailable):
        (await embedder.embed_queries(["two"]))[0]
    assert not saved.done()
    gate.set()
    assert len(await saved) == 1

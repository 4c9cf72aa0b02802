"""The adapters that must behave alike: each supplies a factory, the tests know only the ports."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from memory_core.adapters.cosmos.store import CosmosStore
from memory_core.adapters.sqlite.store import SqliteStore
from memory_core.core import MemoryCore
from memory_core.ports import Embedder, LongTermStore
from tests.builders import DIMENSIONS, StillClock
from tests.cosmos_server import KEY, CosmosServer, running
from tests.world import WordsEmbedder, World

StoreFactory = Callable[[], Awaitable[LongTermStore]]


@pytest.fixture(scope="session")
def cosmos_server() -> Iterator[CosmosServer]:
    with running() as started:
        yield started


class SharedClock(StillClock):
    """A clock that the service's own goes forward with: it is the service that drops what expires."""

    def __init__(self, server: CosmosServer) -> None:
        super().__init__()
        self._server = server

    def forward(self, seconds: float) -> None:
        super().forward(seconds)
        if seconds > 0:
            self._server.advance(seconds)


@pytest.fixture
def adapter(request: pytest.FixtureRequest) -> str:
    """Which long-term store the test runs on; tests that take `store_factory` run on each."""
    return str(getattr(request, "param", "sqlite"))


@pytest.fixture
def clock(request: pytest.FixtureRequest, adapter: str) -> StillClock:
    return SharedClock(request.getfixturevalue("cosmos_server")) if adapter == "cosmos" else StillClock()


@pytest.fixture
async def store_factory(request: pytest.FixtureRequest, adapter: str, tmp_path: Path, clock: StillClock) -> AsyncIterator[StoreFactory]:
    """Opens stores over the same data, as several processes would; closes them after the test."""
    opened: list[LongTermStore] = []
    make = _on_cosmos(request.getfixturevalue("cosmos_server"), clock) if adapter == "cosmos" else _on_sqlite(tmp_path, clock)

    async def opened_store() -> LongTermStore:
        store = await make()
        opened.append(store)
        await store.open()
        return store

    yield opened_store
    for store in opened:
        await store.close()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what needs a long-term store on every adapter, but for tests that name theirs."""
    named = any("adapter" in mark.args[0] for mark in metafunc.definition.iter_markers("parametrize"))
    if {"store_factory", "world"} & set(metafunc.fixturenames) and not named:
        metafunc.parametrize("adapter", ["sqlite", "cosmos"], indirect=True)


def _on_sqlite(folder: Path, clock: StillClock) -> StoreFactory:
    async def make() -> LongTermStore:
        return SqliteStore(folder / "memory.db", clock=clock, embedding_model="test", dimensions=DIMENSIONS, synchronous="normal")

    return make


class Provisioning(CosmosStore):
    """A store that makes its container, as an app may against an emulator only."""

    async def open(self) -> None:
        await self.provision()
        await super().open()


def _on_cosmos(server: CosmosServer, clock: StillClock) -> StoreFactory:
    database = uuid4().hex

    async def make() -> LongTermStore:
        return Provisioning(server.endpoint, database, clock=clock, embedding_model="test", dimensions=DIMENSIONS, key=KEY)

    return make


@pytest.fixture
async def store(store_factory: StoreFactory) -> LongTermStore:
    return await store_factory()


@pytest.fixture
async def world(request: pytest.FixtureRequest, adapter: str, tmp_path: Path, clock: StillClock) -> AsyncIterator[World]:
    made = World(tmp_path, clock)
    if adapter == "cosmos":
        server, database = request.getfixturevalue("cosmos_server"), uuid4().hex

        def elsewhere(one: Embedder) -> LongTermStore:
            return Provisioning(server.endpoint, database, clock=clock, embedding_model=one.model, dimensions=one.dimensions, key=KEY)

        made.elsewhere = elsewhere
    yield made
    await made.close()


@pytest.fixture
async def core(world: World) -> MemoryCore:
    return await world.core()


@pytest.fixture
def embedder() -> WordsEmbedder:
    return WordsEmbedder()


@pytest.fixture
async def words(world: World, embedder: WordsEmbedder) -> MemoryCore:
    """A core that knows what texts have in common."""
    return await world.core(embedder=embedder)

"""The adapters that must behave alike: each supplies a factory, the tests know only the ports."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from memory_core.adapters.sqlite.store import SqliteStore
from memory_core.core import MemoryCore
from memory_core.ports import LongTermStore
from tests.builders import DIMENSIONS, StillClock
from tests.world import World

StoreFactory = Callable[[], Awaitable[LongTermStore]]


@pytest.fixture
def clock() -> StillClock:
    return StillClock()


@pytest.fixture(params=["sqlite"])
async def store_factory(request: pytest.FixtureRequest, tmp_path: Path, clock: StillClock) -> AsyncIterator[StoreFactory]:
    """Opens stores over the same data, as several processes would; closes them after the test."""
    opened: list[LongTermStore] = []

    async def opened_store() -> LongTermStore:
        store = SqliteStore(tmp_path / "memory.db", clock=clock, embedding_model="test", dimensions=DIMENSIONS, synchronous="normal")
        await store.open()
        opened.append(store)
        return store

    yield opened_store
    for store in opened:
        await store.close()


@pytest.fixture
async def store(store_factory: StoreFactory) -> LongTermStore:
    return await store_factory()


@pytest.fixture
async def world(tmp_path: Path, clock: StillClock) -> AsyncIterator[World]:
    made = World(tmp_path, clock)
    yield made
    await made.close()


@pytest.fixture
async def core(world: World) -> MemoryCore:
    return await world.core()

"""Bookkeeping on Cosmos over the wire: what is cut, throttled or echoed by the SDK is written once, or said to be unknown."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from uuid import uuid4

import pytest

from memory_core.adapters.cosmos.store import CosmosStore
from memory_core.domain.errors import Unavailable
from memory_core.ports import Document
from tests.builders import ALICE, DIMENSIONS, StillClock, commit
from tests.cosmos_server import KEY, CosmosServer, running


@pytest.fixture(scope="module")
def server() -> Iterator[CosmosServer]:
    with running() as started:
        yield started


@pytest.fixture
async def store(server: CosmosServer) -> AsyncIterator[CosmosStore]:
    made = CosmosStore(server.endpoint, uuid4().hex, clock=StillClock(), dimensions=DIMENSIONS, key=KEY)
    await made.provision()
    await made.open()
    await commit(made, ALICE)
    yield made
    server.heal()
    await made.close()


def task(n: int) -> Document:
    return Document("tsk_1", "task", {"n": n, "epoch": "epoch-1"})


@pytest.mark.parametrize("kind", ["cut_before", "cut_after"])
async def test_a_write_whose_answer_was_cut_is_known_as_ours(server: CosmosServer, store: CosmosStore, kind: str) -> None:
    server.fault(kind, operations=["batch"], times=1)
    first = await store.keep(ALICE, task(1))
    assert first is not None
    server.fault(kind, operations=["batch"], times=1)
    second = await store.keep(ALICE, replace(first, body=task(2).body))
    assert second is not None
    assert [rule["struck"] for rule in server.faults()] == [1, 1]
    read = (await store.snapshot(ALICE, ["tsk_1"])).documents["tsk_1"]
    assert (read.body["n"], read.tag) == (2, second.tag)


@pytest.mark.parametrize("kind", ["throttle", "unavailable", "retry_with"])
async def test_a_service_that_refuses_for_now_is_unavailable(server: CosmosServer, store: CosmosStore, kind: str) -> None:
    server.fault(kind, operations=["batch"], retry_after_ms=1)
    with pytest.raises(Unavailable):
        await store.keep(ALICE, task(1))
    server.heal()
    assert await store.keep(ALICE, task(1)) is not None

"""Bookkeeping on Cosmos over the wire: what is cut, throttled or echoed by the SDK is written once,
or said to be unknown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from memory_core.adapters.cosmos.store import CosmosStore
from memory_core.domain.errors import Unavailable
from memory_core.domain.scope import Owner
from memory_core.ports import Document
from tests.agents import ScriptedAgents
from tests.builders import ALICE, DIMENSIONS, StillClock, commit
from tests.contract.conftest import Copying
from tests.cosmos_server import KEY, CosmosServer, running
from tests.tasks import ASKED, Hand, converse, finished, formed_once
from tests.world import World


@pytest.fixture(scope="module")
def server() -> Iterator[CosmosServer]:
    with running() as started:
        yield started


@pytest.fixture
async def store(server: CosmosServer) -> AsyncIterator[CosmosStore]:
    made = CosmosStore(
        server.endpoint,
        uuid4().hex,
        clock=StillClock(),
        embedding_model="test",
        dimensions=DIMENSIONS,
        key=KEY,
    )
    await made.provision()
    await made.open()
    await commit(made, ALICE)
    yield made
    server.heal()
    await made.close()


def task(n: int) -> Document:
    return Document("tsk_1", "task", {"n": n, "epoch": "epoch-1"})


@pytest.mark.parametrize("kind", ["cut_before", "cut_after"])
async def test_a_write_whose_answer_was_cut_is_known_as_ours(
    server: CosmosServer, store: CosmosStore, kind: str
) -> None:
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
async def test_a_service_that_refuses_for_now_is_unavailable(
    server: CosmosServer, store: CosmosStore, kind: str
) -> None:
    server.fault(kind, operations=["batch"], retry_after_ms=1)
    with pytest.raises(Unavailable):
        await store.keep(ALICE, task(1))
    server.heal()
    assert await store.keep(ALICE, task(1)) is not None


@pytest.mark.parametrize("kind", ["throttle", "unavailable", "cut_before", "cut_after"])
async def test_a_fault_at_any_write_of_a_conversations_work_leaves_it_formed_once(
    server: CosmosServer, tmp_path: Path, kind: str
) -> None:
    """Before each of the work's writes once, the two forming commits among them, the service
    refuses or the connection is cut.
    """
    clock, database = StillClock(), uuid4().hex

    def elsewhere(model: str, dimensions: int) -> CosmosStore:
        return Copying(server, database, clock=clock, embedding_model=model, dimensions=dimensions)

    world = World(tmp_path, clock, elsewhere=elsewhere)
    agents = ScriptedAgents(unsteady=True)
    core = await world.core(agents=agents)
    try:
        at, struck = 0, True
        while struck:
            owner = Owner("app", f"user{at}")
            accepted = await converse(core, owner=owner)
            server.fault(kind, operations=["batch"], skip=at, times=1, retry_after_ms=1)
            await Hand(core).work_all()
            struck = any(rule["struck"] for rule in server.faults())
            server.heal()
            await finished(world, core, accepted, owner)
            await formed_once(world, core, accepted, owner)
            at += 1
        assert at > 10, "each write of the work was struck once"
        assert agents.calls == Counter({name: count * at for name, count in ASKED.items()})
    finally:
        server.heal()
        await world.close()

"""Users of Cosmos DB that are held in memory: what a search of them asks for,
and that it never shows what is no longer so.

The replica here is a thousand commits behind; what an account of the consistency that is required
makes of that is no lag at all.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from uuid import uuid4

import pytest

from memory_core.adapters.cosmos.container import Consistency
from memory_core.adapters.cosmos.store import CosmosStore
from memory_core.domain.memory import Status
from memory_core.ports import Write
from tests.builders import (
    ALICE,
    DIMENSIONS,
    NOW,
    StillClock,
    batch,
    commit,
    document,
    memory,
    query,
    save,
    saving,
    unit,
)
from tests.cosmos_server import KEY, CosmosServer, running

FAR_BEHIND = 1000
TEA = query("tea", unit(1), now=NOW)
Open = Callable[..., Awaitable[CosmosStore]]


@pytest.fixture(scope="module", params=["Strong", "BoundedStaleness"])
def server(request: pytest.FixtureRequest) -> Iterator[CosmosServer]:
    with running(consistency=request.param) as started:
        yield started


@pytest.fixture
async def opened(server: CosmosServer) -> AsyncIterator[Open]:
    """Opens stores over one database; at the replica, if asked."""
    stores: list[CosmosStore] = []
    database = uuid4().hex

    async def open_one(
        *, replica: bool = False, budget: int = 2**20, clock: StillClock | None = None
    ) -> CosmosStore:
        stores.append(
            _store(server.replica if replica else server.endpoint, database, budget, clock=clock)
        )
        if len(stores) == 1:
            await stores[0].provision()
        await stores[-1].open()
        return stores[-1]

    yield open_one
    server.catch_up()
    for store in stores:
        await store.close()


def _store(
    address: str,
    database: str,
    budget: int,
    consistency: Consistency = "strong",
    clock: StillClock | None = None,
) -> CosmosStore:
    return CosmosStore(
        address,
        database,
        clock=clock or StillClock(),
        embedding_model="test",
        dimensions=DIMENSIONS,
        key=KEY,
        slice_budget_bytes=budget,
        consistency=consistency,
    )


async def slices(store: CosmosStore) -> int:
    return int((await store.check()).facts["slices"])


async def held(store: CosmosStore) -> None:
    """Search until the user is held."""
    async with asyncio.timeout(20):
        while not await slices(store):
            await store.search(ALICE, TEA)


async def found(store: CosmosStore) -> set[str]:
    return set((await store.search(ALICE, TEA)).candidates.ids)


async def test_a_search_of_one_who_is_held_reads_the_head_and_nothing_else(
    opened: Open, server: CosmosServer
) -> None:
    store = await opened()
    await save(store, *(memory(f"tea {number}", embedding=unit(number)) for number in range(20)))
    by_queries = await store.search(ALICE, TEA)
    await held(store)
    server.forget_requests()
    answer = await store.search(ALICE, TEA)
    assert [request["operation"] for request in server.requests()] == ["read"]
    assert set(answer.candidates.ids) == set(by_queries.candidates.ids)
    assert answer.charge is not None
    assert by_queries.charge is not None
    assert answer.charge * 3 <= by_queries.charge


@pytest.mark.parametrize("replica", [False, True])
async def test_what_another_process_was_told_is_saved_the_very_next_search_knows(
    opened: Open, server: CosmosServer, replica: bool
) -> None:
    here, there = await opened(), await opened(replica=replica)
    await save(here, memory("tea", id="mem_0", embedding=unit(0)))
    await held(there)
    server.lag(commits=FAR_BEHIND)
    chance, standing = random.Random(replica), {"mem_0"}
    for number in range(1, 30):
        name, deed = (
            chance.choice(sorted(standing)) if standing else "",
            chance.choice(["create", "create", "delete", "supersede"]),
        )
        if deed == "create" or not standing:
            name = f"mem_{number}"
            await save(here, memory(f"tea {number}", id=name, embedding=unit(number)))
            standing.add(name)
        elif deed == "delete":
            await commit(here, ALICE, Write("delete", document(memory("tea", id=name))))
            standing.discard(name)
        else:
            await commit(
                here,
                ALICE,
                Write("put", document(memory("tea", id=name, status=Status.SUPERSEDED))),
            )
            standing.discard(name)
        server.forget_requests()
        assert await found(there) == standing
        assert not [
            request
            for request in server.requests()
            if "VectorDistance" in (request["statement"] or "")
        ]
    assert await slices(there) == 1


async def test_what_is_committed_while_a_user_is_read_is_seen(opened: Open) -> None:
    here = await opened()
    await save(
        here,
        *(
            memory(f"tea {number}", id=f"mem_{number}", embedding=unit(number))
            for number in range(30)
        ),
    )
    for turn in range(8):
        there = await opened()
        more = save(here, memory("tea", id=f"mem_more{turn}", embedding=unit(turn)))
        await asyncio.gather(found(there), found(there), more)
        assert f"mem_more{turn}" in await found(there)
        await held(there)
        assert await found(there) == {f"mem_{number}" for number in range(30)} | {
            f"mem_more{number}" for number in range(turn + 1)
        }


async def test_of_a_user_who_was_erased_and_begins_anew_nothing_old_is_found(opened: Open) -> None:
    here, there = await opened(), await opened()
    await save(here, memory("tea", id="mem_old", embedding=unit(1)))
    await held(there)
    head = (await here.snapshot(ALICE)).head
    assert head is not None
    anew = saving(
        head.model_copy(update={"epoch": "epoch-2", "sequence": 0}),
        memory("tea", id="mem_new", embedding=unit(2)),
    )
    await here.commit(ALICE, replace(anew, expected=head))
    assert await found(there) == {"mem_new"}


async def erase(store: CosmosStore) -> None:
    """The first commit of an erasure: it ends the user's life."""
    await commit(store, ALICE, head={"epoch": "epoch-2", "state": "erasing", "counts": {}})


async def test_of_a_user_who_is_erased_here_nothing_stays_in_memory(opened: Open) -> None:
    store = await opened()
    await save(store, memory("tea", embedding=unit(1)))
    await held(store)
    await erase(store)
    assert await slices(store) == 0


async def test_of_a_user_whom_another_process_erased_nothing_stays_in_memory_for_long(
    opened: Open,
) -> None:
    clock = StillClock()
    here, there = await opened(), await opened(clock=clock)
    await save(here, memory("tea", embedding=unit(1)))
    await held(there)
    await erase(here)
    clock.forward(3599)
    assert await slices(there) == 1
    clock.forward(2)
    assert await slices(there) == 0


async def test_a_log_that_does_not_tell_of_all_is_not_relied_on(opened: Open) -> None:
    here, there = await opened(), await opened()
    await save(here, memory("tea", id="mem_1", embedding=unit(1)))
    await held(there)
    head = (await here.snapshot(ALICE)).head
    put = Write("put", document(memory("tea", id="mem_2", embedding=unit(2))))
    await here.commit(ALICE, batch(head, [put], events=1, head={"sequence": 9}))
    assert await found(there) == {"mem_1", "mem_2"}
    await held(there)
    assert await found(there) == {"mem_1", "mem_2"}


async def test_the_past_is_asked_of_the_service(opened: Open) -> None:
    store = await opened()
    await save(store, memory("tea", id="mem_1", embedding=unit(1)))
    old = memory(
        "tea",
        id="mem_1.v1",
        status=Status.SUPERSEDED,
        status_reason="new_version",
        embedding=unit(1),
    )
    await commit(store, ALICE, Write("create", document(old, "version")))
    await held(store)
    assert set((await store.search(ALICE, query("tea", unit(1), at=NOW))).candidates.ids) == {
        "mem_1",
        "mem_1.v1",
    }
    assert await found(store) == {"mem_1"}


async def test_who_does_not_fit_into_the_budget_is_not_held(opened: Open) -> None:
    none, little = await opened(budget=0), await opened(budget=1000)
    await save(none, memory("tea", id="mem_1", embedding=unit(1)))
    for store in (none, little):
        for _ in range(5):
            assert await found(store) == {"mem_1"}
        assert await slices(store) == 0


async def test_under_session_nobody_is_held() -> None:
    with running(consistency="Session") as server:
        store = _store(server.endpoint, "db", 2**20, "session")
        await store.provision()
        await store.open()
        await save(store, memory("tea", id="mem_1", embedding=unit(1)))
        for _ in range(5):
            assert await found(store) == {"mem_1"}
        assert await slices(store) == 0
        await store.close()

"""The Cosmos store over the wire: storms, outages, what each request carries,
and how many there are.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest
from azure.cosmos import PartitionKey

from memory_core.adapters.cosmos.client import CosmosConnection
from memory_core.adapters.cosmos.store import CosmosStore
from memory_core.adapters.system import RandomIds
from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.errors import EmbeddingMismatch, HeadMoved, Unavailable
from memory_core.domain.memory import Memory
from memory_core.domain.requests.memories import ListInput, RetrieveInput, SaveInput
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.ledger.changes import Change, Changes
from memory_core.ledger.commit import Ledger
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import Document, Near, Write
from tests.builders import (
    ALICE,
    DIMENSIONS,
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
from tests.cosmos_client import client_of
from tests.cosmos_server import KEY, CosmosServer, running
from tests.world import count_up

Opened = Callable[..., Awaitable[CosmosStore]]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CosmosServer]:
    with running(tmp_path_factory.mktemp("cosmos") / "documents.db") as started:
        yield started


@pytest.fixture
async def opened(server: CosmosServer) -> AsyncIterator[Opened]:
    """Opens stores on one database of the test's own."""
    database, stores = uuid4().hex, []

    async def open_(
        endpoint: str = "", dimensions: int = DIMENSIONS, deadline_s: float = 8.0
    ) -> CosmosStore:
        address = endpoint or server.endpoint
        store = CosmosStore(
            address,
            database,
            clock=StillClock(),
            embedding_model="test",
            dimensions=dimensions,
            key=KEY,
            deadline_s=deadline_s,
        )
        stores.append(store)
        await store.provision()
        await store.open()
        return store

    yield open_
    server.heal()
    for store in stores:
        await store.close()


def ledger(store: CosmosStore) -> Ledger:
    return Ledger(store, StillClock(), RandomIds(), deadline_s=30)


async def keep(book: Ledger, stored_memory: Memory) -> None:
    def decide(_: ReadSet) -> Changes[None]:
        return Changes(
            None, (Change("created", stored_memory),), reads=frozenset({stored_memory.id})
        )

    await book.commit(stored_memory.owner, decide, ids=[stored_memory.id], call=Call())


async def test_a_storm_loses_nothing_that_was_acknowledged_and_doubles_nothing(
    server: CosmosServer, opened: Opened
) -> None:
    stores = [await opened(), await opened()]
    owners = [ALICE, Owner("app", "bob")]
    server.storm()
    acknowledged: set[str] = set()

    async def writer(book: Ledger, owner: Owner, name: str) -> None:
        for number in range(15):
            stored_memory = memory(
                owner=owner, id=f"mem_{owner.user_id}_{name}_{number}", embedding=unit(number)
            )
            try:
                await keep(book, stored_memory)
            except (Unavailable, HeadMoved):
                continue  # it was not acknowledged: either is right
            acknowledged.add(stored_memory.id)

    books = [ledger(store) for store in stores]
    await asyncio.gather(
        *(writer(book, owner, f"{n}") for n, book in enumerate(books) for owner in owners)
    )
    assert sum(rule["struck"] for rule in server.faults()) > 20
    assert all(rule["struck"] for rule in server.faults())
    server.heal()
    seen: set[str] = set()
    for owner in owners:
        events = await stores[0].events(owner, 0, 500)
        assert [event.sequence for event in events] == list(range(1, len(events) + 1))
        made = [event.memory_id for event in events]
        assert len(set(made)) == len(made)
        assert {
            document.id for document in await stores[1].page(owner, "memory", None, None, 500)
        } == set(made)
        seen |= set(made)
    assert acknowledged <= seen
    assert len(acknowledged) > 30


async def test_counting_in_a_storm_counts_each_acknowledged_step_once(
    server: CosmosServer, opened: Opened
) -> None:
    stores = [await opened(), await opened()]
    stored_memory = memory(embedding=unit(1))
    await keep(ledger(stores[0]), stored_memory)
    for number, kind in enumerate(["cut_after", "cut_before", "unavailable"]):
        server.fault(kind, operations=["documents"], probability=0.06, seed=number)
    done = 0

    async def counter(book: Ledger) -> None:
        nonlocal done
        for _ in range(15):
            try:
                await count_up(book, stored_memory.id)
            except (Unavailable, HeadMoved):
                continue
            done += 1

    await asyncio.gather(*(counter(ledger(store)) for store in stores))
    server.heal()
    sequence = (
        (await stores[0].snapshot(ALICE, [stored_memory.id]))
        .documents[stored_memory.id]
        .body["reinforcement_count"]
    )
    assert sequence == len(await stores[1].events(ALICE, 0, 500)) - 1
    assert sequence >= done > 15


async def test_a_commit_applied_and_cut_is_known_as_ours_though_the_sdk_was_refused(
    server: CosmosServer, opened: Opened
) -> None:
    store = await opened()
    await keep(ledger(store), memory())
    stored_memory = memory()
    server.fault("cut_after", operations=["batch"], times=1)
    await keep(ledger(store), stored_memory)
    assert [event.memory_id for event in await store.events(ALICE, 0, 10)].count(
        stored_memory.id
    ) == 1


async def test_a_document_read_before_a_rivals_commit_is_read_again_for_the_head_read_after_it(
    server: CosmosServer, opened: Opened
) -> None:
    here, there = await opened(), await opened()

    async def counted(store: CosmosStore, number: int) -> None:
        await commit(store, ALICE, Write("put", Document("counter", "marker", {"n": number})))

    await counted(there, 1)
    head = (await here.snapshot(ALICE)).head  # from now on it is read beside documents
    rival = batch(head, [Write("put", Document("counter", "marker", {"n": 2}))])
    server.forget_requests()
    # the rival is done by then on a busy machine too
    server.fault("slow", document="head", times=1, delay_ms=2000)
    looking = asyncio.create_task(here.snapshot(ALICE, ["counter"]))
    deadline = time.monotonic() + 10
    while "read" not in [
        request["operation"] for request in await asyncio.to_thread(server.requests)
    ]:
        assert time.monotonic() < deadline
    await there.commit(ALICE, rival)
    seen = await looking
    assert seen.head == rival.head
    assert seen.documents["counter"].body == {"n": 2}


async def test_a_look_never_shows_half_of_a_rivals_commit(
    server: CosmosServer, opened: Opened
) -> None:
    """A memory of after the commit and no receipt, which is of the same batch, would tell a
    repeated call that it came too late.
    """
    here, there = await opened(), await opened()
    await save(there, memory(id="mem_1"))
    head = (await here.snapshot(ALICE)).head
    assert head is not None
    changed = memory("changed", id="mem_1", sequence=1, revision=2)
    rival = batch(
        head,
        [
            Write("put", document(changed)),
            Write("create", Document("rcp_1", "receipt", {"sequence": 2})),
        ],
    )
    server.forget_requests()
    server.fault("slow", document="mem_1", times=1, delay_ms=2000)
    looking = asyncio.create_task(here.snapshot(ALICE, ["rcp_1", "mem_1"]))
    deadline = time.monotonic() + 10
    while len(await asyncio.to_thread(server.requests)) < 2:
        assert time.monotonic() < deadline
    await there.commit(ALICE, rival)
    seen = await looking
    assert set(seen.documents) == {"mem_1", "rcp_1"}
    assert seen.documents["mem_1"].body["content"] == "changed"
    assert seen.head == rival.head


async def test_a_look_never_shows_a_document_of_a_life_that_began_after_its_head(
    server: CosmosServer, opened: Opened
) -> None:
    """A caller that asked for a task while an import was published was told that there was none: it
    was of the new epoch, the head not.
    """
    here, there = await opened(), await opened()
    task = Document("tsk_1", "task", {"sequence": 1, "epoch": "ep_old"})
    await commit(there, ALICE, Write("create", task))
    head = (await here.snapshot(ALICE)).head
    assert head is not None
    reborn = batch(
        head, [Write("put", Document("tsk_1", "task", {"sequence": 1, "epoch": "ep_new"}))]
    )
    reborn = replace(reborn, head=head.model_copy(update={"epoch": "ep_new"}))
    server.forget_requests()
    server.fault("slow", document="tsk_1", times=1, delay_ms=2000)
    looking = asyncio.create_task(here.snapshot(ALICE, ["tsk_1"]))
    deadline = time.monotonic() + 10
    while "read" not in [
        request["operation"] for request in await asyncio.to_thread(server.requests)
    ]:
        assert time.monotonic() < deadline
    await there.commit(ALICE, reborn)
    seen = await looking
    assert seen.head == reborn.head
    assert seen.documents["tsk_1"].body["epoch"] == "ep_new"


async def test_a_task_is_looked_at_once(server: CosmosServer, opened: Opened) -> None:
    """Its place is the moment of its creation, which is later than any sequence:
    it was taken for a commit's that the head lacks.
    """
    store = await opened()
    await commit(
        store,
        ALICE,
        Write(
            "create",
            Document("tsk_1", "task", {"sequence": 1_700_000_000_000_000, "epoch": "epoch-1"}),
        ),
    )
    await store.snapshot(ALICE, ["tsk_1"])
    server.forget_requests()
    assert (await store.snapshot(ALICE, ["tsk_1"])).documents
    # the head, and the task
    assert [request["operation"] for request in server.requests()] == ["read", "read"]


async def test_rows_come_once_when_a_range_moves_between_two_pages(
    server: CosmosServer, opened: Opened
) -> None:
    """The service cuts pages at 4 MB, and the SDK begins again when the next one is asked of a
    range that is gone.
    """
    store = await opened()
    for start in range(0, 200, 50):
        await commit(
            store,
            ALICE,
            *(
                Write("create", Document(f"tsk_{start + n:03}", "task", {"text": "x" * 30_000}))
                for n in range(50)
            ),
        )
    server.forget_requests()
    server.fault("gone", operations=["query"], skip=1, times=1)
    seen = [document.id for document in await store.page(ALICE, "task", None, None, 500)]
    server.heal()
    assert len([request for request in server.requests() if request["operation"] == "query"]) > 3
    assert len(set(seen)) == len(seen) == 200


async def test_a_store_that_is_down_is_said_and_comes_back_without_a_restart(
    server: CosmosServer, opened: Opened
) -> None:
    store = await opened(deadline_s=1.0)
    head = await save(store, memory(id="mem_1", embedding=unit(1)))
    server.kill()
    try:
        for call in (
            store.snapshot(ALICE, ["mem_1"]),
            store.search(ALICE, query("tea", unit(1))),
            store.commit(ALICE, saving(head, memory(id="mem_lost"))),
        ):
            with pytest.raises(Unavailable) as caught:
                await call
            assert caught.value.dependency == "long_term"
            assert caught.value.retry_after_s
        assert (await store.check()).status == "unavailable"
    finally:
        server.start()
    assert set((await store.snapshot(ALICE, ["mem_1", "mem_lost"])).documents) == {"mem_1"}
    await save(store, memory(id="mem_2"))
    assert (await store.check()).status == "ok"


async def test_a_store_that_is_down_at_the_start_can_be_opened_later(
    server: CosmosServer, opened: Opened
) -> None:
    await opened()
    store = CosmosStore(
        server.endpoint,
        "nowhere",
        clock=StillClock(),
        embedding_model="test",
        dimensions=DIMENSIONS,
        key=KEY,
        deadline_s=1.0,
    )
    server.kill()
    try:
        with pytest.raises(Unavailable):
            await store.open()
    finally:
        server.start()
    with pytest.raises(Unavailable, match="does not exist"):
        await store.open()
    await store.close()  # as the services do after an opening that failed
    for call in (store.snapshot(ALICE), store.key_store().read("app", "key"), store.ranges()):
        with pytest.raises(Unavailable, match="does not exist"):
            await call
    await store.provision()
    await store.open()
    await save(store, memory())
    await store.close()
    with pytest.raises(Unavailable, match="not open"):
        await store.snapshot(ALICE)


async def test_a_key_that_is_none_is_named_and_not_shown(server: CosmosServer) -> None:
    store = CosmosStore(
        server.endpoint,
        "db",
        clock=StillClock(),
        embedding_model="test",
        dimensions=DIMENSIONS,
        key="se cret",
    )
    with pytest.raises(Unavailable, match="key") as caught:
        await store.open()
    assert "cret" not in caught.value.detail


async def test_throttling_that_does_not_end_is_said_with_the_wait_it_asks_for(
    server: CosmosServer, opened: Opened
) -> None:
    store = await opened()
    server.fault("throttle", operations=["documents"], retry_after_ms=1)
    with pytest.raises(Unavailable, match="429") as caught:
        await store.snapshot(ALICE, ["mem_1"])
    assert caught.value.retry_after_s == 1


async def test_who_is_to_wait_longer_than_a_call_may_take_is_told_so_instead_of_kept_waiting(
    server: CosmosServer, opened: Opened
) -> None:
    store = await opened(deadline_s=5.0)
    stored_memory = memory("green tea", embedding=unit(1))
    head = await save(store, stored_memory)
    calls: dict[str, Callable[[], Awaitable[object]]] = {
        "read": lambda: store.snapshot(ALICE),
        "query": lambda: store.search(ALICE, query("tea", unit(1))),
        "batch": lambda: store.commit(ALICE, saving(head, memory("black tea"))),
    }
    for operation, call in calls.items():
        server.fault("throttle", operations=[operation], retry_after_ms=59_500)
        with pytest.raises(Unavailable, match="429") as raised:
            await call()
        assert raised.value.retry_after_s == 60, operation
        server.heal()
    assert (await store.snapshot(ALICE)).head == head


async def test_another_embedder_than_the_containers_is_refused_with_both_numbers(
    opened: Opened,
) -> None:
    await opened(dimensions=8)
    with pytest.raises(EmbeddingMismatch, match=r"8 dimensions.* 5"):
        await opened(dimensions=5)


async def test_a_container_of_other_policies_is_refused_with_what_is_wrong(
    server: CosmosServer, opened: Opened
) -> None:
    async with client_of(server.endpoint) as client:
        database = await client.create_database(uuid4().hex)
        await database.create_container("memories", PartitionKey("/user_id"))
        store = CosmosStore(
            server.endpoint,
            database.id,
            clock=StillClock(),
            embedding_model="test",
            dimensions=8,
            key=KEY,
        )
        with pytest.raises(
            Unavailable, match=r"partition key should be.*vector policy.*full text policy"
        ):
            await store.open()


async def test_a_container_of_an_earlier_version_says_what_it_lacks_and_gets_it_in_place(
    server: CosmosServer, opened: Opened
) -> None:
    store = await opened()
    head = await save(store, memory())
    database = store._names[0]  # made for this test
    async with client_of(server.endpoint) as client:
        proxy = client.get_database_client(database)
        properties = await proxy.get_container_client("memories").read()
        paths = [
            path
            for path in properties["indexingPolicy"]["includedPaths"]
            if path["path"] != "/key/?"
        ]
        earlier = {**properties["indexingPolicy"], "includedPaths": paths}
        texts = properties["fullTextPolicy"]
        await proxy.replace_container(
            "memories",
            properties["partitionKey"],
            indexing_policy=earlier,
            default_ttl=-1,
            full_text_policy=texts,
        )
    later = CosmosStore(
        server.endpoint,
        database,
        clock=StillClock(),
        embedding_model="test",
        dimensions=DIMENSIONS,
        key=KEY,
    )
    with pytest.raises(Unavailable, match=r"its index should include /key/\?.*azd provision"):
        await later.open()
    await later.provision()
    await later.open()
    assert (await later.snapshot(ALICE)).head == head
    await later.close()


async def test_settings_choose_the_store_and_the_whole_product_runs_on_it(
    server: CosmosServer, tmp_path: Path
) -> None:
    database = uuid4().hex
    chosen = {
        "MEMORY_LONG_TERM": "cosmos",
        "MEMORY_COSMOS_ENDPOINT": server.endpoint,
        "MEMORY_COSMOS_KEY": KEY,
    }
    given = {
        "MEMORY_COSMOS_DATABASE": database,
        "EMBEDDING_PROVIDER": "hash",
        "MEMORY_DATA": str(tmp_path),
    }
    maker = CosmosStore(
        server.endpoint,
        database,
        clock=StillClock(),
        embedding_model="hash",
        dimensions=384,
        key=KEY,
    )
    await maker.provision()
    await maker.close()
    async with MemoryCore(Settings.from_env(chosen | given)) as core:
        saved = await core.save(ALICE, SaveInput(content="Ann drinks jasmine tea"))
        answer = await core.retrieve(
            ALICE,
            RetrieveInput(query="jasmine tea", answer_threshold=0.0, similarity_threshold=0.0),
        )
        assert [result.serialized.memory.id for result in answer.results] == [saved.memory.id]
        assert [memory.id for memory in (await core.list(ALICE, ListInput())).memories] == [
            saved.memory.id
        ]


async def test_a_search_reads_no_vector_and_says_what_it_cost(
    server: CosmosServer, opened: Opened
) -> None:
    store = await opened()
    await save(
        store,
        *(memory("green tea", id=f"mem_{number}", embedding=unit(number)) for number in range(5)),
    )
    # how the account ranks is found out once a process, and no search's own cost
    await store.check()
    server.forget_requests()
    answer = await store.search(ALICE, query("tea", unit(1)))
    assert all(memory.embedding is None for memory in answer.candidates.memories.values())
    paid = [
        request["charge"]
        for request in server.requests()
        if request["operation"] in ("read", "query") and request["status"] == 200
    ]
    assert answer.charge == pytest.approx(sum(paid))
    assert answer.candidates.lists["vector"][0] == "mem_1"


async def test_the_events_of_one_commit_are_one_item(opened: Opened) -> None:
    store = await opened()
    await save(store, memory(id="mem_1"))
    await save(store, memory(id="mem_2"), memory(id="mem_3"), memory(id="mem_4"))
    assert len(await store.events(ALICE, 0, 100)) == 4
    await store.commit(ALICE, batch((await store.snapshot(ALICE)).head, head={"epoch": "next"}))
    items = await store.strays(ALICE, 100)
    assert Counter(item.kind for item in items) == {"memory": 4, "event": 2}


async def test_neighbours_of_another_epoch_are_not_shown(opened: Opened) -> None:
    store = await opened()
    head = await save(store, memory(id="mem_1", embedding=unit(1)))
    left_over = memory(id="mem_2", embedding=unit(1), epoch="epoch-0")
    await store.commit(ALICE, batch(head, [Write("create", document(left_over))]))
    near = (await store.snapshot(ALICE, near=Near(unit(1), frozenset(), 0.5))).near
    assert [neighbour.memory.id for neighbour in near] == ["mem_1"]
    assert (await store.search(ALICE, query("tea", unit(1)))).candidates.ids == ["mem_1"]
    assert set(await store.memories(ALICE, ["mem_1", "mem_2"])) == {"mem_1"}


async def test_a_connection_that_is_closed_while_it_opens_leaves_nothing_open(
    server: CosmosServer,
) -> None:
    connection = CosmosConnection(
        server.endpoint,
        uuid4().hex,
        "memories",
        key=KEY,
        identity_client_id=None,
        deadline_s=8.0,
        charged=lambda units: None,
    )
    connection.open()
    opening = asyncio.create_task(connection.container())
    await asyncio.sleep(0)  # it begins
    await connection.close()
    container = await opening
    assert connection._client is None
    del opening, container, connection
    gc.collect()  # a session that is left open says so, which fails the test


async def test_a_connection_that_is_not_open_makes_no_client(server: CosmosServer) -> None:
    connection = CosmosConnection(
        server.endpoint,
        uuid4().hex,
        "memories",
        key=KEY,
        identity_client_id=None,
        deadline_s=8.0,
        charged=lambda units: None,
    )
    for _ in range(2):
        with pytest.raises(Unavailable, match="not open"):
            await connection.container()
        connection.open()
        await connection.container()
        await connection.close()

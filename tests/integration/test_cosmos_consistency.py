"""Two processes, one of which reads from a replica that lags: what the account's consistency
makes of it.

Under Strong and BoundedStaleness (in one region) the lag can not be seen. Under Session, which has
to be chosen, a process may show what is no longer so; but what it decides on that is judged by the
head as it is, and decided again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from memory_core.adapters.cosmos.container import Consistency
from memory_core.adapters.cosmos.store import CosmosStore
from memory_core.adapters.system import RandomIds
from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.errors import Unavailable
from memory_core.domain.memory import Outcome, Status
from memory_core.domain.results import Call
from memory_core.ledger.changes import Change, Changes
from memory_core.ledger.commit import Ledger
from memory_core.ledger.waiting_accesses import WaitingAccesses
from memory_core.ports import AccessCount
from tests.builders import ALICE, DIMENSIONS, NOW, StillClock, memory, query, save, unit
from tests.cosmos_server import KEY, CosmosServer, running
from tests.world import WordsEmbedder, World, count_up, fact, find, listed, rule, turn

FAR_BEHIND = 1000
"""Commits: more than any test here makes."""


@pytest.fixture(scope="module")
def session() -> Iterator[CosmosServer]:
    with running(consistency="Session") as started:
        yield started


def store_at(
    address: str,
    database: str = "db",
    *,
    consistency: Consistency = "strong",
    dimensions: int = DIMENSIONS,
    model: str = "test",
) -> CosmosStore:
    clock = StillClock()
    return CosmosStore(
        address,
        database,
        clock=clock,
        embedding_model=model,
        dimensions=dimensions,
        key=KEY,
        consistency=consistency,
    )


@asynccontextmanager
async def both_sides(
    server: CosmosServer, folder: Path
) -> AsyncIterator[tuple[World, MemoryCore, MemoryCore]]:
    """A process at the account, and one at its replica, which has seen nothing since both
    were opened.
    """
    addresses, database = [server.endpoint, server.replica], uuid4().hex

    def made(model: str, dimensions: int) -> CosmosStore:
        return store_at(
            addresses[len(world.cores) % 2],
            database,
            consistency="session",
            dimensions=dimensions,
            model=model,
        )

    world = World(folder, StillClock(), made)
    maker = made("words", WordsEmbedder.dimensions)
    await maker.provision()
    await maker.close()
    try:
        here = await world.core(embedder=WordsEmbedder(), duplicate_threshold=0.7, short_term=None)
        there = await world.core(embedder=WordsEmbedder(), duplicate_threshold=0.7, short_term=None)
        yield world, here, there
    finally:
        server.catch_up()
        await world.close()


async def test_what_a_process_wrote_beside_the_log_is_in_what_it_reads_by_the_head() -> None:
    """Accesses move no head, whose state is older then than what was added to the memories."""
    with running(consistency="Strong") as server:
        store = store_at(server.replica)
        await store.provision()
        await store.open()
        tea = memory("green tea", embedding=unit(1))
        await save(store, tea)
        await store.snapshot(ALICE)
        server.lag(commits=2)  # as far as the head, and no further
        waiting = WaitingAccesses(store, StillClock())
        await waiting.merge(ALICE, "mrk_1", {tea.id: AccessCount(1, NOW)})
        assert await waiting.add(ALICE) == 1
        seen = await store.snapshot(ALICE, [tea.id])
        assert seen.documents[tea.id].body["access_count"] == 1
        await store.close()


@pytest.mark.parametrize("consistency", ["Strong", "BoundedStaleness"])
async def test_what_was_acknowledged_is_seen_at_once_by_the_replica_too(consistency: str) -> None:
    with running(consistency=consistency) as server:
        stores = [store_at(server.endpoint), store_at(server.replica)]
        await stores[0].provision()
        for store in stores:
            await store.open()
        server.lag(commits=FAR_BEHIND)
        books = [Ledger(store, StillClock(), RandomIds(), deadline_s=30) for store in stores]
        stored_memory = memory("green tea", embedding=unit(1))
        await books[0].commit(
            ALICE, lambda _: Changes(None, (Change("created", stored_memory),)), ids=[], call=Call()
        )
        for number in range(20):
            await count_up(books[number % 2], stored_memory.id)
            for store in stores:
                body = (
                    (await store.snapshot(ALICE, [stored_memory.id]))
                    .documents[stored_memory.id]
                    .body
                )
                assert body["reinforcement_count"] == number + 1
        assert (await stores[1].search(ALICE, query("tea", unit(1)))).candidates.ids == [
            stored_memory.id
        ]
        cheaper = [
            request
            for request in server.requests()
            if request["behind"] and request["consistency"] == "Session"
        ]
        assert {request["operation"] for request in cheaper} >= {"read", "query"}, (
            "of one replica, in a state that the head vouches for"
        )
        assert not [request for request in cheaper if request["path"].endswith("/docs/head")]
        server.fault("status", status=404, substatus=1002, operations=["query"], times=2)
        assert (await stores[1].search(ALICE, query("", unit(1)))).candidates.ids == [
            stored_memory.id
        ], "no replica has come so far: two are asked"
        server.heal()
        server.lag(commits=1)  # as far as this process has seen, and no further
        for number in range(3):
            more = memory(f"cup of tea {number}", embedding=unit(2 + number))
            await books[0].commit(
                ALICE,
                lambda _, more=more: Changes(None, (Change("created", more),)),
                ids=[],
                call=Call(),
            )
            assert (
                more.id
                in (await stores[1].search(ALICE, query("cup", unit(2 + number)))).candidates.ids
            )
            await books[0].commit(
                ALICE,
                lambda _, more=more: Changes(None, (Change("created", memory()),)),
                ids=[],
                call=Call(),
            )
            assert list(await stores[1].memories(ALICE, [more.id])) == [more.id]
        assert not [
            request
            for request in server.requests()
            if request["operation"] == "batch" and request["status"] != 200
        ]
        for store in stores:
            await store.close()


async def test_under_session_a_process_may_miss_what_another_one_saved(
    session: CosmosServer, tmp_path: Path
) -> None:
    """Without this the tests below would prove nothing."""
    async with both_sides(session, tmp_path) as (_, here, there):
        await here.save(ALICE, turn("red boat one"))
        # the first search writes documents of its own, which its session has seen from then on
        await find(there, "red boat")
        session.lag(commits=FAR_BEHIND)
        await here.save(ALICE, turn("red boat two"))
        assert await find(there, "red boat") == ["red boat one"]
        assert set(await find(here, "red boat")) == {"red boat one", "red boat two"}
        session.catch_up()
        assert set(await find(there, "red boat")) == {"red boat one", "red boat two"}


async def test_under_session_what_was_decided_on_an_old_state_is_decided_again(
    session: CosmosServer, tmp_path: Path
) -> None:
    async with both_sides(session, tmp_path) as (_, here, there):
        await here.save(ALICE, turn("warm up"))
        session.lag(commits=FAR_BEHIND)
        first = await here.save(ALICE, fact("Ann drinks green tea"))
        session.forget_requests()
        # it can not see the first one
        again = await there.save(ALICE, fact("ann drinks green tea."))
        refused = [
            request
            for request in session.requests()
            if request["operation"] == "batch" and request["status"] == 207
        ]
        assert refused
        assert (again.outcome, again.memory.id) == (Outcome.REINFORCED, first.memory.id)


async def test_under_session_what_was_deleted_is_not_brought_back_by_one_who_still_sees_it(
    session: CosmosServer, tmp_path: Path
) -> None:
    async with both_sides(session, tmp_path) as (_, here, there):
        stored_memory = (await here.save(ALICE, fact("Ann drinks green tea"))).memory
        await there.get(ALICE, stored_memory.id)
        session.lag(commits=FAR_BEHIND)
        await here.delete(ALICE, stored_memory.id)
        assert (await there.get(ALICE, stored_memory.id)).status is Status.ACTIVE
        again = await there.save(ALICE, fact("Ann drinks green tea"))
        assert again.outcome is Outcome.CREATED
        session.catch_up()
        assert (await here.get(ALICE, stored_memory.id)).status is Status.DELETED
        assert [memory.id for memory in await listed(here)] == [again.memory.id]


async def test_under_session_turns_from_both_sides_are_each_there_once_in_one_log(
    session: CosmosServer, tmp_path: Path
) -> None:
    async with both_sides(session, tmp_path) as (world, here, there):
        await here.save(ALICE, rule("drink", "tea"))
        session.lag(commits=FAR_BEHIND)
        for number in range(12):
            await (here, there)[number % 2].save(ALICE, turn(f"turn {number}"))
            await (there, here)[number % 2].save(ALICE, rule("drink", f"tea {number}"))
        session.catch_up()
        contents = [memory.content for memory in await listed(here, type="episodic")]
        assert sorted(contents) == sorted(f"turn {number}" for number in range(12))
        (stored_memory,) = await listed(there, type="procedural")
        assert (stored_memory.value, stored_memory.version) == ("tea 11", 13)
        events = await world.log(embedder=WordsEmbedder())
        assert [event.sequence for event in events] == list(range(1, len(events) + 1))
        assert len(events) == 25


async def test_a_replica_that_has_not_come_so_far_yet_is_asked_again(
    session: CosmosServer, tmp_path: Path
) -> None:
    async with both_sides(session, tmp_path) as (_, here, _there):
        stored_memory = (await here.save(ALICE, turn("red boat"))).memory
        try:
            session.fault("status", status=404, substatus=1002, operations=["read"], times=6)
            assert (await here.get(ALICE, stored_memory.id)).content == "red boat"
            session.fault("status", status=404, substatus=1002, operations=["read"])
            with pytest.raises(Unavailable, match="no replica"):
                await here.get(ALICE, stored_memory.id)
        finally:
            session.heal()


async def test_an_account_is_not_asked_for_its_consistency_where_the_setting_says_so() -> None:
    with running(consistency="Eventual") as server:
        given = {
            "MEMORY_LONG_TERM": "cosmos",
            "MEMORY_COSMOS_ENDPOINT": server.endpoint,
            "MEMORY_COSMOS_KEY": KEY,
        }
        named = {
            "MEMORY_COSMOS_DATABASE": "db",
            "EMBEDDING_PROVIDER": "hash",
            "EMBEDDING_DIMENSIONS": str(DIMENSIONS),
        }
        chosen = {
            "MEMORY_COSMOS_CONSISTENCY": "session",
            "MEMORY_COSMOS_CHECK_CONSISTENCY": "false",
            "MEMORY_SHORT_TERM": "none",
        }
        maker = store_at(server.endpoint)
        await maker.provision()
        await maker.close()
        async with MemoryCore(
            Settings.from_env(given | named | chosen), clock=StillClock()
        ) as core:
            seen = (await core.ready())["dependencies"]["long_term"]
        assert (seen["status"], seen["facts"]["consistency"]) == ("ok", "not asked")


@pytest.mark.parametrize(
    ("has", "wanted", "status"),
    [
        ("Strong", "strong", "ok"),
        ("BoundedStaleness", "strong", "ok"),
        ("Session", "strong", "unavailable"),
        ("Session", "session", "ok"),
        ("Eventual", "session", "unavailable"),
    ],
)
async def test_an_account_that_is_weaker_than_configured_is_refused_with_both_named(
    has: str, wanted: str, status: str
) -> None:
    with running(consistency=has) as server:
        maker = store_at(server.endpoint)
        await maker.provision()
        await maker.close()
        given = {
            "MEMORY_LONG_TERM": "cosmos",
            "MEMORY_COSMOS_ENDPOINT": server.endpoint,
            "MEMORY_COSMOS_KEY": KEY,
        }
        named = {
            "MEMORY_COSMOS_DATABASE": "db",
            "EMBEDDING_PROVIDER": "hash",
            "EMBEDDING_DIMENSIONS": str(DIMENSIONS),
        }
        settings = Settings.from_env(
            given | named | {"MEMORY_COSMOS_CONSISTENCY": wanted, "MEMORY_SHORT_TERM": "none"}
        )
        core = MemoryCore(settings, clock=StillClock())
        if status == "ok":
            await core.open()
            seen = (await core.ready())["dependencies"]["long_term"]
            assert (seen["status"], seen["facts"]["consistency"]) == ("ok", has)
        else:
            with pytest.raises(
                Unavailable, match=f"consistency is {has}; it should be Strong or BoundedStaleness"
            ):
                await core.open()
            assert (await core.ready())["status"] == "unavailable"
        await core.close()

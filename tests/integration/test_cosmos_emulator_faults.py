"""Faults of the emulator as the real SDK meets them. What is here is what an adapter has
to live with.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from uuid import uuid4

import pytest
from azure.core.exceptions import AzureError, HttpResponseError
from azure.cosmos.aio import ContainerProxy
from azure.cosmos.exceptions import (
    CosmosBatchOperationError,
    CosmosHttpResponseError,
    CosmosResourceNotFoundError,
)

from tests.cosmos_client import ANA, BEN, client_of, document, memories_in
from tests.cosmos_server import CosmosServer, running


@pytest.fixture(scope="module")
def server() -> Iterator[CosmosServer]:
    with running() as started:
        yield started


@pytest.fixture
async def memories(server: CosmosServer) -> AsyncIterator[ContainerProxy]:
    async with client_of(server.endpoint) as client:
        database = await client.create_database(uuid4().hex)
        container = await memories_in(database)
        await container.create_item(document("head", sequence=0))
        server.forget_requests()
        yield container
        server.heal()


def struck(server: CosmosServer) -> list[int]:
    return [rule["struck"] for rule in server.faults()]


def operations(server: CosmosServer) -> list[tuple[str, int]]:
    return [(request["operation"], request["status"]) for request in server.requests()]


async def test_the_sdk_waits_and_asks_again_when_it_is_throttled(
    server: CosmosServer, memories: ContainerProxy
) -> None:
    server.fault("throttle", operations=["read"], times=2, retry_after_ms=5)
    await memories.read_item("head", ANA)
    assert operations(server) == [("read", 429), ("read", 429), ("read", 200)]


@pytest.mark.parametrize(
    ("kind", "status"), [("retry_with", 449), ("unavailable", 503), ("timeout", 408)]
)
async def test_what_the_sdk_does_not_ride_out_reaches_the_caller(
    server: CosmosServer, memories: ContainerProxy, kind: str, status: int
) -> None:
    server.fault(kind, operations=["batch"])
    with pytest.raises(CosmosHttpResponseError) as caught:
        await memories.execute_item_batch([("create", (document("m"),))], ANA)
    assert caught.value.status_code == status
    server.heal()
    with pytest.raises(CosmosResourceNotFoundError):
        await memories.read_item("m", ANA)


async def test_a_range_that_is_gone_is_looked_up_anew(
    server: CosmosServer, memories: ContainerProxy
) -> None:
    server.fault("gone", operations=["query"], times=1)
    ids = [row async for row in memories.query_items("SELECT VALUE c.id FROM c", partition_key=ANA)]
    assert ids == ["head"]
    assert ("query", 410) in operations(server)


async def test_any_status_can_be_asked_for(server: CosmosServer, memories: ContainerProxy) -> None:
    server.fault("status", status=403, substatus=5300, operations=["reads"])
    with pytest.raises(CosmosHttpResponseError) as caught:
        await memories.read_item("head", ANA)
    assert (caught.value.status_code, caught.value.sub_status) == (403, 5300)


async def test_a_batch_cut_before_it_was_read_is_sent_again_and_done_once(
    server: CosmosServer, memories: ContainerProxy
) -> None:
    server.fault("cut_before", operations=["batch"], times=1)
    await memories.execute_item_batch([("create", (document("m"),))], ANA)
    assert [status for operation, status in operations(server) if operation == "batch"] == [0, 200]


async def test_a_batch_cut_after_it_was_applied_comes_back_as_a_refusal_of_its_own_echo(
    server: CosmosServer, memories: ContainerProxy
) -> None:
    """The SDK resends by itself: the caller sees a 412, and yet its commit is there.
    Only a marker can tell.
    """
    head = await memories.read_item("head", ANA)
    server.fault("cut_after", operations=["batch"], times=1)
    commit = [
        ("replace", ("head", document("head", sequence=1)), {"if_match_etag": head["_etag"]}),
        ("create", (document("evt_c1_0"),)),
    ]
    with pytest.raises(CosmosBatchOperationError) as caught:
        await memories.execute_item_batch(commit, ANA)
    assert caught.value.status_code == 412
    assert [status for operation, status in operations(server) if operation == "batch"] == [
        200,
        207,
    ]
    assert (await memories.read_item("head", ANA))["sequence"] == 1
    await memories.read_item("evt_c1_0", ANA)


async def test_a_slow_answer_comes_late_but_comes(
    server: CosmosServer, memories: ContainerProxy
) -> None:
    server.fault("slow", operations=["read"], times=1, delay_ms=200)
    before = time.monotonic()
    await memories.read_item("head", ANA)
    assert time.monotonic() - before >= 0.15


async def test_a_request_that_the_client_gave_up_on_is_still_carried_out(
    server: CosmosServer, memories: ContainerProxy
) -> None:
    server.fault("slow", operations=["create"], times=1, delay_ms=1000)
    deadline, asking = (
        time.monotonic() + 10,
        asyncio.ensure_future(memories.create_item(document("m"))),
    )
    while struck(server) != [1]:  # given up before it arrived, it would not be carried out
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    while ("create", 201) not in operations(server):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)
    await memories.read_item("m", ANA)


async def test_a_rule_chooses_whom_it_strikes_and_when(
    server: CosmosServer, memories: ContainerProxy
) -> None:
    server.fault("retry_with", operations=["create"], key="ben", skip=1, times=1)
    await memories.create_item(document("m1", ANA))
    await memories.create_item(document("m1", BEN))
    with pytest.raises(CosmosHttpResponseError):
        await memories.create_item(document("m2", BEN))
    await memories.create_item(document("m3", BEN))
    assert struck(server) == [1]


async def test_in_a_storm_nothing_acknowledged_is_lost_and_nothing_refused_is_there_by_half(
    server: CosmosServer, memories: ContainerProxy
) -> None:
    for seed, kind in enumerate(
        ("throttle", "retry_with", "gone", "unavailable", "cut_before", "cut_after")
    ):
        server.fault(kind, operations=["batch"], probability=0.1, seed=seed)
    acknowledged, doubtful = set(), set()
    for number in range(80):
        pair = [("create", (document(f"a{number}"),)), ("create", (document(f"b{number}"),))]
        try:
            await memories.execute_item_batch(pair, ANA)
            acknowledged.add(number)
        except (HttpResponseError, AzureError):
            doubtful.add(number)
    assert all(struck(server))
    server.heal()
    stored = {
        row
        async for row in memories.query_items(
            "SELECT VALUE c.id FROM c WHERE c.id != 'head'", partition_key=ANA
        )
    }
    assert {f"{half}{number}" for number in acknowledged for half in "ab"} <= stored
    assert all((f"a{number}" in stored) == (f"b{number}" in stored) for number in doubtful)


async def test_the_log_says_what_was_asked_with_which_key_and_at_what_charge(
    server: CosmosServer, memories: ContainerProxy
) -> None:
    query = "SELECT * FROM c WHERE c.kind = 'memory'"
    assert [row async for row in memories.query_items(query, partition_key=ANA)]
    (asked,) = server.requests()
    assert (asked["operation"], asked["key"], asked["status"], asked["statement"]) == (
        "query",
        '["shop","ana"]',
        200,
        query,
    )
    assert asked["charge"] > 2


async def test_a_rule_that_makes_no_sense_is_refused(server: CosmosServer) -> None:
    with pytest.raises(Exception, match="400"):
        server.fault("melt")

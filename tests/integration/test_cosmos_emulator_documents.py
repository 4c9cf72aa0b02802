"""Documents in the emulator, written and read by the real SDK."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import uuid4

import pytest
from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError
from azure.cosmos.aio import ContainerProxy, DatabaseProxy
from azure.cosmos.exceptions import (
    CosmosAccessConditionFailedError,
    CosmosBatchOperationError,
    CosmosResourceExistsError,
    CosmosResourceNotFoundError,
)

from tests.cosmos_client import ANA, BEN, VECTORS, client_of, document, ids, memories_in
from tests.cosmos_server import CosmosServer, running

MEGABYTE = 1024 * 1024


@pytest.fixture(scope="module")
def server() -> Iterator[CosmosServer]:
    with running() as started:
        yield started


@pytest.fixture
async def database(server: CosmosServer) -> AsyncIterator[DatabaseProxy]:
    async with client_of(server.endpoint) as client:
        yield await client.create_database(uuid4().hex)


@pytest.fixture
async def memories(database: DatabaseProxy) -> ContainerProxy:
    return await memories_in(database)


async def refused(status: int, call: Any) -> HttpResponseError:
    with pytest.raises(HttpResponseError) as caught:
        await call
    assert caught.value.status_code == status, caught.value
    return caught.value


async def test_two_users_may_have_documents_of_one_id_and_neither_reads_the_others(
    memories: ContainerProxy,
) -> None:
    await memories.create_item(document("m", ANA, said="tea"))
    await memories.create_item(document("m", BEN, said="coffee"))
    assert (await memories.read_item("m", ANA))["said"] == "tea"
    assert (await memories.read_item("m", BEN))["said"] == "coffee"
    with pytest.raises(CosmosResourceNotFoundError):
        await memories.read_item("m", ["shop", "cem"])


async def test_a_write_under_an_old_tag_is_refused_and_changes_nothing(
    memories: ContainerProxy,
) -> None:
    first = await memories.create_item(document("m", turn=1))
    await memories.replace_item(
        "m",
        document("m", turn=2),
        etag=first["_etag"],
        match_condition=MatchConditions.IfNotModified,
    )
    with pytest.raises(CosmosAccessConditionFailedError):
        await memories.replace_item(
            "m",
            document("m", turn=3),
            etag=first["_etag"],
            match_condition=MatchConditions.IfNotModified,
        )
    with pytest.raises(CosmosAccessConditionFailedError):
        await memories.delete_item(
            "m", ANA, etag=first["_etag"], match_condition=MatchConditions.IfNotModified
        )
    assert (await memories.read_item("m", ANA))["turn"] == 2


async def test_every_write_makes_a_new_tag_even_of_the_same_body(memories: ContainerProxy) -> None:
    tags = {(await memories.upsert_item(document("m")))["_etag"] for _ in range(5)}
    assert len(tags) == 5


async def test_what_a_vector_was_written_as_is_what_is_read(memories: ContainerProxy) -> None:
    embedding = [0.123456789, -0.000012345, 1e-9, 1]
    await memories.create_item(document("m", embedding=embedding))
    assert (await memories.read_item("m", ANA))["embedding"] == embedding


async def test_a_batch_is_done_whole(memories: ContainerProxy) -> None:
    head = await memories.create_item(document("head", sequence=1))
    await memories.create_item(document("old"))
    results = await memories.execute_item_batch(
        [
            ("replace", ("head", document("head", sequence=2)), {"if_match_etag": head["_etag"]}),
            ("create", (document("evt_1"),)),
            ("upsert", (document("m"),)),
            ("patch", ("m", [{"op": "add", "path": "/seen", "value": True}])),
            ("read", ("m",)),
            ("delete", ("old",)),
        ],
        ANA,
    )
    assert [result["statusCode"] for result in results] == [200, 201, 201, 200, 200, 204]
    assert results[4]["resourceBody"]["seen"] is True
    assert sorted(await ids(memories.query_items("SELECT c.id FROM c", partition_key=ANA))) == [
        "evt_1",
        "head",
        "m",
    ]


@pytest.mark.parametrize(
    ("spoiler", "status"),
    [
        (("create", (document("taken"),)), 409),
        (("replace", ("taken", document("taken")), {"if_match_etag": '"stale"'}), 412),
        (("delete", ("never-there",)), 404),
        (("create", (document("other", BEN),)), 400),
        (("create", (document("short", embedding=[1, 0]),)), 400),
    ],
    ids=["taken id", "stale tag", "missing document", "another partition key", "wrong dimensions"],
)
async def test_a_batch_with_one_bad_operation_changes_nothing(
    memories: ContainerProxy, spoiler: Any, status: int
) -> None:
    before = await memories.create_item(document("taken"))
    operations = [
        ("create", (document("evt_1"),)),
        ("upsert", (document("taken", changed=True),)),
        spoiler,
    ]
    with pytest.raises(CosmosBatchOperationError) as caught:
        await memories.execute_item_batch(operations, ANA)
    assert caught.value.status_code == status
    assert [result["statusCode"] for result in caught.value.operation_responses] == [
        424,
        424,
        status,
    ]
    assert (await memories.read_item("taken", ANA)) == before
    with pytest.raises(CosmosResourceNotFoundError):
        await memories.read_item("evt_1", ANA)


@pytest.mark.parametrize("character", ["/", "\\", "#", "?"])
async def test_an_id_that_can_not_stand_in_an_address_is_refused(
    memories: ContainerProxy, character: str
) -> None:
    await refused(
        400, memories.execute_item_batch([("create", (document(f"mem{character}1"),))], ANA)
    )


async def test_a_hundred_operations_are_a_batch_and_one_more_is_not(
    memories: ContainerProxy,
) -> None:
    operations = [("create", (document(f"m{number}"),)) for number in range(101)]
    await refused(400, memories.execute_item_batch(operations, ANA))
    assert len(await memories.execute_item_batch(operations[:100], ANA)) == 100


# aiohttp, of any body over 1 MB
@pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")
async def test_two_megabytes_are_the_most_that_a_document_or_a_batch_may_have(
    memories: ContainerProxy,
) -> None:
    await memories.create_item(document("large", text="x" * (2 * MEGABYTE - 2000)))
    await refused(413, memories.create_item(document("larger", text="x" * 2 * MEGABYTE)))
    halves = [("create", (document(f"half{number}", text="x" * MEGABYTE),)) for number in range(2)]
    await refused(413, memories.execute_item_batch(halves, ANA))
    assert await ids(memories.query_items("SELECT c.id FROM c", partition_key=ANA)) == ["large"]


async def test_a_vector_of_other_dimensions_than_the_policys_is_refused(
    memories: ContainerProxy,
) -> None:
    error = await refused(400, memories.create_item(document("m", embedding=[1.0] * 3)))
    assert "3 dimensions" in error.message
    assert "says 4" in error.message
    await memories.create_item(document("m"))  # none at all is fine


async def test_a_missing_container_is_told_from_a_missing_document(
    database: DatabaseProxy, memories: ContainerProxy
) -> None:
    substatuses = []
    for container in (database.get_container_client("none"), memories):
        with pytest.raises(CosmosResourceNotFoundError) as caught:
            await container.read_item("m", ANA)
        substatuses.append(caught.value.sub_status)
    assert substatuses == [1003, None]


async def test_policies_are_given_back_and_those_that_are_fixed_stay(
    database: DatabaseProxy, memories: ContainerProxy
) -> None:
    known = await memories.read()
    assert known["vectorEmbeddingPolicy"] == VECTORS
    assert known["partitionKey"]["paths"] == ["/app_id", "/user_id"]
    assert known["defaultTtl"] == -1
    wider = {"vectorEmbeddings": [{**VECTORS["vectorEmbeddings"][0], "dimensions": 8}]}
    await refused(
        400,
        database.replace_container(memories, known["partitionKey"], vector_embedding_policy=wider),
    )
    too_wide = {"vectorEmbeddings": [{**VECTORS["vectorEmbeddings"][0], "dimensions": 5000}]}
    await refused(400, memories_in(database, "wide", vector_embedding_policy=too_wide))
    with pytest.raises(CosmosResourceExistsError):
        await memories_in(database)


async def test_time_to_live_is_the_documents_own_and_begins_anew_at_every_write(
    server: CosmosServer, memories: ContainerProxy
) -> None:
    await memories.create_item(document("receipt", ttl=60))
    await memories.create_item(document("step", ttl=60))
    await memories.create_item(document("memory"))
    server.advance(40)
    await memories.patch_item("step", ANA, [{"op": "set", "path": "/done", "value": True}])
    server.advance(40)
    assert sorted(await ids(memories.query_items("SELECT c.id FROM c", partition_key=ANA))) == [
        "memory",
        "step",
    ]
    with pytest.raises(CosmosResourceNotFoundError):
        await memories.read_item("receipt", ANA)
    await memories.create_item(document("receipt", ttl=60))  # its id is free again


async def test_without_a_default_a_container_ignores_time_to_live(
    server: CosmosServer, database: DatabaseProxy
) -> None:
    forever = await memories_in(database, default_ttl=None)
    await forever.create_item(document("m", ttl=1))
    server.advance(100)
    assert (await forever.read_item("m", ANA))["id"] == "m"


async def test_a_patch_does_all_of_its_operations_or_none(memories: ContainerProxy) -> None:
    await memories.create_item(document("m", count=1, tags=["a"], inner={"x": 1}))
    changed = await memories.patch_item(
        "m",
        ANA,
        [
            {"op": "incr", "path": "/count", "value": 2},
            {"op": "add", "path": "/tags/0", "value": "b"},
            {"op": "set", "path": "/tags/-", "value": "c"},
            {"op": "remove", "path": "/inner/x"},
            {"op": "replace", "path": "/kind", "value": "version"},
        ],
    )
    assert (changed["count"], changed["tags"], changed["inner"], changed["kind"]) == (
        3,
        ["b", "a", "c"],
        {},
        "version",
    )
    bad = [{"op": "incr", "path": "/count", "value": 1}, {"op": "remove", "path": "/never"}]
    await refused(400, memories.patch_item("m", ANA, bad))
    await refused(
        400, memories.patch_item("m", ANA, [{"op": "set", "path": "/user_id", "value": "ben"}])
    )
    assert (await memories.read_item("m", ANA))["count"] == 3


async def test_a_patch_whose_condition_does_not_hold_is_refused(memories: ContainerProxy) -> None:
    await memories.create_item(document("m", turn=1))
    later = [{"op": "set", "path": "/turn", "value": 2}]
    with pytest.raises(CosmosAccessConditionFailedError):
        await memories.patch_item(
            "m", ANA, later, filter_predicate="FROM c WHERE c.turn > 1 OR NOT IS_DEFINED(c.kind)"
        )
    await memories.patch_item("m", ANA, later, filter_predicate="FROM c WHERE c.turn = 1")
    assert (await memories.read_item("m", ANA))["turn"] == 2


async def test_deleting_a_partition_key_leaves_all_others(memories: ContainerProxy) -> None:
    for owner in (ANA, BEN):
        for number in range(3):
            await memories.create_item(document(f"m{number}", owner))
    await memories.delete_all_items_by_partition_key(ANA)
    assert await ids(memories.query_items("SELECT c.id FROM c", partition_key=ANA)) == []
    assert len(await ids(memories.query_items("SELECT c.id FROM c", partition_key=BEN))) == 3


async def test_a_container_made_anew_is_found_by_a_client_that_knew_the_old_one(
    database: DatabaseProxy, memories: ContainerProxy
) -> None:
    await memories.create_item(document("m"))
    await database.delete_container(memories)
    again = await memories_in(database)
    await again.create_item(document("n"))
    assert await ids(memories.query_items("SELECT c.id FROM c", partition_key=ANA)) == ["n"]


async def test_charges_grow_with_what_is_written_and_read(memories: ContainerProxy) -> None:
    def charge() -> float:
        return float(memories.client_connection.last_response_headers["x-ms-request-charge"])

    costs = []
    for id_, size in (("small", 100), ("large", 100_000)):
        await memories.create_item(document(id_, text="x" * size))
        costs.append(charge())
        await memories.read_item(id_, ANA)
        costs.append(charge())
    small_write, small_read, large_write, large_read = costs
    assert small_read == pytest.approx(2.0), "a read with Strong consistency counts twice"
    assert small_read < small_write < large_read < large_write

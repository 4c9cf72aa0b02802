"""The emulator as a process: what outlives it, what it outlives, and what its lagging
replica shows.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from azure.core import MatchConditions
from azure.cosmos import CosmosClient as SyncClient
from azure.cosmos import PartitionKey
from azure.cosmos.aio import ContainerProxy
from azure.cosmos.exceptions import (
    CosmosAccessConditionFailedError,
    CosmosHttpResponseError,
    CosmosResourceNotFoundError,
)

from tests.cosmos_client import ANA, client_of, document, memories_in
from tests.cosmos_server import KEY, ROOT, CosmosServer, running


async def test_killed_and_started_again_it_has_every_document_and_policy(tmp_path: Path) -> None:
    with running(tmp_path / "cosmos.db") as server:
        async with client_of(server.endpoint) as client:
            memories = await memories_in(await client.create_database("d"))
            first = await memories.create_item(
                document("m", embedding=[1, 0, 0, 0.123456789], search_text="tea")
            )
            await memories.create_item(document("gone"))
            await memories.delete_item("gone", ANA)
            await memories.create_item(document("brief", ttl=60))
        server.kill()
        server.start()
        server.advance(61)
        async with client_of(server.endpoint) as client:
            memories = client.get_database_client("d").get_container_client("memories")
            assert await memories.read_item("m", ANA) == first
            near = (
                "SELECT TOP 3 VALUE c.id FROM c ORDER BY VectorDistance(c.embedding, [1, 0, 0, 0])"
            )
            assert [row async for row in memories.query_items(near, partition_key=ANA)] == ["m"]
            assert [
                row
                async for row in memories.query_items("SELECT VALUE c.id FROM c", partition_key=ANA)
            ] == ["m"]
            changed = await memories.replace_item(
                "m",
                document("m"),
                etag=first["_etag"],
                match_condition=MatchConditions.IfNotModified,
            )
            assert changed["_etag"] != first["_etag"]


def test_it_ends_with_the_process_that_started_it() -> None:
    """A parent killed with -9 can not stop its children: they have to look."""
    parent = subprocess.Popen(
        [
            sys.executable,
            "-c",
            (
                "import os, subprocess, sys, time\n"
                "child = subprocess.Popen([sys.executable, '-m', 'tests.cosmos_emulator', "
                "'--parent-pid', str(os.getpid())])\n"
                "print(child.pid, flush=True)\n"
                "time.sleep(60)"
            ),
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    child = next(int(line) for line in parent.stdout if line.strip().isdigit())
    assert "endpoint" in parent.stdout.readline()  # it is up, and watches
    parent.kill()
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 20
    while _runs(child):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not (status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z")


def test_the_synchronous_sdk_works_as_well() -> None:
    with running() as server, SyncClient(server.endpoint, KEY) as client:
        container = client.create_database("d").create_container("c", PartitionKey("/pk"))
        container.execute_item_batch(
            [("create", ({"id": f"{n}", "pk": "p", "n": n},)) for n in range(5)], "p"
        )
        query = "SELECT TOP 2 VALUE c.n FROM c ORDER BY c.n DESC"
        assert list(container.query_items(query, enable_cross_partition_query=True)) == [4, 3]


@asynccontextmanager
async def two_sides(
    server: CosmosServer, **reader: Any
) -> AsyncIterator[tuple[ContainerProxy, ContainerProxy]]:
    """The same container by the account and by its lagging replica."""
    async with (
        client_of(server.endpoint) as writing,
        client_of(server.replica, **reader) as reading,
    ):
        await memories_in(await writing.create_database("d"))
        account, replica = (
            client.get_database_client("d").get_container_client("memories")
            for client in (writing, reading)
        )
        yield account, replica


async def seen(container: ContainerProxy) -> list[str]:
    return [
        row async for row in container.query_items("SELECT VALUE c.id FROM c", partition_key=ANA)
    ]


async def test_under_weak_consistency_a_replica_is_some_commits_behind_and_a_batch_arrives_whole() -> (  # noqa: E501
    None
):
    with running(consistency="Eventual") as server:
        async with two_sides(server) as (account, replica):
            await account.create_item(document("m1"))
            server.lag(commits=1)
            await account.execute_item_batch(
                [("create", (document("m2"),)), ("create", (document("m3"),))], ANA
            )
            assert await seen(replica) == ["m1"]
            with pytest.raises(CosmosResourceNotFoundError):
                await replica.read_item("m2", ANA)
            assert await seen(account) == ["m1", "m2", "m3"]
            await account.create_item(document("m4"))
            assert await seen(replica) == ["m1", "m2", "m3"]
            server.catch_up()
            assert await seen(replica) == ["m1", "m2", "m3", "m4"]


async def test_a_replica_may_lag_by_time() -> None:
    with running(consistency="Eventual") as server:
        async with two_sides(server) as (account, replica):
            server.lag(milliseconds=60_000)
            await account.create_item(document("m"))
            assert await seen(replica) == []
            server.advance(61)
            assert await seen(replica) == ["m"]


@pytest.mark.parametrize("consistency", ["Strong", "BoundedStaleness"])
async def test_a_strong_account_reads_the_truth_by_any_replica(consistency: str) -> None:
    with running(consistency=consistency) as server:
        async with two_sides(server) as (account, replica):
            server.lag(commits=100)
            await account.create_item(document("m"))
            assert await seen(replica) == ["m"]
            assert (await replica.read_item("m", ANA))["id"] == "m"


async def test_a_session_sees_its_own_writes_and_may_miss_those_of_others() -> None:
    with running(consistency="Session") as server:
        async with two_sides(server) as (account, replica):
            # the client learns the container, as it must before it can keep a session
            await replica.read()
            server.lag(commits=100)
            await account.create_item(document("theirs"))
            with pytest.raises(CosmosResourceNotFoundError):
                await replica.read_item("theirs", ANA)
            await replica.create_item(document("mine"))
            assert (await replica.read_item("mine", ANA))["id"] == "mine"
            assert await seen(replica) == ["theirs", "mine"]


async def test_a_write_by_the_replica_is_judged_by_the_truth() -> None:
    with running(consistency="Eventual") as server:
        async with two_sides(server) as (account, replica):
            await account.create_item(document("head", sequence=1))
            server.lag(commits=100)
            await account.upsert_item(document("head", sequence=2))
            stale = await replica.read_item("head", ANA)
            assert stale["sequence"] == 1
            with pytest.raises(CosmosAccessConditionFailedError):
                await replica.replace_item(
                    "head",
                    stale,
                    etag=stale["_etag"],
                    match_condition=MatchConditions.IfNotModified,
                )


async def test_a_client_can_not_ask_for_more_consistency_than_the_account_has() -> None:
    with running(consistency="Session") as server:
        async with client_of(server.endpoint) as writing:
            await (await memories_in(await writing.create_database("d"))).create_item(document("m"))
        async with client_of(server.endpoint, consistency_level="Strong") as asking:
            memories = asking.get_database_client("d").get_container_client("memories")
            with pytest.raises(CosmosHttpResponseError) as caught:
                await memories.read_item("m", ANA)
            assert caught.value.status_code == 400


async def test_many_clients_at_once_make_one_order_of_commits() -> None:
    with running() as server:
        async with client_of(server.endpoint) as client:
            memories = await memories_in(await client.create_database("d"))
            await memories.create_item(document("head", sequence=0))

            async def count(by: int) -> int:
                won = 0
                for _ in range(by):
                    head = await memories.read_item("head", ANA)
                    head["sequence"] += 1
                    try:
                        await memories.replace_item(
                            "head",
                            head,
                            etag=head["_etag"],
                            match_condition=MatchConditions.IfNotModified,
                        )
                        won += 1
                    except CosmosAccessConditionFailedError:
                        pass
                return won

            won = sum(await asyncio.gather(*(count(10) for _ in range(5))))
            assert (await memories.read_item("head", ANA))["sequence"] == won
            assert won >= 10

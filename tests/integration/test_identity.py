"""Signing in without any key: Cosmos DB, queues and archive, over HTTPS, with tokens from the
identity endpoint of an app on Azure.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from azure.storage.blob import BlobServiceClient
from azure.storage.queue import QueueServiceClient

from memory_core.adapters.azure_storage.account import StorageAccount
from memory_core.adapters.azure_storage.blob_archive import BlobArchive
from memory_core.adapters.azure_storage.queue import StorageQueue
from memory_core.adapters.cosmos.store import CosmosStore
from memory_core.adapters.queue_rules import QUEUES
from memory_core.domain.errors import Unavailable
from tests import azurite_server, cosmos_server, managed_identity
from tests.azurite_server import AzuriteServer
from tests.builders import StillClock
from tests.certificates import self_signed
from tests.host import DIMENSIONS, running, save

CLIENT_ID = "2c3e5a1e-6c5f-4a52-9a51-0d4c8f7b6a10"
NOWHERE = "https://127.0.0.1:9/"
FINISHED_S = 30


async def infrastructure(cosmos: str, azurite: AzuriteServer, trusted: Path) -> None:
    """What Bicep and Terraform make, with keys; the app's identity may not."""
    key = cosmos_server.KEY
    store = CosmosStore(
        cosmos,
        "memory-core",
        clock=StillClock(),
        embedding_model="hash",
        dimensions=DIMENSIONS,
        key=key,
    )
    await store.provision()
    await store.close()
    trust: dict[str, Any] = {"connection_verify": str(trusted)}
    with QueueServiceClient.from_connection_string(azurite.connection_string, **trust) as queues:
        for name in QUEUES:
            queues.create_queue(name)
    with BlobServiceClient.from_connection_string(azurite.connection_string, **trust) as blobs:
        blobs.create_container("archive")


def test_an_app_without_any_key_keeps_memories_works_by_queues_and_writes_blobs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # where HTTPS leads through a proxy, these servers are not behind it
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    trusted = self_signed(tmp_path / "tls.pem")
    with (
        managed_identity.running() as identity,
        cosmos_server.running(certificate=trusted) as cosmos,
        azurite_server.running(certificate=trusted) as azurite,
    ):
        asyncio.run(infrastructure(cosmos.endpoint, azurite, trusted))
        settings: dict[str, Any] = {
            "MEMORY_LONG_TERM": "cosmos",
            "MEMORY_COSMOS_ENDPOINT": cosmos.endpoint,
            "MEMORY_QUEUE": "storage",
            "MEMORY_QUEUE_ACCOUNT_URL": azurite.url("queue"),
            "MEMORY_ARCHIVE": "blob",
            "MEMORY_ARCHIVE_ACCOUNT_URL": azurite.url("blob"),
            "MEMORY_IDENTITY_CLIENT_ID": CLIENT_ID,
            "SSL_CERT_FILE": str(trusted),
        }
        with running(tmp_path, **(settings | identity.environment)) as client:
            save(client, "ana", "Ana moved to Lisbon in May")
            exported = client.post("/api/v1/users/ana/export")
            assert exported.status_code == 202, exported.text
            task, deadline = exported.json()["task_id"], time.monotonic() + FINISHED_S
            while (
                client.get(f"/api/v1/tasks/{task}", params={"user_id": "ana"}).json()["status"]
                != "succeeded"
            ):
                assert time.monotonic() < deadline
                time.sleep(0.05)
            assert (
                "memory-core-export"
                in client.get(f"/api/v1/users/ana/export/{task}", params={"part": "1"}).text
            )
        assert {client_id for _, client_id, _ in identity.asked} == {CLIENT_ID}
        assert {token for _, _, token in identity.asked} == {managed_identity.SECRET}
        assert {resource for resource, _, _ in identity.asked} == {
            "https://storage.azure.com",
            "https://127.0.0.1",
        }


async def of_cosmos() -> None:
    store = CosmosStore(NOWHERE, "db", clock=StillClock(), embedding_model="test", dimensions=8)
    try:
        await store.open()
    finally:
        await store.close()


async def of_queue() -> None:
    queue = StorageQueue(StorageAccount(url=NOWHERE), clock=StillClock())
    try:
        await queue.send("formation", "a")
    finally:
        await queue.close()


async def of_archive() -> None:
    archive = BlobArchive(StorageAccount(url=NOWHERE), "archive", clock=StillClock())
    await archive.open()
    try:
        await archive.get("a")
    finally:
        await archive.close()


@pytest.mark.parametrize("call", [of_cosmos, of_queue, of_archive])
async def test_an_app_whom_nobody_gives_a_token_is_told_that_it_could_not_sign_in(
    call: Callable[[], Awaitable[None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AZURE_CLIENT_ID", "AZURE_TENANT_ID", "AZURE_CLIENT_SECRET"):
        monkeypatch.delenv(name, raising=False)
    # The chain has one link then, which fails at once without its variables.
    monkeypatch.setenv("AZURE_TOKEN_CREDENTIALS", "EnvironmentCredential")
    with pytest.raises(Unavailable, match="refused us: identity, key") as refused:
        await call()
    assert refused.value.retry_after_s == 30

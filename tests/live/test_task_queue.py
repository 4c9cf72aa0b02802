"""The queues' whole contract, on a real storage account."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from uuid import uuid4

import pytest
from azure.storage.queue import QueueServiceClient

from memory_core.adapters.azure_storage.account import StorageAccount
from memory_core.adapters.azure_storage.queue import StorageQueue
from memory_core.adapters.system import SystemClock
from tests.contract.test_task_queue import *  # noqa: F403
from tests.live.account import Live, Refused, own_queues

pytestmark = pytest.mark.live
NOWHERE = "AccountName=devstoreaccount1;AccountKey=a2V5;QueueEndpoint=http://127.0.0.1:9/devstoreaccount1;"


class Queues:
    """The queues of the account, whose clock is its own."""

    def __init__(self, account: StorageAccount) -> None:
        self._account = account

    def process(self) -> StorageQueue:
        return StorageQueue(self._account, clock=SystemClock())

    def down(self) -> StorageQueue:
        return StorageQueue(StorageAccount(NOWHERE), clock=SystemClock())

    async def passes(self, seconds: int) -> None:
        await asyncio.sleep(seconds)


@pytest.fixture(scope="module")
def service(live: Live) -> Iterator[QueueServiceClient]:
    if live.queues is None:
        pytest.skip("no storage account is named for queues")
    try:
        with own_queues(live) as made:
            yield made
    except Refused as refused:
        pytest.exit(str(refused), returncode=2)


@pytest.fixture
def place(live: Live, service: QueueServiceClient) -> Queues:
    assert live.queues is not None
    return Queues(live.queues)


@pytest.fixture
def name(service: QueueServiceClient) -> Iterator[str]:
    """A queue that no other test uses, with the two that are named after it."""
    queue = f"work-{uuid4().hex}"
    made = [queue, f"{queue}-poison", f"{queue}-x"]
    for queue_name in made:
        service.create_queue(queue_name)
    yield queue
    for queue_name in made:
        service.delete_queue(queue_name)

"""All that Memory Core needs in Azure, on this machine: the Cosmos DB emulator,
a redis-server and Azurite, on free ports.

Note: nothing here makes the product behave otherwise. It gets settings as an app on
Azure does, and uses the same SDKs. Only what the infrastructure makes there is made otherwise: the
container of memories here, queues and blob container by the adapters.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from azure.cosmos.aio import CosmosClient

from memory_core.adapters.cosmos.container import provision
from tests.azurite_server import AzuriteServer
from tests.cosmos_server import KEY, CosmosServer
from tests.redis_server import RedisServer

CONTAINER = "memories"


class AzureStores:
    """The three servers. With a `data` folder, memories, messages and blobs are there again after
    `stop` and `start`.
    """

    def __init__(self, data: Path | None = None) -> None:
        self.cosmos = CosmosServer(data and data / "cosmos.db")
        self.redis = RedisServer()
        self.azurite = AzuriteServer(data and data / "azurite")

    def start(self) -> None:
        """Start all three and return once they answer."""
        self.cosmos.start()
        self.redis.start()
        self.azurite.start()

    def stop(self) -> None:
        """End all that run."""
        self.azurite.stop()
        self.redis.kill()
        self.cosmos.kill()

    def settings(self, database: str = "memory-core") -> dict[str, str]:
        """The environment of an app that uses them."""
        return {
            "MEMORY_LONG_TERM": "cosmos",
            "MEMORY_COSMOS_ENDPOINT": self.cosmos.endpoint,
            "MEMORY_COSMOS_KEY": KEY,
            "MEMORY_COSMOS_DATABASE": database,
            "MEMORY_SHORT_TERM": "redis",
            "MEMORY_REDIS_URL": self.redis.url,
            "MEMORY_QUEUE": "storage",
            "MEMORY_QUEUE_CONNECTION": self.azurite.connection_string,
            "MEMORY_ARCHIVE": "blob",
            "MEMORY_ARCHIVE_CONNECTION": self.azurite.connection_string,
            "MEMORY_WEBHOOK_SECRET": "signs what emulators tell",
        }

    async def provision(self, dimensions: int, database: str = "memory-core") -> None:
        """Make the container if it is not there. dimensions: length of the embedder's vectors."""
        async with CosmosClient(self.cosmos.endpoint, KEY) as client:
            await provision(client, database, CONTAINER, dimensions, "quantizedFlat")


@contextmanager
def running(data: Path | None = None) -> Iterator[AzureStores]:
    """All three for as long as the block runs."""
    stores = AzureStores(data)
    try:
        stores.start()
        yield stores
    finally:
        stores.stop()

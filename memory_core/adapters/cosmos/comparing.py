"""Whether the live container and its account are as the settings say: asked when the store opens, and whenever readiness is.

Note: the SDK has no public call for the account's consistency, which is half of what the store's promises rest on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memory_core.adapters.cosmos.connection import Connection
from memory_core.adapters.cosmos.embedder import EmbedderRecord
from memory_core.adapters.cosmos.policies import Consistency, check_consistency, check_dimensions, check_policies

if TYPE_CHECKING:
    from azure.cosmos.aio import ContainerProxy


async def compare(connection: Connection, embedder: EmbedderRecord, dimensions: int, wanted: Consistency) -> str:
    """The account's consistency. Raises Unavailable or EmbeddingMismatch for what is not as it should be, naming both sides."""
    properties = await _properties(connection)
    check_policies(properties)
    await embedder.check()
    check_dimensions(properties, dimensions)
    level = await _consistency(connection)
    check_consistency(level, wanted)
    return level


async def _properties(connection: Connection) -> dict[str, Any]:
    async def read(container: ContainerProxy) -> dict[str, Any]:
        return dict(await container.read())

    return await connection.read(read)


async def _consistency(connection: Connection) -> str:
    async def read(_: ContainerProxy) -> str:
        client = await connection.client()
        account = await client._get_database_account()
        return str((account.ConsistencyPolicy or {}).get("defaultConsistencyLevel", "unknown"))

    return await connection.read(read)

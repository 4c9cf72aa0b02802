"""For compose.yaml: make database and container on the emulator of Cosmos DB, as the infrastructure
code does on Azure: `python -m deployment.compose`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping

from memory_core.adapters.cosmos.store import CosmosStore
from memory_core.adapters.system import SystemClock
from memory_core.bootstrap.adapters import MODEL_DIMENSIONS
from memory_core.config import Settings

MINILM = 384


async def provision(environ: Mapping[str, str]) -> None:
    """Make what is missing. Raises Unavailable while the emulator starts."""
    settings = Settings.from_env(environ)
    dimensions = settings.embedding_dimensions or MODEL_DIMENSIONS.get(
        settings.embedding_model or "", MINILM
    )
    store = CosmosStore(
        str(settings.cosmos_endpoint),
        settings.cosmos_database,
        clock=SystemClock(),
        embedding_model=settings.embedding_model or settings.embedding_provider,
        dimensions=dimensions,
        key=settings.cosmos_key.get_secret_value() if settings.cosmos_key else None,
    )
    try:
        await store.provision()
    finally:
        await store.close()


if __name__ == "__main__":
    asyncio.run(provision(os.environ))

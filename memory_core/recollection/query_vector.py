"""The vector of a query, if the embedder makes it in time; else the words alone must do, and the answer says so.

One would get wrong: what "in time" means is the embedder's own to say. One behind a network has a deadline, and after several that passed
it refuses at once. One in this process can't hang, and its first call loads it, which may take longer on a busy machine: nobody is helped
by an answer without it.
"""

from __future__ import annotations

import logging

from memory_core.domain.errors import EmbeddingMismatch, Unavailable
from memory_core.domain.models import Vector
from memory_core.ports import Embedder

log = logging.getLogger(__name__)
EMBEDDER = "embedder"
"""How an answer names what it did without."""


async def query_vector(embedder: Embedder, text: str) -> tuple[Vector | None, tuple[str, ...]]:
    """The vector, and what was done without: nothing, or the embedder. Raises EmbeddingMismatch."""
    try:
        return await embedder.embed_query(text), ()
    except EmbeddingMismatch:
        raise
    except Unavailable as error:
        log.warning("going on without a query's vector: %s", error.detail)
    return None, (EMBEDDER,)


async def no_vector() -> tuple[Vector | None, tuple[str, ...]]:
    """What `query_vector` answers without the embedder, for a round after one that waited in vain."""
    return None, (EMBEDDER,)

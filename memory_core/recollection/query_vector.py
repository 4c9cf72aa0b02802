"""The vector of a query, if the embedder makes it in time; else the words alone must do, and the answer says so.

One would get wrong: the deadline is for a model behind a network. One in this process can't hang, and its first call loads it, which may
take longer on a busy machine: nobody is helped by an answer without it. Work that is given up on goes on behind a cache of vectors, so
that the same question asked again finds it there.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from memory_core.domain.errors import EmbeddingMismatch, Unavailable
from memory_core.domain.models import Vector
from memory_core.ports import Embedder

log = logging.getLogger(__name__)
EMBEDDER = "embedder"
"""How an answer names what it did without."""


@dataclass(frozen=True, slots=True)
class QueryVector:
    """An embedder and how many seconds a query may wait for it; None = as long as it takes."""

    embedder: Embedder
    deadline_s: float | None

    async def of(self, text: str) -> tuple[Vector | None, tuple[str, ...]]:
        """The vector, and what was done without: nothing, or the embedder. Raises EmbeddingMismatch."""
        try:
            async with asyncio.timeout(self.deadline_s):
                return (await self.embedder.embed([text]))[0], ()
        except TimeoutError:
            log.warning("the embedder gave no vector of a query within %g s", self.deadline_s)
        except EmbeddingMismatch:
            raise
        except Unavailable as error:
            log.warning("going on without a query's vector: %s", error.detail)
        return None, (EMBEDDER,)


async def no_vector() -> tuple[Vector | None, tuple[str, ...]]:
    """What `QueryVector.of` answers without the embedder, for a round after one that waited in vain."""
    return None, (EMBEDDER,)

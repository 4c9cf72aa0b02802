"""A fixed pseudo-random unit vector for each text, for benches and tests only.

It knows no meaning. Equal texts have cosine 1, and any two different texts about 0 (standard
deviation 1/√d). It costs 5 µs a text, so that a measurement shows the product and not a model.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from hashlib import shake_128

import numpy as np

from memory_core.domain.memory import Vector
from memory_core.domain.ranking.vectors import TokenStates
from memory_core.ports import Health


class HashEmbedder:
    """The embedder of `EMBEDDING_PROVIDER=hash`."""

    def __init__(self, dimensions: int = 384) -> None:
        self._dimensions = dimensions

    @property
    def model(self) -> str:
        """Name and version."""
        return "hash-1"

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return self._dimensions

    @property
    def whole_query(self) -> int:
        """No limit: a query of any length is read completely."""
        return sys.maxsize

    async def open(self) -> None:
        """Return at once, since there is no model to load."""

    async def close(self) -> None:
        """Return at once, since there is no resource to release."""

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Embed each text as a vector, the same on every machine and in every process."""
        return [self._vector(text) for text in texts]

    async def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        """Embed as `embed` does."""
        return await self.embed(texts)

    async def token_states(self, texts: Sequence[str]) -> list[TokenStates | None]:
        """None for each text, since there are no token states."""
        return [None] * len(texts)

    async def check(self) -> Health:
        """Always ok."""
        return Health("hash", "ok", 0.0)

    def _vector(self, text: str) -> Vector:
        # 16 bits a coordinate from an extendable hash; + 0.5 centres them and keeps the length from
        # being 0. A text may hold lone surrogates here: refusing them is the door's business.
        noise = shake_128(text.encode("utf-8", "surrogatepass")).digest(2 * self._dimensions)
        vector = np.frombuffer(noise, dtype="<i2").astype(np.float32) + np.float32(0.5)
        vector /= np.sqrt(vector @ vector)
        return vector

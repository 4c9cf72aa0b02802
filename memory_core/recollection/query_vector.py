"""The vectors of a query, if the embedder makes them in time; else the words alone must do, and the answer says so.

Note: what "in time" means is the embedder's own to say. One behind a network has a deadline, and after several that passed
it refuses at once. One in this process can't hang, and its first call loads it, which may take longer on a busy machine: an answer
without it would help no caller.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from memory_core.domain.errors import EmbeddingMismatch, Unavailable
from memory_core.domain.models import Vector
from memory_core.domain.token_states import TokenStates
from memory_core.ports import Embedder

log = logging.getLogger(__name__)
EMBEDDER = "embedder"
"""How an answer names what it did without."""


async def query_vectors(embedder: Embedder, texts: Sequence[str]) -> tuple[tuple[Vector, ...], tuple[str, ...]]:
    """A vector for each text or none at all, and what was done without: nothing, or the embedder. Raises EmbeddingMismatch."""
    try:
        return tuple(await embedder.embed_queries(texts)), ()
    except EmbeddingMismatch:
        raise
    except Unavailable as error:
        log.warning("going on without a query's vector: %s", error.detail)
    return (), (EMBEDDER,)


async def asked_tokens(embedder: Embedder, texts: Sequence[str]) -> tuple[TokenStates, ...]:
    """The tokens of each text, or nothing: what is only for the order is not worth a failure, nor a word in the answer."""
    try:
        states = await embedder.token_states(texts)
    except Unavailable as error:
        log.warning("going on without a query's tokens: %s", error.detail)
        return ()
    tokens = [token_states for token_states in states if token_states is not None]
    return tuple(tokens) if len(tokens) == len(texts) else ()


async def no_vectors() -> tuple[tuple[Vector, ...], tuple[str, ...]]:
    """What `query_vectors` answers without the embedder, for a round after one that waited in vain."""
    return (), (EMBEDDER,)

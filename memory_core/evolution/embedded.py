"""Memories get what an embedder makes of their texts: the vector, and the states of the tokens where they are kept."""

from __future__ import annotations

from collections.abc import Sequence

from memory_core.domain.indexing import text_to_embed
from memory_core.domain.models import Memory
from memory_core.ports import Embedder


async def embed_memories(embedder: Embedder, memories: Sequence[Memory]) -> None:
    """Embed all of them in one call. Raises Unavailable."""
    texts = [text_to_embed(memory) for memory in memories]
    vectors = await embedder.embed(texts)
    states = await embedder.token_states(texts)
    for memory, vector, token_states in zip(memories, vectors, states, strict=True):
        memory.embedding = vector
        memory.embedding_model = embedder.model
        memory.embedding_dimensions = embedder.dimensions
        if token_states is not None:
            memory.lexical = memory.lexical.model_copy(update={"states": token_states.kept})

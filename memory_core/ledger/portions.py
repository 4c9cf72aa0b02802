"""How much fits into one commit of an operation: memories that it changes one by one, each with its event."""

from __future__ import annotations

from collections.abc import Iterable

import orjson

from memory_core.domain.models import Memory

DOCUMENTS = 90
"""Of the hundred of a batch; the others are the head, the operation, its task and what an end of it announces."""
BYTES = 1_400_000
"""Of the 1.8 MB of a batch; an operation with the ids of all that it has to do takes some of the rest."""
_NUMBER_BYTES, _EVENT_BYTES = 13, 700


class Portion:
    """The room that is left in a commit."""

    def __init__(self, documents: int = DOCUMENTS, size: int = BYTES) -> None:
        self._documents, self._size, self._empty = documents, size, True

    def takes(self, documents: int, size: int) -> bool:
        """Take so much, if there is room for it; the first always has, or nothing would ever go on."""
        if not self._empty and (documents > self._documents or size > self._size):
            return False
        self._documents, self._size, self._empty = self._documents - documents, self._size - size, False
        return True


def size_of(*memories: Memory) -> int:
    """Bytes that memories, their vectors and an event of each take in a batch, about."""
    numbers = sum(len(memory.embedding) for memory in memories if memory.embedding is not None)
    return sum(len(memory.model_dump_json()) for memory in memories) + _NUMBER_BYTES * numbers + _EVENT_BYTES * len(memories)


def size_of_bodies(bodies: Iterable[object]) -> int:
    """Bytes of JSON."""
    return sum(len(orjson.dumps(body)) for body in bodies)

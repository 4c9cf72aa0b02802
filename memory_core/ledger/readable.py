"""Memories read from a store whose documents may be damaged.

`memory_in` and `as_memory` raise Damaged. `readable` and `readable_shown` are for callers that go
on without the damaged memories.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from pydantic import ValidationError

from memory_core.domain.errors import Damaged, damaged_memory
from memory_core.domain.memory import Head, Memory
from memory_core.domain.scope import Owner
from memory_core.domain.serialized_memory import SerializedMemory
from memory_core.ports import Document, Filter, LongTermStore

log = logging.getLogger(__name__)
NONE_AT_HAND: Final[Mapping[str, Memory]] = MappingProxyType({})


def memory_in(document: Document) -> Memory:
    """The memory in a document, without its vector. Raises Damaged."""
    if document.damaged:
        raise damaged_memory(document.id)
    try:
        return Memory.model_validate(document.body)
    except ValidationError as error:
        raise damaged_memory(document.id) from error


def as_memory(document: Document, head: Head | None) -> Memory | None:
    """The memory in a document, with its vector.

    Args:
        document: As it was read.
        head: The present head; None for a user without writes.

    Returns:
        None if the document is of another epoch (left over from an erased user).

    Raises:
        Damaged: The document can't be read.

    """
    if head is None or document.body.get("epoch", head.epoch) != head.epoch:
        return None
    memory = memory_in(document)
    memory.embedding = document.vector
    return memory


def readable(documents: Iterable[Document]) -> tuple[list[Memory], list[Document]]:
    """The memories of these documents, without vectors, and the damaged documents.

    The damaged documents are logged.
    """
    memories, damaged = list[Memory](), list[Document]()
    for document in documents:
        try:
            memories.append(memory_in(document))
        except Damaged as error:
            log.error("left out: %s", error.detail)
            damaged.append(document)
    return memories, damaged


def readable_shown(
    serialised: Mapping[str, SerializedMemory],
) -> tuple[dict[str, Memory], list[str]]:
    """The memories by id, and the ids of damaged memories, which are logged."""
    memories, damaged = dict[str, Memory](), list[str]()
    for name, memory_json in serialised.items():
        try:
            memories[name] = memory_json.memory
        except Damaged as error:
            log.error("left out: %s", error.detail)
            damaged.append(name)
    return memories, damaged


async def memories_of(
    store: LongTermStore,
    owner: Owner,
    names: Sequence[str],
    at_hand: Mapping[str, Memory] = NONE_AT_HAND,
    seen: Head | None = None,
    where: Filter | None = None,
) -> dict[str, Memory]:
    """Memories by id: from a search, or read if the search did not bring them.

    Damaged memories are left out, and logged.

    Args:
        store: Store to read the missing memories from.
        owner: Whose memories they are.
        names: Ids of the memories.
        at_hand: Memories that a search brought along, by id.
        seen: The head that the search has read.
        where: The filter of the search.

    Raises:
        Unavailable: The store is down.

    """
    known = {name: at_hand[name] for name in names if name in at_hand}
    missing = [name for name in names if name not in known]
    return known | (
        readable_shown(await store.memories(owner, missing, where, seen=seen))[0] if missing else {}
    )

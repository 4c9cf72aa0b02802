"""Find the standing instructions that were made of messages."""

from __future__ import annotations

from collections.abc import Collection

from memory_core.domain.memory import Memory, MemoryType, Status
from memory_core.domain.scope import Owner
from memory_core.domain.statements.wishes import INSTRUCTION
from memory_core.ledger.readable import readable
from memory_core.ports import Filter, LongTermStore, Place

MADE_OF = "message_id"
"""In an instruction's metadata: the id of the message that gave it."""
_A_PAGE = 100
_ALL = frozenset(status.value for status in Status)


async def instructions_of(
    store: LongTermStore, owner: Owner, message_ids: Collection[str]
) -> list[Memory]:
    """The instructions that messages gave, of any status, the latest first.

    Args:
        store: Where they are.
        owner: Whose they are.
        message_ids: Ids of the messages.

    Raises:
        Unavailable: The store is down.

    """
    where = Filter(
        _ALL, types=frozenset({MemoryType.PROCEDURAL.value}), categories=frozenset({INSTRUCTION})
    )
    instructions, after = list[Memory](), None
    while True:
        documents = await store.page(owner, "memory", where, after, _A_PAGE)
        memories, _ = readable(documents)
        instructions += [
            memory for memory in memories if memory.metadata.get(MADE_OF) in message_ids
        ]
        if len(documents) < _A_PAGE:
            return instructions
        after = Place(documents[-1].body["sequence"], documents[-1].id)

"""Messages as memories, for tests: the messages of a user, by text, and the cell that they were
formed into.
"""

from __future__ import annotations

from memory_core.core import MemoryCore
from memory_core.domain.memory import Memory
from memory_core.domain.messages import MESSAGE, is_message
from memory_core.domain.scope import Owner
from tests.builders import ALICE
from tests.world import listed


async def messages(core: MemoryCore, owner: Owner = ALICE) -> dict[str, Memory]:
    """All messages, by their text, whatever their status."""
    return {
        memory.content: memory
        for memory in await listed(core, owner, status="all", category=MESSAGE)
    }


async def the_cell(core: MemoryCore, word: str, owner: Owner = ALICE) -> Memory:
    """The cell that tells a word."""
    (memory,) = [
        memory
        for memory in await listed(core, owner, status="all", category="cell")
        if word in (memory.episode or memory.content)
    ]
    return memory


def without_messages(memories: list[Memory]) -> list[Memory]:
    """What was saved, or formed."""
    return [memory for memory in memories if not is_message(memory.id)]

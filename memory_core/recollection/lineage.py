"""What became of a memory and what it came from: as a list in order, and as the graph that the pages and drawings show."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Literal

from memory_core.domain.models import Memory
from memory_core.domain.results import Evolution
from memory_core.domain.scope import Owner
from memory_core.evolution.chains import Chains
from memory_core.ledger.readable import readable_shown
from memory_core.ports import LongTermStore
from memory_core.recollection.graph.dot import as_dot
from memory_core.recollection.graph.graph import MAX_NODES, Graph, mentioned, of_memories
from memory_core.recollection.graph.mermaid import as_mermaid
from memory_core.recollection.graph.page import as_page

Direction = Literal["forward", "backward", "both"]
GraphFormat = Literal["mermaid", "dot", "html"]
_FORMATS: dict[GraphFormat, Callable[[Graph], str]] = {"mermaid": as_mermaid, "dot": as_dot, "html": as_page}


class Lineage:
    """Reads along `next_id`; another owner's memory is told apart from none by nothing."""

    def __init__(self, store: LongTermStore) -> None:
        self._store, self._chains = store, Chains(store)

    async def chain(self, owner: Owner, memory_id: str, direction: Direction) -> Evolution:
        """The memory with its successors (`forward`), with what led to it (`backward`: nearest first), or all from the oldest on (`both`).

        Raises NotFound.
        """
        start = await self._chains.start(owner, memory_id)
        if direction == "forward":
            ahead = await self._chains.forward(owner, start)
            return Evolution((start, *ahead.memories), ahead.complete)
        behind = await self._chains.backward(owner, [start])
        if direction == "backward":
            return Evolution((start, *behind.memories), behind.complete)
        ahead = await self._chains.forward(owner, start)
        known = {memory.id for memory in ahead.memories}  # of a cycle, what lies ahead lies behind too
        before = (memory for memory in reversed(behind.memories) if memory.id not in known)
        return Evolution((*before, start, *ahead.memories), ahead.complete and behind.complete)

    async def graph(self, owner: Owner, memory_id: str) -> Graph:
        """The whole tree that the memory belongs to, with the cells that told its facts and what it is linked with. Raises NotFound."""
        start = await self._chains.start(owner, memory_id)
        ahead = await self._chains.forward(owner, start, MAX_NODES - 1)
        trunk = [start, *ahead.memories]
        behind = await self._chains.backward(owner, trunk, MAX_NODES - len(trunk))
        tree = [*trunk, *behind.memories]
        beside, complete = await self._beside(owner, start, tree)
        return of_memories(start, tree, beside, complete=complete and ahead.complete and behind.complete)

    async def drawing(self, owner: Owner, memory_id: str, format: GraphFormat) -> str:
        """The graph as source of a drawing, or as a page of its own. Raises NotFound."""
        graph = await self.graph(owner, memory_id)
        return await asyncio.to_thread(_FORMATS[format], graph)  # a page of 60 memories takes 10 ms

    async def _beside(self, owner: Owner, asked: Memory, tree: list[Memory]) -> tuple[list[Memory], bool]:
        """The memories that those of the tree name, as far as there is room for them; and whether there was for all."""
        known = {memory.id for memory in tree}
        wanted = [name for name in mentioned(asked, tree) if name not in known and "." not in name]
        room = MAX_NODES - len(tree)
        memories, damaged = readable_shown(await self._store.memories(owner, wanted[:room]) if wanted[:room] else {})
        return [memories[name] for name in wanted if name in memories], len(wanted) <= room and not damaged

"""What a decision has read of the store, and the demand to read more.

What a decision and its completion have read of the store.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from memory_core.domain.memory import Memory, MemoryType
from memory_core.domain.scope import Owner
from memory_core.domain.truth.slots import SlotName, slot_name
from memory_core.ledger.commit import Look
from memory_core.ledger.readable import as_memory
from memory_core.ports import Document, LongTermStore, Near

PROCEDURAL: Final = frozenset({MemoryType.PROCEDURAL.value})


def near_of(name: SlotName) -> Near:
    """What a look is asked for to see the members of a slot, but for what is deleted."""
    if name[0] == "key":
        return Near(None, PROCEDURAL, 1.0, key=name[1])
    return Near(None, frozenset({MemoryType.SEMANTIC.value}), 1.0, (name[1], name[2]))


@dataclass(slots=True)
class Shelf:
    """What a decision and its completion have read.

    nears: what the look was asked for. near_memories: the memories that it found by these,
    by their ids.
    """

    store: LongTermStore
    owner: Owner
    look: Look
    nears: Sequence[Near] = ()
    documents: dict[str, Document] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    near_memories: dict[str, Memory] = field(init=False)

    def __post_init__(self) -> None:
        near = [
            neighbour.memory for group in (*self.look.near, self.look.merged) for neighbour in group
        ]
        self.near_memories = {memory.id: memory for memory in near}
        self.asked |= self.look.asked

    async def read(self, ids: Collection[str]) -> None:
        """Read documents, as far as they have not been asked for. Raises Unavailable."""
        known = self.look.documents.keys() | self.near_memories.keys() | self.asked
        wanted = [name for name in dict.fromkeys(ids) if name not in known]
        if wanted:
            self.asked |= {*wanted}
            self.documents |= (await self.store.snapshot(self.owner, wanted)).documents

    def document(self, name: str) -> Document | None:
        """A document that was read."""
        return self.look.documents.get(name) or self.documents.get(name)

    def memory(self, name: str) -> Memory | None:
        """A memory, or an old version, that was read."""
        document = self.document(name)
        if document is None and name in self.near_memories:
            return self.near_memories[name]
        if document is None or document.kind not in ("memory", "version"):
            return None
        return as_memory(document, self.look.head)

    async def members(self, name: SlotName) -> list[Memory]:
        """The members of a slot that has no log, as far as they are truths of any time."""
        near = near_of(name)
        if any((asked.slot, asked.key) == (near.slot, near.key) for asked in self.nears):
            memories = [*self.near_memories.values()]
        else:
            memories = [
                neighbour.memory
                for neighbour in (await self.store.snapshot(self.owner, (), near)).near
            ]
        return [memory for memory in memories if slot_name(memory) == name]


class LookedElsewhere(Exception):
    """What the store shows now is not what the agents were shown, or memories are needed
    (`wanted`), or all values of keys, that were not read: look again.
    """

    def __init__(self, wanted: Iterable[str] = (), keys: Iterable[str] = ()) -> None:
        super().__init__("what a decision needs was not read")
        self.wanted, self.keys = tuple(wanted), tuple(keys)

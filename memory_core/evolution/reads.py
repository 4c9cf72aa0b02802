"""Documents that a decision and its completion read."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from memory_core.domain.memory import Memory, MemoryType
from memory_core.domain.scope import Owner
from memory_core.domain.truth.slots import SlotName, slot_name
from memory_core.ledger.ids import session_document_id
from memory_core.ledger.read_set import ReadSet
from memory_core.ledger.readable import as_memory
from memory_core.ports import Document, LongTermStore, Near


def near_of(name: SlotName, *, past: bool = False) -> Near:
    """The search that shows the members of a slot.

    Args:
        name: Name of the slot.
        past: Whether inactive members are also shown.

    """
    if name[0] == "key":
        procedural = frozenset({MemoryType.PROCEDURAL.value})
        return Near(None, procedural, 1.0, key=name[1], past=past)
    semantic = frozenset({MemoryType.SEMANTIC.value})
    return Near(None, semantic, 1.0, (name[1], name[2]), past=past)


@dataclass(slots=True)
class Shelf:
    """Documents that a decision and its completion have read.

    Attributes:
        store: Store to read further documents from.
        owner: Whose documents they are.
        look: The read set of the decision.
        documents: Documents that were read besides, by id.
        asked: Requested ids, also of missing documents.
        near_memories: Neighbours in the read set, by id.

    """

    store: LongTermStore
    owner: Owner
    look: ReadSet
    documents: dict[str, Document] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    near_memories: dict[str, Memory] = field(init=False)

    def __post_init__(self) -> None:
        self.near_memories = {
            neighbour.memory.id: neighbour.memory for group in self.look.near for neighbour in group
        }
        self.asked |= self.look.asked

    async def read(self, ids: Collection[str]) -> None:
        """Read documents that were not requested before. Raises Unavailable."""
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
        """All members of a slot, in any status; the latest 200. Raises Unavailable."""
        near = (await self.store.snapshot(self.owner, (), near_of(name, past=True))).near
        return [each.memory for each in near if slot_name(each.memory) == name]


def session_ids(owner: Owner, memories: Iterable[Memory | None]) -> list[str]:
    """The ids of the documents of some memories' sessions.

    Args:
        owner: Whose memories they are.
        memories: Memories; None for a missing memory.

    """
    names = (memory.session_id for memory in memories if memory is not None)
    return [session_document_id(owner, name) for name in dict.fromkeys(names) if name is not None]

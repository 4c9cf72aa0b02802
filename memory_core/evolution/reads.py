"""Documents that a decision and its completion read."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from memory_core.domain.memory import Memory, MemoryType
from memory_core.domain.scope import Owner
from memory_core.domain.truth.slots import SlotName, slot_name
from memory_core.evolution.slot_log import SlotLog, documents_of, sealed_parts
from memory_core.ledger.ids import session_document_id
from memory_core.ledger.read_set import ReadSet, WithoutLog
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
    """The read set of a decision, which grows while the decision is completed.

    Attributes:
        store: Store to read further documents from.
        owner: Whose documents they are.
        read_set: All that was read so far.

    """

    store: LongTermStore
    owner: Owner
    read_set: ReadSet
    _near: dict[str, Memory] = field(init=False)

    def __post_init__(self) -> None:
        self._near = {near.memory.id: near.memory for near in self.read_set.neighbours()}

    async def read(self, ids: Iterable[str]) -> None:
        """Read documents that were not requested before. Raises Unavailable."""
        if wanted := [name for name in self.read_set.unread(ids) if name not in self._near]:
            documents = (await self.store.snapshot(self.owner, wanted)).documents
            self.read_set = self.read_set.with_documents(documents, wanted)

    def document(self, name: str) -> Document | None:
        """A document that was read."""
        return self.read_set.documents.get(name)

    def memory(self, name: str) -> Memory | None:
        """A memory, or an old version, that was read."""
        document = self.document(name)
        if document is None:
            return self._near.get(name)
        is_memory = document.kind in ("memory", "version")
        return as_memory(document, self.read_set.head) if is_memory else None

    async def members(self, name: SlotName) -> list[Memory]:
        """All members of a slot, in any status; the latest 200. Raises Unavailable."""
        near = (await self.store.snapshot(self.owner, (), near_of(name, past=True))).near
        return [each.memory for each in near if slot_name(each.memory) == name]


async def earlier_times(
    store: LongTermStore, owner: Owner, memories: Iterable[Memory]
) -> dict[str, str]:
    """The earlier intervals in the slots of some memories.

    Args:
        store: Where the logs are read.
        owner: Whose memories they are.
        memories: Memories, in slots or without.

    Returns:
        By the id under which an interval is stored, the id of its memory.

    Raises:
        Unavailable: The store is down.

    """
    names, made = slots_of(memories), dict[str, str]()
    unread = ids = {each for name in names for each in documents_of(name)}
    read_set = ReadSet(None, {})
    while unread:
        ids = ids | unread
        snapshot = await store.snapshot(owner, sorted(ids))
        read_set = ReadSet(snapshot.head, dict(snapshot.documents))
        unread = {part for each in snapshot.documents.values() for part in sealed_parts(each)} - ids
    for name in names:
        with suppress(WithoutLog):  # an earlier version kept no such intervals
            made |= earlier_times_in([name], read_set)
    return made


def earlier_times_in(names: Iterable[SlotName], read_set: ReadSet) -> dict[str, str]:
    """The earlier intervals in some slots, as `earlier_times` returns them.

    Args:
        names: Names of the slots.
        read_set: A read set with `documents_of` the slots.

    Raises:
        SealedEntries: Sealed entries of a log were not read.
        WithoutLog: A slot needs a log first.

    """
    logs = [SlotLog.read(name, read_set) for name in names]
    for log in logs:
        if log.seal is not None:
            raise log.sealed()
    return {row.id: row.memory_id for log in logs for row in log.rows.values() if row.part}


def slots_of(memories: Iterable[Memory]) -> frozenset[SlotName]:
    """The slots that memories are members of."""
    return frozenset(name for each in memories if (name := slot_name(each)) is not None)


def session_ids(owner: Owner, memories: Iterable[Memory | None]) -> list[str]:
    """The ids of the documents of some memories' sessions.

    Args:
        owner: Whose memories they are.
        memories: Memories; None for a missing memory.

    """
    names = (memory.session_id for memory in memories if memory is not None)
    return [session_document_id(owner, name) for name in dict.fromkeys(names) if name is not None]

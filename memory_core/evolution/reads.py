"""Reads of slots: their members, and the earlier intervals of these."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from memory_core.domain.memory import Memory, MemoryType
from memory_core.domain.scope import Owner
from memory_core.domain.truth.slots import SlotName, slot_name
from memory_core.evolution.slot_log import SlotLog, documents_of, sealed_parts
from memory_core.ledger.ids import session_document_id
from memory_core.ledger.read_set import ReadSet, WithoutLog
from memory_core.ports import LongTermStore, Near


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

"""The log of a slot without the names of memories that are gone for good."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

from memory_core.domain.truth.entries import Entry, Hiding, Merge, Pair, Statement
from memory_core.evolution.slot_log import SlotLog
from memory_core.evolution.truth_commands import deletes
from memory_core.evolution.truth_projection import GONE

_ALIAS_BYTES = 6


def forgotten(slot: SlotLog, memory_ids: Iterable[str]) -> SlotLog:
    """The log without the names of memories that are gone for good."""
    for name in memory_ids:
        slot = without_names(slot, name, f"{GONE}{secrets.token_hex(_ALIAS_BYTES)}")
    return slot


def without_names(slot: SlotLog, memory_id: str, alias: str) -> SlotLog:
    """The log without a memory's id, hash and conflicts; its moments stay, hidden.
    One that is not in it changes nothing.

    Note: nothing else changes entries. Ids and values become the alias, so that a hidden repeat
    stays a repeat; a value that another memory still has stays, for it is that one's.

    Args:
        slot: the log.
        memory_id: the memory.
        alias: a name that says nothing and is new in this log.

    """
    other_values = {
        entry.value
        for entry in slot.entries
        if isinstance(entry, Statement) and entry.memory_id != memory_id
    }
    made = [_renamed(entry, memory_id, alias, other_values) for entry in slot.entries]
    return slot if made == [*slot.entries] else slot.with_entries(made).added(deletes(alias))


def _renamed(
    entry: Entry, memory_id: str, alias: str, other_values: Collection[str | None]
) -> Entry:
    def new(name: str) -> str:
        return alias if name == memory_id else name

    if isinstance(entry, Statement) and entry.memory_id == memory_id:
        # An edit may be another value than the one before it; of one memory these need no more
        # than to differ.
        is_shared = entry.value is None or entry.value in other_values
        value = entry.value if is_shared else f"{alias}.{entry.version}"
        fields: dict[str, Any] = {"memory_id": alias, "value": value, "is_forgotten": True}
        return replace(entry, **fields, conflict_id=None)
    if isinstance(entry, Hiding):
        return replace(entry, memory_id=new(entry.memory_id))
    if isinstance(entry, Pair | Merge):
        names: dict[str, Any] = {"memory_ids": tuple(map(new, entry.memory_ids))}
        if isinstance(entry, Merge):
            names["into"] = new(entry.into)
        made = replace(entry, **names)
        return entry if made == entry else replace(made, conflict_id=None)
    return entry

"""The values of one key, gathered: what a decision about one of them looks at.

A key's present value stands under the key's own id, with what it was before as old versions; what was told late, or holds again by an
undo, has ids of its own. One would get wrong: a copy for another agent has the key too, and is no value of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from memory_core.domain.lifecycle import FOUND_BY_DEFAULT
from memory_core.domain.models import Memory, MemoryType, Status
from memory_core.evolution.restore import slot_nears
from memory_core.ledger.commit import Look
from memory_core.ports import Near

PROCEDURAL: Final = frozenset({MemoryType.PROCEDURAL.value})


def key_of(memory: Memory) -> str | None:
    """The key that a memory is a value of; None for what is none, such as a copy for another agent."""
    return memory.key if memory.type is MemoryType.PROCEDURAL and memory.copied_from is None else None


def key_near(key: str) -> Near:
    """What a look is asked for to see all values of a key, but for what is deleted."""
    return Near(None, PROCEDURAL, 1.0, key=key)


def line_nears(memory: Memory) -> list[Near]:
    """The same for whatever of the memory's slot, or of its key, one truth at a moment holds; nothing where it belongs to neither."""
    key = key_of(memory)
    return slot_nears(memory) if key is None else [key_near(key)]


def alive(truths: Iterable[Memory]) -> list[Memory]:
    """Those that stand, and those that are history; not what an undo took away, of which only old versions may hold."""
    return [one for one in truths if one.status in FOUND_BY_DEFAULT or one.status is Status.SUPERSEDED]


def truths_of(look: Look) -> dict[str, Memory]:
    """All truths of the slots and keys that were looked at, past ones too, by their ids."""
    found = (one.memory for near in look.near for one in near)
    return {one.id: one for one in found if one.type is not MemoryType.PROCEDURAL or key_of(one) is not None}


def standing(truths: Iterable[Memory]) -> list[Memory]:
    """Who stands of them, the one told last before the others."""
    found: Sequence[Memory] = [one for one in truths if one.status in FOUND_BY_DEFAULT]
    return sorted(found, key=lambda one: (one.event_timestamp, one.sequence), reverse=True)

"""The values of one key, gathered: what a decision about one of them looks at.

A key's present value stands under the key's own id, with what it was before as old versions; what was told late, or holds again by an
undo, has ids of its own. One would get wrong: a copy for another agent has the key too, and is no value of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from memory_core.domain.lifecycle import FOUND_BY_DEFAULT
from memory_core.domain.models import Memory, MemoryType
from memory_core.ports import Near

PROCEDURAL: Final = frozenset({MemoryType.PROCEDURAL.value})


def key_of(memory: Memory) -> str | None:
    """The key that a memory is a value of; None for what is none, such as a copy for another agent."""
    return memory.key if memory.type is MemoryType.PROCEDURAL and memory.copied_from is None else None


def key_near(key: str) -> Near:
    """What a look is asked for to see all values of a key, but for what is deleted."""
    return Near(None, PROCEDURAL, 1.0, key=key)


def standing(truths: Iterable[Memory]) -> list[Memory]:
    """Who stands of them, the one told last before the others."""
    found: Sequence[Memory] = [one for one in truths if one.status in FOUND_BY_DEFAULT]
    return sorted(found, key=lambda one: (one.event_timestamp, one.sequence), reverse=True)

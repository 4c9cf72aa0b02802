"""Facts of a found cell that were superseded since: named beside the text, which itself stays as it was told.

Costs nothing where no fact was superseded; else one read more, and one for each further successor in the longest chain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory_core.domain.lifecycle import FOUND_BY_DEFAULT
from memory_core.domain.models import Memory
from memory_core.domain.sameness import normalised
from memory_core.domain.scope import Owner
from memory_core.domain.shown import Shown
from memory_core.ledger.readable import readable_shown
from memory_core.ports import Filter, LongTermStore
from memory_core.recollection.filters import shows

MAX_HOPS = 24
"""Successors that are followed, a read each; of a truth that has changed more often since, the present one is not named."""
_FOUND = frozenset(status.value for status in FOUND_BY_DEFAULT)
_MARK = b'"superseded_by":"'


@dataclass(frozen=True, slots=True)
class Fallen:
    """A superseded fact. superseded_by: the successor's id. current: what holds instead at the moment asked for; None if none does."""

    text: str
    superseded_by: str
    current: Memory | None

    def told(self) -> dict[str, Any]:
        """As a result shows it: the present truth by its text."""
        return {"text": self.text, "superseded_by": self.superseded_by, "current": self.current.content if self.current else None}


async def stale_facts(store: LongTermStore, owner: Owner, shown: Mapping[str, Shown], moment: datetime) -> dict[str, tuple[Fallen, ...]]:
    """By the id of each found memory, every fact of it that no longer held, nor again, at `moment`; memories without such are left out."""
    cells = {name: document.memory for name, document in shown.items() if _MARK in document.json}
    wanted = {fact.superseded_by for cell in cells.values() for fact in cell.atomic_facts if fact.superseded_by}
    if not wanted:
        return {}
    successors = await _chains(store, owner, wanted)
    stale_by_memory: dict[str, tuple[Fallen, ...]] = {}
    for name, cell in cells.items():
        marked = [(fact.text, by) for fact in cell.atomic_facts if (by := fact.superseded_by) and _holds(successors.get(by), moment)]
        if fallen := tuple(gone for text, by in marked if not _again(gone := Fallen(text, by, _current(by, successors, moment)))):
            stale_by_memory[name] = fallen
    return stale_by_memory


async def _chains(store: LongTermStore, owner: Owner, ids: set[str]) -> dict[str, Memory]:
    """These memories and all that replaced them."""
    chain: dict[str, Memory] = {}
    missing = ids
    for _ in range(MAX_HOPS):
        read, _ = readable_shown(await store.memories(owner, sorted(missing)))
        chain |= read
        missing = {memory.next_id for memory in read.values() if memory.next_id} - chain.keys()
        if not missing:
            break
    return chain


def _again(fact: Fallen) -> bool:
    """Whether the same truth is active again: it was said again, or its supersession was undone, of which not every cell learns."""
    return fact.current is not None and normalised(fact.current.content) == normalised(fact.text)


def _holds(successor: Memory | None, moment: datetime) -> bool:
    """Whether the successor had begun at that moment; one that is gone without a trace has."""
    return successor is None or successor.valid_from <= moment


def _current(name: str, successors: Mapping[str, Memory], moment: datetime) -> Memory | None:
    """The last of the chain that had begun by then; None where that is gone or has ended."""
    seen: set[str] = set()
    memory = successors.get(name)
    while memory is not None and memory.next_id is not None and memory.id not in seen:
        seen.add(memory.id)
        if (following := successors.get(memory.next_id)) is not None and following.valid_from > moment:
            break
        memory = following
    return memory if memory is not None and shows(Filter(_FOUND, at=moment), memory) else None

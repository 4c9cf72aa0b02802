"""Name superseded facts of found memories, with the truths that hold in their place.

Without a superseded fact there is no read. Else there is a single read, and another for each
further successor in the longest chain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from memory_core.domain.event_log import base_id
from memory_core.domain.memory import Head, Memory, Status
from memory_core.domain.scope import Owner
from memory_core.domain.serialized_memory import SerializedMemory
from memory_core.domain.text.sameness import normalised
from memory_core.domain.transitions import FOUND_BY_DEFAULT
from memory_core.ledger.readable import NONE_AT_HAND, memories_of
from memory_core.ports import Filter, LongTermStore
from memory_core.recollection.filters import shows

MAX_HOPS = 24
"""The most successors that are followed, with a read for each.

If a truth has changed more often since, its present value is not named.
"""
_FOUND = frozenset(status.value for status in FOUND_BY_DEFAULT)
_MARK, _NEXT = b'"superseded_by":"', b'"next_id":"'


@dataclass(frozen=True, slots=True)
class SupersededFact:
    """A superseded fact.

    Attributes:
        text: The words of the fact.
        superseded_by: The id of its successor; None if the successor is not searchable.
        current: The truth at the moment asked for; None if there is none, or if it is not
            searchable.

    """

    text: str
    superseded_by: str | None
    current: Memory | None

    def as_shown(self) -> dict[str, Any]:
        """Return the fact as a result shows it, with the present truth by its text."""
        return {
            "text": self.text,
            "superseded_by": self.superseded_by,
            "current": self.current.content if self.current else None,
        }


@dataclass(frozen=True, slots=True)
class SupersededFacts:
    """The superseded facts of found memories.

    Attributes:
        by_memory: By the id of a memory, its facts that no longer held.
        hidden: The ids of successors that must not be named.

    """

    by_memory: dict[str, tuple[SupersededFact, ...]]
    hidden: frozenset[str] = frozenset()

    def __or__(self, other: SupersededFacts) -> SupersededFacts:
        """Join both."""
        return SupersededFacts(self.by_memory | other.by_memory, self.hidden | other.hidden)

    def without_hidden(self, document: SerializedMemory) -> SerializedMemory:
        """Return a found memory without the hidden successors' ids in itself and its facts."""
        if not self.hidden or (_MARK not in document.json and _NEXT not in document.json):
            return document
        memory = document.memory
        next_id = None if memory.next_id in self.hidden else memory.next_id
        facts = [
            fact.held_by(fact.fact_id, None) if fact.superseded_by in self.hidden else fact
            for fact in memory.atomic_facts
        ]
        return SerializedMemory.of(memory.changed(atomic_facts=facts, next_id=next_id))


async def find_superseded_facts(
    store: LongTermStore,
    owner: Owner,
    memories: Mapping[str, SerializedMemory],
    moment: datetime,
    at_hand: Mapping[str, Memory] = NONE_AT_HAND,
    seen: Head | None = None,
) -> SupersededFacts:
    """Find the facts of found memories that no longer held at a moment.

    A fact that was true again at the moment is left out.

    Args:
        store: The long-term store.
        owner: Whose memories they are.
        memories: The found memories by id.
        moment: The moment for the facts; successors of any time are hidden.
        at_hand: Memories that need not be read, as of `seen`.
        seen: The owner's head when `at_hand` was read.

    Returns:
        The facts, with the successors that must not be named.

    Raises:
        Unavailable: The long-term store is down.

    """
    cells = {name: document.memory for name, document in memories.items() if _MARK in document.json}
    wanted = {
        fact.superseded_by
        for cell in cells.values()
        for fact in cell.atomic_facts
        if fact.superseded_by
    }
    followers = {
        name
        for document in memories.values()
        if _NEXT in document.json and (name := _follower(document.memory))
    } - memories.keys()
    if not wanted | followers:
        return SupersededFacts({})
    successors = await _chains(store, owner, wanted | followers, at_hand, seen)
    by_memory: dict[str, tuple[SupersededFact, ...]] = {}
    for name, cell in cells.items():
        marked = [
            (fact.text, by)
            for fact in cell.atomic_facts
            if (by := fact.superseded_by) and _holds(successors.get(by), moment)
        ]
        facts = [SupersededFact(text, by, _current(by, successors, moment)) for text, by in marked]
        if left := tuple(
            _searchable(fact, successors) for fact in facts if not _is_active_again(fact)
        ):
            by_memory[name] = left
    hidden = {
        name
        for name in wanted | followers
        if name in successors and not successors[name].searchable
    }
    gone = {
        name
        for name in followers
        if name in successors and successors[name].status is Status.DELETED
    }
    return SupersededFacts(by_memory, frozenset(hidden | gone))


def _searchable(fact: SupersededFact, successors: Mapping[str, Memory]) -> SupersededFact:
    """Return the fact without successors that are not searchable."""
    successor = successors.get(fact.superseded_by or "")
    by = fact.superseded_by if successor is None or successor.searchable else None
    return replace(
        fact,
        superseded_by=by,
        current=fact.current if fact.current is not None and fact.current.searchable else None,
    )


def _follower(memory: Memory) -> str | None:
    """Return the id of the memory that replaced it.

    None for an old version, which the memory itself replaced.
    """
    return None if memory.next_id == base_id(memory.id) else memory.next_id


async def _chains(
    store: LongTermStore,
    owner: Owner,
    ids: set[str],
    at_hand: Mapping[str, Memory],
    seen: Head | None,
) -> dict[str, Memory]:
    """Read these memories and all that replaced them."""
    chain: dict[str, Memory] = {}
    missing = ids
    for _ in range(MAX_HOPS):
        read = await memories_of(store, owner, sorted(missing), at_hand, seen)
        chain |= read
        missing = {memory.next_id for memory in read.values() if memory.next_id} - chain.keys()
        if not missing:
            break
    return chain


def _is_active_again(fact: SupersededFact) -> bool:
    """Whether the same truth is active again.

    It was said again, or its supersession was undone, which not every cell learns.
    """
    return fact.current is not None and normalised(fact.current.content) == normalised(fact.text)


def _holds(successor: Memory | None, moment: datetime) -> bool:
    """Whether the successor had begun at the moment.

    A successor that is gone without a trace had begun.
    """
    return successor is None or successor.valid_from <= moment


def _current(name: str, successors: Mapping[str, Memory], moment: datetime) -> Memory | None:
    """Return the last memory of the chain that had begun by the moment.

    None if it is gone or has ended.
    """
    seen: set[str] = set()
    memory = successors.get(name)
    while memory is not None and memory.next_id is not None and memory.id not in seen:
        seen.add(memory.id)
        if (
            following := successors.get(memory.next_id)
        ) is not None and following.valid_from > moment:
            break
        memory = following
    return memory if memory is not None and shows(Filter(_FOUND, at=moment), memory) else None

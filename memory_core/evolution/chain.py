"""The walks along `next_id`: forward, where a memory has one successor at most; back, where several may have joined into one.

Note: what is stored may be wrong. Writers refuse cycles, but an import or an undo may leave one, so no memory is
visited twice; and both walks have bounds and say when these cut them short.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memory_core.domain.errors import NotFound
from memory_core.domain.models import Memory, Status
from memory_core.domain.scope import Owner
from memory_core.ledger.readable import readable, readable_shown
from memory_core.ports import Filter, LongTermStore

MAX_MEMORIES = 200
"""What one walk returns at most: of the largest contents, 6 MB."""
MAX_LEVELS = 100
"""How far one walk goes in either direction: each level is a round trip, some 10 ms on a database across a network."""
_WHATEVER_STATUS = Filter(statuses=frozenset(status.value for status in Status))


@dataclass(frozen=True, slots=True)
class Walk:
    """What a walk met, in its order, the start left out; complete: False when a bound or a damaged memory cut it."""

    memories: tuple[Memory, ...]
    complete: bool = True


class Chains:
    """Walks over one store. Other owners and other epochs are never met: the store is asked for neither."""

    def __init__(self, store: LongTermStore) -> None:
        self._store = store

    async def start(self, owner: Owner, memory_id: str) -> Memory:
        """The memory to start from, whatever its status, without its vector. Raises NotFound, for old versions too."""
        memories = {} if "." in memory_id else await self._store.memories(owner, [memory_id])
        if memory_id not in memories:
            raise NotFound("no memory of this id for this user")
        return memories[memory_id].memory

    async def forward(self, owner: Owner, start: Memory, limit: int = MAX_MEMORIES) -> Walk:
        """The successors, each one's `next_id` naming the next, up to what holds now, to a gap, or to where a cycle closes."""
        met, seen, step = list[Memory](), {start.id}, start
        while step.next_id is not None and step.next_id not in seen:
            if len(met) >= min(limit, MAX_LEVELS):
                return Walk(tuple(met), complete=False)
            successors, damaged = readable_shown(await self._store.memories(owner, [step.next_id]))
            if damaged:
                return Walk(tuple(met), complete=False)
            if step.next_id not in successors or "." in step.next_id:
                break
            step = successors[step.next_id]
            seen.add(step.id)
            met.append(step)
        return Walk(tuple(met))

    async def backward(self, owner: Owner, starts: Sequence[Memory], limit: int = MAX_MEMORIES) -> Walk:
        """All memories whose `next_id` leads to one of `starts`, the nearest level first, within a level the latest event first."""
        met, seen, level, readable_all = list[Memory](), {start.id for start in starts}, list(starts), True
        for _ in range(MAX_LEVELS):
            where = replace(_WHATEVER_STATUS, next_ids=frozenset(memory.id for memory in level))
            # The starts themselves may be among the answers, where there is a cycle.
            asked = limit - len(met) + len(starts) + 1
            documents = await self._store.page(owner, "memory", where, None, asked)
            memories, damaged = readable(documents)
            readable_all = readable_all and not damaged
            level = sorted(
                (memory for memory in memories if memory.id not in seen and memory.epoch == starts[0].epoch), key=_told, reverse=True
            )
            met += level[: limit - len(met)]
            seen.update(memory.id for memory in level)
            if len(documents) == asked or len(seen) - len(starts) > limit:
                return Walk(tuple(met), complete=False)
            if not level:
                return Walk(tuple(met), complete=readable_all)
        return Walk(tuple(met), complete=False)


def _told(memory: Memory) -> tuple[datetime, int, str]:
    return memory.event_timestamp, memory.sequence, memory.id

"""Walk chains along `next_id`: of a single memory, and of many at once.

Note: stored chains may be wrong. Writers refuse cycles, but an import or an undo may leave a cycle,
so no memory is visited twice. Both walks have limits, and say when a limit cut them short.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memory_core.domain.errors import NotFound
from memory_core.domain.memory import Memory, Status
from memory_core.domain.scope import Owner
from memory_core.ledger.readable import readable, readable_shown
from memory_core.ports import Filter, LongTermStore

MAX_MEMORIES = 200
"""Memories that a walk returns at most: 6 MB with the largest contents."""
MAX_LEVELS = 100
"""How far a walk goes in either direction: each level is a round trip, some 10 ms on a database
across a network.
"""
_WHATEVER_STATUS = Filter(statuses=frozenset(status.value for status in Status))


@dataclass(frozen=True, slots=True)
class Walk:
    """The memories of a walk, in its order, without the starts.

    Attributes:
        memories: In the order of the walk.
        cut: Ids of memories at which a limit has cut the walk.
        damaged: Ids of memories of which a neighbour can't be read.

    """

    memories: tuple[Memory, ...]
    cut: frozenset[str]
    damaged: frozenset[str]

    @property
    def complete(self) -> bool:
        """Whether neither a limit nor a damaged memory cut the walk."""
        return not self.cut and not self.damaged


class Chains:
    """Walks over a single store.

    Memories of other owners and other epochs are never met, because the store is not asked for
    them.
    """

    def __init__(self, store: LongTermStore) -> None:
        self._store = store

    async def start(self, owner: Owner, memory_id: str) -> Memory:
        """The memory to start from, in any status, without its vector.

        Args:
            owner: Whose memory it is.
            memory_id: Id of the memory.

        Raises:
            NotFound: The owner has no such memory; an old version is not found either.

        """
        memories = {} if "." in memory_id else await self._store.memories(owner, [memory_id])
        if memory_id not in memories:
            raise NotFound("no memory of this id for this user")
        return memories[memory_id].memory

    async def forward(
        self, owner: Owner, starts: Sequence[Memory], limit: int = MAX_LEVELS
    ) -> Walk:
        """The successors along `next_id`, up to the present memories, level by level.

        The walk also ends at a gap, or where a cycle closes.

        Args:
            owner: Whose memories they are.
            starts: Where the walk begins.
            limit: Levels at most.

        """
        known, damaged, names = {start.id: start for start in starts}, set[str](), set[str]()
        most, number = min(limit, MAX_LEVELS), len(known)
        for level in range(most + 1):
            last = {memory.id: memory.next_id for memory in known.values() if memory.next_id}
            open_ends = {
                name: next_id
                for name, next_id in last.items()
                if next_id not in known and next_id not in names and "." not in next_id
            }
            if not open_ends or level == most:
                break
            wanted = sorted({*open_ends.values()})
            successors, lost = readable_shown(await self._store.memories(owner, wanted))
            damaged |= {name for name, next_id in last.items() if next_id in lost}
            known |= successors
            names |= {*wanted}
        return Walk(tuple(known.values())[number:], frozenset(open_ends), frozenset(damaged))

    async def backward(
        self, owner: Owner, starts: Sequence[Memory], limit: int = MAX_MEMORIES
    ) -> Walk:
        """All memories whose `next_id` leads to any of `starts`.

        The nearest level comes first; within a level the latest event comes first.

        Args:
            owner: Whose memories they are.
            starts: Where the walk begins; of the same epoch.
            limit: Memories at most.

        """
        met, damaged, level = list[Memory](), set[str](), list(starts)
        seen = {start.id for start in starts}
        for _ in range(MAX_LEVELS):
            names = frozenset(memory.id for memory in level)
            where = replace(_WHATEVER_STATUS, next_ids=names)
            # The starts themselves may be among the answers, where there is a cycle.
            asked = limit - len(met) + len(starts) + 1
            documents = await self._store.page(owner, "memory", where, None, asked)
            memories, lost = readable(documents)
            damaged |= {str(document.body["next_id"]) for document in lost}
            level = sorted(
                (
                    memory
                    for memory in memories
                    if memory.id not in seen and memory.epoch == starts[0].epoch
                ),
                key=_told,
                reverse=True,
            )
            met += level[: limit - len(met)]
            seen.update(memory.id for memory in level)
            if len(documents) == asked or len(seen) - len(starts) > limit:
                return Walk(tuple(met), names, frozenset(damaged))
            if not level:
                return Walk(tuple(met), frozenset(), frozenset(damaged))
        return Walk(tuple(met), frozenset(memory.id for memory in level), frozenset(damaged))


def _told(memory: Memory) -> tuple[datetime, int, str]:
    return memory.event_timestamp, memory.sequence, memory.id


# Whole chains of many memories at once: whatever leads to the same end along `next_id`, found level
# by level for all of them together.
#
# Note: a family is what the store showed while it was being found. A caller that changes all of it
# at once has to see to it that nothing joined it since.


MAX_MEMBERS = 45
"""Each takes two documents of a commit's hundred."""


@dataclass(frozen=True, slots=True)
class Family:
    """The memories that lead to the same last memory.

    Attributes:
        last_id: Id of the last memory.
        members: By sequence, with the last memory.
        whole: False if there are more than MAX_MEMBERS.
        damaged: A member can't be read, so `members` may also lack further members.

    """

    last_id: str
    members: tuple[Memory, ...]
    whole: bool = True
    damaged: bool = False

    @property
    def ids(self) -> frozenset[str]:
        """The ids of the members."""
        return frozenset(member.id for member in self.members)


class Families:
    """Finds families in a single store.

    Memories of other owners or other epochs are never met.
    """

    def __init__(self, store: LongTermStore) -> None:
        self._chains = Chains(store)

    async def of(self, owner: Owner, starts: Sequence[Memory]) -> list[Family]:
        """The families of these memories, each once, in the order of the starts.

        Memories come without vectors.

        Args:
            owner: Whose memories they are.
            starts: Members of the families.

        """
        if not starts:
            return []
        ahead = await self._chains.forward(owner, starts, MAX_MEMBERS)
        trunk = [*starts, *ahead.memories]
        behind = await self._chains.backward(owner, trunk, MAX_MEMBERS * len(starts))
        known = {memory.id: memory for memory in (*trunk, *behind.memories)}
        if behind.cut:
            if len(starts) == 1:
                return [Family(_end(known, starts[0].id), tuple(known.values()), whole=False)]
            half = len(starts) // 2
            families = [*await self.of(owner, starts[:half]), *await self.of(owner, starts[half:])]
            return list({family.last_id: family for family in families}.values())
        members: dict[str, list[Memory]] = {}
        for memory in known.values():
            members.setdefault(_end(known, memory.id), []).append(memory)
        ends = dict.fromkeys(_end(known, start.id) for start in starts)
        damaged = ahead.damaged | behind.damaged
        return [_family(end, members[end], ahead.cut, damaged) for end in ends]


def _end(known: dict[str, Memory], start: str) -> str:
    """The last id of a memory's chain; of a cycle, the least id."""
    seen: dict[str, None] = {}
    at = start
    while at in known and at not in seen:
        seen[at] = None
        following = known[at].next_id
        if following is None or following not in known:
            return at
        at = following
    path = list(seen)
    return min(path[path.index(at) :])


def _family(
    end: str, members: Sequence[Memory], open_ends: frozenset[str], damaged: frozenset[str]
) -> Family:
    ids = [member.id for member in members]
    whole = len(members) <= MAX_MEMBERS and open_ends.isdisjoint(ids)
    return Family(
        end,
        tuple(sorted(members, key=lambda member: (member.sequence, member.id))),
        whole,
        not damaged.isdisjoint(ids),
    )

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
    """The memories of a walk, in its order, without the start.

    Attributes:
        memories: In the order of the walk.
        complete: False if a limit or a damaged memory cut the walk.

    """

    memories: tuple[Memory, ...]
    complete: bool = True


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

    async def forward(self, owner: Owner, start: Memory, limit: int = MAX_MEMORIES) -> Walk:
        """The successors along `next_id`, up to the present memory.

        The walk also ends at a gap, or where a cycle closes.

        Args:
            owner: Whose memories they are.
            start: Where the walk begins.
            limit: Successors at most.

        """
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
        met, seen, level, readable_all = (
            list[Memory](),
            {start.id for start in starts},
            list(starts),
            True,
        )
        for _ in range(MAX_LEVELS):
            where = replace(_WHATEVER_STATUS, next_ids=frozenset(memory.id for memory in level))
            # The starts themselves may be among the answers, where there is a cycle.
            asked = limit - len(met) + len(starts) + 1
            documents = await self._store.page(owner, "memory", where, None, asked)
            memories, damaged = readable(documents)
            readable_all = readable_all and not damaged
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
                return Walk(tuple(met), complete=False)
            if not level:
                return Walk(tuple(met), complete=readable_all)
        return Walk(tuple(met), complete=False)


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
        self._store = store

    async def of(self, owner: Owner, starts: Sequence[Memory]) -> list[Family]:
        """The families of these memories, each once, in the order of the starts.

        Memories come without vectors.

        Args:
            owner: Whose memories they are.
            starts: Members of the families.

        """
        if not starts:
            return []
        damaged = set[str]()
        known, open_ends = await self._ahead(owner, starts, damaged)
        joined = await self._behind(owner, known, MAX_MEMBERS * len(starts), damaged)
        if joined is None:
            if len(starts) == 1:
                return [Family(_end(known, starts[0].id), tuple(known.values()), whole=False)]
            half = len(starts) // 2
            families = [*await self.of(owner, starts[:half]), *await self.of(owner, starts[half:])]
            return list({family.last_id: family for family in families}.values())
        open_ends |= joined
        members: dict[str, list[Memory]] = {}
        for memory in known.values():
            members.setdefault(_end(known, memory.id), []).append(memory)
        ends = dict.fromkeys(_end(known, start.id) for start in starts)
        return [_family(end, members[end], open_ends, damaged) for end in ends]

    async def _ahead(
        self, owner: Owner, starts: Sequence[Memory], damaged: set[str]
    ) -> tuple[dict[str, Memory], set[str]]:
        """The starts and all their successors, and the ids of unfinished chains.

        The ids are of memories whose successors were not followed to the end. Ids of memories with
        a damaged successor are added to `damaged`.
        """
        known = {start.id: start for start in starts}
        for _ in range(MAX_MEMBERS):
            wanted = {
                memory.next_id
                for memory in known.values()
                if memory.next_id is not None and "." not in memory.next_id
            } - known.keys()
            successors, lost = readable_shown(
                await self._store.memories(owner, sorted(wanted)) if wanted else {}
            )
            damaged |= {memory.id for memory in known.values() if memory.next_id in lost}
            if not successors:
                return known, set()
            known |= successors
        return known, {
            memory.id
            for memory in known.values()
            if memory.next_id is not None and memory.next_id not in known
        }

    async def _behind(
        self, owner: Owner, known: dict[str, Memory], most: int, damaged: set[str]
    ) -> set[str] | None:
        """Add all memories that lead to the known memories.

        Returns the ids of memories whose predecessors were not followed to the end; None if there
        are more than `most`. Ids of memories with a damaged predecessor are added to `damaged`.
        """
        epoch, level = next(iter(known.values())).epoch, set(known)
        for _ in range(MAX_MEMBERS):
            where = replace(_WHATEVER_STATUS, next_ids=frozenset(level))
            documents = await self._store.page(owner, "memory", where, None, most + 1)
            if len(documents) > most:
                return None
            memories, lost = readable(
                document for document in documents if document.id not in known
            )
            damaged |= {str(document.body["next_id"]) for document in lost}
            predecessors = {memory.id: memory for memory in memories if memory.epoch == epoch}
            known |= predecessors
            level = set(predecessors)
            if not level:
                return set()
        return level


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


def _family(end: str, members: Sequence[Memory], open_ends: set[str], damaged: set[str]) -> Family:
    ids = [member.id for member in members]
    whole = len(members) <= MAX_MEMBERS and open_ends.isdisjoint(ids)
    return Family(
        end,
        tuple(sorted(members, key=lambda member: (member.sequence, member.id))),
        whole,
        not damaged.isdisjoint(ids),
    )

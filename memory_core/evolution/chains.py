"""Walk chains along `next_id`: of one memory, and of many at once.

Note: what is stored may be wrong. Writers refuse cycles, but an import or an undo may leave one, so
no memory is visited twice; and both walks have bounds and say when these cut them short.
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
"""What one walk returns at most: of the largest contents, 6 MB."""
MAX_LEVELS = 100
"""How far one walk goes in either direction: each level is a round trip, some 10 ms on a database
across a network.
"""
_WHATEVER_STATUS = Filter(statuses=frozenset(status.value for status in Status))


@dataclass(frozen=True, slots=True)
class Walk:
    """What a walk met, in its order, the start left out; complete: False when a bound or a damaged
    memory cut it.
    """

    memories: tuple[Memory, ...]
    complete: bool = True


class Chains:
    """Walks over one store. Other owners and other epochs are never met: the store is asked
    for neither.
    """

    def __init__(self, store: LongTermStore) -> None:
        self._store = store

    async def start(self, owner: Owner, memory_id: str) -> Memory:
        """The memory to start from, whatever its status, without its vector. Raises NotFound,
        for old versions too.
        """
        memories = {} if "." in memory_id else await self._store.memories(owner, [memory_id])
        if memory_id not in memories:
            raise NotFound("no memory of this id for this user")
        return memories[memory_id].memory

    async def forward(self, owner: Owner, start: Memory, limit: int = MAX_MEMORIES) -> Walk:
        """The successors, each one's `next_id` naming the next, up to what holds now, to a gap,
        or to where a cycle closes.
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
        """All memories whose `next_id` leads to one of `starts`, the nearest level first,
        within a level the latest event first.
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
"""Each is two documents of a commit's hundred."""


@dataclass(frozen=True, slots=True)
class Family:
    """The memories that lead to the last one, it included, by sequence; whole:
    False when there are more than MAX_MEMBERS.

    damaged: something that belongs to it can't be read, so `members` may lack more than that.
    """

    last_id: str
    members: tuple[Memory, ...]
    whole: bool = True
    damaged: bool = False

    @property
    def ids(self) -> frozenset[str]:
        """Of the members."""
        return frozenset(member.id for member in self.members)


class Families:
    """Finds families in one store; no memories of other owners, and none of another epoch,
    are ever met.
    """

    def __init__(self, store: LongTermStore) -> None:
        self._store = store

    async def of(self, owner: Owner, starts: Sequence[Memory]) -> list[Family]:
        """The families of these memories, each once, in the order of their starts.
        Memories come without vectors.
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
        """The starts and all that replaced them; and the ids of those whose successors were not
        followed to the end.

        damaged: grows by the ids of those whose successor can't be read.
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
        """Add all that leads to the known ones: the ids of those that were not followed to the end;
        None when it is more than `most`.

        damaged: grows by the ids of those to which something leads that can't be read.
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
    """The id at which the chain of a memory ends; of a cycle, the least."""
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

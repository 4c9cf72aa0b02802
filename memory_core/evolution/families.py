"""Whole chains of many memories at once: whatever leads to the same end along `next_id`, found level by level for all of them together.

Note: a family is what the store showed while it was being found. A caller that changes all of it at once has to see to it that
nothing joined it since.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memory_core.domain.models import Memory, Status
from memory_core.domain.scope import Owner
from memory_core.ledger.readable import readable, readable_shown
from memory_core.ports import Filter, LongTermStore

MAX_MEMBERS = 45
"""Each is two documents of a commit's hundred."""
_WHATEVER_STATUS = Filter(statuses=frozenset(status.value for status in Status))


@dataclass(frozen=True, slots=True)
class Family:
    """The memories that lead to the last one, it included, by sequence; whole: False when there are more than MAX_MEMBERS.

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
    """Finds families in one store; no memories of other owners, and none of another epoch, are ever met."""

    def __init__(self, store: LongTermStore) -> None:
        self._store = store

    async def of(self, owner: Owner, starts: Sequence[Memory]) -> list[Family]:
        """The families of these memories, each once, in the order of their starts. Memories come without vectors."""
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

    async def _ahead(self, owner: Owner, starts: Sequence[Memory], damaged: set[str]) -> tuple[dict[str, Memory], set[str]]:
        """The starts and all that replaced them; and the ids of those whose successors were not followed to the end.

        damaged: grows by the ids of those whose successor can't be read.
        """
        known = {start.id: start for start in starts}
        for _ in range(MAX_MEMBERS):
            wanted = {
                memory.next_id for memory in known.values() if memory.next_id is not None and "." not in memory.next_id
            } - known.keys()
            successors, lost = readable_shown(await self._store.memories(owner, sorted(wanted)) if wanted else {})
            damaged |= {memory.id for memory in known.values() if memory.next_id in lost}
            if not successors:
                return known, set()
            known |= successors
        return known, {memory.id for memory in known.values() if memory.next_id is not None and memory.next_id not in known}

    async def _behind(self, owner: Owner, known: dict[str, Memory], most: int, damaged: set[str]) -> set[str] | None:
        """Add all that leads to the known ones: the ids of those that were not followed to the end; None when it is more than `most`.

        damaged: grows by the ids of those to which something leads that can't be read.
        """
        epoch, level = next(iter(known.values())).epoch, set(known)
        for _ in range(MAX_MEMBERS):
            where = replace(_WHATEVER_STATUS, next_ids=frozenset(level))
            documents = await self._store.page(owner, "memory", where, None, most + 1)
            if len(documents) > most:
                return None
            memories, lost = readable(document for document in documents if document.id not in known)
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
    return Family(end, tuple(sorted(members, key=lambda member: (member.sequence, member.id))), whole, not damaged.isdisjoint(ids))

"""The profile of a person as it is read: what the memories that it names say now, or said at a moment.

Note: a run writes down which memories a profile rests on, not what they say. So what has fallen, was edited or is gone since
the last run is so here as well, at the price of one read by ids; and one more for what has come in its place. Before the first run it is
told from the latest facts themselves.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from memory_core.domain.lifecycle import FOUND_BY_DEFAULT
from memory_core.domain.models import Memory, MemoryType
from memory_core.domain.profile import profile_at, with_successors
from memory_core.domain.profile_news import MAX_FACTS, subjects, with_facts
from memory_core.domain.scene import PROFILE_ID, KnownPerson, Profile, person_in
from memory_core.domain.scope import Owner
from memory_core.ledger.readable import readable
from memory_core.ports import Clock, Filter, LongTermStore

_READ_AT_ONCE = 200
_SEMANTIC = frozenset({MemoryType.SEMANTIC.value})
MAX_STEPS = 3
"""How far truths are followed that took each other's place since the last run; the next one knows them all."""


class Profiles:
    """The profile of any owner."""

    def __init__(self, store: LongTermStore, clock: Clock) -> None:
        self._store, self._clock = store, clock

    async def of(self, owner: Owner, at: datetime | None = None) -> Profile:
        """What is known of the person, as it was true at a moment, now where none is given; an empty one of somebody unknown."""
        look = await self._store.snapshot(owner, [PROFILE_ID])
        found = look.documents.get(PROFILE_ID)
        if found is None or look.head is None or found.body["epoch"] != look.head.epoch:
            return Profile() if look.head is None else await self._of_facts(owner, at or self._clock.now())
        person = person_in(found.body)
        named = {name for one in person.facts for name in (*one.memory_ids, *one.cell_ids)}
        memories = await self._memories(owner, {*named, *(name for one in person.traits for name in one.cell_ids)})
        for _ in range(MAX_STEPS):
            if not (wanted := {one.next_id for one in memories.values() if one.next_id is not None} - memories.keys()):
                break
            found_more = await self._memories(owner, wanted)
            if not found_more:
                break
            memories |= found_more
        return profile_at(with_successors(person, memories), memories, at or self._clock.now())

    async def _of_facts(self, owner: Owner, at: datetime) -> Profile:
        """What the latest facts say, before a run has written a profile."""
        where = Filter(frozenset(one.value for one in FOUND_BY_DEFAULT), types=_SEMANTIC, now=self._clock.now())
        found, _ = readable(await self._store.page(owner, "memory", where, None, MAX_FACTS))
        memories = {one.id: one for one in found}
        known = with_facts(KnownPerson(), found, subjects(found, owner.user_id), memories)
        return profile_at(known, memories, at)

    async def _memories(self, owner: Owner, names: Collection[str]) -> dict[str, Memory]:
        ids, found = sorted(names), dict[str, Memory]()
        for start in range(0, len(ids), _READ_AT_ONCE):
            shown = await self._store.memories(owner, ids[start : start + _READ_AT_ONCE])
            found |= {name: one.memory for name, one in shown.items()}
        return found

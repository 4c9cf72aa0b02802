"""The profile of a person as it is read: what the memories that it names say now, or said at a moment.

Note: a run writes down which memories a profile rests on, not what they say. So what was superseded, edited or deleted since
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
        """What is known of the person, as it was true at a moment, now where none is given; an empty one of an unknown user."""
        look = await self._store.snapshot(owner, [PROFILE_ID])
        document = look.documents.get(PROFILE_ID)
        if document is None or look.head is None or document.body["epoch"] != look.head.epoch:
            return Profile() if look.head is None else await self._of_facts(owner, at or self._clock.now())
        person = person_in(document.body)
        named = {name for fact in person.facts for name in (*fact.memory_ids, *fact.cell_ids)}
        memories = await self._memories(owner, {*named, *(name for trait in person.traits for name in trait.cell_ids)})
        for _ in range(MAX_STEPS):
            if not (wanted := {memory.next_id for memory in memories.values() if memory.next_id is not None} - memories.keys()):
                break
            found_more = await self._memories(owner, wanted)
            if not found_more:
                break
            memories |= found_more
        return profile_at(with_successors(person, memories), memories, at or self._clock.now())

    async def _of_facts(self, owner: Owner, at: datetime) -> Profile:
        """What the latest facts say, before a run has written a profile."""
        where = Filter(frozenset(status.value for status in FOUND_BY_DEFAULT), types=_SEMANTIC, now=self._clock.now())
        facts, _ = readable(await self._store.page(owner, "memory", where, None, MAX_FACTS))
        memories = {fact.id: fact for fact in facts}
        known = with_facts(KnownPerson(), facts, subjects(facts, owner.user_id), memories)
        return profile_at(known, memories, at)

    async def _memories(self, owner: Owner, names: Collection[str]) -> dict[str, Memory]:
        ids, memories = sorted(names), dict[str, Memory]()
        for start in range(0, len(ids), _READ_AT_ONCE):
            documents = await self._store.memories(owner, ids[start : start + _READ_AT_ONCE])
            memories |= {name: document.memory for name, document in documents.items()}
        return memories

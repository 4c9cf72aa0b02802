"""The profile of a person as it is read: what the memories that it names say now, or said at a moment.

One would get wrong: a run writes down which memories a profile rests on, not what they say. So what has fallen, was edited or is gone since
the last run is so here as well, at the price of one read by ids.
"""

from __future__ import annotations

from datetime import datetime

from memory_core.domain.models import Memory
from memory_core.domain.profile import profile_at
from memory_core.domain.scene import PROFILE_ID, KnownPerson, Profile, person_in
from memory_core.domain.scope import Owner
from memory_core.ports import Clock, LongTermStore

_READ_AT_ONCE = 200


class Profiles:
    """The profile of any owner."""

    def __init__(self, store: LongTermStore, clock: Clock) -> None:
        self._store, self._clock = store, clock

    async def of(self, owner: Owner, at: datetime | None = None) -> Profile:
        """What is known of the person, as it was true at a moment, now where none is given; an empty one of somebody unknown."""
        look = await self._store.snapshot(owner, [PROFILE_ID])
        found = look.documents.get(PROFILE_ID)
        if found is None or look.head is None or found.body["epoch"] != look.head.epoch:
            return Profile()
        person = person_in(found.body)
        return profile_at(person, await self._memories(owner, person), at or self._clock.now())

    async def _memories(self, owner: Owner, person: KnownPerson) -> dict[str, Memory]:
        named = [*(name for one in person.facts for name in (*one.memory_ids, *one.cell_ids))]
        ids = sorted({*named, *(name for one in person.traits for name in one.cell_ids)})
        found: dict[str, Memory] = {}
        for start in range(0, len(ids), _READ_AT_ONCE):
            shown = await self._store.memories(owner, ids[start : start + _READ_AT_ONCE])
            found |= {name: one.memory for name, one in shown.items()}
        return found

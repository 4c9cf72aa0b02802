"""The profile of a person as it is read.

One would get wrong: it was made by the last run. Whatever it rests on that has fallen or gone since is left out when it is read.
"""

from __future__ import annotations

from datetime import datetime

from memory_core.domain.scene import Profile, profile_at, profile_in
from memory_core.domain.scope import Owner
from memory_core.ports import Clock, LongTermStore

PROFILE_ID = "prf_profile"


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
        return profile_at(profile_in(found.body), at or self._clock.now())

"""The short term without a server: inside this process, or none at all.

The default on a laptop. Gone with the process, which costs nothing but warmth. Note: no other
process reads it, so what is saved waits until its session is looked at, or until a few turns of it
can be written together. Running a script costs 0.3 ms whatever it brings; one for each turn had
been a fifth of a save.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memory_core.adapters.redis.client import in_process
from memory_core.adapters.redis.protocol import (
    SESSION_CAP,
    SESSION_TTL_S,
    vector_from_bytes,
    vector_to_bytes,
)
from memory_core.adapters.redis.store import RedisShortTermStore, Room
from memory_core.domain.memory import Memory, Vector
from memory_core.domain.rate_limits import Bucket, Spent
from memory_core.domain.scope import Owner
from memory_core.ports import Clock, Health, Stamp, Taken, Touch

MAX_BYTES = 32 * 1024 * 1024
"""About 12,000 chat turns with vectors of 384 dimensions."""
MAX_VECTOR_BYTES = 4 * 1024 * 1024
"""About 2,300 vectors of 384 dimensions, of texts and queries that were embedded last: what the
process keeps beside them (`MEMORY_VECTOR_CACHE_ENTRIES`) is found first.
"""
TOGETHER = 16
"""Turns of a session that are written at once: in 1 ms, which is as long as the event loop
should be kept.
"""
MOST_WAITING = 1024
"""Of all sessions together, 5 MB; beyond it, the session that has waited longest is written. With
256, each of many had but 7 to write.
"""


def embedded(
    clock: Clock,
    *,
    max_bytes: int = MAX_BYTES,
    session_ttl_s: int = SESSION_TTL_S,
    session_cap: int = SESSION_CAP,
) -> RedisShortTermStore:
    """A store of this process alone. It has no timeout: its Redis answers within the call."""
    return EmbeddedShortTermStore(clock, max_bytes, session_ttl_s, session_cap)


@dataclass(slots=True)
class _Waiting:
    """What commits of one epoch saved in a session, since `since_s`, and the earliest of
    these commits.
    """

    stamp: Stamp
    since_s: int
    memories: list[Memory] = field(default_factory=list)


class EmbeddedShortTermStore(RedisShortTermStore):
    """The in-process Redis, with write-backs that wait. Whatever reads or changes a session's set
    writes first what waits for it.

    They are written as of the earliest of their commits, so that a set is never taken for newer
    than any of them: one that was restamped meanwhile refuses them all, one that they begin is void
    if something was removed between them. Vectors are kept beside that Redis: a query would wait
    for its commands between the model and the search.
    """

    def __init__(
        self,
        clock: Clock,
        max_bytes: int,
        session_ttl_s: int = SESSION_TTL_S,
        session_cap: int = SESSION_CAP,
    ) -> None:
        room = Room(max_bytes)
        super().__init__(
            in_process(),
            clock,
            adapter="embedded",
            timeout_s=None,
            session_ttl_s=session_ttl_s,
            session_cap=session_cap,
            room=room,
        )
        self._vectors: dict[str, tuple[int, bytes]] = {}
        self._room_of_vectors = Room(MAX_VECTOR_BYTES)
        self._waiting: dict[tuple[Owner, str], _Waiting] = {}
        self._held = 0

    async def remember_all(self, memories: Sequence[Memory], stamp: Stamp) -> bool:
        """Let them wait; False when one has no session."""
        for memory in memories:
            if memory.session_id is not None:
                await self._wait(memory.owner, memory.session_id, memory, stamp)
        while self._held > MOST_WAITING:
            await self._write_waiting(*next(iter(self._waiting)))
        return all(memory.session_id is not None for memory in memories)

    async def recall(
        self, owner: Owner, session_id: str, limit: int
    ) -> tuple[Stamp | None, list[Memory]]:
        """See the base class."""
        await self._write_waiting(owner, session_id)
        return await super().recall(owner, session_id, limit)

    async def drop(
        self,
        owner: Owner,
        session_ids: Sequence[str],
        memory_ids: Sequence[str],
        stamp: Stamp,
        previous_removal: int,
    ) -> None:
        """See the base class."""
        for session_id in session_ids:
            await self._write_waiting(owner, session_id)
        await super().drop(owner, session_ids, memory_ids, stamp, previous_removal)

    async def rebuild(
        self, owner: Owner, session_id: str, memories: Sequence[Memory], stamp: Stamp
    ) -> bool:
        """See the base class."""
        await self._write_waiting(owner, session_id)
        return await super().rebuild(owner, session_id, memories, stamp)

    async def forget(self, owner: Owner, epochs: Sequence[str]) -> bool:
        """See the base class; what waits goes too."""
        for name in [name for name in self._waiting if name[0] == owner]:
            self._held -= len(self._waiting.pop(name).memories)
        return await super().forget(owner, epochs)

    async def vectors(self, keys: Sequence[str]) -> list[Vector | None]:
        """See the base class."""
        now = self._now_s()
        entries = [self._vectors.get(key) for key in keys]
        return [
            None if entry is None or entry[0] <= now else vector_from_bytes(entry[1])
            for entry in entries
        ]

    async def keep_vectors(self, vectors: Mapping[str, Vector]) -> None:
        """See the base class."""
        until = self._now_s() + self._vector_ttl_s
        for key, vector in vectors.items():
            data = vector_to_bytes(vector)
            self._vectors[key] = (until, data)
            for victim in self._room_of_vectors.took((key,), len(data)):
                del self._vectors[victim]

    async def close(self) -> None:
        """Let go of everything."""
        self._vectors.clear()
        self._room_of_vectors = Room(MAX_VECTOR_BYTES)
        self._waiting.clear()
        self._held = 0
        await super().close()

    async def _wait(self, owner: Owner, session_id: str, memory: Memory, stamp: Stamp) -> None:
        known = self._waiting.get((owner, session_id))
        if known is not None and known.stamp.epoch != stamp.epoch:
            await self._write_waiting(owner, session_id)
        waiting = self._waiting.setdefault((owner, session_id), _Waiting(stamp, self._now_s()))
        waiting.stamp = min(waiting.stamp, stamp, key=lambda waiting_stamp: waiting_stamp.sequence)
        waiting.memories.append(memory)
        self._held += 1
        if len(waiting.memories) >= TOGETHER:
            await self._write_waiting(owner, session_id)

    async def _write_waiting(self, owner: Owner, session_id: str) -> None:
        """Write what waits for a session, unless it would be over by now, had it been
        written at once.
        """
        waiting = self._waiting.pop((owner, session_id), None)
        if waiting is not None:
            self._held -= len(waiting.memories)
            if self._now_s() - waiting.since_s < self._session_ttl_s:
                await super().remember_all(waiting.memories, waiting.stamp)


class NullShortTermStore:
    """Holds nothing, and is not degraded by that: it was chosen. `check` says `off`."""

    async def open(self) -> None:
        """Nothing to prepare."""

    async def close(self) -> None:
        """Nothing to close."""

    @property
    def degraded(self) -> bool:
        """Never."""
        return False

    async def recall(
        self, owner: Owner, session_id: str, limit: int
    ) -> tuple[Stamp | None, list[Memory]]:
        """Nothing is held."""
        return None, []

    async def remember(self, memory: Memory, stamp: Stamp) -> bool:
        """Not kept."""
        return False

    async def remember_all(self, memories: Sequence[Memory], stamp: Stamp) -> bool:
        """Not kept."""
        return False

    async def drop(
        self,
        owner: Owner,
        session_ids: Sequence[str],
        memory_ids: Sequence[str],
        stamp: Stamp,
        previous_removal: int,
    ) -> None:
        """Nothing to drop."""

    async def rebuild(
        self, owner: Owner, session_id: str, memories: Sequence[Memory], stamp: Stamp
    ) -> bool:
        """Not kept."""
        return False

    async def forget(self, owner: Owner, epochs: Sequence[str]) -> bool:
        """Nothing to forget."""
        return True

    async def vectors(self, keys: Sequence[str]) -> list[Vector | None]:
        """Every one is missing."""
        return [None] * len(keys)

    async def keep_vectors(self, vectors: Mapping[str, Vector]) -> None:
        """Not kept."""

    async def gather(self, touches: Mapping[Owner, Mapping[str, Touch]]) -> bool:
        """Not kept."""
        return not touches

    async def gathered(self, limit: int) -> list[Owner]:
        """Nothing waits."""
        return []

    async def spend(self, app_id: str, buckets: Sequence[Bucket]) -> Spent | None:
        """Not counted."""
        return None

    async def take(self, owner: Owner, flush_id: str) -> Taken | None:
        """Nothing waits."""
        return None

    async def taken(self, owner: Owner, flush_id: str) -> None:
        """Nothing is set apart."""

    def pool(self) -> tuple[int, int]:
        """No connections."""
        return 0, 0

    async def check(self) -> Health:
        """Off."""
        return Health(
            "none",
            "off",
            detail="no short-term store is configured; every read goes to the long term",
        )

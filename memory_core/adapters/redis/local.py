"""The short-term store without a server: inside this process, or none at all.

It is the default on a laptop. It is lost with the process, which costs only a warm cache. It
follows the same rules as the scripts of `protocol` for Redis.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from memory_core.adapters.redis.protocol import (
    ERASED_TTL_S,
    SESSION_CAP,
    SESSION_TTL_S,
    VECTOR_TTL_S,
    vector_from_bytes,
    vector_to_bytes,
)
from memory_core.domain.memory import Memory, Vector
from memory_core.domain.rate_limits import Bucket, Spent
from memory_core.domain.scope import Owner
from memory_core.ports import AccessCount, Clock, Health, Stamp, TakenAccesses

MAX_BYTES = 32 * 1024 * 1024
"""The most bytes of working sets: about 2,700 chat turns with vectors of 384 dimensions."""
MAX_VECTOR_BYTES = 4 * 1024 * 1024
"""The most bytes of vectors: about 2,300 vectors of 384 dimensions.

They are of texts and queries that were embedded last. The process's own cache
(`MEMORY_VECTOR_CACHE_ENTRIES`) is searched first.
"""
OVERHEAD = 250
"""Bytes of an entry or vector beside its own length: its key and its places."""
MEMORY_BYTES = 9_000
"""Bytes of a memory in this process beside its texts and its vector."""


class NullShortTermStore:
    """A store without data. It is not degraded, since it was chosen; `check` says `off`."""

    async def open(self) -> None:
        """Do not prepare."""

    async def close(self) -> None:
        """Do not close."""

    @property
    def degraded(self) -> bool:
        """Always False."""
        return False

    async def recall(
        self, owner: Owner, session_id: str, limit: int
    ) -> tuple[Stamp | None, list[Memory]]:
        """Return no memories."""
        return None, []

    async def remember(self, memory: Memory, stamp: Stamp) -> bool:
        """Return False: the memory is not cached."""
        return False

    async def remember_all(self, memories: Sequence[Memory], stamp: Stamp) -> bool:
        """Return False: the memories are not cached."""
        return False

    async def drop(
        self,
        owner: Owner,
        session_ids: Sequence[str],
        memory_ids: Sequence[str],
        stamp: Stamp,
        previous_removal: int,
    ) -> None:
        """Ignore the removal."""

    async def rebuild(
        self, owner: Owner, session_id: str, memories: Sequence[Memory], stamp: Stamp
    ) -> bool:
        """Return False: the set is not cached."""
        return False

    async def forget(self, owner: Owner, epochs: Sequence[str]) -> bool:
        """Return True: there is no data."""
        return True

    async def vectors(self, keys: Sequence[str]) -> list[Vector | None]:
        """Return None for each key."""
        return [None] * len(keys)

    async def keep_vectors(self, vectors: Mapping[str, Vector]) -> None:
        """Ignore the vectors."""

    async def add_accesses(self, counts: Mapping[Owner, Mapping[str, AccessCount]]) -> bool:
        """Return False for any accesses: they are not stored."""
        return not counts

    async def owners_with_accesses(self, limit: int) -> list[Owner]:
        """Return no owners."""
        return []

    async def spend(self, app_id: str, buckets: Sequence[Bucket]) -> Spent | None:
        """Return None: the request is not counted."""
        return None

    async def take_accesses(self, owner: Owner, flush_id: str) -> TakenAccesses | None:
        """Return no accesses."""
        return None

    async def drop_taken_accesses(self, owner: Owner, flush_id: str) -> None:
        """Ignore the accesses: none are set aside."""

    def pool(self) -> tuple[int, int]:
        """Return no connections."""
        return 0, 0

    async def check(self) -> Health:
        """Report that no store is configured."""
        return Health(
            "none",
            "off",
            detail="no short-term store is configured; every read goes to the long term",
        )


class _Entry(NamedTuple):
    """A memory in a set; entries sort by their sequences, which differ."""

    sequence: int
    memory_id: str
    memory: Memory

    @property
    def size(self) -> int:
        """The estimated bytes: characters of texts take up to four."""
        memory = self.memory
        texts = (memory.content, memory.search_text, memory.value_text or "")
        vector = 0 if memory.embedding is None else memory.embedding.nbytes
        return MEMORY_BYTES + 4 * sum(map(len, texts)) + vector + OVERHEAD


@dataclass(slots=True)
class _WorkingSet:
    """The working set of a session.

    Attributes:
        epoch: The epoch of the user.
        sequence: The set has no old form of a memory that a commit up to this sequence removed or
            changed. Adding never increases it, or a set whose drop was lost would look valid again.
        ends_s: When it expires, in epoch seconds.
        entries: The entries by memory id.
        size: The estimated bytes.

    """

    epoch: str
    sequence: int
    ends_s: int
    entries: dict[str, _Entry] = field(default_factory=dict)
    size: int = 0

    def add(self, entries: Sequence[_Entry], most: int) -> None:
        """Add entries. The oldest are removed when there are more than `most`."""
        for entry in entries:
            self.discard(entry.memory_id)
            self.entries[entry.memory_id] = entry
            self.size += entry.size
        if len(self.entries) > most:
            for entry in sorted(self.entries.values())[:-most]:
                self.discard(entry.memory_id)

    def discard(self, memory_id: str) -> None:
        """Remove an entry, if it is there."""
        entry = self.entries.pop(memory_id, None)
        if entry is not None:
            self.size -= entry.size


class EmbeddedShortTermStore(NullShortTermStore):
    """Working sets and vectors of this process alone.

    When they take too much memory, the sets that were written least recently are dropped first.
    Accesses and rates, which processes count together, are not stored. The memories are those that
    were committed or read, whose objects never change.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        max_bytes: int = MAX_BYTES,
        session_ttl_s: int = SESSION_TTL_S,
        session_cap: int = SESSION_CAP,
    ) -> None:
        self._clock, self._max_bytes = clock, max_bytes
        self._session_ttl_s, self._session_cap = session_ttl_s, session_cap
        self._sets: OrderedDict[tuple[Owner, str], _WorkingSet] = OrderedDict()
        self._size = 0
        self._erased: dict[tuple[Owner, str], int] = {}
        self._vectors: OrderedDict[str, tuple[int, bytes]] = OrderedDict()
        self._vector_bytes = 0

    async def close(self) -> None:
        """Drop all sets and vectors."""
        self._sets.clear()
        self._vectors.clear()
        self._size = self._vector_bytes = 0

    async def recall(
        self, owner: Owner, session_id: str, limit: int
    ) -> tuple[Stamp | None, list[Memory]]:
        """The newest cached memories of a session, newest first, with their stamp.

        The stamp's last_removal_sequence repeats its sequence.
        """
        working_set = self._standing((owner, session_id))
        if working_set is None:
            return None, []
        newest = sorted(working_set.entries.values(), reverse=True)[: max(1, limit)]
        stamp = Stamp(working_set.epoch, working_set.sequence, working_set.sequence)
        return stamp, [entry.memory for entry in newest]

    async def remember(self, memory: Memory, stamp: Stamp) -> bool:
        """Add a memory.

        False for a memory without a session, and for a memory that is refused.
        """
        return await self.remember_all([memory], stamp)

    async def remember_all(self, memories: Sequence[Memory], stamp: Stamp) -> bool:
        """Add the memories of a commit to the sets of their sessions.

        False unless each of them was added.
        """
        sessions: dict[tuple[Owner, str], list[Memory]] = {}
        for memory in memories:
            if memory.session_id is not None:
                sessions.setdefault((memory.owner, memory.session_id), []).append(memory)
        were_added = [self._add(name, saved, stamp) for name, saved in sessions.items()]
        return (
            bool(were_added)
            and all(were_added)
            and all(memory.session_id is not None for memory in memories)
        )

    async def drop(
        self,
        owner: Owner,
        session_ids: Sequence[str],
        memory_ids: Sequence[str],
        stamp: Stamp,
        previous_removal: int,
    ) -> None:
        """Remove memories from the sets of these sessions.

        A set that missed the removal before is dropped.
        """
        for session_id in session_ids:
            working_set = self._standing((owner, session_id))
            if working_set is None:
                continue
            if working_set.epoch != stamp.epoch or working_set.sequence < previous_removal:
                self._let_go((owner, session_id))
                continue
            self._size -= working_set.size
            for memory_id in memory_ids:
                working_set.discard(memory_id)
            self._size += working_set.size
            working_set.sequence = max(working_set.sequence, stamp.sequence)

    async def rebuild(
        self, owner: Owner, session_id: str, memories: Sequence[Memory], stamp: Stamp
    ) -> bool:
        """Replace a set by these memories (the newest up to the cap), read at `stamp`.

        Memories that were saved after that stay. False when refused.
        """
        name = (owner, session_id)
        before = self._standing(name)
        newer: list[_Entry] = []
        if self._is_erased(owner, stamp.epoch):
            return False
        if before is not None and before.epoch == stamp.epoch:
            if stamp.sequence < before.sequence:
                return False
            newer = [entry for entry in before.entries.values() if entry.sequence > stamp.sequence]
        newest = sorted(memories, key=lambda memory: memory.sequence)[-self._session_cap :]
        rebuilt = _WorkingSet(stamp.epoch, stamp.sequence, 0)
        rebuilt.add([*newer, *_entries(newest)], self._session_cap)
        self._keep(name, rebuilt)
        return True

    async def forget(self, owner: Owner, epochs: Sequence[str]) -> bool:
        """Drop all data of an owner, and refuse later writes of these epochs."""
        now = self._now_s()
        self._erased = {name: until for name, until in self._erased.items() if until > now}
        self._erased |= {(owner, epoch): now + ERASED_TTL_S for epoch in epochs}
        for name in [name for name in self._sets if name[0] == owner]:
            self._let_go(name)
        return True

    async def vectors(self, keys: Sequence[str]) -> list[Vector | None]:
        """Cached embeddings in the order of `keys`; None for each that is missing."""
        now = self._now_s()
        entries = [self._vectors.get(key) for key in keys]
        return [
            None if entry is None or entry[0] <= now else vector_from_bytes(entry[1])
            for entry in entries
        ]

    async def keep_vectors(self, vectors: Mapping[str, Vector]) -> None:
        """Cache embeddings."""
        until = self._now_s() + VECTOR_TTL_S
        for key, vector in vectors.items():
            if (before := self._vectors.pop(key, None)) is not None:
                self._vector_bytes -= len(before[1]) + OVERHEAD
            data = vector_to_bytes(vector)
            self._vectors[key] = (until, data)
            self._vector_bytes += len(data) + OVERHEAD
            while self._vector_bytes > MAX_VECTOR_BYTES and len(self._vectors) > 1:
                _, (_, oldest) = self._vectors.popitem(last=False)
                self._vector_bytes -= len(oldest) + OVERHEAD

    async def check(self) -> Health:
        """Always ok."""
        return Health("embedded", "ok", 0.0, self._clock.now())

    def _add(self, name: tuple[Owner, str], memories: Sequence[Memory], stamp: Stamp) -> bool:
        if self._is_erased(name[0], stamp.epoch):
            return False
        entries = _entries(memories[-self._session_cap :])
        working_set = self._standing(name)
        if working_set is None or working_set.epoch != stamp.epoch:
            working_set = _WorkingSet(stamp.epoch, stamp.sequence, 0)
        if not entries or stamp.sequence < working_set.sequence:
            return False
        self._let_go(name)
        working_set.add(entries, self._session_cap)
        self._keep(name, working_set)
        return len(entries) == len(memories)

    def _standing(self, name: tuple[Owner, str]) -> _WorkingSet | None:
        """The session's set, unless it has expired."""
        working_set = self._sets.get(name)
        return (
            working_set if working_set is not None and working_set.ends_s > self._now_s() else None
        )

    def _keep(self, name: tuple[Owner, str], working_set: _WorkingSet) -> None:
        """Store a set that was just written.

        Expired sets are dropped, and the oldest sets while all are over the limit.
        """
        now = self._now_s()
        self._let_go(name)
        working_set.ends_s = now + self._session_ttl_s
        self._sets[name] = working_set
        self._size += working_set.size
        while len(self._sets) > 1:
            oldest = next(iter(self._sets))
            if self._size <= self._max_bytes and self._sets[oldest].ends_s > now:
                break
            self._let_go(oldest)

    def _let_go(self, name: tuple[Owner, str]) -> None:
        working_set = self._sets.pop(name, None)
        if working_set is not None:
            self._size -= working_set.size

    def _is_erased(self, owner: Owner, epoch: str) -> bool:
        return self._erased.get((owner, epoch), 0) > self._now_s()

    def _now_s(self) -> int:
        return int(self._clock.now().timestamp())


def _entries(memories: Sequence[Memory]) -> list[_Entry]:
    return [_Entry(memory.sequence, memory.id, memory) for memory in memories]

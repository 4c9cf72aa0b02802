"""The short term without a server: inside this process, or none at all.

The default on a laptop. Gone with the process, which costs nothing but warmth. It keeps to the
rules that the scripts of `protocol` have for Redis.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from memory_core.adapters.redis.protocol import (
    ERASED_TTL_S,
    SESSION_CAP,
    SESSION_TTL_S,
    VECTOR_TTL_S,
    from_bytes,
    to_bytes,
    vector_from_bytes,
    vector_to_bytes,
)
from memory_core.domain.memory import Memory, Vector
from memory_core.domain.rate_limits import Bucket, Spent
from memory_core.domain.scope import Owner
from memory_core.ports import Clock, Health, Stamp, TakenAccesses, Touch

MAX_BYTES = 32 * 1024 * 1024
"""About 12,000 chat turns with vectors of 384 dimensions."""
MAX_VECTOR_BYTES = 4 * 1024 * 1024
"""About 2,300 vectors of 384 dimensions, of texts and queries that were embedded last: what the
process keeps beside them (`MEMORY_VECTOR_CACHE_ENTRIES`) is found first.
"""
OVERHEAD = 250
"""Bytes that an entry or a vector costs beside its own length: its key and its places."""
log = logging.getLogger(__name__)


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

    async def take(self, owner: Owner, flush_id: str) -> TakenAccesses | None:
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


class _Entry(NamedTuple):
    """A memory in a set, as bytes; entries sort by their sequences."""

    sequence: int
    memory_id: str
    data: bytes


@dataclass(slots=True)
class _WorkingSet:
    """The set of one session.

    Attributes:
        epoch: Of the user's life that it belongs to.
        sequence: Nothing that a commit up to this one removed or changed is in it in its old form.
            Adding never raises it, or a set whose drop was lost would look good again.
        ends_s: When it is over, by the clock.
        entries: By the memories' ids.
        size: Bytes that it takes, estimated.

    """

    epoch: str
    sequence: int
    ends_s: int
    entries: dict[str, _Entry] = field(default_factory=dict)
    size: int = 0

    def add(self, entries: Sequence[_Entry], most: int) -> None:
        """Take in entries; of more than `most` the oldest go."""
        for entry in entries:
            self.discard(entry.memory_id)
            self.entries[entry.memory_id] = entry
            self.size += len(entry.data) + OVERHEAD
        if len(self.entries) > most:
            for entry in sorted(self.entries.values())[:-most]:
                self.discard(entry.memory_id)

    def discard(self, memory_id: str) -> None:
        """Let an entry go, if it is there."""
        entry = self.entries.pop(memory_id, None)
        if entry is not None:
            self.size -= len(entry.data) + OVERHEAD


class EmbeddedShortTermStore(NullShortTermStore):
    """Working sets and vectors of this process alone. The sets that were written to least recently
    go first where they take too much together. Accesses and rates, which processes count together,
    are not kept. `skipped` counts memories that could not be written as an entry.
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
        self.skipped = 0

    async def close(self) -> None:
        """Let go of everything."""
        self._sets.clear()
        self._vectors.clear()
        self._size = self._vector_bytes = 0

    async def recall(
        self, owner: Owner, session_id: str, limit: int
    ) -> tuple[Stamp | None, list[Memory]]:
        """The newest `limit` memories that are held of a session, newest first, and the stamp they
        are good for; its last_removal_sequence repeats its sequence.
        """
        working_set = self._standing((owner, session_id))
        if working_set is None:
            return None, []
        newest = sorted(working_set.entries.values(), reverse=True)[: max(1, limit)]
        stamp = Stamp(working_set.epoch, working_set.sequence, working_set.sequence)
        return stamp, [from_bytes(entry.data) for entry in newest]

    async def remember(self, memory: Memory, stamp: Stamp) -> bool:
        """Add one memory; False for one without a session, and for one that is refused."""
        return await self.remember_all([memory], stamp)

    async def remember_all(self, memories: Sequence[Memory], stamp: Stamp) -> bool:
        """Add what one commit saved to its sessions' sets. False unless each of them was added."""
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
        """Take memories out of these sessions; a set that missed the removal before goes."""
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
        """Replace a set by these memories (the newest up to the cap), read at `stamp`. What was
        saved after that stays. False: refused.
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
        rebuilt.add([*newer, *self._entries(newest)], self._session_cap)
        self._keep(name, rebuilt)
        return True

    async def forget(self, owner: Owner, epochs: Sequence[str]) -> bool:
        """Let go of everything of an owner, and refuse what is written back of these epochs."""
        now = self._now_s()
        self._erased = {name: until for name, until in self._erased.items() if until > now}
        self._erased |= {(owner, epoch): now + ERASED_TTL_S for epoch in epochs}
        for name in [name for name in self._sets if name[0] == owner]:
            self._let_go(name)
        return True

    async def vectors(self, keys: Sequence[str]) -> list[Vector | None]:
        """Cached embeddings in the order of `keys`, None where missing."""
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
        facts = {"skipped": self.skipped}
        return Health("embedded", "ok", 0.0, self._clock.now(), facts=facts)

    def _add(self, name: tuple[Owner, str], memories: Sequence[Memory], stamp: Stamp) -> bool:
        if self._is_erased(name[0], stamp.epoch):
            return False
        entries = self._entries(memories[-self._session_cap :])
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
        """The session's set, if it is not over."""
        working_set = self._sets.get(name)
        return (
            working_set if working_set is not None and working_set.ends_s > self._now_s() else None
        )

    def _keep(self, name: tuple[Owner, str], working_set: _WorkingSet) -> None:
        """Keep what was just written; let go what is over, and what is too much."""
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

    def _entries(self, memories: Sequence[Memory]) -> list[_Entry]:
        """The memories as entries, without those that can't be written."""
        entries = []
        for memory in memories:
            try:
                entries.append(_Entry(memory.sequence, memory.id, to_bytes(memory)))
            except (TypeError, ValueError) as error:
                if not self.skipped:
                    log.warning("A memory can't be written as an entry, skipped: %s", error)
                self.skipped += 1
        return entries

    def _now_s(self) -> int:
        return int(self._clock.now().timestamp())

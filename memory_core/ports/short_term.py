"""The recent past: a cache of the truth, which may lose everything and must never show what is gone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from memory_core.domain.models import Memory, Vector
from memory_core.domain.scope import Owner
from memory_core.ports.common import Health, Pooled
from memory_core.ports.records import Touch


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a head says about caches: its epoch, its sequence, and the last sequence that removed or changed something."""

    epoch: str
    sequence: int
    last_removal_sequence: int


@dataclass(frozen=True, slots=True)
class Taken:
    """Accesses that a process set out to write down, under the id of that attempt."""

    flush_id: str
    touches: Mapping[str, Touch]


class ShortTermStore(Pooled, Protocol):
    """The recent past of each session, a cache of the truth. No call raises: a failure is reported by `degraded`."""

    async def open(self) -> None:
        """Prepare the connection; never fails the start."""

    async def close(self) -> None:
        """Close the connection."""

    @property
    def degraded(self) -> bool:
        """True while calls fail or the circuit is open."""

    async def recall(self, owner: Owner, session_id: str, limit: int) -> tuple[Stamp | None, list[Memory]]:
        """The newest entries of a session with the stamp they are good for; `None` when nothing is held.

        The caller serves them only when `stamp.epoch` is the head's and `stamp.sequence` ≥ the head's last_removal_sequence.
        """

    async def remember(self, memory: Memory, stamp: Stamp) -> bool:
        """Write back one saved memory, as of the commit `stamp`. False when refused as older than the set, or when down."""

    async def remember_all(self, memories: Sequence[Memory], stamp: Stamp) -> bool:
        """The same of all that one commit saved, in as few round trips as there are sessions. False when one was not kept.

        A store that no other process reads may do it later, before it next looks at these sessions; True then says that it was taken in.
        """

    async def drop(self, owner: Owner, session_ids: Sequence[str], memory_ids: Sequence[str], stamp: Stamp, previous_removal: int) -> None:
        """A commit removed or changed these memories: take them out of their sessions' sets and restamp, or void the sets."""

    async def rebuild(self, owner: Owner, session_id: str, memories: Sequence[Memory], stamp: Stamp) -> bool:
        """Replace a void set by what the truth says as of `stamp`; refused when a newer set is there."""

    async def forget(self, owner: Owner, epochs: Sequence[str]) -> bool:
        """Empty everything that is held of an owner, and refuse what is written back of these epochs from now on. False when down."""

    async def vectors(self, keys: Sequence[str]) -> list[Vector | None]:
        """Cached embeddings by key, None where missing."""

    async def keep_vectors(self, vectors: Mapping[str, Vector]) -> None:
        """Cache embeddings, with the store's own TTL."""

    async def count(self, app_id: str, name: str, amount: int, life: timedelta) -> int | None:
        """Add to a counter of an app that all processes share; what it holds then, None when it can't be asked. 0 only reads.

        Forgotten `life` after its last change, and when the store loses its memory.
        """

    async def gather(self, touches: Mapping[Owner, Mapping[str, Touch]]) -> bool:
        """Add accesses to those that wait to be written down, for all processes. False: not kept here, they are the caller's to keep."""

    async def gathered(self, limit: int) -> list[Owner]:
        """Up to `limit` owners with accesses that wait, in no order."""

    async def take(self, owner: Owner, flush_id: str) -> Taken | None:
        """The accesses that wait, set apart under `flush_id`; those that an earlier attempt set apart, while there are such. None: none."""

    async def taken(self, owner: Owner, flush_id: str) -> None:
        """What was set apart under `flush_id` is written down: forget it."""

    async def check(self) -> Health:
        """A round trip that writes, for readiness; says what is wrong instead of raising."""

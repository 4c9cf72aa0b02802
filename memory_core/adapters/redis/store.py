"""`ShortTermStore` on Redis.

It is a cache of the long-term store, written after it as best effort.

Note: no write here must arrive. A lost write-back leaves a smaller set. A lost drop leaves a set
whose stamp is behind the head's last removal, and such a set is never served. So no call raises and
none waits long: each has a timeout, and a circuit breaker after several failures.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from memory_core.adapters.breaker import Breaker
from memory_core.adapters.redis import protocol
from memory_core.adapters.redis.client import Connect, GuardedRedis
from memory_core.adapters.redis.protocol import (
    ACCESSES_TTL_S,
    ERASED_TTL_S,
    GATHERED,
    SESSION_CAP,
    SESSION_TTL_S,
    VECTOR_TTL_S,
    SessionKeys,
    access_keys,
    erased_key,
    owner_name,
    owner_of,
    owner_pattern,
    session_keys,
    vector_key,
)
from memory_core.domain.memory import Memory, Vector
from memory_core.domain.rate_limits import Bucket, Level, Spent
from memory_core.domain.scope import Owner
from memory_core.ports import AccessCount, Clock, Stamp, TakenAccesses

if TYPE_CHECKING:
    from redis.asyncio import Redis


log = logging.getLogger(__name__)
FORGET_TIMEOUT_S = 60.0
KEYS_A_STEP = 1000
SCRIPTS = {
    "recall": protocol.RECALL,
    "remember": protocol.REMEMBER,
    "drop": protocol.DROP,
    "rebuild": protocol.REBUILD,
    "take": protocol.TAKE,
    "taken": protocol.TAKEN,
    "spend": protocol.SPEND,
}


class RedisShortTermStore(GuardedRedis):
    """The short-term store on a Redis server.

    Args:
        connect: Makes the client.
        clock: The present time.
        adapter: The name of the adapter in logs and checks.
        timeout_s: The longest duration of a call in seconds, connecting included; None for no
            limit.
        breaker: The circuit breaker; None makes a new breaker.
        session_ttl_s: How long the data of a session is kept.
        vector_ttl_s: How long the vector of a text is kept.
        session_cap: The most memories of a session, the newest.

    Attributes:
        failures: Failed calls since the start.
        skipped: Memories that could not be written as an entry, or read from an entry.

    """

    def __init__(
        self,
        connect: Connect,
        clock: Clock,
        *,
        adapter: str = "redis",
        timeout_s: float | None = 0.1,
        breaker: Breaker | None = None,
        session_ttl_s: int = SESSION_TTL_S,
        vector_ttl_s: int = VECTOR_TTL_S,
        session_cap: int = SESSION_CAP,
    ) -> None:
        super().__init__(
            connect, clock, SCRIPTS, adapter=adapter, timeout_s=timeout_s, breaker=breaker
        )
        self._session_ttl_s = session_ttl_s
        self._vector_ttl_s = vector_ttl_s
        self._session_cap = session_cap

    async def recall(
        self, owner: Owner, session_id: str, limit: int
    ) -> tuple[Stamp | None, list[Memory]]:
        """The newest cached memories of a session, newest first, with their stamp.

        It takes a single round trip. The result is (None, []) when the session is not cached or
        Redis is down. The stamp's last_removal_sequence repeats its sequence, up to which the set
        has no removed memory. A set may lack memories, so it is no list of the session. A set whose
        stamp cannot be read is deleted.
        """
        keys = session_keys(owner, session_id)
        answer = await self._script("recall", [keys.entries, keys.order], [max(1, limit)], None)
        if answer is None or answer[0] is None:
            return None, []
        epoch, sequence, raw = answer
        try:
            stamp = Stamp(epoch.decode(), int(sequence), int(sequence))
        except (TypeError, ValueError) as error:
            self._skip("read", error)
            await self._bounded(
                "discard", lambda client: client.delete(keys.entries, keys.order), 0
            )
            return None, []
        return stamp, [memory for memory in map(self._decoded, raw) if memory is not None]

    async def remember(self, memory: Memory, stamp: Stamp) -> bool:
        """Add a saved memory to its session's set, in a single round trip.

        See the port for the meaning of False. A memory without a session has no set: False. After a
        change of a cached memory, `drop` comes first, then `remember`.
        """
        return await self.remember_all([memory], stamp)

    async def remember_all(self, memories: Sequence[Memory], stamp: Stamp) -> bool:
        """Add the memories of a commit to the sets of their sessions.

        It takes a round trip per session. False unless each of the memories was added.
        """
        sessions: dict[tuple[Owner, str], list[Memory]] = {}
        for memory in memories:
            if memory.session_id is not None:
                sessions.setdefault((memory.owner, memory.session_id), []).append(memory)
        were_added = [
            await self._add(
                named[0], session_keys(*named), memories_of_session[-self._session_cap :], stamp
            )
            for named, memories_of_session in sessions.items()
        ]
        return (
            bool(were_added)
            and all(were_added)
            and all(memory.session_id is not None for memory in memories)
        )

    async def _add(
        self, owner: Owner, keys: SessionKeys, memories: Sequence[Memory], stamp: Stamp
    ) -> bool:
        arguments: list[Any] = [
            stamp.epoch,
            stamp.sequence,
            self._session_cap,
            self._session_ttl_s,
            self._now_s(),
        ]
        written = 0
        for memory in memories:
            data = self._encoded(memory)
            if data is not None:
                written += 1
                arguments += [memory.id, data, memory.sequence]
        if not written or not await self._script(
            "remember", [keys.entries, keys.order, erased_key(owner)], arguments, 0
        ):
            return False
        return written == len(memories)

    async def drop(
        self,
        owner: Owner,
        session_ids: Sequence[str],
        memory_ids: Sequence[str],
        stamp: Stamp,
        previous_removal: int,
    ) -> None:
        """Remove memories that a commit removed or changed from their sessions' sets.

        It takes a single round trip. A set that was stamped before `previous_removal`, the head's
        last_removal_sequence before this commit, has missed a removal and is deleted.
        """
        if not session_ids:
            return
        keys = [key for session_id in session_ids for key in _pair(owner, session_id)]
        await self._script(
            "drop", keys, [stamp.epoch, stamp.sequence, previous_removal, *memory_ids], None
        )

    async def rebuild(
        self, owner: Owner, session_id: str, memories: Sequence[Memory], stamp: Stamp
    ) -> bool:
        """Replace a session's set by these memories (the newest up to the cap).

        They were read at `stamp`. False when refused or down.
        """
        keys = session_keys(owner, session_id)
        newest = sorted(memories, key=lambda memory: memory.sequence)[-self._session_cap :]
        arguments: list[Any] = [stamp.epoch, stamp.sequence, self._session_ttl_s, self._now_s()]
        for memory in newest:
            data = self._encoded(memory)
            if data is not None:
                arguments += [memory.id, data, memory.sequence]
        return bool(
            await self._script(
                "rebuild", [keys.entries, keys.order, erased_key(owner)], arguments, 0
            )
        )

    async def forget(self, owner: Owner, epochs: Sequence[str]) -> bool:
        """Record the epochs as erased, then delete every key of the owner.

        This goes through all keys, which may take seconds on a large server.
        """
        erased = erased_key(owner)

        async def empty(client: Redis) -> bool:
            if epochs:
                pipeline = client.pipeline(transaction=True)
                pipeline.sadd(erased, *epochs)
                pipeline.expire(erased, ERASED_TTL_S)
                await pipeline.execute()
            async for key in client.scan_iter(match=owner_pattern(owner), count=KEYS_A_STEP):
                if key != erased.encode():
                    await client.delete(key)
            await client.srem(GATHERED, owner_name(owner))
            return True

        return await self._bounded("forget", empty, False, FORGET_TIMEOUT_S)

    async def vectors(self, keys: Sequence[str]) -> list[Vector | None]:
        """Cached embeddings in the order of `keys`; None for each that is missing.

        The keys are hashes of model and text. It takes a single MGET.
        """
        if not keys:
            return []
        missing: list[Any] = [None] * len(keys)
        names = [vector_key(key) for key in keys]
        values = await self._bounded("vectors", lambda client: client.mget(names), missing)
        return [
            None if data is None or len(data) % 4 else protocol.vector_from_bytes(data)
            for data in values
        ]

    async def keep_vectors(self, vectors: Mapping[str, Vector]) -> None:
        """Cache embeddings for `vector_ttl_s`, in a single pipeline."""
        if not vectors:
            return
        data = {
            vector_key(key): protocol.vector_to_bytes(vector) for key, vector in vectors.items()
        }

        async def keep(client: Redis) -> bool:
            pipeline = client.pipeline(transaction=False)
            for key, value in data.items():
                pipeline.set(key, value, ex=self._vector_ttl_s)
            await pipeline.execute()
            return True

        await self._bounded("keep_vectors", keep, False)

    async def add_accesses(self, counts: Mapping[Owner, Mapping[str, AccessCount]]) -> bool:
        """Add accesses, for all processes."""
        if not counts:
            return True
        return await self._bounded("gather", lambda client: add_accesses(client, counts), False)

    async def owners_with_accesses(self, limit: int) -> list[Owner]:
        """Some owners with accesses that wait."""
        names: Any = await self._bounded(
            "gathered", lambda client: owners_with_accesses(client, limit), None
        )
        return [owner_of(name.decode()) for name in names or ()]

    async def take_accesses(self, owner: Owner, flush_id: str) -> TakenAccesses | None:
        """Set the waiting accesses aside."""
        keys = access_keys(owner)
        taken = taken_of(await self._script("take", [keys.waiting, keys.apart], [flush_id], []))
        if taken is None:
            await self._bounded("take", lambda client: client.srem(GATHERED, owner_name(owner)), 0)
        return taken

    async def drop_taken_accesses(self, owner: Owner, flush_id: str) -> None:
        """Delete the accesses that were set aside."""
        await self._script("taken", [access_keys(owner).apart], [flush_id], 0)

    async def spend(self, app_id: str, buckets: Sequence[Bucket]) -> Spent | None:
        """Count by the server's clock; None while the server is down."""
        keys = [protocol.rate_key(app_id, bucket.name, bucket.key) for bucket in buckets]
        rates = [
            number for bucket in buckets for number in (bucket.rate.requests, bucket.rate.seconds)
        ]
        answer = await self._script("spend", keys, rates, None)
        if answer is None:
            return None
        levels = (
            Level(bucket, int(ahead) / 1e6)
            for bucket, ahead in zip(buckets, answer[1:], strict=True)
        )
        return Spent(tuple(levels), refused=not answer[0])

    def _now_s(self) -> int:
        return int(self._clock.now().timestamp())

    def _encoded(self, memory: Memory) -> bytes | None:
        try:
            return protocol.to_bytes(memory)
        except (TypeError, ValueError) as error:
            self._skip("written", error)
            return None

    def _decoded(self, data: bytes | None) -> Memory | None:
        """The memory of an entry.

        None when the server evicted it or another version of the program wrote it.
        """
        if data is None:
            return None
        try:
            return protocol.from_bytes(data)
        except ValueError as error:
            self._skip("read", error)
            return None

    def _skip(self, action: str, error: Exception) -> None:
        if not self.skipped:
            log.warning(
                "A memory can't be %s as an entry of the short term (%s), skipped: %s",
                action,
                self._adapter,
                error,
            )
        self.skipped += 1


def _pair(owner: Owner, session_id: str) -> tuple[str, str]:
    keys = session_keys(owner, session_id)
    return keys.entries, keys.order


# Accesses in Redis: counted by all processes, and set aside by the process that writes them to the
# long-term store.
#
# Note: a worker that finds accesses which were set aside continues that attempt, under its id. By
# the id the long-term store knows whether it was written. So a process that dies in between neither
# loses nor doubles an access.


_AT, _FADED = "#at:", "#faded:"
"""Prefixes of a memory's id in the hash of accesses; no id has a `#`.

They are for the last access in epoch milliseconds, and for whether the memory counted as faded
then.
"""
_FLUSH = b"#flush"


async def add_accesses(client: Redis, counts: Mapping[Owner, Mapping[str, AccessCount]]) -> bool:
    """Count accesses of memories of any owners, in a single pipeline.

    Args:
        client: The client.
        counts: The accesses by owner and memory id.

    """
    counts = {owner: some for owner, some in counts.items() if some}
    if not counts:
        return True
    pipeline = client.pipeline(transaction=False)
    for owner, some in counts.items():
        key = access_keys(owner).waiting
        for memory_id, access in some.items():
            pipeline.hincrby(key, memory_id, access.count)
        pipeline.hset(
            key,
            mapping={
                _AT + memory_id: int(access.at.timestamp() * 1000)
                for memory_id, access in some.items()
            },
        )
        faded: dict[Any, Any] = {
            _FADED + memory_id: 1 for memory_id, access in some.items() if access.faded
        }
        if faded:
            pipeline.hset(key, mapping=faded)
        pipeline.expire(key, ACCESSES_TTL_S)
    pipeline.sadd(GATHERED, *(owner_name(owner) for owner in counts))
    await pipeline.execute()
    return True


async def owners_with_accesses(client: Redis, limit: int) -> Any:
    """Names of some owners with accesses that wait.

    Args:
        client: The client.
        limit: The most names to return.

    """
    return await client.srandmember(GATHERED, limit)


def taken_of(answer: list[bytes]) -> TakenAccesses | None:
    """The accesses in an answer of `TAKE`, which has fields and values in turn."""
    fields = dict(zip(answer[::2], answer[1::2], strict=True))
    if _FLUSH not in fields:
        return None
    flush_id = fields.pop(_FLUSH).decode()
    numbers = {
        name.decode(): int(value) for name, value in fields.items() if not name.startswith(b"#")
    }
    counts = {
        name: AccessCount(
            count,
            _moment(fields.get(f"{_AT}{name}".encode(), b"0")),
            faded=f"{_FADED}{name}".encode() in fields,
        )
        for name, count in numbers.items()
    }
    return TakenAccesses(flush_id, counts)


def _moment(milliseconds: bytes) -> datetime:
    return datetime.fromtimestamp(int(milliseconds) / 1000, timezone.utc)

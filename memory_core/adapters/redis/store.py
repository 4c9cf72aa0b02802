"""`ShortTermStore` on Redis: each session's newest memories, and embeddings by text.

A cache of the truth, written after the truth, best effort. What a reader would get wrong: nothing here has to arrive. A lost
write-back leaves a thinner set; a lost drop leaves a set whose stamp is behind the head's last removal, which nobody serves.
So no call raises and none waits: each is bounded by a timeout, and by a breaker once several have failed.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from memory_core.adapters.redis import entry, scripts
from memory_core.adapters.redis.breaker import Breaker
from memory_core.adapters.redis.client import Connect
from memory_core.adapters.redis.keys import (
    ERASED_TTL_S,
    SESSION_CAP,
    SESSION_TTL_S,
    VECTOR_TTL_S,
    SessionKeys,
    counter_key,
    erased_key,
    owner_pattern,
    session_keys,
    vector_key,
)
from memory_core.adapters.redis.room import Room
from memory_core.domain.models import Memory, Vector
from memory_core.domain.scope import Owner
from memory_core.ports import Clock, Health, Stamp

if TYPE_CHECKING:
    from redis.asyncio import Redis

log = logging.getLogger(__name__)
T = TypeVar("T")
START_TIMEOUT_S = 2.0
"""The first connection may take longer than a call: name lookup, TLS, a first token."""
FORGET_TIMEOUT_S = 60.0
KEYS_A_STEP = 1000

MAX_CONCURRENT = 32
"""Calls under way at once, hence connections; a burst waits its turn instead of opening a connection for each request."""


class RedisShortTermStore:
    """The short term on whatever `connect` connects to.

    timeout_s bounds each call, connecting included; None: nothing does. session_ttl_s, vector_ttl_s, session_cap: see `keys`. room
    bounds the memory of a server that does not bound its own. `failures` counts failed calls since the start; `skipped` counts memories
    that could not be written as an entry, or read back from one.
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
        room: Room | None = None,
    ) -> None:
        self._connect = connect
        self._clock = clock
        self._adapter = adapter
        self._timeout_s = timeout_s
        self._breaker = breaker or Breaker(clock)
        self._session_ttl_s = session_ttl_s
        self._vector_ttl_s = vector_ttl_s
        self._session_cap = session_cap
        self._room = room
        self._slots = asyncio.Semaphore(MAX_CONCURRENT)
        self._under_way = 0
        self._client: Redis | None = None
        self._scripts: dict[str, Callable[..., Awaitable[Any]]] = {}
        self._last_ok: datetime | None = None
        self._last_error: str | None = None
        self.failures = 0
        self.skipped = 0

    async def open(self) -> None:
        """Connect, so that the first call finds a connection. A server that is down is noted, no more."""
        await self._bounded("open", lambda client: client.ping(), None, START_TIMEOUT_S)

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    @property
    def degraded(self) -> bool:
        """True from the first failed call until the next that is answered, hence also while the circuit is open."""
        return self._breaker.failing

    async def recall(self, owner: Owner, session_id: str, limit: int) -> tuple[Stamp | None, list[Memory]]:
        """The newest `limit` memories that are held of a session, newest first, and the stamp they are good for: one round trip.

        (None, []) when nothing is held, or when Redis is down. The stamp's last_removal_sequence repeats its sequence, up to
        which the set is known to be clean. A set may lack memories; it is no list of the session.
        """
        keys = session_keys(owner, session_id)
        answer = await self._script("recall", [keys.entries, keys.order], [max(1, limit)], None)
        if answer is None or answer[0] is None:
            return None, []
        epoch, sequence, raw = answer
        stamp = Stamp(epoch.decode(), int(sequence), int(sequence))
        return stamp, [memory for memory in map(self._decoded, raw) if memory is not None]

    async def remember(self, memory: Memory, stamp: Stamp) -> bool:
        """Add one saved memory to its session's set, as of its commit: one round trip. See the port for what False means.

        A memory without a session has no set: False. After a change of a memory that was there, `drop` first, then `remember`.
        """
        return await self.remember_all([memory], stamp)

    async def remember_all(self, memories: Sequence[Memory], stamp: Stamp) -> bool:
        """Add what one commit saved to its sessions' sets: one round trip a session. False unless each of them was added."""
        sessions: dict[tuple[Owner, str], list[Memory]] = {}
        for memory in memories:
            if memory.session_id is not None:
                sessions.setdefault((memory.owner, memory.session_id), []).append(memory)
        kept = [await self._add(named[0], session_keys(*named), told[-self._session_cap :], stamp) for named, told in sessions.items()]
        return bool(kept) and all(kept) and all(memory.session_id is not None for memory in memories)

    async def _add(self, owner: Owner, keys: SessionKeys, memories: Sequence[Memory], stamp: Stamp) -> bool:
        arguments: list[Any] = [stamp.epoch, stamp.sequence, self._session_cap, self._session_ttl_s, self._now_s()]
        sizes = []
        for memory in memories:
            data = self._encoded(memory)
            if data is not None:
                sizes.append(len(data))
                arguments += [memory.id, data, memory.sequence]
        if not sizes or not await self._script("remember", [keys.entries, keys.order, erased_key(owner)], arguments, 0):
            return False
        for size in sizes:
            await self._make_room((keys.entries, keys.order), size, self._session_cap)
        return len(sizes) == len(memories)

    async def drop(self, owner: Owner, session_ids: Sequence[str], memory_ids: Sequence[str], stamp: Stamp, previous_removal: int) -> None:
        """Take memories that a commit removed or changed out of these sessions, in one round trip; a set that is behind is deleted.

        previous_removal: the head's last_removal_sequence before this commit. A set stamped before it has missed a removal.
        """
        if not session_ids:
            return
        keys = [key for one in session_ids for key in _pair(owner, one)]
        await self._script("drop", keys, [stamp.epoch, stamp.sequence, previous_removal, *memory_ids], None)

    async def rebuild(self, owner: Owner, session_id: str, memories: Sequence[Memory], stamp: Stamp) -> bool:
        """Replace a session's set by these memories (the newest up to the cap), read at `stamp`. False: refused, or down."""
        keys = session_keys(owner, session_id)
        newest = sorted(memories, key=lambda memory: memory.sequence)[-self._session_cap :]
        arguments: list[Any] = [stamp.epoch, stamp.sequence, self._session_ttl_s, self._now_s()]
        size = 0
        for memory in newest:
            data = self._encoded(memory)
            if data is not None:
                size += len(data)
                arguments += [memory.id, data, memory.sequence]
        kept = bool(await self._script("rebuild", [keys.entries, keys.order, erased_key(owner)], arguments, 0))
        if kept and newest:
            await self._make_room((keys.entries, keys.order), size, 1)
        return kept

    async def forget(self, owner: Owner, epochs: Sequence[str]) -> bool:
        """Note the epochs as erased, then delete every key of the owner: a walk over all keys, which may take seconds on a large server."""
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
            return True

        return await self._bounded("forget", empty, False, FORGET_TIMEOUT_S)

    async def vectors(self, keys: Sequence[str]) -> list[Vector | None]:
        """Cached embeddings in the order of `keys` (hashes of model and text), None where missing: one MGET."""
        if not keys:
            return []
        missing: list[Any] = [None] * len(keys)
        names = [vector_key(key) for key in keys]
        found = await self._bounded("vectors", lambda client: client.mget(names), missing)
        return [None if data is None or len(data) % 4 else entry.vector_from_bytes(data) for data in found]

    async def keep_vectors(self, vectors: Mapping[str, Vector]) -> None:
        """Cache embeddings for `vector_ttl_s`: one pipeline."""
        if not vectors:
            return
        data = {vector_key(key): entry.vector_to_bytes(vector) for key, vector in vectors.items()}

        async def keep(client: Redis) -> bool:
            pipeline = client.pipeline(transaction=False)
            for key, value in data.items():
                pipeline.set(key, value, ex=self._vector_ttl_s)
            await pipeline.execute()
            return True

        if await self._bounded("keep_vectors", keep, False):
            for key, value in data.items():
                await self._make_room((key,), len(value), 1)

    async def count(self, app_id: str, name: str, amount: int, life: timedelta) -> int | None:
        """Add to a shared counter and renew its life: one transaction."""
        key = counter_key(app_id, name)

        async def add(client: Redis) -> int | None:
            pipeline = client.pipeline(transaction=True)
            pipeline.incrby(key, amount)
            pipeline.expire(key, life)
            held, _ = await pipeline.execute()
            return int(held)

        return await self._bounded("count", add, None)

    async def check(self) -> Health:
        """One PING, whatever the circuit says: readiness should see at once that a server is back."""
        began = time.perf_counter()
        try:
            async with asyncio.timeout(self._timeout_s):
                await self._connected().ping()
        except Exception as error:  # noqa: BLE001 - the port promises that a check says what is wrong instead of raising
            self._failed("check", error)
        else:
            self._succeeded()
        latency = None if self.degraded else (time.perf_counter() - began) * 1000
        facts = {"circuit": self._breaker.state, "failures": self.failures, "skipped": self.skipped}
        detail = f"last error: {self._last_error}" if self.degraded else None
        return Health(self._adapter, "unavailable" if self.degraded else "ok", latency, self._last_ok, detail, facts)

    def _now_s(self) -> int:
        return int(self._clock.now().timestamp())

    def _connected(self) -> Redis:
        if self._client is None:
            self._client = self._connect()
            sources = {"recall": scripts.RECALL, "remember": scripts.REMEMBER, "drop": scripts.DROP, "rebuild": scripts.REBUILD}
            self._scripts = {name: self._client.register_script(source) for name, source in sources.items()}
        return self._client

    async def _script(self, name: str, keys: list[str], arguments: list[Any], otherwise: Any) -> Any:
        return await self._bounded(name, lambda _: self._scripts[name](keys=keys, args=arguments), otherwise)

    async def _bounded(self, name: str, call: Callable[[Redis], Awaitable[T]], otherwise: T, timeout_s: float | None = None) -> T:
        """The call's answer, or `otherwise` when the circuit is open or the call fails or takes too long."""
        if not self._breaker.allow():
            return otherwise
        try:
            async with asyncio.timeout(timeout_s or self._timeout_s), self._slots:
                self._under_way += 1
                try:
                    answer = await call(self._connected())
                finally:
                    self._under_way -= 1
        except Exception as error:  # noqa: BLE001 - a cache must not fail its caller, whatever it does; logged and counted
            self._failed(name, error)
            return otherwise
        self._succeeded()
        return answer

    def pool(self) -> tuple[int, int]:
        """Calls that may be under way at once, each on a connection of its own, and those that are."""
        return MAX_CONCURRENT, self._under_way

    def _failed(self, name: str, error: Exception) -> None:
        self.failures += 1
        self._last_error = f"{name}: {type(error).__name__}: {error}".rstrip(": ")
        if not self._breaker.failing:
            log.warning("The short term (%s) fails, going on without it: %s", self._adapter, self._last_error)
        self._breaker.failed()

    def _succeeded(self) -> None:
        if self._breaker.failing:
            log.info("The short term (%s) answers again", self._adapter)
        self._breaker.succeeded()
        self._last_ok = self._clock.now()

    def _encoded(self, memory: Memory) -> bytes | None:
        try:
            return entry.to_bytes(memory)
        except (TypeError, ValueError) as error:
            self._skip("written", error)
            return None

    def _decoded(self, data: bytes | None) -> Memory | None:
        """One entry, or None when the server evicted it or another version of the product wrote it."""
        if data is None:
            return None
        try:
            return entry.from_bytes(data)
        except ValueError as error:
            self._skip("read", error)
            return None

    def _skip(self, what: str, error: Exception) -> None:
        if not self.skipped:
            log.warning("A memory can't be %s as an entry of the short term (%s), skipped: %s", what, self._adapter, error)
        self.skipped += 1

    async def _make_room(self, keys: tuple[str, ...], size: int, of_at_most: int) -> None:
        victims = self._room.took(keys, size, of_at_most=of_at_most) if self._room else []
        if victims:
            await self._bounded("make_room", lambda client: client.delete(*victims), 0)


def _pair(owner: Owner, session_id: str) -> tuple[str, str]:
    keys = session_keys(owner, session_id)
    return keys.entries, keys.order

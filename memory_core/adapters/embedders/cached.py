"""Cache embeddings in this process and in the short-term store.

The cache wraps any embedder whose work costs more than a lookup (not `hash`). Equal texts that are
requested at the same time are embedded once.

Note: a caller that goes away does not stop the work, since other callers may wait for it. A query
that has waited for its deadline goes away too, so that the same query finds its vector here later.

Queries and saves share the cached vectors, since agents often save the text of a query. They don't
share the work under way: the cache refuses a query where it does not refuse a save.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256

from memory_core.adapters.breaker import Breaker
from memory_core.domain.errors import EmbeddingMismatch, Unavailable
from memory_core.domain.memory import Vector
from memory_core.domain.ranking.vectors import TokenStates
from memory_core.ports import Clock, Embedder, Health, ShortTermStore

ENTRIES = 512
LIFE = timedelta(hours=1)
FAILURES = 2
"""Failures of queries in a row, after which other queries go on without a vector.

A single failure may be a first call that loads the SDK and connects.
"""
REST = timedelta(seconds=10)
"""Time until a query is tried again."""


@dataclass(frozen=True, slots=True)
class Lane:
    """Vectors that are being made for the same purpose.

    Attributes:
        make: Makes the vectors of texts.
        awaited: Vectors under way, by key.
        late: Keys for which a caller has already waited in vain.

    """

    make: Callable[[Sequence[str]], Awaitable[list[Vector]]]
    awaited: dict[str, asyncio.Future[Vector]] = field(default_factory=dict)
    late: set[str] = field(default_factory=set)

    def done(self, key: str) -> asyncio.Future[Vector]:
        """Remove the future of a key from the work under way."""
        self.late.discard(key)
        return self.awaited.pop(key)


class CachedEmbedder:
    """The same embedder, cheaper the second time.

    If the short-term store is down, the work is only done again. Errors of the embedder reach every
    caller that waits, and are not cached. Vectors are shared between callers, hence read-only.

    query_deadline_s: Seconds that a query waits for its vector. When several queries in a row got
    no vector, other queries are refused at once for a while, and saves still ask the embedder. None
    if a query waits as long as it takes, for an embedder that can't hang.
    """

    def __init__(
        self,
        embedder: Embedder,
        short_term: ShortTermStore,
        clock: Clock,
        *,
        entries: int = ENTRIES,
        life: timedelta = LIFE,
        query_deadline_s: float | None = None,
    ) -> None:
        self._embedder = embedder
        self._short_term = short_term
        self._clock = clock
        self._entries = entries
        self._life = life
        self._query_deadline_s = query_deadline_s
        self._held: OrderedDict[str, tuple[datetime, Vector]] = OrderedDict()
        self._saves, self._queries = (
            Lane(embedder.embed),
            Lane(self._query if query_deadline_s is None else self._query_in_time),
        )
        self._circuit = Breaker(clock, failures=FAILURES, rest=REST)
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def model(self) -> str:
        """The wrapped embedder's model."""
        return self._embedder.model

    @property
    def dimensions(self) -> int:
        """The wrapped embedder's length of a vector."""
        return self._embedder.dimensions

    @property
    def whole_query(self) -> int:
        """The wrapped embedder's limit."""
        return self._embedder.whole_query

    async def open(self) -> None:
        """Open the wrapped embedder; the owner of the short-term store opens that."""
        await self._embedder.open()

    async def close(self) -> None:
        """Cancel the work under way, and close the wrapped embedder.

        Callers that wait for the work get Unavailable.
        """
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for lane in (self._saves, self._queries):
            self._refuse(
                list(lane.awaited), lane, Unavailable("embedder", "the process is closing")
            )
        await self._embedder.close()

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Embed each text as a vector, in order.

        Raises the errors of the wrapped embedder.
        """
        keys = [self._key(text) for text in texts]
        vectors = await self._vectors(dict(zip(keys, texts, strict=True)), self._saves)
        return [vectors[key] for key in keys]

    async def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        """Embed the sentences of a query: all of them or none.

        The vectors are those of the same texts when they are saved, unless a text is so long that
        an embedder reads less of it in a query. Raises the errors of the wrapped embedder. Raises
        Unavailable after the deadline, or at once if another caller has waited that long for the
        vector of a sentence.
        """
        keys = [self._query_key(text) for text in texts]
        if not self._queries.late.isdisjoint(keys):
            raise Unavailable("embedder", "this query's vector is late already")
        try:
            async with asyncio.timeout(self._query_deadline_s):
                vectors = await self._vectors(dict(zip(keys, texts, strict=True)), self._queries)
                return [vectors[key] for key in keys]
        except TimeoutError:
            late = [
                key
                for key in keys
                if key in self._queries.awaited and key not in self._queries.late
            ]
            if late:
                self._queries.late.update(late)
                self._circuit.failed()
            raise Unavailable(
                "embedder", f"it gave no vector of a query within {self._query_deadline_s:g} s"
            ) from None

    async def token_states(self, texts: Sequence[str]) -> list[TokenStates | None]:
        """The wrapped embedder's token states."""
        return await self._embedder.token_states(texts)

    async def _query(self, texts: Sequence[str]) -> list[Vector]:
        return await self._embedder.embed_queries(texts)

    async def _query_in_time(self, texts: Sequence[str]) -> list[Vector]:
        """Embed a query. Raises Unavailable at once while queries are not answered in time.

        An answer or a refusal that comes late is not counted: the passed deadline was counted
        already.
        """
        if not self._circuit.allow():
            raise Unavailable(
                "embedder", f"{self.model} has not answered queries in time; soon one asks it again"
            )
        try:
            vectors = await self._query(texts)
        except Unavailable as error:
            if not self._are_late(texts):
                self._circuit.succeeded() if isinstance(
                    error, EmbeddingMismatch
                ) else self._circuit.failed()
            raise
        if not self._are_late(texts):
            self._circuit.succeeded()
        return vectors

    def _are_late(self, texts: Sequence[str]) -> bool:
        return not self._queries.late.isdisjoint(map(self._query_key, texts))

    async def _vectors(self, wanted: Mapping[str, str], lane: Lane) -> dict[str, Vector]:
        """The vectors of the wanted texts by key.

        A vector is cached here, under way, in the short-term store, or made.
        """
        vectors = {key: vector for key in wanted if (vector := self._fresh(key)) is not None}
        missing = {key: text for key, text in wanted.items() if key not in vectors}
        if missing:
            awaited = self._start(missing, lane)
            for key, future in awaited.items():
                # shield: cancelling this caller must not cancel a future that another one waits
                # for. One by one: of a `gather` of them all that no caller waits for any more, the
                # loop would log the error, although the callers that are left got it.
                vectors[key] = await asyncio.shield(future)
        return vectors

    async def check(self) -> Health:
        """Check the wrapped embedder."""
        return await self._embedder.check()

    def _query_key(self, text: str) -> str:
        return self._key(text, "" if len(text) <= self.whole_query else "query\x00")

    def _key(self, text: str, kind: str = "") -> str:
        head = f"{kind}{self.model}\x00{self.dimensions}\x00"
        return sha256((head + text).encode("utf-8", "surrogatepass")).hexdigest()

    def _fresh(self, key: str) -> Vector | None:
        entry = self._held.get(key)
        if entry is None:
            return None
        if entry[0] <= self._clock.now():
            del self._held[key]
            return None
        self._held.move_to_end(key)
        return entry[1]

    def _start(self, missing: Mapping[str, str], lane: Lane) -> dict[str, asyncio.Future[Vector]]:
        """Return a future for each key.

        It is under way already, or a task of this call fills it.
        """
        loop = asyncio.get_running_loop()
        ours = {key: text for key, text in missing.items() if key not in lane.awaited}
        for key in ours:
            lane.awaited[key] = loop.create_future()
        if ours:
            task = loop.create_task(self._fill(ours, lane))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return {key: lane.awaited[key] for key in missing}

    async def _fill(self, ours: Mapping[str, str], lane: Lane) -> None:
        """Find or make the vectors, hand them to the callers that wait, and store them."""
        try:
            made = await self._find_or_make(ours, lane)
        except Exception as error:  # noqa: BLE001 - nothing is swallowed: every caller that waits gets it
            self._refuse(ours, lane, error)
        else:
            await self._short_term.keep_vectors(made)

    def _refuse(self, keys: Iterable[str], lane: Lane, error: Exception) -> None:
        for key in keys:
            future = lane.done(key)
            future.set_exception(error)
            # every waiter may be gone by now; that is no reason for the loop to warn
            future.exception()

    async def _find_or_make(self, ours: Mapping[str, str], lane: Lane) -> dict[str, Vector]:
        """Find the vectors or make them, and return those that were made.

        Both kinds are cached here and handed to the callers that wait.
        """
        vectors = await self._short_term.vectors(list(ours))
        known = {
            key: vector
            for key, vector in zip(ours, vectors, strict=True)
            if vector is not None and len(vector) == self.dimensions
        }
        absent = [key for key in ours if key not in known]
        made = (
            dict(zip(absent, await lane.make([ours[key] for key in absent]), strict=True))
            if absent
            else {}
        )
        self._hold({**known, **made}.items(), lane)
        return made

    def _hold(self, vectors: Iterable[tuple[str, Vector]], lane: Lane) -> None:
        expires = self._clock.now() + self._life
        for key, row in vectors:
            vector = row.copy()  # a row of a batch would keep the whole batch alive
            vector.setflags(write=False)
            self._held[key] = (expires, vector)
            self._held.move_to_end(key)
            lane.done(key).set_result(vector)
        while len(self._held) > self._entries:
            self._held.popitem(last=False)

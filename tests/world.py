"""Memory Core as its users run it: one folder, as many processes' worth of `MemoryCore` as a test
needs, real adapters only.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import shake_128
from pathlib import Path
from typing import Any

import numpy as np

from memory_core.adapters.embedders.hash_embedder import HashEmbedder
from memory_core.adapters.folder_archive import FolderArchive
from memory_core.adapters.offline.agents import OfflineAgents
from memory_core.adapters.redis.local import EmbeddedShortTermStore
from memory_core.adapters.sqlite.queue import SqliteQueue
from memory_core.adapters.sqlite.store import SqliteStore
from memory_core.bootstrap.adapters import Adapters
from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.errors import AlreadyExists, Damaged, HeadMoved, Unavailable
from memory_core.domain.memory import Event, Head, Memory, MemoryType, Vector, stored_bytes
from memory_core.domain.ranking.vectors import TokenStates
from memory_core.domain.requests.memories import ListInput, RetrieveInput, SaveInput
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.domain.text.analyzer import words
from memory_core.evolution.slot_check import differences
from memory_core.ledger.changes import Change, Changes
from memory_core.ledger.commit import Ledger
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import (
    Agents,
    Archive,
    Batch,
    Clock,
    Courier,
    Embedder,
    Health,
    IdSource,
    KeyStore,
    Kind,
    LongTermStore,
    Reranker,
    ShortTermStore,
    TaskQueue,
    Thesaurus,
)
from tests.agents import ScriptedAgents
from tests.archives import Place
from tests.builders import ALICE, StillClock
from tests.couriers import ScriptedCourier

BOB = Owner("app", "bob")
Wrap = Callable[[LongTermStore], Any]


class WordsEmbedder:
    """A text's vector is the sum of its words' vectors: the cosine of two texts is the share of
    words they have in common.

    It is at the port, so that a test decides what is near. `down` makes it fail as a
    service would.
    """

    model = "words"
    dimensions = 256

    def __init__(self) -> None:
        self.down = False
        self.texts: list[str] = []

    async def open(self) -> None:
        """Nothing to load."""

    async def close(self) -> None:
        """Nothing to release."""

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        if self.down:
            raise Unavailable("embedder", "does not answer")
        self.texts += texts
        return [self._vector(text) for text in texts]

    @property
    def whole_query(self) -> int:
        return sys.maxsize

    async def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        return await self.embed(texts)

    async def token_states(self, texts: Sequence[str]) -> list[TokenStates | None]:
        return [None] * len(texts)

    async def check(self) -> Health:
        return Health("words", "unavailable" if self.down else "ok")

    def _vector(self, text: str) -> Vector:
        total = np.zeros(self.dimensions, dtype=np.float32)
        for word in words(text) or [text]:
            total += _of_word(word, self.dimensions)
        return total / np.float32(np.linalg.norm(total))


@lru_cache(maxsize=10_000)
def _of_word(word: str, dimensions: int) -> Vector:
    noise = np.frombuffer(shake_128(word.encode()).digest(dimensions * 2), dtype="<i2").astype(
        np.float32
    )
    return noise / np.linalg.norm(noise)


@dataclass
class World:
    """One folder of data; `core()` is one more process on it. Closes them all in the end.

    elsewhere: makes a store for an embedder's model and dimensions, where the long term is not in
    the folder. embedder: of the core made last. cold: where the archive is,
    where that is not in the folder either.
    """

    folder: Path
    clock: StillClock = field(default_factory=StillClock)
    elsewhere: Callable[[str, int], LongTermStore] | None = None
    cores: list[MemoryCore] = field(default_factory=list)
    onlookers: dict[str, LongTermStore] = field(default_factory=dict)
    embedder: Embedder | None = None
    cold: Place | None = None

    async def core(
        self,
        *,
        wrap: Wrap | None = None,
        wrap_keys: Callable[[KeyStore], Any] | None = None,
        short_term: ShortTermStore | None = None,
        embedder: Embedder | None = None,
        agents: Agents | None = None,
        rules: Agents | None = None,
        queue: TaskQueue | None = None,
        archive: Archive | None = None,
        courier: Courier | None = None,
        reranker: Reranker | None = None,
        thesaurus: Thesaurus | None = None,
        clock: Clock | None = None,
        ids: IdSource | None = None,
        **settings: Any,
    ) -> MemoryCore:
        """An open MemoryCore.

        wrap, wrap_keys: put something between it and its long-term store, or its keys. clock:
        of it alone, where that is wrong.
        """
        ours = {
            "embedding_provider": "hash",
            "sqlite_synchronous": "normal",
            "consolidation_threshold": 10_000,
            "consolidation_first_minutes": 0,
            "consolidation_spread_minutes": 0,
        }
        configured = Settings(**{"data": self.folder, **ours, **settings})
        embedder = self.embedder = embedder or HashEmbedder(64)
        store = self.store(embedder)
        queue = queue or SqliteQueue(
            self.folder / "queue.db", clock=self.clock, synchronous="normal"
        )
        archive = archive or self.archive()
        keys = wrap_keys(store.key_store()) if wrap_keys else store.key_store()
        store, short_term, courier = (
            wrap(store) if wrap else store,
            short_term or EmbeddedShortTermStore(self.clock),
            courier or ScriptedCourier(),
        )
        agents, rules = agents or ScriptedAgents(), rules or ScriptedAgents()
        adapters = Adapters(
            store, short_term, embedder, queue, archive, agents, rules, courier, keys, reranker
        )
        adapters = adapters if thesaurus is None else replace(adapters, thesaurus=thesaurus)
        core = MemoryCore(configured, clock=clock or self.clock, ids=ids, adapters=adapters)
        self.cores.append(core)
        await core.open()
        return core

    async def core_by_rules(self, **given: Any) -> MemoryCore:
        """An open MemoryCore that forms conversations by the product's rules, as it does
        without a model.
        """
        rules = OfflineAgents()
        return await self.core(agents=rules, rules=rules, **given)

    def archive(self) -> Archive:
        """One more archive over the same blobs, not open yet."""
        return (
            FolderArchive(self.folder / "archive", clock=self.clock)
            if self.cold is None
            else self.cold.process()
        )

    def store(self, embedder: Embedder) -> LongTermStore:
        """One more store on the same data, not open yet."""
        if self.elsewhere is not None:
            return self.elsewhere(embedder.model, embedder.dimensions)
        return SqliteStore(
            self.folder / "memory.db",
            clock=self.clock,
            embedding_model=embedder.model,
            dimensions=embedder.dimensions,
            synchronous="normal",
        )

    async def look_on(self, embedder: Embedder | None = None) -> LongTermStore:
        """An open store on the same data that belongs to no core: a process of its own,
        which only reads.
        """
        embedder = embedder or self.embedder or HashEmbedder(64)
        if embedder.model not in self.onlookers:
            store = self.store(embedder)
            await store.open()
            if self.onlookers.setdefault(embedder.model, store) is not store:
                await store.close()  # another caller was faster
        return self.onlookers[embedder.model]

    async def log(self, owner: Owner = ALICE, embedder: Embedder | None = None) -> list[Event]:
        """All events of an owner, as a process of its own reads them."""
        return await (await self.look_on(embedder)).events(owner, 0, 100_000)

    async def head(self, owner: Owner = ALICE, embedder: Embedder | None = None) -> Head | None:
        """The owner's head, as a process of its own reads it."""
        return (await (await self.look_on(embedder)).snapshot(owner)).head

    async def check_slots(self) -> None:
        """What is stored of the members of every slot follows from its log."""
        with suppress(Unavailable, Damaged):
            store = await self.look_on()
            for owner in (ALICE, BOB):
                assert await differences(store, owner, self.clock.now()) == []

    async def close(self) -> None:
        """Close what is open; nothing happens the second time."""
        cores, onlookers = self.cores, self.onlookers
        self.cores, self.onlookers = [], {}
        for core in cores:
            await core.close()
        for store in onlookers.values():
            await store.close()

    async def end(self, core: MemoryCore) -> None:
        """Close one core before the others."""
        self.cores.remove(core)
        await core.close()


class Killed(BaseException):
    """The process is gone: nothing in it may catch this."""


@dataclass
class DiesAfter:
    """A store whose process dies at the commit after the next `commits`; `applied`:
    right after that one was applied.

    A batch that is sent again is the same commit.
    """

    inner: LongTermStore
    commits: int
    applied: bool = False
    seen: set[str] = field(default_factory=set)

    async def commit(self, owner: Owner, batch: Batch) -> None:
        self.seen.add(batch.commit_id)
        if len(self.seen) <= self.commits:
            await self.inner.commit(owner, batch)
            return
        while self.applied:
            try:
                await self.inner.commit(owner, batch)
            except (HeadMoved, AlreadyExists):
                break  # the echo of the one before, whose answer was lost
            except Unavailable:
                continue
            break
        raise Killed

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


@dataclass
class Down:
    """A store, or a queue, that can be switched off: every call answers Unavailable."""

    inner: Any
    down: bool = False
    name: str = "long_term"

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self.inner, name)
        if not self.down or name in ("open", "close", "pool", "check"):
            return attribute

        async def unavailable(*_: Any, **__: Any) -> None:
            raise Unavailable(self.name, "does not answer")

        return unavailable


@dataclass
class Meanwhile:
    """A store that lets something else happen right after its call `name`, once:
    `then` is what happens.
    """

    inner: LongTermStore
    name: str
    then: Callable[[], Any] | None = None

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self.inner, name)
        if name != self.name:
            return attribute

        async def followed(*args: Any, **options: Any) -> Any:
            answer = await attribute(*args, **options)
            then, self.then = self.then, None
            if then is not None:
                await then()
            return answer

        return followed


@dataclass
class Paused:
    """A short term whose write-backs wait at the door from `hold` until `release`."""

    inner: ShortTermStore
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    waiting: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.gate.set()

    def hold(self) -> None:
        self.gate.clear()

    def release(self) -> None:
        self.gate.set()

    async def remember(self, *args: Any) -> bool:
        if not self.gate.is_set():
            self.waiting.set()
            await self.gate.wait()
        return await self.inner.remember(*args)

    async def remember_all(self, *args: Any) -> bool:
        if not self.gate.is_set():
            self.waiting.set()
            await self.gate.wait()
        return await self.inner.remember_all(*args)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


def turn(content: str, session: str | None = "s1", **fields: Any) -> SaveInput:
    """A turn of a session: an episodic memory."""
    return SaveInput(content=content, session_id=session, **fields)


def fact(content: str, **fields: Any) -> SaveInput:
    """A semantic memory."""
    return SaveInput(type=MemoryType.SEMANTIC, content=content, **fields)


def rule(key: str, value: Any = None, **fields: Any) -> SaveInput:
    """A procedural memory."""
    return SaveInput(type=MemoryType.PROCEDURAL, key=key, value=value, **fields)


async def listed(core: MemoryCore, owner: Owner = ALICE, **query: Any) -> list[Memory]:
    """Every page of a list, as one."""
    memories: list[Memory] = []
    cursor = None
    while True:
        page = await core.list(owner, ListInput(**{"limit": 100, "cursor": cursor, **query}))
        memories += page.memories
        cursor = page.next_cursor
        if cursor is None:
            return memories


async def find(core: MemoryCore, query: str, **fields: Any) -> list[str]:
    """The contents of the results, best first."""
    return [
        hit.memory.content
        for hit in (await core.retrieve(ALICE, RetrieveInput(query=query, **fields))).results
    ]


async def count_up(book: Ledger, memory_id: str) -> None:
    """Read, add one, write: what loses updates when a head is not respected."""

    def decide(look: ReadSet) -> Changes[None]:
        memory = look.memory(memory_id)
        assert memory is not None
        more = memory.model_copy(update={"reinforcement_count": memory.reinforcement_count + 1})
        return Changes(None, (Change("reinforced", more, memory),), reads=frozenset({memory_id}))

    await book.commit(ALICE, decide, ids=[memory_id], call=Call())


async def recounted_bytes(world: World, owner: Owner = ALICE) -> int:
    """What a user's memories and their old versions count, added up out of the store."""
    store, total = await world.look_on(), 0
    kinds: tuple[Kind, ...] = ("memory", "version")
    for kind in kinds:
        documents = await store.page(owner, kind, None, None, 10_000)
        total += sum(stored_bytes(Memory.model_validate(document.body)) for document in documents)
    return total

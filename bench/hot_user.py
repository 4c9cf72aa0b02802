"""`python -m bench.hot_user`: would it pay to hold a user of Cosmos DB in memory, and read only the head beside it?

A search there is the head beside two queries. With the user's slice held, as the SQLite store holds it, the head's ETag alone says whether
the slice is still what is stored: whatever writes a memory writes the head in the same batch, but for accesses. What that saves, what the
slice takes to read and to hold, and what a commit of another process takes to catch up with is measured here, in request units, in
round trips, in time, and in processor time of this process.

What a reader would get wrong: without --endpoint the account is the tests' emulator. Its units only grow with what is read, and
its time is that of a process on this machine; round trips and this process's own work are as they will be.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import mean, median
from uuid import uuid4

import numpy as np

from bench.library import RESULTS, SEED, load, owner
from bench.tables import show
from bench.texts import queries as questions
from bench.texts import text
from memory_core.adapters.cosmos import queries
from memory_core.adapters.cosmos.conditions import Conditions
from memory_core.adapters.cosmos.connection import Connection, together
from memory_core.adapters.cosmos.documents import HEAD_ID, MEMORY_KINDS, Item, memory_body, shown_of
from memory_core.adapters.cosmos.heads import Known, known_of
from memory_core.adapters.cosmos.store import CosmosStore
from memory_core.adapters.offline.hash_embedder import HashEmbedder
from memory_core.adapters.slices.forms import as_blob
from memory_core.adapters.slices.searching import find
from memory_core.adapters.slices.slice import Slice
from memory_core.adapters.system import SystemClock
from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.query import analyse_query
from memory_core.domain.requests import RetrieveInput, SaveInput
from memory_core.domain.shown import Shown
from memory_core.ports import Filter, Search
from memory_core.wiring import Adapters
from tests.cosmos_server import KEY, running

SIZES = (1_000, 10_000)
DIMENSIONS = 384
CALLS = 40
TURNS = 20
DEADLINE_S = 120.0
LIMIT = 50
"""Candidates a list, as many as a retrieve of ten results asks for."""
STANDING = Filter(statuses=frozenset({"active", "compressed"}))


@dataclass(frozen=True, slots=True)
class Cost:
    """What one way of doing something took, a call: request units, sequential round trips, ms, ms of this process's processor time."""

    what: str
    memories: int
    units: float
    trips: int
    ms: float
    own_ms: float

    def cells(self) -> list[str]:
        """The line's cells as text."""
        return [self.what, f"{self.memories:,}", f"{self.units:,.1f}", str(self.trips), f"{self.ms:.1f}", f"{self.own_ms:.1f}"]


class Held:
    """A user's slice, and of each memory what a result shows of it, so that winners need not be read."""

    def __init__(self) -> None:
        self.slice = Slice(DIMENSIONS)
        self.documents: dict[str, Shown] = {}
        self.sequence = 0

    def take(self, items: Sequence[Item]) -> None:
        """Put memories in as they are stored."""
        for item in items:
            vector = item.get("embedding")
            self.slice.put(
                item["id"], item["kind"], memory_body(item), None if vector is None else as_blob(np.array(vector, dtype=np.float32))
            )
            self.documents[item["id"]] = shown_of(item)

    def answer(self, search: Search) -> list[Shown]:
        """The candidates' first ten."""
        candidates, _ = find(self.slice, search)
        return [self.documents[one] for one in candidates.ids[:RESULTS]]


class Measure:
    """What calls take, in units as the account says them."""

    def __init__(self) -> None:
        self._units = 0.0

    def charged(self, units: float) -> None:
        """Told of each answer's charge."""
        self._units += units

    async def of(self, what: str, memories: int, trips: int, calls: Sequence[Callable[[], Awaitable[object]]]) -> Cost:
        """The mean units and the median times of calls, the first of which is not counted when there are several."""
        units, times, own = [], [], []
        for call in calls:
            before, begun, working = self._units, time.perf_counter(), time.process_time()
            await call()
            own.append(1000 * (time.process_time() - working))
            times.append(1000 * (time.perf_counter() - begun))
            units.append(self._units - before)
        counted = slice(1 if len(calls) > 1 else 0, None)
        return Cost(what, memories, mean(units[counted]), trips, median(times[counted]), median(own[counted]))


class User:
    """One user of an account, with everything that is asked about it."""

    def __init__(self, endpoint: str, key: str, database: str, size: int, measure: Measure) -> None:
        self._embedder = HashEmbedder(DIMENSIONS)
        self.name, self.size, self.measure = f"user-{size}", size, measure
        self.owner = owner(self.name)
        known = {"key": key, "charged": measure.charged, "deadline_s": DEADLINE_S}
        self.connection = Connection(endpoint, database, "memories", identity_client_id=None, **known)
        of = self._embedder
        self.store = CosmosStore(endpoint, database, clock=SystemClock(), embedding_model=of.model, dimensions=DIMENSIONS, **known)
        self.held = Held()

    async def searches(self) -> list[Search]:
        """Different questions, as an agent's turns ask them."""
        asked = list(islice(questions(SEED, self.name, self.size), CALLS + 1))
        now = SystemClock().now()
        vectors = await self._embedder.embed(asked)
        return [Search(vector, analyse_query(one, now).terms, LIMIT, STANDING) for one, vector in zip(asked, vectors, strict=True)]

    async def read_all(self) -> None:
        """Bring up the slice: all memories of the user, whole."""
        known = await self._head()
        self.held.take((await self.connection.query(self.owner, Conditions(self.owner, MEMORY_KINDS).query("*"))).rows)
        self.held.sequence = known.head.sequence

    async def from_memory(self, search: Search) -> list[Shown]:
        """The head, and the answer from the slice."""
        await self._head()
        return self.held.answer(search)

    async def caught_up(self, search: Search) -> list[Shown]:
        """The head, the events since, the memories that they name, and then the answer from the slice."""
        known = await self._head()
        events = (await self.connection.query(self.owner, queries.events(self.owner, self.held.sequence, 100, None))).rows
        changed = {event["memory_id"] for event in events if event["memory_id"]}
        read = await together(*(self.connection.item(self.owner, one) for one in changed))
        self.held.take([row for answer in read for row in answer.rows])
        self.held.sequence = known.head.sequence
        return self.held.answer(search)

    async def _head(self) -> Known:
        return known_of((await self.connection.item(self.owner, HEAD_ID)).rows[0])


async def _measured(user: User, settings: Settings) -> tuple[list[Cost], list[str]]:
    """What each way costs, and what the slice weighs."""
    measure, size = user.measure, user.size
    searches = await user.searches()
    costs = [await measure.of("head beside two queries", size, 1, [partial(user.store.search, user.owner, one) for one in searches])]
    costs.append(await measure.of("bring up the slice", size, 2, [user.read_all]))
    costs.append(await measure.of("head, rest from memory", size, 1, [partial(user.from_memory, one) for one in searches]))
    winners = list(user.held.documents)[:RESULTS]
    costs.append(await measure.of("ten winners read", size, 1, [partial(user.store.memories, user.owner, winners, STANDING)] * CALLS))
    weight = [user.held.slice.nbytes, sum(len(one.json) + len(one._rest) for one in user.held.documents.values())]
    async with MemoryCore(settings, adapters=Adapters.of(settings, SystemClock(), lambda units: None)) as other:
        turns = []
        for number, search in enumerate(searches[:TURNS]):
            await other.save(user.owner, SaveInput(content=text(random.Random(number)), session_id="turns"))
            turns.append(await measure.of("caught up by a turn of another process", size, 3, [partial(user.caught_up, search)]))
    costs.append(
        replace(
            turns[0], units=mean(one.units for one in turns), ms=median(one.ms for one in turns), own_ms=median(one.own_ms for one in turns)
        )
    )
    async with MemoryCore(settings, adapters=Adapters.of(settings, SystemClock(), measure.charged)) as core:
        asked = [RetrieveInput(query=one, similarity_threshold=0.0) for one in islice(questions(SEED, user.name, size), CALLS + 1)]
        costs.append(await measure.of("a whole retrieve, as it is", size, 1, [partial(core.retrieve, user.owner, one) for one in asked]))
    return costs, [f"{size:,}", *(f"{number / 2**20:.1f}" for number in (*weight, sum(weight)))]


def _settings(endpoint: str, key: str, database: str, folder: str) -> Settings:
    return Settings(
        long_term="cosmos",
        cosmos_endpoint=endpoint,
        cosmos_key=key,  # type: ignore[arg-type]
        cosmos_database=database,
        embedding_provider="hash",
        embedding_dimensions=DIMENSIONS,
        short_term="none",
        data=Path(folder),
    )


async def _all(endpoint: str, key: str, sizes: Sequence[int]) -> None:
    database = f"hot-user-{uuid4().hex[:8]}"
    costs, weights = [], []
    measure = Measure()
    with tempfile.TemporaryDirectory(prefix="memory-core-bench-") as folder:
        settings = _settings(endpoint, key, database, folder)
        for size in sizes:
            user = User(endpoint, key, database, size, measure)
            await user.store.provision()
            await user.store.open()
            async with MemoryCore(settings) as core:
                await load(core, user.name, size)
            more, weight = await _measured(user, settings)
            costs += more
            weights.append(weight)
            await user.store.close()
            await user.connection.close()
    headings = ("", "memories", "request units", "round trips", "ms", "own processor ms")
    show("What a call costs", headings, [one.cells() for one in costs])
    show("What is held, MiB", ("memories", "slice", "documents to show", "together"), weights)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.hot_user", description="What holding a user of Cosmos DB in memory would save.")
    parser.add_argument("--sizes", type=lambda given: [int(one) for one in given.split(",")], default=SIZES, help="memories of one user")
    parser.add_argument("--endpoint", help="of an account, whose key is in MEMORY_COSMOS_KEY; a database is made in it and stays")
    options = parser.parse_args(arguments)
    if options.endpoint:
        asyncio.run(_all(options.endpoint, os.environ["MEMORY_COSMOS_KEY"], options.sizes))
        return 0
    with running() as emulator:
        asyncio.run(_all(emulator.endpoint, KEY, options.sizes))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

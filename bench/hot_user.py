"""`python -m bench.hot_user`: what holding a user of Cosmos DB in memory saves, and what it takes.

A search is the head beside two queries; of a user who is held it is the head alone
(`adapters/cosmos/slice_cache.py`). Both are measured on the same user with different questions,
alone and as whole retrieves, and with a turn saved by another process before each; in request
units, in time, and in processor time of this process.

Note: without --endpoint the account is the tests' emulator. Its units only
grow with what is read, and its time is that of a process on this machine. The processor time is
this process's own, and the same for any account.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import mean, median
from uuid import uuid4

from pydantic import SecretStr

from bench.library import RESULTS, SEED, load, owner
from bench.tables import show
from bench.texts import queries, text
from memory_core.adapters.cosmos.store import CosmosStore
from memory_core.adapters.embedders.hash_embedder import HashEmbedder
from memory_core.adapters.system import SystemClock
from memory_core.bootstrap.adapters import Adapters
from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.ranking.query import analyse_query
from memory_core.domain.requests.memories import RetrieveInput, SaveInput
from memory_core.domain.scope import Owner
from memory_core.ports import Filter, LongTermStore, Search
from tests.cosmos_server import KEY, running

SIZES = (1_000, 10_000)
DIMENSIONS, BUDGET_MB = 384, 320
CALLS, TURNS = 40, 20
LIMIT = 50
"""Candidates a list, as many as a retrieve of ten results asks for."""
STANDING = Filter(statuses=frozenset({"active", "compressed"}))


class Meter:
    """Adds up what an account charges."""

    def __init__(self) -> None:
        self.units = 0.0

    def charged(self, units: float) -> None:
        """Told of each answer's charge."""
        self.units += units


@dataclass(frozen=True, slots=True)
class Account:
    """Where memories are, and the folder that a core wants for what it keeps beside them."""

    endpoint: str
    key: str
    database: str
    folder: str

    def store(self) -> CosmosStore:
        """A store that is not open yet, to make the database with."""
        return CosmosStore(
            self.endpoint,
            self.database,
            clock=SystemClock(),
            embedding_model=HashEmbedder(DIMENSIONS).model,
            dimensions=DIMENSIONS,
            key=self.key,
        )

    @asynccontextmanager
    async def core(
        self, meter: Meter, budget_mb: int = 0
    ) -> AsyncIterator[tuple[MemoryCore, LongTermStore]]:
        """A core and its store, as another process would have them."""
        settings = Settings(
            long_term="cosmos",
            cosmos_endpoint=self.endpoint,
            cosmos_key=SecretStr(self.key),
            cosmos_database=self.database,
            embedding_provider="hash",
            embedding_dimensions=DIMENSIONS,
            short_term="none",
            slice_budget_mb=budget_mb,
            data=Path(self.folder),
        )
        adapters = Adapters.of(settings, SystemClock(), meter.charged)
        async with MemoryCore(settings, adapters=adapters) as core:
            yield core, adapters.long_term


async def line(
    name: str,
    size: int,
    meter: Meter,
    calls: Sequence[Callable[[], Awaitable[object]]],
    before: Callable[[int], Awaitable[object]],
) -> list[str]:
    """The mean units and the median times of calls, each with something done before it that
    does not count.
    """
    units, times, own = [], [], []
    for number, call in enumerate(calls):
        await before(number)
        charged, begun, working = meter.units, time.perf_counter(), time.process_time()
        await call()
        own.append(1000 * (time.process_time() - working))
        times.append(1000 * (time.perf_counter() - begun))
        units.append(meter.units - charged)
    return [name, f"{size:,}", f"{mean(units):,.1f}", f"{median(times):.1f}", f"{median(own):.1f}"]


async def nothing(_: int) -> None:
    """Nothing before a call."""


async def searches_of(name: str, size: int) -> list[Search]:
    """Different questions, as an agent's turns ask them."""
    asked = list(islice(queries(SEED, name, size), CALLS))
    vectors, now = await HashEmbedder(DIMENSIONS).embed(asked), SystemClock().now()
    return [
        Search(vector, analyse_query(query, now).terms, LIMIT, STANDING)
        for query, vector in zip(asked, vectors, strict=True)
    ]


async def held(store: LongTermStore, search: Callable[[], Awaitable[object]]) -> int:
    """Search until the user is held; what is held then, in bytes."""
    while not (facts := (await store.check()).facts)["slices"]:
        await search()
    return int(facts["slice_bytes"])


async def measured(account: Account, user: Owner, size: int) -> tuple[list[list[str]], list[str]]:
    """Lines about calls, and one about what holding takes."""
    lines, asked = [], await searches_of(user.user_id, size)
    texts = islice(queries(SEED, user.user_id, size), CALLS)
    questions = [
        RetrieveInput(query=text, limit=RESULTS, similarity_threshold=0.0) for text in texts
    ]
    taken: list[str] = []
    async with account.core(Meter()) as (other, _):

        async def turn(number: int) -> None:
            await other.save(
                user, SaveInput(content=text(random.Random(number)), session_id="turns")
            )

        for budget, name in ((0, "by queries"), (BUDGET_MB, "held")):
            meter = Meter()
            async with account.core(meter, budget) as (core, store):
                calls = [partial(store.search, user, search) for search in asked]
                if budget:
                    begun = time.perf_counter()
                    weight = await held(store, calls[0])
                    taken = [
                        f"{size:,}",
                        f"{meter.units:,.0f}",
                        f"{time.perf_counter() - begun:.1f}",
                        f"{weight / 2**20:.1f}",
                    ]
                lines.append(await line(f"search, {name}", size, meter, calls, nothing))
                lines.append(
                    await line(
                        f"search after another's turn, {name}", size, meter, calls[:TURNS], turn
                    )
                )
                retrieves = [partial(core.retrieve, user, question) for question in questions]
                lines.append(await line(f"retrieve, {name}", size, meter, retrieves, nothing))
                lines.append(
                    await line(
                        f"retrieve after another's turn, {name}",
                        size,
                        meter,
                        retrieves[:TURNS],
                        turn,
                    )
                )
    return sorted(lines, key=lambda row: row[0].partition(",")[0]), taken


async def measure(endpoint: str, key: str, sizes: Sequence[int]) -> None:
    """Fill a user of each size, measure, and print."""
    lines, taken = [], []
    with tempfile.TemporaryDirectory(prefix="memory-core-bench-") as folder:
        account = Account(endpoint, key, f"hot-user-{uuid4().hex[:8]}", folder)
        maker = account.store()
        await maker.provision()
        await maker.close()
        for size in sizes:
            user = owner(f"user-{size}")
            async with account.core(Meter()) as (core, _):
                await load(core, user.user_id, size)
            more, note = await measured(account, user, size)
            lines += more
            taken.append(note)
    show("A call", ("", "memories", "units", "ms", "own processor ms"), lines)
    show(
        "Until a user is held",
        ("memories", "units, searches included", "seconds", "MiB held"),
        taken,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.hot_user",
        description="What holding a user of Cosmos DB in memory saves.",
    )
    parser.add_argument(
        "--sizes",
        type=lambda given: [int(size) for size in given.split(",")],
        default=SIZES,
        help="memories of one user",
    )
    parser.add_argument(
        "--endpoint",
        help=(
            "of an account whose key is in MEMORY_COSMOS_KEY; the database that is made in it stays"
        ),
    )
    options = parser.parse_args(arguments)
    if options.endpoint:
        asyncio.run(measure(options.endpoint, os.environ["MEMORY_COSMOS_KEY"], options.sizes))
        return 0
    with running() as emulator:
        asyncio.run(measure(emulator.endpoint, KEY, options.sizes))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

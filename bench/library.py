"""Memory Core as a library in this process: how fast memories are loaded in bulk,
saved one by one and found.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from itertools import islice
from pathlib import Path
from typing import TypeVar

from bench.tables import Row
from bench.texts import loaded, memories, queries
from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.errors import MemoryCoreError, NotFound
from memory_core.domain.requests.memories import RetrieveInput, SaveInput
from memory_core.domain.results import Saved
from memory_core.domain.scope import Owner
from memory_core.functions.callers import LOCAL_APP

SEED = 11
MAX_SAVES = 500
"""Saves measured at most, so that a user of 1,000 memories stays one."""
RESULTS = 10

T = TypeVar("T")
Answer = TypeVar("Answer")


def owner(name: str) -> Owner:
    """A user of the app that the development host serves on a loopback address."""
    return Owner(LOCAL_APP, name)


@asynccontextmanager
async def opened(data: Path) -> AsyncIterator[MemoryCore]:
    """A MemoryCore with the hash embedder over a folder; everything else as it is by default."""
    async with MemoryCore(Settings(embedding_provider="hash", data=data)) as core:
        await core.warm_up()
        yield core


async def load(core: MemoryCore, user: str, count: int) -> Row:
    """Give a user `count` memories, a hundred a call. The row is about calls' times and
    memories a second.
    """
    stream = loaded(SEED, user)
    times = []
    refused = 0
    began = time.perf_counter()
    for start in range(0, count, 100):
        items = [SaveInput.model_validate(body) for body in islice(stream, min(100, count - start))]
        begun = time.perf_counter()
        refused += sum(
            isinstance(result, MemoryCoreError) for result in await core.bulk(owner(user), items)
        )
        times.append(time.perf_counter() - begun)
    took = time.perf_counter() - began
    row = Row.of("bulk of 100", count, 1, times, took, refused)
    print(
        f"loaded {count:,} memories of {user} in {took:.1f} s: {count / took:,.0f} a second",
        flush=True,
    )
    return row


async def measure(core: MemoryCore, user: str, size: int, seconds: float) -> list[Row]:
    """Retrieves, then saves, of a user who has `size` memories; then every save read back."""
    asked = (_query(text) for text in queries(SEED, user, size))
    # the first one reads the user's memories into memory
    await core.retrieve(owner(user), next(asked))
    results, times, took, errors = await _timed(
        lambda query: core.retrieve(owner(user), query), asked, seconds
    )
    rows = [Row.of("retrieve", size, 1, times, took, errors)]
    mean = sum(len(result.results) for result in results) / max(1, len(results))
    print(f"retrieve at {size:,}: {mean:.1f} results a query", flush=True)
    items = (
        SaveInput.model_validate(body)
        for body in islice(memories(SEED + size, "library"), MAX_SAVES)
    )
    saved, times, took, errors = await _timed(
        lambda item: core.save(owner(user), item), items, seconds
    )
    return [
        *rows,
        Row.of("save", size, 1, times, took, errors, lost=await _lost(core, user, saved)),
    ]


def _query(text: str) -> RetrieveInput:
    """A floor of 0, so that every query reads and returns as many memories as it may."""
    return RetrieveInput(query=text, limit=RESULTS, similarity_threshold=0.0)


async def _timed(
    call: Callable[[T], Awaitable[Answer]], inputs: Iterator[T], seconds: float
) -> tuple[list[Answer], list[float], float, int]:
    """Answers, their times, the time in all, and how many calls failed."""
    answers: list[Answer] = []
    times: list[float] = []
    errors = 0
    spent = 0.0
    for argument in inputs:
        begun = time.perf_counter()
        try:
            answers.append(await call(argument))
        except MemoryCoreError as error:
            print(f"an error: {error}", flush=True)
            errors += 1
        else:
            times.append(time.perf_counter() - begun)
        spent += time.perf_counter() - begun
        if spent >= seconds:
            break
    return answers, times, spent, errors


async def _lost(core: MemoryCore, user: str, saved: list[Saved]) -> int:
    lost = 0
    for result in saved:
        try:
            memory = await core.get(owner(user), result.memory.id)
        except NotFound:
            lost += 1
        else:
            lost += memory.content != result.memory.content
    return lost

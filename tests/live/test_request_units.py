"""What a user costs: request units of each call, for users of growing size. Kept as JSON,
shown as a table.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import pytest
from azure.cosmos import DatabaseProxy

from bench.texts import loaded, queries, text
from memory_core.adapters.cosmos.store import CosmosStore
from memory_core.adapters.embedders.hash_embedder import HashEmbedder
from memory_core.adapters.system import SystemClock
from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.errors import Unavailable
from memory_core.domain.requests.memories import ListInput, RetrieveInput, SaveInput
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from tests.live.account import Live

pytestmark = pytest.mark.live
SEED, CALLS, A_CALL, DIMENSIONS, TRIES = 11, 10, 100, 384, 1000
T = TypeVar("T")
_CHARGE = re.compile(r'^memory_core_request_charge_total\{operation="\w+"\} (\S+)$', re.MULTILINE)


def charged(core: MemoryCore) -> float:
    """Request units so far."""
    return sum(float(units) for units in _CHARGE.findall(core.metrics().decode()))


async def patient(call: Callable[[], Awaitable[T]]) -> T:
    """The call's result. An account of little throughput throttles: then wait as long as it
    asks, and repeat.
    """
    for _ in range(TRIES):
        try:
            return await call()
        except Unavailable as error:
            await asyncio.sleep(error.retry_after_s or 1)
    raise AssertionError(f"the account answered none of {TRIES} tries")


async def fill(core: MemoryCore, owner: Owner, count: int) -> None:
    """Give a user `count` memories, a hundred a call; a repeated call has the same key,
    and is done once.
    """
    stream = loaded(SEED, owner.user_id)
    for start in range(0, count, A_CALL):
        items = [
            SaveInput.model_validate(body) for body in islice(stream, min(A_CALL, count - start))
        ]
        await patient(partial(core.bulk, owner, items, Call(idempotency_key=f"load-{start}")))


async def operations(
    core: MemoryCore, owner: Owner, count: int
) -> dict[str, Callable[[int], Awaitable[object]]]:
    """What is measured, each to be called with the numbers from 0 on."""
    texts = [text(random.Random(number)) for number in range(CALLS + 1)]
    asked = [*islice(queries(SEED, owner.user_id, count), CALLS + 1)]
    known = [memory.id for memory in (await core.list(owner, ListInput(limit=CALLS + 1))).memories]

    def fact(number: int) -> SaveInput:
        return SaveInput(
            content=texts[number], type="semantic", subject="Ana", attribute=f"attribute {number}"
        )

    return {
        "save a turn": lambda number: core.save(
            owner, SaveInput(content=texts[number], session_id="live")
        ),
        "save a fact": lambda number: core.save(owner, fact(number)),
        "retrieve 10": lambda number: core.retrieve(owner, RetrieveInput(query=asked[number])),
        "list 20": lambda number: core.list(owner, ListInput(limit=20)),
        "get": lambda number: core.get(owner, known[number % len(known)]),
    }


async def measured(core: MemoryCore, call: Callable[[int], Awaitable[object]]) -> dict[str, Any]:
    """Calls, mean and most units. A first call, which may pay for the container's definition and
    the head, is left out.
    """
    await patient(partial(call, CALLS))
    units = []
    for number in range(CALLS):
        before = charged(core)
        await patient(partial(call, number))
        units.append(charged(core) - before)
    return {"calls": CALLS, "mean": round(sum(units) / CALLS, 2), "most": round(max(units), 2)}


async def test_request_units_of_users_of_growing_size(
    live: Live, database: DatabaseProxy, report: list[dict[str, Any]], tmp_path: Path
) -> None:
    settings = Settings(
        long_term="cosmos",
        cosmos_endpoint=live.cosmos_endpoint,
        cosmos_key=live.cosmos_key,  # type: ignore[arg-type]
        cosmos_database=database.id,
        embedding_provider="hash",
        embedding_dimensions=DIMENSIONS,
        short_term="none",
        data=tmp_path,
    )
    of = HashEmbedder(DIMENSIONS)
    maker = CosmosStore(
        live.cosmos_endpoint,
        database.id,
        clock=SystemClock(),
        embedding_model=of.model,
        dimensions=of.dimensions,
        key=live.cosmos_key,
    )
    await maker.provision()
    await maker.close()
    async with MemoryCore(settings) as core:
        for size in live.sizes:
            owner = Owner("live", f"user-{size}")
            before = charged(core)
            await fill(core, owner, size)
            spent = round((charged(core) - before) / size, 2)
            report.append(
                {
                    "vectors": size,
                    "operation": "load, a memory",
                    "calls": size,
                    "mean": spent,
                    "most": None,
                }
            )
            for name, call in (await operations(core, owner, size)).items():
                report.append({"vectors": size, "operation": name, **await measured(core, call)})
    assert all(row["mean"] > 0 for row in report)

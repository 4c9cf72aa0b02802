"""`python -m bench.year --cost`: what faded memories cost a retrieve, and what an idle user
costs the stores.

Two users of the same size, one with nine of ten memories faded and one with all active, are asked
the same questions in turns, in one process. Then a user is told for a month and left alone for a
year of hourly ticks. Note: the embedder is `hash` here, and request units are reckoned by
`bench.counted`'s formula.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from bench.counted import CountedStore
from bench.day import Ids, requests, units, work
from bench.tables import percentile, show
from bench.texts import queries, text
from bench.users import BEGUN, Hands
from bench.yardstick.told import calls_of
from bench.year import daily
from bench.year.lived import A_CALL, HOUR, SEED
from bench.year.lives import MONTH, MONTHS, Life
from memory_core.bootstrap.adapters import Adapters
from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.errors import MemoryCoreError
from memory_core.domain.requests.maintenance import DecayInput
from memory_core.domain.requests.memories import ConverseInput, RetrieveInput, SaveInput
from memory_core.domain.scope import Owner
from memory_core.functions.triggers import send_for_work
from memory_core.ports import Found, LongTermStore, Search
from memory_core.telemetry import Telemetry

APP = "cost"
MOST_RATIO = 1.2
"""How much longer a retrieve may take with nine of ten memories faded."""
AWAY = timedelta(days=5 * 365)
"""After which everything has faded that ever does, and nothing is archived yet."""
SETTLING = timedelta(days=2)
"""After a month of telling, for the runs over what was told last."""
FADED_SHARE = 0.9
BULK, SESSION_TURNS, RESULTS = 100, 20, 10
QUERIES, WARM_UP = 200, 10
BUDGET_MB = 4096
FADED, ACTIVE, FRESH = "1 in 10 fresh, 9 in 10 faded", "all active", "the fresh ones alone"


@dataclass(frozen=True, slots=True)
class Asked:
    """What the queries of one user came to, times in ms, all else a query in the mean."""

    user: str
    memories: int
    decayed: int
    queries: int
    p50_ms: float
    p95_ms: float
    candidates: float
    results: float
    requests: float
    units: float

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        fields = asdict(self)
        return {"what": fields.pop("user"), **fields}

    def cells(self) -> list[str]:
        """The line's cells as text."""
        numbers = [
            f"{self.memories:,}",
            f"{self.decayed:,}",
            f"{self.candidates:,.1f}",
            f"{self.results:.1f}",
            f"{self.requests:.1f}",
        ]
        return [
            self.user,
            *numbers,
            f"{self.units:,.1f}",
            f"{self.p50_ms:.2f}",
            f"{self.p95_ms:.2f}",
        ]


HEADINGS = (
    "",
    "memories",
    "of them decayed",
    "candidates",
    "results",
    "requests",
    "RU",
    "p50 ms",
    "p95 ms",
)


class Watched:
    """A store that counts the candidates of searches and, by owner, the calls about that owner."""

    def __init__(self, inner: LongTermStore) -> None:
        self._inner = inner
        self.candidates = 0
        self.calls = Counter[Owner]()

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._inner, name)

        def watched(*given: Any, **options: Any) -> Any:
            if given and isinstance(given[0], Owner):
                self.calls[given[0]] += 1
            return attribute(*given, **options)

        return watched if callable(attribute) else attribute

    async def search(self, owner: Owner, search: Search) -> Found:
        """Search, and count the candidates."""
        self.calls[owner] += 1
        answer = await self._inner.search(owner, search)
        self.candidates += len(answer.candidates.ids)
        return answer


class Bench:
    """A MemoryCore whose clock is moved and whose store is watched."""

    def __init__(self, folder: Path, **more: Any) -> None:
        given = {
            "embedding_provider": "hash",
            "llm_provider": "offline",
            "data": folder,
            "consolidation_spread_minutes": 0,
        }
        settings = Settings.model_validate(
            {**given, "sqlite_synchronous": "normal", "slice_budget_mb": BUDGET_MB, **more}
        )
        self.clock, telemetry = Hands(), Telemetry()
        made = Adapters.of(settings, self.clock, telemetry.charged, telemetry)
        self.counts = Counter[str]()
        counted: Any = CountedStore(
            made.long_term, self.counts, dimensions=made.embedder.dimensions
        )
        self.watched = Watched(counted)
        self.core = MemoryCore(
            settings,
            clock=self.clock,
            ids=Ids(SEED),
            adapters=replace(made, long_term=self.watched),
        )


async def faded_beside_active(folder: Path, size: int, count: int = QUERIES) -> list[Asked]:
    """Ask users of `size` memories in turns: nine of ten faded, and none; beside them one with the
    fresh ones alone.
    """
    bench = Bench(folder, upkeep_cap=10 * size, consolidation_threshold=10 * size)
    owners = {kind: Owner(APP, f"user{place}") for place, kind in enumerate((FADED, ACTIVE, FRESH))}
    old = round(FADED_SHARE * size)
    async with bench.core as core:
        await core.warm_up()
        await _fill(bench, owners[FADED], 0, old)
        bench.clock.forward(AWAY)
        await core.decay(owners[FADED], DecayInput())
        await work(core)
        await _fill(bench, owners[FADED], old, size)
        await _fill(bench, owners[ACTIVE], 0, size)
        await _fill(bench, owners[FRESH], old, size)
        times: dict[str, list[float]] = {kind: [] for kind in owners}
        totals = {kind: Counter[str]() for kind in owners}
        for place, query in enumerate(islice(_queries(size), WARM_UP + count)):
            for kind in _in_turn(list(owners), place):
                bench.counts.clear()
                before, began = bench.watched.candidates, time.perf_counter()
                answer = await core.retrieve(owners[kind], query)
                took = time.perf_counter() - began
                if place >= WARM_UP:
                    times[kind].append(took)
                    totals[kind].update(
                        candidates=bench.watched.candidates - before,
                        results=len(answer.results),
                        requests=requests(bench.counts),
                        milliunits=round(1000 * units(bench.counts)),
                    )
        return [
            await _asked(bench, kind, owner, times[kind], totals[kind])
            for kind, owner in owners.items()
        ]


def _in_turn(names: list[str], place: int) -> list[str]:
    """Another one first each time, so that none always comes after the same."""
    return names[place % len(names) :] + names[: place % len(names)]


async def _asked(
    bench: Bench, kind: str, owner: Owner, times: list[float], totals: Counter[str]
) -> Asked:
    head = (await bench.watched.snapshot(owner)).head
    ordered, count = sorted(times), max(1, len(times))
    return Asked(
        user=kind,
        memories=sum(head.counts.values()),
        decayed=head.counts.get("decayed", 0),
        queries=len(times),
        p50_ms=round(1000 * percentile(ordered, 0.5), 3),
        p95_ms=round(1000 * percentile(ordered, 0.95), 3),
        candidates=totals["candidates"] / count,
        results=totals["results"] / count,
        requests=totals["requests"] / count,
        units=round(totals["milliunits"] / 1000 / count, 2),
    )


async def _fill(bench: Bench, owner: Owner, start: int, end: int) -> None:
    """Save the memories from one number to another; the same for every owner."""
    print(f"saving {end - start:,} memories", file=sys.stderr, flush=True)
    for first in range(start, end, BULK):
        items = [
            SaveInput(content=_text(number), session_id=f"s{number // SESSION_TURNS}")
            for number in range(first, min(first + BULK, end))
        ]
        for saved in await bench.core.bulk(owner, items):
            if isinstance(saved, MemoryCoreError):
                raise saved


def _text(number: int) -> str:
    return text(random.Random(f"{SEED} {number}"))


def _queries(size: int) -> Iterator[RetrieveInput]:
    for query in queries(SEED, "cost", size):
        yield RetrieveInput(query=query, limit=RESULTS, similarity_threshold=0.0)


@dataclass(frozen=True, slots=True)
class Idle:
    """A month of an idle user: calls of the store about that user, and the hours in which
    there were any.
    """

    month: int
    requests: int
    hours: int

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


async def idle(
    folder: Path, months: int = MONTHS, *, every_days: int = 1, tick: timedelta = HOUR
) -> list[Idle]:
    """Tell a user for a month; then tick every hour of the following ones.

    Args:
        folder: Where the stores are.
        months: How many are idle.
        every_days: A chat every so many days, in the month of telling.
        tick: How often the hourly timer comes.

    Returns:
        The month of telling, then the idle ones.

    """
    bench, owner = Bench(folder), Owner(APP, "idle")
    life = daily.life(every_days=every_days).first_months(1, "idle")
    lived: list[Idle] = []
    async with bench.core as core:
        await core.warm_up()
        for month in range(months + 1):
            print(f"idle user: month {month} of {months}", file=sys.stderr, flush=True)
            before, hours = bench.watched.calls[owner], 0
            end = BEGUN + (month + 1) * MONTH + SETTLING
            while bench.clock.now() + tick <= end:
                at_first = bench.watched.calls[owner]
                bench.clock.forward(tick)
                await _tell(bench, owner, life)
                await send_for_work(core)
                await work(core)
                hours += bench.watched.calls[owner] > at_first
            lived.append(Idle(month, bench.watched.calls[owner] - before, hours))
    return lived


async def _tell(bench: Bench, owner: Owner, life: Life) -> None:
    """Tell what was said by now."""
    while life.chats and life.chats[0].ends_at - life.began_at <= bench.clock.now() - BEGUN:
        chat = life.chats.pop(0)
        for messages in calls_of(chat.turns, A_CALL):
            dated_later = [
                {name: value for name, value in message.items() if name != "timestamp"}
                for message in messages
            ]
            await bench.core.converse(
                owner,
                ConverseInput.model_validate({"session_id": chat.session, "messages": dated_later}),
            )
            await work(bench.core)


def ratio(asked: list[Asked]) -> float:
    """The p50 with faded memories, as a multiple of that without."""
    of = {row.user: row.p50_ms for row in asked}
    return of[FADED] / of[ACTIVE]


def report(asked: list[Asked], months: list[Idle]) -> list[str]:
    """Print the tables; what does not hold."""
    show(
        "A retrieve of ten results, users asked in turns", HEADINGS, [row.cells() for row in asked]
    )
    lines = [
        [str(month.month) if month.month else "told", str(month.requests), str(month.hours)]
        for month in months
    ]
    show(
        "A user told for a month, then idle: every hour ticks",
        ("month", "requests for the user", "hours with any"),
        lines,
    )
    times = ratio(asked)
    print(
        f"\nwith faded memories p50 is {times:.2f} of that without; at most {MOST_RATIO} is meant"
    )
    broken = [] if times <= MOST_RATIO else [f"faded memories make p50 {times:.2f} times as long"]
    busy = [str(month.month) for month in months[1:] if month.requests]
    return broken + ([f"idle months with requests: {', '.join(busy)}"] if busy else [])

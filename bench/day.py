"""One day of a sample of users through the real code: conversations become memories,
each hour consolidates who is due.

Who is active when is drawn by a power law, seeded. Note: the sample takes its users at even
quantiles of the power law, not at random, so that a hundred and twenty have the mean and the tail
of millions; ids and clock are ours, so two days of one seed are equal to the byte.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Literal

from bench.counted import CountedAgents, CountedEmbedder, CountedQueue, CountedStore
from bench.formation import conversations
from memory_core.bootstrap.adapters import Adapters
from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.requests.memories import ConverseInput, RetrieveInput
from memory_core.domain.scope import Owner
from memory_core.ports.infrastructure import QueueName
from memory_core.telemetry import Telemetry

APP = "scale"
MIDNIGHT = datetime(2026, 1, 5, tzinfo=timezone.utc)
HOURS = 24
SHAPE = 1.2
"""Of the power law: 4 in 5 of the talk is of about a fifth of the users."""
MOST_A_DAY = 30.0
"""The most conversations of one user a day."""
RETRIEVES = 3
"""Queries beside each conversation."""
_BY_HOUR = (1, 1, 1, 1, 1, 2, 4, 6, 8, 8, 7, 7, 8, 7, 7, 7, 7, 8, 9, 10, 9, 7, 4, 2)
BY_HOUR = tuple(weight / sum(_BY_HOUR) for weight in _BY_HOUR)
"""The share of a day's talk in each hour."""
QUEUES: tuple[QueueName, ...] = ("formation", "consolidation")


def rates(users: int, mean: float) -> list[float]:
    """Conversations a day of each of `users`, at even quantiles of a Pareto distribution of this
    mean, the most active first.
    """
    least = mean * (SHAPE - 1) / SHAPE
    drawn = [
        min(MOST_A_DAY, least * ((place + 0.5) / users) ** (-1 / SHAPE)) for place in range(users)
    ]
    return [number * mean * users / sum(drawn) for number in drawn]


def talks(rate: float, chance: random.Random) -> list[int]:
    """The hours in which a user with this rate talks on one day, drawn; an hour once for each
    conversation.
    """
    count = int(rate) + (chance.random() < rate % 1)
    return sorted(chance.choices(range(HOURS), BY_HOUR, k=count))


class Ids:
    """Ids out of a seed."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)

    def new(self, prefix: str) -> str:
        """`<prefix>_<24 hex digits>`."""
        return f"{prefix}_{self._chance.getrandbits(96):024x}"


class _Clock:
    """A clock that stays where it is until it is moved."""

    def __init__(self) -> None:
        self.at = MIDNIGHT

    def now(self) -> datetime:
        """The moment that it shows."""
        return self.at

    async def sleep(self, seconds: float) -> None:
        """Never return: no time passes while work is done, however slow the machine is."""
        await asyncio.Event().wait()


@dataclass(frozen=True, slots=True)
class Day:
    """What a day of the sample came to, as counts by name, in parts. runs: that ended; due:
    users found by the fan-out by hour.

    noted: writing accesses down. added: adding to the memories, at the end of the day,
    those that wait.
    """

    users: int
    conversations: int
    memories: int
    formed: Counter[str]
    settled: Counter[str]
    asked: Counter[str]
    noted: Counter[str]
    added: Counter[str]
    runs: int
    due: tuple[int, ...]
    stored: int


async def day(
    folder: Path,
    users: int,
    mean: float,
    seed: int,
    dimensions: int,
    *,
    before: bool = False,
    embedder: Literal["hash", "minilm"] = "hash",
    token_states: bool = True,
) -> Day:
    """Live it. mean: conversations a user and day. before: as in `CountedStore`. token_states: of
    memories, where the embedder has them.
    """
    settings = Settings(
        embedding_provider=embedder,
        token_states=token_states,
        llm_provider="offline",
        data=folder,
        consolidation_spread_minutes=0,
        consolidation_first_minutes=0,  # a user's first run is once in a life, and no part of a day
        sqlite_synchronous="normal",
    )
    clock, telemetry, counts = _Clock(), Telemetry(), Counter[str]()
    made = Adapters.of(settings, clock, telemetry.charged, telemetry)
    store = CountedStore(made.long_term, counts, dimensions=dimensions, before=before)
    agents = CountedAgents(made.agents, counts)
    queue, embeds = CountedQueue(made.queue, counts), CountedEmbedder(made.embedder, counts)
    made = replace(made, long_term=store, queue=queue, embedder=embeds, agents=agents, rules=agents)
    chance = random.Random(seed)
    hours = [talks(rate, chance) for rate in rates(users, mean)]
    parts = {name: Counter[str]() for name in ("formed", "settled", "asked", "noted", "added")}
    due: list[int] = []
    async with MemoryCore(settings, clock=clock, ids=Ids(seed), adapters=made) as core:
        await core.warm_up()
        talk = _said(seed, sum(map(len, hours)))
        for hour in range(HOURS):
            talking = [
                number for number, those in enumerate(hours) for _ in range(those.count(hour))
            ]
            await _live_hour(core, clock, talking, talk, counts, parts)
            due.append(counts["message.consolidation.user"])
        counts.clear()
        for number in range(users):
            await core._services.access_counts.settle(owner(number))
        parts["added"] += counts
        runs = await _count_runs(core, users)
    return Day(
        users=users,
        conversations=sum(map(len, hours)),
        memories=store.vectors,
        runs=runs,
        due=tuple(due),
        stored=store.stored,
        **parts,
    )


async def _live_hour(
    core: MemoryCore,
    clock: _Clock,
    talking: Sequence[int],
    talk: Iterator[ConverseInput],
    counts: Counter[str],
    parts: Mapping[str, Counter[str]],
) -> None:
    """Conversations, queries and the timer of an hour. `counts` keeps those of the timer."""
    counts.clear()
    for number in talking:
        await core.converse(owner(number), next(talk))
    await work(core)
    parts["formed"].update(counts)
    counts.clear()
    for number in talking:
        for query in (
            "Where do I live now?",
            "What do I like on free days?",
            "How long are my shifts?",
        )[:RETRIEVES]:
            await core.retrieve(owner(number), RetrieveInput(query=query))
        parts["asked"].update(counts)
        counts.clear()
        # as the process does some seconds later, whether a run follows or not
        await core.flush_accesses()
        parts["noted"].update(counts)
        counts.clear()
    clock.at += timedelta(hours=1)
    await core.fan_out()
    await work(core)
    parts["settled"].update(counts)


async def _count_runs(core: MemoryCore, users: int) -> int:
    tasks = core._services.task_services.tasks
    return sum(
        [
            len((await tasks.page(owner(number), None, "consolidate", None, 100)).tasks)
            for number in range(users)
        ]
    )


def owner(number: int) -> Owner:
    """The `number`-th user of the sample."""
    return Owner(APP, f"user{number:08}")


def _said(seed: int, count: int) -> Iterator[ConverseInput]:
    """Conversations of made-up people, all of the first day."""
    for number, conversation in enumerate(conversations(seed, count)):
        messages = [
            {
                **message,
                "timestamp": (MIDNIGHT + timedelta(minutes=number % 60, seconds=place)).isoformat(),
            }
            for place, message in enumerate(conversation.model_dump(mode="json")["messages"])
        ]
        yield ConverseInput.model_validate(
            {"session_id": conversation.session_id, "messages": messages}
        )


async def work(core: MemoryCore) -> None:
    """Do what the queues hold, one message after the other."""
    busy = True
    while busy:
        busy = False
        for name in QUEUES:
            while taken := await core.queue.receive(name, 32, timedelta(minutes=5)):
                busy = True
                for message in taken:
                    await core.work(message.body, name)
                    await core.queue.complete(name, message)


def units(count: Counter[str]) -> float:
    """Request units."""
    return sum(number for name, number in count.items() if name.endswith(".milliunits")) / 1000


def requests(count: Counter[str]) -> int:
    """Requests to the store."""
    return sum(number for name, number in count.items() if name.endswith(".requests"))


def messages(count: Counter[str]) -> int:
    """Messages of all queues."""
    return sum(number for name, number in count.items() if name.startswith("message."))

"""Drawn lives of one slot: at every boundary and between, now and as known before, stored is what
the tables say of single moments.

What is asked of the product is compared with `Grid`, which shares nothing with `resolve` but the
entries of the log.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.errors import Conflict, Invalid
from memory_core.domain.memory import Memory, OnConflict, Status
from memory_core.domain.requests.memories import StatusInput, UpdateInput
from memory_core.domain.scope import Owner
from memory_core.domain.truth.codec import entries_in
from memory_core.domain.truth.entries import Entry, Statement
from memory_core.domain.truth.slots import is_retraction
from memory_core.evolution.slot_log import value_hash
from tests.builders import NOW, StillClock
from tests.conflicts import DECISIONS, asking, check_questions, records_of
from tests.contract.conftest import on_cosmos
from tests.cosmos_server import CosmosServer
from tests.truth_by_moments import Grid
from tests.world import World, fact, listed

SLOT: dict[str, Any] = {"subject": "Ana", "attribute": "city"}
CITIES = ("Oslo", "Rome", "Bonn", "Kiev", "Lima")
WAYS = (
    OnConflict.AUTO,
    OnConflict.AUTO,
    OnConflict.AUTO,
    OnConflict.SUPERSEDE,
    OnConflict.MERGE,
    OnConflict.KEEP_BOTH,
    OnConflict.REJECT_NEW,
)
ACTS = 22


def day(number: float) -> datetime:
    return NOW + timedelta(days=number - 40)


class Life:
    """One user's slot, and what was done to it."""

    def __init__(self, world: World, core: MemoryCore, seed: int) -> None:
        self.world, self.core, self.random = world, core, Random(seed)
        self.owner = Owner("app", f"user{seed}")
        self.known: list[tuple[datetime, int]] = []

    async def live(self, *others: Life) -> None:
        """Do some acts, each at once with one of the user's other writers."""
        for _ in range(ACTS):
            self.world.clock.forward(60)
            await asyncio.gather(*(life.act() for life in (self, *others)))
            head = (await (await self.world.look_on()).snapshot(self.owner)).head
            if head is not None:
                self.known.append((self.world.clock.now() + timedelta(seconds=30), head.sequence))

    async def act(self) -> None:
        """Do something; what is refused changes nothing."""
        acts = [self.say] * 8 + [
            self.end,
            self.edit,
            self.edit,
            self.correct,
            self.delete,
            self.delete,
            self.restore,
            self.undo,
            self.undo,
        ]
        acts += [self.decide, self.take_back]
        with suppress(Conflict, Invalid):
            await self.random.choice(acts)()

    async def say(self) -> None:
        city, day_told = self.random.choice(CITIES), self.random.randint(0, 20)
        times: dict[str, Any] = {}
        if self.random.random() < 0.4:
            times["valid_from"] = day(day_told + self.random.choice([-6, -2, 3]))
        if self.random.random() < 0.3:
            until = day(day_told + self.random.choice([-1, 0.5, 5]))
            times |= (
                {"valid_until": until} if until > times.get("valid_from", day(day_told)) else {}
            )
        way = self.random.choice(WAYS)
        item = fact(
            f"Ana lives in {city}",
            value=city,
            event_timestamp=day(day_told),
            on_conflict=way,
            **SLOT,
            **times,
        )
        await self.core.save(self.owner, item)

    async def end(self) -> None:
        city = self.random.choice([None, "Oslo", "Rome"])
        item = fact(
            f"Ana lives in {city} no longer",
            value={"no_longer": city},
            event_timestamp=day(self.random.randint(0, 20)),
            **SLOT,
        )
        await self.core.save(self.owner, item)

    async def edit(self) -> None:
        if (memory := await self.chosen(Status.ACTIVE, Status.SUPERSEDED)) is not None:
            city = self.random.choice(CITIES)
            begins = (
                {"valid_from": day(self.random.randint(0, 20))}
                if self.random.random() < 0.4
                else {}
            )
            await self.core.update(
                self.owner,
                memory.id,
                UpdateInput(content=f"Ana lives in {city}", value=city, **begins),
                "*",
            )

    async def correct(self) -> None:
        if (memory := await self.chosen(Status.ACTIVE)) is not None:
            name = self.random.choice(["valid_from", "valid_until"])
            change = UpdateInput.model_validate({name: day(self.random.randint(0, 20))})
            await self.core.update(self.owner, memory.id, change, "*")

    async def delete(self) -> None:
        if (
            memory := await self.chosen(Status.ACTIVE, Status.SUPERSEDED, Status.UPDATED)
        ) is not None:
            await self.core.delete(self.owner, memory.id)

    async def restore(self) -> None:
        if (memory := await self.chosen(Status.DELETED)) is not None:
            await self.core.set_status(
                self.owner, memory.id, StatusInput(status="active", reason="again")
            )

    async def undo(self) -> None:
        if (memory := await self.chosen(Status.SUPERSEDED, Status.UPDATED)) is not None:
            await self.core.restore(self.owner, memory.id)

    async def decide(self) -> None:
        if records := await self.records(is_open=True):
            await self.core.resolve_conflict(
                self.owner, self.random.choice(records), asking(self.random.choice(DECISIONS))
            )

    async def take_back(self) -> None:
        if records := await self.records(is_open=False):
            await self.core.undo_conflict(self.owner, self.random.choice(records))

    async def chosen(self, *statuses: Status) -> Memory | None:
        memories = [
            memory
            for memory in await listed(self.core, self.owner, status="all")
            if memory.status in statuses
        ]
        return (
            self.random.choice(sorted(memories, key=lambda memory: memory.sequence))
            if memories
            else None
        )

    async def records(self, *, is_open: bool) -> list[str]:
        records = [
            record for record in await records_of(self.world, self.owner) if record.open is is_open
        ]
        return [
            record.id for record in sorted(records, key=lambda record: (record.at, record.reason))
        ]

    async def differences(self) -> list[str]:
        """Where what is answered is not what the tables say."""
        documents = await (await self.world.look_on()).page(self.owner, "slot", None, None, 50)
        if not documents:
            return []
        salt = next(document.body["salt"] for document in documents if "salt" in document.body)
        log = [entry for document in documents for entry in entries_in(document.body["entries"])]
        await check_questions(self.world, self.core, self.owner)
        made = [line async for line in self.core.slot_differences(self.owner.app_id, self.owner)]
        made += await self._compared(log, salt, None, None)
        for moment, sequence in self.random.sample(self.known, min(2, len(self.known))):
            made += await self._compared(log, salt, moment, sequence)
        return made

    async def _compared(
        self, log: list[Entry], salt: str, known_at: datetime | None, sequence: int | None
    ) -> list[str]:
        starts = sorted(
            {
                moment
                for statement in log
                if isinstance(statement, Statement)
                for moment in (statement.valid_from, statement.valid_until, statement.asserted_at)
                if moment
            }
        )
        moments = sorted(
            {*starts, *(first + (second - first) / 2 for first, second in pairwise(starts))}
        )
        grid, made = Grid(log, [*moments, max(moments) + timedelta(days=1)], sequence), list[str]()
        for moment in moments:
            fields = {} if known_at is None else {"known_at": known_at}
            memories = await listed(self.core, self.owner, at=moment, **fields)
            values = sorted(
                value_hash(memory, salt) or "" for memory in memories if not is_retraction(memory)
            )
            if values != grid.values(moment):
                contents = [memory.value or memory.content for memory in memories]
                made.append(
                    f"at {moment}, known at {known_at}: {contents}, {len(grid.values(moment))} by "
                    "the tables"
                )
            elif any(map(is_retraction, memories)) is not (grid.retraction(moment) is not None):
                made.append(
                    f"at {moment}, known at {known_at}: an ending is answered, or is missing"
                )
        return made


def check(
    folder: Path, clock: StillClock, server: CosmosServer | None, seeds: Iterable[int]
) -> None:
    async def run() -> None:
        world = World(folder, clock, None if server is None else on_cosmos(server, clock))
        core = await world.core()
        try:
            for seed in seeds:
                clock.moment = NOW
                life = Life(world, core, seed)
                await life.live()
                assert await life.differences() == [], f"seed {seed}"
        finally:
            await world.close()

    asyncio.run(run())


FOUND_WRONG_ONCE = (1108, 1186, 1242, 2227, 3279, 5199, 60243)
"""Merged texts that never held or ended early, a version alone that holds, a vanished time,
a past version, a deleted ending, an earlier time of a past version that was made by its deletion.
"""


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
def test_lives_that_were_wrong_once_are_as_the_tables_say(
    tmp_path: Path, clock: StillClock, server: CosmosServer | None
) -> None:
    check(tmp_path, clock, server, FOUND_WRONG_ONCE)


@pytest.mark.parametrize(
    ("adapter", "seeds"), [("sqlite", range(30)), ("cosmos", range(3))], indirect=["adapter"]
)
def test_drawn_lives_are_as_the_tables_say(
    tmp_path: Path, clock: StillClock, server: CosmosServer | None, seeds: range
) -> None:
    check(tmp_path, clock, server, seeds)


@pytest.mark.parametrize(
    ("adapter", "seeds"), [("sqlite", range(6)), ("cosmos", range(2))], indirect=["adapter"]
)
async def test_drawn_lives_of_two_writers_are_as_the_tables_say(
    world: World, clock: StillClock, seeds: range
) -> None:
    cores = [await world.core() for _ in range(2)]
    for seed in seeds:
        clock.moment = NOW
        life, other = (Life(world, core, seed) for core in cores)
        other.random = Random(-1 - seed)
        await life.live(other)
        assert await life.differences() == [], f"seed {seed}"


@pytest.mark.long
@pytest.mark.parametrize("part", range(50))
@pytest.mark.parametrize(
    ("adapter", "each"), [("sqlite", 100), ("cosmos", 6)], indirect=["adapter"]
)
def test_thousands_of_drawn_lives_are_as_the_tables_say(
    tmp_path: Path, clock: StillClock, server: CosmosServer | None, each: int, part: int
) -> None:
    check(tmp_path, clock, server, range(1000 + part * each, 1000 + part * each + each))

"""Drawn lives of one slot: at every boundary of what is said, the step before it and between, now
and as known at every commit, the step before it and between, stored is what the tables say of
single moments.

What is asked of the product is compared with `Grid`, which shares nothing with `resolve` but the
entries of the log.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.errors import Conflict, Invalid
from memory_core.domain.event_log import States, base_id, fold, is_of_its_life, is_version
from memory_core.domain.memory import Event, Memory, OnConflict, Status
from memory_core.domain.requests.memories import ListInput, StatusInput, UpdateInput
from memory_core.domain.scope import Owner
from memory_core.domain.truth.codec import entries_in
from memory_core.domain.truth.slots import is_retraction
from memory_core.evolution.slot_log import value_hash
from memory_core.recollection.filters import of_list, shows
from tests.builders import NOW, StillClock
from tests.conflicts import DECISIONS, asking, check_questions, records_of
from tests.contract.conftest import on_cosmos
from tests.cosmos_server import CosmosServer
from tests.truth_by_moments import Grid, around, boundaries_of
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

    async def live(self, *others: Life) -> None:
        """Do some acts, each at once with one of the user's other writers."""
        for _ in range(ACTS):
            self.world.clock.forward(60)
            await asyncio.gather(*(life.act() for life in (self, *others)))

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
        store = await self.world.look_on()
        documents = await store.page(self.owner, "slot", None, None, 50)
        if not documents:
            return []
        salt = next(document.body["salt"] for document in documents if "salt" in document.body)
        log = [entry for document in documents for entry in entries_in(document.body["entries"])]
        moments = around(boundaries_of(log))
        await check_questions(self.world, self.core, self.owner)
        made = [line async for line in self.core.slot_differences(self.owner.app_id, self.owner)]
        grid = Grid(log, moments)
        for moment in moments:
            memories = await listed(self.core, self.owner, at=moment)
            made += _wrong(memories, grid, salt, moment, "now")
        events = await store.events(self.owner, 0, 100_000)
        written, states = _written(events), States()
        grids = {sequence: Grid(log, moments, sequence) for sequence in sorted({*written.values()})}
        for (before, _), (sequence, known) in pairwise([(0, grid), *grids.items()]):
            states = fold(states, [each for each in events if before < each.sequence <= sequence])
            memories_at = _listed_of(states)
            for moment in moments:
                made += _wrong(memories_at(moment), known, salt, moment, f"known at {sequence}")
        asked = [*written.items()]
        if self.world.elsewhere is not None:  # a list reads all events
            asked = self.random.sample(asked, 12)
        for known_at, sequence in asked:
            moment = self.random.choice(moments)
            memories = await listed(self.core, self.owner, at=moment, known_at=known_at)
            made += _wrong(memories, grids[sequence], salt, moment, f"known at {known_at}")
        return made


def _written(events: Sequence[Event]) -> dict[datetime, int]:
    """By every moment of an event, the step before it and between, the last sequence that is known
    then: a commit is known as a whole from its first event on.
    """
    commits: dict[str, tuple[datetime, int]] = {}
    for event in events:
        commit = event.id.rpartition("_")[0]
        commits[commit] = commits.get(commit, (event.occurred_at,))[0], event.sequence
    return {
        known_at: max((end for begin, end in commits.values() if begin <= known_at), default=0)
        for known_at in around(event.occurred_at for event in events)
    }


def _listed_of(states: States) -> Callable[[datetime], list[Memory]]:
    """What these states of the log tell of moments: a list with `known_at` and `at`, which reads
    the log once for all of them.
    """
    known = {name: state.memory("") for name, state in states.items()}

    def at(moment: datetime) -> list[Memory]:
        where = of_list(ListInput(at=moment))
        return [
            memory
            for name, memory in known.items()
            if shows(where, memory)
            and (not is_version(name) or is_of_its_life(memory, known.get(base_id(name))))
        ]

    return at


def _wrong(
    memories: list[Memory], grid: Grid, salt: str, moment: datetime, known: str
) -> list[str]:
    """How what is answered of a moment differs from the tables."""
    values = sorted(
        value_hash(memory, salt) or "" for memory in memories if not is_retraction(memory)
    )
    expected = grid.values(moment)
    if values != expected:
        contents = [memory.value or memory.content for memory in memories]
        return [f"at {moment}, {known}: {contents}, {len(expected)} by the tables"]
    if any(map(is_retraction, memories)) is not (grid.retraction(moment) is not None):
        return [f"at {moment}, {known}: an ending is answered, or is missing"]
    return []


def check(
    folder: Path,
    clock: StillClock,
    server: CosmosServer | None,
    seeds: Iterable[int],
    writers: int = 1,
) -> None:
    async def run() -> None:
        world = World(folder, clock, None if server is None else on_cosmos(server, clock))
        cores = [await world.core() for _ in range(writers)]
        try:
            for seed in seeds:
                clock.moment = NOW
                life, *others = (Life(world, core, seed) for core in cores)
                for number, other in enumerate(others, 1):
                    other.random = Random(-number - seed)
                await life.live(*others)
                assert await life.differences() == [], f"seed {seed}"
        finally:
            await world.close()

    asyncio.run(run())


FOUND_WRONG_ONCE = (1108, 1186, 1242, 2227, 3279, 4747, 5199, 60243)
"""Merged texts that never held or ended early, a version alone that holds, a vanished time,
a past version, the words of a merge in an earlier time after its undo, a deleted ending, an earlier
time of a past version that was made by its deletion.
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
def test_drawn_lives_of_two_writers_are_as_the_tables_say(
    tmp_path: Path, clock: StillClock, server: CosmosServer | None, seeds: range
) -> None:
    check(tmp_path, clock, server, seeds, writers=2)


@pytest.mark.long
@pytest.mark.parametrize("part", range(50))
@pytest.mark.parametrize(
    ("adapter", "each", "writers"),
    [("sqlite", 100, 1), ("sqlite", 10, 2), ("cosmos", 6, 1), ("cosmos", 1, 2)],
    indirect=["adapter"],
)
def test_thousands_of_drawn_lives_are_as_the_tables_say(
    tmp_path: Path,
    clock: StillClock,
    server: CosmosServer | None,
    each: int,
    writers: int,
    part: int,
) -> None:
    first = 1000 + part * each
    check(tmp_path, clock, server, range(first, first + each), writers)

"""`python -m tests.slot_lives [--store cosmos] [--lives 300] [--first 1000] [--writers 2]
[--began 10]`: drawn lives of one slot, compared with the tables.

At every boundary of what is said, the step before it and between, now and as known at every
commit, the step before it and between, stored must be what the tables say of single moments. What
is asked of the product is compared with `Grid`, which shares nothing with `resolve` but the entries
of the log. In the end nothing may be refused for ever (`Life.refused_for_ever`). Each difference
and each failed call is printed with its seed, and what was refused is counted by its reason. Exit
code 1 where a life went wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

from memory_core.core import MemoryCore
from memory_core.domain.errors import Conflict, Invalid
from memory_core.domain.event_log import States, base_id, fold, is_of_its_life, is_version
from memory_core.domain.memory import Event, Memory, OnConflict, Status
from memory_core.domain.requests.maintenance import ForgetInput
from memory_core.domain.requests.memories import ListInput, StatusInput, UpdateInput
from memory_core.domain.results import Accepted
from memory_core.domain.scope import Owner
from memory_core.domain.truth.codec import entries_in
from memory_core.domain.truth.entries import Assertion, Entry, Retraction
from memory_core.domain.truth.slots import is_retraction
from memory_core.evolution.slot_log import value_hash
from memory_core.ports import Document
from memory_core.recollection.filters import of_list, shows
from tests.builders import NOW, StillClock
from tests.conflicts import DECISIONS, asking, check_questions, records_of
from tests.contract.conftest import SharedClock, on_cosmos
from tests.cosmos_server import Steered, running
from tests.cosmos_traffic import check_that_each_names_one_user
from tests.tasks import Hand
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
BEGAN = 40
"""The day of the first act by default: after all days of which something is said."""
LIVES_A_STORE = 25
"""Lives that share a store in the command; the next ones get a new one."""


def day(number: float) -> datetime:
    return NOW + timedelta(days=number - 40)


MEMORY = re.compile(r"mem_\w+")
MOST_NAMED = 50
"""Calls by which a memory that was refused is restored in the end."""
_NAMES = re.compile(r"(mem|cft)_\w+|\d[\d:.T+-]*")


class Life:
    """One user's slot, and what was done to it.

    refused: counts what was refused, by the reason without ids, numbers and moments.
    """

    def __init__(
        self, world: World, core: MemoryCore, seed: int, refused: Counter[str] | None = None
    ) -> None:
        self.world, self.core, self.random = world, core, Random(seed)
        self.owner = Owner("app", f"user{seed}")
        self.refused = Counter() if refused is None else refused

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
        try:
            await self.random.choice(acts)()
        except (Conflict, Invalid) as error:
            self.refused[f"{error.status} {_NAMES.sub('…', error.detail)}"] += 1

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

    async def refused_for_ever(self) -> list[str]:
        """What no call brings about any more: each open question is decided, an earlier time is
        forgotten, each memory that is past or deleted is restored, after those that a refusal
        names; then a new value is told.
        """
        made = list[str]()
        for record in await self.records(is_open=True):
            reasons = list[str]()
            for way in DECISIONS:
                call = self.core.resolve_conflict(self.owner, record, asking(way))
                if not (why := await self._refusal(call)):
                    break
                reasons.append(why)
            else:
                made.append(f"{record} can't be decided: {reasons}")
        self.world.clock.forward(60)
        span = [self.world.clock.now() - timedelta(seconds=ago) for ago in (40, 20)]
        trip = {"valid_from": span[0], "valid_until": span[1]}  # parts what holds into two times
        await self.core.save(self.owner, fact("Ana lives in Graz", value="Graz", **SLOT, **trip))
        for memory in await listed(self.core, self.owner, status="superseded"):
            if await self._is_of_another(memory.id):
                made += await self._forgotten(memory.id)
                break
        stated = {
            entry.memory_id
            for entry in await self._log()
            if isinstance(entry, Assertion | Retraction)
        }
        for memory in await listed(self.core, self.owner, status="all"):
            if memory.status is Status.ACTIVE or memory.id not in stated:
                continue  # without a statement it is an interval of another memory
            if why := await self._restored(memory.id):
                made.append(f"{memory.id} can't be restored: {why}")
        item = fact("Ana lives in Wien", value="Wien", **SLOT)
        if why := await self._refusal(self.core.save(self.owner, item)):
            return [*made, f"nothing new can be told: {why}"]
        now = await listed(self.core, self.owner, at=self.world.clock.now())
        made += [] if "Wien" in [memory.value for memory in now] else ["the newest does not hold"]
        await check_questions(self.world, self.core, self.owner)
        return made + [
            line async for line in self.core.slot_differences(self.owner.app_id, self.owner)
        ]

    async def _slot_documents(self) -> Sequence[Document]:
        return await (await self.world.look_on()).page(self.owner, "slot", None, None, 50)

    async def _log(self) -> list[Entry]:
        """All entries of the slot, the sealed ones too."""
        return [
            entry
            for document in await self._slot_documents()
            for entry in entries_in(document.body["entries"])
        ]

    async def _restored(self, name: str) -> str:
        """Why a memory can't be restored, also not after the memories that refusals name; empty
        where it can.
        """
        wanted, why = [name], ""
        for _ in range(MOST_NAMED):
            if not (why := await self._refusal(self.core.restore(self.owner, wanted[-1]))):
                wanted.pop()
                if not wanted:
                    return ""
            elif others := [each for each in MEMORY.findall(why) if each not in wanted]:
                if " is an earlier time of " in why:
                    wanted.pop()
                wanted.append(others[-1])
            else:
                return why
        return why

    async def _is_of_another(self, name: str) -> bool:
        """Whether a memory keeps an earlier interval of another memory."""
        change = UpdateInput(tags=["changed"])
        why = await self._refusal(self.core.update(self.owner, name, change, "*"))
        return " is an earlier time of " in why

    async def _forgotten(self, name: str) -> list[str]:
        """What is left of a memory whose earlier interval is forgotten by its id."""
        mode = self.random.choice(["soft", "hard"])
        asked = ForgetInput.model_validate({"filter": {"ids": [name]}, "mode": mode})
        accepted = await self.core.forget(self.owner, asked)
        assert isinstance(accepted, Accepted)
        await Hand(self.core, "consolidation").work_all()
        task = await self.core.task(self.owner, accepted.task_id)
        left = await listed(self.core, self.owner, status="all")
        made = [each.id for each in left if each.id == name and each.status is not Status.DELETED]
        return made if task.status == "succeeded" else [f"{name} is not forgotten: {task.error}"]

    async def _refusal(self, call: Awaitable[Any]) -> str:
        """The reason for which a call is refused; empty where it is not."""
        self.world.clock.forward(60)
        try:
            await call
        except (Conflict, Invalid) as error:
            return f"{error.status} {error.detail}"
        return ""

    async def differences(self) -> list[str]:
        """Where what is answered is not what the tables say."""
        store = await self.world.look_on()
        documents = await self._slot_documents()
        if not documents:
            return []
        salt = next(document.body["salt"] for document in documents if "salt" in document.body)
        log = await self._log()
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
        for known_at, sequence in written.items():
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


async def differences_of(
    world: World,
    cores: Sequence[MemoryCore],
    seed: int,
    refused: Counter[str],
    began: float = BEGAN,
) -> list[str]:
    """Where the life of a seed, lived on the cores at once, is not what the tables say.

    Args:
        world: the clock and the store of the cores.
        cores: the writers; each draws acts of its own.
        seed: decides what is drawn. It is a user of its own.
        refused: gets what was refused, by reason.
        began: the day of the first act. What is said of a later day is announced.

    """
    world.clock.moment = day(began)
    life, *others = (Life(world, core, seed, refused) for core in cores)
    for number, other in enumerate(others, 1):
        other.random = Random(-number - seed)
    await life.live(*others)
    return await life.differences() or await life.refused_for_ever()


def check(
    folder: Path, clock: StillClock, server: Steered | None, seeds: Iterable[int], writers: int = 1
) -> None:
    """Fail at the first life of these seeds that is not as the tables say."""

    async def run() -> None:
        world = World(folder, clock, None if server is None else on_cosmos(server, clock))
        cores = [await world.core() for _ in range(writers)]
        try:
            for seed in seeds:
                assert await differences_of(world, cores, seed, Counter()) == [], f"seed {seed}"
        finally:
            await world.close()

    asyncio.run(run())


@dataclass
class Tally:
    """What a run of the command has seen.

    Attributes:
        lives: how many were lived.
        wrong: seeds of those that differ from the tables, or in which a call failed.
        refused: how often an act was refused, by reason.

    """

    lives: int = 0
    wrong: list[int] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)

    async def add(self, world: World, cores: Sequence[MemoryCore], seed: int, began: float) -> None:
        """Live a life. What is wrong with it is printed, and the next one can be lived."""
        try:
            differences = await differences_of(world, cores, seed, self.refused, began)
        except Exception as error:  # a 5xx, or a check that failed: the run goes on
            differences = [f"{type(error).__name__}: {error}"[:2000]]
        self.lives += 1
        if differences:
            self.wrong.append(seed)
            print(f"seed {seed}: {len(differences)} differences, the first:", differences[0])  # noqa: T201


async def run(store: str, seeds: range, writers: int, began: float = BEGAN) -> Tally:
    """Live the lives of these seeds on a store, a fresh one for some at a time."""
    tally, started = Tally(), time.monotonic()
    with ExitStack() as until_the_end:
        server = until_the_end.enter_context(running()) if store == "cosmos" else None
        for start in range(seeds.start, seeds.stop, LIVES_A_STORE):
            folder = until_the_end.enter_context(tempfile.TemporaryDirectory())
            clock = StillClock() if server is None else SharedClock(server)
            world = World(Path(folder), clock, None if server is None else on_cosmos(server, clock))
            cores = [await world.core() for _ in range(writers)]
            try:
                for seed in seeds[start - seeds.start :][:LIVES_A_STORE]:
                    await tally.add(world, cores, seed, began)
            finally:
                await world.close()
            if server is not None:
                check_that_each_names_one_user(server.requests())
                server.forget_requests()
            seconds = time.monotonic() - started
            print(f"{tally.lives} lives, {len(tally.wrong)} wrong, {seconds:.0f} s", flush=True)  # noqa: T201
    return tally


def main(arguments: Sequence[str] | None = None) -> int:
    """Live as many lives as were asked for, and print what was wrong: 1 if anything was."""
    parser = argparse.ArgumentParser(prog="python -m tests.slot_lives", description=__doc__)
    parser.add_argument("--store", choices=["sqlite", "cosmos"], default="sqlite")
    parser.add_argument("--lives", type=int, default=300)
    parser.add_argument("--first", type=int, default=1000, help="seed of the first life")
    parser.add_argument("--writers", type=int, default=1, help="writers who act at once")
    parser.add_argument(
        "--began", type=float, default=BEGAN, help="day of the first act; 10: half is announced"
    )
    given = parser.parse_args(arguments)
    seeds = range(given.first, given.first + given.lives)
    tally = asyncio.run(run(given.store, seeds, given.writers, given.began))
    for reason, times in tally.refused.most_common():
        print(f"refused {times} times: {reason}")  # noqa: T201
    print(  # noqa: T201
        f"{given.store}, {given.writers} writers of {ACTS} acts each, seeds {seeds.start} to "
        f"{seeds.stop - 1}: {tally.lives} lives, wrong: {tally.wrong or 'none'}"
    )
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main())

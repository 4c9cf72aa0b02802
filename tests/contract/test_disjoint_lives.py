"""Any life of one slot: after each act, at each moment, one truth holds, but for those that a
person lets stand beside each other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import combinations, count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from memory_core.core import MemoryCore
from memory_core.domain.conflict import ConflictRecord
from memory_core.domain.errors import Conflict, Invalid
from memory_core.domain.event_log import base_id
from memory_core.domain.memory import Memory, OnConflict, Status
from memory_core.domain.requests.memories import StatusInput, UpdateInput
from memory_core.domain.scope import Owner
from tests.builders import NOW, StillClock
from tests.conflicts import DECISIONS, asking, records_of
from tests.contract.conftest import on_cosmos
from tests.cosmos_server import Steered
from tests.world import World, fact, listed

SLOT: dict[str, Any] = {"subject": "Ana", "attribute": "city"}
DAYS = st.integers(0, 20)
PLACES = st.integers(0, 30)
CITIES = st.sampled_from(["Oslo", "Rome", "Bonn", "Kiev", "Lima"])
WAYS = st.sampled_from(
    [OnConflict.AUTO, OnConflict.AUTO, OnConflict.SUPERSEDE, OnConflict.MERGE, OnConflict.KEEP_BOTH]
)
SINCE = st.sampled_from([None, None, None, -6, -2, 3])


def day(number: float) -> datetime:
    """A day before the present."""
    return NOW + timedelta(days=number - 40)


@dataclass
class Lives:
    """One store; each life is that of another user."""

    world: World
    runner: asyncio.Runner = field(default_factory=asyncio.Runner)
    users: Iterator[int] = field(default_factory=count)
    core: MemoryCore | None = None

    def next_owner(self) -> Owner:
        self.core = self.core or self.runner.run(self.world.core())
        return Owner("app", f"user{next(self.users)}")


class OneSlot(RuleBasedStateMachine):
    """What is said, edited, taken away, decided and brought back in one slot."""

    def __init__(self, lives: Lives) -> None:
        super().__init__()
        self.lives, self.owner = lives, lives.next_owner()
        self.world = lives.world
        self.world.clock.moment = NOW
        self.begins: set[datetime] = set()
        self.pairs: dict[tuple[str, ...], None] = {}

    @property
    def core(self) -> MemoryCore:
        assert self.lives.core is not None
        self.world.clock.forward(60)
        return self.lives.core

    def run(self, call: Any) -> Any:
        return self.lives.runner.run(call)

    def attempt(self, call: Any) -> None:
        """Do it; what is refused changes nothing."""
        with suppress(Conflict, Invalid):
            self.run(call)

    def chosen(self, place: int, *statuses: Status) -> Memory | None:
        """One of the memories with these statuses, in an order that does not depend on ids."""
        memories = self.run(listed(self.core, self.owner, status="all"))
        in_log_order = sorted(
            (memory for memory in memories if memory.status in statuses),
            key=lambda memory: memory.sequence,
        )
        return in_log_order[place % len(in_log_order)] if in_log_order else None

    def records(self, *, is_open: bool) -> list[ConflictRecord]:
        records = [
            record
            for record in self.run(records_of(self.world, self.owner))
            if record.open is is_open
        ]
        return sorted(records, key=lambda record: (record.at, record.reason))

    @rule(city=CITIES, day_told=DAYS, since=SINCE, way=WAYS)
    def save(self, city: str, day_told: int, since: int | None, way: OnConflict) -> None:
        begins = {} if since is None else {"valid_from": day(day_told + since)}
        item = fact(
            f"Ana lives in {city}",
            value=city,
            event_timestamp=day(day_told),
            on_conflict=way,
            **SLOT,
            **begins,
        )
        self.attempt(self.core.save(self.owner, item))

    @rule(day_told=DAYS, city=st.sampled_from([None, "Oslo", "Rome"]))
    def end(self, day_told: int, city: str | None) -> None:
        item = fact(
            f"Ana lives in {city} no longer",
            value={"no_longer": city},
            event_timestamp=day(day_told),
            **SLOT,
        )
        self.attempt(self.core.save(self.owner, item))

    @rule(place=PLACES, city=CITIES, since=st.none() | DAYS)
    def edit(self, place: int, city: str, since: int | None) -> None:
        if (memory := self.chosen(place, Status.ACTIVE)) is not None:
            begins = {} if since is None else {"valid_from": day(since)}
            change = UpdateInput(content=f"Ana lives in {city}", value=city, **begins)
            self.attempt(self.core.update(self.owner, memory.id, change, "*"))

    @rule(place=PLACES, name=st.sampled_from(["valid_from", "valid_until"]), moment=DAYS)
    def correct_the_time(self, place: int, name: str, moment: int) -> None:
        if (memory := self.chosen(place, Status.ACTIVE)) is not None:
            self.attempt(
                self.core.update(
                    self.owner, memory.id, UpdateInput.model_validate({name: day(moment)}), "*"
                )
            )

    @rule(place=PLACES)
    def delete(self, place: int) -> None:
        if (
            memory := self.chosen(place, Status.ACTIVE, Status.SUPERSEDED, Status.UPDATED)
        ) is not None:
            self.attempt(self.core.delete(self.owner, memory.id))

    @rule(place=PLACES)
    def restore_deleted(self, place: int) -> None:
        if (memory := self.chosen(place, Status.DELETED)) is not None:
            self.attempt(
                self.core.set_status(
                    self.owner, memory.id, StatusInput(status="active", reason="again")
                )
            )

    @rule(place=PLACES)
    def undo(self, place: int) -> None:
        if (memory := self.chosen(place, Status.SUPERSEDED, Status.UPDATED)) is not None:
            self.attempt(self.core.restore(self.owner, memory.id))

    @rule(place=PLACES, decision=st.sampled_from(DECISIONS))
    def decide(self, place: int, decision: str) -> None:
        if records := self.records(is_open=True):
            self.attempt(
                self.core.resolve_conflict(
                    self.owner, records[place % len(records)].id, asking(decision)
                )
            )

    @rule(place=PLACES)
    def undo_a_decision(self, place: int) -> None:
        if records := self.records(is_open=False):
            self.attempt(self.core.undo_conflict(self.owner, records[place % len(records)].id))

    @invariant()
    def one_truth_holds_at_each_moment(self) -> None:
        memories = self.run(listed(self.opened, self.owner, status="all"))
        self.begins |= {memory.valid_from for memory in memories}
        groups, waiting = self.side_by_side(memories)
        for moment in self.begins:
            values = [
                base_id(memory.id)
                for memory in self.run(listed(self.opened, self.owner, at=moment))
            ]
            for names in combinations(values, 2):
                together = any(group.issuperset(names) for group in groups)
                assert together or not waiting.isdisjoint(names), f"{names} both hold at {moment}"

    @property
    def opened(self) -> MemoryCore:
        assert self.lives.core is not None
        return self.lives.core

    def side_by_side(self, memories: list[Memory]) -> tuple[list[set[str]], set[str]]:
        """The groups that were let stand side by side, and the memories of which it is not decided
        whether they hold.

        A truth that was kept beside one of a group stood beside all of it; what it is merged into
        takes its place there, and so does what says the same: of two that tell one value,
        the one said later is a mention.
        """
        records = self.run(records_of(self.world, self.owner))
        self.pairs |= {
            record.sides: None
            for record in records
            if not record.open and record.strategy == "keep_both"
        }
        sides = {name for pair in self.pairs for name in pair}
        for memory in sorted(memories, key=lambda each_memory: each_memory.sequence):
            sides |= {*memory.consolidated_into_ids} if memory.id in sides else set()
        merged = [
            {memory.id, *memory.consolidated_into_ids} for memory in memories if memory.id in sides
        ]
        groups: list[set[str]] = []
        values = {memory.id: memory.value for memory in memories}
        alike = [
            {
                memory.id,
                *(name for name in sides if name in values and values[name] == memory.value),
            }
            for memory in memories
        ]
        for names in [
            *map(set, self.pairs),
            *merged,
            *(each for each in alike if not each.isdisjoint(sides)),
        ]:
            apart = [group for group in groups if group.isdisjoint(names)]
            groups = [*apart, names.union(*(group for group in groups if group not in apart))]
        return groups, {name for record in records if record.open for name in record.sides}


@contextmanager
def lives(
    folder: Path, clock: StillClock, server: Steered | None
) -> Iterator[Callable[[], OneSlot]]:
    """What makes a life of a user of its own in one store."""
    made = Lives(World(folder, clock, None if server is None else on_cosmos(server, clock)))
    try:
        yield lambda: OneSlot(made)
    finally:
        made.runner.run(made.world.close())
        made.runner.close()


def live(life: Callable[[], OneSlot], examples: int, steps: int) -> None:
    of = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(life, settings=of)


@pytest.mark.parametrize(
    ("adapter", "examples"), [("sqlite", 15), ("cosmos", 2)], indirect=["adapter"]
)
def test_one_truth_holds_at_each_moment_of_a_life(
    tmp_path: Path, clock: StillClock, server: Steered | None, examples: int
) -> None:
    with lives(tmp_path, clock, server) as life:
        live(life, examples, 12)


@pytest.mark.long
@pytest.mark.parametrize(
    ("adapter", "examples"), [("sqlite", 150), ("cosmos", 20)], indirect=["adapter"]
)
def test_one_truth_holds_at_each_moment_of_many_lives(
    tmp_path: Path, clock: StillClock, server: Steered | None, examples: int
) -> None:
    with lives(tmp_path, clock, server) as life:
        live(life, examples, 20)

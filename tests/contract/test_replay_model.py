"""Any life, on machines whose clocks are wrong: what was read once is what a replay at that
sequence tells for ever.

A new operation joins by a rule of a few lines: do it through `self.core`, to a memory out of
`self.memories()` where it needs one. What comes out of it is read, written down and compared
by the rest.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from memory_core.adapters.system import SystemClock
from memory_core.core import MemoryCore
from memory_core.domain.conflict import ConflictRecord
from memory_core.domain.errors import Conflict, Invalid, NotFound
from memory_core.domain.memory import Memory, MemoryType, OnConflict, Status
from memory_core.domain.requests.maintenance import (
    ArchiveInput,
    DecayInput,
    ForgetFilter,
    ForgetInput,
)
from memory_core.domain.requests.memories import (
    ClearInput,
    CopyInput,
    SaveInput,
    StatusInput,
    UpdateInput,
)
from memory_core.domain.scope import Owner
from memory_core.domain.transitions import FOUND_BY_DEFAULT
from tests.builders import NOW, StillClock
from tests.cold import years_go_by
from tests.conflicts import DECISIONS, asking, records_of
from tests.contract.conftest import on_cosmos
from tests.cosmos_server import Steered
from tests.past import Logged, as_of, check_that_the_log_tells_it, full_read, logged, replayed
from tests.tasks import Hand
from tests.telling import Tellers, on_all, talk
from tests.world import WordsEmbedder, World, fact, listed, turn

DAYS = st.integers(-3, 3).map(lambda days: NOW + timedelta(days=days))
LONG = "We talked for a long while about nothing in particular, as one does. " * 30
TEXTS = st.sampled_from(["red boat", "blue boat", "green tea", "old house"])
SESSIONS = st.sampled_from([None, "s1", "s2"])
PLACES = st.integers(0, 50)
FACTS = st.builds(
    lambda subject, value, **fields: fact(
        f"{subject} is {value}", subject=subject, attribute="state", **fields
    ),
    st.sampled_from(["door", "gate"]),
    st.sampled_from(["open", "shut", "gone"]),
    event_timestamp=DAYS,
    on_conflict=st.sampled_from(OnConflict),
)
RULES = st.builds(
    SaveInput,
    type=st.just(MemoryType.PROCEDURAL),
    key=st.sampled_from(["k1", "k2"]),
    value=st.integers(0, 2),
    event_timestamp=DAYS,
)
ITEMS = st.one_of(
    st.builds(turn, TEXTS, SESSIONS), st.builds(fact, TEXTS, session_id=SESSIONS), FACTS, RULES
)
CHANGES = st.fixed_dictionaries(
    {"content": TEXTS},
    optional={
        "tags": st.sampled_from([["a"], ["a", "b"]]),
        "valid_from": DAYS,
        "valid_until": DAYS,
    },
).map(lambda fields: UpdateInput.model_validate(fields))


def in_order(query: dict[str, Any]) -> dict[str, Any]:
    """The query, with a period that ends after it begins: any other is refused."""
    if not query.keys() >= {"since", "until"}:
        return query
    since, until = sorted((query["since"], query["until"]))
    return query | {"since": since, "until": until}


FILTERS = st.fixed_dictionaries(
    {},
    optional={
        "status": st.sampled_from(["all", "active", "superseded", "deleted"]),
        "type": st.sampled_from(MemoryType),
        "tag": st.just("a"),
        "session_id": st.sampled_from(["s1", "s2"]),
        "since": DAYS,
        "until": DAYS,
        "at": DAYS,
    },
).map(in_order)
RULINGS = st.sampled_from(
    [None, *(on_all(operation, category="note") for operation in ("UPDATE", "DELETE", "SKIP"))]
)


@dataclass
class Skewed(SystemClock):
    """The clock of a machine that is wrong by so much."""

    true: StillClock
    by: timedelta

    def now(self) -> datetime:
        return self.true.now() + self.by


@dataclass
class Machines:
    """One store, and two machines on it whose clocks are ten minutes apart; each life is
    another user's.
    """

    world: World
    runner: asyncio.Runner = field(default_factory=asyncio.Runner)
    agents: Tellers = field(default_factory=Tellers)
    cores: list[MemoryCore] = field(default_factory=list)
    users: Iterator[int] = field(default_factory=count)

    def start(self) -> None:
        embedder = WordsEmbedder()
        for minutes in (0, 10):
            clock = Skewed(self.world.clock, timedelta(minutes=minutes))
            made = self.world.core(
                clock=clock,
                embedder=embedder,
                agents=self.agents,
                rules=Tellers(),
                link_threshold=0.3,
                duplicate_threshold=0.7,
            )
            self.cores.append(self.runner.run(made))

    def stop(self) -> None:
        self.runner.run(self.world.close())
        self.runner.close()


class AnyPast(RuleBasedStateMachine):
    """One user's life. read: what was answered to which question at which sequence."""

    def __init__(self, machines: Machines) -> None:
        super().__init__()
        self.machines, self.world = machines, machines.world
        self.owner = Owner("app", f"user{next(machines.users)}")
        self.turn = 0
        self.read: list[tuple[int, dict[str, Any], list[Logged]]] = []
        self.looked_at: dict[int, datetime] = {}
        self.world.clock.moment = NOW

    def run(self, call: Any) -> Any:
        return self.machines.runner.run(call)

    @property
    def core(self) -> MemoryCore:
        """The two in turn, a second later each time."""
        self.turn += 1
        self.world.clock.forward(1)
        return self.machines.cores[self.turn % 2]

    def memories(self, **query: Any) -> list[Memory]:
        """All that there are, in an order that does not depend on ids."""
        return sorted(
            self.run(listed(self.core, self.owner, **{"status": "all", **query})),
            key=lambda memory: memory.sequence,
        )

    def one_of(self, place: int, **query: Any) -> Memory | None:
        """One of them, if there is any."""
        memories = self.memories(**query)
        return memories[place % len(memories)] if memories else None

    @initialize(old=st.sampled_from([True, False, False, False]))
    def begin(self, old: bool) -> None:
        """An old user has a log that is long enough for snapshots, and each replay of it takes ten
        times as long: one in four.
        """
        items = [
            SaveInput(type=MemoryType.PROCEDURAL, key=f"old {number % 16}", value=1)
            for number in range(48)
        ]
        for _ in range(20 if old else 0):
            self.run(self.core.bulk(self.owner, items))

    @rule(item=ITEMS)
    def save(self, item: SaveInput) -> None:
        self.run(self.core.save(self.owner, item))

    @rule(items=st.lists(ITEMS, min_size=2, max_size=5))
    def bulk(self, items: list[SaveInput]) -> None:
        self.run(self.core.bulk(self.owner, items))

    @rule(place=PLACES, change=CHANGES)
    def update(self, place: int, change: UpdateInput) -> None:
        memory = self.one_of(place, status="active")
        with suppress(Conflict, Invalid):
            if memory is not None:
                self.run(self.core.update(self.owner, memory.id, change, memory.etag))

    @rule(place=PLACES)
    def delete(self, place: int) -> None:
        if (memory := self.one_of(place)) is not None:
            self.run(self.core.delete(self.owner, memory.id))

    @rule(place=PLACES)
    def restore_deleted(self, place: int) -> None:
        if (memory := self.one_of(place, status="deleted")) is not None:
            self.run(
                self.core.set_status(
                    self.owner, memory.id, StatusInput(status="active", reason="again")
                )
            )

    @rule(place=PLACES)
    def restore(self, place: int) -> None:
        """Whatever is not found by default, from wherever it is; the archive is one place,
        and what replaced it another.
        """
        away = [
            memory
            for memory in self.memories()
            if memory.status not in FOUND_BY_DEFAULT or memory.status is Status.COMPRESSED
        ]
        if away:
            self.run(self.core.restore(self.owner, away[place % len(away)].id))

    @rule(importance=st.sampled_from([0.06, 0.3]))
    def tell_at_length(self, importance: float) -> None:
        self.run(self.core.save(self.owner, turn(LONG, importance=importance)))

    @rule(number=st.integers(1, 4), day=st.integers(-3, 3), strategy=st.sampled_from(OnConflict))
    def claim(self, number: int, day: int, strategy: OnConflict) -> None:
        """What may contradict another claim, and is asked about then."""
        moment = NOW + timedelta(days=day)
        item = fact(
            f"the big old server listens on port {number}",
            event_timestamp=moment,
            on_conflict=strategy,
        )
        self.run(self.core.save(self.owner, item))

    @rule(days=st.sampled_from([0, 45, 150]))
    def decay(self, days: int) -> None:
        self.world.clock.forward(days * 86_400)
        self.run(self.core.decay(self.owner, DecayInput()))
        self.run(Hand(self.core, "consolidation").work_all())

    @rule(years=st.sampled_from([0, 11]))
    def archive(self, years: int) -> None:
        years_go_by(self.world, years)
        self.run(self.core.archive(self.owner, ArchiveInput()))
        self.run(Hand(self.core, "consolidation").work_all())

    @rule(place=PLACES)
    def forget(self, place: int) -> None:
        if (memory := self.one_of(place)) is not None:
            self.run(
                self.core.forget(self.owner, ForgetInput(filter=ForgetFilter(ids=[memory.id])))
            )
            self.run(Hand(self.core, "consolidation").work_all())

    def records(self, *, open: bool) -> list[ConflictRecord]:
        """Conflicts, in an order that does not depend on ids."""
        places = {memory.id: memory.sequence for memory in self.memories()}
        records = [
            record for record in self.run(records_of(self.world, self.owner)) if record.open is open
        ]
        return sorted(records, key=lambda record: [places.get(name, 0) for name in record.sides])

    @rule(place=PLACES, decision=st.sampled_from(DECISIONS))
    def resolve(self, place: int, decision: str) -> None:
        if records := self.records(open=True):
            record = records[place % len(records)]
            statuses = {memory.id: memory.status for memory in self.memories()}
            both_stand = FOUND_BY_DEFAULT.issuperset(map(statuses.get, record.sides))
            with (
                nullcontext() if both_stand else pytest.raises(Conflict, match="both memories must")
            ):
                self.run(self.core.resolve_conflict(self.owner, record.id, asking(decision)))

    @rule(place=PLACES)
    def undo_a_decision(self, place: int) -> None:
        if records := self.records(open=False):
            with suppress(Conflict):
                self.run(self.core.undo_conflict(self.owner, records[place % len(records)].id))

    @rule(place=PLACES)
    def copy(self, place: int) -> None:
        memory = self.one_of(place, status="active")
        with suppress(Invalid):
            if memory is not None:
                self.run(self.core.copy(self.owner, memory.id, CopyInput(to_agent_id="a2")))

    @rule(session=st.sampled_from(["s1", "s2"]))
    def clear(self, session: str) -> None:
        self.run(self.core.clear(self.owner, ClearInput(session_id=session)))

    @rule(city=st.sampled_from(["Oslo", "Rome"]), day=st.integers(-3, 3), rulings=RULINGS)
    def converse(self, city: str, day: int, rulings: Any) -> None:
        self.machines.agents.rulings = rulings or (lambda new, older: [])
        conversation = talk(
            f"Ana's city is {city}", "We spoke about the garden wall", at=NOW + timedelta(days=day)
        )
        self.run(self.core.converse(self.owner, conversation))
        self.run(Hand(self.core).work_all())

    @rule(seconds=st.sampled_from([-86400, -600, 3600, 86400]))
    def the_clock_is_set(self, seconds: int) -> None:
        self.world.clock.forward(seconds)

    @rule()
    def write_snapshots(self) -> None:
        self.run(self.core.write_snapshots(self.owner))

    @rule(query=FILTERS)
    def look(self, query: dict[str, Any]) -> None:
        """Write down what a question is answered now, and when that was on the clock of the machine
        that answered.
        """
        core = self.core
        self.looked_at[len(self.read)] = core.clock.now()
        sequence = self.run(as_of(core, self.owner, **query))
        self.read.append(
            (
                sequence,
                query,
                [logged(memory) for memory in self.run(listed(core, self.owner, **query))],
            )
        )

    @invariant()
    def everything_is_read(self) -> None:
        core = self.core
        sequence = self.run(as_of(core, self.owner))
        if not self.read or self.read[-1][0] != sequence:
            answer = self.run(full_read(core, self.owner))
            self.read.append((sequence, {"status": "all"}, answer))
            no_chain_comes_back({memory["id"]: memory["next_id"] for memory in answer})

    def teardown(self) -> None:
        self.run(check_that_the_log_tells_it(self.world, self.owner))
        moments = [
            NOW - timedelta(days=900),
            *(event.occurred_at for event in self.run(self.world.log(self.owner))),
        ]
        for number, (sequence, query, answer) in enumerate(self.read):
            known_at, pages = moments[sequence], max(3, len(answer) // 2)
            later = [
                logged(memory)
                for memory in self.run(
                    listed(self.core, self.owner, **query, known_at=known_at, limit=pages)
                )
            ]
            if query.keys().isdisjoint({"status", "at"}):
                between = sorted([known_at, self.looked_at[number]])
                later, answer = not_expired(later, between), not_expired(answer, between)
            assert later == answer
            if query.get("status") == "all" and query.keys() <= {"status", "at"}:
                at = query.get("at")
                assert self.run(replayed(self.core, self.owner, sequence=sequence, at=at)) == answer
                assert (
                    self.run(replayed(self.core, self.owner, known_at=known_at, at=at, limit=pages))
                    == answer
                )
            self.one_by_one(known_at, query, answer)

    def one_by_one(self, known_at: datetime, query: dict[str, Any], answer: list[Logged]) -> None:
        """A memory that a list showed is read alike by its id."""
        for memory in answer[:2]:
            page = self.run(
                self.core.look_at(self.owner, memory["id"], known_at=known_at, at=query.get("at"))
            )
            assert logged(page.memory) == memory
        if not answer and not query:
            with pytest.raises(NotFound):
                self.run(self.core.get(self.owner, "mem_none", known_at=known_at))


def not_expired(memories: list[Logged], between: list[datetime]) -> list[Logged]:
    """Without what ended between two moments: a list that names neither status nor time leaves out
    what has expired by its own clock.
    """
    ends = [
        (memory, memory["valid_until"] and datetime.fromisoformat(memory["valid_until"]))
        for memory in memories
    ]
    return [name for name, end in ends if end is None or not between[0] < end <= between[1]]


def no_chain_comes_back(next_ids: dict[str, str | None]) -> None:
    for first in next_ids:
        seen, name = set[str](), next_ids[first]
        while name is not None:
            assert name != first
            assert name not in seen
            seen.add(name)
            name = next_ids[name]


@contextmanager
def machines(
    folder: Path, clock: StillClock, server: Steered | None
) -> Iterator[Callable[[], AnyPast]]:
    """What makes a life of a user of its own on the same two machines."""
    made = Machines(World(folder, clock, None if server is None else on_cosmos(server, clock)))
    made.start()
    try:
        yield lambda: AnyPast(made)
    finally:
        made.stop()


def live(life: Callable[[], AnyPast], examples: int, steps: int) -> None:
    checks = list(HealthCheck)
    of = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=checks,
    )
    run_state_machine_as_test(life, settings=of)


@pytest.mark.parametrize(
    ("adapter", "examples"), [("sqlite", 8), ("cosmos", 1)], indirect=["adapter"]
)
def test_what_was_read_once_is_replayed_for_ever(
    tmp_path: Path, clock: StillClock, server: Steered | None, examples: int
) -> None:
    with machines(tmp_path, clock, server) as life:
        live(life, examples, 20)


@pytest.mark.long
@pytest.mark.parametrize(
    ("adapter", "examples"), [("sqlite", 300), ("cosmos", 60)], indirect=["adapter"]
)
def test_what_was_read_in_many_lives_is_replayed_for_ever(
    tmp_path: Path, clock: StillClock, server: Steered | None, examples: int
) -> None:
    with machines(tmp_path, clock, server) as life:
        live(life, examples, 40)

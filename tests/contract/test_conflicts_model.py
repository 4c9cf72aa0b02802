"""Whatever is said, decided, taken back and removed, in any order: records, memories and head
agree, and an undo undoes.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from memory_core.domain.conflict import ConflictRecord
from memory_core.domain.errors import Conflict
from memory_core.domain.memory import UNLOGGED_FIELDS, Memory, MemoryType, OnConflict, Status
from memory_core.domain.requests.memories import ClearInput, SaveInput, StatusInput, UpdateInput
from memory_core.domain.transitions import FOUND_BY_DEFAULT
from tests.builders import ALICE, NOW
from tests.conflicts import DECISIONS, all_of, asking, check_questions, records_of, standing
from tests.world import WordsEmbedder, World

TOWNS = st.sampled_from(["Oslo", "Bergen", "Turku", "Porto"])
DAYS = st.integers(-9, -1)
"""Before today: an edit tells what holds now."""
SESSIONS = st.sampled_from([None, "s1", "s2"])
PLACES = st.integers(0, 1000)


class AnyQuarrel(RuleBasedStateMachine):
    """One user, two processes' worth of MemoryCore; truths of two slots, and statements that stand
    against each other uncertainly.
    """

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.runner = asyncio.Runner()
        self.world = World(Path(self.folder.name))
        self.cores = [
            self.run(self.world.core(embedder=WordsEmbedder(), duplicate_threshold=0.7))
            for _ in range(2)
        ]
        self.turn, self.kept_both = 0, False

    def run(self, call: Any) -> Any:
        return self.runner.run(call)

    @property
    def core(self) -> Any:
        """The two in turn, so that each meets what the other did."""
        self.turn += 1
        self.world.clock.forward(1)
        return self.cores[self.turn % 2]

    def records(self, *, open: bool) -> list[ConflictRecord]:
        return [record for record in self.run(records_of(self.world)) if record.open is open]

    def memories(self) -> dict[str, Memory]:
        memories: dict[str, Memory] = self.run(all_of(self.cores[0]))
        return memories

    def chosen(self, place: int, *statuses: Status) -> Memory | None:
        memories = sorted(
            (memory for memory in self.memories().values() if memory.status in statuses),
            key=lambda memory: memory.sequence,
        )
        return memories[place % len(memories)] if memories else None

    @rule(
        town=TOWNS,
        slot=st.sampled_from(["city", "job"]),
        day=DAYS,
        session=SESSIONS,
        strategy=st.sampled_from(OnConflict),
    )
    def tell(
        self, town: str, slot: str, day: int, session: str | None, strategy: OnConflict
    ) -> None:
        item = SaveInput(
            type=MemoryType.SEMANTIC, content=f"Ana's {slot} is {town}", subject="Ana",
            attribute=slot, value=town, session_id=session,
            event_timestamp=NOW + timedelta(days=day), on_conflict=strategy,
        )  # fmt: skip
        self.kept_both |= strategy is OnConflict.KEEP_BOTH
        self.run(self.core.save(ALICE, item))

    @rule(
        number=st.integers(1, 4), day=DAYS, session=SESSIONS, strategy=st.sampled_from(OnConflict)
    )
    def claim(self, number: int, day: int, session: str | None, strategy: OnConflict) -> None:
        text = f"the big old server listens on port {number}"
        moment = NOW + timedelta(days=day)
        item = SaveInput(
            type=MemoryType.SEMANTIC,
            content=text,
            session_id=session,
            event_timestamp=moment,
            on_conflict=strategy,
        )
        self.run(self.core.save(ALICE, item))

    @rule(place=PLACES, town=TOWNS)
    def edit(self, place: int, town: str) -> None:
        if (memory := self.chosen(place, Status.ACTIVE)) is not None:
            with of_all_its_times():
                self.run(
                    self.core.update(
                        ALICE, memory.id, UpdateInput(content=f"edited to {town}", value=town), "*"
                    )
                )

    @rule(place=PLACES)
    def delete(self, place: int) -> None:
        if (memory := self.chosen(place, *Status)) is not None:
            with of_all_its_times():
                self.run(self.core.delete(ALICE, memory.id))

    @rule(place=PLACES)
    def restore(self, place: int) -> None:
        if (memory := self.chosen(place, Status.DELETED)) is not None:
            with of_all_its_times():
                self.run(self.core.set_status(ALICE, memory.id, StatusInput(status="active")))

    @rule(session=st.sampled_from(["s1", "s2"]))
    def clear(self, session: str) -> None:
        self.run(self.core.clear(ALICE, ClearInput(session_id=session)))

    @precondition(lambda self: self.records(open=True))
    @rule(place=PLACES, decision=st.sampled_from(DECISIONS))
    def resolve(self, place: int, decision: str) -> None:
        records = self.records(open=True)
        self.kept_both |= decision == "keep_both"
        done = self.run(
            self.core.resolve_conflict(ALICE, records[place % len(records)].id, asking(decision))
        )
        assert (done.status, done.strategy) == ("resolved", decision)

    @precondition(lambda self: self.records(open=False))
    @rule(place=PLACES)
    def undo(self, place: int) -> None:
        """It works, and then both stand; or it says why not, and changes nothing."""
        records = self.records(open=False)
        record = records[place % len(records)]
        before = self.memories()
        try:
            done = self.run(self.core.undo_conflict(ALICE, record.id))
        except Conflict as error:
            refused = error.detail
        else:
            refused = ""
        after = self.memories()
        if refused:
            assert "mem_" in refused
            assert after == before
            return
        assert all(after[name].status in FOUND_BY_DEFAULT for name in done.sides)

    @precondition(lambda self: self.records(open=True))
    @rule(place=PLACES, decision=st.sampled_from(DECISIONS))
    def resolve_and_undo(self, place: int, decision: str) -> None:
        """Nothing is left of it but versions, events, and a merged text that is deleted."""
        records = self.records(open=True)
        record, before = records[place % len(records)], self.memories()
        self.run(self.core.resolve_conflict(ALICE, record.id, asking(decision, "to see")))
        undone = self.run(self.core.undo_conflict(ALICE, record.id))
        after = self.memories()
        assert {name: stands(memory) for name, memory in after.items() if name in before} == {
            name: stands(memory) for name, memory in before.items()
        }
        assert all(
            memory.status is Status.DELETED for name, memory in after.items() if name not in before
        )
        assert (undone.reason, undone.sides, undone.status) == (
            record.reason,
            record.sides,
            "pending",
        )

    @invariant()
    def everything_agrees(self) -> None:
        self.run(check_questions(self.world, self.cores[0]))
        self.run(self.world.check_slots())

    def teardown(self) -> None:
        if not hasattr(self, "world"):
            return
        try:
            self.run(self.log_says_what_the_store_says())
        finally:
            self.run(self.world.close())
            self.runner.close()
            self.folder.cleanup()

    async def log_says_what_the_store_says(self) -> None:
        """The `after` fields folded give every memory as it is stored; sessions and head count
        what there is.
        """
        folded: dict[str, dict[str, Any]] = {}
        for event in await self.world.log():
            state = folded.setdefault(event.memory_id, {})
            assert {
                name: state.get(name, event.before[name]) for name in event.before
            } == event.before
            state |= event.after
        memories = await all_of(self.cores[0])
        assert {name: logged(Memory.model_validate(state)) for name, state in folded.items()} == {
            name: logged(memory) for name, memory in memories.items()
        }
        for session in ("s1", "s2"):
            coexisting = sum(
                memory.session_id == session and memory.status is not Status.DELETED
                for memory in memories.values()
            )
            if any(memory.session_id == session for memory in memories.values()):
                assert (
                    sum((await self.cores[0].session(ALICE, session)).counts.values()) == coexisting
                )


def stands(memory: Memory) -> dict[str, Any]:
    """A memory's state, but for its reason: what was rejected and is taken back was restored."""
    return {name: value for name, value in standing(memory).items() if name != "status_reason"}


@contextmanager
def of_all_its_times() -> Iterator[None]:
    """What is done to an earlier time of a memory is refused: it is done to all of its times.
    An earlier time that an undo ended does not come back.
    """
    refused = "is an earlier time of"
    try:
        yield
    except Conflict as error:
        refused = error.detail
    assert "is an earlier time of" in refused or "holds at no time any more" in refused


def logged(memory: Memory) -> dict[str, Any]:
    """The fields that the log records."""
    return memory.model_dump(mode="json", exclude=set(UNLOGGED_FIELDS))


TestAnyQuarrel = AnyQuarrel.TestCase
TestAnyQuarrel.settings = settings(
    max_examples=40, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)

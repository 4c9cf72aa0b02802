"""Any life that memories can lead: random steps of all that changes a status, and after each the
rules that hold for all of them.

Every move is one that the table lists; a status has a reason that belongs to it; a slot has one
truth, or a conflict that waits; chains have no circle; what was forgotten for good is nowhere;
and the log tells what is stored.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Coroutine
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from memory_core.adapters.offline.agents import OfflineAgents
from memory_core.core import MemoryCore
from memory_core.domain.archival import is_cold
from memory_core.domain.errors import Conflict, NotFound
from memory_core.domain.memory import Memory, MemoryType, Status
from memory_core.domain.requests.maintenance import DecayInput, ForgetInput, ReplayInput
from memory_core.domain.requests.memories import ClearInput, StatusInput, UpdateInput
from memory_core.domain.transitions import FOUND_BY_DEFAULT, REASONS, allowed
from memory_core.domain.truth.slots import slot_of
from tests.builders import ALICE, StillClock
from tests.contract.conftest import on_cosmos
from tests.cosmos_here import CosmosHere
from tests.cosmos_server import Steered
from tests.past import shown
from tests.tasks import Hand
from tests.world import World, fact, listed, turn

LONG = "We talked for a long while about nothing in particular, as one does. " * 30
TEXTS = ["green", "blue", "red"]


class Life(RuleBasedStateMachine):
    """One user's memories on one machine, whose clock only moves when it is told to. server: of
    another database than the embedded one.
    """

    server: Steered | None = None

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = tempfile.TemporaryDirectory()
        clock = StillClock()
        self.world = World(
            Path(self.folder.name),
            clock,
            None if self.server is None else on_cosmos(self.server, clock),
        )
        self.ids: list[str] = []
        self.statuses: dict[str, Status] = {}
        self.gone: set[str] = set()
        self.words = 0

    def run(self, call: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(call)

    def teardown(self) -> None:
        self.run(self.world.close())
        self.loop.close()
        self.folder.cleanup()

    @initialize()
    def begin(self) -> None:
        self.core: MemoryCore = self.run(self.world.core(rules=OfflineAgents()))

    def work(self) -> None:
        self.run(Hand(self.core, "consolidation").work_all())

    @rule(long=st.booleans(), importance=st.sampled_from([0.06, 0.3, 0.9]))
    def tell(self, long: bool, importance: float) -> None:
        self.words += 1
        text = f"thing {self.words} {LONG}" if long else f"thing {self.words}"
        self.ids.append(
            self.run(self.core.save(ALICE, turn(text, importance=importance))).memory.id
        )

    @rule(
        text=st.sampled_from(TEXTS), slot=st.sampled_from(["door", "roof"]), back=st.integers(0, 20)
    )
    def hold_true(self, text: str, slot: str, back: int) -> None:
        told_at = self.world.clock.now() - timedelta(days=back)
        item = fact(
            f"the {slot} is {text}",
            subject="house",
            attribute=slot,
            event_timestamp=told_at,
            session_id="s1",
        )
        self.ids.append(self.run(self.core.save(ALICE, item)).memory.id)

    @rule(days=st.sampled_from([1, 20, 45, 100]))
    def wait(self, days: int) -> None:
        self.world.clock.forward(days * 86_400)

    @rule()
    def decay(self) -> None:
        self.run(self.core.decay(ALICE, DecayInput()))
        self.work()

    def one(self, place: int) -> str:
        """Any of the memories: by its place, since ids differ from run to run."""
        known = list(dict.fromkeys(self.ids))
        return known[place % len(known)] if known else "mem_nobodys"

    @rule(place=st.integers(0, 30), mode=st.sampled_from(["soft", "soft", "hard"]))
    def forget(self, place: int, mode: str) -> None:
        name = self.one(place)
        self.run(
            self.core.forget(
                ALICE, ForgetInput.model_validate({"mode": mode, "filter": {"ids": [name]}})
            )
        )
        self.work()
        if mode == "hard":
            left = {memory.id for memory in self.all()}
            self.gone |= set(self.ids) - left
            self.ids = [memory_id for memory_id in self.ids if memory_id in left]

    @rule(
        place=st.integers(0, 30),
        how=st.sampled_from(["restore", "active", "deleted", "delete", "edit"]),
    )
    def change(self, place: int, how: str) -> None:
        name = self.one(place)
        try:
            before: Memory = self.run(self.core.get(ALICE, name))
            if how == "restore":
                after = self.run(self.core.restore(ALICE, name))
                assert after.status not in (Status.DECAYED, Status.DELETED, Status.COMPRESSED), (
                    after.status
                )
            elif how == "edit":
                self.run(self.core.update(ALICE, name, UpdateInput(tags=["x"]), before.etag))
            elif how == "delete":
                self.run(self.core.delete(ALICE, name))
            else:
                self.run(self.core.set_status(ALICE, name, StatusInput(status=how)))  # type: ignore[arg-type]
        except Conflict:
            assert how == "edit"
        except NotFound:
            assert not self.ids

    @rule()
    def clear(self) -> None:
        self.run(self.core.clear(ALICE, ClearInput(session_id="s1", type=MemoryType.SEMANTIC)))

    def all(self) -> list[Memory]:
        return list(self.run(listed(self.core, status="all")))

    @invariant()
    def every_move_is_one_of_the_table(self) -> None:
        for event in self.run(self.world.log()):
            status = event.after.get("status")
            if "status" in event.before and status is not None and event.before["status"] != status:
                assert Status(status) in allowed(Status(event.before["status"])), event

    @invariant()
    def every_status_has_a_reason_of_its_own(self) -> None:
        for memory in self.all():
            assert memory.status_reason in REASONS[memory.status], (
                memory.status,
                memory.status_reason,
            )

    @invariant()
    def a_slot_has_one_truth_or_a_conflict_that_waits(self) -> None:
        standing: dict[Any, list[Memory]] = {}
        for memory in self.all():
            if memory.status in FOUND_BY_DEFAULT and (slot := slot_of(memory)) is not None:
                standing.setdefault(slot, []).append(memory)
        for several in standing.values():
            assert len(several) == 1 or all(
                memory.conflict_state == "pending" for memory in several
            ), several

    @invariant()
    def no_chain_is_a_circle(self) -> None:
        memories = {memory.id: memory for memory in self.all()}
        for memory in memories.values():
            seen, step = {memory.id}, memory
            while step.next_id in memories:
                step = memories[step.next_id]
                assert step.id not in seen, memory
                seen.add(step.id)

    @invariant()
    def what_was_forgotten_for_good_is_nowhere(self) -> None:
        memories = self.all()
        again = {memory.id for memory in memories}
        for memory in memories:
            named = {
                memory.next_id,
                memory.supersedes_id,
                memory.copied_from,
                *memory.source_ids,
                *memory.consolidated_into_ids,
            }
            assert not (self.gone - again) & named

    @invariant()
    def the_log_tells_what_is_stored(self) -> None:
        head = self.run(self.world.head())
        if head is None or head.sequence == 0:
            return
        page = self.run(self.core.replay(ALICE, ReplayInput(sequence=head.sequence, limit=100)))
        views = {memory.id: shown(memory) for memory in page.memories}
        stored_views = {memory.id: shown(memory) for memory in self.all()}
        assert views == stored_views
        assert not any(is_cold(memory) for memory in page.memories)
        counted = {name: number for name, number in head.counts.items() if number}
        statuses = [view["status"] for view in stored_views.values()]
        assert counted == {name: statuses.count(name) for name in set(statuses)}


class LifeOnCosmos(Life):
    """The same on Cosmos DB."""


@pytest.fixture(scope="module", autouse=True)
def on_a_server(_cosmos_here: CosmosHere) -> None:
    LifeOnCosmos.server = _cosmos_here


_PATIENT = [HealthCheck.too_slow, HealthCheck.filter_too_much]
TestLife = Life.TestCase
TestLife.settings = settings(
    max_examples=30, stateful_step_count=25, deadline=None, suppress_health_check=_PATIENT
)
TestLifeOnCosmos = LifeOnCosmos.TestCase
TestLifeOnCosmos.settings = settings(
    max_examples=5, stateful_step_count=15, deadline=None, suppress_health_check=_PATIENT
)

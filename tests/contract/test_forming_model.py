"""Conversations, saves, deletions and dying processes in any order: what must always be so, is."""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from memory_core.core import MemoryCore
from memory_core.domain.errors import Conflict
from memory_core.domain.memory import UNLOGGED_FIELDS, Memory, MemoryType, Status
from memory_core.domain.messages import MESSAGE, is_message
from memory_core.domain.requests.memories import ClearInput, SaveInput, TasksInput
from memory_core.domain.truth.slots import slot_of
from memory_core.ports import Document
from tests.builders import ALICE, NOW
from tests.mortal import Moment, Mortal
from tests.tasks import Hand
from tests.telling import Tellers, on_all, talk
from tests.world import Killed, WordsEmbedder, World, listed, recounted_bytes

ATTRIBUTES, VALUES, SESSIONS = (
    st.sampled_from(["city", "dog"]),
    st.sampled_from(["Oslo", "Bo", "Rex"]),
    st.sampled_from(["s1", "s2", None]),
)
DAYS = st.integers(0, 6)
LINES = st.one_of(
    st.builds("Ana's {} is {}".format, ATTRIBUTES, VALUES),
    st.sampled_from(
        [
            "We spoke about the old garden wall",
            "We spoke about the old garden gate",
            "🎉",
            "Now to something else: tea",
        ]
    ),
)
RULINGS = st.sampled_from(
    [None, *(on_all(operation, category="note") for operation in ("UPDATE", "DELETE", "SKIP"))]
)


class AnyTelling(RuleBasedStateMachine):
    """One user on one store, whose processes come and go."""

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.runner = asyncio.Runner()
        self.world = World(Path(self.folder.name))
        self.world.clock.forward(7 * 24 * 3600)  # what is told lies before it
        self.agents = Tellers()
        self.cleared: set[str] = set()
        self.core: MemoryCore = self.run(self.one_more())

    def run(self, call: Any) -> Any:
        return self.runner.run(call)

    async def one_more(self, moment: Moment | None = None) -> MemoryCore:
        """One more process; with a moment, one that dies then."""
        options: dict[str, Any] = {
            "embedder": WordsEmbedder(),
            "link_threshold": 0.3,
            "agents": self.agents,
            "rules": Tellers(),
        }
        return await self.world.core(
            wrap=(lambda store: Mortal(store, moment)) if moment else None, **options
        )

    @rule(lines=st.lists(LINES, min_size=1, max_size=3), day=DAYS, session=SESSIONS)
    def converse(self, lines: list[str], day: int, session: str | None) -> None:
        self.run(
            self.core.converse(ALICE, talk(*lines, at=NOW + timedelta(days=day), session=session))
        )

    @rule(rulings=RULINGS)
    def work(self, rulings: Any) -> None:
        self.agents.rulings = rulings or (lambda new, older: [])
        self.run(Hand(self.core).work_all())

    @rule(at=st.integers(1, 20), after=st.booleans(), rulings=RULINGS)
    def work_and_die(self, at: int, after: bool, rulings: Any) -> None:
        self.agents.rulings = rulings or (lambda new, older: [])
        self.run(self._die(Moment(at, after)))

    async def _die(self, moment: Moment) -> None:
        core = await self.one_more(moment)
        with suppress(Killed):
            await Hand(core).work_all()
        await self.world.end(core)

    @rule(attribute=ATTRIBUTES, value=VALUES, day=DAYS, session=SESSIONS)
    def save(self, attribute: str, value: str, day: int, session: str | None) -> None:
        text = f"Ana's {attribute} is {value}"
        item = SaveInput(
            type=MemoryType.SEMANTIC, content=text, subject="Ana", attribute=attribute,
            session_id=session, category="fact", event_timestamp=NOW + timedelta(days=day),
        )  # fmt: skip
        self.run(self.core.save(ALICE, item))

    @rule(place=st.integers(0, 50))
    def delete(self, place: int) -> None:
        memories = sorted(self.run(listed(self.core)), key=lambda memory: memory.id)
        if memories:
            self.run(self.core.delete(ALICE, memories[place % len(memories)].id))

    @rule(session=st.sampled_from(["s1", "s2"]))
    def clear(self, session: str) -> None:
        self.run(self.core.clear(ALICE, ClearInput(session_id=session)))
        self.cleared |= {
            document.body["id"]
            for document in self.run(self.conversations())
            if document.body["session_id"] == session
        }

    @rule(place=st.integers(0, 50))
    def cancel(self, place: int) -> None:
        tasks = self.run(self.core.tasks(ALICE, TasksInput(limit=100))).tasks
        with suppress(Conflict):
            if tasks:
                self.run(self.core.cancel(ALICE, tasks[place % len(tasks)].task_id))

    @rule(seconds=st.sampled_from([1, 61, 3600]))
    def time_goes_by(self, seconds: int) -> None:
        self.world.clock.forward(seconds)
        self.run(self.core.sweep())

    @invariant()
    def all_is_well(self) -> None:
        memories = {memory.id: memory for memory in self.run(listed(self.core, status="all"))}
        self.one_truth_a_slot(memories)
        self.chains_end(memories)
        self.what_is_named_exists(memories)
        standing = {
            memory.conversation_id for memory in memories.values() if memory.status is Status.ACTIVE
        }
        assert not standing & self.cleared, "what was told before a clear does not come back"
        self.run(self.waiting_is_counted())

    def one_truth_a_slot(self, memories: dict[str, Memory]) -> None:
        standing = Counter(
            slot
            for memory in memories.values()
            if memory.status is Status.ACTIVE and (slot := slot_of(memory)) is not None
        )
        assert all(count == 1 for count in standing.values()), standing

    def chains_end(self, memories: dict[str, Memory]) -> None:
        for first in memories.values():
            seen, memory = {first.id}, first
            while memory.next_id is not None:
                memory = memories[memory.next_id]
                assert memory.id not in seen, "a chain never comes back to where it was"
                seen.add(memory.id)

    def what_is_named_exists(self, memories: dict[str, Memory]) -> None:
        for memory in memories.values():
            named = [
                name
                for fact in memory.atomic_facts
                for name in (fact.fact_id, fact.superseded_by)
                if name is not None
            ]
            named += [
                name
                for name in (memory.next_id, memory.supersedes_id, *memory.consolidated_into_ids)
                if name is not None
            ]
            assert set(named) <= memories.keys()
            for fact in (
                memory.atomic_facts
                if memory.category == "cell" and memory.status is Status.ACTIVE
                else ()
            ):
                formed = memories.get(fact.fact_id or "")
                if formed is not None and formed.status is Status.SUPERSEDED:
                    assert fact.superseded_by == formed.next_id, (
                        "a cell knows what became of its facts"
                    )

    async def conversations(self) -> list[Document]:
        return await (await self.world.look_on()).page(ALICE, "conversation", None, None, 1000)

    async def waiting_is_counted(self) -> None:
        """The head counts the tasks that are not done; each is of a conversation that
        is not formed.
        """
        store = await self.world.look_on()
        conversations = await self.conversations()
        tasks = await store.page(ALICE, "task", None, None, 1000)
        waiting = {
            task.body["subject_id"]
            for task in tasks
            if task.body["status"] in ("accepted", "running")
        }
        assert waiting == {
            conversation.id
            for conversation in conversations
            if conversation.body["state"] == "pending"
        }
        head = await self.world.head()
        if head is not None:
            assert head.pending_tasks == len(waiting)

    def teardown(self) -> None:
        if not hasattr(self, "core"):
            return
        try:
            self.run(self.all_ends())
            self.all_is_well()
            self.run(self.log_says_what_the_store_says())
        finally:
            self.run(self.world.close())
            self.runner.close()
            self.folder.cleanup()

    async def all_ends(self) -> None:
        """With time, every task ends, and no failure was an unexpected one."""
        for _ in range(30):
            self.world.clock.forward(3600)
            await self.core.sweep()
            await Hand(self.core).work_all()
        tasks = (await self.core.tasks(ALICE, TasksInput(limit=100))).tasks
        assert {(task.status, task.error) for task in tasks} <= {
            ("succeeded", None),
            ("cancelled", None),
        }
        head = await self.world.head()
        assert head is None or head.pending_tasks == 0

    async def log_says_what_the_store_says(self) -> None:
        folded: dict[str, dict[str, Any]] = {}
        for event in await self.world.log():
            folded.setdefault(event.memory_id, {}).update(event.after)
        memories = [
            *await listed(self.core, status="all"),
            *await listed(self.core, status="all", category=MESSAGE),
        ]
        stored = {memory.id: logged(memory) for memory in memories}
        assert {
            name: logged(Memory.model_validate(state)) for name, state in folded.items()
        } == stored
        head = await self.world.head()
        if head is not None:
            counted = Counter(memory["status"] for memory in stored.values())
            assert {name: count for name, count in head.counts.items() if count} == dict(counted)
            assert head.lexical_documents == counted["active"]
            assert head.kept_bytes == await recounted_bytes(self.world)


def logged(memory: Memory) -> dict[str, Any]:
    """The fields that the log records; to which cell a message belongs is a mark,
    which no event tells.
    """
    return memory.model_dump(
        mode="json",
        exclude=set(UNLOGGED_FIELDS) | ({"cell_id"} if is_message(memory.id) else set()),
    )


TestAnyTelling = AnyTelling.TestCase
TestAnyTelling.settings = settings(
    max_examples=15, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
)

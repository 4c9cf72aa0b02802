"""Anything anyone may do, in any order, against a simple model; and the log, replayed,
says what the store says.
"""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, rule

from memory_core.core import MemoryCore
from memory_core.domain.errors import Conflict, NotFound
from memory_core.domain.memory import UNLOGGED_FIELDS, Memory, MemoryType, OnConflict, Status
from memory_core.domain.requests.memories import (
    ClearInput,
    CopyInput,
    RetrieveInput,
    SaveInput,
    StatusInput,
    UpdateInput,
)
from memory_core.domain.results import Saved
from memory_core.domain.scope import Owner
from tests.builders import ALICE
from tests.world import BOB, World, listed, recounted_bytes

OWNERS = st.sampled_from([ALICE, BOB])
SESSIONS = st.sampled_from([None, "s1", "s2"])
TEXTS = st.sampled_from(["red boat", "blue boat", "green tea", "old house"])


@dataclass
class Known:
    """What the model knows of one memory."""

    owner: Owner
    content: str
    session_id: str | None
    type: MemoryType
    status: Status = Status.ACTIVE


@dataclass
class Model:
    """Every memory by owner and id, as the answers told it; a key's memory has the same id
    with every user.
    """

    memories: dict[tuple[Owner, str], Known] = field(default_factory=dict)

    def heard(self, owner: Owner, memory: Memory) -> None:
        self.memories[owner, memory.id] = Known(
            owner, memory.content, memory.session_id, memory.type, memory.status
        )

    def of(self, owner: Owner) -> dict[str, Known]:
        return {name: memory for (whose, name), memory in self.memories.items() if whose == owner}


ITEMS = st.one_of(
    st.builds(SaveInput, content=TEXTS, session_id=SESSIONS),
    st.builds(SaveInput, type=st.just(MemoryType.SEMANTIC), content=TEXTS, session_id=SESSIONS),
    st.builds(
        SaveInput,
        type=st.just(MemoryType.SEMANTIC),
        content=TEXTS,
        session_id=SESSIONS,
        subject=st.just("Ana"),
        attribute=st.sampled_from(["a", "b"]),
        on_conflict=st.sampled_from(OnConflict),
    ),
    st.builds(
        SaveInput,
        type=st.just(MemoryType.PROCEDURAL),
        key=st.sampled_from(["k1", "k2"]),
        value=st.integers(0, 2),
    ),
)


class AnyLife(RuleBasedStateMachine):
    """Two users on one store, two processes' worth of MemoryCore."""

    ids: Bundle[tuple[Owner, str]] = Bundle("ids")

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.runner = asyncio.Runner()
        self.world = World(Path(self.folder.name))
        self.cores: list[MemoryCore] = [self.run(self.world.core()) for _ in range(2)]
        self.model = Model()
        self.turn = 0

    def run(self, call: Any) -> Any:
        return self.runner.run(call)

    @property
    def core(self) -> MemoryCore:
        """The two in turn, so that each meets what the other did."""
        self.turn += 1
        self.world.clock.forward(1)
        return self.cores[self.turn % 2]

    def told(self, owner: Owner, items: list[SaveInput], saved: list[Saved]) -> Any:
        """Note what was answered, and whatever else these saves changed: what they superseded or
        merged away.
        """
        assert [result.memory.owner for result in saved] == [owner] * len(items)
        before = self.model.of(owner)
        for result in saved:
            self.model.heard(owner, self.run(self.core.get(owner, result.memory.id)))
        slots = {(item.subject, item.attribute) for item in items if item.subject}
        keys = {item.key for item in items if item.key}
        for name, known in before.items():
            now = self.run(self.core.get(owner, name))
            if now.status is not known.status:
                changed = (
                    (now.subject, now.attribute) in slots
                    or name in {result.memory.id for result in saved}
                    or now.key in keys
                )
                assert changed, "a save changes its own slot and no more"
                self.model.heard(owner, now)
        return multiple(*((owner, result.memory.id) for result in saved))

    @rule(target=ids, owner=OWNERS, item=ITEMS)
    def save(self, owner: Owner, item: SaveInput) -> Any:
        return self.told(owner, [item], [self.run(self.core.save(owner, item))])

    @rule(target=ids, owner=OWNERS, items=st.lists(ITEMS, min_size=2, max_size=5))
    def bulk(self, owner: Owner, items: list[SaveInput]) -> Any:
        return self.told(owner, items, self.run(self.core.bulk(owner, items)))

    @rule(identity=ids, text=TEXTS)
    def update(self, identity: tuple[Owner, str], text: str) -> None:
        owner, name = identity
        known = self.model.memories[identity]
        memory = self.run(self.core.get(owner, name))
        in_slot = memory.attribute is not None or (
            memory.key is not None and memory.copied_from is None
        )
        was_true = known.status is Status.SUPERSEDED and in_slot
        allowed = known.type is not MemoryType.EPISODIC and (
            known.status is Status.ACTIVE or was_true
        )
        try:
            after = self.run(self.core.update(owner, name, UpdateInput(content=text), memory.etag))
        except Conflict as error:
            refused = error.detail
        else:
            refused = ""
        if refused:
            assert not allowed or "is an earlier time of" in refused
            return
        assert allowed
        says_another = memory.content != text or not in_slot
        assert (after.content, after.version) == (text, memory.version + says_another)
        self.model.heard(owner, after)
        self.slot_heard(owner, after)

    def slot_heard(self, owner: Owner, about: Memory) -> None:
        """What else changed is of the same slot or key, or an earlier time of one there."""
        for now in self.run(listed(self.core, owner, status="all")):
            known = self.model.of(owner).get(now.id)
            if known is None or now.status is not known.status:
                assert (
                    (now.subject, now.attribute, now.key)
                    == (about.subject, about.attribute, about.key)
                    != (None, None, None)
                )
                self.model.heard(owner, now)

    @rule(identity=ids, status=st.sampled_from(["active", "deleted"]))
    def set_status(self, identity: tuple[Owner, str], status: Any) -> None:
        owner, name = identity
        known = self.model.memories[identity]
        replaced = status == "active" and known.status in (Status.SUPERSEDED, Status.UPDATED)
        try:
            after = self.run(self.core.set_status(owner, name, StatusInput(status=status)))
        except Conflict:
            assert replaced, "what replaced it may stand in the way, and nothing else does"
            return
        if replaced:
            self.undone(owner, after)
        elif status == "deleted":
            assert after.status is Status.DELETED
        else:
            past = after.status in (Status.SUPERSEDED, Status.UPDATED)
            assert past or after.next_id is None, "what had been replaced is history again"
        known.status = after.status
        self.slot_heard(owner, after)

    def undone(self, owner: Owner, back: Memory) -> None:
        """It is active again; what else changed was in its slot, or leads to it."""
        assert (back.status, back.next_id) == (Status.ACTIVE, None)
        for name, known in self.model.of(owner).items():
            now = self.run(self.core.get(owner, name))
            if now.status is not known.status:
                assert (now.subject, now.attribute) == (
                    back.subject,
                    back.attribute,
                ) or back.id in (now.id, now.next_id)
                self.model.heard(owner, now)

    @rule(identity=ids)
    def delete(self, identity: tuple[Owner, str]) -> None:
        owner, name = identity
        gone = self.run(self.core.delete(owner, name)).memory
        assert gone.status is Status.DELETED
        self.model.memories[identity].status = Status.DELETED
        self.slot_heard(owner, gone)

    @rule(identity=ids)
    def touch_as_somebody_else(self, identity: tuple[Owner, str]) -> None:
        owner, name = identity
        other = BOB if owner == ALICE else ALICE
        if name in self.model.of(other):
            return
        for call in (
            self.core.get(other, name),
            self.core.delete(other, name),
            self.core.versions(other, name),
        ):
            try:
                self.run(call)
            except NotFound:
                continue
            raise AssertionError("somebody else's memory was reached")

    @rule(target=ids, identity=ids, agent=st.sampled_from(["a1", "a2"]))
    def copy(self, identity: tuple[Owner, str], agent: str) -> Any:
        owner, name = identity
        known = self.model.memories[identity]
        if self.run(self.core.get(owner, name)).agent_id == agent:
            return multiple()
        try:
            made = self.run(self.core.copy(owner, name, CopyInput(to_agent_id=agent)))
        except Conflict:
            assert known.status is not Status.ACTIVE
            return multiple()
        self.model.heard(owner, made)
        self.slot_heard(owner, made)  # an agent that has a copy already has one truth of it
        return (owner, made.id)

    @rule(
        owner=OWNERS,
        session=st.sampled_from(["s1", "s2"]),
        kind=st.sampled_from([None, MemoryType.EPISODIC]),
    )
    def clear(self, owner: Owner, session: str, kind: MemoryType | None) -> None:
        hit = [
            known
            for known in self.model.of(owner).values()
            if known.session_id == session
            and known.status is not Status.DELETED
            and kind in (None, known.type)
        ]
        assert self.run(self.core.clear(owner, ClearInput(session_id=session, type=kind))) == len(
            hit
        )
        for known in hit:
            known.status = Status.DELETED

    @rule(owner=OWNERS, text=TEXTS, session=SESSIONS)
    def retrieve(self, owner: Owner, text: str, session: str | None) -> None:
        """What is found is the owner's and active; an active memory of the very words is found."""
        asked = RetrieveInput(query=text, session_id=session, similarity_threshold=0.0, limit=100)
        memories = {
            hit.memory.id: hit.memory for hit in self.run(self.core.retrieve(owner, asked)).results
        }
        standing = {
            name: known
            for name, known in self.model.of(owner).items()
            if known.status is Status.ACTIVE and session in (None, known.session_id)
        }
        assert memories.keys() <= standing.keys()
        assert {name: memory.content for name, memory in memories.items()} == {
            name: standing[name].content for name in memories
        }
        assert {
            name for name, known in standing.items() if known.content == text
        } <= memories.keys()

    @invariant()
    def lists_agree_with_the_model(self) -> None:
        for owner in (ALICE, BOB):
            memories = self.run(listed(self.core, owner, status="all"))
            assert {memory.owner for memory in memories} <= {owner}
            seen = {
                memory.id: (memory.content, memory.session_id, memory.status) for memory in memories
            }
            assert seen == {
                name: (memory.content, memory.session_id, memory.status)
                for name, memory in self.model.of(owner).items()
            }
            assert len(seen) == len(memories)
            for session in ("s1", "s2"):
                self.session_counts(owner, session)

    def session_counts(self, owner: Owner, session: str) -> None:
        types = [
            memory.type.value
            for memory in self.model.of(owner).values()
            if memory.session_id == session and memory.status is not Status.DELETED
        ]
        try:
            counts = self.run(self.core.session(owner, session)).counts
        except NotFound:
            counts = {}
        assert counts == {kind: types.count(kind) for kind in set(types)}

    def teardown(self) -> None:
        if not hasattr(self, "world"):
            return
        try:
            for owner in (ALICE, BOB):
                self.run(self.log_says_what_the_store_says(owner))
        finally:
            self.run(self.world.close())
            self.runner.close()
            self.folder.cleanup()

    async def log_says_what_the_store_says(self, owner: Owner) -> None:
        """No gap, no clock that goes back, and the `after` fields folded give every memory as
        it is stored.
        """
        events = await self.world.log(owner)
        assert [event.sequence for event in events] == list(range(1, len(events) + 1))
        times = [event.occurred_at for event in events]
        assert times == sorted(set(times))
        folded: dict[str, dict[str, Any]] = {}
        for event in events:
            state = folded.setdefault(event.memory_id, {})
            assert {
                name: state.get(name, event.before[name]) for name in event.before
            } == event.before
            state |= event.after
        stored = {
            memory.id: logged(memory) for memory in await listed(self.cores[0], owner, status="all")
        }
        assert {
            name: logged(Memory.model_validate(state)) for name, state in folded.items()
        } == stored
        head = await self.world.head(owner)
        if head is not None:
            assert head.sequence == len(events)
            counted = [memory["status"] for memory in stored.values()]
            assert {name: n for name, n in head.counts.items() if n} == {
                name: counted.count(name) for name in set(counted)
            }
            assert head.lexical_documents == counted.count("active")
            assert head.kept_bytes == await recounted_bytes(self.world, owner)


def logged(memory: Memory) -> dict[str, Any]:
    """The fields that the log records."""
    return memory.model_dump(mode="json", exclude=set(UNLOGGED_FIELDS))


TestAnyLife = AnyLife.TestCase
TestAnyLife.settings = settings(
    max_examples=25, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)

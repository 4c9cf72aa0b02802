"""Whatever fails while a conversation is formed: it is there, one set of memories is made of it,
and its task says how it ended.

| what fails | here | elsewhere |
|---|---|---|
| an agent raises, once or for good | each of six | |
| an agent times out, once or for good | each of six | 500 tasks: `test_tasks` |
| an agent answers garbage | each of six | alone, by kind of answer: `test_forming_rulings`, `test_forming_limits` |
| an agent invents memories, numbers, proofs, a story | each of five (how a user behaved can't be proven) | the same |
| the store answers 412, 429, 503, or is cut off after it did it | at every write; on the wire | `test_ledger` |
| the worker is killed, frozen, doubled, answered differently each time | | `test_tasks`, `test_steps` |
| the queue is down, its messages lost, late, old | | `test_task_control`, `test_tasks` |
| five unexpected errors | each of six agents | `test_tasks` |
| the user cancels, deletes, clears meanwhile | clears | `test_task_control`, `test_forming_orders` |
"""  # noqa: E501

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.errors import AgentFailed, Unavailable
from memory_core.domain.requests.memories import ClearInput, TasksInput
from memory_core.domain.results import Accepted
from memory_core.domain.scope import Owner
from memory_core.ports import Batch, Document, LongTermStore
from tests.builders import NOW
from tests.cosmos_server import Steered
from tests.tasks import Hand, finished, pending, stored, task_of, told
from tests.telling import Tellers, decision, on_all, talk
from tests.world import WordsEmbedder, World, fact

AGENTS = ("boundary", "facts", "episode", "summary", "conflicts", "synthesis")
BEFORE = (
    "We spoke about the old garden with its apple trees and the stone wall",
    "Ana's city is Oslo",
)
AFTER = (
    "We spoke about the old garden with its apple trees and the broken gate",
    "Ana's city is Bergen",
)
ONCE = Counter(dict.fromkeys(AGENTS, 1))
"""What forming `AFTER` beside `BEFORE` asks, when nothing goes wrong."""
BESIDE = Counter({"facts": 1})
"""What is asked of the rules beside a model."""
Made = list[tuple[str | None, str, str, str]]


async def made(core: MemoryCore, owner: Owner) -> Made:
    """What was made of conversations, without its ids: the same for every user to whom the
    same happened.
    """
    return sorted(
        (memory.category, memory.content, memory.status.value, memory.status_reason)
        for memory in await told(core, owner)
    )


class Scene:
    """A user who told one conversation and tells another one now; `agents` answer both."""

    def __init__(
        self, world: World, owner: str = "alice", wrap: Callable[[LongTermStore], Any] | None = None
    ) -> None:
        self.world, self.owner = world, Owner("app", owner)
        self.agents, self.rules = Tellers(rulings=on_all("UPDATE", category="note")), Tellers()
        self._wrap = wrap

    async def begin(self) -> MemoryCore:
        """Tell and form the first conversation; nothing of it counts."""
        options: dict[str, Any] = {
            "embedder": WordsEmbedder(),
            "link_threshold": 0.3,
            "agents": self.agents,
            "rules": self.rules,
        }
        self.core = await self.world.core(wrap=self._wrap, **options)
        await self.core.converse(self.owner, talk(*BEFORE))
        await Hand(self.core).work_all()
        self.agents.calls.clear()
        return self.core

    async def tell(self) -> Accepted:
        accepted = await self.core.converse(
            self.owner, talk(*AFTER, at=NOW.replace(month=6), session="s2")
        )
        self.rules.calls.clear()  # the door asked them which cells to expect
        return accepted

    async def holds(self, accepted: Accepted, made_of_it: Made) -> None:
        """The conversation is there and formed, what was made of it is this, each thing by one
        event; the task says so.
        """
        task = await task_of(self.core, accepted, self.owner)
        assert (task.status, task.progress, task.error, task.leased_by, task.step) == (
            "succeeded",
            1.0,
            None,
            None,
            None,
        )
        conversation = await stored(self.world, task.subject_id, self.owner)
        assert (
            conversation.state,
            len(conversation.formed_cells),
            [message.content for message in conversation.messages],
        ) == ("formed", 1, [*AFTER])
        assert await made(self.core, self.owner) == made_of_it
        created = [
            event.memory_id
            for event in await self.world.log(self.owner)
            if event.event_type == "created"
        ]
        assert len(created) == len(set(created))
        assert await pending(self.world, self.owner) == 0
        assert await self.core.queue.length("formation") == 0


@pytest.fixture
async def usual(world: World, adapter: str) -> Made:
    """What is made when nothing goes wrong."""
    scene = Scene(world, "usual")
    core = await scene.begin()
    await finished(world, core, await scene.tell(), scene.owner)
    # In a storm an answer that could not be written down in five tries is asked for again.
    assert scene.agents.calls >= ONCE if adapter == "storm" else scene.agents.calls == ONCE
    memories = await made(core, scene.owner)
    assert Counter((category, status) for category, _, status, _ in memories) == {
        ("cell", "active"): 2,
        ("note", "updated"): 1,
        ("note", "active"): 1,
        ("fact", "superseded"): 1,
        ("fact", "active"): 1,
    }
    return memories


@pytest.mark.parametrize("name", AGENTS)
async def test_an_agent_that_raises_is_asked_again_and_nobody_else_is(
    world: World, usual: Made, name: str
) -> None:
    scene = Scene(world)
    core = await scene.begin()
    scene.agents.failing = {name: [RuntimeError("a bug"), ValueError("another one")]}
    accepted = await scene.tell()
    task = await finished(world, core, accepted, scene.owner)
    assert task.attempts == 2
    assert scene.agents.calls == ONCE
    await scene.holds(accepted, usual)


@pytest.mark.parametrize("name", AGENTS)
async def test_an_agent_that_times_out_is_waited_for_and_costs_no_attempt(
    world: World, usual: Made, name: str
) -> None:
    scene = Scene(world)
    core = await scene.begin()
    scene.agents.failing = {
        name: [
            Unavailable("agents", "timed out"),
            TimeoutError("slow"),
            Unavailable("agents", "429", retry_after_s=90),
        ]
    }
    accepted = await scene.tell()
    await Hand(core).work_all()
    waiting = await task_of(core, accepted, scene.owner)
    assert (waiting.status, waiting.attempts, waiting.progress < 1.0) == ("accepted", 0, True)
    task = await finished(world, core, accepted, scene.owner)
    assert task.attempts == 0
    assert scene.agents.calls == ONCE
    await scene.holds(accepted, usual)


@pytest.mark.parametrize("name", AGENTS)
async def test_an_agent_that_answers_garbage_is_stood_in_for_or_leaves_both_notes(
    world: World, usual: Made, name: str
) -> None:
    scene = Scene(world)
    core = await scene.begin()
    scene.agents.failing = {name: [AgentFailed("garbage")] * 9}
    accepted = await scene.tell()
    task = await finished(world, core, accepted, scene.owner)
    assert task.attempts == 0
    assert len(scene.agents.failing[name]) == 8, "it is asked once"
    if name != "conflicts":
        assert scene.agents.calls == ONCE - Counter({name: 1})
        assert scene.rules.calls == BESIDE | Counter({name: 1})
        await scene.holds(accepted, usual)
        return
    memories = await made(core, scene.owner)
    assert [(category, status) for category, _, status, _ in memories if category == "note"] == [
        ("note", "active")
    ] * 2
    assert [status for category, _, status, _ in memories if category == "fact"] == [
        "active",
        "superseded",
    ], "a slot needs no agent"
    head = await world.head(scene.owner)
    assert head is not None
    assert head.pending_count == 0, "nobody found that the notes exclude each other"
    await scene.holds(accepted, memories)


INVENTIONS: dict[str, dict[str, Any]] = {
    "memories and numbers": {
        "rulings": lambda new, older: [
            decision(9, 0, "DELETE"),
            decision(0, 99, "DELETE"),
            *notes_of(new, older),
        ]
    },
    "a merged story": {
        "merged": lambda notes: notes[0].text + " Petra inherited 17 vineyards.",
        "by_rule": "synthesis",
    },
}


def notes_of(new: Any, older: Any) -> Any:
    return on_all("UPDATE", category="note")(new, older)


@pytest.mark.parametrize("name", INVENTIONS)
async def test_what_an_agent_invents_about_memories_is_not_done(
    world: World, usual: Made, name: str
) -> None:
    scene = Scene(world)
    core = await scene.begin()
    invention = dict(INVENTIONS[name])
    by_rule = invention.pop("by_rule", None)
    for field_name, value in invention.items():
        setattr(scene.agents, field_name, value)
    accepted = await scene.tell()
    await finished(world, core, accepted, scene.owner)
    assert scene.agents.calls == ONCE
    assert scene.rules.calls == BESIDE + Counter({by_rule: 1} if by_rule else {})
    await scene.holds(accepted, usual)


class Inventing(Tellers):
    """Cuts where no message is, proves facts by what was not said, and tells another story."""

    async def detect_boundary(self, *args: Any) -> Any:
        answer = await super().detect_boundary(*args)
        cuts = [{"after": 1}, {"after": 2}, {"after": 40}]
        return replace(
            answer, value=type(answer.value).model_validate({"cuts": cuts, "continues": True})
        )

    async def extract_facts(self, *args: Any) -> Any:
        answer = await super().extract_facts(*args)
        slot = {
            "subject": "Ana",
            "attribute": "city",
            "value": "Pyongyang",
            "text": "Ana lives in Pyongyang",
        }
        invented = [
            {**slot, "message": place, "quote": quote}
            for place, quote in ((0, "Ana lives in Pyongyang"), (8, "Oslo"), (0, "..."))
        ]
        ahead = {
            "description": "a trip",
            "message": 0,
            "quote": "I fly to Rome",
            "start_time": NOW.isoformat(),
        }
        value = {
            "facts": [*[fact.model_dump() for fact in answer.value.facts], *invented],
            "foresight": [ahead],
        }
        return replace(answer, value=type(answer.value).model_validate(value))

    async def summarise(self, *args: Any, **options: Any) -> Any:
        answer = await super().summarise(*args, **options)
        story = (
            "Petra inherited seventeen vineyards near Toledo from her grandfather and sold them "
            "within a year."
        )
        return replace(answer, value=answer.value.model_copy(update={"narrative": story}))


async def test_what_agents_invent_about_a_conversation_is_dropped_and_counted(
    world: World, usual: Made
) -> None:
    scene = Scene(world)
    await scene.begin()
    inventing = Inventing(rulings=on_all("UPDATE", category="note"))
    scene.core = await world.core(
        embedder=WordsEmbedder(), link_threshold=0.3, agents=inventing, rules=scene.rules
    )
    accepted = await scene.tell()
    task = await finished(world, scene.core, accepted, scene.owner)
    assert task.result is not None
    assert task.result["counts"]["without_proof"] == 4
    assert scene.rules.calls == BESIDE + Counter({"summary": 1})
    await scene.holds(accepted, usual)


@pytest.mark.parametrize(
    "adapter", ["sqlite", pytest.param("cosmos", marks=pytest.mark.long)], indirect=True
)
@pytest.mark.parametrize("name", AGENTS)
@pytest.mark.parametrize(
    "error",
    [RuntimeError("a bug"), Unavailable("agents", "timed out")],
    ids=["raises", "times out"],
)
async def test_an_agent_that_never_comes_back_makes_no_success_and_loses_nothing(
    world: World, usual: Made, name: str, error: Exception
) -> None:
    scene = Scene(world)
    core = await scene.begin()
    before = await made(core, scene.owner)
    scene.agents.failing = {name: [error] * 100}
    accepted = await scene.tell()
    hand = Hand(core)
    for _ in range(12):
        await hand.work_all()
        world.clock.forward(1200)
    task = await task_of(core, accepted, scene.owner)
    conversation = await stored(world, task.subject_id, scene.owner)
    assert [message.content for message in conversation.messages] == [*AFTER]
    assert await made(core, scene.owner) == before
    if isinstance(error, Unavailable):
        assert (task.status, task.attempts, task.waiting_for, conversation.state) == (
            "accepted",
            0,
            "agents",
            "pending",
        )
        assert await pending(world, scene.owner) == 1
        scene.agents.failing = {}
    else:
        assert (task.status, task.attempts, task.error, conversation.state) == (
            "poisoned",
            5,
            "RuntimeError",
            "poisoned",
        )
        assert await pending(world, scene.owner) == 0
        scene.agents.failing = {}
        await core.retry(scene.owner, accepted.task_id)
    await finished(world, core, accepted, scene.owner)
    assert scene.agents.calls == ONCE, "what was answered before is not asked again"
    await scene.holds(accepted, usual)


@dataclass
class Faulty:
    """A store that fails at the write number `at`, for as many tries of it as `times`.

    kind: 412 (a rival's commit comes first), 429, 503, or cut (it is done, and the answer lost).
    """

    inner: LongTermStore
    at: int | None = None
    kind: str = "503"
    times: int = 1
    asleep: bool = True
    rival: Callable[[], Any] | None = None
    writes: list[str] = field(default_factory=list)

    async def commit(self, owner: Owner, batch: Batch) -> None:
        await self._write("commit", lambda: self.inner.commit(owner, batch))

    async def keep(self, owner: Owner, document: Document) -> Document | None:
        stored_document: Document | None = await self._write(
            f"keep {document.kind}", lambda: self.inner.keep(owner, document)
        )
        return stored_document

    async def _write(self, name: str, write: Callable[[], Any]) -> Any:
        if self.asleep:
            return await write()
        self.writes.append(name)
        struck = self.at is not None and self.at <= len(self.writes) < self.at + self.times
        if not struck:
            return await write()
        if self.kind == "412" and self.rival is not None:
            self.asleep = True
            await self.rival()
            self.asleep = False
            return await write()
        if self.kind == "cut":
            await write()
        raise Unavailable(
            "long_term", "a fault that was asked for", retry_after_s=7 if self.kind == "429" else 2
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


async def lived(
    world: World, owner: str, at: int | None, kind: str, times: int = 1
) -> tuple[Scene, Accepted, Faulty]:
    """Form the second conversation on a store that fails once."""
    faulty: list[Faulty] = []

    def wrap(store: LongTermStore) -> Faulty:
        faulty.append(Faulty(store, at, kind, times))
        return faulty[0]

    scene = Scene(world, owner, wrap)
    core = await scene.begin()
    accepted = await scene.tell()
    other = await world.core(embedder=WordsEmbedder(), link_threshold=0.3)
    faulty[0].rival = lambda: other.save(
        scene.owner, fact(f"a rival was faster, {len(faulty[0].writes)}")
    )
    faulty[0].asleep = False
    await finished(world, core, accepted, scene.owner)
    faulty[0].asleep = True
    await world.end(other)
    return scene, accepted, faulty[0]


async def test_a_store_that_fails_at_any_write_makes_one_set_of_memories(
    world: World, usual: Made, adapter: str
) -> None:
    _, _, whole = await lived(world, "whole", None, "503")
    assert whole.writes.count("commit") == 1
    committed = whole.writes.index("commit") + 1
    assert 0 < committed <= len(whole.writes)
    everywhere = (
        range(1, len(whole.writes) + 1) if adapter == "sqlite" else (1, 2, committed - 1, committed)
    )
    for kind, times, places in (
        ("503", 6, everywhere),
        ("cut", 1, everywhere),
        ("412", 1, everywhere),
        *(
            (kind, times, (1, committed))
            for kind, times in (("503", 1), ("429", 1), ("429", 6), ("cut", 6))
        ),
    ):
        for at in places:
            scene, accepted, faulty = await lived(world, f"{kind}-{times}-{at}", at, kind, times)
            # What was struck is read off this very run: in a storm, writes that were sent again
            # come before it.
            struck = faulty.writes[at - 1 : at - 1 + times]
            assert not scene.agents.calls - ONCE or (times > 1 and "keep step" in struck), (
                kind,
                times,
                at,
                struck,
            )
            await scene.holds(accepted, usual)
            await world.end(scene.core)


@pytest.mark.parametrize("adapter", ["cosmos"], indirect=True)
@pytest.mark.parametrize(
    "kind", ["status", "throttle", "unavailable", "timeout", "cut_before", "cut_after"]
)
@pytest.mark.parametrize("times", [1, 12])
async def test_a_fault_on_the_wire_at_the_forming_commit_makes_one_set_of_memories(
    world: World, usual: Made, kind: str, times: int, server: Steered
) -> None:
    scene = Scene(world)
    core = await scene.begin()
    accepted = await scene.tell()
    server.fault(
        kind,
        operations=["batch"],
        times=times,
        retry_after_ms=1,
        **({"status": 412} if kind == "status" else {}),
    )
    try:
        await Hand(core).work_all()
    finally:
        struck = [rule["struck"] for rule in server.faults()]
        server.heal()
    assert struck[0] >= 1
    await finished(world, core, accepted, scene.owner)
    assert scene.agents.calls == ONCE
    await scene.holds(accepted, usual)


async def test_an_embedder_that_is_down_is_waited_for(world: World, usual: Made) -> None:
    scene = Scene(world)
    core = await scene.begin()
    embedder = world.embedder
    assert isinstance(embedder, WordsEmbedder)
    embedder.down = True
    accepted = await scene.tell()
    await Hand(core).work_all()
    task = await task_of(core, accepted, scene.owner)
    assert (task.status, task.attempts, task.waiting_for) == ("accepted", 0, "embedder")
    embedder.down = False
    await finished(world, core, accepted, scene.owner)
    assert scene.agents.calls == ONCE
    await scene.holds(accepted, usual)


async def test_a_session_cleared_while_it_is_formed_keeps_what_comes_after(world: World) -> None:
    """The session is cleared between asking and committing: what was told before is gone, what is
    being formed was not there to clear.
    """
    scene = Scene(world)
    core = await scene.begin()
    accepted = await scene.tell()

    async def clear(name: str) -> None:
        if name == "conflicts":
            scene.agents.before = None
            await core.clear(scene.owner, ClearInput(session_id="s1"))

    scene.agents.before = clear
    await finished(world, core, accepted, scene.owner)
    memories = await told(core, scene.owner)
    assert {memory.status.value for memory in memories if memory.session_id == "s1"} == {"deleted"}
    assert sorted(
        memory.category or ""
        for memory in memories
        if memory.session_id == "s2" and memory.status == "active"
    ) == ["cell", "fact", "note"]
    assert [task.status for task in (await core.tasks(scene.owner, TasksInput())).tasks] == [
        "succeeded"
    ] * 2

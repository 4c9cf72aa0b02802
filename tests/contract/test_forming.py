"""A conversation of two topics becomes memories, a later one changes a truth: the whole way, with
the agents that need no model.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from memory_core.adapters.offline.agents import OfflineAgents
from memory_core.core import MemoryCore
from memory_core.domain.memory import Status
from memory_core.domain.messages import is_message
from memory_core.domain.requests.memories import ListInput, RetrieveInput
from memory_core.domain.results import Hit
from memory_core.domain.scope import Owner
from memory_core.ports import Document, LongTermStore
from tests.agents import Gate, ScriptedAgents
from tests.builders import ALICE, NOW, StillClock
from tests.tasks import Hand, pending, stored, task_of, told
from tests.telling import facts_of, of_category, talk, tell
from tests.world import WordsEmbedder, World, find, listed

TWO_TOPICS = (
    "Hi! I live in Berlin and I work as a nurse at the Charité.",
    ("assistant", "Nice to meet you. How is the work at the hospital?"),
    "The hospital is fine, but the night shifts are long. I love ramen, it keeps me awake.",
    ("assistant", "Ramen after a night shift sounds good."),
    "I have a cold right now, so no shifts at the hospital until Friday.",
    ("assistant", "Rest well then, the hospital will manage."),
    "By the way, my sourdough starter does not rise any more.",
    ("assistant", "How often do you feed the starter?"),
    "Once a day, with rye flour. I am baking bread for my sister Clara on Sunday.",
    ("assistant", "Feed the starter twice a day and keep the jar warm."),
    "I am on a gluten free diet for two weeks, so I can only smell the bread.",
    ("assistant", "Then the bread is all for Clara."),
)
LATER = NOW + timedelta(days=10)


@pytest.fixture
async def core(world: World, embedder: WordsEmbedder) -> MemoryCore:
    rules = OfflineAgents(None)
    return await world.core(embedder=embedder, agents=rules, rules=rules)


async def hits(core: MemoryCore, query: str, **fields: object) -> list[Hit]:
    return list(
        (
            await core.retrieve(ALICE, RetrieveInput.model_validate({"query": query, **fields}))
        ).results
    )


async def test_two_topics_become_two_cells_with_notes_facts_and_proofs(core: MemoryCore) -> None:
    task = await tell(core, *TWO_TOPICS)
    assert (task.status, task.error) == ("succeeded", None)
    cells = await of_category(core, "cell")
    assert [cell.type.value for cell in cells] == ["episodic"] * 2
    assert ["hospital" in (cell.episode or "") for cell in cells] == [True, False]
    assert ["sourdough" in (cell.episode or "") for cell in cells] == [False, True]
    notes = await of_category(core, "note")
    assert [note.source_ids for note in notes] == [[cell.id] for cell in cells]
    assert all(note.content.startswith("## Summary\n") for note in notes)
    facts = await facts_of(core)
    slots = {(fact.subject, fact.attribute): fact.value for fact in facts.values()}
    assert slots[("user", "home city")] == "Berlin"
    assert slots[("user", "occupation")] == "nurse"
    assert slots[("user", "opinion of ramen")] == "likes"
    for cell in cells:
        for fact in cell.atomic_facts:
            assert fact.message is not None
            assert fact.quote is not None
            line = TWO_TOPICS[fact.message]
            assert fact.quote in (line if isinstance(line, str) else line[1]), (
                "a quote stands in the message that it names"
            )
    fact_ids = {fact.fact_id for cell in cells for fact in cell.atomic_facts if fact.fact_id}
    assert fact_ids == {fact.id for fact in facts.values()}


async def test_foresight_is_dated_by_the_message_that_said_it(
    core: MemoryCore, world: World
) -> None:
    world.clock.forward(timedelta(days=300).total_seconds())
    await tell(core, *TWO_TOPICS)
    first, second = await of_category(core, "cell")
    (cold,) = first.foresight
    assert "cold" in cold.description
    assert cold.start_time == NOW + timedelta(minutes=4)
    assert cold.end_time == datetime(2026, 5, 16, tzinfo=timezone.utc), (
        "the Friday after that message, to its end"
    )
    diet = next(foresight for foresight in second.foresight if "diet" in foresight.description)
    assert diet.end_time == NOW + timedelta(minutes=10) + timedelta(days=14)


async def test_each_of_them_is_found(core: MemoryCore) -> None:
    await tell(core, *TWO_TOPICS)
    everything = {memory.id for memory in await told(core)}
    names: set[str] = set()
    for query in (
        "hospital night shifts",
        "sourdough starter rye flour",
        "lives in Berlin",
        "works as a nurse",
        "likes ramen",
    ):
        answer = await hits(core, query, similarity_threshold=0.0, limit=100)
        assert answer
        names |= {name for hit in answer for name in (hit.memory.id, *hit.also)}
    assert names == everything
    assert [hit.memory.content for hit in await hits(core, "likes ramen", categories=["fact"])][
        :1
    ] == ["User likes ramen"]


async def test_the_task_shows_its_steps_and_what_came_of_it(
    world: World, embedder: WordsEmbedder
) -> None:
    rules = OfflineAgents(None)
    seen: list[tuple[str, float]] = []
    slow = Slow(NOW)
    core = await world.core(
        embedder=embedder,
        agents=rules,
        rules=rules,
        wrap=lambda store: Watching(store, seen),
        clock=slow,
    )
    accepted = await core.converse(ALICE, talk(*TWO_TOPICS))
    assert (await task_of(core, accepted)).status == "accepted"
    await Hand(core).work_all()
    assert [step for step, _ in seen] == [
        "boundary",
        *(
            f"cell {cell} of 2: {step}"
            for cell in (1, 2)
            for step in ("agents", "embedding", "evolution")
        ),
    ]
    progress = [share for _, share in seen]
    assert progress == sorted(progress)
    assert progress[0] == 0.0
    assert progress[-1] < 1.0
    task = await task_of(core, accepted)
    assert (task.status, task.progress, task.step, task.attempts) == ("succeeded", 1.0, None, 0)
    assert task.result is not None
    assert [(cell["first"], cell["last"]) for cell in task.result["cells"]] == [(0, 5), (6, 11)]
    made = [name for cell in task.result["cells"] for name in cell["memory_ids"]]
    assert sorted(made) == sorted(memory.id for memory in await told(core))
    assert task.result["counts"] == {"created": len(made)}


@pytest.mark.parametrize("changed", [False, True], ids=["nothing changed", "a memory deleted"])
async def test_messages_are_read_again_only_where_a_memory_was_changed_since(
    world: World, embedder: WordsEmbedder, *, changed: bool
) -> None:
    """Each message belongs to its cell in either case."""
    asked = list[str]()
    core = await world.core(embedder=embedder, wrap=lambda store: Asked(store, asked))
    await tell(core, "I like chess.", session="s0")
    (old, *_) = await told(core)
    await core.converse(ALICE, talk(*TWO_TOPICS))
    if changed:
        await core.delete(ALICE, old.id)
    asked.clear()
    await Hand(core).work_all()
    assert any(map(is_message, asked)) == changed
    messages = (await core.list(ALICE, ListInput(category="message", session_id="s1"))).memories
    cells = await of_category(core, "cell")
    cell_of = {name: cell.id for cell in cells for name in cell.source_ids}
    assert len(messages) == len(TWO_TOPICS)
    assert [message.cell_id for message in messages] == [
        cell_of[message.id] for message in messages
    ]


async def test_a_move_leaves_one_truth_and_what_was_said_in_the_same_breath_stays(
    core: MemoryCore, world: World
) -> None:
    await tell(core, *TWO_TOPICS)
    world.clock.forward(timedelta(days=10).total_seconds())
    task = await tell(core, "I moved from Berlin to Lisbon last week.", at=LATER, session="s2")
    assert task.status == "succeeded"
    facts = await facts_of(core)
    berlin, lisbon = facts["User lives in Berlin"], facts["User lives in Lisbon"]
    assert (berlin.status, berlin.status_reason, berlin.next_id) == (
        Status.SUPERSEDED,
        "contradicted",
        lisbon.id,
    )
    assert (lisbon.status, lisbon.supersedes_id, berlin.valid_until) == (
        Status.ACTIVE,
        berlin.id,
        lisbon.valid_from,
    )
    for content in ("User works as a nurse", "User works at the Charité", "User likes ramen"):
        assert facts[content].status is Status.ACTIVE
    assert [memory.content for memory in await listed(core) if memory.attribute == "home city"] == [
        "User lives in Lisbon"
    ]
    assert task.result is not None
    assert task.result["counts"] == {"superseded": 1, "created": 2}


async def test_a_look_at_the_time_before_the_move_shows_the_old_truth(
    core: MemoryCore, world: World
) -> None:
    await tell(core, *TWO_TOPICS)
    world.clock.forward(timedelta(days=10).total_seconds())
    await tell(core, "I moved from Berlin to Lisbon last week.", at=LATER, session="s2")
    before = NOW + timedelta(days=1)
    then = [
        memory.content
        for memory in (await core.list(ALICE, ListInput(at=before, limit=100))).memories
        if memory.attribute == "home city"
    ]
    assert then == ["User lives in Berlin"]
    assert await find(core, "where lives the user", categories=["fact"], at=before, limit=1) == [
        "User lives in Berlin"
    ]
    assert await find(core, "where lives the user", categories=["fact"], limit=1) == [
        "User lives in Lisbon"
    ]


async def test_the_old_cell_and_its_note_say_which_fact_has_fallen(
    core: MemoryCore, world: World
) -> None:
    await tell(core, *TWO_TOPICS)
    world.clock.forward(timedelta(days=10).total_seconds())
    await tell(core, "I moved from Berlin to Lisbon last week.", at=LATER, session="s2")
    lisbon = (await facts_of(core))["User lives in Lisbon"]
    fallen = {
        "text": "User lives in Berlin",
        "superseded_by": lisbon.id,
        "current": "User lives in Lisbon",
    }
    for category in ("cell", "note"):
        first, *others = await hits(
            core, "Berlin nurse hospital night shifts", categories=[category]
        )
        assert (first.memory.category, first.stale_facts) == (category, (fallen,))
        assert all(not cell.stale_facts for cell in others)
        (then,) = (
            await hits(
                core,
                "Berlin nurse hospital night shifts",
                categories=[category],
                at=NOW + timedelta(days=1),
            )
        )[:1]
        assert then.stale_facts == (), "then it still held"
    assert "I live in Berlin" in ((await of_category(core, "cell"))[0].episode or ""), (
        "what was told stays as it was told"
    )


async def test_after_many_moves_the_first_cell_tells_of_the_last(
    core: MemoryCore, world: World
) -> None:
    cities = (
        "Lisbon",
        "Oslo",
        "Madrid",
        "Lyon",
        "Graz",
        "Ghent",
        "Krakow",
        "Porto",
        "Bergen",
        "Prague",
        "Turin",
    )
    await tell(core, *TWO_TOPICS)
    for number, city in enumerate(cities, 1):
        world.clock.forward(timedelta(days=10).total_seconds())
        await tell(
            core,
            f"I moved to {city} last week.",
            at=NOW + timedelta(days=10 * number),
            session=f"s{number + 1}",
        )
    (first,) = (await hits(core, "Berlin nurse hospital night shifts", categories=["cell"]))[:1]
    (stale,) = first.stale_facts
    assert (stale["text"], stale["current"]) == ("User lives in Berlin", "User lives in Turin")
    chain, memory = [], (await facts_of(core))["User lives in Berlin"]
    while memory.next_id is not None:
        memory = await core.get(ALICE, memory.next_id)
        chain.append(memory.content)
    assert chain == [f"User lives in {city}" for city in cities]


async def test_a_cell_that_tells_of_the_past_says_at_once_that_its_fact_has_fallen(
    core: MemoryCore,
) -> None:
    """What happened in January is told in June: its fact is history on arrival,
    in the chain as beside the text.
    """
    await tell(core, "I live in Lisbon now.", at=NOW)
    task = await tell(
        core, "I live in Berlin and I work as a nurse.", at=NOW - timedelta(days=100), session="s0"
    )
    assert task.status == "succeeded"
    facts = await facts_of(core)
    berlin, lisbon = facts["User lives in Berlin"], facts["User lives in Lisbon"]
    assert (berlin.status, berlin.next_id, berlin.valid_until) == (
        Status.SUPERSEDED,
        lisbon.id,
        lisbon.valid_from,
    )
    assert (lisbon.status, facts["User works as a nurse"].status) == (Status.ACTIVE, Status.ACTIVE)
    cells = {memory.atomic_facts[0].text: memory for memory in await of_category(core, "cell")}
    assert [fact.superseded_by for fact in cells["User lives in Berlin"].atomic_facts][:2] == [
        lisbon.id,
        None,
    ]


async def test_a_conversation_and_its_messages_stay_as_they_were_told(
    core: MemoryCore, world: World
) -> None:
    accepted = await core.converse(ALICE, talk(*TWO_TOPICS))
    await Hand(core).work_all()
    task = await task_of(core, accepted)
    conversation = await stored(world, task.subject_id)
    assert [message.content for message in conversation.messages] == [
        line if isinstance(line, str) else line[1] for line in TWO_TOPICS
    ]
    assert (conversation.state, conversation.cells, await pending(world)) == ("formed", 2, 0)


async def test_each_agent_is_asked_once_a_cell_and_the_boundary_once_in_fifty_messages(
    world: World, embedder: WordsEmbedder
) -> None:
    agents = ScriptedAgents()
    core = await world.core(embedder=embedder, agents=agents)
    lines = [f"Ana's number{n} is {n}" for n in range(120)]
    task = await tell(core, *lines)
    assert task.result is not None
    cells = len(task.result["cells"])
    assert cells == 3
    assert agents.calls == Counter(boundary=3, facts=cells, episode=cells, summary=cells)


async def test_while_a_cell_is_formed_nothing_of_it_is_found(
    world: World, embedder: WordsEmbedder
) -> None:
    gate = Gate("conflicts")
    agents = ScriptedAgents()
    core = await world.core(embedder=embedder, agents=agents)
    await tell(core, "I live in Lisbon")
    before = await contents(core)
    agents.before = gate
    accepted = await core.converse(ALICE, talk("I live in Faro", at=LATER))
    working = asyncio.create_task(Hand(core).work_all())
    await gate.reached.wait()
    assert await contents(core) == before
    assert (await find(core, "Faro"))[0] == "I live in Faro", "what was said, as it was said"
    gate.open()
    await working
    assert (await task_of(core, accepted)).status == "succeeded"
    assert "The user lives in Faro" in await contents(core)


async def contents(core: MemoryCore) -> list[str]:
    return sorted(
        memory.content for memory in await listed(core, status="all") if not is_message(memory.id)
    )


class Slow(StillClock):
    """A clock by which everything takes a second, so that each step of a task is long
    enough to be told.
    """

    def now(self) -> datetime:
        self.forward(1)
        return self.moment


@dataclass
class Watching:
    """A store that notes what a task says of itself with every write."""

    inner: LongTermStore
    seen: list[tuple[str, float]]

    async def keep(self, owner: Owner, document: Document) -> Document | None:
        step = document.body.get("step") if document.kind == "task" else None
        if step is not None and (not self.seen or self.seen[-1][0] != step):
            self.seen.append((step, document.body["progress"]))
        return await self.inner.keep(owner, document)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


@dataclass
class Asked:
    """A store that notes which documents it is asked for."""

    inner: LongTermStore
    ids: list[str]

    async def snapshot(self, owner: Owner, ids: Sequence[str] = (), *near: Any) -> Any:
        self.ids += ids
        return await self.inner.snapshot(owner, ids, *near)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

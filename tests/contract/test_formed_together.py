"""The cells of a conversation by one commit, where their answers are there at once and none of them
depends on another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from bench.formation import conversations
from memory_core.adapters.offline.agents import OfflineAgents
from memory_core.core import MemoryCore
from memory_core.domain.memory import Status
from memory_core.domain.requests.memories import ClearInput, ConverseInput, SaveInput
from memory_core.domain.scope import Owner
from memory_core.ports import Batch, Embedder, LongTermStore
from tests.builders import ALICE, NOW
from tests.tasks import Hand, finished, task_of
from tests.world import BOB, WordsEmbedder, World, listed

MADE = frozenset({"cell", "note", "fact"})
TOLD = [*conversations(7, 6)]
"""Ten messages each, about two things that have nothing to do with each other."""


def hours_apart(*contents: str) -> ConverseInput:
    """A conversation with hours between its messages, so that each message is a cell."""
    messages = [
        {
            "role": "user",
            "content": content,
            "timestamp": (NOW - timedelta(days=1) + timedelta(hours=5 * place)).isoformat(),
        }
        for place, content in enumerate(contents)
    ]
    return ConverseInput.model_validate({"session_id": "s1", "messages": messages})


async def commits(world: World, embedder: Embedder | None = None) -> list[int]:
    """How many memories each forming commit made, in order."""
    made = [
        event.id.rpartition("_")[0]
        for event in await world.log(embedder=embedder)
        if event.event_type == "created" and event.after.get("category") in MADE
    ]
    return [made.count(commit) for commit in dict.fromkeys(made)]


async def memories(core: MemoryCore, owner: Owner = ALICE) -> Counter[tuple[Any, ...]]:
    return Counter(
        (memory.category, memory.status, memory.content, memory.value, len(memory.source_ids))
        for memory in await listed(core, owner, status="all")
        if memory.category in MADE
    )


@dataclass
class Rival:
    """A store in which another caller acts right before the first commit that makes a cell."""

    inner: LongTermStore
    act: Callable[[], Awaitable[Any]] | None

    async def commit(self, owner: Owner, batch: Batch) -> None:
        bodies = [write.document.body for write in batch.writes]
        if self.act is not None and any(body.get("category") == "cell" for body in bodies):
            act, self.act = self.act, None
            await act()
        await self.inner.commit(owner, batch)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


async def test_cells_that_have_nothing_to_do_with_each_other_are_formed_by_one_commit(
    world: World,
) -> None:
    core = await world.core_by_rules()
    accepted = await core.converse(ALICE, TOLD[0])
    task = await finished(world, core, accepted)
    assert len((task.result or {})["cells"]) == 2
    assert await commits(world) == [sum((await memories(core)).values())]
    session = await core.session(ALICE, str(TOLD[0].session_id))
    assert session.counts["semantic"] + session.counts["episodic"] == len(
        await listed(core, status="all")
    )
    head = await world.head()
    assert head is not None
    assert (head.pending_tasks, head.last_formed_sequence) == (0, head.sequence)


async def test_cells_that_fill_one_slot_are_formed_one_after_the_other(world: World) -> None:
    core = await world.core_by_rules()
    accepted = await core.converse(ALICE, hours_apart("I live in Oslo.", "I live in Rome."))
    await finished(world, core, accepted)
    assert len(await commits(world)) == 2
    homes = {
        memory.content: memory.status
        for memory in await listed(core, status="all")
        if memory.category == "fact"
    }
    assert homes == {"User lives in Oslo": Status.SUPERSEDED, "User lives in Rome": Status.ACTIVE}


async def test_a_cell_near_one_before_it_is_formed_after_it(world: World) -> None:
    embedder = WordsEmbedder()
    core = await world.core_by_rules(embedder=embedder)
    wishes = "I want to buy a red cargo bike.", "I want to buy a green cargo bike."
    await finished(world, core, await core.converse(ALICE, hours_apart(*wishes)))
    assert len(await commits(world, embedder)) == 2


async def test_where_a_model_is_asked_about_each_cell_none_waits_for_another(world: World) -> None:
    core = await world.core(agents=OfflineAgents(), rules=OfflineAgents())
    await finished(world, core, await core.converse(ALICE, TOLD[0]))
    assert len(await commits(world)) == 2


async def test_together_or_one_after_the_other_the_same_is_made(world: World) -> None:
    together = await world.core_by_rules()
    apart = await world.core(agents=OfflineAgents(), rules=OfflineAgents())
    for conversation in TOLD:
        for core, owner in ((together, ALICE), (apart, BOB)):
            await finished(world, core, await core.converse(owner, conversation), owner)
    assert await memories(together) == await memories(apart, BOB) != Counter()
    assert len(await world.log()) == len(await world.log(BOB))
    heads = await world.head(), await world.head(BOB)
    first, second = (
        None if head is None else (head.counts, head.sequence, head.pending_count, head.kept_bytes)
        for head in heads
    )
    assert first == second


@pytest.mark.parametrize(
    "contents",
    [["Ann likes tea"], ["The user lives in Bergen"], ["Ann likes tea", "Ann sails"]],
    ids=" and ".join,
)
async def test_another_save_before_their_commit_loses_and_doubles_nothing(
    world: World, contents: Sequence[str]
) -> None:
    undisturbed = await world.core_by_rules()
    await finished(world, undisturbed, await undisturbed.converse(BOB, TOLD[0]), BOB)

    async def saves() -> None:
        for content in contents:
            await undisturbed.save(ALICE, SaveInput(content=content, type="semantic"))

    core = await world.core_by_rules(wrap=lambda store: Rival(store, saves))
    await finished(world, core, await core.converse(ALICE, TOLD[0]))
    assert await memories(core) == await memories(core, BOB)
    made = [event.memory_id for event in await world.log() if event.event_type == "created"]
    assert len(made) == len(set(made))


async def test_a_task_that_is_cancelled_before_their_commit_makes_none_of_them(
    world: World,
) -> None:
    other = await world.core_by_rules()
    accepted = await other.converse(ALICE, TOLD[0])
    core = await world.core_by_rules(
        wrap=lambda store: Rival(store, lambda: other.cancel(ALICE, accepted.task_id))
    )
    await Hand(core).work_all()
    assert (await task_of(core, accepted)).status == "cancelled"
    assert await memories(core) == Counter()


async def test_a_session_that_is_cleared_before_their_commit_stays_cleared(world: World) -> None:
    other = await world.core_by_rules()
    accepted = await other.converse(ALICE, TOLD[0])
    clear = ClearInput(session_id=str(TOLD[0].session_id))
    core = await world.core_by_rules(
        wrap=lambda store: Rival(store, lambda: other.clear(ALICE, clear))
    )
    task = await finished(world, core, accepted)
    assert (task.status, (task.result or {})["counts"]) == ("succeeded", {"cleared": 2})
    assert await listed(core) == []


async def test_a_message_that_is_deleted_before_their_commit_is_in_none_of_them(
    world: World,
) -> None:
    other = await world.core_by_rules()
    accepted = await other.converse(ALICE, TOLD[0])
    message = next(
        memory
        for memory in await listed(other, category="message")
        if memory.content == TOLD[0].messages[-2].content
    )
    core = await world.core_by_rules(
        wrap=lambda store: Rival(store, lambda: other.delete(ALICE, message.id))
    )
    await Hand(core).work_all()
    await finished(world, core, accepted)
    assert not [
        memory for memory in await listed(core) if message.content in (memory.episode or "")
    ]

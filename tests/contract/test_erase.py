"""Erasing a user: their life ends with one commit, whatever is left goes, and no late
caller brings anything back.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from memory_core.adapters.redis.local import EmbeddedShortTermStore
from memory_core.core import MemoryCore
from memory_core.domain.conversation import Task, TaskMessage
from memory_core.domain.errors import Conflict, EpochEnded, NotFound
from memory_core.domain.requests.memories import TasksInput
from memory_core.domain.results import Call
from memory_core.domain.statements.change_messages import read
from memory_core.ports import Document, ShortTermStore
from tests.agents import Gate, Gated, ScriptedAgents
from tests.builders import ALICE
from tests.mortal import Moment, Mortal
from tests.tasks import Hand, converse, ended
from tests.world import BOB, Killed, Paused, World, fact, find, listed, rule, turn

SETTLE = 700


async def erased(world: World, core: MemoryCore, task_id: str) -> Task:
    """The erasure, done."""
    return await ended(world, core, task_id, apart_s=SETTLE)


async def erase(world: World, core: MemoryCore) -> Task:
    """The whole of it."""
    return await erased(world, core, (await core.erase(ALICE)).task_id)


async def filled(core: MemoryCore) -> None:
    """One of everything that is easily made."""
    await core.save(ALICE, turn("I keep bees"))
    await core.save(ALICE, fact("Ana lives in Lisbon", subject="Ana", attribute="city"))
    await core.save(ALICE, fact("Ana lives in Porto", subject="Ana", attribute="city"))
    await core.save(ALICE, rule("language", "pt"))
    await core.save(ALICE, rule("language", "en"))
    await converse(core)
    await Hand(core).work_all()


async def left(world: World) -> list[Document]:
    """What a process of its own still finds of another life than the present one."""
    return await (await world.look_on()).strays(ALICE, 1000)


async def test_from_the_first_moment_nothing_is_read_and_nothing_written(world: World) -> None:
    core = await world.core()
    await filled(core)
    memory = (await listed(core))[0]
    accepted = await core.erase(ALICE)
    assert await listed(core, status="all") == []
    assert await find(core, "bees Lisbon", similarity_threshold=0.0) == []
    assert (await core.sessions(ALICE)).sessions == ()
    reads = [
        lambda: core.get(ALICE, memory.id),
        lambda: core.versions(ALICE, memory.id),
        lambda: core.procedure(ALICE, "language"),
        lambda: core.session(ALICE, "s1"),
        lambda: core.delete(ALICE, memory.id),
    ]
    for ask in reads:
        with pytest.raises(NotFound):
            await ask()
    for tell in (lambda: core.save(ALICE, turn("hello")), lambda: converse(core)):
        with pytest.raises(EpochEnded):
            await tell()
    task = await core.task(ALICE, accepted.task_id)
    assert (task.kind, task.status) == ("erase", "accepted")
    assert [task.task_id for task in (await core.tasks(ALICE, TasksInput())).tasks] == [
        accepted.task_id
    ]


async def test_everything_goes_and_the_receipt_says_how_much(world: World) -> None:
    core = await world.core()
    await filled(core)
    await core.save(BOB, turn("I keep bees too"))
    task = await erase(world, core)
    assert (task.status, task.progress) == ("succeeded", 1.0)
    assert task.result is not None
    assert task.result["counts"]["memory"] == 7 + 4
    assert task.result["counts"]["event"] >= 8
    assert "alice" not in str(task.result)
    assert await left(world) == []
    head = await world.head()
    assert head is not None
    assert (head.state, head.sequence, head.counts, head.pending_tasks) == ("live", 0, {}, 0)
    assert [memory.content for memory in await listed(core, owner=BOB)] == ["I keep bees too"]


async def test_no_words_of_the_user_are_kept_of_what_was_read_to_answer(world: World) -> None:
    core = await world.core()
    await core.save(ALICE, turn("My flight to Porto is on the 14th"))
    first = read("My flight to Porto is on the 14th")
    await erase(world, core)
    assert read("My flight to Porto is on the 14th") is not first


async def test_the_user_begins_anew_at_once_and_knows_nothing(world: World) -> None:
    """The very process that knew everything, with warm caches."""
    core = await world.core()
    await filled(core)
    assert await find(core, "bees", session_id="s1")
    await erase(world, core)
    await core.save(ALICE, turn("I have a boat"))
    assert await find(core, "bees boat Lisbon", session_id="s1", similarity_threshold=0.0) == [
        "I have a boat"
    ]
    assert [memory.content for memory in await listed(core, status="all")] == ["I have a boat"]
    assert len(await world.log()) == 1
    await core.save(ALICE, rule("language", "pt"))
    assert (await core.procedure(ALICE, "language")).version == 1
    assert await core.erase(ALICE) != await core.erase(BOB)


async def test_an_access_from_before_that_is_written_down_after_leaves_nothing(
    world: World,
) -> None:
    core = await world.core()
    saved = (await core.save(ALICE, turn("I keep bees"))).memory
    await core.get(ALICE, saved.id)
    await erase(world, core)
    assert await core.flush_accesses() == 0
    assert await (await world.look_on()).page(ALICE, "accesses", None, None, 10) == []


async def test_of_a_user_who_is_not_known_nothing_is_erased_and_that_succeeds(world: World) -> None:
    core = await world.core()
    task = await erase(world, core)
    assert task.status == "succeeded"
    assert task.result is not None
    assert task.result["counts"] == {}
    await core.save(ALICE, turn("hello"))
    assert len(await listed(core)) == 1


async def test_asked_twice_it_is_one_erasure_and_it_can_be_cancelled_by_nobody(
    world: World,
) -> None:
    core = await world.core()
    await filled(core)
    keyed = Call(idempotency_key="once")
    first = await core.erase(ALICE, keyed)
    assert (await core.erase(ALICE)).task_id == first.task_id
    with pytest.raises(Conflict):
        await core.cancel(ALICE, first.task_id)
    await erased(world, core, first.task_id)
    assert (await core.erase(ALICE, keyed)).task_id == first.task_id, "done once with its key"
    again = await core.erase(ALICE)
    assert again.task_id != first.task_id
    assert (await erased(world, core, again.task_id)).status == "succeeded"


async def test_a_receipt_is_kept_for_good_and_names_nobody(world: World) -> None:
    core = await world.core()
    await filled(core)
    task = await erase(world, core)
    (receipt,) = await core.erasures("app")
    assert receipt["task_id"] == task.task_id
    assert receipt["counts"]["memory"] == 7 + 4
    assert "alice" not in str(receipt)
    assert await core.erasures("another-app") == []


async def test_what_is_left_of_an_erased_user_goes_with_the_tombstone(world: World) -> None:
    core = await world.core()
    await filled(core)
    task = await erase(world, core)
    world.clock.forward(9 * 24 * 3600)
    await core.sweep()
    assert await world.head() is None
    with pytest.raises(NotFound):
        await core.task(ALICE, task.task_id)


async def test_a_user_who_begins_anew_has_no_tombstone(world: World) -> None:
    core = await world.core()
    await erase(world, core)
    await core.save(ALICE, turn("hello"))
    world.clock.forward(9 * 24 * 3600)
    await core.sweep()
    assert len(await listed(core)) == 1


async def test_a_lost_message_of_an_erasure_is_sent_again_by_the_sweep(world: World) -> None:
    core = await world.core()
    await filled(core)
    accepted = await core.erase(ALICE)
    for delivery in await core.queue.receive("consolidation", 32, timedelta(seconds=30)):
        await core.queue.complete("consolidation", delivery)
    world.clock.forward(3600)
    assert (await core.sweep()).sent == 1
    assert (await erased(world, core, accepted.task_id)).status == "succeeded"


@pytest.mark.parametrize("after", [False, True])
async def test_a_worker_that_is_killed_at_any_write_is_followed_by_one_that_ends_it(
    world: World, after: bool
) -> None:
    written = number = 0
    other = await world.core()
    while number <= written:
        await filled(other)
        # the first worker lives, and says how many writes there are
        moment = Moment(number, after, asleep=True)
        mortal = await world.core(
            wrap=lambda inner, m=moment: Mortal(inner, m),
            wrap_keys=lambda inner, m=moment: Mortal(inner, m),
        )
        accepted = await mortal.erase(ALICE)
        moment.asleep = False
        with suppress(Killed):
            await Hand(mortal, "consolidation").work_all()
            world.clock.forward(SETTLE)
            await Hand(mortal, "consolidation").work_all()
        written = max(written, len(moment.names))
        task = await erased(world, other, accepted.task_id)
        assert task.status == "succeeded"
        assert task.result is not None
        assert task.result["counts"]["memory"] == 7 + 4, number
        assert await left(world) == []
        number += 1


async def test_two_workers_at_once_erase_once(world: World) -> None:
    core, other = await world.core(), await world.core()
    await filled(core)
    accepted = await core.erase(ALICE)
    message = TaskMessage(
        app_id=ALICE.app_id, user_id=ALICE.user_id, task_id=accepted.task_id, generation=0
    ).model_dump_json()
    await asyncio.gather(*(worker.work(message, "consolidation") for worker in (core, other, core)))
    task = await erased(world, core, accepted.task_id)
    assert task.result is not None
    assert task.result["counts"]["memory"] == 7 + 4
    assert len(await core.erasures("app")) == 1


async def test_a_commit_that_was_decided_before_and_arrives_after_is_refused(world: World) -> None:
    """Its writer slept through the whole erasure, and the user's first save of the new life."""
    core = await world.core()
    await filled(core)
    gate = Gate("commit")
    sleeper = await world.core(wrap=lambda store: Gated(store, gate))
    saving = asyncio.create_task(sleeper.save(ALICE, turn("an old word")))
    await gate.reached.wait()
    await erase(world, core)
    await core.save(ALICE, turn("a new word"))
    gate.open()
    with pytest.raises(EpochEnded):
        await saving
    assert [memory.content for memory in await listed(core, status="all")] == ["a new word"]


async def test_the_first_save_of_a_user_who_is_erased_meanwhile_is_refused_too(
    world: World,
) -> None:
    """It was decided when there was no such user, and there is none again; but in between
    one was erased.
    """
    core = await world.core()
    gate = Gate("commit")
    sleeper = await world.core(wrap=lambda store: Gated(store, gate))
    saving = asyncio.create_task(sleeper.save(ALICE, turn("an old word")))
    await gate.reached.wait()
    await erase(world, core)
    gate.open()
    with pytest.raises(EpochEnded):
        await saving
    assert await listed(core, status="all") == []


async def test_an_agents_answer_that_comes_after_the_erasure_is_not_kept(world: World) -> None:
    gate = Gate("summary")
    core = await world.core()
    slow = await world.core(agents=ScriptedAgents(before=gate))
    await converse(slow)
    working = asyncio.create_task(Hand(slow).work_all())
    await gate.reached.wait()
    await erase(world, core)
    await core.save(ALICE, turn("a new word"))
    gate.open()
    await working
    assert await left(world) == []
    assert [memory.content for memory in await listed(core, status="all")] == ["a new word"]


async def test_a_short_term_that_is_down_is_waited_for_as_long_as_it_keeps_anything(
    world: World,
) -> None:
    clock, short_term = world.clock, Unforgetting(EmbeddedShortTermStore(world.clock))
    core = await world.core(short_term=short_term)
    await filled(core)
    accepted = await core.erase(ALICE)
    hand = Hand(core, "consolidation")
    for _ in range(3):
        await hand.work_all()
        clock.forward(1000)
    task = await core.task(ALICE, accepted.task_id)
    assert (task.status, task.waiting_for, task.attempts) == ("accepted", "short_term", 0)
    clock.forward(25 * 3600)
    assert (await erased(world, core, accepted.task_id)).status == "succeeded"


@dataclass
class Unforgetting:
    """A short term that can't be told to forget."""

    inner: ShortTermStore

    async def forget(self, *_: Any) -> bool:
        return False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


async def test_what_was_held_of_the_user_in_the_short_term_is_gone_and_nothing_old_is_written_back(
    world: World,
) -> None:
    short_term = EmbeddedShortTermStore(world.clock)
    paused_store = Paused(short_term)
    core = await world.core(short_term=short_term)
    late = await world.core(short_term=paused_store)
    await core.save(ALICE, turn("I keep bees"))
    paused_store.hold()
    saving = asyncio.create_task(late.save(ALICE, turn("They make honey")))
    await paused_store.waiting.wait()
    await erase(world, core)
    paused_store.release()
    await saving
    stamp, entries = await short_term.recall(ALICE, "s1", 10)
    assert (stamp, entries) == (None, [])

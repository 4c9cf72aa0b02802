"""Batches under every interleaving: no message is lost and none is doubled, whichever process
races, dies, or gets no answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest

from memory_core.adapters.sqlite.queue import SqliteQueue
from memory_core.core import MemoryCore
from memory_core.domain.errors import Unavailable
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.ports import Document, LongTermStore
from tests.agents import Gate, Gated
from tests.batches import IDLE_S, everything, gather, handed_over, settled, told, waiting
from tests.builders import ALICE
from tests.mortal import Moment, Mortal
from tests.tasks import Hand, pending
from tests.world import Killed, World


async def formed_whole(
    world: World, core: MemoryCore, sent: list[str], owner: Owner = ALICE
) -> None:
    """After everything has settled, each message is in exactly one conversation,
    and no work is left.
    """
    if await waiting(world, owner) != [[]]:
        await core.batch_flush(owner, "s1")
    tasks = await settled(world, core, owner)
    assert {task.status for task in tasks} <= {"succeeded"}
    assert await everything(world, owner) == sorted(sent)
    assert await pending(world, owner) == 0
    formed = [task.result["conversation_id"] for task in tasks if task.result is not None]
    assert len(formed) == len(set(formed)) == len(await handed_over(world, owner))


async def test_two_who_begin_a_batch_at_once_begin_one(world: World) -> None:
    gate = Gate("commit")
    slow = await world.core(wrap=lambda store: Gated(store, gate))
    quick = await world.core()
    first = asyncio.create_task(gather(slow, "a1"))
    await gate.reached.wait()
    assert (await gather(quick, "a2")).buffered == 1
    gate.open()
    assert (await first).buffered == 2
    assert await waiting(world) == [["a2", "a1"]]
    assert await pending(world) == 1
    await formed_whole(world, quick, ["a1", "a2"])


@pytest.mark.parametrize("keyed", [False, True])
async def test_many_who_append_at_once_from_two_processes_lose_nothing(
    world: World, keyed: bool
) -> None:
    cores = [await world.core(batch_messages=7, commit_deadline_s=60) for _ in range(2)]
    sent = [f"a{n:02}" for n in range(24)]
    keys = [f"k{n}" if keyed else None for n in range(24)]
    answers = await asyncio.gather(
        *(gather(cores[n % 2], content, key=keys[n]) for n, content in enumerate(sent))
    )
    assert await everything(world) == sent
    assert (
        len({answer.task_id for answer in answers if answer.task_id is not None})
        == len(await handed_over(world))
        == 3
    )
    assert {len(batch) for batch in await handed_over(world)} == {7}
    await formed_whole(world, cores[0], sent)


async def test_twenty_equal_appends_at_once_with_one_key_are_one(world: World) -> None:
    cores = [await world.core(commit_deadline_s=60) for _ in range(2)]
    answers = await asyncio.gather(*(gather(cores[n % 2], "a1", "a2", key="k1") for n in range(20)))
    assert {answer.buffered for answer in answers} == {2}
    assert await waiting(world) == [["a1", "a2"]]
    await formed_whole(world, cores[0], ["a1", "a2"])


@pytest.mark.parametrize("key", [None, "k1"])
async def test_an_append_during_a_flush_goes_with_it_or_into_the_next_batch(
    world: World, key: str | None
) -> None:
    gate = Gate("commit", skip=2)  # the batch, and its messages as memories; the flush comes third
    flusher, other = await world.core(wrap=lambda store: Gated(store, gate)), await world.core()
    await gather(flusher, "a1")
    flushing = asyncio.create_task(flusher.batch_flush(ALICE, "s1"))
    await gate.reached.wait()
    await gather(other, "a2", key=key)
    gate.open()
    await flushing
    assert await handed_over(world) == [["a1", "a2"]]
    await formed_whole(world, other, ["a1", "a2"])


@pytest.mark.parametrize("key", [None, "k1"])
async def test_a_flush_during_an_append_leaves_it_to_the_next_batch(
    world: World, key: str | None
) -> None:
    gate = Gate("commit" if key else "keep")
    appender, other = await world.core(wrap=lambda store: Gated(store, gate)), await world.core()
    await gather(other, "a1")
    appending = asyncio.create_task(gather(appender, "a2", key=key))
    await gate.reached.wait()
    await other.batch_flush(ALICE, "s1")
    gate.open()
    assert (await appending).buffered == 1
    assert await handed_over(world) == [["a1"]]
    assert await waiting(world) == [["a2"]]
    await formed_whole(world, other, ["a1", "a2"])


async def test_two_flushes_at_once_are_one(world: World) -> None:
    cores = [await world.core(), await world.core()]
    await gather(cores[0], "a1", "a2")
    accepted = await asyncio.gather(*(core.batch_flush(ALICE, "s1") for core in (*cores, *cores)))
    assert len({answer.task_id for answer in accepted if answer is not None}) == 1
    assert await handed_over(world) == [["a1", "a2"]]
    await formed_whole(world, cores[0], ["a1", "a2"])


async def test_asking_while_the_idle_batch_is_being_flushed_is_one_flush(world: World) -> None:
    gate = Gate("commit")
    worker, other = await world.core(wrap=lambda store: Gated(store, gate)), await world.core()
    await gather(other, "a1")
    world.clock.forward(IDLE_S + 1)
    working = asyncio.create_task(Hand(worker).work_all())
    await gate.reached.wait()
    accepted = await other.batch_flush(ALICE, "s1")
    await gather(other, "a2")
    gate.open()
    await working
    assert accepted is not None
    assert await handed_over(world) == [["a1"]]
    assert await waiting(world) == [["a2"]]
    await formed_whole(world, other, ["a1", "a2"])


@dataclass
class Unheard:
    """A store whose next write `name` arrives, and whose answer is lost; `meanwhile` happens
    between the two. So it is `times` times.
    """

    inner: LongTermStore
    name: str
    times: int = 0
    meanwhile: Callable[[], Awaitable[Any]] | None = None

    async def commit(self, *args: Any) -> None:
        await self.inner.commit(*args)
        await self._lose("commit")

    async def keep(self, owner: Owner, document: Document) -> Document | None:
        stored_document = await self.inner.keep(owner, document)
        if document.kind == "buffer":
            await self._lose("keep")
        return stored_document

    async def _lose(self, name: str) -> None:
        if name != self.name or self.times == 0:
            return
        self.times -= 1
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            await meanwhile()
        raise Unavailable("long_term", "the connection was cut before the answer came")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


async def with_unheard(world: World, name: str) -> tuple[MemoryCore, Unheard]:
    core = await world.core(wrap=lambda store: Unheard(store, name), batch_messages=4)
    store = core._services.adapters.long_term
    assert isinstance(store, Unheard)
    return core, store


@pytest.mark.parametrize(
    ("contents", "name"),
    [(["a2"], "keep"), (["a2", "a3", "a4"], "commit")],
    ids=["an append", "one that fills it"],
)
@pytest.mark.parametrize("rival", ["nobody", "an append", "a flush", "both"])
async def test_an_append_whose_answer_is_lost_is_not_done_twice(
    world: World, contents: list[str], name: str, rival: str
) -> None:
    core, store = await with_unheard(world, name)
    other = await world.core(batch_messages=4)
    await gather(other, "a1")

    async def interfere() -> None:
        if rival in ("an append", "both"):
            await gather(other, "b1")
        if rival in ("a flush", "both"):
            await other.batch_flush(ALICE, "s1")

    store.times, store.meanwhile = 1, interfere
    await gather(core, *contents)
    if store.meanwhile is not None:  # a storm lost the answer first, and the rival's chance with it
        await interfere()
    sent = ["a1", *contents, *(["b1"] if rival in ("an append", "both") else [])]
    assert await everything(world) == sorted(sent)
    await formed_whole(world, other, sent)


async def test_the_first_append_whose_answer_is_lost_begins_one_batch(world: World) -> None:
    core, store = await with_unheard(world, "commit")
    store.times = 1
    assert (await gather(core, "a1")).buffered == 1
    assert await waiting(world) == [["a1"]]
    assert await pending(world) == 1
    await formed_whole(world, core, ["a1"])


@pytest.mark.parametrize("rival", [False, True])
async def test_a_flush_whose_answer_is_lost_is_one_flush(world: World, rival: bool) -> None:
    core, store = await with_unheard(world, "commit")
    await gather(core, "a1")
    other = await world.core()

    async def interfere() -> None:
        if rival:
            await gather(other, "b1")

    store.times, store.meanwhile = 1, interfere
    accepted = await core.batch_flush(ALICE, "s1")
    assert accepted is not None
    assert await handed_over(world) == [["a1"]]
    await formed_whole(world, other, ["a1", "b1"] if rival else ["a1"])


async def lived(world: World, moment: Moment, owner: Owner) -> list[tuple[str, list[str]]]:
    """A process gathers, fills a batch, gathers more and flushes that, until it dies at `moment`:
    what it had not finished.
    """
    queue = Mortal(
        SqliteQueue(world.folder / "queue.db", clock=world.clock, synchronous="normal"), moment
    )
    core = await world.core(wrap=lambda store: Mortal(store, moment), queue=queue, batch_messages=3)
    left = [("k1", ["a1"]), ("k2", ["a2"]), ("k3", ["a3", "a4"]), ("k4", ["a5"]), ("k5", [])]
    with suppress(Killed):
        while left:
            key, contents = left[0]
            call = Call(idempotency_key=key)
            if contents:
                await core.batch(owner, told(*contents), call)
            else:
                await core.batch_flush(owner, "s1", call)
            left.pop(0)
        await Hand(core).work_all()
    await world.end(core)
    return left


async def test_killed_between_any_two_writes_and_asked_again_nothing_is_lost_or_doubled(
    world: World, adapter: str
) -> None:
    """The caller of what was under way repeats it with its key; time, the sweep and another process
    do the rest.

    In a storm some writes are sent twice, so a life may have fewer of them than the whole one,
    and end in peace.
    """
    whole = Moment()
    assert await lived(world, whole, Owner("app", "whole")) == []
    calls = len(whole.names)
    assert calls > 12
    for at, name in enumerate(whole.names, 1):
        for after in (False, True):
            owner, moment = Owner("app", f"{at}-{after}"), Moment(at, after)
            left = await lived(world, moment, owner)
            assert moment.dead or adapter == "storm", (at, after, name)
            core = await world.core(batch_messages=3)
            for key, contents in left:
                if contents:
                    await core.batch(owner, told(*contents), Call(idempotency_key=key))
                else:
                    await core.batch_flush(owner, "s1", Call(idempotency_key=key))
            world.clock.forward(IDLE_S * 20)
            await core.sweep()
            tasks = await settled(world, core, owner)
            assert [task.status for task in tasks] == ["succeeded"] * 2, (at, after, name)
            assert await handed_over(world, owner) == [["a1", "a2", "a3", "a4"], ["a5"]], (
                at,
                after,
                name,
            )
            assert await waiting(world, owner) == [[]]
            assert await pending(world, owner) == 0
            await world.end(core)

"""What every queue promises: a message is seen by one receiver at a time, comes back when it is not
completed, and is never lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from memory_core.adapters.azure_storage.account import StorageAccount
from memory_core.adapters.azure_storage.queue import StorageQueue
from memory_core.adapters.queue_rules import QUEUES
from memory_core.adapters.sqlite.queue import SqliteQueue
from memory_core.adapters.system import SystemClock
from memory_core.domain.errors import TooLarge, Unavailable
from memory_core.ports import Delivery, TaskQueue
from memory_core.tasks.resending import ResendingQueue
from tests.azurite_server import AzuriteServer, running
from tests.builders import StillClock

LONG, SHORT = timedelta(minutes=5), timedelta(seconds=1)
BODIES = [
    "tsk_1",
    "日本語 и 😀",
    "<a href='x'>&amp;</a>",
    " \t\r\n x \n ",
    "\x00\x1f\ufffe",
    "x" * 48 * 1024,
    "é" * 24 * 1024,
]


class Embedded:
    """The queue in a file: its processes share the file, and time is the tests' to move."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._clock = folder, StillClock()

    def process(self) -> TaskQueue:
        return SqliteQueue(self._folder / "queue.db", clock=self._clock, synchronous="normal")

    def down(self) -> TaskQueue:
        (self._folder / "file").touch()
        return SqliteQueue(self._folder / "file" / "queue.db", clock=self._clock)

    async def passes(self, seconds: int) -> None:
        self._clock.forward(seconds)


class Resent(Embedded):
    """The same behind what sends messages again that were refused."""

    def process(self) -> TaskQueue:
        return ResendingQueue(super().process(), self._clock)

    def down(self) -> TaskQueue:
        return ResendingQueue(super().down(), self._clock)


class Service:
    """The queues of an emulated account, whose clock is its own."""

    def __init__(self, azurite: AzuriteServer) -> None:
        self._account = StorageAccount(azurite.connection_string)

    def process(self) -> StorageQueue:
        return StorageQueue(self._account, clock=SystemClock())

    def down(self) -> StorageQueue:
        account = StorageAccount(
            (self._account.connection_string or "").split("BlobEndpoint")[0]
            + "QueueEndpoint=http://127.0.0.1:9/devstoreaccount1;"
        )
        return StorageQueue(account, clock=SystemClock())

    async def passes(self, seconds: int) -> None:
        """Wait for a message that the service shows only then."""
        bell, queue = f"bell-{uuid4().hex}", self.process()
        await queue.send(bell, "now", delay=timedelta(seconds=seconds))
        async with asyncio.timeout(30):
            while not await queue.receive(bell, 1, LONG):
                await asyncio.sleep(0.05)
        await queue.close()


@pytest.fixture(scope="module")
def azurite() -> Iterator[AzuriteServer]:
    with running() as started:
        yield started


@pytest.fixture(params=["sqlite", "storage", "resending"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Embedded | Service:
    if request.param == "storage":
        return Service(request.getfixturevalue("azurite"))
    return Embedded(tmp_path) if request.param == "sqlite" else Resent(tmp_path)


@pytest.fixture
async def queue(place: Embedded | Service) -> AsyncIterator[TaskQueue]:
    made = place.process()
    await made.open()
    yield made
    await made.close()


@pytest.fixture
async def other(place: Embedded | Service) -> AsyncIterator[TaskQueue]:
    """Another process on the same queues."""
    made = place.process()
    await made.open()
    yield made
    await made.close()


@pytest.fixture
def name() -> str:
    """A queue that no other test uses."""
    return f"work-{uuid4().hex}"


async def received(queue: TaskQueue, name: str, visibility: timedelta = LONG) -> Delivery:
    """The one message that can be received now."""
    (delivery,) = await queue.receive(name, 32, visibility)
    return delivery


@pytest.mark.parametrize("body", BODIES, ids=lambda body: ascii(body[:12]))
async def test_what_was_sent_is_received_as_it_was(queue: TaskQueue, name: str, body: str) -> None:
    await queue.send(name, body)
    delivery = await received(queue, name)
    assert delivery.body == body
    assert delivery.dequeue_count == 1
    assert delivery.expires_at - delivery.inserted_at == timedelta(days=7)
    assert (
        delivery.inserted_at + LONG <= delivery.next_visible_at <= delivery.inserted_at + 2 * LONG
    )


@pytest.mark.parametrize(
    ("body", "refusal"),
    [("x" * (48 * 1024 + 1), TooLarge), ("", ValueError), ("\ud800", ValueError)],
)
async def test_what_no_queue_could_carry_is_refused(
    queue: TaskQueue, name: str, body: str, refusal: type[Exception]
) -> None:
    with pytest.raises(refusal):
        await queue.send(name, body)


async def test_an_empty_queue_gives_nothing(queue: TaskQueue, name: str) -> None:
    assert await queue.receive(name, 32, LONG) == []
    assert await queue.length(name) == 0


async def test_a_message_that_is_held_is_nobody_elses_until_its_visibility_runs_out(
    queue: TaskQueue, other: TaskQueue, name: str, place: Embedded | Service
) -> None:
    await queue.send(name, "a")
    first = await received(queue, name, timedelta(seconds=2))
    assert await queue.receive(name, 32, LONG) == await other.receive(name, 32, LONG) == []
    await place.passes(3)
    second = await received(other, name)
    assert (second.id, second.body, second.dequeue_count) == (first.id, "a", 2)


async def test_the_receipt_of_an_earlier_delivery_is_stale(
    queue: TaskQueue, other: TaskQueue, name: str, place: Embedded | Service
) -> None:
    await queue.send(name, "a")
    first = await received(queue, name, SHORT)
    await place.passes(2)
    second = await received(other, name)
    assert await queue.extend(name, first, LONG) is None
    assert not await queue.complete(name, first)
    assert await queue.length(name) == 1
    assert await other.complete(name, second)


async def test_a_message_nobody_else_has_received_is_still_its_receivers_to_complete(
    queue: TaskQueue, name: str, place: Embedded | Service
) -> None:
    await queue.send(name, "a")
    late = await received(queue, name, SHORT)
    await place.passes(2)
    assert await queue.complete(name, late)
    assert await queue.receive(name, 32, LONG) == []


async def test_a_completed_message_is_gone(queue: TaskQueue, name: str) -> None:
    await queue.send(name, "a")
    delivery = await received(queue, name)
    assert await queue.complete(name, delivery)
    assert await queue.length(name) == 0
    assert not await queue.complete(name, delivery)
    assert await queue.extend(name, delivery, LONG) is None


async def test_an_extended_message_stays_hidden_and_has_a_new_receipt(
    queue: TaskQueue, name: str, place: Embedded | Service
) -> None:
    await queue.send(name, "a")
    first = await received(queue, name, SHORT)
    delivery = await queue.extend(name, first, LONG)
    assert delivery is not None
    assert (delivery.id, delivery.body, delivery.dequeue_count) == (first.id, "a", 1)
    assert delivery.next_visible_at > first.next_visible_at
    await place.passes(2)
    assert await queue.receive(name, 32, LONG) == []
    assert not await queue.complete(name, first)
    assert await queue.complete(name, delivery)


async def test_a_message_handed_back_is_there_at_once(
    queue: TaskQueue, other: TaskQueue, name: str
) -> None:
    await queue.send(name, "a")
    delivery = await received(queue, name)
    assert await queue.extend(name, delivery, timedelta(0)) is not None
    assert (await received(other, name)).dequeue_count == 2


async def test_each_delivery_is_counted(queue: TaskQueue, name: str) -> None:
    await queue.send(name, "a")
    for count in range(1, 7):
        delivery = await received(queue, name)
        assert delivery.dequeue_count == count
        await queue.extend(name, delivery, timedelta(0))


async def test_a_delayed_message_is_seen_when_its_time_has_come_and_lives_as_long_as_others(
    queue: TaskQueue, name: str, place: Embedded | Service
) -> None:
    await queue.send(name, "later", delay=timedelta(seconds=2))
    await queue.send(name, "in a week", delay=timedelta(days=7))
    assert await queue.receive(name, 32, LONG) == []
    await place.passes(3)
    delivery = await received(queue, name)
    assert (delivery.body, delivery.dequeue_count) == ("later", 1)
    assert delivery.expires_at - delivery.inserted_at == timedelta(days=7, seconds=2)


async def test_two_receivers_never_hold_one_message_at_once(
    queue: TaskQueue, other: TaskQueue, name: str
) -> None:
    await asyncio.gather(*(queue.send(name, f"m{number}") for number in range(60)))

    async def drained(receiver: TaskQueue) -> list[str]:
        bodies: list[str] = []
        while got := await receiver.receive(name, 4, LONG):
            bodies += [delivery.body for delivery in got]
        return bodies

    taken = await asyncio.gather(*(drained(receiver) for receiver in (queue, other, queue, other)))
    assert sorted(body for bodies in taken for body in bodies) == sorted(
        f"m{number}" for number in range(60)
    )


async def test_at_most_as_many_are_received_as_were_asked_for(queue: TaskQueue, name: str) -> None:
    """Which ones, and in what order, is not promised."""
    sent = {f"m{number}" for number in range(40)}
    for body in sent:
        await queue.send(name, body)
    batches = [await queue.receive(name, limit, LONG) for limit in (1, 7, 32, 32)]
    assert [len(batch) for batch in batches] == [1, 7, 32, 0]
    assert {delivery.body for batch in batches for delivery in batch} == sent


async def test_hidden_and_delayed_messages_count(queue: TaskQueue, name: str) -> None:
    await queue.send(name, "held")
    await received(queue, name)
    await queue.send(name, "delayed", delay=LONG)
    await queue.send(name, "waiting")
    assert await queue.length(name) == 3


async def test_queues_are_kept_apart(queue: TaskQueue, name: str) -> None:
    await queue.send(name, "work")
    await queue.send(f"{name}-poison", "poison")
    poison = await received(queue, f"{name}-poison")
    work = await received(queue, name)
    assert (work.body, poison.body) == ("work", "poison")
    assert not await queue.complete(name, poison)
    assert await queue.complete(f"{name}-poison", poison)


async def test_the_products_queues_are_there(queue: TaskQueue) -> None:
    for queue_name in QUEUES:
        assert await queue.length(queue_name) >= 0


@pytest.mark.parametrize(
    "wrong",
    ["", "ab", "Formation", "a--b", "-abc", "abc-", "a/b", "a_b", "x" * 64, "abc\n", "fürst"],
)
async def test_a_name_that_the_service_would_refuse_is_refused(
    queue: TaskQueue, wrong: str
) -> None:
    with pytest.raises(ValueError, match="name of a queue"):
        await queue.send(wrong, "x")
    with pytest.raises(ValueError, match="name of a queue"):
        await queue.receive(wrong, 1, LONG)


@pytest.mark.parametrize(
    ("limit", "visibility"),
    [(0, LONG), (33, LONG), (1, timedelta(0)), (1, timedelta(days=7, seconds=1))],
)
async def test_what_the_service_would_refuse_to_receive_is_refused(
    queue: TaskQueue, name: str, limit: int, visibility: timedelta
) -> None:
    with pytest.raises(ValueError, match=r"can be (received|hidden)"):
        await queue.receive(name, limit, visibility)


@pytest.mark.parametrize("delay", [timedelta(seconds=-1), timedelta(days=7, seconds=1)])
async def test_a_delay_that_the_service_would_refuse_is_refused(
    queue: TaskQueue, name: str, delay: timedelta
) -> None:
    with pytest.raises(ValueError, match="can be hidden"):
        await queue.send(name, "x", delay=delay)


async def test_what_was_sent_outlives_its_sender(
    place: Embedded | Service, other: TaskQueue, name: str
) -> None:
    sender = place.process()
    await sender.open()
    await sender.send(name, "a")
    await sender.close()
    assert (await received(other, name)).body == "a"


async def test_sending_ends_a_wait_for_that_queue(queue: TaskQueue, name: str) -> None:
    """Were the waits not ended they would outlast the test."""
    async with asyncio.timeout(30):
        waiting = asyncio.create_task(queue.arrival(name, timedelta(hours=1)))
        await asyncio.sleep(0)
        await queue.send(name, "a")
        await waiting
        await queue.send(name, "b")
        await queue.arrival(name, timedelta(hours=1))
    await queue.send(f"{name}-x", "c")
    await queue.send(name, "d", delay=LONG)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02):
            await queue.arrival(name, timedelta(hours=1))


async def test_a_wait_ends_by_itself(queue: TaskQueue, name: str) -> None:
    async with asyncio.timeout(30):
        await queue.arrival(name, timedelta(milliseconds=1))


async def test_a_check_says_how_much_is_poisoned(queue: TaskQueue) -> None:
    await queue.send("webhooks-poison", "tsk_1")
    health = await queue.check()
    assert (health.status, health.detail) == ("ok", None)
    assert health.facts.keys() == {"formation-poison", "consolidation-poison", "webhooks-poison"}
    assert health.facts["webhooks-poison"] == await queue.length("webhooks-poison") >= 1
    assert health.last_ok is not None


async def test_a_queue_that_is_down_says_so_at_every_call(
    place: Embedded | Service, name: str
) -> None:
    queue = place.down()
    with pytest.raises(Unavailable) as refused:
        await queue.open()
    assert refused.value.dependency == "queue"
    moment = SystemClock().now()
    delivery = Delivery("id", "body", 1, moment, moment, moment, "receipt")
    for call in (
        queue.send(name, "x"),
        queue.receive(name, 1, LONG),
        queue.extend(name, delivery, LONG),
        queue.complete(name, delivery),
        queue.length(name),
    ):
        with pytest.raises(Unavailable):
            await call
    health = await queue.check()
    assert (health.status, health.last_ok) == ("unavailable", None)
    assert health.detail is not None
    await queue.close()


async def test_the_pool_is_idle_when_nothing_is_asked(queue: TaskQueue, name: str) -> None:
    await queue.send(name, "x")
    size, active = queue.pool()
    assert size >= 1
    assert active == 0


async def test_a_closed_queue_says_so_and_can_be_opened_again(queue: TaskQueue, name: str) -> None:
    await queue.send(name, "x")
    await queue.close()
    with pytest.raises(Unavailable, match="not open"):
        await queue.length(name)
    assert (await queue.check()).status == "unavailable"
    await queue.open()
    assert await queue.length(name) == 1

"""Functions of a small app, triggered by queues through the development host's own listeners,
over both queues.
"""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from uuid import uuid4

import azure.functions as func
import pytest

from memory_core.adapters.azure_storage.account import StorageAccount
from memory_core.adapters.azure_storage.queue import StorageQueue
from memory_core.adapters.sqlite.queue import SqliteQueue
from memory_core.adapters.system import SystemClock
from memory_core.localhost import triggers as serving
from memory_core.localhost.host import sorted_by_trigger
from memory_core.localhost.host_settings import QueueOptions
from memory_core.localhost.triggers import Queues
from memory_core.ports import Delivery, TaskQueue
from tests.azurite_server import AzuriteServer, running
from tests.builders import StillClock

HOUR = timedelta(hours=1)
SOON = timedelta(milliseconds=100)
GRACE_S = 20.0


@dataclass
class Desk:
    """What the app's functions were given, and what they do: wait for `free`, then raise what
    `answer` returns.
    """

    name: str = field(default_factory=lambda: f"work-{uuid4().hex}")
    given: list[func.QueueMessage] = field(default_factory=list)
    poisoned: list[str] = field(default_factory=list)
    free: asyncio.Event = field(default_factory=asyncio.Event)
    answer: Callable[[str], Exception | None] = lambda body: None
    under_way: int = 0
    most: int = 0

    def served(self, **options: object) -> Queues:
        """The functions of a new app on this desk, ready to start; `visibility` is how long a
        message is hidden at a time.
        """
        app = func.FunctionApp()

        @app.queue_trigger(arg_name="msg", queue_name="%WORK%", connection="AzureWebJobsStorage")
        async def work(msg: func.QueueMessage) -> None:
            self.given.append(msg)
            self.under_way += 1
            self.most = max(self.most, self.under_way)
            try:
                await self.free.wait()
            finally:
                self.under_way -= 1
            if (error := self.answer(msg.get_body().decode())) is not None:
                raise error

        @app.queue_trigger(
            arg_name="poison", queue_name="%WORK%-poison", connection="AzureWebJobsStorage"
        )
        async def give_up(poison: func.QueueMessage) -> None:
            self.poisoned.append(poison.get_body().decode())
            if (error := self.answer(f"poison {self.poisoned[-1]}")) is not None:
                raise error

        visibility = options.pop("visibility", timedelta(seconds=30))
        assert isinstance(visibility, timedelta)
        settings = QueueOptions(**({"max_polling_interval": SOON} | options))  # type: ignore[arg-type]
        return Queues(sorted_by_trigger(app, {"WORK": self.name}).queues, settings, visibility)

    def bodies(self) -> list[str]:
        return [message.get_body().decode() for message in self.given]


async def until(happened: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not happened():
            await asyncio.sleep(0.01)


async def until_empty(queue: TaskQueue, name: str) -> None:
    async with asyncio.timeout(30):
        while await queue.length(name):
            await asyncio.sleep(0.02)


def failing(body: str) -> Exception | None:
    return None if body.startswith("poison") else RuntimeError("this can't be done")


@pytest.fixture(scope="module")
def azurite() -> Iterator[AzuriteServer]:
    with running() as started:
        yield started


@pytest.fixture(params=["sqlite", "storage"])
async def queue(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[TaskQueue]:
    made: SqliteQueue | StorageQueue
    if request.param == "sqlite":
        made = SqliteQueue(tmp_path / "queue.db", clock=SystemClock(), synchronous="normal")
    else:
        made = StorageQueue(
            StorageAccount(request.getfixturevalue("azurite").connection_string),
            clock=SystemClock(),
        )
    await made.open()
    yield made
    await made.close()


@pytest.fixture
async def embedded(tmp_path: Path) -> AsyncIterator[SqliteQueue]:
    made = SqliteQueue(tmp_path / "queue.db", clock=SystemClock(), synchronous="normal")
    await made.open()
    yield made
    await made.close()


@pytest.fixture
def desk() -> Desk:
    return Desk()


async def test_a_function_gets_the_message_as_azure_hands_it_over_and_a_done_one_is_removed(
    queue: TaskQueue, desk: Desk
) -> None:
    served = desk.served()
    served.start(queue)
    desk.free.set()
    await queue.send(desk.name, "tsk_日本")
    await until_empty(queue, desk.name)
    await served.stop(GRACE_S)
    (message,) = desk.given
    assert isinstance(message, func.QueueMessage)
    assert (message.get_body(), message.dequeue_count) == ("tsk_日本".encode(), 1)
    assert message.id
    assert message.pop_receipt
    assert message.insertion_time is not None
    assert message.expiration_time is not None
    assert message.expiration_time - message.insertion_time == timedelta(days=7)
    assert message.time_next_visible is not None
    assert message.time_next_visible > message.insertion_time


def test_a_message_as_functions_get_it_leaves_nothing_to_the_collector() -> None:
    """The SDK's search for a format of a time leaves exceptions in cycles, with the message."""
    moment = datetime(2026, 5, 8, 12, 0, 31, 834_470, tzinfo=timezone.utc)
    delivery = Delivery("id", "body", 1, moment, moment + HOUR, moment + HOUR, "receipt")
    gc.collect()
    gc.disable()
    try:
        assert serving.message(delivery).insertion_time == moment.replace(microsecond=0)
        left = [instance for instance in gc.get_objects() if type(instance) is ValueError]
    finally:
        gc.enable()
    assert [error for error in map(str, left) if "does not match format" in error] == []


async def test_a_message_sent_in_this_process_is_not_waited_for(
    queue: TaskQueue, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first look finds nothing and the next one would come in an hour."""
    monkeypatch.setattr(serving, "FIRST_PAUSE", HOUR)
    served = desk.served()
    served.start(queue)
    desk.free.set()
    for number in range(3):
        await queue.send(desk.name, f"m{number}")
        await until(lambda count=number + 1: len(desk.given) == count)
    await served.stop(GRACE_S)


async def test_a_message_that_always_fails_is_tried_five_times_and_then_poisoned_as_it_was(
    queue: TaskQueue, desk: Desk
) -> None:
    served = desk.served()
    desk.answer = failing
    desk.free.set()
    await queue.send(desk.name, "бaд {} <&>")
    served.start(queue)
    await until(lambda: bool(desk.poisoned))
    await until_empty(queue, desk.name)
    await until_empty(queue, f"{desk.name}-poison")
    await served.stop(GRACE_S)
    assert [message.dequeue_count for message in desk.given] == [1, 2, 3, 4, 5]
    assert set(desk.bodies()) == {"бaд {} <&>"}
    assert desk.poisoned == ["бaд {} <&>"]


async def test_a_failed_message_rests_before_it_is_tried_again(
    embedded: SqliteQueue, desk: Desk
) -> None:
    served = desk.served(visibility_timeout=HOUR)
    desk.answer = failing
    desk.free.set()
    served.start(embedded)
    await embedded.send(desk.name, "fails")
    await embedded.send(desk.name, "later", delay=timedelta(seconds=1))
    await until(lambda: "later" in desk.bodies())
    await served.stop(GRACE_S)
    assert desk.bodies() == ["fails", "later"]
    assert await embedded.length(desk.name) == 2


async def test_one_that_fails_once_is_done_by_the_second_attempt(
    queue: TaskQueue, desk: Desk
) -> None:
    served = desk.served()
    desk.answer = lambda body: RuntimeError("not yet") if len(desk.given) == 1 else None
    desk.free.set()
    served.start(queue)
    await queue.send(desk.name, "a")
    await until_empty(queue, desk.name)
    await served.stop(GRACE_S)
    assert [message.dequeue_count for message in desk.given] == [1, 2]
    assert desk.poisoned == []


async def test_a_poison_queue_has_no_poison_queue_of_its_own(queue: TaskQueue, desk: Desk) -> None:
    served = desk.served(max_dequeue_count=1, visibility=timedelta(seconds=1))
    desk.answer = lambda body: RuntimeError("always")
    desk.free.set()
    await queue.send(f"{desk.name}-poison", "a")
    served.start(queue)
    await until(lambda: len(desk.poisoned) == 3)
    await served.stop(GRACE_S)
    assert await queue.length(f"{desk.name}-poison") == 1
    assert await queue.length(f"{desk.name}-poison-poison") == 0


async def test_a_message_whose_attempts_were_spent_by_dying_processes_is_poisoned_without_another(
    queue: TaskQueue, desk: Desk
) -> None:
    await queue.send(desk.name, "kills")
    for _ in range(5):
        (delivery,) = await queue.receive(desk.name, 1, HOUR)
        await queue.extend(desk.name, delivery, timedelta(0))
    served = desk.served()
    served.start(queue)
    await until(lambda: desk.poisoned == ["kills"])
    await served.stop(GRACE_S)
    assert desk.given == []
    assert await queue.length(desk.name) == 0


async def test_a_function_that_runs_longer_than_the_visibility_keeps_its_message(
    queue: TaskQueue, desk: Desk
) -> None:
    served = desk.served(visibility=timedelta(seconds=1))
    served.start(queue)
    await queue.send(desk.name, "long")
    await queue.send(f"{desk.name}-poison", "bell", delay=timedelta(seconds=3))
    await until(lambda: desk.poisoned == ["bell"])
    assert await queue.receive(desk.name, 1, HOUR) == []
    desk.free.set()
    await until_empty(queue, desk.name)
    await served.stop(GRACE_S)
    assert desk.bodies() == ["long"]


async def test_a_function_that_hangs_is_ended_by_its_timeout_and_counts_as_failed(
    embedded: SqliteQueue, desk: Desk
) -> None:
    served = desk.served(function_timeout=timedelta(milliseconds=20), max_dequeue_count=2)
    await embedded.send(desk.name, "hangs")
    served.start(embedded)
    await until(lambda: desk.poisoned == ["hangs"])
    await served.stop(GRACE_S)
    assert [message.dequeue_count for message in desk.given] == [1, 2]


async def test_a_batch_is_received_only_when_few_are_under_way(
    queue: TaskQueue, desk: Desk
) -> None:
    served = desk.served(batch_size=4, new_batch_threshold=2)
    for number in range(20):
        await queue.send(desk.name, f"m{number}")
    served.start(queue)
    await until(lambda: desk.under_way == 4)
    desk.free.set()
    await until_empty(queue, desk.name)
    await served.stop(GRACE_S)
    assert sorted(desk.bodies()) == sorted(f"m{number}" for number in range(20))
    assert desk.most <= 6


async def test_a_stop_lets_what_runs_finish_and_receives_no_more(
    queue: TaskQueue, desk: Desk
) -> None:
    served = desk.served(batch_size=1, new_batch_threshold=0)
    served.start(queue)
    await queue.send(desk.name, "first")
    await until(lambda: desk.under_way == 1)
    await queue.send(desk.name, "second")
    stopping = asyncio.create_task(served.stop(GRACE_S))
    await asyncio.sleep(0)
    desk.free.set()
    await stopping
    assert desk.bodies() == ["first"]
    (left,) = await queue.receive(desk.name, 32, HOUR)
    assert (left.body, left.dequeue_count) == ("second", 1)


async def test_what_does_not_finish_in_time_is_handed_back_at_once(
    queue: TaskQueue, desk: Desk
) -> None:
    served = desk.served()
    served.start(queue)
    await queue.send(desk.name, "endless")
    await until(lambda: desk.under_way == 1)
    await served.stop(0.01)
    assert desk.under_way == 0
    (again,) = await queue.receive(desk.name, 32, HOUR)
    assert (again.body, again.dequeue_count) == ("endless", 2)


async def test_two_hosts_share_the_work(queue: TaskQueue, desk: Desk) -> None:
    hosts = [desk.served(batch_size=2, new_batch_threshold=1) for _ in range(2)]
    desk.free.set()
    for host in hosts:
        host.start(queue)
    await asyncio.gather(*(queue.send(desk.name, f"m{number}") for number in range(40)))
    await until_empty(queue, desk.name)
    await asyncio.gather(*(host.stop(GRACE_S) for host in hosts))
    assert sorted(desk.bodies()) == sorted(f"m{number}" for number in range(40))


async def test_work_that_somebody_else_has_taken_over_is_left_to_them(
    tmp_path: Path, desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    """The host's machine slept for a day: its message was received by another one,
    which has not finished either.
    """
    clock = StillClock()
    queue = SqliteQueue(tmp_path / "queue.db", clock=clock, synchronous="normal")
    await queue.open()
    served = desk.served(visibility=HOUR)
    served.start(queue)
    await queue.send(desk.name, "a")
    await until(lambda: desk.under_way == 1)
    clock.forward(86_400)
    (taken,) = await queue.receive(desk.name, 1, HOUR)
    desk.free.set()
    await until(lambda: "somebody else's by then" in caplog.text)
    await served.stop(GRACE_S)
    assert await queue.complete(desk.name, taken)
    await queue.close()


async def test_a_queue_that_can_not_be_reached_is_waited_for_and_said_once(
    tmp_path: Path, desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="memory_core")
    (tmp_path / "data").touch()
    queue = SqliteQueue(tmp_path / "data" / "queue.db", clock=SystemClock(), synchronous="normal")
    with pytest.raises(Exception, match="File exists"):
        await queue.open()
    served = desk.served()
    desk.free.set()
    served.start(queue)
    await until(lambda: caplog.text.count("waits until its queue can be reached") == 2)
    (tmp_path / "data").unlink()
    await queue.send(desk.name, "a")
    await until(lambda: desk.bodies() == ["a"])
    await served.stop(GRACE_S)
    # once for each of the two functions
    assert caplog.text.count("waits until its queue can be reached") == 2
    await queue.close()


async def test_a_message_that_is_not_base64_is_handed_over_as_it_is(
    azurite: AzuriteServer, desk: Desk
) -> None:
    from azure.storage.queue.aio import QueueClient

    queue = StorageQueue(StorageAccount(azurite.connection_string), clock=SystemClock())
    assert await queue.length(desk.name) == 0  # which makes it
    async with QueueClient.from_connection_string(azurite.connection_string, desk.name) as stranger:
        await stranger.send_message("not base64: é")
    served = desk.served()
    desk.free.set()
    served.start(queue)
    await until(lambda: desk.bodies() == ["not base64: é"])
    await served.stop(GRACE_S)
    await queue.close()


@pytest.mark.parametrize("text", ["", "x" * 60_000], ids=["empty", "larger than ours"])
async def test_a_message_of_another_program_that_no_poison_queue_takes_is_dropped(
    azurite: AzuriteServer, desk: Desk, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    from azure.storage.queue.aio import QueueClient

    desk.answer = failing
    desk.free.set()
    queue = StorageQueue(StorageAccount(azurite.connection_string), clock=SystemClock())
    assert await queue.length(desk.name) == 0  # which makes it
    async with QueueClient.from_connection_string(azurite.connection_string, desk.name) as stranger:
        await stranger.send_message(text)
    served = desk.served(max_dequeue_count=1)
    served.start(queue)
    await until_empty(queue, desk.name)
    await served.stop(GRACE_S)
    assert await queue.length(f"{desk.name}-poison") == 0
    assert "does not take it" in caplog.text
    await queue.close()


def test_a_queue_named_by_a_setting_that_is_not_there_is_refused() -> None:
    app = func.FunctionApp()

    @app.queue_trigger(arg_name="msg", queue_name="%WORK%", connection="AzureWebJobsStorage")
    async def work(msg: func.QueueMessage) -> None:
        """Never called."""

    with pytest.raises(ValueError, match="WORK"):
        sorted_by_trigger(app, {})


async def test_what_another_process_sends_is_looked_for_when_that_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "FIRST_PAUSE", HOUR)  # else the next look might find it
    desk = Desk()
    desk.free.set()
    ours, others = (
        SqliteQueue(tmp_path / "queue.db", clock=SystemClock(), synchronous="normal")
        for _ in range(2)
    )
    receiving, passing_on = desk.served(max_polling_interval=HOUR), desk.served()
    try:
        await ours.open()
        await others.open()
        receiving.start(ours)
        passing_on.pass_on(others, receiving.look)
        for number in range(3):
            await others.send(desk.name, f"work {number}")
            await until(lambda number=number: len(desk.given) == number + 1)
        assert desk.bodies() == ["work 0", "work 1", "work 2"]
    finally:
        await passing_on.stop(GRACE_S)
        await receiving.stop(GRACE_S)
        await ours.close()
        await others.close()

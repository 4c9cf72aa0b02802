"""A real Azurite that dies, hangs and comes back: calls say so and recover by themselves,
memories are kept meanwhile.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import timedelta
from pathlib import Path

import azure.functions as func
import pytest
from pydantic import SecretStr

from memory_core.adapters.azure_storage.account import StorageAccount
from memory_core.adapters.azure_storage.queue import StorageQueue
from memory_core.adapters.system import SystemClock
from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.errors import Unavailable
from memory_core.domain.requests.memories import SaveInput
from memory_core.localhost.host_settings import QueueOptions
from memory_core.localhost.triggers import QueueFunction, Queues
from memory_core.tasks.lifecycle import message_of
from memory_core.tasks.resending import ResendingQueue
from tests.azurite_server import AzuriteServer
from tests.builders import ALICE

HOUR = timedelta(hours=1)


@pytest.fixture
def azurite(tmp_path: Path) -> Iterator[AzuriteServer]:
    server = AzuriteServer(tmp_path / "azurite")
    server.start()
    yield server
    server.kill()


@pytest.fixture
async def queue(azurite: AzuriteServer) -> AsyncIterator[StorageQueue]:
    made = StorageQueue(
        StorageAccount(azurite.connection_string), clock=SystemClock(), deadline_s=20
    )
    await made.open()
    yield made
    await made.close()


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(30):
        while not await holds():
            await asyncio.sleep(0.02)


async def test_what_is_sent_while_it_is_down_is_refused_and_afterwards_taken(
    azurite: AzuriteServer, queue: StorageQueue
) -> None:
    azurite.stop()
    for call in (
        queue.send("formation", "lost"),
        queue.receive("formation", 1, HOUR),
        queue.length("formation"),
    ):
        with pytest.raises(Unavailable):
            await call
    azurite.start()
    await queue.send("formation", "a")
    assert [delivery.body for delivery in await queue.receive("formation", 32, HOUR)] == ["a"]


async def test_an_emulator_that_forgot_its_queues_gets_them_again() -> None:
    forgetful = AzuriteServer()
    forgetful.start()
    queue = StorageQueue(StorageAccount(forgetful.connection_string), clock=SystemClock())
    try:
        await queue.open()
        forgetful.kill()
        forgetful.start()
        await queue.send("formation", "a")
        assert await queue.length("formation") == 1
        assert (await queue.check()).status == "ok"
    finally:
        await queue.close()
        forgetful.kill()


async def test_one_that_hangs_is_given_up_and_used_again_when_it_answers(
    azurite: AzuriteServer, queue: StorageQueue
) -> None:
    # A hasty client makes no call that has to succeed: the first call of a process took
    # 0.47 s where others ran beside.
    hasty = StorageQueue(
        StorageAccount(azurite.connection_string), clock=SystemClock(), deadline_s=0.5
    )
    await queue.send("formation", "before")
    azurite.freeze()
    with pytest.raises(Unavailable, match=r"0\.5 s"):
        await hasty.length("formation")
    assert (await hasty.check()).status == "unavailable"
    azurite.thaw()

    async def answers() -> bool:
        return (await hasty.check()).status == "ok"

    await until(answers)
    assert await queue.length("formation") == 1
    await hasty.close()


async def test_memories_are_saved_without_it_and_readiness_is_degraded_until_it_is_back(
    azurite: AzuriteServer, tmp_path: Path
) -> None:
    connection = SecretStr(azurite.connection_string)
    settings = Settings(
        embedding_provider="hash", data=tmp_path, queue="storage", queue_connection=connection
    )
    azurite.stop()
    async with MemoryCore(settings) as core:
        await core.save(ALICE, SaveInput(content="kept meanwhile"))
        down = await core.ready()
        azurite.start()
        back = await core.ready()
    assert (down["status"], down["dependencies"]["queue"]["status"]) == ("degraded", "unavailable")
    assert "Storage" in down["dependencies"]["queue"]["detail"]
    assert (back["status"], back["dependencies"]["queue"]["status"]) == ("ready", "ok")
    assert back["dependencies"]["queue"]["last_ok"] is not None


async def test_the_message_of_a_task_that_the_queue_refused_is_sent_again_once_it_is_back(
    azurite: AzuriteServer, tmp_path: Path
) -> None:
    connection = SecretStr(azurite.connection_string)
    settings = Settings(
        embedding_provider="hash",
        data=tmp_path,
        queue="storage",
        queue_connection=connection,
        consolidation_first_minutes=0,
    )
    async with MemoryCore(settings) as core:
        await core.save(ALICE, SaveInput(content="I live in Lisbon"))
        azurite.stop()
        accepted = await core.export(ALICE)
        assert accepted.degraded == ("queue",)
        azurite.start()

        async def sent() -> bool:
            try:
                return await core.queue.length("consolidation") == 1
            except Unavailable:
                return False

        await until(sent)
        (delivery,) = await core.queue.receive("consolidation", 32, HOUR)
    assert message_of(delivery.body).task_id == accepted.task_id


async def test_a_message_whose_sender_waited_no_longer_is_sent_all_the_same(
    azurite: AzuriteServer,
) -> None:
    queue = ResendingQueue(
        StorageQueue(StorageAccount(azurite.connection_string), clock=SystemClock()), SystemClock()
    )
    await queue.open()
    azurite.freeze()
    sending = asyncio.ensure_future(queue.send("formation", "a"))
    await asyncio.sleep(0)
    sending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sending
    azurite.thaw()

    async def sent() -> bool:
        return await queue.length("formation") >= 1

    await until(sent)
    await queue.close()


async def test_closing_stops_sending_again(azurite: AzuriteServer) -> None:
    azurite.stop()
    queue = ResendingQueue(
        StorageQueue(StorageAccount(azurite.connection_string), clock=SystemClock()), SystemClock()
    )
    with pytest.raises(Unavailable):
        await queue.send("formation", "a")
    before = len(asyncio.all_tasks())
    await queue.close()
    assert len(asyncio.all_tasks()) == before - 1
    azurite.start()


async def test_a_send_under_way_when_the_queue_is_closed_leaves_nothing_open(
    azurite: AzuriteServer,
) -> None:
    queue = ResendingQueue(
        StorageQueue(StorageAccount(azurite.connection_string), clock=SystemClock()), SystemClock()
    )
    await queue.open()
    before = asyncio.all_tasks()
    azurite.freeze()
    sending = asyncio.ensure_future(queue.send("formation", "a"))
    await asyncio.sleep(0)
    await queue.close()
    azurite.thaw()
    await asyncio.gather(sending, return_exceptions=True)
    assert asyncio.all_tasks() == before
    del queue, sending
    gc.collect()  # a session that is left open says so, which fails the test


async def test_a_function_that_ends_while_it_is_away_has_its_message_ended_all_the_same(
    azurite: AzuriteServer, queue: StorageQueue
) -> None:
    """By the attempts to remove it that find the service back, or else by a second call:
    at least once is what is promised.
    """
    calls: list[int] = []
    free = asyncio.Event()

    async def work(msg: func.QueueMessage) -> None:
        calls.append(msg.dequeue_count or 0)
        await free.wait()

    options = QueueOptions(max_polling_interval=timedelta(milliseconds=200))
    served = Queues(
        [QueueFunction("work", "formation", "msg", work)], options, timedelta(seconds=1)
    )
    await queue.send("formation", "a")
    served.start(queue)

    async def called() -> bool:
        return len(calls) == 1

    async def done() -> bool:
        return await queue.length("formation") == 0

    await until(called)
    azurite.stop()
    free.set()
    with pytest.raises(Unavailable):
        await queue.length("formation")
    azurite.start()
    await until(done)
    await served.stop(20)
    assert calls in ([1], [1, 2])


async def test_an_account_that_knows_us_not_says_so_without_being_asked_again(
    azurite: AzuriteServer,
) -> None:
    queue = StorageQueue(
        StorageAccount(azurite.connection_string.replace("Eby8", "AAAA")), clock=SystemClock()
    )
    with pytest.raises(Unavailable, match="refused us") as refused:
        await queue.send("formation", "a")
    assert refused.value.retry_after_s == 30
    await queue.close()


async def test_a_connection_string_that_is_none_says_so() -> None:
    queue = StorageQueue(StorageAccount("hush-hush"), clock=SystemClock())
    with pytest.raises(Unavailable, match="address") as refused:
        await queue.send("formation", "a")
    assert "hush" not in refused.value.detail
    await queue.close()

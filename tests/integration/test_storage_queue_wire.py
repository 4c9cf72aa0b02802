"""What goes to Storage over the wire, and what is made of its refusals: a server in the test
answers as it is told.
"""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone

import pytest
from aiohttp import web
from azure.core.exceptions import HttpResponseError

from memory_core.adapters.azure_storage.account import ATTEMPTS, StorageAccount
from memory_core.adapters.azure_storage.queue import StorageQueue
from memory_core.adapters.system import SystemClock
from memory_core.domain.errors import Unavailable
from memory_core.ports import Delivery

MOMENT = datetime(2026, 5, 8, 12, tzinfo=timezone.utc)
HELD = Delivery("id-1", "a", 1, MOMENT, MOMENT, MOMENT, "receipt-1")
SENT = """<?xml version="1.0" encoding="utf-8"?><QueueMessagesList><QueueMessage><MessageId>id-1</MessageId>
<InsertionTime>Fri, 08 May 2026 12:00:00 GMT</InsertionTime><ExpirationTime>Fri, 15 May 2026 12:00:00 GMT</ExpirationTime>
<PopReceipt>receipt-1</PopReceipt><TimeNextVisible>Fri, 08 May 2026 12:00:00 GMT</TimeNextVisible></QueueMessage></QueueMessagesList>"""  # noqa: E501


@dataclass
class Storage:
    """Answers each request with the next of `answers`, (status, error code), and after the last as
    if all were well.
    """

    answers: list[tuple[int, str]] = field(default_factory=list)
    requests: list[tuple[str, str, str]] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.Response:
        self.requests.append((request.method, request.path_qs, await request.text()))
        if self.answers:
            status, code = self.answers.pop(0)
            return web.Response(status=status, headers={"x-ms-error-code": code})
        if request.method == "POST":
            return web.Response(status=201, text=SENT, content_type="application/xml")
        return web.Response(status=204)


@pytest.fixture
async def storage() -> Storage:
    return Storage()


@pytest.fixture
async def queue(storage: Storage) -> AsyncIterator[StorageQueue]:
    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", storage.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/memory"
    made = StorageQueue(
        StorageAccount(f"AccountName=memory;AccountKey=aHVzaA==;QueueEndpoint={url}"),
        clock=SystemClock(),
    )
    yield made
    await made.close()
    await runner.cleanup()


async def test_opening_asks_nothing_of_an_account_that_is_no_emulators(
    queue: StorageQueue, storage: Storage
) -> None:
    await queue.open()
    assert storage.requests == []


async def test_a_send_is_one_request_with_the_body_in_base64_and_a_life_that_counts_from_when_it_is_seen(  # noqa: E501
    queue: StorageQueue, storage: Storage
) -> None:
    await queue.send("formation", "tsk_é", delay=timedelta(seconds=59.5))
    ((method, path, body),) = storage.requests
    assert method == "POST"
    assert path.startswith("/memory/formation/messages?")
    assert {"visibilitytimeout=60", f"messagettl={7 * 86_400 + 60}"} <= set(
        path.split("?")[1].split("&")
    )
    assert base64.b64encode("tsk_é".encode()).decode() in body


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_call_that_fails_in_passing_is_repeated(
    queue: StorageQueue, storage: Storage, status: int
) -> None:
    storage.answers = [(status, "ServerBusy")] * (ATTEMPTS - 1)
    await queue.send("formation", "a")
    assert len(storage.requests) == ATTEMPTS


async def test_attempts_are_bounded_and_the_last_answer_is_told(
    queue: StorageQueue, storage: Storage
) -> None:
    storage.answers = [(503, "ServerBusy")] * 100
    with pytest.raises(Unavailable, match="503"):
        await queue.send("formation", "a")
    assert len(storage.requests) == ATTEMPTS


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ((403, "AuthorizationFailure"), "refused us"),
        ((404, "QueueNotFound"), "does not exist"),
        ((401, "NoAuthenticationInformation"), "refused us"),
        ((404, "ResourceNotFound"), "ResourceNotFound"),
        ((409, "QueueBeingDeleted"), "QueueBeingDeleted"),
    ],
)
async def test_what_asking_again_can_not_mend_is_asked_once(
    queue: StorageQueue, storage: Storage, answer: tuple[int, str], says: str
) -> None:
    storage.answers = [answer] * 100
    with pytest.raises(Unavailable, match=says) as refused:
        await queue.send("formation", "a")
    assert refused.value.retry_after_s == 30
    assert len(storage.requests) == 1


async def test_a_mistake_of_ours_is_not_hidden_as_an_outage(
    queue: StorageQueue, storage: Storage
) -> None:
    storage.answers = [(400, "InvalidQueryParameterValue")]
    with pytest.raises(HttpResponseError):
        await queue.send("formation", "a")


@pytest.mark.parametrize("answer", [(404, "MessageNotFound"), (400, "PopReceiptMismatch")])
async def test_a_message_that_is_no_longer_ours_is_an_answer(
    queue: StorageQueue, storage: Storage, answer: tuple[int, str]
) -> None:
    storage.answers = [answer, answer]
    assert not await queue.complete("formation", HELD)
    assert await queue.extend("formation", HELD, timedelta(seconds=1)) is None


async def test_a_removal_whose_answer_was_lost_is_told_as_not_ours(
    queue: StorageQueue, storage: Storage
) -> None:
    storage.answers = [(500, "OperationTimedOut"), (404, "MessageNotFound")]
    assert not await queue.complete("formation", HELD)
    assert [method for method, _, _ in storage.requests] == ["DELETE", "DELETE"]

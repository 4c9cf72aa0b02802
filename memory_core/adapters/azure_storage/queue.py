"""`TaskQueue` on Azure Storage Queues.

Messages are base64, as the Functions host expects them by default.

Note: receiving here is for the development host only. On Azure the Functions host receives, and
this process only sends.
"""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypeVar

from memory_core.adapters.azure_storage.account import (
    CountedCalls,
    StorageAccount,
    code_of,
    credential,
    is_our_mistake,
    refused,
)
from memory_core.adapters.queue_rules import (
    DEPENDENCY,
    LIFE,
    POISON_QUEUES,
    QUEUES,
    Arrivals,
    checked_limit,
    checked_name,
    encoded,
    whole_seconds,
)
from memory_core.domain.errors import Unavailable, described
from memory_core.ports import Clock, Delivery, Health

if TYPE_CHECKING:
    from azure.core.exceptions import AzureError
    from azure.identity.aio import DefaultAzureCredential
    from azure.storage.queue import QueueMessage
    from azure.storage.queue.aio import QueueClient, QueueServiceClient


DEADLINE_S = 10.0
ADAPTER = "storage"
Result = TypeVar("Result")


class StorageQueue:
    """The queues of a storage account, which infrastructure makes.

    Only on an emulator they are made here. `deadline_s` is the longest duration of a call in
    seconds.
    """

    def __init__(
        self, account: StorageAccount, *, clock: Clock, deadline_s: float = DEADLINE_S
    ) -> None:
        self._emulated = account.emulated
        self._connection = QueueConnection(account, deadline_s=deadline_s)
        self._clock = clock
        self._arrivals = Arrivals()
        self._last_ok: datetime | None = None

    async def open(self) -> None:
        """Make the queues on an emulator; on Azure send no request.

        A cold start should not wait for a service that it may not need.
        """
        self._connection.open()
        if self._emulated:
            await asyncio.gather(*(self._connection.make(queue) for queue in QUEUES))

    async def close(self) -> None:
        """Close the client."""
        await self._connection.close()

    async def send(self, queue: str, body: str, *, delay: timedelta = timedelta(0)) -> None:
        """Add a message.

        Raises Unavailable, after which it may have been added, and TooLarge.
        """
        text = base64.b64encode(encoded(body)).decode("ascii")
        hidden = whole_seconds(delay)
        life = hidden + whole_seconds(LIFE)

        async def work(client: QueueClient) -> None:
            await client.send_message(text, visibility_timeout=hidden, time_to_live=life)

        await self._connection.call(checked_name(queue), work)
        if not hidden:
            self._arrivals.tell(queue)

    async def receive(self, queue: str, limit: int, visibility: timedelta) -> list[Delivery]:
        """Receive up to `limit` messages.

        A message of another program that is not base64 is returned as it is.
        """
        checked_limit(limit)
        hidden = whole_seconds(visibility, least=1)

        async def work(client: QueueClient) -> list[Delivery]:
            pages = client.receive_messages(
                messages_per_page=limit, visibility_timeout=hidden
            ).by_page()
            async for page in pages:
                return [_delivery(message) async for message in page]  # one page is one request
            return []

        return await self._connection.call(checked_name(queue), work)

    async def extend(
        self, queue: str, delivery: Delivery, visibility: timedelta
    ) -> Delivery | None:
        """Hide a message for longer or hand it back, and return the new delivery.

        After Unavailable the old receipt may be void.
        """
        hidden = whole_seconds(visibility)

        async def work(client: QueueClient) -> Delivery:
            updated = await client.update_message(
                delivery.id, delivery.receipt, visibility_timeout=hidden
            )
            return replace(
                delivery,
                receipt=str(updated.pop_receipt),
                next_visible_at=_moment(updated.next_visible_on),
            )

        return await self._unless_lost(queue, work)

    async def complete(self, queue: str, delivery: Delivery) -> bool:
        """Remove the message.

        False too when it was removed by a first try whose answer was lost.
        """

        async def work(client: QueueClient) -> bool:
            await client.delete_message(delivery.id, delivery.receipt)
            return True

        return await self._unless_lost(queue, work) or False

    async def arrival(self, queue: str, within: timedelta) -> None:
        """Wait until this process sends to the queue, for at most `within`."""
        await self._arrivals.wait(queue, within)

    async def length(self, queue: str) -> int:
        """The service's approximation, never below the true number."""

        async def work(client: QueueClient) -> int:
            return (await client.get_queue_properties()).approximate_message_count or 0

        return await self._connection.call(checked_name(queue), work)

    async def check(self) -> Health:
        """Check readiness by reading the lengths of the poison queues concurrently."""
        begun = time.perf_counter()
        try:
            lengths = await asyncio.gather(*(self.length(queue) for queue in POISON_QUEUES))
        except Unavailable as error:
            return Health(ADAPTER, "unavailable", last_ok=self._last_ok, detail=error.detail)
        self._last_ok = self._clock.now()
        facts = dict(zip(POISON_QUEUES, lengths, strict=True))
        return Health(
            ADAPTER, "ok", (time.perf_counter() - begun) * 1000, self._last_ok, facts=facts
        )

    def pool(self) -> tuple[int, int]:
        """The most connections of the transport, and the calls under way."""
        return self._connection.pool()

    async def _unless_lost(
        self, queue: str, work: Callable[[QueueClient], Awaitable[Result]]
    ) -> Result | None:
        """The result of `work`; None when the message is gone or another receiver's."""
        from azure.core.exceptions import AzureError

        try:
            return await self._connection.call(checked_name(queue), work)
        except AzureError as error:
            if is_no_longer_ours(error):
                return None
            raise


def _delivery(message: QueueMessage) -> Delivery:
    return Delivery(
        id=message.id,
        body=_decoded(message.content),
        dequeue_count=message.dequeue_count or 0,
        inserted_at=_moment(message.inserted_on),
        expires_at=_moment(message.expires_on),
        next_visible_at=_moment(message.next_visible_on),
        receipt=message.pop_receipt or "",
    )


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode()
    except ValueError:
        return text


def _moment(given: datetime | None) -> datetime:
    if given is None:
        raise Unavailable("queue", "Storage answered without the times of a message")
    return given


# A lazy client of an account's queues, with timeouts and retries.
#
# Note: a repeated call may have succeeded the first time. A message that was sent twice is received
# twice, which each receiver has to handle. Messages that were received twice stay hidden until the
# visibility of the first batch is over.


Answer = TypeVar("Answer")


class QueueConnection:
    """The queues of an account."""

    def __init__(self, account: StorageAccount, *, deadline_s: float) -> None:
        self._account = account
        self._calls = CountedCalls(DEPENDENCY, deadline_s=deadline_s)
        self._service: QueueServiceClient | None = None
        self._credential: DefaultAzureCredential | None = None
        self._queues: dict[str, QueueClient] = {}
        self._is_closed = False

    def open(self) -> None:
        """Let calls make a client, also after `close`."""
        self._is_closed = False

    async def close(self) -> None:
        """Close the client and its connections.

        A call that is under way and tried again afterwards makes no new client, which would
        stay open.
        """
        self._is_closed = True
        service, credential = self._service, self._credential
        self._service = self._credential = None
        self._queues.clear()
        if service is not None:
            await service.close()
        if credential is not None:
            await credential.close()

    async def call(self, queue: str, work: Callable[[QueueClient], Awaitable[Answer]]) -> Answer:
        """Do `work` on a queue.

        Args:
            queue: The name of the queue.
            work: The work, with the queue's client.

        Raises:
            Unavailable: The service is down or refused the call.
            AzureError: The message is no longer this receiver's, or the request was a mistake.

        """
        from azure.core.exceptions import AzureError

        try:
            return await self._calls.run(lambda: self._on(self._queue(queue), work))
        except AzureError as error:
            if is_our_mistake(error) or is_no_longer_ours(error):
                raise
            raise refused(DEPENDENCY, error) from error

    def pool(self) -> tuple[int, int]:
        """The most connections of the transport, and the calls under way."""
        return self._calls.pool()

    async def make(self, queue: str) -> None:
        """Ensure that the queue exists on an emulator. On Azure, infrastructure makes it."""
        if self._account.emulated:
            await self.call(queue, _new_client)

    async def _on(
        self, queue: QueueClient, work: Callable[[QueueClient], Awaitable[Answer]]
    ) -> Answer:
        """Do `work`. An emulator that came back without its queues gets them again."""
        from azure.core.exceptions import AzureError

        try:
            return await work(queue)
        except AzureError as error:
            if not (self._account.emulated and is_missing(error)):
                raise
        await _new_client(queue)
        return await work(queue)

    def _queue(self, name: str) -> QueueClient:
        if name not in self._queues:
            self._queues[name] = self._connected().get_queue_client(name)
        return self._queues[name]

    def _connected(self) -> QueueServiceClient:
        """The client of this process, made by the first call without sending a request.

        Raises Unavailable after `close`.
        """
        if self._is_closed:
            raise Unavailable(DEPENDENCY, "the queue is not open")
        if self._service is None:
            from azure.storage.queue.aio import QueueServiceClient

            given = self._account
            try:
                if given.connection_string is not None:
                    self._service = QueueServiceClient.from_connection_string(
                        given.connection_string, **given.options()
                    )
                else:
                    self._credential = credential(given.identity_client_id)
                    self._service = QueueServiceClient(
                        given.url or "", self._credential, **given.options()
                    )
            except ValueError as error:
                raise Unavailable(
                    DEPENDENCY,
                    f"the storage account's address can't be used: {described(error)}",
                    retry_after_s=30,
                ) from error
        return self._service


async def _new_client(queue: QueueClient) -> None:
    from azure.core.exceptions import ResourceExistsError

    try:
        await queue.create_queue()
    except ResourceExistsError:
        return


# Answers of the queue service that are no failures for the caller.
#
# Note: 404 has two meanings. A missing queue is a failure; a missing message is an answer.


NOT_OURS = frozenset({"MessageNotFound", "PopReceiptMismatch"})


def is_missing(error: AzureError) -> bool:
    """Whether the queue itself does not exist."""
    return code_of(error) == "QueueNotFound"


def is_no_longer_ours(error: AzureError) -> bool:
    """Whether the message is gone, or another receiver holds it."""
    return code_of(error) in NOT_OURS

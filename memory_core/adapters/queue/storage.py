"""`TaskQueue` on Azure Storage Queues.

Messages are base64, as the Functions host expects them by default. Note: receiving here is for the development host
only. On Azure the Functions host receives, and this process does nothing but send.
"""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypeVar

from memory_core.adapters.queue.arrivals import Arrivals
from memory_core.adapters.queue.connection import Connection
from memory_core.adapters.queue.failures import is_no_longer_ours
from memory_core.adapters.queue.messages import LIFE, POISON_QUEUES, QUEUES, checked_limit, checked_name, encoded, whole_seconds
from memory_core.adapters.storage.account import Account
from memory_core.domain.errors import Unavailable
from memory_core.ports import Clock, Delivery, Health

if TYPE_CHECKING:
    from azure.storage.queue import QueueMessage
    from azure.storage.queue.aio import QueueClient

DEADLINE_S = 10.0
ADAPTER = "storage"
Result = TypeVar("Result")


class StorageQueue:
    """The queues of one storage account. Infrastructure makes them; only on an emulator they are made here. deadline_s: of one call."""

    def __init__(self, account: Account, *, clock: Clock, deadline_s: float = DEADLINE_S) -> None:
        self._emulated = account.emulated
        self._connection = Connection(account, deadline_s=deadline_s)
        self._clock = clock
        self._arrivals = Arrivals()
        self._last_ok: datetime | None = None

    async def open(self) -> None:
        """On an emulator make the queues; on Azure ask nothing, since a cold start should not wait for what it may not need."""
        if self._emulated:
            await asyncio.gather(*(self._connection.make(queue) for queue in QUEUES))

    async def close(self) -> None:
        """Close the client."""
        await self._connection.close()

    async def send(self, queue: str, body: str, *, delay: timedelta = timedelta(0)) -> None:
        """Add a message. Raises Unavailable (then it may have been added), TooLarge."""
        text = base64.b64encode(encoded(body)).decode("ascii")
        hidden = whole_seconds(delay)
        life = hidden + whole_seconds(LIFE)

        async def work(client: QueueClient) -> None:
            await client.send_message(text, visibility_timeout=hidden, time_to_live=life)

        await self._connection.call(checked_name(queue), work)
        if not hidden:
            self._arrivals.tell(queue)

    async def receive(self, queue: str, limit: int, visibility: timedelta) -> list[Delivery]:
        """Up to `limit` messages; one that is not base64, because another program sent it, comes as it is."""
        checked_limit(limit)
        hidden = whole_seconds(visibility, least=1)

        async def work(client: QueueClient) -> list[Delivery]:
            pages = client.receive_messages(messages_per_page=limit, visibility_timeout=hidden).by_page()
            async for page in pages:
                return [_delivery(message) async for message in page]  # one page is one request
            return []

        return await self._connection.call(checked_name(queue), work)

    async def extend(self, queue: str, delivery: Delivery, visibility: timedelta) -> Delivery | None:
        """Keep or hand back; the delivery to go on with. After Unavailable the old receipt may be void."""
        hidden = whole_seconds(visibility)

        async def work(client: QueueClient) -> Delivery:
            updated = await client.update_message(delivery.id, delivery.receipt, visibility_timeout=hidden)
            return replace(delivery, receipt=str(updated.pop_receipt), next_visible_at=_moment(updated.next_visible_on))

        return await self._unless_lost(queue, work)

    async def complete(self, queue: str, delivery: Delivery) -> bool:
        """Remove it. False too when it was removed by a first try whose answer was lost."""

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
        """The lengths of the poison queues, asked side by side."""
        begun = time.perf_counter()
        try:
            lengths = await asyncio.gather(*(self.length(queue) for queue in POISON_QUEUES))
        except Unavailable as error:
            return Health(ADAPTER, "unavailable", last_ok=self._last_ok, detail=error.detail)
        self._last_ok = self._clock.now()
        facts = dict(zip(POISON_QUEUES, lengths, strict=True))
        return Health(ADAPTER, "ok", (time.perf_counter() - begun) * 1000, self._last_ok, facts=facts)

    def pool(self) -> tuple[int, int]:
        """Connections that the transport may hold; calls under way."""
        return self._connection.pool()

    async def _unless_lost(self, queue: str, work: Callable[[QueueClient], Awaitable[Result]]) -> Result | None:
        """What `work` answers; None when the message is gone or another receiver's."""
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

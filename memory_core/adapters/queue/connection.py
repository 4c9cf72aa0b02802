"""The way to the account: one lazy client, a deadline for every call, bounded retries.

One would get wrong: a call that is repeated may have been done the first time. Sent twice: two messages, and whoever receives must
bear that anyway. Received twice: the first batch stays hidden until its visibility runs out.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from memory_core.adapters.queue.messages import DEPENDENCY
from memory_core.domain.errors import Unavailable

if TYPE_CHECKING:
    from azure.identity.aio import DefaultAzureCredential
    from azure.storage.queue.aio import QueueClient, QueueServiceClient

ATTEMPTS = 4
PAUSE_S = 0.05
"""Before the second attempt; doubled with each, times a random share, so that clients do not come back together."""
CONNECTIONS = 100
"""What the SDK's transport (aiohttp) holds at most."""
CLIENT_OPTIONS: Final[dict[str, Any]] = {"retry_total": 0, "connection_timeout": 5}
"""The SDK's own retries begin after 15 seconds; they are done here, where the deadline is known."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Account:
    """Which storage account, and who asks: a connection string, or the queue endpoint's address and an identity.

    identity_client_id: a user-assigned identity; None = the one that `DefaultAzureCredential` finds.
    """

    connection_string: str | None = None
    url: str | None = None
    identity_client_id: str | None = None

    @property
    def emulated(self) -> bool:
        """Whether this is an emulator, where nobody has made the queues."""
        given = (self.connection_string or "").lower()
        return "devstoreaccount1" in given or "usedevelopmentstorage=true" in given


class Connection:
    """The queues of one account."""

    def __init__(self, account: Account, *, deadline_s: float) -> None:
        self._account, self._deadline_s = account, deadline_s
        self._service: QueueServiceClient | None = None
        self._credential: DefaultAzureCredential | None = None
        self._queues: dict[str, QueueClient] = {}
        self.under_way = 0

    async def close(self) -> None:
        """Close the client and its connections; the next call opens new ones."""
        service, credential = self._service, self._credential
        self._service = self._credential = None
        self._queues.clear()
        if service is not None:
            await service.close()
        if credential is not None:
            await credential.close()

    async def call(self, queue: str, work: Callable[[QueueClient], Awaitable[T]]) -> T:
        """Do `work` on a queue, again when that may help and time is left. Raises Unavailable, or AzureError for a refusal."""
        from azure.core.exceptions import AzureError

        from memory_core.adapters.queue.failures import passes, translated

        async with self._in_time():
            for attempt in range(1, ATTEMPTS + 1):
                try:
                    return await self._on(self._queue(queue), work)
                except AzureError as error:
                    if attempt == ATTEMPTS or not passes(error):
                        raise translated(error) or error from error
                await asyncio.sleep(PAUSE_S * 2**attempt * random.uniform(0.5, 1.0))
        raise AssertionError("the last attempt returns or raises")

    async def make(self, queue: str) -> None:
        """Make sure that the queue is there, where that is ours to do: on an emulator."""
        if self._account.emulated:
            await self.call(queue, _made)

    async def _on(self, queue: QueueClient, work: Callable[[QueueClient], Awaitable[T]]) -> T:
        """Do `work`; an emulator that came back without its queues gets them again."""
        from azure.core.exceptions import AzureError

        from memory_core.adapters.queue.failures import is_missing

        try:
            return await work(queue)
        except AzureError as error:
            if not (self._account.emulated and is_missing(error)):
                raise
        await _made(queue)
        return await work(queue)

    def _queue(self, name: str) -> QueueClient:
        if name not in self._queues:
            self._queues[name] = self._connected().get_queue_client(name)
        return self._queues[name]

    def _connected(self) -> QueueServiceClient:
        """The client of this process, made by the first call; nothing goes over the wire yet."""
        if self._service is None:
            from azure.storage.queue.aio import QueueServiceClient

            given = self._account
            try:
                if given.connection_string is not None:
                    self._service = QueueServiceClient.from_connection_string(given.connection_string, **CLIENT_OPTIONS)
                else:
                    self._service = QueueServiceClient(given.url or "", self._identity(), **CLIENT_OPTIONS)
            except ValueError as error:
                raise Unavailable(DEPENDENCY, f"the storage account's address can't be used: {error}", retry_after_s=30) from error
        return self._service

    def _identity(self) -> DefaultAzureCredential:
        from azure.identity.aio import DefaultAzureCredential

        if self._credential is None:
            client_id = self._account.identity_client_id
            self._credential = DefaultAzureCredential(**({} if client_id is None else {"managed_identity_client_id": client_id}))
        return self._credential

    @asynccontextmanager
    async def _in_time(self) -> AsyncIterator[None]:
        """The deadline of one call."""
        self.under_way += 1
        try:
            async with asyncio.timeout(self._deadline_s):
                yield
        except TimeoutError:
            raise Unavailable(DEPENDENCY, f"Storage did not answer within {self._deadline_s:g} s") from None
        finally:
            self.under_way -= 1


async def _made(queue: QueueClient) -> None:
    from azure.core.exceptions import ResourceExistsError

    try:
        await queue.create_queue()
    except ResourceExistsError:
        return

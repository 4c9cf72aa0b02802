"""The queues of an account: one lazy client.

Its calls are made in time, and repeated where that may help.

Note: a call that is repeated may have been done the first time. Sent twice: two messages, which a receiver must
bear anyway. Received twice: the first batch stays hidden until its visibility runs out.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from memory_core.adapters.identity import credential
from memory_core.adapters.queue.failures import is_missing, is_no_longer_ours
from memory_core.adapters.queue.messages import DEPENDENCY
from memory_core.adapters.storage.account import Account, Calls
from memory_core.adapters.storage.failures import is_our_mistake, refused
from memory_core.domain.errors import Unavailable, described

if TYPE_CHECKING:
    from azure.identity.aio import DefaultAzureCredential
    from azure.storage.queue.aio import QueueClient, QueueServiceClient

Answer = TypeVar("Answer")


class Connection:
    """The queues of one account."""

    def __init__(self, account: Account, *, deadline_s: float) -> None:
        self._account = account
        self._calls = Calls(DEPENDENCY, deadline_s=deadline_s)
        self._service: QueueServiceClient | None = None
        self._credential: DefaultAzureCredential | None = None
        self._queues: dict[str, QueueClient] = {}

    async def close(self) -> None:
        """Close the client and its connections; the next call opens new ones."""
        service, credential = self._service, self._credential
        self._service = self._credential = None
        self._queues.clear()
        if service is not None:
            await service.close()
        if credential is not None:
            await credential.close()

    async def call(self, queue: str, work: Callable[[QueueClient], Awaitable[Answer]]) -> Answer:
        """Do `work` on a queue. Raises Unavailable, or AzureError where the message is not ours any more or the request was a mistake."""
        from azure.core.exceptions import AzureError

        try:
            return await self._calls.run(lambda: self._on(self._queue(queue), work))
        except AzureError as error:
            if is_our_mistake(error) or is_no_longer_ours(error):
                raise
            raise refused(DEPENDENCY, error) from error

    def pool(self) -> tuple[int, int]:
        """Connections that the transport may hold; calls under way."""
        return self._calls.pool()

    async def make(self, queue: str) -> None:
        """Make sure that the queue is there, where that is ours to do: on an emulator."""
        if self._account.emulated:
            await self.call(queue, _made)

    async def _on(self, queue: QueueClient, work: Callable[[QueueClient], Awaitable[Answer]]) -> Answer:
        """Do `work`; an emulator that came back without its queues gets them again."""
        from azure.core.exceptions import AzureError

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
                    self._service = QueueServiceClient.from_connection_string(given.connection_string, **given.options())
                else:
                    self._credential = credential(given.identity_client_id)
                    self._service = QueueServiceClient(given.url or "", self._credential, **given.options())
            except ValueError as error:
                raise Unavailable(
                    DEPENDENCY, f"the storage account's address can't be used: {described(error)}", retry_after_s=30
                ) from error
        return self._service


async def _made(queue: QueueClient) -> None:
    from azure.core.exceptions import ResourceExistsError

    try:
        await queue.create_queue()
    except ResourceExistsError:
        return

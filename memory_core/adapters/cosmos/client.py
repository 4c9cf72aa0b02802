"""The client of Cosmos DB: deadlines, retries of reads, charges.

Note: a commit is not sent again from here, whatever came back. Whether it was applied is for its
sender to find out, by the commit's marker.
"""

from __future__ import annotations

import asyncio
import binascii
import random
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from memory_core.adapters.azure_storage.account import credential, has_proxy
from memory_core.adapters.cosmos.conditions import Query
from memory_core.adapters.cosmos.items import DEPENDENCY, partition_of
from memory_core.domain.errors import Unavailable, described
from memory_core.domain.scope import Owner
from memory_core.ports import Charged

if TYPE_CHECKING:
    from azure.core.pipeline import PipelineResponse
    from azure.core.pipeline.transport import AsyncHttpTransport
    from azure.cosmos.aio import ContainerProxy, CosmosClient
    from azure.identity.aio import DefaultAzureCredential
from memory_core.adapters.cosmos.failures import (
    is_behind,
    is_missing,
    passes,
    retry_later_error,
    translated,
    wait_in,
)

READ_ATTEMPTS = 5
PAUSE_S = 0.02
"""Pause before the second attempt, in seconds.

It doubles with each attempt and is multiplied by a random share, so that clients do not come back
together.
"""
CONNECTIONS = 100
"""The most connections of the SDK's transport (aiohttp)."""
ROWS_A_PAGE = 1000
"""The most rows that the service returns a page, instead of 100.

It still cuts a page at 4 MB.
"""
NOT_OPEN = "the store is not open"
CHARGE = "x-ms-request-charge"
SESSION_TOKEN = "x-ms-session-token"  # noqa: S105 - a header's name
CLIENT_OPTIONS: Final[dict[str, Any]] = {
    "retry_total": 2,
    "retry_backoff_max": 1,
    "connection_timeout": 5,
    "enable_compact_utf8_item_writes": True,
}
"""Options of the SDK's client.

The SDK waits for throttled calls as long as the service asks, and repeats cut calls, each only a
few times. Further retries are made here, where the deadline is known. Compact UTF-8 is needed since
a Japanese character would otherwise take six bytes of a batch instead of three.
"""
THROTTLED = 429
Result = TypeVar("Result")
_ends_at: ContextVar[float | None] = ContextVar("ends_at", default=None)
"""When the call under way must have ended, on the event loop's clock."""


LOCAL = "Local"
"""Scope of full-text scores: words are weighted by their frequency in this user's partition."""


@dataclass(slots=True)
class Answer:
    """The answer of a query, a point read or a batch.

    Attributes:
        rows: The rows of a query; of a point read, its item as the only row.
        charge: The cost in request units, over all pages.
        token: Names the state that a point read or a batch has seen. A later read with this token
            sees no older state.

    """

    rows: list[Any] = field(default_factory=list)
    charge: float = 0.0
    token: str | None = None


class CosmosConnection:
    """Connection to a container of an account.

    Args:
        endpoint: The address of the account.
        database: The name of the database.
        container: The name of the container.
        key: An account key; None for an identity.
        identity_client_id: The client id of a user-assigned identity; None for the system-assigned
            identity.
        deadline_s: The longest duration of a call in seconds, retries included.
        charged: Called with the charge of each answer. Requests that the SDK repeats by itself are
            hidden and not counted.

    Attributes:
        reads_twice: Whether the account's reads ask two replicas, at twice the price, as those of
            Strong and BoundedStaleness do. A read with the token of a state then asks a single
            replica, and is answered by that state or a later state.
        under_way: Calls under way.

    """

    def __init__(
        self,
        endpoint: str,
        database: str,
        container: str,
        *,
        key: str | None,
        identity_client_id: str | None,
        deadline_s: float,
        charged: Charged,
    ) -> None:
        self._endpoint, self._key, self._identity_client_id = endpoint, key, identity_client_id
        self._deadline_s, self._charged = deadline_s, charged
        self._database_id, self._container_id = database, container
        self._opening = asyncio.Lock()
        self._client: CosmosClient | None = None
        self._container: ContainerProxy | None = None
        self._credential: DefaultAzureCredential | None = None
        self._tokens: Remembered[str] = Remembered()
        self._refusal: str | None = NOT_OPEN
        self.reads_twice = False
        self.under_way = 0

    def open(self) -> None:
        """Let calls make a client, also after `close`. Before, every call is refused."""
        self._refusal = None

    async def close(self, reason: Unavailable | None = None) -> None:
        """Close the client and its connections.

        It also closes a client that another call is just opening. A call that is under way and
        tried again afterwards makes no new client, which would stay open.

        Args:
            reason: Why the store can't be used, which calls are refused with from now on. None for
                a store that is merely not open.

        """
        if self._refusal is None:  # else the first close knows better
            self._refusal = (
                NOT_OPEN if reason is None else reason.detail.removeprefix(f"{DEPENDENCY}: ")
            )
        async with self._opening:
            client, credential = self._client, self._credential
            self._client = self._credential = self._container = None
        if client is not None:
            await client.close()
        if credential is not None:
            await credential.close()

    async def item(self, owner: Owner, identity: str, *, since: str | None = None) -> Answer:
        """Read an item by a point read.

        Args:
            owner: The owner of the item.
            identity: The id of the item.
            since: The token of a state; the answer is not older than this state. None for no bound.

        Returns:
            The answer, without rows when the item does not exist.

        Raises:
            Unavailable: The service is down or too slow.

        """
        from azure.core.exceptions import AzureError

        async def read(container: ContainerProxy, since: str | None) -> Answer:
            try:
                item = await container.read_item(
                    identity, partition_key=partition_of(owner), **self._freshness(owner, since)
                )
            except AzureError as error:
                if is_missing(error):
                    return Answer(charge=self._count(_headers_of(error)))
                raise
            headers = item.get_response_headers()
            return Answer([dict(item)], self._count(headers), headers.get(SESSION_TOKEN))

        return await self._read_since(read, since)

    def _freshness(self, owner: Owner, since: str | None) -> dict[str, Any]:
        """Options of a read that say how new its answer must be.

        A request can ask for a weaker level than the account's. Session, with the token of a state,
        asks a single replica that has reached this state.
        """
        if since is not None:
            return {"request_options": {"consistencyLevel": "Session"}, "session_token": since}
        return {"session_token": self._tokens.get(owner)}

    async def _read_since(
        self, work: Callable[[ContainerProxy, str | None], Awaitable[Result]], since: str | None
    ) -> Result:
        """Read from a single replica where this is cheaper for the account.

        Two replicas are asked when no replica has reached `since`.
        """
        from azure.core.exceptions import AzureError

        wanted = since if self.reads_twice else None

        async def read(container: ContainerProxy) -> Result:
            nonlocal wanted
            try:
                return await work(container, wanted)
            except AzureError as error:
                wanted = None if is_behind(error) else wanted
                raise

        return await self.read(read)

    async def ranges(self) -> list[dict[str, Any]]:
        """The present feed ranges. Each stays valid when it is divided."""

        async def read(container: ContainerProxy) -> list[dict[str, Any]]:
            return [
                feed_range async for feed_range in container.read_feed_ranges(force_refresh=True)
            ]

        return await self.read(read)

    async def query(
        self,
        owner: Owner | None,
        query: Query,
        *,
        within: dict[str, Any] | None = None,
        across: bool = False,
        since: str | None = None,
    ) -> Answer:
        """All rows of a query, each once.

        When a range moves while pages are read, the SDK begins the query again and returns the rows
        of the first pages twice; these are dropped here.

        Args:
            owner: The user whose partition is read. None reads all partitions, or those of
                `within`; only the hourly timer's work may do so.
            query: The statement and its parameters.
            within: The feed range to read without an owner.
            across: Leaves the key out of the request, so that the service plans the query and the
                SDK merges. The statement's condition names the key.
            since: The token of a state; the answer is not older than this state. None for no bound.

        Raises:
            Unavailable: The service is down or too slow.

        """
        scope: dict[str, Any] = {}
        if owner is not None:
            scope = {"full_text_score_scope": LOCAL} | (
                {} if across else {"partition_key": partition_of(owner)}
            )
        elif within is not None:
            scope = {"feed_range": within}

        async def read(container: ContainerProxy, since: str | None) -> Answer:
            answer = Answer()

            def count(headers: Mapping[str, Any], _: Any) -> None:
                answer.charge += self._count(headers)

            items = container.query_items(
                query.statement,
                parameters=query.parameters,
                max_item_count=ROWS_A_PAGE,
                response_hook=count,
                **scope,
                **({} if owner is None else self._freshness(owner, since)),
            )
            rows: dict[Any, Any] = {}
            async for row in items:
                rows.setdefault(
                    (row.get("app_id"), row.get("user_id"), row["id"])
                    if isinstance(row, dict)
                    else row,
                    row,
                )
            answer.rows = list(rows.values())
            return answer

        return await self._read_since(read, since)

    async def read(self, work: Callable[[ContainerProxy], Awaitable[Result]]) -> Result:
        """Run a read, and repeat it when that may help and time is left.

        Raises Unavailable, or the SDK's error for a mistake of this project (400).
        """
        from azure.core.exceptions import AzureError

        async with self._in_time():
            for attempt in range(1, READ_ATTEMPTS + 1):
                try:
                    return await work(await self.container())
                except AzureError as error:
                    self._count(_headers_of(error))
                    if attempt == READ_ATTEMPTS or not passes(error):
                        raise translated(error) or error from error
                await asyncio.sleep(PAUSE_S * 2**attempt * random.uniform(0.5, 1.0))
        raise AssertionError("the last attempt returns or raises")

    async def batch(self, owner: Owner, operations: Sequence[tuple[Any, ...]]) -> Answer:
        """Send a transactional batch, once.

        Args:
            owner: The owner of the items.
            operations: The operations, as the SDK takes them.

        Raises:
            CosmosBatchOperationError: The service refused an operation.
            TooLarge: The service refused the batch as too large.
            Unavailable: The outcome is unknown.

        """
        from azure.core.exceptions import AzureError
        from azure.cosmos.exceptions import CosmosBatchOperationError

        async with self._in_time():
            try:
                container = await self.container()
                results = await container.execute_item_batch(
                    list(operations), partition_key=partition_of(owner)
                )
            except AzureError as error:
                self._note(owner, _headers_of(error))
                if isinstance(error, CosmosBatchOperationError):
                    raise
                raise translated(error) or error from error
            headers = results.get_response_headers()
            return Answer(list(results), self._note(owner, headers), headers.get(SESSION_TOKEN))

    def _note(self, owner: Owner, headers: Mapping[str, Any]) -> float:
        """Count the charge of a batch, and remember the session token of its answer.

        The SDK does not remember it for batches. Under Session consistency, later reads are then at
        least as new as this process's own commit, or as the competing commit that it lost to.
        """
        charge = self._count(headers)
        if token := headers.get(SESSION_TOKEN):
            self._tokens.keep(owner, token)
        return charge

    def _count(self, headers: Mapping[str, Any]) -> float:
        """Report the charge of an answer, and return it."""
        charge = float(headers.get(CHARGE, 0.0))
        if charge:
            self._charged(charge)
        return charge

    async def container(self) -> ContainerProxy:
        """The container. The first call makes the client. Raises Unavailable unless open."""
        async with self._opening:
            if self._refusal is not None:
                raise Unavailable(DEPENDENCY, self._refusal)
            if self._container is None:
                client = await self._connected()
                self._container = client.get_database_client(
                    self._database_id
                ).get_container_client(self._container_id)
            return self._container

    async def client(self) -> CosmosClient:
        """The SDK's client. Raises Unavailable while it is closed."""
        await self.container()
        if self._client is None:
            raise Unavailable(DEPENDENCY, self._refusal or NOT_OPEN)
        return self._client

    async def _connected(self) -> CosmosClient:
        from azure.cosmos.aio import CosmosClient

        signed_by: Any = self._key
        if signed_by is None:
            signed_by = self._credential = self._credential or credential(self._identity_client_id)
        client = CosmosClient(
            self._endpoint,
            signed_by,
            transport=self._transport(),
            raw_response_hook=_refuse_to_wait_in_vain,
            **CLIENT_OPTIONS,
        )
        try:
            await client.__aenter__()
        except BaseException as error:
            await client.close()
            if isinstance(error, binascii.Error):
                raise Unavailable(
                    DEPENDENCY,
                    f"the key of the account can't be used: {described(error)}",
                    retry_after_s=30,
                ) from error
            raise
        self._client = client
        return client

    def _transport(self) -> AsyncHttpTransport[Any, Any]:
        """What carries the requests of a client."""
        from azure.core.pipeline.transport import AioHttpTransport

        transport: AsyncHttpTransport[Any, Any] = AioHttpTransport(
            use_env_settings=has_proxy(self._endpoint)
        )
        return transport

    @asynccontextmanager
    async def _in_time(self) -> AsyncIterator[None]:
        """Apply the deadline of a call."""
        self.under_way += 1
        ending = _ends_at.set(asyncio.get_running_loop().time() + self._deadline_s)
        try:
            async with asyncio.timeout(self._deadline_s):
                yield
        except TimeoutError:
            raise Unavailable(
                DEPENDENCY, f"Cosmos DB did not answer within {self._deadline_s:g} s"
            ) from None
        finally:
            _ends_at.reset(ending)
            self.under_way -= 1


def _refuse_to_wait_in_vain(response: PipelineResponse[Any, Any]) -> None:
    """Raise Unavailable for an answer that asks to wait longer than its call may take.

    This hook sees every answer before the SDK does. The SDK would wait, and the caller would learn
    only after the whole deadline that there was no answer, instead of when to try again.
    """
    answer, ends_at = response.http_response, _ends_at.get()
    if answer.status_code != THROTTLED or ends_at is None:
        return
    wait_s = wait_in(answer.headers)
    if wait_s is not None and asyncio.get_running_loop().time() + wait_s >= ends_at:
        raise retry_later_error(THROTTLED, wait_s)


def _headers_of(error: Exception) -> Mapping[str, Any]:
    """The headers of a refusal; empty for a call without an answer."""
    return getattr(error, "headers", None) or {}


async def together(*work: Coroutine[Any, Any, Result]) -> list[Result]:
    """Run coroutines concurrently and return all their results.

    When a coroutine fails, the rest are cancelled and have ended before the error is raised.
    """
    tasks = [asyncio.ensure_future(coroutine) for coroutine in work]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


# A process's memory of recent users.
#
# Note: nothing of it is shown to a caller. It saves requests or makes them stricter, and the
# service detects a request that relies on an old entry.


USERS = 4096
Known = TypeVar("Known")


class Remembered(Generic[Known]):
    """A value for each of the 4,096 users that were seen last."""

    def __init__(self) -> None:
        self._known: OrderedDict[Owner, Known] = OrderedDict()

    def get(self, owner: Owner) -> Known | None:
        """The remembered value of a user."""
        return self._known.get(owner)

    def keep(self, owner: Owner, known: Known | None) -> Known | None:
        """Remember a value, or forget the user's value, and return the value.

        Args:
            owner: The user.
            known: The value; None forgets it.

        """
        self._known.pop(owner, None)
        if known is not None:
            self._known[owner] = known
            if len(self._known) > USERS:
                self._known.popitem(last=False)
        return known

"""A client of Redis with timeouts, whose failures never reach its caller.

No library is imported and no connection is made until the returned function runs, which must be
inside the event loop that will use it. For Azure Managed Redis, choose the Enterprise clustering
policy (a single address for the whole cluster), which this client supports.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from memory_core.adapters.breaker import Breaker
from memory_core.adapters.redis.protocol import CHECKED, CHECKED_TTL_S
from memory_core.domain.errors import Unavailable, described
from memory_core.ports import Clock, Health

if TYPE_CHECKING:
    from redis.asyncio import Redis
    from redis.credentials import CredentialProvider


Connect = Callable[[], "Redis"]

ENTRA_SCOPE = "https://redis.azure.com/.default"
TOKEN_TIMEOUT_MS = 5000
"""The longest duration of a request for a token.

The library's own 100 ms are less than a cold managed identity needs.
"""


def server(
    url: str,
    *,
    password: str | None = None,
    entra: bool = False,
    identity_client_id: str | None = None,
) -> Connect:
    """A connector to a Redis server.

    Args:
        url: `redis://` or `rediss://[user[:password]@]host[:port][/db]`.
        password: Overrides the password in the URL, so that it can come from a secret store.
        entra: Sign in with Entra ID instead of a password. This needs the extra `entra`.
        identity_client_id: The client id of a user-assigned managed identity for Entra ID; None for
            the identity that `DefaultAzureCredential` finds.

    """

    def connect() -> Redis:
        from redis.asyncio import Redis
        from redis.asyncio.connection import parse_url
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff

        options: dict[str, Any] = dict(parse_url(url))
        # The class, not the URL, tells the constructor about TLS; it can't be given both.
        if options.pop("connection_class", None) is not None and "path" not in options:
            options["ssl"] = True
        if "path" in options:
            options["unix_socket_path"] = options.pop("path")
        if entra:
            options.pop("username", None)
            options.pop("password", None)
            options["credential_provider"] = _entra_credentials(identity_client_id)
        elif password is not None:
            options["password"] = password
        # One retry and no pause: it covers a connection that the server closed while it was idle.
        # The store's breaker does the rest.
        return Redis(retry=Retry(NoBackoff(), 1), **options)

    return connect


def _entra_credentials(identity_client_id: str | None) -> CredentialProvider:
    """A provider that fetches tokens, and renews them on open connections before they expire."""
    from redis.auth.token_manager import RetryPolicy, TokenManagerConfig
    from redis_entraid import cred_provider, identity_provider

    renewal = TokenManagerConfig(
        cred_provider.DEFAULT_EXPIRATION_REFRESH_RATIO,
        cred_provider.DEFAULT_LOWER_REFRESH_BOUND_MILLIS,
        TOKEN_TIMEOUT_MS,
        RetryPolicy(cred_provider.DEFAULT_MAX_ATTEMPTS, cred_provider.DEFAULT_DELAY_IN_MS),
    )
    provider: CredentialProvider
    if identity_client_id is None:
        provider = cred_provider.create_from_default_azure_credential(
            (ENTRA_SCOPE,), token_manager_config=renewal
        )
    else:
        provider = cred_provider.create_from_managed_identity(
            identity_type=identity_provider.ManagedIdentityType.USER_ASSIGNED,
            resource=ENTRA_SCOPE.removesuffix("/.default"),
            id_type=identity_provider.ManagedIdentityIdType.CLIENT_ID,
            id_value=identity_client_id,
            token_manager_config=renewal,
        )
    return provider


# A client of a Redis that may be down: each call has a timeout and a breaker, and no call raises.
#
# Note: a readiness check calls Redis even if the breaker is open, and so notices at once when Redis
# is back.


log = logging.getLogger(__name__)
T = TypeVar("T")
START_TIMEOUT_S = 2.0
"""The timeout of the first connection, in seconds.

It may take longer than a call: name lookup, TLS, a first token.
"""

HANDSHAKE_TIMEOUT_S = TOKEN_TIMEOUT_MS / 1000 + START_TIMEOUT_S
"""The timeout of a connection that is made beside the calls, in seconds.

So a connection that is slow to make does not fail all calls for ever.
"""

MAX_CONCURRENT = 32
"""The most calls under way at once, and hence the most connections.

Further calls of a burst wait instead of opening a connection for each request.
"""


class GuardedRedis:
    """A Redis that may be down. Each call has a timeout, and none raises.

    Args:
        connect: Makes the client.
        clock: The present time.
        scripts: Lua scripts by name.
        adapter: The name of the adapter in logs and checks.
        timeout_s: The longest duration of a call in seconds, connecting included; None for no
            limit.
        breaker: The circuit breaker; None makes a new breaker.

    Attributes:
        failures: Failed calls since the start.
        skipped: Values that could not be written or read as an entry.

    """

    def __init__(
        self,
        connect: Connect,
        clock: Clock,
        scripts: Mapping[str, str],
        *,
        adapter: str,
        timeout_s: float | None,
        breaker: Breaker | None,
    ) -> None:
        self._connect = connect
        self._clock = clock
        self._sources = scripts
        self._adapter = adapter
        self._timeout_s = timeout_s
        self._breaker = breaker or Breaker(clock)
        self._slots = asyncio.Semaphore(MAX_CONCURRENT)
        self._under_way = 0
        self._client: Redis | None = None
        self._is_closed = False
        self._scripts: dict[str, Callable[..., Awaitable[Any]]] = {}
        self._handshake: asyncio.Task[None] | None = None
        self._last_ok: datetime | None = None
        self._last_error: str | None = None
        self.failures = 0
        self.skipped = 0

    async def open(self) -> None:
        """Connect, so that the first call finds a connection.

        A server that is down is only noted.
        """
        self._is_closed = False
        await self._bounded("open", lambda client: client.ping(), None, START_TIMEOUT_S)

    def _connect_beside(self) -> None:
        """Make a connection in the background, for later calls.

        A name lookup, TLS and a token may take longer than any call waits.
        """
        if self._timeout_s is None or self._is_closed:
            return
        if self._handshake is None or self._handshake.done():
            self._handshake = asyncio.create_task(self._shake_hands(self._connected()))

    async def _shake_hands(self, client: Redis) -> None:
        try:
            async with asyncio.timeout(HANDSHAKE_TIMEOUT_S):
                await client.ping()
        except Exception as error:  # noqa: BLE001 - the calls say what is wrong; this only prepares for them
            log.debug("No connection could be made beside the calls: %s", described(error))

    async def close(self) -> None:
        """Close the connections. Calls under way make no new ones."""
        self._is_closed = True
        client, self._client = self._client, None
        if self._handshake is not None:
            self._handshake.cancel()
            await asyncio.gather(self._handshake, return_exceptions=True)
        if client is not None:
            await client.aclose()

    @property
    def degraded(self) -> bool:
        """True from a failed call until the next success.

        Hence it is also True while the circuit is open.
        """
        return self._breaker.failing

    async def check(self) -> Health:
        """Check readiness by a write, in any state of the circuit.

        So readiness detects at once that a server is back. A PING is not enough: a replica and a
        server without free memory answer it, but refuse writes.
        """
        began = time.perf_counter()
        try:
            async with running_timeout(self._timeout_s):
                await self._connected().set(CHECKED, 1, ex=CHECKED_TTL_S)
        except Exception as error:  # noqa: BLE001 - the port promises that a check says what is wrong instead of raising
            self._failed("check", error)
        else:
            self._succeeded()
        latency = None if self.degraded else (time.perf_counter() - began) * 1000
        facts = {"circuit": self._breaker.state, "failures": self.failures, "skipped": self.skipped}
        detail = f"last error: {self._last_error}" if self.degraded else None
        return Health(
            self._adapter,
            "unavailable" if self.degraded else "ok",
            latency,
            self._last_ok,
            detail,
            facts,
        )

    def _connected(self) -> Redis:
        if self._is_closed:
            raise Unavailable("short_term", "it is not open")
        if self._client is None:
            self._client = self._connect()
            self._scripts = {
                name: self._client.register_script(source) for name, source in self._sources.items()
            }
        return self._client

    async def _script(
        self, name: str, keys: list[str], arguments: list[Any], otherwise: Any
    ) -> Any:
        return await self._bounded(
            name, lambda _: self._scripts[name](keys=keys, args=arguments), otherwise
        )

    async def _bounded(
        self,
        name: str,
        call: Callable[[Redis], Awaitable[T]],
        otherwise: T,
        timeout_s: float | None = None,
    ) -> T:
        """The call's answer, or `otherwise` when the call fails or takes too long.

        While the circuit is open, the answer is `otherwise` without a call.
        """
        if not self._breaker.allow():
            return otherwise
        try:
            async with running_timeout(timeout_s or self._timeout_s), self._slots:
                self._under_way += 1
                try:
                    if self._handshake is not None:
                        # a call that went on would cut the same connection short again
                        await asyncio.wait({self._handshake})
                    answer = await call(self._connected())
                finally:
                    self._under_way -= 1
        except Exception as error:  # noqa: BLE001 - a cache must not fail its caller, whatever it does; logged and counted
            self._failed(name, error)
            if isinstance(error, TimeoutError):
                self._connect_beside()
            return otherwise
        self._succeeded()
        return answer

    def pool(self) -> tuple[int, int]:
        """The most calls at once, and the calls under way.

        Each call has a connection of its own.
        """
        return MAX_CONCURRENT, self._under_way

    def _failed(self, name: str, error: Exception) -> None:
        self.failures += 1
        self._last_error = f"{name}: {described(error)}"
        if not self._breaker.failing:
            log.warning(
                "The short term (%s) fails, going on without it: %s",
                self._adapter,
                self._last_error,
            )
        self._breaker.failed()

    def _succeeded(self) -> None:
        if self._breaker.failing:
            log.info("The short term (%s) answers again", self._adapter)
        self._breaker.succeeded()
        self._last_ok = self._clock.now()


TIMEOUT_PARTS = 4
"""The parts in which a timeout is counted.

A part is the longest that an answer which has arrived may wait for its reader without a timeout.
"""


@asynccontextmanager
async def running_timeout(seconds: float | None) -> AsyncIterator[None]:
    """A timeout that does not count while the event loop is held up.

    An answer may have arrived while other work kept the loop, or the machine kept the process, from
    reading it. `asyncio.timeout` would fail that call and blame the service. Raises TimeoutError
    when the loop ran for that long without the end of the body. With None there is no limit.
    """
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(None) as timeout:
        if seconds is None:
            yield
            return
        part = seconds / TIMEOUT_PARTS
        timer: asyncio.TimerHandle

        def wait(parts: int) -> asyncio.TimerHandle:
            due = loop.time() + part
            return loop.call_at(due, count, parts, due)

        def count(parts: int, due: float) -> None:
            nonlocal timer
            left = parts - 1 if loop.time() < due + part else parts
            if left:
                timer = wait(left)
            else:
                timeout.reschedule(loop.time())

        timer = wait(TIMEOUT_PARTS)
        try:
            yield
        finally:
            timer.cancel()

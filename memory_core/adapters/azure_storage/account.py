"""A storage account: address, identity, proxy, retries, and errors translated to ours.

Note: a repeated call may have succeeded the first time, with its answer lost. Callers must tolerate
that.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import urlsplit

from memory_core.domain.errors import Unavailable

if TYPE_CHECKING:
    from azure.core.exceptions import AzureError
    from azure.identity.aio import DefaultAzureCredential


ATTEMPTS = 4
PAUSE_S = 0.05
"""Pause before the second attempt, in seconds.

It doubles with each attempt and is multiplied by a random share, so that clients do not come back
together.
"""
CONNECTIONS = 100
"""The most connections of the SDK's transport (aiohttp)."""
CLIENT_OPTIONS: Final[dict[str, Any]] = {"retry_total": 0, "connection_timeout": 5}
"""Options of the SDK's clients.

The SDK's own retries begin after 15 seconds. Retries are made here instead, where the deadline is
known.
"""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StorageAccount:
    """A storage account and the identity that uses it.

    It has either a connection string, or the service's address and an identity.

    Attributes:
        connection_string: The connection string, if any.
        url: The address of the service, if any.
        identity_client_id: The client id of a user-assigned identity; None for the identity that
            `DefaultAzureCredential` finds.

    """

    connection_string: str | None = field(default=None, repr=False)
    url: str | None = None
    identity_client_id: str | None = None

    def options(self) -> dict[str, Any]:
        """The options with which a client of this account is made."""
        return {**CLIENT_OPTIONS, "use_env_settings": has_proxy(self.url)}

    @property
    def emulated(self) -> bool:
        """Whether this is an emulator, where queues and containers must first be made."""
        given = (self.connection_string or "").lower()
        return (
            "accountname=devstoreaccount1;" in f"{given};" or "usedevelopmentstorage=true" in given
        )


class CountedCalls:
    """Calls to a dependency, counted while under way.

    `deadline_s` is the longest duration of a call in seconds, with its retries and pauses.
    """

    def __init__(self, dependency: str, *, deadline_s: float) -> None:
        self._dependency, self._deadline_s = dependency, deadline_s
        self._under_way = 0

    async def run(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do `work`, and repeat it when that may help and time is left.

        Raises Unavailable, or AzureError for a refusal.
        """
        from azure.core.exceptions import AzureError

        self._under_way += 1
        try:
            async with asyncio.timeout(self._deadline_s):
                for attempt in range(1, ATTEMPTS + 1):
                    try:
                        return await work()
                    except AzureError as error:
                        if attempt == ATTEMPTS or not passes(error):
                            raise translated(self._dependency, error) or error from error
                    await asyncio.sleep(PAUSE_S * 2**attempt * random.uniform(0.5, 1.0))
        except TimeoutError:
            raise Unavailable(
                self._dependency, f"Storage did not answer within {self._deadline_s:g} s"
            ) from None
        finally:
            self._under_way -= 1
        raise AssertionError("the last attempt returns or raises")

    def pool(self) -> tuple[int, int]:
        """The most connections of the transport, and the calls under way."""
        return CONNECTIONS, min(self._under_way, CONNECTIONS)


# Failures of a storage account, in the product's terms.
#
# Note: 404 has two meanings. A missing queue or container is a failure; a missing message or blob
# is an answer.


PASSING = frozenset({408, 429, 500, 502, 503, 504})
"""Statuses after which the same call may succeed."""
LACKING = {"QueueNotFound": "the queue", "ContainerNotFound": "the container"}
RETRY_AFTER_S = 2


def passes(error: AzureError) -> bool:
    """Whether a failed call is worth a retry."""
    from azure.core.exceptions import ClientAuthenticationError

    status = _status_of(error)
    return not isinstance(error, ClientAuthenticationError) if status is None else status in PASSING


def code_of(error: AzureError) -> str | None:
    """The service's name for an error ("BlobNotFound")."""
    code = getattr(error, "error_code", None)
    return None if code is None else str(getattr(code, "value", code))


def translated(dependency: str, error: AzureError) -> Unavailable | None:
    """The project's error for an error of the SDK.

    Args:
        dependency: The dependency that the error names.
        error: The error of the SDK.

    Returns:
        None for a refusal that only its caller understands.

    """
    from azure.core.exceptions import ClientAuthenticationError

    status, code = _status_of(error), code_of(error)
    if status in (401, 403) or isinstance(error, ClientAuthenticationError):
        return Unavailable(
            dependency,
            f"Storage refused us: identity, key or rights ({code or status})",
            retry_after_s=30,
        )
    if code in LACKING:
        return Unavailable(
            dependency, f"{LACKING[code]} does not exist in the storage account", retry_after_s=30
        )
    if status is None:
        return Unavailable(dependency, "Storage can not be reached", retry_after_s=RETRY_AFTER_S)
    if status in PASSING:
        return Unavailable(dependency, f"Storage answered {status}", retry_after_s=RETRY_AFTER_S)
    return None


def refused(dependency: str, error: AzureError) -> Unavailable:
    """The error for a refusal of unknown meaning, with the service's name for it.

    For example, the account does not exist, or a queue is being deleted.

    Args:
        dependency: The dependency that the error names.
        error: The error of the SDK.

    """
    return Unavailable(
        dependency, f"Storage refused: {code_of(error) or type(error).__name__}", retry_after_s=30
    )


def is_our_mistake(error: AzureError) -> bool:
    """Whether the request itself was wrong.

    Waiting does not mend that, so it must be seen.
    """
    return _status_of(error) == 400


def _status_of(error: AzureError) -> int | None:
    from azure.core.exceptions import HttpResponseError

    return error.status_code if isinstance(error, HttpResponseError) else None


def credential(client_id: str | None) -> DefaultAzureCredential:
    """A credential, which the caller must close. No token is fetched yet.

    `client_id` is that of a user-assigned managed identity. None takes the identity that is found:
    the app's own identity on Azure, a developer's sign-in elsewhere.
    """
    from azure.identity.aio import DefaultAzureCredential

    return DefaultAzureCredential(
        **({} if client_id is None else {"managed_identity_client_id": client_id})
    )


# Whether the environment names a proxy for a service; checked once, when a client is made.
#
# Without this, the transport of Azure's SDKs looks for a proxy and for `~/.netrc` at every call,
# each in a thread of its own. The contract tests on the emulator took 16.2 s of processor time with
# that and 13.7 s without.


def has_proxy(url: str | None) -> bool:
    """Whether a proxy of the environment applies to this address.

    It does if `HTTP_PROXY`, `HTTPS_PROXY` or `ALL_PROXY` applies and `NO_PROXY` does not. None is
    any address.
    """
    from urllib.request import getproxies, proxy_bypass

    proxies = getproxies()
    if url is None:
        return bool(proxies)
    parts = urlsplit(url)
    named = parts.scheme in proxies or "all" in proxies
    return named and not proxy_bypass(parts.hostname or "")

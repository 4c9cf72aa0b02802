"""A storage account: how to reach it, and as whom.

Also how long a call may take, and how often it is tried.

Note: a call that is repeated may have been done the first time, its answer lost. Callers must bear that.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from memory_core.adapters.proxies import has_proxy
from memory_core.adapters.storage.failures import passes, translated
from memory_core.domain.errors import Unavailable

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
    """Which storage account, and who asks: a connection string, or the service's address and an identity.

    identity_client_id: a user-assigned identity; None = the one that `DefaultAzureCredential` finds.
    """

    connection_string: str | None = field(default=None, repr=False)
    url: str | None = None
    identity_client_id: str | None = None

    def options(self) -> dict[str, Any]:
        """What a client of this account is made with."""
        return {**CLIENT_OPTIONS, "use_env_settings": has_proxy(self.url)}

    @property
    def emulated(self) -> bool:
        """Whether this is an emulator, where queues and containers have not been made yet."""
        given = (self.connection_string or "").lower()
        return "accountname=devstoreaccount1;" in f"{given};" or "usedevelopmentstorage=true" in given


class Calls:
    """Calls to one dependency, counted while under way. deadline_s: of one call, with its repetitions and pauses."""

    def __init__(self, dependency: str, *, deadline_s: float) -> None:
        self._dependency, self._deadline_s = dependency, deadline_s
        self._under_way = 0

    async def run(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do `work`, again when that may help and time is left. Raises Unavailable, or AzureError for what was refused."""
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
            raise Unavailable(self._dependency, f"Storage did not answer within {self._deadline_s:g} s") from None
        finally:
            self._under_way -= 1
        raise AssertionError("the last attempt returns or raises")

    def pool(self) -> tuple[int, int]:
        """Connections that the transport may hold; calls under way."""
        return CONNECTIONS, min(self._under_way, CONNECTIONS)

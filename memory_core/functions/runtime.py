"""The single `MemoryCore` of this process, opened by the first request that needs it.

Azure's Python worker has no hook for start or stop, so no work may be done at import. Clients
belong to the event loop that they are made in, and a cold start pays only for the parts that it
uses. The development host calls `start` and `close` itself.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from memory_core.domain.errors import PlainError
from memory_core.functions.callers import (
    LOCAL_CALLER,
    Caller,
    Keyring,
    PresentedKey,
    check_local,
    is_loopback,
    stored_caller,
)
from memory_core.logs import protect

if TYPE_CHECKING:
    from memory_core.config import Settings
    from memory_core.core import MemoryCore
    from memory_core.functions.entra import EntraGate
    from memory_core.ports import Clock
    from memory_core.telemetry import SharedReadiness


_TURN_S = 0.001
"""Seconds that a thread may keep the interpreter's lock from the event loop.

A long body takes dozens of the loop's turns. With the usual 5 ms, each turn waits that long for a
rule that reads a long text.
"""


@dataclass(frozen=True, slots=True)
class Runtime:
    """Objects that a request needs.

    Attributes:
        core: The opened `MemoryCore`.
        readiness: Shared checks of the dependencies.
        keyring: The keys of the settings; None if authentication is off.
        deadline_s: Seconds that a request may take.
        body_limit_bytes: The most bytes of a body.
        entra: The gate for tokens; None if no tokens are accepted.

    """

    core: MemoryCore
    readiness: SharedReadiness
    keyring: Keyring | None
    deadline_s: float
    body_limit_bytes: int
    entra: EntraGate | None = None

    async def caller(self, method: str, url: str, headers: Mapping[str, str]) -> Caller:
        """Authenticate the caller of a request; without authentication `check_local` decides.

        A key of the settings is known without asking a store.

        Args:
            method: The request's method.
            url: The request's URL.
            headers: By name in lower case.

        Raises:
            Unauthenticated: The key or token is missing or unknown.
            Forbidden: The credential grants no right here, or the request is not from this machine.
            Unavailable: The store can't be asked for a key that an admin may have made, or the
                issuer of a token can't be asked for its keys.

        """
        if self.keyring is None:
            check_local(method, urlsplit(url).netloc, headers)
            return LOCAL_CALLER
        if self.entra is not None and (principal := self.entra.principal(headers)) is not None:
            return principal
        presented = PresentedKey.of(headers)
        if self.entra is not None and presented.is_token:
            return await self.entra.token_caller(presented.text)
        return (
            self.keyring.caller(presented)
            if self.keyring.has(presented)
            else await stored_caller(self.core, presented)
        )


_current: Runtime | None = None
_settings: Settings | None = None
_opening = asyncio.Lock()


async def current() -> Runtime:
    """The process's runtime, opened by the first call.

    Raises Unavailable if a dependency is down; the next call tries again.
    """
    global _settings
    if _current is not None:
        return _current
    async with _opening:
        if _current is not None:
            return _current
        if _settings is None:  # read once, so that what is strange about them is logged once
            from memory_core.config import Settings

            _settings = Settings.from_env()
        return await start(_settings)


async def start(settings: Settings) -> Runtime:
    """Build and open the runtime of this process.

    Raises ValueError if these settings can't be served safely.
    """
    global _current
    keyring = _keyring(settings)
    _check_principal_header(settings)
    protect(settings.log_level)
    from memory_core.core import MemoryCore
    from memory_core.telemetry import SharedReadiness

    sys.setswitchinterval(_TURN_S)
    core = MemoryCore(settings)
    await core.open()  # when that fails, the next request tries again, with connections of its own
    readiness, entra = SharedReadiness(core.ready, core.clock), _entra(settings, core.clock)
    _current = Runtime(
        core, readiness, keyring, settings.deadline_s, settings.body_limit_bytes, entra
    )
    return _current


async def close() -> None:
    """Close the runtime if it is open; acknowledged writes stay."""
    global _current, _settings
    runtime, _current, _settings = _current, None, None
    if runtime is not None:
        if runtime.entra is not None:
            await runtime.entra.close()
        await runtime.core.close()


def _check_principal_header(settings: Settings) -> None:
    """Raise PlainError if a client could write the header of App Service authentication itself."""
    if (
        settings.trust_principal_header == "on"
        and os.environ.get("WEBSITE_AUTH_ENABLED", "").lower() != "true"
    ):
        raise PlainError(
            "MEMORY_TRUST_PRINCIPAL_HEADER=on, but App Service authentication is off here "
            "(WEBSITE_AUTH_ENABLED is not True): any client could write X-MS-CLIENT-PRINCIPAL "
            "itself. Switch authentication on for the app, or leave the setting out"
        )


def _entra(settings: Settings, clock: Clock) -> EntraGate | None:
    if settings.entra_tenant_id is None:
        return None
    from memory_core.functions.entra import EntraGate

    return EntraGate.of(settings, clock)


def _keyring(settings: Settings) -> Keyring | None:
    if settings.auth == "on":
        return Keyring(settings.api_keys)
    # On Azure WEBSITE_HOSTNAME is the app's public name; Core Tools set it to localhost:7071.
    public = urlsplit(f"//{os.environ.get('WEBSITE_HOSTNAME', 'localhost')}").hostname or ""
    for host in (settings.host, public):
        if not is_loopback(host):
            raise PlainError(
                f"MEMORY_AUTH=off works only on a loopback address, not on {host}: configure "
                "MEMORY_API_KEYS instead"
            )
    return None

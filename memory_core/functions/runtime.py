"""The one `MemoryCore` of this process, opened by the first request that needs it.

Azure's Python worker has no hook for start or stop, so nothing may happen at import: clients belong to the event loop that
they are made in, and a cold start pays only for what it uses. The development host calls `start` and `close` itself.
"""

from __future__ import annotations

import asyncio
import functools
import ipaddress
import logging
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from memory_core.domain.errors import Forbidden
from memory_core.functions.keys import LOCAL_CALLER, Caller, Keyring

if TYPE_CHECKING:
    from memory_core.config import Settings
    from memory_core.core import MemoryCore


_CHATTY = ("azure.core", "azure.cosmos", "azure.identity")
"""Loggers of SDKs that write down every request with all its headers at INFO: twenty lines a call of the store."""

_TURN_S = 0.001
"""How long a thread may keep the interpreter's lock while the event loop waits for it. With the usual 5 ms each of the loop's turns,
of which a long body takes dozens, waits so long for a rule that reads a long text."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """What a request needs. keyring: None when authentication is off."""

    core: MemoryCore
    keyring: Keyring | None
    deadline_s: float
    body_limit_bytes: int

    def caller(self, url: str, headers: Mapping[str, str]) -> Caller:
        """Who sends this request. Raises Unauthenticated or Forbidden.

        Without authentication the URL's host must be loopback too: a web page whose name resolves to 127.0.0.1 can make
        a browser send requests here, but it can't make the browser call them `localhost`.
        """
        if self.keyring is not None:
            return self.keyring.caller(headers)
        if not is_loopback(urlsplit(url).hostname or ""):
            raise Forbidden("MEMORY_AUTH=off answers only requests to a loopback address, such as http://127.0.0.1")
        return LOCAL_CALLER


_current: Runtime | None = None
_opening = asyncio.Lock()


async def current() -> Runtime:
    """The process's runtime, opened by the first call. Raises Unavailable when a dependency is down; the next call tries again."""
    if _current is not None:
        return _current
    async with _opening:
        if _current is not None:
            return _current
        from memory_core.config import Settings

        return await start(Settings.from_env())


async def start(settings: Settings) -> Runtime:
    """Wire and open the runtime of this process. Raises ValueError where these settings can't be served safely."""
    global _current
    keyring = _keyring(settings)
    if settings.log_level != "DEBUG":
        for name in _CHATTY:
            logging.getLogger(name).setLevel(logging.WARNING)
    from memory_core.core import MemoryCore

    sys.setswitchinterval(_TURN_S)
    core = MemoryCore(settings)
    await core.open()  # when that fails, the next request tries again, with connections of its own
    _current = Runtime(core, keyring, settings.deadline_s, settings.body_limit_bytes)
    return _current


async def close() -> None:
    """Close the runtime, if there is one; what was acknowledged stays."""
    global _current
    runtime, _current = _current, None
    if runtime is not None:
        await runtime.core.close()


@functools.lru_cache(maxsize=128)
def is_loopback(host: str) -> bool:
    """Whether a host name or address can be reached from this machine only."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _keyring(settings: Settings) -> Keyring | None:
    if settings.auth == "on":
        return Keyring(settings.api_keys)
    # On Azure WEBSITE_HOSTNAME is the app's public name; Core Tools set it to localhost:7071.
    public = urlsplit(f"//{os.environ.get('WEBSITE_HOSTNAME', 'localhost')}").hostname or ""
    for host in (settings.host, public):
        if not is_loopback(host):
            raise ValueError(f"MEMORY_AUTH=off works only on a loopback address, not on {host}: configure MEMORY_API_KEYS instead")
    return None

"""One POST to an address that a caller chose, which must not lead into our own network.

Note: the name is not looked up first and connected to afterwards. In between the name may get another address. Here every
socket is asked for with the very address that it will connect to, and that is what is judged; there is no other way to one.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from memory_core import __version__
from memory_core.adapters.webhook.addresses import Address, Allowed, literal, may_be_name, plain, unwrapped
from memory_core.ports import Posted

if TYPE_CHECKING:
    import aiohttp

MAX_HEADER_BYTES = 8 * 1024
NOT_PUBLIC = "it has no public address, so it is not called"
"""Said of every address that is not called, and of a name without any: a caller must not learn here how names resolve in our network."""


class Refused(OSError):
    """A socket to an address that we don't call."""


class WebCourier:
    """The `Courier` port. allow: addresses, networks and host names that may be called though they are not public."""

    def __init__(self, allow: Iterable[str] = (), *, timeout_s: float = 10.0) -> None:
        self._allowed = Allowed.of(allow)
        self._timeout_s = timeout_s

    def refusal(self, url: str) -> str | None:
        """What can be judged before it is called: hosts written as addresses, `localhost`, which is this machine, and what is no host."""
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port
        except ValueError:
            return "the address can't be called"
        return "nobody listens at port 0" if port == 0 else self._refusal_of(host)

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Posted:
        """Connect, send, read the answer's status and headers; its body is not read at all.

        A name that leads into our network fails like one that does not exist, and is tried again as that is.
        """
        import aiohttp
        from yarl import URL

        refused: list[Address] = []
        try:
            target = URL(url)
            refusal = self.refusal(url) or self._refusal_of(target.host or "")
            if refusal is not None:
                return Posted(None, refusal, refused=True)
            async with asyncio.timeout(self._timeout_s), self._session(target.host or "", refused) as session:
                given = {"User-Agent": f"memory-core/{__version__}", **headers}
                response = await session.post(target, data=body, headers=given, allow_redirects=False)
                response.close()
                return Posted(response.status)
        except TimeoutError:
            return Posted(None, f"there was no answer within {self._timeout_s:g} s")
        except (aiohttp.ClientError, OSError, ValueError) as error:
            if refused:
                return Posted(None, NOT_PUBLIC)
            return Posted(None, said(error))

    async def close(self) -> None:
        """Nothing is kept between two calls."""

    def _refusal_of(self, host: str) -> str | None:
        address = ipaddress.IPv4Address("127.0.0.1") if plain(host).endswith("localhost") else literal(host)
        if ("%" in host and ":" not in host) or (address is None and not may_be_name(host)):
            return "it names no host that can be called"
        if address is None or self._allowed.host(host) or self._allowed.address(address):
            return None
        return NOT_PUBLIC

    def _session(self, host: str, refused: list[Address]) -> aiohttp.ClientSession:
        """A client for one request: no connection, no name and no cookie outlives it, and no proxy of the environment is asked.

        host: as the client itself has read it. Addresses that were not connected to are added to `refused`.
        """
        import aiohttp

        any_address = self._allowed.host(host)

        def guarded(info: Any) -> socket.socket:
            family, kind, protocol, _, sockaddr = info
            address = unwrapped(ipaddress.ip_address(str(sockaddr[0]).partition("%")[0]))
            if not any_address and not self._allowed.address(address):
                refused.append(address)
                raise Refused(NOT_PUBLIC)
            return socket.socket(family=family, type=kind, proto=protocol)

        connector = aiohttp.TCPConnector(force_close=True, use_dns_cache=False, socket_factory=guarded)
        return aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            max_line_size=MAX_HEADER_BYTES,
            max_field_size=MAX_HEADER_BYTES,
        )


def said(error: Exception) -> str:
    """What went wrong on our way there, without what the receiver wrote.

    A reader of it must not look through us at other hosts.
    """
    import aiohttp

    match error:
        case aiohttp.ClientConnectorDNSError():
            return NOT_PUBLIC
        case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientSSLError():
            return "its certificate can't be trusted"
        case aiohttp.ClientConnectionError():
            return "it can't be reached, or cut the connection"
        case aiohttp.InvalidURL() | ValueError():
            return "the address can't be called"
        case _:
            return f"it gave no proper answer ({type(error).__name__})"

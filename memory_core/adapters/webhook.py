"""A POST to the address of a webhook, which must be an allowed address.

Note: the name is not looked up first and connected to afterwards, since it may get another address
in between. Instead, every socket is made with the very address that it will connect to, and that
address is judged. There is no other way to a socket.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from memory_core import __version__
from memory_core.ports import Posted

if TYPE_CHECKING:
    import aiohttp


MAX_HEADER_BYTES = 8 * 1024
NOT_PUBLIC = "it has no public address, so it is not called"
"""The message for every address that is not called.

It is also used for a name without an address. A caller must not learn here how names resolve in the
service's network.
"""


class AddressRefused(OSError):
    """Raised for a socket to an address that is not allowed."""


class WebCourier:
    """The `Courier` port.

    `allow` has addresses, networks and host names that may be called although they are not public.
    """

    def __init__(self, allow: Iterable[str] = (), *, timeout_s: float = 10.0) -> None:
        self._allowed = Allowed.of(allow)
        self._timeout_s = timeout_s

    def refusal(self, url: str) -> str | None:
        """The reason for a refusal that is known before the call.

        It covers hosts written as addresses, `localhost`, which is this machine, and texts that are
        no host.
        """
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port
        except ValueError:
            return "the address can't be called"
        return "nobody listens at port 0" if port == 0 else self._refusal_of(host)

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Posted:
        """Connect, send, and read the answer's status and headers, without its body.

        A name that resolves into the service's network fails like a name that does not exist, and
        is tried again in the same way.
        """
        import aiohttp
        from yarl import URL

        refused: list[Address] = []
        try:
            target = URL(url)
            refusal = self.refusal(url) or self._refusal_of(target.host or "")
            if refusal is not None:
                return Posted(None, refusal, refused=True)
            async with (
                asyncio.timeout(self._timeout_s),
                self._session(target.host or "", refused) as session,
            ):
                given = {"User-Agent": f"memory-core/{__version__}", **headers}
                response = await session.post(
                    target, data=body, headers=given, allow_redirects=False
                )
                response.close()
                return Posted(response.status)
        except TimeoutError:
            return Posted(None, f"there was no answer within {self._timeout_s:g} s")
        except (aiohttp.ClientError, OSError, ValueError) as error:
            if refused:
                return Posted(None, NOT_PUBLIC)
            return Posted(None, fault_text(error))

    async def close(self) -> None:
        """Do not close: no connection is kept between two calls."""

    def _refusal_of(self, host: str) -> str | None:
        address = (
            ipaddress.IPv4Address("127.0.0.1")
            if plain(host).endswith("localhost")
            else literal(host)
        )
        if ("%" in host and ":" not in host) or (address is None and not may_be_name(host)):
            return "it names no host that can be called"
        if address is None or self._allowed.host(host) or self._allowed.address(address):
            return None
        return NOT_PUBLIC

    def _session(self, host: str, refused: list[Address]) -> aiohttp.ClientSession:
        """A client for a single request, without a proxy of the environment.

        No connection, name or cookie outlives it. `host` is the host as the client itself has read
        it. Addresses that were not allowed are added to `refused`.
        """
        import aiohttp

        any_address = self._allowed.host(host)

        def guarded(info: Any) -> socket.socket:
            family, kind, protocol, _, sockaddr = info
            address = unwrapped(ipaddress.ip_address(str(sockaddr[0]).partition("%")[0]))
            if not any_address and not self._allowed.address(address):
                refused.append(address)
                raise AddressRefused(NOT_PUBLIC)
            return socket.socket(family=family, type=kind, proto=protocol)

        connector = aiohttp.TCPConnector(
            force_close=True, use_dns_cache=False, socket_factory=guarded
        )
        return aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            max_line_size=MAX_HEADER_BYTES,
            max_field_size=MAX_HEADER_BYTES,
        )


def fault_text(error: Exception) -> str:
    """The fault on the way to the receiver, without any text from the receiver.

    Its reader must not use this service to look at other hosts.
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


# The addresses that a webhook may call: public addresses, and those that the operator allows.
#
# Note: a check for private addresses is not enough. Forbidden addresses have many more forms:
# loopback within an IPv6 address, shared and reserved ranges, tunnels, and public-looking addresses
# of the platform itself.


Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# IANA's special-purpose registries, written out: `is_global` of Python's own module has changed its
# mind between 3.11 and 3.13.
_NOT_PUBLIC_4 = tuple(
    ipaddress.IPv4Network(network)
    for network in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
        "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16",
        "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
        # looks public and is not: where Azure's machines find DNS, DHCP and the wire server
        "168.63.129.16/32",
    )
)  # fmt: skip
_UNICAST_6 = ipaddress.IPv6Network("2000::/3")
"""All addresses that hosts on the internet have (RFC 4291).

Loopback, unique local (fd00:ec2::254), link-local, multicast and NAT64 are outside.
"""
_NOT_PUBLIC_6 = tuple(
    ipaddress.IPv6Network(network)
    for network in (
        "2001::/23",  # protocols' own, with Teredo, which hides an IPv4 address
        "2001:db8::/32", "3fff::/20",  # for documentation
        "2002::/16",  # 6to4, which hides one too
    )
)  # fmt: skip
_NUMERIC = re.compile(r"[0-9a-fx.]+", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_NEVER_IN_A_NAME = re.compile(r"[\x00-\x20\x7f%<>\\^`{|}\"/?#@:\[\]]")
MAX_LABEL = 63
"""The most characters between two full stops of a name (RFC 1035)."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """Addresses that the operator allows besides public addresses.

    Attributes:
        hosts: Host names, allowed at any address that they resolve to.
        networks: Networks, allowed under any name.

    """

    hosts: frozenset[str] = frozenset()
    networks: tuple[Network, ...] = ()

    @classmethod
    def of(cls, entries: Iterable[str]) -> Allowed:
        """The allowed addresses, networks ("10.1.0.0/16") and host names of a list."""
        hosts, networks = set(), []
        for entry in entries:
            try:
                networks.append(ipaddress.ip_network(entry, strict=False))
            except ValueError:
                hosts.add(plain(entry))
        return cls(frozenset(hosts), tuple(networks))

    def host(self, name: str) -> bool:
        """Whether this name may be called at any address."""
        return plain(name) in self.hosts

    def address(self, address: Address) -> bool:
        """Whether this address may be called under any name."""
        return any(address in network for network in self.networks) or is_public(address)


def is_public(address: Address) -> bool:
    """Whether an address is public, and not of the service's network or its platform."""
    if isinstance(address, ipaddress.IPv6Address):
        return address in _UNICAST_6 and not any(address in network for network in _NOT_PUBLIC_6)
    return not any(address in network for network in _NOT_PUBLIC_4)


def unwrapped(address: Address) -> Address:
    """The IPv4 address within an IPv6 address ("::ffff:10.0.0.1").

    For any other address it is the address itself, without its zone.
    """
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped
        return ipaddress.IPv6Address(int(address))
    return address


def literal(host: str) -> Address | None:
    """The address that a host is written as; None for a name.

    Resolvers also read "2130706433", "0x7f.1" and "0177.0.0.1" as an address. So do clients with a
    full stop at its end, and with the digits and full stops of other alphabets that are folded in
    names.
    """
    host = plain(host)
    try:
        return unwrapped(ipaddress.ip_address(host))
    except ValueError:
        pass
    if not _NUMERIC.fullmatch(host):
        return None
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except OSError:
        return None


def may_be_name(host: str) -> bool:
    """Whether a host can be a name at all.

    A host that ends in a number is no name: it is an address or invalid (WHATWG URL, "host
    parsing").
    """
    labels = plain(host).split(".")
    if _NEVER_IN_A_NAME.search(host) or any(
        unicodedata.category(character) in ("Cf", "Cc") for character in host
    ):
        return False
    return (
        host.count("..") == 0
        and all(0 < len(label) <= MAX_LABEL for label in labels)
        and not _NUMBER.fullmatch(labels[-1])
    )


def plain(host: str) -> str:
    """A host in the form in which names are compared.

    Compatible letters, digits and full stops are folded. Case and the full stops at its end are
    removed.
    """
    return unicodedata.normalize("NFKC", host).replace("\u3002", ".").lower().rstrip(".")

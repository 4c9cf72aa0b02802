"""Where a request was sent to and from which web page: what a browser can't be made to lie about.

Without keys these two alone keep web pages out: a page can make a browser send requests here, but neither call this address by
another name than its own, nor hide that the page is of another origin.
"""

from __future__ import annotations

import functools
import ipaddress
import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from memory_core.domain.errors import FieldError, Forbidden, Malformed

_HOST = re.compile(r"(?:\[(?P<v6>[0-9A-Fa-f:.]{2,45})\]|[A-Za-z0-9._~-]{1,253})(?::(?P<port>[0-9]{1,5})?)?")
_HIGHEST_PORT = 65_535
_READING = frozenset({"GET", "HEAD", "OPTIONS"})


def check_host(headers: Mapping[str, str]) -> None:
    """Raises Malformed where `Host` is there and is no name or address with a port.

    A URL is made of it: a query in it would stand before the request's own.
    """
    host = headers.get("host")
    if host is not None and not _is_address(host):
        raise Malformed("Host: is not an address", errors=(FieldError("Host", "is not an address"),))


def check_local(method: str, host: str, headers: Mapping[str, str]) -> None:
    """Raises Forbidden unless `host` is loopback and, for a method that may change something, no page of another origin asks.

    Args:
        method: The request's method, in upper case.
        host: Name or address, with or without a port, that the request was sent to.
        headers: By name in lower case. Clients that are no browsers send neither `Sec-Fetch-Site` nor `Origin`.

    """
    if not _is_local(host):
        raise Forbidden("MEMORY_AUTH=off answers only requests to a loopback address, such as http://127.0.0.1")
    if method in _READING:
        return
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    # The first is the better one: behind a proxy that calls this host by another name, the second names the page's own.
    allowed = site in ("same-origin", "none") if site is not None else origin is None or origin.partition("://")[2] == host
    if not allowed:
        raise Forbidden("MEMORY_AUTH=off answers no writing request of a web page of another origin")


@functools.lru_cache(maxsize=128)
def _is_address(host: str) -> bool:
    match = _HOST.fullmatch(host)
    if match is None or int(match["port"] or 0) > _HIGHEST_PORT:
        return False
    try:
        return match["v6"] is None or bool(ipaddress.IPv6Address(match["v6"]))
    except ValueError:
        return False


@functools.lru_cache(maxsize=128)
def _is_local(host: str) -> bool:
    return is_loopback(urlsplit(f"//{host}").hostname or "")


@functools.lru_cache(maxsize=128)
def is_loopback(host: str) -> bool:
    """Whether a host name or address can be reached from this machine only."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False

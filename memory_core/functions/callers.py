"""Callers with API keys, and the web pages that requests come from.

Keys are those of the settings (`MEMORY_API_KEYS`) and those that admins make
(`memory_core.access`). Of both only hashes are stored. The app is part of the key and of the hashed
text, so no header, field or path can name another app. SHA-256 without salt or stretching is enough
for the keys of the settings, because secrets are random and not chosen by people.
"""

from __future__ import annotations

import functools
import hashlib
import hmac
import ipaddress
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from memory_core.domain.errors import FieldError, Forbidden, Malformed, Unauthenticated

if TYPE_CHECKING:
    from memory_core.config import Settings
    from memory_core.core import MemoryCore
    from memory_core.setting_types import ApiKey


Right = Literal["read", "write", "admin"]
LOCAL_APP = "local"
# The app may hold underscores; the key's id and its secret may not, so the last two
# underscores part them.
_KEY = re.compile(
    r"mc_([A-Za-z0-9][A-Za-z0-9._-]{0,63})_([A-Za-z0-9]{1,64})_([A-Za-z0-9-]{16,256})"
)
READINESS_LIFE_S = 300
_NO_KEY = hashlib.sha256(b"").digest()


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller that passed the gate.

    Attributes:
        app_id: The app that the key or token belongs to.
        key_id: The key, or the client of a token.
        rights: The granted rights.
        user_id: The only user that this caller may name; None for any user of the app.
        credential: Kind of the credential, for the texts of refusals.

    """

    app_id: str
    key_id: str
    rights: frozenset[Right]
    user_id: str | None = None
    credential: Literal["key", "token"] = "key"
    """Kind of the caller's credential, for the texts of refusals."""

    @property
    def is_admin(self) -> bool:
        """Whether all calls are allowed."""
        return "admin" in self.rights

    def may(self, right: Right) -> bool:
        """Whether the key has this right; `admin` includes all rights."""
        return right in self.rights or self.is_admin

    def require(self, right: Right) -> None:
        """Raise Forbidden without this right."""
        if not self.may(right):
            raise Forbidden(f"This {self.credential} does not have the right `{right}`")

    def require_any_user(self) -> None:
        """Raise Forbidden for a caller that is bound to a single user."""
        if self.user_id is not None:
            raise Forbidden(
                f"This {self.credential} is bound to one user and this call is about the whole app"
            )


LOCAL_CALLER = Caller(LOCAL_APP, LOCAL_APP, frozenset({"admin"}))


class Keyring:
    """The keys of the settings."""

    def __init__(self, keys: Iterable[ApiKey]) -> None:
        self._known: dict[tuple[str, str], tuple[bytes, Caller]] = {
            (key.app, key.id): (
                bytes.fromhex(key.sha256),
                Caller(key.app, key.id, key.rights, key.user),
            )
            for key in keys
        }

    def has(self, key: PresentedKey) -> bool:
        """Whether there is a key of this name, even if its secret is another."""
        return key.name in self._known

    def caller(self, key: PresentedKey) -> Caller:
        """The caller whom a key belongs to. Raises Unauthenticated."""
        # A key that is not known costs the same hash and the same comparison as one that is.
        digest, caller = self._known.get(key.name, (_NO_KEY, None))
        if (
            not hmac.compare_digest(hashlib.sha256(key.text.encode()).digest(), digest)
            or caller is None
        ):
            raise _unknown_key()
        return caller


@dataclass(frozen=True, slots=True)
class PresentedKey:
    """The key of a request, in `X-API-Key` or `Authorization: Bearer`.

    Attributes:
        name: App and id of the key; empty for a text that is no key.

    """

    text: str
    name: tuple[str, str]
    is_token: bool = False
    """Whether it may be a token of Entra ID.

    That is a bearer token that is not written as a key.
    """

    @classmethod
    def of(cls, headers: Mapping[str, str]) -> PresentedKey:
        """Read the key in the headers. Raises Unauthenticated for no key or two different keys."""
        text = _presented(headers)
        parts = _KEY.fullmatch(text)
        is_token = not text.startswith("mc_") and not headers.get("x-api-key")
        return cls(text, (parts[1], parts[2]) if parts else ("", ""), is_token)


async def stored_caller(core: MemoryCore, presented: PresentedKey) -> Caller:
    """Return the caller that a stored key belongs to, which an admin made.

    Args:
        core: Finds the key.
        presented: The key of the request.

    Raises:
        Unauthenticated: The key is unknown, withdrawn or expired.
        Unavailable: The key is not cached, and the store is down.

    """
    if not presented.name[0]:
        raise _unknown_key()
    key = await core.find_key(*presented.name)
    if key is None or not key.fits(presented.text):
        raise _unknown_key()
    status = key.status(core.clock.now())
    if status != "active":
        raise Unauthenticated(
            f"This API key {'was withdrawn' if status == 'withdrawn' else 'has expired'}"
        )
    core.note_key_use(key)
    return Caller(key.app_id, key.key_id, frozenset(key.rights), key.user_id)


def _unknown_key() -> Unauthenticated:
    """Error for a key that is neither in the settings nor in the store."""
    return Unauthenticated("The API key is not known")


def _presented(headers: Mapping[str, str]) -> str:
    key = headers.get("x-api-key")
    scheme, _, token = headers.get("authorization", "").partition(" ")
    bearer = token.strip() if scheme.lower() == "bearer" else None
    if key and bearer and key != bearer:
        raise Unauthenticated("X-API-Key and Authorization carry two different keys")
    given = key or bearer
    if not given:
        raise Unauthenticated(
            "An API key is needed, as `X-API-Key: mc_…` or as `Authorization: Bearer mc_…`"
        )
    return given


# The address that a request was sent to, and the web page that sent it; a page can't forge either.
#
# Without keys these two alone keep web pages out. A page can make a browser send requests here. But
# it can't use another name for this address, and can't hide its origin.


_HOST = re.compile(
    r"(?:\[(?P<v6>[0-9A-Fa-f:.]{2,45})\]|[A-Za-z0-9._~-]{1,253})(?::(?P<port>[0-9]{1,5})?)?"
)
_HIGHEST_PORT = 65_535
_READING = frozenset({"GET", "HEAD", "OPTIONS"})


def check_host(headers: Mapping[str, str]) -> None:
    """Raise Malformed if `Host` is present and is no address with a port.

    The URL is built from it: a query in it would come before the request's own.
    """
    host = headers.get("host")
    if host is not None and not _is_address(host):
        raise Malformed(
            "Host: is not an address", errors=(FieldError("Host", "is not an address"),)
        )


def check_local(method: str, host: str, headers: Mapping[str, str]) -> None:
    """Raise Forbidden unless a request comes from this machine.

    `host` must be loopback. A method that may change data must not come from a page of another
    origin.

    Args:
        method: The request's method, in upper case.
        host: Name or address, with or without a port, that the request was sent to.
        headers: By name in lower case. Clients that are no browsers send neither `Sec-Fetch-Site`
            nor `Origin`.

    """
    if not _is_local(host):
        raise Forbidden(
            "MEMORY_AUTH=off answers only requests to a loopback address, such as http://127.0.0.1"
        )
    if method in _READING:
        return
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    # The first is the better one: behind a proxy that calls this host by another name,
    # the second names the page's own.
    allowed = (
        site in ("same-origin", "none")
        if site is not None
        else origin is None or origin.partition("://")[2] == host
    )
    if not allowed:
        raise Forbidden(
            "MEMORY_AUTH=off answers no writing request of a web page of another origin"
        )


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


def missing_keys(settings: Settings) -> str | None:
    """What to tell where the settings have neither a key nor Entra ID; else None."""
    is_open = settings.auth == "off" and is_loopback(settings.host)
    if is_open or settings.api_keys or settings.entra_tenant_id is not None:
        return None
    return "MEMORY_API_KEYS has no key: only keys that an admin made before are let in"


# A deployment asks for full readiness with a signature, since it has no API key.


def readiness_signature(secret: bytes, seconds: int) -> str:
    """Sign a time, as a deployment does for the header `X-Readiness`.

    `infra/scripts/ready.py` makes the same signature.

    Args:
        secret: The secret that cursors are signed with.
        seconds: The time in seconds since 1970.

    """
    return f"{seconds}.{hmac.new(secret, f'memory-core readiness {seconds}'.encode(), hashlib.sha256).hexdigest()}"  # noqa: E501


def is_readiness_signature(secret: bytes, given: str, now_s: float) -> bool:
    """Check a signature that was made within the last five minutes.

    The clock of the deployment may differ by as much.

    Args:
        secret: The secret that cursors are signed with.
        given: The signature of the request.
        now_s: The time in seconds since 1970.

    """
    seconds = given.partition(".")[0]
    if (
        not (seconds.isascii() and seconds.isdigit() and len(seconds) <= 11)
        or abs(now_s - int(seconds)) > READINESS_LIFE_S
    ):
        return False
    return hmac.compare_digest(
        given.encode("utf-8", "replace"), readiness_signature(secret, int(seconds)).encode()
    )

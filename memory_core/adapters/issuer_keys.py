"""Public keys of a token issuer, fetched from its metadata and cached.

Every fetch is limited: a single fetch at a time for all requests, at most a fetch per minute, of a
few seconds and of limited size, without redirects and from the configured origin only.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import orjson

from memory_core import __version__
from memory_core.domain.errors import Unavailable
from memory_core.ports import Clock

log = logging.getLogger(__name__)
LIFETIME = timedelta(hours=24)
PAUSE = timedelta(minutes=1)
"""Time between two fetches.

So tokens with made-up key ids cannot make this process call the issuer again and again.
"""
PAUSE_WITHOUT_KEYS = timedelta(seconds=5)
TIMEOUT_S = 5.0
MAX_BYTES = 512 * 1024
"""Largest document that is read. Entra ID's key sets have some 20 KB."""


class IssuerKeys:
    """The `SigningKeys` port over the OpenID Connect metadata of an issuer."""

    def __init__(self, issuer: str, clock: Clock, *, timeout_s: float = TIMEOUT_S) -> None:
        """Make the object without a fetch.

        Args:
            issuer: URL of the issuer, to which `/.well-known/openid-configuration` is appended.
            clock: The present time.
            timeout_s: The longest duration of a whole fetch in seconds.

        """
        self._issuer = issuer
        self._clock = clock
        self._timeout_s = timeout_s
        self._keys: dict[str, Mapping[str, Any]] = {}
        self._fetched_at: datetime | None = None
        self._tried_at: datetime | None = None
        self._is_down = False
        self._fetch_task: asyncio.Task[None] | None = None

    async def find(self, key_id: str) -> Mapping[str, Any] | None:
        """The public key of this id as a JWK; None for an unknown key.

        A key that was fetched before is used while the issuer is down, however old it is. Raises
        Unavailable for any other key then.
        """
        if key_id not in self._keys or not self._are_fresh():
            await self._refresh()
        key = self._keys.get(key_id)
        if key is None and self._is_down:
            raise Unavailable(
                "entra",
                "the keys of the token issuer can't be fetched at present",
                retry_after_s=self._pause().seconds,
            )
        return key

    async def close(self) -> None:
        """Stop a fetch that is under way."""
        task = self._fetch_task
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def _are_fresh(self) -> bool:
        return _is_within(LIFETIME, self._fetched_at, self._clock.now())

    def _pause(self) -> timedelta:
        return PAUSE if self._keys else PAUSE_WITHOUT_KEYS

    async def _refresh(self) -> None:
        """Fetch the keys, in a single fetch for all requests that wait for them.

        Within the pause after the last try, this returns at once.
        """
        if self._fetch_task is None:
            now = self._clock.now()
            if _is_within(self._pause(), self._tried_at, now):
                return
            self._tried_at = now
            self._fetch_task = asyncio.ensure_future(self._fetch())
        # a request that is given up must not end the fetch of the others
        await asyncio.shield(self._fetch_task)

    async def _fetch(self) -> None:
        import aiohttp

        try:
            async with asyncio.timeout(self._timeout_s):
                self._keys = await self._fetch_keys()
            self._fetched_at, self._is_down = self._clock.now(), False
        except (aiohttp.ClientError, OSError, ValueError) as error:  # TimeoutError is an OSError
            self._is_down = True
            log.warning(
                "The keys of the token issuer could not be fetched: %s", type(error).__name__
            )
        finally:
            self._fetch_task = None

    async def _fetch_keys(self) -> dict[str, Mapping[str, Any]]:
        """All signing keys by id.

        Raises ValueError for documents that are not those of this issuer.
        """
        import aiohttp

        agent = {"User-Agent": f"memory-core/{__version__}", "Accept-Encoding": "identity"}
        async with aiohttp.ClientSession(
            headers=agent, auto_decompress=False, cookie_jar=aiohttp.DummyCookieJar()
        ) as session:
            metadata = await _read_object(
                session, f"{self._issuer}/.well-known/openid-configuration"
            )
            address = metadata.get("jwks_uri")
            if (
                metadata.get("issuer") != self._issuer
                or not isinstance(address, str)
                or _origin(address) != _origin(self._issuer)
            ):
                raise ValueError("the metadata are those of another issuer")
            keys = signing_keys(await _read_object(session, address))
        if not keys:
            raise ValueError("there is no key in the key set")
        return keys


def signing_keys(key_set: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The RSA keys of a key set that may verify RS256, by id.

    The key set is a JSON Web Key Set (RFC 7517). All other keys are left out.
    """
    keys = key_set.get("keys")
    return {
        key["kid"]: key
        for key in (keys if isinstance(keys, list) else [])
        if isinstance(key, dict)
        and isinstance(key.get("kid"), str)
        and key.get("kty") == "RSA"
        and key.get("use", "sig") == "sig"
        and key.get("alg", "RS256") == "RS256"
    }


async def _read_object(session: Any, url: str) -> dict[str, Any]:
    """The JSON object at a URL. Raises ValueError for any other answer."""
    async with session.get(url, allow_redirects=False) as response:
        if response.status != 200:
            raise ValueError("the answer is not a document")
        content = bytearray()
        async for part in response.content.iter_any():
            content += part
            if len(content) > MAX_BYTES:
                raise ValueError("the document is too long")
    document = orjson.loads(content)
    if not isinstance(document, dict):
        raise ValueError("the document is not an object")
    return document


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port


def _is_within(span: timedelta, since: datetime | None, now: datetime) -> bool:
    """Whether less than `span` has passed. After a clock was set back, it has passed."""
    return since is not None and timedelta(0) <= now - since < span

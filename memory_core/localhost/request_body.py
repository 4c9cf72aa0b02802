"""The body of one request: read whole within its limits, or discarded so that its sender reads the answer.

Most clients send all of a body before they read. One that is answered and cut off in the middle sees a reset connection, and no answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

from memory_core.domain.errors import TooSlow
from memory_core.functions.body import too_large

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
DISCARD_BYTES = 16 * 2**20
DISCARD_S = 10.0


class Disconnected(Exception):
    """The client went away before it had sent its whole body."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How large a body may be, and how long it may take to arrive."""

    body_bytes: int
    arrival_s: float


class RequestBody:
    """What ASGI's `receive` brings. complete: whether all of it has arrived."""

    def __init__(self, headers: Mapping[str, str], receive: Receive, limits: Limits) -> None:
        declared = headers.get("content-length", "")
        self._declared = int(declared) if declared.isdigit() else 0
        self._expected = self._declared > 0 or "transfer-encoding" in headers
        self._discardable = headers.get("expect", "").lower() != "100-continue" and self._declared <= DISCARD_BYTES
        self._receive = receive
        self._limits = limits
        self.complete = False

    async def read(self) -> bytes:
        """The whole body.

        Raises:
            TooLarge: It is over its limit; known before it is held in memory.
            TooSlow: It did not arrive in time.
            Disconnected: The client went away.

        """
        if self._declared > self._limits.body_bytes:
            raise too_large(self._limits.body_bytes)
        if not self._expected:
            return await self._chunk()  # the head says that there is none, so nothing has to be waited for
        try:
            async with asyncio.timeout(self._limits.arrival_s):
                return await self._whole()
        except TimeoutError:
            self._discardable = False
            raise TooSlow(f"The body did not arrive within {self._limits.arrival_s:g} s") from None

    async def discard(self) -> None:
        """Receive what is left without keeping it, up to DISCARD_BYTES and DISCARD_S. Raises Disconnected.

        Nothing of a body that is late or declared to be longer, nor of one whose sender waits to be told to send it.
        """
        if not self._discardable:
            return
        size = 0
        try:
            async with asyncio.timeout(DISCARD_S):
                while not self.complete and size <= DISCARD_BYTES:
                    size += len(await self._chunk())
        except TimeoutError:
            return

    async def _whole(self) -> bytes:
        chunks: list[bytes] = []
        size = 0
        while not self.complete:
            chunks.append(await self._chunk())
            size += len(chunks[-1])
            if size > self._limits.body_bytes:
                raise too_large(self._limits.body_bytes)
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    async def _chunk(self) -> bytes:
        message = await self._receive()
        if message["type"] == "http.disconnect":
            raise Disconnected
        self.complete = not message.get("more_body", False)
        chunk: bytes = message.get("body", b"")
        return chunk

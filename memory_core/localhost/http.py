"""HTTP of the development host.

Like Azure's host it passes on whole bodies. Unlike it, it stops reading a body that is over the
limit.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any, Protocol

from azure.functions import HttpRequest, HttpResponse

from memory_core.domain.errors import (
    FieldError,
    Malformed,
    MemoryCoreError,
    NotFound,
    TooSlow,
    Unavailable,
)
from memory_core.functions.callers import check_host, check_local
from memory_core.functions.gate import correlation_id
from memory_core.functions.request_body import too_large
from memory_core.functions.responses import problem_response
from memory_core.localhost.routing import Router

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
log = logging.getLogger(__name__)


class Admin(Protocol):
    """Answers requests under /admin/functions/."""

    async def fire(self, name: str, request: HttpRequest) -> HttpResponse:
        """Run a function that is not triggered by HTTP, now.

        Args:
            name: Name of the function.
            request: The request, for its key.

        """


class Application:
    """The functions of an app behind ASGI."""

    def __init__(self, router: Router, admin: Admin, limits: Limits, *, local_only: bool) -> None:
        """Build the application.

        local_only: Refuse all requests to a foreign Host, and writes of foreign web pages.
        """
        self._router = router
        self._admin = admin
        self._limits = limits
        self._local_only = local_only

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer an HTTP request."""
        if scope["type"] != "http":
            raise RuntimeError(f"this host speaks HTTP only, not {scope['type']}")
        headers = _headers(scope["headers"])
        body = RequestBody(headers, receive, self._limits)
        try:
            try:
                response = await self._answer(scope, headers, body)
            except MemoryCoreError as error:
                response = problem_response(
                    error, scope["raw_path"].decode("latin-1"), correlation_id(headers)
                )
                await body.discard()
            except asyncio.CancelledError:  # the server has waited long enough; it would answer 500
                stopped = Unavailable(
                    "host", "it stops; what this request asked for may have been done or not"
                )
                response = problem_response(
                    stopped, scope["raw_path"].decode("latin-1"), correlation_id(headers)
                )
        except Disconnected:
            return
        await _send(response, send, close=not body.complete)

    async def _answer(
        self, scope: Scope, headers: dict[str, str], request_body: RequestBody
    ) -> HttpResponse:
        method, raw_path = scope["method"], scope["raw_path"]
        _check_host(scope, headers)
        host = headers.get("host", "localhost")
        if self._local_only:
            check_local(method, host, headers)
        try:
            match = self._router.match(method, raw_path)
        except UnicodeDecodeError:
            raise Malformed(
                "The path is not UTF-8", errors=(FieldError("path", "is not UTF-8"),)
            ) from None
        body = await request_body.read()
        query = scope["query_string"]
        address = (
            host + raw_path.decode("latin-1") + ("?" + query.decode("latin-1") if query else "")
        )
        request = HttpRequest(
            method,
            f"{scope['scheme']}://{address}",
            headers=headers,
            route_params=match and match.parameters,
            body=body,
        )
        path = raw_path.decode("latin-1")
        # before the functions, as Azure's host has it
        if method == "POST" and path.startswith("/admin/functions/"):
            return await self._admin.fire(path.removeprefix("/admin/functions/"), request)
        if match is not None:
            answer = await match.route.call(request)
            if not isinstance(answer, HttpResponse):
                log.error(
                    "%s returned a %s instead of an HttpResponse",
                    match.route.function,
                    type(answer).__name__,
                )
                raise MemoryCoreError("Something failed here; the log tells what")
            return answer
        raise NotFound("No call has this path and method")


def _headers(pairs: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers by name in lower case.

    Repeated headers are joined by commas, as Azure's host does.
    """
    headers: dict[str, str] = {}
    for raw_name, raw_value in pairs:
        name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]},{value}" if name in headers else value
    return headers


def _check_host(scope: Scope, headers: dict[str, str]) -> None:
    """Raise Malformed for a Host that is no address.

    A missing Host is refused where HTTP/1.1 (RFC 9112, section 3.2) requires it.
    """
    if "host" not in headers and scope["http_version"] == "1.1":
        raise Malformed("Host: is missing", errors=(FieldError("Host", "is missing"),))
    check_host(headers)


async def _send(response: HttpResponse, send: Send, *, close: bool) -> None:
    body = response.get_body()
    headers = [
        (name.lower().encode("latin-1"), value.encode("latin-1"))
        for name, value in response.headers.items()
    ]
    if all(name != b"content-type" for name, _ in headers):
        # The same rule as in the SDK's own converter.
        kind = (
            f"{response.mimetype}; charset={response.charset}"
            if response.mimetype.startswith("text/")
            else response.mimetype
        )
        headers.append((b"content-type", kind.encode("latin-1")))
    headers.append((b"content-length", str(len(body)).encode("ascii")))
    if close:
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": body})


# The body of a request: read within its limits, or discarded so that the sender reads the answer.
#
# Most clients send the whole body before they read. If the connection were closed in the middle,
# they would see a reset and no answer.


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
    """The body of a request, as ASGI's `receive` returns it.

    Attributes:
        complete: Whether all of it has arrived.

    """

    def __init__(self, headers: Mapping[str, str], receive: Receive, limits: Limits) -> None:
        declared = headers.get("content-length", "")
        self._declared = int(declared) if declared.isdigit() else 0
        self._expected = self._declared > 0 or "transfer-encoding" in headers
        self._discardable = (
            headers.get("expect", "").lower() != "100-continue" and self._declared <= DISCARD_BYTES
        )
        self._receive = receive
        self._limits = limits
        self.complete = False

    async def read(self) -> bytes:
        """Read the whole body.

        Raises:
            TooLarge: It is over its limit, which is checked before it is held in memory.
            TooSlow: It did not arrive in time.
            Disconnected: The client went away.

        """
        if self._declared > self._limits.body_bytes:
            raise too_large(self._limits.body_bytes)
        if not self._expected:
            # the head says that there is none, so nothing has to be waited for
            return await self._chunk()
        try:
            async with asyncio.timeout(self._limits.arrival_s):
                return await self._whole()
        except TimeoutError:
            self._discardable = False
            raise TooSlow(f"The body did not arrive within {self._limits.arrival_s:g} s") from None

    async def discard(self) -> None:
        """Receive the rest of the body without keeping it, up to DISCARD_BYTES and DISCARD_S.

        No bytes are received of a body that is late or declared to be longer, or whose sender waits
        for permission to send it. Raises Disconnected.
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

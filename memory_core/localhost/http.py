"""HTTP of the development host.

Like Azure's host it hands over whole bodies; unlike it, it stops reading a body that is
over the limit.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol
from urllib.parse import unquote

from azure.functions import HttpRequest, HttpResponse
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from memory_core.domain.errors import (
    AddressTooLong,
    FieldError,
    HeadTooLarge,
    Malformed,
    MemoryCoreError,
    NotFound,
    PlainError,
    TooSlow,
    Unavailable,
)
from memory_core.functions.callers import check_host, check_local
from memory_core.functions.gate import correlation_id
from memory_core.functions.request_parsing import too_large
from memory_core.functions.responses import problem_response

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
log = logging.getLogger(__name__)


class Admin(Protocol):
    """What answers under /admin/functions/."""

    async def fire(self, name: str, request: HttpRequest) -> HttpResponse:
        """Run a function that is not triggered by HTTP, now."""


class Application:
    """One app's functions behind ASGI."""

    def __init__(self, router: Router, admin: Admin, limits: Limits, *, local_only: bool) -> None:
        """local_only: refuse requests to a foreign Host and writes of foreign web pages,
        whatever they ask for.
        """
        self._router = router
        self._admin = admin
        self._limits = limits
        self._local_only = local_only

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
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
    """Names in lower case; a header that came twice is joined by commas, as Azure's host does."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in pairs:
        name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]},{value}" if name in headers else value
    return headers


def _check_host(scope: Scope, headers: dict[str, str]) -> None:
    """Raises Malformed for a Host that is no address, and for none where HTTP/1.1 (RFC 9112,
    section 3.2) asks for it.
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


# From a request's method and path to the function that answers it, as Azure's host does it.
#
# Literal parts match without regard to case, one slash at the end is ignored, a wrong method is no
# route at all (404). Where a literal and a parameter both fit, the literal wins here, and a route
# for whatever is left (`{*path}`) comes last. Azure's host takes the function whose name sorts
# first; a test makes sure that this is the same one.


_PARAMETER = re.compile(r"{(\w+)}")
_CATCH_ALL = re.compile(r"{\*(\w+)}")
_LITERAL = re.compile(r"[^{}*?]+")
_ENCODED_SLASH = re.compile(r"(%2[fF])")


@dataclass(frozen=True, slots=True)
class Route:
    """One method of one function. parts: the template's segments; a parameter is its name,
    a literal is in lower case.

    catch_all: the name of the parameter that takes a whole path; such a route has no parts.
    """

    function: str
    method: str
    parts: tuple[tuple[str, bool], ...]
    call: Callable[..., Any]
    catch_all: str | None = None

    @classmethod
    def parse(cls, function: str, method: str, template: str, call: Callable[..., Any]) -> Route:
        """Read a template such as `api/v1/memories/{memory_id}`. Raises ValueError for forms that
        this host does not know.
        """
        if whole := _CATCH_ALL.fullmatch(template.strip("/")):
            return cls(function, method.upper(), (), call, whole[1])
        parts: list[tuple[str, bool]] = []
        for segment in template.strip("/").split("/") if template.strip("/") else []:
            if parameter := _PARAMETER.fullmatch(segment):
                parts.append((parameter[1], True))
            elif _LITERAL.fullmatch(segment):
                parts.append((segment.lower(), False))
            else:
                raise PlainError(
                    f"{function}: the development host does not know the route segment {segment}"
                )
        return cls(function, method.upper(), tuple(parts), call)

    def fits(self, segments: list[str]) -> bool:
        """Whether a path of as many segments is one of this route's."""
        return all(
            segment != "" if parameter else segment.lower() == part
            for (part, parameter), segment in zip(self.parts, segments, strict=True)
        )


class RouteMatch(NamedTuple):
    """The route of a request and its parameters."""

    route: Route
    parameters: dict[str, str]


class Router:
    """All routes of an app."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self._by_shape: dict[tuple[str, int], list[Route]] = {}
        self._by_path: dict[tuple[str, bytes], Route] = {}
        self._otherwise: dict[str, Route] = {}
        # False sorts before True: literals come before parameters, from the left.
        for route in sorted(
            routes, key=lambda route: ([parameter for _, parameter in route.parts], route.function)
        ):
            if route.catch_all is not None:
                self._otherwise.setdefault(route.method, route)
                continue
            self._by_shape.setdefault((route.method, len(route.parts)), []).append(route)
            if not any(parameter for _, parameter in route.parts):
                path = "/" + "/".join(part for part, _ in route.parts)
                self._by_path.setdefault((route.method, path.encode()), route)

    def match(self, method: str, raw_path: bytes) -> RouteMatch | None:
        """The route for a path as it came over the wire; None when no function answers.

        Raises UnicodeDecodeError for a path that is not UTF-8 once decoded.
        """
        # As most clients write it: no decoding, no comparing, 0.015 ms less.
        if exact := self._by_path.get((method, raw_path)):
            return RouteMatch(exact, {})
        segments = [
            _decoded(segment)
            for segment in raw_path.decode("ascii", "surrogateescape").removeprefix("/").split("/")
        ]
        if segments[-1] == "":
            segments.pop()
        for route in self._by_shape.get((method, len(segments)), ()):
            if route.fits(segments):
                return RouteMatch(
                    route,
                    {
                        part: value
                        for (part, parameter), value in zip(route.parts, segments, strict=True)
                        if parameter
                    },
                )
        rest = self._otherwise.get(method)
        return (
            None if rest is None else RouteMatch(rest, {rest.catch_all or "": "/".join(segments)})
        )


def _decoded(segment: str) -> str:
    """Percent-decoded, but for an encoded slash, which Azure's host leaves as it is."""
    if "%" not in segment:
        return segment
    return "".join(
        part if _ENCODED_SLASH.fullmatch(part) else unquote(part, errors="strict")
        for part in _ENCODED_SLASH.split(segment)
    )


# The body of one request: read whole within its limits, or discarded so that its sender
# reads the answer.
#
# Most clients send all of a body before they read. One that is answered and cut off in the middle
# sees a reset connection, and no answer.


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
        self._discardable = (
            headers.get("expect", "").lower() != "100-continue" and self._declared <= DISCARD_BYTES
        )
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
            # the head says that there is none, so nothing has to be waited for
            return await self._chunk()
        try:
            async with asyncio.timeout(self._limits.arrival_s):
                return await self._whole()
        except TimeoutError:
            self._discardable = False
            raise TooSlow(f"The body did not arrive within {self._limits.arrival_s:g} s") from None

    async def discard(self) -> None:
        """Receive what is left without keeping it, up to DISCARD_BYTES and DISCARD_S.
        Raises Disconnected.

        Nothing of a body that is late or declared to be longer, nor of one whose sender waits to be
        told to send it.
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


# uvicorn's HTTP protocol with limits: how large a head may be, and how long a client may take to
# send it or to read an answer.
#
# Bodies are limited in `request_body`; a connection without a request is closed by uvicorn five
# seconds after its last answer.


ADDRESS_BYTES = 16 * 1024
HEAD_BYTES = 64 * 1024
HEADERS = 100
HEAD_S = 10.0
"""From the connection, or the first byte of a further request, to the end of the head."""
MESSAGE_BYTES = 32 * 2**20
"""Of a request as it comes over the wire. Applications read far less; what follows is read by
none of them.
"""
UNREAD_S = 60.0
"""How long a client may leave an answer unread that is waiting to be sent."""
LINGER_S = 2.0
"""For the client to read why it was refused, before the connection is closed."""


class RequestRefused(Exception):
    """The parser is to stop here; the protocol's `_refusal` says why."""


class LimitedProtocol(HttpToolsProtocol):
    """One connection."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.url = b""
        self._awaits_head = True
        self._received = 0  # bytes since the last request was complete
        self._completed = False
        self._refusal: MemoryCoreError | None = None
        self._refused = False
        self._head_timer: asyncio.TimerHandle | None = None
        self._unread_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first head."""
        super().connection_made(transport)
        self._head_timer = self.loop.call_later(HEAD_S, self._head_is_late)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting for anything."""
        self._stop_head_timer()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse, within the limits."""
        self._received += len(data)
        if self._refused:
            if self._received > MESSAGE_BYTES:
                self.transport.abort()
            return
        self._completed = False
        super().data_received(data)
        if self._completed or self._refused:
            return
        if not self._awaits_head:
            if self._received > MESSAGE_BYTES:
                self.transport.abort()
        elif self._received > HEAD_BYTES:
            self._refuse(HeadTooLarge(f"The head is over {HEAD_BYTES} bytes"))
        elif self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_S, self._head_is_late)

    def on_url(self, url: bytes) -> None:
        """A part of the address has come."""
        super().on_url(url)
        if len(self.url) > ADDRESS_BYTES:
            self._refusal = AddressTooLong(f"The address is over {ADDRESS_BYTES} bytes")
            raise RequestRefused

    def on_headers_complete(self) -> None:
        """The head is here; the application starts unless it is too large."""
        if len(self.headers) > HEADERS:
            self._refusal = HeadTooLarge(f"There are more than {HEADERS} headers")
            raise RequestRefused
        # What came so far holds the head, so only where that is more has the head to be measured.
        if (
            self._received > HEAD_BYTES
            and len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
            > HEAD_BYTES
        ):
            self._refusal = HeadTooLarge(f"The head is over {HEAD_BYTES} bytes")
            raise RequestRefused
        self._awaits_head = False
        self._stop_head_timer()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The whole request is here."""
        self._awaits_head, self._completed, self._received = True, True, 0
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer what could not be parsed, or was refused while it was."""
        self._refuse(self._refusal or Malformed("This is no HTTP request"))

    def pause_writing(self) -> None:
        """The client reads more slowly than it is sent to."""
        super().pause_writing()
        if self._unread_timer is None:
            self._unread_timer = self.loop.call_later(UNREAD_S, self.transport.abort)

    def resume_writing(self) -> None:
        """The client has read."""
        super().resume_writing()
        if self._unread_timer is not None:
            self._unread_timer.cancel()
            self._unread_timer = None

    def _head_is_late(self) -> None:
        self._head_timer = None
        if self.cycle is not None and not self.cycle.response_complete:
            return  # once it is, the connection is closed as an idle one
        if self._received:
            self._refuse(TooSlow(f"The head did not arrive within {HEAD_S:g} s"))
        else:
            self.transport.close()

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _refuse(self, error: MemoryCoreError) -> None:
        """Send the problem, then read and forget what comes until the client closes,
        for LINGER_S at most.

        Closed at once with something unread, the connection would be reset, and the client might
        never see the answer.
        """
        self._refused = True
        self._stop_head_timer()
        if self.cycle is not None and not self.cycle.response_complete:
            if self._awaits_head or self.pipeline or self.cycle.response_started:
                # an earlier request is still to be answered: this is no answer to it
                self.transport.close()
                return
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        path = self.url.partition(b"?")[0].decode("latin-1")
        answer = problem_response(error, path[:ADDRESS_BYTES], correlation_id({}))
        body = answer.get_body()
        lines = [f"{name}: {value}\r\n" for name, value in answer.headers.items()]
        lines += [
            f"content-type: {answer.mimetype}\r\n",
            f"content-length: {len(body)}\r\n",
            "connection: close\r\n\r\n",
        ]
        self.transport.write(STATUS_LINE[error.status] + "".join(lines).encode("latin-1") + body)
        self.transport.write_eof()
        self.flow.resume_reading()
        self.loop.call_later(LINGER_S, self.transport.close)

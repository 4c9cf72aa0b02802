"""The ASGI application: a request becomes an `azure.functions.HttpRequest`, the function's `HttpResponse` becomes the answer.

Like Azure's host it hands over whole bodies; unlike it, it stops reading a body that is over the limit.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Protocol
from urllib.parse import urlsplit

from azure.functions import HttpRequest, HttpResponse

from memory_core.domain.errors import FieldError, Malformed, MemoryCoreError, NotFound
from memory_core.functions.body import too_large
from memory_core.functions.gate import correlation_id
from memory_core.functions.problem import problem_response
from memory_core.localhost.routing import Router

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
log = logging.getLogger(__name__)


class Admin(Protocol):
    """What answers under /admin/functions/."""

    async def fire(self, name: str, request: HttpRequest) -> HttpResponse:
        """Run a function that is not triggered by HTTP, now."""


class Disconnected(Exception):
    """The client went away before it had sent its whole body."""


class Application:
    """One app's functions behind ASGI."""

    def __init__(self, router: Router, admin: Admin, body_limit_bytes: int) -> None:
        self._router = router
        self._admin = admin
        self._body_limit_bytes = body_limit_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        if scope["type"] != "http":
            raise RuntimeError(f"this host speaks HTTP only, not {scope['type']}")
        headers = _headers(scope["headers"])
        try:
            response = await self._answer(scope, headers, receive)
        except Disconnected:
            return
        except MemoryCoreError as error:
            response = problem_response(error, scope["raw_path"].decode("latin-1"), correlation_id(headers))
        await _send(response, send)

    async def _answer(self, scope: Scope, headers: dict[str, str], receive: Receive) -> HttpResponse:
        method, raw_path = scope["method"], scope["raw_path"]
        try:
            match = self._router.match(method, raw_path)
        except UnicodeDecodeError:
            raise Malformed("The path is not UTF-8", errors=(FieldError("path", "is not UTF-8"),)) from None
        host = _host(headers)
        body = await _read(headers, receive, self._body_limit_bytes)
        query = scope["query_string"]
        address = host + raw_path.decode("latin-1") + ("?" + query.decode("latin-1") if query else "")
        request = HttpRequest(method, f"{scope['scheme']}://{address}", headers=headers, route_params=match and match.parameters, body=body)
        if match is not None:
            answer = await match.route.call(request)
            if not isinstance(answer, HttpResponse):
                log.error("%s returned a %s instead of an HttpResponse", match.route.function, type(answer).__name__)
                raise MemoryCoreError("Something failed here; the log tells what")
            return answer
        path = raw_path.decode("latin-1")
        if method == "POST" and path.startswith("/admin/functions/"):
            return await self._admin.fire(path.removeprefix("/admin/functions/"), request)
        raise NotFound(f"No function answers {method} at this path")


def _headers(pairs: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """Names in lower case; a header that came twice is joined by commas, as Azure's host does."""
    found: dict[str, str] = {}
    for raw_name, raw_value in pairs:
        name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
        found[name] = f"{found[name]},{value}" if name in found else value
    return found


def _host(headers: dict[str, str]) -> str:
    """The address that the client called. Raises Malformed for one that no URL can hold, which no front end would let through."""
    host = headers.get("host", "localhost")
    try:
        _ = urlsplit(f"//{host}").port  # a port is read, and refused, when it is asked for
    except ValueError:
        raise Malformed("Host: is not an address", errors=(FieldError("Host", "is not an address"),)) from None
    return host


async def _read(headers: dict[str, str], receive: Receive, limit_bytes: int) -> bytes:
    """The whole body. Raises TooLarge as soon as it is known to be over the limit, before it is held in memory."""
    declared = headers.get("content-length", "")
    if declared.isdigit() and int(declared) > limit_bytes:
        raise too_large(limit_bytes)
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Disconnected
        chunk = message.get("body", b"")
        size += len(chunk)
        if size > limit_bytes:
            raise too_large(limit_bytes)
        chunks.append(chunk)
        if not message.get("more_body", False):
            return chunks[0] if len(chunks) == 1 else b"".join(chunks)


async def _send(response: HttpResponse, send: Send) -> None:
    body = response.get_body()
    headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in response.headers.items()]
    if all(name != b"content-type" for name, _ in headers):
        # The same rule as in the SDK's own converter.
        kind = f"{response.mimetype}; charset={response.charset}" if response.mimetype.startswith("text/") else response.mimetype
        headers.append((b"content-type", kind.encode("latin-1")))
    headers.append((b"content-length", str(len(body)).encode("ascii")))
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": body})

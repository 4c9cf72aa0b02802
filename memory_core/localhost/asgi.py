"""The ASGI application: a request becomes an `azure.functions.HttpRequest`, the function's `HttpResponse` becomes the answer.

Like Azure's host it hands over whole bodies; unlike it, it stops reading a body that is over the limit.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Protocol

from azure.functions import HttpRequest, HttpResponse

from memory_core.domain.errors import FieldError, Malformed, MemoryCoreError, NotFound
from memory_core.functions.gate import correlation_id
from memory_core.functions.origin import check_host, check_local
from memory_core.functions.problem import problem_response
from memory_core.localhost.request_body import Disconnected, Limits, Receive, RequestBody
from memory_core.localhost.routing import Router

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
        """local_only: refuse requests to a foreign Host and writes of foreign web pages, whatever they ask for."""
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
                response = problem_response(error, scope["raw_path"].decode("latin-1"), correlation_id(headers))
                await body.discard()
        except Disconnected:
            return
        await _send(response, send, close=not body.complete)

    async def _answer(self, scope: Scope, headers: dict[str, str], request_body: RequestBody) -> HttpResponse:
        method, raw_path = scope["method"], scope["raw_path"]
        _check_host(scope, headers)
        host = headers.get("host", "localhost")
        if self._local_only:
            check_local(method, host, headers)
        try:
            match = self._router.match(method, raw_path)
        except UnicodeDecodeError:
            raise Malformed("The path is not UTF-8", errors=(FieldError("path", "is not UTF-8"),)) from None
        body = await request_body.read()
        query = scope["query_string"]
        address = host + raw_path.decode("latin-1") + ("?" + query.decode("latin-1") if query else "")
        request = HttpRequest(method, f"{scope['scheme']}://{address}", headers=headers, route_params=match and match.parameters, body=body)
        path = raw_path.decode("latin-1")
        if method == "POST" and path.startswith("/admin/functions/"):  # before the functions, as Azure's host has it
            return await self._admin.fire(path.removeprefix("/admin/functions/"), request)
        if match is not None:
            answer = await match.route.call(request)
            if not isinstance(answer, HttpResponse):
                log.error("%s returned a %s instead of an HttpResponse", match.route.function, type(answer).__name__)
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
    """Raises Malformed for a Host that is no address, and for none where HTTP/1.1 (RFC 9112, section 3.2) asks for it."""
    if "host" not in headers and scope["http_version"] == "1.1":
        raise Malformed("Host: is missing", errors=(FieldError("Host", "is missing"),))
    check_host(headers)


async def _send(response: HttpResponse, send: Send, *, close: bool) -> None:
    body = response.get_body()
    headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in response.headers.items()]
    if all(name != b"content-type" for name, _ in headers):
        # The same rule as in the SDK's own converter.
        kind = f"{response.mimetype}; charset={response.charset}" if response.mimetype.startswith("text/") else response.mimetype
        headers.append((b"content-type", kind.encode("latin-1")))
    headers.append((b"content-length", str(len(body)).encode("ascii")))
    if close:
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": body})

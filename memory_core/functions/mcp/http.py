"""Streamable HTTP by the SDK's own transport, without sessions.

Each POST has a single JSON answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from dataclasses import replace
from typing import Any

import mcp_types as types
from azure.functions import HttpResponse
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from pydantic import ValidationError

from memory_core.domain.errors import FieldError, Malformed
from memory_core.functions.gate import Admitted
from memory_core.functions.mcp.callers import ToolCaller
from memory_core.functions.mcp.server import build_server
from memory_core.functions.request_body import read_object
from memory_core.functions.request_parsing import Nothing

Message = MutableMapping[str, Any]


async def answer(req: Admitted[Nothing]) -> HttpResponse:
    """Answer a message.

    Raises Malformed for a body that is no message. Raises Invalid for a body that is no JSON
    object, as everywhere.
    """
    limit = req.core.settings.body_limit_bytes
    # The SDK's reader takes names given twice and NaN, and repeats what it refuses.
    _check_message(read_object(req.content, req.headers.get("content-type"), limit))
    # a key of the request is not one of a call within it
    call = replace(req.call, idempotency_key=None, route="", body_hash="")
    server = build_server(ToolCaller(req.core, req.owner, req.caller, call))
    manager = StreamableHTTPSessionManager(
        server, json_response=True, stateless=True, max_request_body_size=limit
    )
    exchange = _Exchange(req)
    async with manager.run():
        await manager.handle_request(exchange.scope, exchange.receive, exchange.send)
    return exchange.response


def _check_message(body: dict[str, Any]) -> None:
    """Raise Malformed unless the body is a request or a notification of JSON-RPC."""
    try:
        message = types.jsonrpc_message_adapter.validate_python(body)
    except ValidationError:
        message = None
    # One with an id that is none would be taken for a notification, and never answered.
    if not isinstance(message, types.JSONRPCRequest if "id" in body else types.JSONRPCNotification):
        problem = "is no request or notification of JSON-RPC 2.0"
        raise Malformed(f"body: {problem}", errors=(FieldError("body", problem),))


class _Exchange:
    """A request as ASGI has it, and the response to it."""

    def __init__(self, req: Admitted[Nothing]) -> None:
        headers = [
            (name.lower().encode("latin-1"), value.encode("latin-1", "replace"))
            for name, value in req.headers.items()
        ]
        self.scope: Message = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": req.path,
            "raw_path": req.path.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": headers,
            "client": None,
            "server": None,
        }
        self._content: bytes | None = req.content
        self._status = 500
        self._headers: dict[str, str] = {}
        self._body = b""

    async def receive(self) -> Message:
        """Return the whole body once, then wait until the transport stops.

        The transport never sees the client leave.
        """
        content, self._content = self._content, None
        if content is None:
            await asyncio.Event().wait()
        return {"type": "http.request", "body": content, "more_body": False}

    async def send(self, message: Message) -> None:
        """Keep a part of the response."""
        if message["type"] == "http.response.start":
            self._status = message["status"]
            self._headers = {
                name.decode("latin-1"): value.decode("latin-1")
                for name, value in message.get("headers", [])
            }
        else:
            self._body += message.get("body", b"")

    @property
    def response(self) -> HttpResponse:
        """The response that was sent."""
        media = self._headers.pop("content-type", "application/json").partition(";")[0]
        headers = {name: value for name, value in self._headers.items() if name != "content-length"}
        return HttpResponse(self._body, status_code=self._status, headers=headers, mimetype=media)

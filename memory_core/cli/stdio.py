"""Messages over stdin and stdout. A line that is no message gets an error."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import anyio
import mcp_types as types
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError


@asynccontextmanager
async def answered_stdio() -> AsyncIterator[tuple[Any, Any]]:
    """The SDK's streams of stdin and stdout.

    The SDK would ignore unreadable lines, and the client would wait for an answer. Such lines are
    answered here.
    """
    answers: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    # A descriptor of its own: a thread that still reads from sys.stdin would hold up the end of
    # the process.
    with os.fdopen(
        os.dup(sys.stdin.fileno()), encoding="utf-8", errors="replace", closefd=False
    ) as stdin:
        lines = cast("anyio.AsyncFile[str]", _readable_lines(anyio.wrap_file(stdin), answers))
        async with stdio_server(stdin=lines) as (read_stream, write_stream):
            answers.set_result(write_stream)
            yield read_stream, write_stream


async def _readable_lines(
    stdin: anyio.AsyncFile[str], answers: asyncio.Future[Any]
) -> AsyncIterator[str]:
    async for line in stdin:
        error = line_error(line)
        if error is not None:
            await (await answers).send(SessionMessage(error))
        elif line.strip():
            yield line


def line_error(line: str) -> types.JSONRPCError | None:
    """The error for a line that is no message; None for any other line.

    An empty line gets no error either.
    """
    if not line.strip():
        return None
    try:
        parsed = json.loads(line)
    except (ValueError, RecursionError):
        return _error(types.PARSE_ERROR, "The line is no JSON", None)
    try:
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        return _error(
            types.INVALID_REQUEST,
            "The line is no message of JSON-RPC 2.0, or holds text that is no Unicode",
            _id_in(parsed),
        )
    # A request whose id is none would be taken for a notification, and never answered.
    if isinstance(message, types.JSONRPCNotification) and "id" in parsed:
        return _error(
            types.INVALID_REQUEST, "The id of a request must be a string or an integer", None
        )
    return None


def _id_in(parsed: object) -> int | str | None:
    """The id of a request, if it has an id that can be sent back."""
    request_id = parsed.get("id") if isinstance(parsed, dict) and "method" in parsed else None
    if isinstance(request_id, str):
        return (
            None
            if any("\ud800" <= character <= "\udfff" for character in request_id)
            else request_id
        )
    return request_id if isinstance(request_id, int) and not isinstance(request_id, bool) else None


def _error(code: int, message: str, request_id: int | str | None) -> types.JSONRPCError:
    return types.JSONRPCError(
        jsonrpc="2.0", id=request_id, error=types.ErrorData(code=code, message=message)
    )

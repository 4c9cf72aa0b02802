"""The official client of the Model Context Protocol, connected to a memory over HTTP or to a
process over its stdin and stdout.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, ElicitResult, TextContent

from tests import fork_server
from tests.host import ROOT

MODES = ("2026-07-28", "legacy")
"""Both generations of the protocol: requests that stand alone, and those after a handshake."""
USER_HEADER = "X-Memory-User"


class Person:
    """A person whom a client can ask. asked: the questions."""

    def __init__(self, *, agrees: bool, action: str = "accept") -> None:
        self.asked: list[str] = []
        self._agrees, self._action = agrees, action

    def change_mind(self) -> None:
        """Answer otherwise from now on."""
        self._agrees = not self._agrees

    async def __call__(self, context: Any, params: Any) -> ElicitResult:
        self.asked.append(params.message)
        content = {"agree": self._agrees} if self._action == "accept" else None
        return ElicitResult.model_validate({"action": self._action, "content": content})


@asynccontextmanager
async def over_http(
    url: object, mode: str, person: Person | None = None, query: str = "", **headers: str
) -> AsyncIterator[Client]:
    """A client of a memory's /mcp. headers: with _ for -."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    async with (
        httpx2.AsyncClient(headers=sent, timeout=60) as http,
        Client(
            streamable_http_client(f"{str(url).rstrip('/')}/mcp{query}", http_client=http),
            mode=mode,
            elicitation_callback=person,
        ) as client,
    ):
        yield client


@asynccontextmanager
async def over_stdio(
    *arguments: str, mode: str = "auto", person: Person | None = None, **settings: str
) -> AsyncIterator[Client]:
    """A client of `memory-core mcp` with these arguments."""
    env = {"PATH": os.environ["PATH"], "EMBEDDING_PROVIDER": "hash", **settings}
    program, *rest = fork_server.command("memory_core.cli", "mcp", *arguments)
    server = StdioServerParameters(command=program, args=rest, env=env, cwd=ROOT)
    async with Client(server, mode=mode, elicitation_callback=person) as client:
        yield client


async def answer(client: Client, tool: str, **arguments: Any) -> str:
    """The text that a tool answers with, which is no error."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    return text_of(result)


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    """The text of an error that a tool answers with."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result
    return text_of(result)


def text_of(result: CallToolResult) -> str:
    """The one text that a result has."""
    (block,) = result.content
    assert isinstance(block, TextContent)
    assert result.structured_content is None
    return block.text

"""A memory elsewhere over stdin and stdout: each message goes on to its /mcp, each answer comes back as it is."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any
from urllib.parse import urlsplit

import httpx2
import mcp_types as types
from mcp.client.client import Client
from mcp.client.session import ClientRequestContext
from mcp.client.streamable_http import streamable_http_client
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from memory_core import __version__
from memory_core.domain.errors import PlainError, Unavailable
from memory_core.functions.gate import USER_HEADER

TIMEOUT_S = 70.0
"""The memory itself answers within a minute."""
Context = ServerRequestContext[Any, Any]
_asked_by: ContextVar[Context] = ContextVar("asked_by")


async def serve_address(address: str, key: str | None, user_id: str | None) -> None:
    """Serve until stdin ends. Raises ValueError for an address that is none, Unavailable where nothing answers there."""
    headers = {**({"X-API-Key": key} if key else {}), **({USER_HEADER: user_id} if user_id else {})}
    async with httpx2.AsyncClient(headers=headers, timeout=TIMEOUT_S) as http:
        where = _mcp_address(address)
        await _check(http, where)
        # Whether the client behind stdin can ask its user is known only once it is connected: so there is a connection for either.
        async with (
            Client(streamable_http_client(where, http_client=http)) as silent,
            Client(streamable_http_client(where, http_client=http), elicitation_callback=_ask) as asking,
            stdio_server() as (read_stream, write_stream),
        ):
            server = _forwarding(silent, asking)
            await server.run(read_stream, write_stream, server.create_initialization_options())


def _mcp_address(address: str) -> str:
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise PlainError("--url should be an address such as https://your-app.azurewebsites.net")
    path = parts.path.rstrip("/")
    return parts._replace(path=path if path.endswith("/mcp") else f"{path}/mcp", fragment="").geturl()


async def _check(http: httpx2.AsyncClient, where: str) -> None:
    """Ask once before anything else, since an error of the SDK does not tell why a key was refused. Raises Unavailable."""
    asked = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    try:
        response = await http.post(where, json=asked, headers={"Accept": "application/json, text/event-stream"})
    except httpx2.HTTPError as error:
        raise Unavailable("the memory", f"{where} can't be reached ({type(error).__name__})") from None
    if response.status_code != 200:
        problem = response.headers.get("content-type", "").startswith("application/problem+json")
        raise Unavailable("the memory", str(response.json()["detail"]) if problem else f"{where} answered {response.status_code}")


def _forwarding(silent: Client, asking: Client) -> Server[Any]:
    """A server that has nothing of its own. silent, asking: connections that say of their client that it can't, or can, ask its user."""

    async def list_tools(ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return await silent.list_tools()

    async def call_tool(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult | types.InputRequiredResult:
        capabilities = ctx.session.client_capabilities
        remote = asking if capabilities is not None and capabilities.elicitation is not None else silent
        try:
            if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
                return await remote.session.call_tool(
                    params.name,
                    params.arguments,
                    input_responses=params.input_responses,
                    request_state=params.request_state,
                    allow_input_required=True,
                )
            _asked_by.set(ctx)
            return await remote.call_tool(params.name, params.arguments)
        except httpx2.HTTPError as error:
            text = f"The memory can't be reached just now ({type(error).__name__}). Go on without it, or call again later."
            return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)

    async def list_resources(ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        return await silent.list_resources()

    async def list_templates(ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListResourceTemplatesResult:
        return await silent.list_resource_templates()

    async def read(ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        return await silent.read_resource(params.uri)

    async def list_prompts(ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return await silent.list_prompts()

    async def get_prompt(ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        return await silent.get_prompt(params.name, params.arguments)

    return Server(
        "memory-core",
        version=__version__,
        title="Memory Core",
        instructions=silent.instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )


async def _ask(context: ClientRequestContext, params: types.ElicitRequestParams) -> types.ElicitResult | types.ErrorData:
    """Put the memory's question to the user behind stdin."""
    if not isinstance(params, types.ElicitRequestFormParams):
        return types.ErrorData(code=types.INVALID_REQUEST, message="only forms are asked for")
    ctx = _asked_by.get()
    return await ctx.session.elicit_form(params.message, params.requested_schema, related_request_id=ctx.request_id)

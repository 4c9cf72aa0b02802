"""A memory elsewhere over stdin and stdout.

Each request is forwarded to its /mcp, and each answer is returned as it is. No state is kept
between two requests, so an outage of the memory only ends requests that are made during it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx2
import mcp_types as types
from mcp.client.client import Client
from mcp.client.session import ClientRequestContext, ElicitationFnT
from mcp.client.streamable_http import streamable_http_client
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import LATEST_MODERN_VERSION, MODERN_PROTOCOL_VERSIONS

from memory_core.cli.stdio import answered_stdio
from memory_core.domain.errors import Forbidden, MemoryCoreError, PlainError, TooLarge, Unavailable
from memory_core.functions.gate import USER_HEADER
from memory_core.functions.mcp.callers import advice
from memory_core.functions.mcp.server import server_of

TIMEOUT_S = 70.0
"""The timeout of a call in seconds. The memory itself answers within a minute."""
TOO_MANY = 429
Context = ServerRequestContext[Any, Any]
Result = TypeVar("Result")


class RemoteProblem(httpx2.HTTPError):
    """Raised when the memory answered with a problem; `detail` has its text."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status, self.detail = status, detail


class RemoteMemory:
    """The /mcp of a memory elsewhere."""

    def __init__(self, http: httpx2.AsyncClient, address: str) -> None:
        self._http, self._address = http, address

    async def ask(
        self, call: Callable[[Client], Awaitable[Result]], elicit: ElicitationFnT | None = None
    ) -> Result:
        """The result of a call on a client.

        Args:
            call: The call.
            elicit: Asks the user on behalf of the memory; None if the memory may not ask.

        Raises:
            MCPError: The memory answered with an error of its own.
            Forbidden: The memory refused the key or the user.
            TooLarge: The request is too large.
            Unavailable: The memory is down or overloaded.

        """
        refusal: MCPError | None = None
        failure: httpx2.HTTPError | None = None
        try:
            transport = streamable_http_client(self._address, http_client=self._http)
            async with Client(
                transport, mode=LATEST_MODERN_VERSION, elicitation_callback=elicit, cache=None
            ) as client:
                try:
                    return await call(client)
                except MCPError as error:
                    # caught here, since the client's task group would wrap it
                    refusal = error
        except* httpx2.HTTPError as errors:
            failure = _first(errors)
        if failure is not None:
            raise self._error(failure)
        raise refusal or MCPError(types.INTERNAL_ERROR, "The memory gave no answer")

    def _error(self, failure: httpx2.HTTPError) -> MemoryCoreError:
        if not isinstance(failure, RemoteProblem):
            return Unavailable(self._address, f"no answer ({type(failure).__name__})")
        if failure.status == TooLarge.status:
            return TooLarge(failure.detail)
        if failure.status == TOO_MANY or failure.status >= 500:
            return Unavailable(self._address, failure.detail)
        return Forbidden(failure.detail)


async def serve_address(address: str, key: str | None, user_id: str | None) -> None:
    """Serve a memory at an address until stdin ends.

    Args:
        address: The address of the memory.
        key: The API key, if any.
        user_id: The user, if not the key's user.

    Raises:
        ValueError: The address is not valid.
        Forbidden: The memory refused the key or the user.
        Unavailable: The memory is down.

    """
    headers = {**({"X-API-Key": key} if key else {}), **({USER_HEADER: user_id} if user_id else {})}
    where = _mcp_address(address)
    async with httpx2.AsyncClient(
        headers=headers, timeout=TIMEOUT_S, event_hooks={"response": [_raise_problem]}
    ) as http:
        memory = RemoteMemory(http, where)
        try:
            # what is wrong with address or key is told at once
            await memory.ask(lambda client: client.list_tools())
        except MCPError as error:
            raise Unavailable(where, error.error.message) from None
        server = server_of(_Forwarded(memory))
        async with answered_stdio() as (read_stream, write_stream):
            await server.run(read_stream, write_stream, server.create_initialization_options())


def _mcp_address(address: str) -> str:
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise PlainError("--url should be an address such as https://your-app.azurewebsites.net")
    path = parts.path.rstrip("/")
    return parts._replace(
        path=path if path.endswith("/mcp") else f"{path}/mcp", fragment=""
    ).geturl()


async def _raise_problem(response: httpx2.Response) -> None:
    """Raise the memory's problem, which the SDK's client would hide."""
    if response.headers.get("content-type", "").startswith("application/problem+json"):
        await response.aread()
        try:
            detail = str(response.json()["detail"])
        except (ValueError, KeyError, TypeError):
            detail = f"it answered {response.status_code}"
        raise RemoteProblem(response.status_code, detail)


def _first(errors: BaseExceptionGroup[httpx2.HTTPError]) -> httpx2.HTTPError:
    first = errors.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first


class _Forwarded:
    """Answers with the answers of the memory elsewhere."""

    def __init__(self, memory: RemoteMemory) -> None:
        self._memory = memory

    async def list_tools(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return await self._ask(lambda client: client.list_tools())

    async def call_tool(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        try:
            return await _forward_tool(self._memory, ctx, params)
        except MemoryCoreError as error:
            return types.CallToolResult(
                content=[types.TextContent(text=advice(error))], is_error=True
            )

    async def list_resources(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        return await self._ask(lambda client: client.list_resources())

    async def list_templates(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return await self._ask(lambda client: client.list_resource_templates())

    async def read(
        self, ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        return await self._ask(lambda client: client.read_resource(params.uri))

    async def list_prompts(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        return await self._ask(lambda client: client.list_prompts())

    async def get_prompt(
        self, ctx: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        return await self._ask(lambda client: client.get_prompt(params.name, params.arguments))

    async def _ask(self, call: Callable[[Client], Awaitable[Result]]) -> Result:
        try:
            return await self._memory.ask(call)
        except MemoryCoreError as error:
            raise MCPError(types.INTERNAL_ERROR, advice(error)) from None


async def _forward_tool(
    memory: RemoteMemory, ctx: Context, call: types.CallToolRequestParams
) -> types.CallToolResult | types.InputRequiredResult:
    """Forward a call of a tool.

    The memory's question goes to the user if the client behind stdin can ask. Raises as `ask`.
    """

    async def put_to_user(
        context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        if not isinstance(params, types.ElicitRequestFormParams):
            return types.ErrorData(code=types.INVALID_REQUEST, message="only forms are asked for")
        return await ctx.session.elicit_form(
            params.message, params.requested_schema, related_request_id=ctx.request_id
        )

    async def pass_on(client: Client) -> types.CallToolResult | types.InputRequiredResult:
        return await client.session.call_tool(
            call.name,
            call.arguments,
            input_responses=call.input_responses,
            request_state=call.request_state,
            allow_input_required=True,
        )

    async def settle(client: Client) -> types.CallToolResult:
        return await client.call_tool(call.name, call.arguments)

    capabilities = ctx.session.client_capabilities
    elicit = (
        put_to_user if capabilities is not None and capabilities.elicitation is not None else None
    )
    # A client of the new generation gets the question as an answer, and asks again; one with a
    # handshake is asked in between.
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return await memory.ask(pass_on, elicit)
    return await memory.ask(settle, elicit)

"""The endpoint for agents that speak the Model Context Protocol.

Each POST gets a single JSON answer. There are no sessions.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Awaitable, Callable

import azure.functions as func
from azure.functions import HttpResponse

from memory_core.functions.gate import Admitted, gated
from memory_core.functions.request_parsing import Nothing

blueprint = func.Blueprint()
_answer: Callable[[Admitted[Nothing]], Awaitable[HttpResponse]] | None = None


@blueprint.route(route="mcp", methods=["POST"])
@gated("read", query=Nothing, nameless=True, raw="application/json", user_header=True)
async def mcp(req: Admitted[Nothing]) -> HttpResponse:
    """Answer a message of the Model Context Protocol.

    Tools, resources and prompts are about the memories of a single user. The user is the key's own,
    or is named by the header X-Memory-User or by user_id in the query. Tools that write need the
    right to write.
    """
    global _answer
    if _answer is None:
        # The SDK takes half a second to import: not at a start, and not while everybody else waits
        # for this event loop.
        _answer = (
            await asyncio.to_thread(importlib.import_module, "memory_core.functions.mcp.http")
        ).answer
    return await _answer(req)

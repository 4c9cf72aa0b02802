"""The door for agents that speak the Model Context Protocol: one POST, one JSON answer, no sessions."""

from __future__ import annotations

import azure.functions as func
from azure.functions import HttpResponse

from memory_core.functions.gate import Admitted, gated
from memory_core.functions.request_parsing import Nothing

blueprint = func.Blueprint()


@blueprint.route(route="mcp", methods=["POST"])
@gated("read", query=Nothing, nameless=True, raw="application/json", user_header=True)
async def mcp(req: Admitted[Nothing]) -> HttpResponse:
    """Answer one message of the Model Context Protocol: tools, resources and prompts for one user's memories.

    The user is the key's own, or is named by the header X-Memory-User or by user_id in the query. Tools that write need the right to write.
    """
    from memory_core.functions.mcp.http import answer  # the SDK takes half a second to import: not at a start, but at the first message

    return await answer(req)

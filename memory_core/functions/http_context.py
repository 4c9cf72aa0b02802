"""What an agent should know before its turn, in one call."""

from __future__ import annotations

import azure.functions as func
from azure.functions import HttpResponse

from memory_core.domain.context import ContextInput
from memory_core.functions.answers import context_response
from memory_core.functions.gate import Admitted, gated

blueprint = func.Blueprint()


@blueprint.route(route="api/v1/context", methods=["POST"])
@gated("read", body=ContextInput)
async def context(req: Admitted[ContextInput]) -> HttpResponse:
    """Put together what is known: the profile, what holds just now, what matters to the query, what was said last."""
    messages = req.input.messages
    return context_response(await req.core.context(req.owner, req.input), () if messages is None else messages.ignored)

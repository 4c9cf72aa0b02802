"""Conversations: told at once, remembered by and by."""

from __future__ import annotations

import azure.functions as func
from azure.functions import HttpResponse

from memory_core.domain.requests import ConverseInput
from memory_core.functions.answers import accepted_response
from memory_core.functions.gate import Admitted, gated

blueprint = func.Blueprint()


@blueprint.route(route="api/v1/memories", methods=["POST"])
@gated("write", body=ConverseInput)
async def memories_converse(req: Admitted[ConverseInput]) -> HttpResponse:
    """Tell a conversation, to be formed into memories. The answer names the task that does it; Location is where to look at it."""
    return accepted_response(req.owner, await req.core.converse(req.owner, req.input, req.call), req.input.messages.ignored)

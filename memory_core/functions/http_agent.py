"""An agent's own: its words, to be kept as they come, and summaries of whatever it was told."""

from __future__ import annotations

import azure.functions as func
from azure.functions import HttpResponse

from memory_core.domain.errors import FieldError
from memory_core.domain.spoken import AgentMemoryInput, SummaryInput
from memory_core.functions.answers import accepted_response, summary_response
from memory_core.functions.gate import Admitted, gated
from memory_core.functions.inputs import invalid

blueprint = func.Blueprint()
_AGENT = "api/v1/agent"


@blueprint.route(route=f"{_AGENT}/memories", methods=["POST"])
@gated("write", body=AgentMemoryInput)
async def agent_memories(req: Admitted[AgentMemoryInput]) -> HttpResponse:
    """Keep an agent's own words as one memory, after one fast summary and without comparing them with anything."""
    return accepted_response(req.owner, await req.core.agent_memory(req.owner, req.input, req.call), req.input.messages.ignored)


@blueprint.route(route=f"{_AGENT}/summaries", methods=["POST"])
@gated("write", body=SummaryInput, nameless=True)
async def agent_summaries(req: Admitted[SummaryInput]) -> HttpResponse:
    """Sum up messages, of which nothing is remembered.

    With a callback_url the summary is sent there, and user_id says whose task does it.
    """
    if req.input.callback_url is None:
        return summary_response(await req.core.summary(req.owner.app_id, req.input), req.input.messages.ignored)
    if not req.owner.user_id:
        raise invalid(FieldError("user_id", "is required with callback_url: whose task is it to be?"))
    return accepted_response(req.owner, await req.core.summary_later(req.owner, req.input, req.call), req.input.messages.ignored)

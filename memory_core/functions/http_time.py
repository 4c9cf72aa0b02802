"""Time past: the log in order, and what all memories were when it was shorter."""

from __future__ import annotations

import azure.functions as func
from azure.functions import HttpResponse

from memory_core.domain.time_requests import ReplayInput, TimelineInput
from memory_core.functions.answers import events_response, memories_response
from memory_core.functions.gate import Admitted, gated

blueprint = func.Blueprint()


@blueprint.route(route="api/v1/timeline", methods=["GET"])
@gated("read", query=TimelineInput)
async def timeline_list(req: Admitted[TimelineInput]) -> HttpResponse:
    """List what happened to a user's memories, oldest first."""
    return events_response(await req.core.timeline(req.owner, req.input))


@blueprint.route(route="api/v1/replay", methods=["POST"])
@gated("read", body=ReplayInput)
async def replay_memories(req: Admitted[ReplayInput]) -> HttpResponse:
    """List all memories as they were known at a moment, or at a sequence of the log."""
    return memories_response(await req.core.replay(req.owner, req.input), logged_only=True)

"""Messages that are gathered session by session, and formed together."""

from __future__ import annotations

import azure.functions as func
from azure.functions import HttpResponse

from memory_core.domain.results import Buffered
from memory_core.domain.spoken import BatchInput, SessionInput
from memory_core.functions.answers import accepted_response, buffered_response
from memory_core.functions.gate import Admitted, gated

blueprint = func.Blueprint()
_BATCH = "api/v1/memories/batch"


@blueprint.route(route=_BATCH, methods=["POST"])
@gated("write", body=BatchInput)
async def memories_batch_append(req: Admitted[BatchInput]) -> HttpResponse:
    """Add messages to a session's batch. It is formed when it is large enough, when nothing more comes, or when asked."""
    return buffered_response(await req.core.batch(req.owner, req.input, req.call), status=202, ignored=req.input.messages.ignored)


@blueprint.route(route=_BATCH, methods=["GET"])
@gated("read", query=SessionInput)
async def memories_batch_state(req: Admitted[SessionInput]) -> HttpResponse:
    """How many messages of a session wait, and until when."""
    return buffered_response(await req.core.batch_state(req.owner, req.input.session_id))


@blueprint.route(route=f"{_BATCH}/flush", methods=["POST"])
@gated("write", body=SessionInput)
async def memories_batch_flush(req: Admitted[SessionInput]) -> HttpResponse:
    """Form what waits of a session now. When nothing does, the answer is the empty batch."""
    accepted = await req.core.batch_flush(req.owner, req.input.session_id, req.call)
    return buffered_response(Buffered(0, None)) if accepted is None else accepted_response(req.owner, accepted)

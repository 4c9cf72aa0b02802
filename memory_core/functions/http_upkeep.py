"""Upkeep on request: time taking its course over a user's memories, and forgetting."""

from __future__ import annotations

import azure.functions as func
from azure.functions import HttpResponse

from memory_core.domain.upkeep_requests import ConsolidateInput, DecayInput, ForgetInput, ReembedInput
from memory_core.functions.answers import upkeep_response
from memory_core.functions.gate import Admitted, gated

blueprint = func.Blueprint()


@blueprint.route(route="api/v1/consolidate", methods=["POST"])
@gated("write", body=ConsolidateInput)
async def consolidate(req: Admitted[ConsolidateInput]) -> HttpResponse:
    """Settle what has happened since the last run, by a task, as the hourly run does by itself; with dry_run, count what it would do."""
    return upkeep_response(req.owner, await req.core.consolidate(req.owner, req.input, req.call))


@blueprint.route(route="api/v1/decay", methods=["POST"])
@gated("write", body=DecayInput)
async def decay(req: Admitted[DecayInput]) -> HttpResponse:
    """Take memories that nobody has looked at for long out of sight, by a task; with dry_run, count them. As often as you like."""
    return upkeep_response(req.owner, await req.core.decay(req.owner, req.input, req.call))


@blueprint.route(route="api/v1/forget", methods=["POST"])
@gated("write", body=ForgetInput)
async def forget(req: Admitted[ForgetInput]) -> HttpResponse:
    """Forget what a filter fits, by a task: softly, or for good (mode=hard); with dry_run, count it."""
    return upkeep_response(req.owner, await req.core.forget(req.owner, req.input, req.call))


@blueprint.route(route="api/v1/reembed", methods=["POST"])
@gated("admin", body=ReembedInput)
async def reembed(req: Admitted[ReembedInput]) -> HttpResponse:
    """Make vectors anew that another embedder made, by a task; with dry_run, count them. Where there are none, nothing is done."""
    return upkeep_response(req.owner, await req.core.reembed(req.owner, req.input, req.call))

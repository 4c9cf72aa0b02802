"""Conflicts: memories that could not both be true, what was done about it, and the last word of the caller."""

from __future__ import annotations

import azure.functions as func
from azure.functions import HttpResponse

from memory_core.domain.conflict_requests import ConflictsInput, ResolveInput
from memory_core.functions.answers import json_response
from memory_core.functions.gate import Admitted, gated
from memory_core.functions.inputs import Nothing

blueprint = func.Blueprint()
_CONFLICTS = "api/v1/conflicts"
_CONFLICT = f"{_CONFLICTS}/{{conflict_id}}"


@blueprint.route(route=_CONFLICTS, methods=["GET"])
@gated("read", query=ConflictsInput)
async def conflicts_list(req: Admitted[ConflictsInput]) -> HttpResponse:
    """List conflicts, newest first: all, those that wait for a decision, or those that are resolved."""
    page = await req.core.conflicts(req.owner, req.input)
    return json_response({"conflicts": [record.public() for record in page.conflicts], "next_cursor": page.next_cursor})


@blueprint.route(route=_CONFLICT, methods=["GET"])
@gated("read", query=Nothing)
async def conflict_get(req: Admitted[Nothing]) -> HttpResponse:
    """One conflict: the two memories, why they contradict each other, and what was decided by whom."""
    return json_response((await req.core.conflict(req.owner, req.route["conflict_id"])).public())


@blueprint.route(route=f"{_CONFLICT}/resolve", methods=["POST"])
@gated("write", body=ResolveInput)
async def conflict_resolve(req: Admitted[ResolveInput]) -> HttpResponse:
    """Decide a conflict that is pending."""
    record = await req.core.resolve_conflict(req.owner, req.route["conflict_id"], req.input, req.call)
    return json_response(record.public())


@blueprint.route(route=f"{_CONFLICT}/undo", methods=["POST"])
@gated("write", body=Nothing)
async def conflict_undo(req: Admitted[Nothing]) -> HttpResponse:
    """Take back what was decided, by whomever: both memories stand again, and the conflict is pending."""
    return json_response((await req.core.undo_conflict(req.owner, req.route["conflict_id"], req.call)).public())

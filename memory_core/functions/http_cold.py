"""The archive: what moves there, and what is brought back."""

from __future__ import annotations

import azure.functions as func
from azure.functions import HttpResponse

from memory_core.domain.cold_requests import ArchiveInput
from memory_core.functions.answers import memory_response, upkeep_response
from memory_core.functions.gate import Admitted, gated
from memory_core.functions.inputs import Nothing

blueprint = func.Blueprint()


@blueprint.route(route="api/v1/archive", methods=["POST"])
@gated("write", body=ArchiveInput)
async def archive(req: Admitted[ArchiveInput]) -> HttpResponse:
    """Move memories that nobody has touched for years to cold storage, by a task; with dry_run, count what would move."""
    return upkeep_response(req.owner, await req.core.archive(req.owner, req.input, req.call))


@blueprint.route(route="api/v1/memories/{memory_id}/restore", methods=["POST"])
@gated("write", body=Nothing)
async def memory_restore(req: Admitted[Nothing]) -> HttpResponse:
    """Bring a memory back into use: from the archive with its whole chain, or one that was deleted, replaced, shortened or has decayed."""
    return memory_response(await req.core.restore(req.owner, req.route["memory_id"], req.call))

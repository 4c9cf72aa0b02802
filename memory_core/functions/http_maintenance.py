"""Maintenance on request: upkeep, the archive, conflicts, and past states."""

from __future__ import annotations

import azure.functions as func
from azure.functions import HttpResponse

from memory_core.domain.requests.maintenance import (
    ArchiveInput,
    ConflictsInput,
    ConsolidateInput,
    DecayInput,
    ForgetInput,
    ReembedInput,
    ReplayInput,
    ResolveInput,
    TimelineInput,
)
from memory_core.functions.gate import Admitted, gated
from memory_core.functions.request_parsing import Nothing
from memory_core.functions.responses import (
    events_response,
    json_response,
    memories_response,
    memory_response,
    upkeep_response,
)

blueprint = func.Blueprint()


@blueprint.route(route="api/v1/consolidate", methods=["POST"])
@gated("write", body=ConsolidateInput)
async def consolidate(req: Admitted[ConsolidateInput]) -> HttpResponse:
    """Consolidate the changes since the last run, by a task.

    The hourly run does the same. With dry_run, count the changes.
    """
    return upkeep_response(req.owner, await req.core.consolidate(req.owner, req.input, req.call))


@blueprint.route(route="api/v1/decay", methods=["POST"])
@gated("write", body=DecayInput)
async def decay(req: Admitted[DecayInput]) -> HttpResponse:
    """Hide memories that were not accessed for long, by a task.

    With dry_run, count them. The call may be repeated at any time.
    """
    return upkeep_response(req.owner, await req.core.decay(req.owner, req.input, req.call))


@blueprint.route(route="api/v1/forget", methods=["POST"])
@gated("write", body=ForgetInput)
async def forget(req: Admitted[ForgetInput]) -> HttpResponse:
    """Forget the memories that a filter matches, by a task.

    They are deleted softly, or permanently with mode=hard. With dry_run, count them.
    """
    return upkeep_response(req.owner, await req.core.forget(req.owner, req.input, req.call))


@blueprint.route(route="api/v1/reembed", methods=["POST"])
@gated("admin", body=ReembedInput)
async def reembed(req: Admitted[ReembedInput]) -> HttpResponse:
    """Replace vectors that another embedder made, by a task.

    With dry_run, count them. If there are none, no vector changes.
    """
    return upkeep_response(req.owner, await req.core.reembed(req.owner, req.input, req.call))


# The archive: what moves there, and what is brought back.


@blueprint.route(route="api/v1/archive", methods=["POST"])
@gated("write", body=ArchiveInput)
async def archive(req: Admitted[ArchiveInput]) -> HttpResponse:
    """Move memories that were not used for years to cold storage, by a task.

    With dry_run, count them.
    """
    return upkeep_response(req.owner, await req.core.archive(req.owner, req.input, req.call))


@blueprint.route(route="api/v1/memories/{memory_id}/restore", methods=["POST"])
@gated("write", body=Nothing)
async def memory_restore(req: Admitted[Nothing]) -> HttpResponse:
    """Bring a memory back into use.

    It returns from the archive with its whole chain. It may also be deleted, superseded, compressed
    or decayed.
    """
    return memory_response(await req.core.restore(req.owner, req.route["memory_id"], req.call))


# Conflicts: memories that exclude each other, their resolutions, and the caller's decisions.


_CONFLICTS = "api/v1/conflicts"
_CONFLICT = f"{_CONFLICTS}/{{conflict_id}}"


@blueprint.route(route=_CONFLICTS, methods=["GET"])
@gated("read", query=ConflictsInput)
async def conflicts_list(req: Admitted[ConflictsInput]) -> HttpResponse:
    """List conflicts, newest first: all, pending or resolved."""
    page = await req.core.conflicts(req.owner, req.input)
    return json_response(
        {
            "conflicts": [record.public() for record in page.conflicts],
            "next_cursor": page.next_cursor,
        }
    )


@blueprint.route(route=_CONFLICT, methods=["GET"])
@gated("read", query=Nothing)
async def conflict_get(req: Admitted[Nothing]) -> HttpResponse:
    """A conflict: its two memories, their contradiction, and the decision.

    It also says whether rules, a model or the caller decided.
    """
    return json_response((await req.core.conflict(req.owner, req.route["conflict_id"])).public())


@blueprint.route(route=f"{_CONFLICT}/resolve", methods=["POST"])
@gated("write", body=ResolveInput)
async def conflict_resolve(req: Admitted[ResolveInput]) -> HttpResponse:
    """Decide a conflict that is pending."""
    record = await req.core.resolve_conflict(
        req.owner, req.route["conflict_id"], req.input, req.call
    )
    return json_response(record.public())


@blueprint.route(route=f"{_CONFLICT}/undo", methods=["POST"])
@gated("write", body=Nothing)
async def conflict_undo(req: Admitted[Nothing]) -> HttpResponse:
    """Take back a decision, whether it was made by a caller or by the service.

    Both memories are active again, and the conflict is pending.
    """
    return json_response(
        (await req.core.undo_conflict(req.owner, req.route["conflict_id"], req.call)).public()
    )


# Time past: the log in order, and what all memories were when it was shorter.


@blueprint.route(route="api/v1/timeline", methods=["GET"])
@gated("read", query=TimelineInput)
async def timeline_list(req: Admitted[TimelineInput]) -> HttpResponse:
    """List the events of a user's memories, oldest first."""
    return events_response(await req.core.timeline(req.owner, req.input))


@blueprint.route(route="api/v1/replay", methods=["POST"])
@gated("read", body=ReplayInput)
async def replay_memories(req: Admitted[ReplayInput]) -> HttpResponse:
    """List all memories as known at a moment or a sequence of the log."""
    return memories_response(await req.core.replay(req.owner, req.input), logged_only=True)

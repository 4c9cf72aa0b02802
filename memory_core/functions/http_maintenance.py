"""Maintenance on request: upkeep, the archive, conflicts, time past.

Upkeep on request: time taking its course over a user's memories, and forgetting.
"""

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
    """Settle what has happened since the last run, by a task, as the hourly run does by itself;
    with dry_run, count what it would do.
    """
    return upkeep_response(req.owner, await req.core.consolidate(req.owner, req.input, req.call))


@blueprint.route(route="api/v1/decay", methods=["POST"])
@gated("write", body=DecayInput)
async def decay(req: Admitted[DecayInput]) -> HttpResponse:
    """Hide memories that were not looked at for long, by a task; with dry_run, count them.
    As often as you like.
    """
    return upkeep_response(req.owner, await req.core.decay(req.owner, req.input, req.call))


@blueprint.route(route="api/v1/forget", methods=["POST"])
@gated("write", body=ForgetInput)
async def forget(req: Admitted[ForgetInput]) -> HttpResponse:
    """Forget what a filter fits, by a task: softly, or for good (mode=hard); with dry_run,
    count it.
    """
    return upkeep_response(req.owner, await req.core.forget(req.owner, req.input, req.call))


@blueprint.route(route="api/v1/reembed", methods=["POST"])
@gated("admin", body=ReembedInput)
async def reembed(req: Admitted[ReembedInput]) -> HttpResponse:
    """Replace vectors that another embedder made, by a task; with dry_run, count them.
    Where there are none, nothing is done.
    """
    return upkeep_response(req.owner, await req.core.reembed(req.owner, req.input, req.call))


# The archive: what moves there, and what is brought back.


@blueprint.route(route="api/v1/archive", methods=["POST"])
@gated("write", body=ArchiveInput)
async def archive(req: Admitted[ArchiveInput]) -> HttpResponse:
    """Move memories that were not used for years to cold storage, by a task; with dry_run,
    count what would move.
    """
    return upkeep_response(req.owner, await req.core.archive(req.owner, req.input, req.call))


@blueprint.route(route="api/v1/memories/{memory_id}/restore", methods=["POST"])
@gated("write", body=Nothing)
async def memory_restore(req: Admitted[Nothing]) -> HttpResponse:
    """Bring a memory back into use: from the archive with its whole chain, or one that was deleted,
    replaced, shortened or has decayed.
    """
    return memory_response(await req.core.restore(req.owner, req.route["memory_id"], req.call))


# Conflicts: memories that could not both be true, what was done about it, and the last word
# of the caller.


_CONFLICTS = "api/v1/conflicts"
_CONFLICT = f"{_CONFLICTS}/{{conflict_id}}"


@blueprint.route(route=_CONFLICTS, methods=["GET"])
@gated("read", query=ConflictsInput)
async def conflicts_list(req: Admitted[ConflictsInput]) -> HttpResponse:
    """List conflicts, newest first: all, those that wait for a decision, or those that
    are resolved.
    """
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
    """One conflict: the two memories, why they contradict each other, and what was
    decided by whom.
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
    """Take back what was decided, by whomever: both memories stand again, and the
    conflict is pending.
    """
    return json_response(
        (await req.core.undo_conflict(req.owner, req.route["conflict_id"], req.call)).public()
    )


# Time past: the log in order, and what all memories were when it was shorter.


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

"""Sessions as groups of memories, and procedures by their key."""

from __future__ import annotations

import azure.functions as func
from azure.functions import HttpResponse

from memory_core.functions.answers import json_response, memory_response
from memory_core.functions.gate import Admitted, gated
from memory_core.functions.inputs import Nothing, SessionMessagesInput, SessionsInput, TakeBackInput

blueprint = func.Blueprint()


@blueprint.route(route="api/v1/sessions", methods=["GET"])
@gated("read", query=SessionsInput)
async def sessions_list(req: Admitted[SessionsInput]) -> HttpResponse:
    """List a user's sessions, the one begun last first."""
    page = await req.core.sessions(req.owner, req.input.cursor, req.input.limit)
    return json_response({"sessions": page.sessions, "next_cursor": page.next_cursor})


@blueprint.route(route="api/v1/sessions/{session_id}", methods=["GET"])
@gated("read", query=Nothing)
async def session_get(req: Admitted[Nothing]) -> HttpResponse:
    """One session: when it ran, and how many memories of each type it has."""
    return json_response(await req.core.session(req.owner, req.route["session_id"]))


@blueprint.route(route="api/v1/sessions/{session_id}/messages", methods=["GET"])
@gated("read", query=SessionMessagesInput)
async def session_messages(req: Admitted[SessionMessagesInput]) -> HttpResponse:
    """What was told in a session, message by message, in the order of telling."""
    asked = req.input
    newest_first = asked.order == "desc"
    page = await req.core.session_messages(req.owner, req.route["session_id"], asked.cursor, asked.limit, newest_first=newest_first)
    return json_response({"messages": page.messages, "next_cursor": page.next_cursor})


@blueprint.route(route="api/v1/sessions/{session_id}/messages/last", methods=["DELETE"])
@gated("write", query=TakeBackInput)
async def session_messages_take_back(req: Admitted[TakeBackInput]) -> HttpResponse:
    """Take back the last turn of a session, or its last messages, with all that came of them alone; what was taken, the oldest first."""
    taken = await req.core.take_back(req.owner, req.route["session_id"], req.input.count, req.call)
    return json_response({"messages": taken.messages, "memories": taken.memories})


@blueprint.route(route="api/v1/procedures/{key}", methods=["GET"])
@gated("read", query=Nothing)
async def procedure_get(req: Admitted[Nothing]) -> HttpResponse:
    """The procedural memory with this key. A slash in the key is written %2F."""
    return memory_response(await req.core.procedure(req.owner, req.route["key"]))

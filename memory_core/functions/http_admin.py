"""What concerns all users of an app, for its admin: tasks that were given up, and agents.

Note: Azure's host asks functions in the order of their names. `poisoned_tasks_list` has to come before `task_get`, whose
route fits its path as well.
"""

from __future__ import annotations

import azure.functions as func
from azure.functions import HttpResponse

from memory_core.domain.requests import AcrossInput
from memory_core.functions.answers import json_response
from memory_core.functions.gate import Admitted, gated

blueprint = func.Blueprint()


@blueprint.route(route="api/v1/tasks/poisoned", methods=["GET"])
@gated("admin", query=AcrossInput, scoped=False)
async def poisoned_tasks_list(req: Admitted[AcrossInput]) -> HttpResponse:
    """List the tasks of all users of the app that failed too often, newest first, until they are retried or cancelled."""
    page = await req.core.poisoned_tasks(req.owner.app_id, req.input)
    tasks = [{"user_id": user_id, **task.public()} for user_id, task in page.tasks]
    return json_response({"tasks": tasks, "next_cursor": page.next_cursor})


@blueprint.route(route="api/v1/agents", methods=["GET"])
@gated("admin", query=AcrossInput, scoped=False)
async def agents_list(req: Admitted[AcrossInput]) -> HttpResponse:
    """List the agents that the app's users have memories of, by user and agent."""
    page = await req.core.agents(req.owner.app_id, req.input)
    return json_response({"agents": page.agents, "next_cursor": page.next_cursor})

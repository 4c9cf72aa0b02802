"""Tasks: what goes on after a call was answered, to be watched, retried and cancelled."""

from __future__ import annotations

import azure.functions as func
from azure.functions import HttpResponse

from memory_core.domain.requests import TasksInput
from memory_core.functions.answers import json_response
from memory_core.functions.gate import Admitted, gated
from memory_core.functions.inputs import Nothing

blueprint = func.Blueprint()
_TASKS = "api/v1/tasks"
_TASK = f"{_TASKS}/{{task_id}}"


@blueprint.route(route=_TASKS, methods=["GET"])
@gated("read", query=TasksInput)
async def tasks_list(req: Admitted[TasksInput]) -> HttpResponse:
    """List a user's tasks, newest first; finished ones for seven days, poisoned ones until they are retried or cancelled."""
    page = await req.core.tasks(req.owner, req.input)
    return json_response({"tasks": [task.public() for task in page.tasks], "next_cursor": page.next_cursor})


@blueprint.route(route=_TASK, methods=["GET"])
@gated("read", query=Nothing)
async def task_get(req: Admitted[Nothing]) -> HttpResponse:
    """One task: how far it is, what came of it, or what went wrong."""
    return json_response((await req.core.task(req.owner, req.route["task_id"])).public())


@blueprint.route(route=f"{_TASK}/retry", methods=["POST"])
@gated("write", body=Nothing)
async def task_retry(req: Admitted[Nothing]) -> HttpResponse:
    """Begin anew with a task that failed, is poisoned or waits."""
    return json_response((await req.core.retry(req.owner, req.route["task_id"], req.call)).public(), status=202)


@blueprint.route(route=f"{_TASK}/cancel", methods=["POST"])
@gated("write", body=Nothing)
async def task_cancel(req: Admitted[Nothing]) -> HttpResponse:
    """End a task that is not done; what it has formed stays."""
    return json_response((await req.core.cancel(req.owner, req.route["task_id"], req.call)).public())

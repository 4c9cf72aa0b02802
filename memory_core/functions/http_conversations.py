"""Conversations, batches, an agent's own words, and the tasks that form them.

A conversation is accepted at once, and memories are formed of it later.
"""

from __future__ import annotations

import azure.functions as func
from azure.functions import HttpResponse

from memory_core.domain.errors import FieldError
from memory_core.domain.requests.maintenance import (
    AgentMemoryInput,
    BatchInput,
    SessionInput,
    SummaryInput,
)
from memory_core.domain.requests.memories import ConverseInput, TasksInput
from memory_core.functions.gate import Admitted, gated
from memory_core.functions.request_parsing import Nothing, invalid
from memory_core.functions.responses import (
    accepted_response,
    buffered_response,
    json_response,
    summary_response,
)

blueprint = func.Blueprint()


@blueprint.route(route="api/v1/memories", methods=["POST"])
@gated("write", body=ConverseInput)
async def memories_converse(req: Admitted[ConverseInput]) -> HttpResponse:
    """Accept a conversation, of which a task forms memories.

    The answer names the task, and Location is its address.
    """
    return accepted_response(
        req.owner,
        await req.core.converse(req.owner, req.input, req.call),
        req.input.messages.ignored,
    )


# Messages that are gathered session by session, and formed together.


_BATCH = "api/v1/memories/batch"


@blueprint.route(route=_BATCH, methods=["POST"])
@gated("write", body=BatchInput)
async def memories_batch_append(req: Admitted[BatchInput]) -> HttpResponse:
    """Add messages to a session's batch.

    The batch is formed when it is large enough, when no message follows for a while, or on request.
    """
    return buffered_response(
        await req.core.batch(req.owner, req.input, req.call),
        status=202,
        ignored=req.input.messages.ignored,
    )


@blueprint.route(route=_BATCH, methods=["GET"])
@gated("read", query=SessionInput)
async def memories_batch_state(req: Admitted[SessionInput]) -> HttpResponse:
    """How many messages of a session wait, and until when."""
    return buffered_response(await req.core.batch_state(req.owner, req.input.session_id))


@blueprint.route(route=f"{_BATCH}/flush", methods=["POST"])
@gated("write", body=SessionInput)
async def memories_batch_flush(req: Admitted[SessionInput]) -> HttpResponse:
    """Form the waiting messages of a session now.

    If no message waits, the answer is the empty batch.
    """
    from memory_core.domain.results import Buffered

    accepted = await req.core.batch_flush(req.owner, req.input.session_id, req.call)
    return (
        buffered_response(Buffered(0, None))
        if accepted is None
        else accepted_response(req.owner, accepted)
    )


# An agent's own: its words, to be kept as they come, and summaries of whatever it was told.


_AGENT = "api/v1/agent"


@blueprint.route(route=f"{_AGENT}/memories", methods=["POST"])
@gated("write", body=AgentMemoryInput)
async def agent_memories(req: Admitted[AgentMemoryInput]) -> HttpResponse:
    """Keep an agent's own words as a single memory.

    The words are summarized once, by a fast summary, and compared with no other memory.
    """
    return accepted_response(
        req.owner,
        await req.core.agent_memory(req.owner, req.input, req.call),
        req.input.messages.ignored,
    )


@blueprint.route(route=f"{_AGENT}/summaries", methods=["POST"])
@gated("write", body=SummaryInput, nameless=True)
async def agent_summaries(req: Admitted[SummaryInput]) -> HttpResponse:
    """Summarize messages, without remembering any of them.

    user_id says whose tokens of the day are spent beside the app's. With a callback_url the summary
    is sent there, by a task of that user.
    """
    if req.input.callback_url is None:  # answered at once; otherwise a task calls back
        summary = await req.core.summary(
            req.owner.app_id, req.input, user_id=req.owner.user_id or None
        )
        return summary_response(summary, req.input.messages.ignored)
    if not req.owner.user_id:
        raise invalid(
            FieldError("user_id", "is required with callback_url: whose task is it to be?")
        )
    return accepted_response(
        req.owner,
        await req.core.summary_later(req.owner, req.input, req.call),
        req.input.messages.ignored,
    )


# Tasks: what goes on after a call was answered, to be watched, retried and cancelled.


_TASKS = "api/v1/tasks"
_TASK = f"{_TASKS}/{{task_id}}"


@blueprint.route(route=_TASKS, methods=["GET"])
@gated("read", query=TasksInput)
async def tasks_list(req: Admitted[TasksInput]) -> HttpResponse:
    """List a user's tasks, newest first.

    Finished tasks are listed for seven days, poisoned tasks until they are retried or cancelled.
    """
    page = await req.core.tasks(req.owner, req.input)
    return json_response(
        {"tasks": [task.public() for task in page.tasks], "next_cursor": page.next_cursor}
    )


@blueprint.route(route=_TASK, methods=["GET"])
@gated("read", query=Nothing)
async def task_get(req: Admitted[Nothing]) -> HttpResponse:
    """A task with its progress, and its result or error."""
    return json_response((await req.core.task(req.owner, req.route["task_id"])).public())


@blueprint.route(route=f"{_TASK}/retry", methods=["POST"])
@gated("write", body=Nothing)
async def task_retry(req: Admitted[Nothing]) -> HttpResponse:
    """Restart a task that failed, is poisoned or waits."""
    return json_response(
        (await req.core.retry(req.owner, req.route["task_id"], req.call)).public(), status=202
    )


@blueprint.route(route=f"{_TASK}/cancel", methods=["POST"])
@gated("write", body=Nothing)
async def task_cancel(req: Admitted[Nothing]) -> HttpResponse:
    """End a task that is not done; the memories that it has formed stay."""
    return json_response(
        (await req.core.cancel(req.owner, req.route["task_id"], req.call)).public()
    )

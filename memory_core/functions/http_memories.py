"""Save, find, read and change memories.

Azure's host chooses between overlapping routes by the alphabetical order of the functions' names,
not by which route is more literal. Therefore functions with a fixed path are named `memories_…`,
and functions with `{memory_id}` are named `memory_…`, which comes later.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import azure.functions as func
from azure.functions import HttpResponse

from memory_core.domain.errors import FieldError, Invalid, MemoryCoreError
from memory_core.domain.redaction.requests import renumber
from memory_core.domain.requests.memories import (
    AppendInput,
    ClearInput,
    ContextInput,
    CopyInput,
    NamedInput,
    RetrieveInput,
    SaveInput,
    StatusInput,
    TagsInput,
    UpdateInput,
)
from memory_core.functions.gate import SCOPE, Admitted, another_app, gated
from memory_core.functions.request_parsing import (
    BulkInput,
    EvolutionInput,
    FetchInput,
    GetInput,
    GraphInput,
    ListViewInput,
    Nothing,
    QueryInput,
    RetrieveViewInput,
    SaveViewInput,
    SessionMessagesInput,
    SessionsInput,
    TakeBackInput,
    from_json,
    from_query,
    invalid,
)
from memory_core.functions.responses import (
    appended_response,
    context_response,
    deleted_response,
    fetched_response,
    graph_response,
    json_response,
    memories_response,
    memory_response,
    problem,
    retrieved_response,
    saved_body,
    saved_response,
    settled_response,
    without_secrets,
)
from memory_core.functions.views import shape_of

blueprint = func.Blueprint()
_MEMORIES = "api/v1/memories"
_MEMORY = f"{_MEMORIES}/{{memory_id}}"


@blueprint.route(route=f"{_MEMORIES}/save", methods=["POST"])
@gated("write", body=SaveViewInput)
async def memories_save(req: Admitted[SaveViewInput]) -> HttpResponse:
    """Save a memory."""
    return saved_response(
        await req.core.save(req.owner, req.input, req.call), shape_of(req.input.view)
    )


@blueprint.route(route=f"{_MEMORIES}/bulk", methods=["POST"])
@gated("write", body=BulkInput)
async def memories_bulk(req: Admitted[BulkInput]) -> HttpResponse:
    """Save up to 100 memories; each has its own result, in order.

    With atomic, all are saved or none.
    """
    good: dict[int, SaveInput] = {}
    refused: dict[int, MemoryCoreError] = {}
    for place, item in enumerate(req.input.memories):
        try:
            good[place] = _bulk_item(req, item, f"memories.{place}.")
        except MemoryCoreError as error:
            refused[place] = error
    if req.input.atomic and refused:
        raise invalid(*(field for error in refused.values() for field in error.errors))
    results = {place: _bulk_problem(req, error) for place, error in refused.items()}
    saved = (
        await req.core.bulk(req.owner, [*good.values()], req.call, atomic=req.input.atomic)
        if good
        else []
    )
    renumber("memories", [*good])
    for place, outcome in zip(good, saved, strict=True):
        if isinstance(outcome, MemoryCoreError):
            results[place] = _bulk_problem(req, _of_item(outcome, f"memories.{place}."))
        else:
            results[place] = {
                "status": outcome.status,
                **saved_body(outcome, shape_of(req.input.view)),
            }
    return json_response({"results": [results[place] for place in sorted(results)]}, status=207)


@blueprint.route(route=f"{_MEMORIES}/get", methods=["POST"])
@gated("read", body=FetchInput)
async def memories_get(req: Admitted[FetchInput]) -> HttpResponse:
    """Read up to 100 memories by id or key, in the requested order.

    A key names a procedural memory.
    """
    return fetched_response(await req.core.get_many(req.owner, req.input), shape_of(req.input.view))


@blueprint.route(route=f"{_MEMORIES}/delete", methods=["POST"])
@gated("write", body=NamedInput)
async def memories_delete(req: Admitted[NamedInput]) -> HttpResponse:
    """Soft-delete up to 100 memories by id or key.

    A key names a procedural memory. Each memory has its own result, in order.
    """
    outcomes = await req.core.delete_many(req.owner, req.input, req.call)
    names: list[dict[str, Any]] = [
        *({"id": name} for name in req.input.ids),
        *({"key": without_secrets(key)} for key in req.input.keys),
    ]
    results = [
        {**name, **_bulk_problem(req, outcome)}
        if isinstance(outcome, MemoryCoreError)
        else {**name, "status": 200, "outcome": outcome.outcome}
        for name, outcome in zip(names, outcomes, strict=True)
    ]
    return json_response({"results": results}, status=207)


@blueprint.route(route="api/v1/tags", methods=["GET"])
@gated("read", query=TagsInput)
async def tags_list(req: Admitted[TagsInput]) -> HttpResponse:
    """List the tags that a user's memories have, in order.

    With prefix, list the tags that begin with it.
    """
    page = await req.core.tags(req.owner, req.input)
    return json_response({"tags": page.tags, "next_cursor": page.next_cursor})


@blueprint.route(route=f"{_MEMORIES}/retrieve", methods=["POST"])
@gated("read", body=RetrieveViewInput)
async def memories_retrieve(req: Admitted[RetrieveViewInput]) -> HttpResponse:
    """Find the memories that answer a query."""
    retrieved = await req.core.retrieve(req.owner, req.input)
    return retrieved_response(retrieved, view=req.input.view, explain=req.input.explain)


@blueprint.route(route=f"{_MEMORIES}/query", methods=["GET"])
@gated("read", query=QueryInput)
async def memories_query(req: Admitted[QueryInput]) -> HttpResponse:
    """Find memories by a query string: the short form of retrieve."""
    asked = req.input.model_dump(exclude={"view"})
    asked["limit"] = asked.pop("n_results")
    retrieved = await req.core.retrieve(req.owner, from_query(RetrieveInput, asked))
    return retrieved_response(retrieved, view=req.input.view, explain=False)


@blueprint.route(route=f"{_MEMORIES}/clear", methods=["POST"])
@gated("write", body=ClearInput)
async def memories_clear(req: Admitted[ClearInput]) -> HttpResponse:
    """Soft-delete the memories of a session, all or those of a type."""
    return json_response({"cleared": await req.core.clear(req.owner, req.input, req.call)})


@blueprint.route(route=_MEMORIES, methods=["GET"])
@gated("read", query=ListViewInput)
async def memories_list(req: Admitted[ListViewInput]) -> HttpResponse:
    """List memories, newest first, or oldest first with order=asc."""
    page = await req.core.list(req.owner, req.input)
    return memories_response(page, req.input.shape, logged_only=req.input.known_at is not None)


@blueprint.route(route=_MEMORY, methods=["GET"])
@gated("read", query=GetInput)
async def memory_get(req: Admitted[GetInput]) -> HttpResponse:
    """Read a memory as it is now, was valid, or was known at a moment."""
    asked = req.input
    result = await req.core.look_at(
        req.owner, req.route["memory_id"], at=asked.at, known_at=asked.known_at
    )
    if asked.at is None and asked.known_at is None:
        return memory_response(result.memory, include_embedding=asked.include == "embedding")
    return settled_response(
        result,
        logged_only=asked.known_at is not None,
        include_embedding=asked.include == "embedding",
    )


@blueprint.route(route=_MEMORY, methods=["PUT"])
@gated("write", body=UpdateInput)
async def memory_update(req: Admitted[UpdateInput]) -> HttpResponse:
    """Write a new version of a semantic or procedural memory.

    If-Match says which version it replaces.
    """
    return memory_response(
        await req.core.update(req.owner, req.route["memory_id"], req.input, req.if_match, req.call)
    )


@blueprint.route(route=_MEMORY, methods=["DELETE"])
@gated("write", query=Nothing)
async def memory_delete(req: Admitted[Nothing]) -> HttpResponse:
    """Soft-delete a memory.

    `outcome` tells whether it was deleted already. With If-Match, delete only the revision that it
    names.
    """
    return deleted_response(
        await req.core.delete(req.owner, req.route["memory_id"], req.call, if_match=req.if_match)
    )


@blueprint.route(route=f"{_MEMORY}/status", methods=["PATCH"])
@gated("write", body=StatusInput)
async def memory_status(req: Admitted[StatusInput]) -> HttpResponse:
    """Set the status explicitly to deleted, or back to active.

    Any other status is a 409 that names these two.
    """
    return memory_response(
        await req.core.set_status(req.owner, req.route["memory_id"], req.input, req.call)
    )


@blueprint.route(route=f"{_MEMORY}/copy", methods=["POST"])
@gated("write", body=CopyInput)
async def memory_copy(req: Admitted[CopyInput]) -> HttpResponse:
    """Copy a memory to another agent of the same user."""
    return memory_response(
        await req.core.copy(req.owner, req.route["memory_id"], req.input, req.call), status=201
    )


@blueprint.route(route=f"{_MEMORY}/versions", methods=["GET"])
@gated("read", query=Nothing)
async def memory_versions(req: Admitted[Nothing]) -> HttpResponse:
    """List every version of a memory, the oldest first."""
    return json_response({"versions": await req.core.versions(req.owner, req.route["memory_id"])})


@blueprint.route(route=f"{_MEMORY}/evolution", methods=["GET"])
@gated("read", query=EvolutionInput)
async def memory_evolution(req: Admitted[EvolutionInput]) -> HttpResponse:
    """List the memories that replaced a memory, that it replaced, or both.

    They come in order.
    """
    evolution = await req.core.evolution(req.owner, req.route["memory_id"], req.input.direction)
    return json_response(
        {
            "memories": [memory.public() for memory in evolution.memories],
            "complete": evolution.complete,
        }
    )


@blueprint.route(route=f"{_MEMORY}/evolution/graph", methods=["GET"])
@gated("read", query=GraphInput)
async def memory_evolution_graph(req: Admitted[GraphInput]) -> HttpResponse:
    """Draw the evolution of a memory.

    The drawing is Mermaid or Graphviz source, or a page of its own.
    """
    return graph_response(
        await req.core.evolution_graph(req.owner, req.route["memory_id"], req.input.format),
        req.input.format,
    )


def _bulk_item(req: Admitted[BulkInput], item: object, prefix: str) -> SaveInput:
    """Check an item of a bulk as a save.

    It may repeat the request's scope, but never name another.
    """
    if not isinstance(item, Mapping):
        raise invalid(FieldError(prefix.rstrip("."), "must be a JSON object"))
    if item.get("app_id", req.owner.app_id) != req.owner.app_id:
        raise another_app(f"{prefix}app_id", req.caller)
    if item.get("user_id", req.owner.user_id) != req.owner.user_id:
        raise invalid(
            FieldError(f"{prefix}user_id", "differs from the request's: one bulk is about one user")
        )
    fields = {field: value for field, value in item.items() if field not in ("app_id", "user_id")}
    return from_json(SaveInput, fields, prefix, now=req.core.clock.now(), also=SCOPE)


def _of_item(error: MemoryCoreError, prefix: str) -> MemoryCoreError:
    """An item's own error, with its fields named by their paths in the request."""
    if not isinstance(error, Invalid):
        return error
    return invalid(*(replace(field, field=prefix + field.field) for field in error.errors))


def _bulk_problem(req: Admitted[Any], error: MemoryCoreError) -> dict[str, Any]:
    return {
        "status": error.status,
        "problem": problem(error, req.path, req.call.correlation_id or ""),
    }


# Sessions as groups of memories, and procedures by their key.


@blueprint.route(route="api/v1/sessions", methods=["GET"])
@gated("read", query=SessionsInput)
async def sessions_list(req: Admitted[SessionsInput]) -> HttpResponse:
    """List a user's sessions, the session that began last first."""
    page = await req.core.sessions(req.owner, req.input.cursor, req.input.limit)
    return json_response({"sessions": page.sessions, "next_cursor": page.next_cursor})


@blueprint.route(route="api/v1/sessions/{session_id}", methods=["GET"])
@gated("read", query=Nothing)
async def session_get(req: Admitted[Nothing]) -> HttpResponse:
    """A session: when it ran, and how many memories of each type it has."""
    return json_response(await req.core.session(req.owner, req.route["session_id"]))


@blueprint.route(route="api/v1/sessions/{session_id}/messages", methods=["GET"])
@gated("read", query=SessionMessagesInput)
async def session_messages(req: Admitted[SessionMessagesInput]) -> HttpResponse:
    """List the messages of a session in the order in which they were sent.

    With order=desc, the order is reversed.
    """
    asked = req.input
    newest_first = asked.order == "desc"
    page = await req.core.session_messages(
        req.owner, req.route["session_id"], asked.cursor, asked.limit, newest_first=newest_first
    )
    return json_response(
        {
            "messages": [message.public() for message in page.messages],
            "next_cursor": page.next_cursor,
        }
    )


@blueprint.route(route="api/v1/sessions/{session_id}/messages", methods=["POST"])
@gated("write", body=AppendInput)
async def session_messages_append(req: Admitted[AppendInput]) -> HttpResponse:
    """Append messages to a session unchanged, in order.

    With form, memories are formed of them too.
    """
    return appended_response(
        req.owner, await req.core.append(req.owner, req.route["session_id"], req.input, req.call)
    )


@blueprint.route(route="api/v1/sessions/{session_id}/messages/last", methods=["DELETE"])
@gated("write", query=TakeBackInput)
async def session_messages_take_back(req: Admitted[TakeBackInput]) -> HttpResponse:
    """Take back the last turn of a session, or its last messages.

    All memories that came of them alone go too. The answer lists the messages, the oldest first.
    """
    taken = await req.core.take_back(req.owner, req.route["session_id"], req.input.count, req.call)
    return json_response(
        {"messages": [message.public() for message in taken.messages], "memories": taken.memories}
    )


@blueprint.route(route="api/v1/procedures/{key}", methods=["GET"])
@gated("read", query=Nothing)
async def procedure_get(req: Admitted[Nothing]) -> HttpResponse:
    """The procedural memory with this key. A slash in the key is written %2F."""
    return memory_response(await req.core.procedure(req.owner, req.route["key"]))


@blueprint.route(route="api/v1/context", methods=["POST"])
@gated("read", body=ContextInput)
async def context(req: Admitted[ContextInput]) -> HttpResponse:
    """Assemble the context for an agent's next turn.

    It has standing instructions, the profile, foresight that holds now, memories that matter to the
    query, and the last messages.
    """
    messages = req.input.messages
    return context_response(
        await req.core.context(req.owner, req.input), () if messages is None else messages.ignored
    )

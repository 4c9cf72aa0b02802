"""Responses: answers as JSON, and errors as `application/problem+json`.

They turn results of `MemoryCore` into the JSON and the headers of the HTTP contract.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import orjson
from azure.functions import HttpResponse

from memory_core.domain.errors import FieldError, MemoryCoreError, MethodNotAllowed, TooManyRequests
from memory_core.domain.memory import UNLOGGED_FIELDS, Memory
from memory_core.domain.rate_limits import Spent
from memory_core.domain.redaction.requests import Redactor, collected_redactions
from memory_core.domain.requests.memories import Context
from memory_core.domain.scope import Owner
from memory_core.functions.suggestions import suggest_field
from memory_core.functions.views import Shape, View, brief, brief_hit, brief_of_saved, full
from memory_core.recollection.graph.style import POLICY

if TYPE_CHECKING:
    from memory_core.domain.results import (
        Accepted,
        Appended,
        Buffered,
        Deleted,
        EventPage,
        Fetched,
        Foreseen,
        Hit,
        MemoryPage,
        Retrieved,
        Saved,
        Settled,
        Summary,
    )

GRAPH_MEDIA = {"mermaid": "text/vnd.mermaid", "dot": "text/vnd.graphviz", "html": "text/html"}
MESSAGE_FIELDS = ("role", "content", "timestamp", "actor", "id")
_OF_A_MESSAGE = 3
"""Parts of the name of a message's own ignored field, such as "messages.*.date"."""
_OPTIONS = orjson.OPT_UTC_Z | orjson.OPT_SERIALIZE_NUMPY


def json_response(
    value: Any, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    """Serialize a value as JSON.

    Datetimes end in Z, and dataclasses are objects. An object also lists the redactions of the
    request.

    Args:
        value: The value.
        status: Status of the response.
        headers: Further headers.

    """
    if isinstance(value, dict) and (redactions := collected_redactions()):
        value = {**value, "redacted": redactions}
    return HttpResponse(
        orjson.dumps(value, option=_OPTIONS),
        status_code=status,
        headers=headers,
        mimetype="application/json",
    )


def memory_response(
    memory: Memory, *, status: int = 200, include_embedding: bool = False
) -> HttpResponse:
    """A memory, with the ETag that its next PUT has to send as If-Match.

    Args:
        memory: The memory.
        status: Status of the response.
        include_embedding: Whether the vector is shown.

    """
    return json_response(
        memory.public(include_embedding=include_embedding),
        status=status,
        headers={"ETag": memory.etag},
    )


def deleted_response(deleted: Deleted) -> HttpResponse:
    """A deleted memory, and whether this call deleted it."""
    return json_response(
        {**deleted.memory.public(), "outcome": deleted.outcome},
        headers={"ETag": deleted.memory.etag},
    )


def settled_response(
    result: Settled, *, logged_only: bool, include_embedding: bool = False
) -> HttpResponse:
    """A memory of a past moment, with the sequence of the log of that state.

    Args:
        result: The memory and the sequence.
        logged_only: Leave out the fields that no event records.
        include_embedding: Whether the vector is shown.

    """
    fields = (
        _as_logged(result.memory)
        if logged_only
        else result.memory.public(include_embedding=include_embedding)
    )
    return json_response(
        {**fields, "as_of_sequence": result.as_of_sequence}, headers={"ETag": result.memory.etag}
    )


def memories_response(
    page: MemoryPage, shape: Shape = full, *, logged_only: bool = False
) -> HttpResponse:
    """A page of memories.

    Args:
        page: The memories and the cursor.
        shape: How a memory is shown.
        logged_only: Leave out the fields that no event records, if the page was derived from the
            log.

    """
    memories = [
        shape(_as_logged(memory) if logged_only else memory.public()) for memory in page.memories
    ]
    damaged = {"damaged": page.damaged} if page.damaged else {}
    return json_response(
        {
            "memories": memories,
            "as_of_sequence": page.as_of_sequence,
            "next_cursor": page.next_cursor,
            **damaged,
        }
    )


def fetched_response(fetched: Fetched, shape: Shape) -> HttpResponse:
    """Memories by name, and the names that were not found.

    Args:
        fetched: The memories and the names.
        shape: How a memory is shown.

    """
    damaged = {"damaged": fetched.damaged} if fetched.damaged else {}
    memories = [shape(memory.public()) for memory in fetched.memories]
    return json_response({"memories": memories, "missing": fetched.missing, **damaged})


def events_response(page: EventPage) -> HttpResponse:
    """A page of the log."""
    return json_response(
        {"events": [event.public() for event in page.events], "next_cursor": page.next_cursor}
    )


def _as_logged(memory: Memory) -> dict[str, Any]:
    return {name: value for name, value in memory.public().items() if name not in UNLOGGED_FIELDS}


def saved_response(saved: Saved, shape: Shape) -> HttpResponse:
    """The result of a save, with the ETag of the memory that holds the statement.

    Args:
        saved: The result.
        shape: How the memory is shown.

    """
    return json_response(
        saved_body(saved, shape), status=saved.status, headers={"ETag": saved.memory.etag}
    )


def saved_body(saved: Saved, shape: Shape) -> dict[str, Any]:
    """Outcome, memory and conflict of a save, and the dependencies that it went without.

    Args:
        saved: The result.
        shape: How the memory is shown.

    """
    return {
        "outcome": saved.outcome,
        "memory": (brief_of_saved if shape is brief else shape)(saved.public),
        "conflict": saved.conflict.public() if saved.conflict else None,
        "degraded": saved.degraded,
    }


def accepted_response(
    owner: Owner, accepted: Accepted, ignored: Sequence[str] = ()
) -> HttpResponse:
    """A task that goes on, and its address.

    The status is 200 if no message of a conversation was new. The task is then that of the messages
    sent last.

    Args:
        owner: App and user whose task it is.
        accepted: The task.
        ignored: Unknown fields of messages; the answer names them if there are any.

    """
    body: dict[str, Any] = {
        "task_id": accepted.task_id,
        "status": "accepted",
        "degraded": accepted.degraded,
        **_ignored(ignored),
    }
    if accepted.messages is not None:
        body["messages"] = accepted.messages._asdict()
    known = accepted.messages is not None and not accepted.messages.new
    where = f"/api/v1/tasks/{accepted.task_id}?user_id={quote(owner.user_id, safe='')}"
    return json_response(body, status=200 if known else 202, headers={"Location": where})


def appended_response(owner: Owner, appended: Appended) -> HttpResponse:
    """The memories that were appended to a session.

    If memories are formed of them, the answer has the task and its address.

    Args:
        owner: App and user whose session it is.
        appended: The memories and the task.

    """
    body: dict[str, Any] = {"memory_ids": appended.memory_ids, "degraded": appended.degraded}
    if appended.task_id is None:
        return json_response(body, status=201)
    location = f"/api/v1/tasks/{appended.task_id}?user_id={quote(owner.user_id, safe='')}"
    return json_response(
        {**body, "task_id": appended.task_id}, status=201, headers={"Location": location}
    )


def upkeep_response(owner: Owner, answer: Accepted | Foreseen) -> HttpResponse:
    """A task as in `accepted_response`, or the counts of a dry run.

    Args:
        owner: App and user whose task it is.
        answer: The task, or the counts.

    """
    from memory_core.domain.results import Accepted

    if isinstance(answer, Accepted):
        return accepted_response(owner, answer)
    not_found = {"not_found": answer.not_found} if answer.not_found else {}
    return json_response({"counts": dict(answer.counts), "capped": answer.capped, **not_found})


def buffered_response(
    buffered: Buffered, *, status: int = 200, ignored: Sequence[str] = ()
) -> HttpResponse:
    """The state of a batch, with its task if this call handed it over.

    Args:
        buffered: The state and the task.
        status: Status of the response; other than 200, the answer names degraded dependencies.
        ignored: Unknown fields of messages.

    """
    body: dict[str, Any] = {
        "buffered": buffered.buffered,
        "flush_at": buffered.flush_at,
        **_ignored(ignored),
    }
    if buffered.task_id is not None:
        body["task_id"] = buffered.task_id
    if status != 200:
        body["degraded"] = buffered.degraded
    return json_response(body, status=status)


def summary_response(summary: Summary, ignored: Sequence[str] = ()) -> HttpResponse:
    """A summary.

    Args:
        summary: The summary.
        ignored: Unknown fields of messages.

    """
    return json_response({**summary.public(), **_ignored(ignored)})


def context_response(context: Context, ignored: Sequence[str] = ()) -> HttpResponse:
    """The context of a turn.

    Args:
        context: The context.
        ignored: Unknown fields of messages.

    """
    return json_response({**context.public(), **_ignored(ignored)})


def _ignored(names: Sequence[str]) -> dict[str, Any]:
    if not names:
        return {}
    fields = [parts[2] for name in names if len(parts := name.split(".")) == _OF_A_MESSAGE]
    meant = dict.fromkeys(filter(None, (suggest_field(name, MESSAGE_FIELDS) for name in fields)))
    return {
        "ignored": [without_secrets(name) for name in names],
        **({"did_you_mean": ", ".join(meant)} if meant else {}),
    }


def retrieved_response(result: Retrieved, *, view: View, explain: bool) -> HttpResponse:
    """The results of a query.

    Args:
        result: The results.
        view: Whether results are shown briefly or fully.
        explain: Show how each result got its place, and the charge of the store.

    """
    show = brief_hit if view == "brief" else _hit
    body: dict[str, Any] = {
        "results": [
            {**show(hit), **({"explain": hit.explain} if explain else {})} for hit in result.results
        ],
        "degraded": result.degraded,
        "as_of_sequence": result.as_of_sequence,
        "next_cursor": result.next_cursor,
    }
    if not result.results:
        body["nearest"] = result.nearest
    if result.context is not None:
        body["context"], body["citations"] = result.context, result.citations
        body |= {"rounds": result.rounds, "sufficient": result.sufficient, "why": result.why}
    if explain:
        body["explain"] = result.explain
    return json_response(body)


def graph_response(text: str, form: str) -> HttpResponse:
    """A drawing that no cache keeps and no browser takes for another type.

    It shows memories of a single user.

    Args:
        text: The drawing.
        form: `mermaid`, `dot` or `html`.

    """
    headers = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}
    if form == "html":
        headers |= {"Content-Security-Policy": POLICY, "Referrer-Policy": "no-referrer"}
    return HttpResponse(text, mimetype=GRAPH_MEDIA[form], headers=headers)


def _hit(hit: Hit) -> dict[str, Any]:
    return {
        "rank": hit.rank,
        "memory": orjson.Fragment(hit.serialized.json),
        "similarity_score": hit.similarity_score,
        "lexical_score": hit.lexical_score,
        "relevance_score": hit.relevance_score,
        "recency_score": hit.recency_score,
        "importance_score": hit.importance_score,
        "frequency_score": hit.frequency_score,
        "confidence_score": hit.confidence_score,
        "score": hit.score,
        "composite_score": hit.composite_score,
        "tier": hit.tier,
        "age_days": hit.age_days,
        "matched_by": hit.matched_by,
        "also": hit.also,
        "passages": [passage.public() for passage in hit.passages],
        "stale_facts": hit.stale_facts,
        "replaced_by": hit.replaced_by,
        "disputed_by": hit.disputed_by,
    }


# Errors as `application/problem+json` (RFC 9457).
#
# The answer to an unexpected error has only its correlation id; the log has the rest.


PROBLEM_TYPE = "application/problem+json"
_DEFAULT_RETRY_S = 1
_secrets = Redactor(["secrets"])
"""Redacts the parts of a request that an answer repeats.

They are names of fields, keys, and the path.
"""


def without_secrets(text: str) -> str:
    """A caller's text for an answer or a log, whatever kinds are redacted in memories."""
    return _secrets.text(text)


def problem(error: MemoryCoreError, instance: str, correlation_id: str) -> dict[str, Any]:
    """The members of a problem.

    Args:
        error: The error.
        instance: Path of the request, without its query (a query may be private).
        correlation_id: Names the request in logs.

    """
    fields: dict[str, Any] = {
        "type": f"urn:memory-core:problem:{error.type}",
        "title": error.title,
        "status": error.status,
        "detail": _secrets.text(error.detail),
        "instance": _secrets.text(instance),
        "correlation_id": correlation_id,
        "errors": [_field_problem(field) for field in error.errors],
    }
    if suggestion := error.did_you_mean or ", ".join(
        dict.fromkeys(field.did_you_mean for field in error.errors if field.did_you_mean)
    ):
        fields["did_you_mean"] = suggestion
    return fields


def _field_problem(error: FieldError) -> dict[str, str]:
    suggestion = {} if error.did_you_mean is None else {"did_you_mean": error.did_you_mean}
    return {
        "field": _secrets.text(error.field),
        "message": _secrets.text(error.message),
        **suggestion,
    }


def rate_headers(spent: Spent | None) -> dict[str, str]:
    """`RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers).

    They give requests and seconds of each limit, and the requests that are left.
    """
    if spent is None:
        return {}
    policies = (
        f'"{level.bucket.name}";q={level.bucket.rate.requests};w={level.bucket.rate.seconds}'
        for level in spent.levels
    )
    left = (
        f'"{level.bucket.name}";r={level.remaining};t={ceil(level.ahead_s)}'
        for level in spent.levels
    )
    return {"RateLimit-Policy": ", ".join(policies), "RateLimit": ", ".join(left)}


def problem_response(error: MemoryCoreError, instance: str, correlation_id: str) -> HttpResponse:
    """The answer to a request that failed.

    Args:
        error: The error.
        instance: Path of the request, without its query.
        correlation_id: Names the request in logs.

    """
    headers = {"X-Correlation-Id": correlation_id}
    if error.status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="memory-core"'
    if isinstance(error, MethodNotAllowed):
        headers["Allow"] = error.allowed
    if isinstance(error, TooManyRequests):
        headers |= rate_headers(error.spent)
    if error.status in (429, 503):
        headers["Retry-After"] = str(error.retry_after_s or _DEFAULT_RETRY_S)
    return HttpResponse(
        orjson.dumps(problem(error, instance, correlation_id)),
        status_code=error.status,
        headers=headers,
        mimetype=PROBLEM_TYPE,
    )

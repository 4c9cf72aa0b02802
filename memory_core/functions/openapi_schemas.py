"""The schemas of answers, for the OpenAPI document.

They are made from the models, or written down where an answer is no model. Note: a model's schema
describes stored data. `_as_shown` removes fields that never leave the product.
"""

from __future__ import annotations

from typing import Any, get_args

from pydantic import TypeAdapter

from memory_core.domain.access import RIGHTS, Action, KeyStatus
from memory_core.domain.conflict import ConflictRecord
from memory_core.domain.conversation import TASK_FIELDS, Task
from memory_core.domain.memory import INTERNAL_FIELDS, UNLOGGED_FIELDS, Event, Memory, Outcome
from memory_core.domain.requests.maintenance import UserSettings
from memory_core.domain.requests.memories import PartKind
from memory_core.domain.results import AgentView, SessionMessage, SessionView, Tier, VersionView
from memory_core.domain.scenes import Profile, SceneView

Schema = dict[str, Any]
EXPECTED_AT = (
    "Only where there is nothing yet: by when the run has begun that looks for it; null where "
    "nothing waits to be looked at"
)
REF = "#/components/schemas/{model}"
TEXT: Schema = {"type": "string"}
INTEGER: Schema = {"type": "integer"}
MOMENT: Schema = {"type": "string", "format": "date-time"}
CURSOR: Schema = {
    "type": ["string", "null"],
    "description": "What to send as `cursor` for the next page; null on the last",
}
DELETION: Schema = {"enum": ["deleted", "already_deleted"]}
IGNORED: Schema = {
    "ignored": {
        "type": "array",
        "items": TEXT,
        "description": (
            "Only when there are any: fields and kinds of the messages that are not known"
        ),
    },
    "did_you_mean": {
        **TEXT,
        "description": "Only when it is known: the fields that were meant by ignored ones",
    },
}


REDACTED: Schema = {
    "redacted": {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"field": TEXT, "kind": TEXT, "count": INTEGER},
            "required": ["field", "kind", "count"],
        },
        "description": (
            "Only when there is any: what was replaced in the request by a mark, such as "
            "[redacted: github token]"
        ),
    }
}

PARTS: Schema = {
    "type": "array",
    "items": {"type": "object", "additionalProperties": True},
    "description": (
        "The content in parts: of an appended message as they came, else its texts; empty where "
        "nothing is said"
    ),
}


def answer_schemas() -> dict[str, Schema]:
    """The schemas of all answers, with the models they refer to."""
    schemas: dict[str, Schema] = {}
    for kind in (
        Memory,
        Event,
        ConflictRecord,
        VersionView,
        SessionView,
        SessionMessage,
        AgentView,
        SceneView,
        Profile,
        UserSettings,
    ):
        schema = TypeAdapter(kind).json_schema(mode="serialization", ref_template=REF)
        schemas.update(schema.pop("$defs", {}))
        schemas[kind.__name__] = schema
    _as_shown(schemas)
    schemas["Profile"]["properties"]["expected_at"] = {
        "type": ["string", "null"],
        "format": "date-time",
        "description": EXPECTED_AT,
    }
    schemas.update(_shapes())
    return schemas


def _as_shown(schemas: dict[str, Schema]) -> None:
    """Remove fields that never leave the product, and add those that are shown beside it."""
    schemas["Event"]["properties"].pop("epoch")
    schemas["SceneView"]["properties"].pop("members")
    schemas.pop("SceneMember")
    properties = schemas["Memory"]["properties"]
    for name in INTERNAL_FIELDS & properties.keys():
        properties.pop(name)
    schemas.pop("Lexical", None)
    for name in ("grounds", "moves"):
        schemas["ConflictRecord"]["properties"].pop(name)
    schemas.pop("Move", None)
    schemas["ConflictRecord"]["properties"]["rejected_content"] = {
        "type": ["string", "null"],
        "description": "The text that was not stored",
    }
    # Fields that no event records are left out of states that are derived from the log.
    schemas["Memory"]["required"] = [
        name
        for name in schemas["Memory"]["required"]
        if name in properties and name not in UNLOGGED_FIELDS
    ]
    properties["as_of_sequence"] = {
        "type": ["integer", "null"],
        "description": "Only with at or known_at",
    }
    properties["embedding"] = {
        "type": ["array", "null"],
        "items": {"type": "number"},
        "description": "Only with include=embedding",
    }
    schemas["ShownMemory"] = {
        **schemas["Memory"],
        "title": "ShownMemory",
        "description": (
            "A memory: brief, without what is null, empty or a default; with view=full whole; or "
            "the fields that are named"
        ),
        "required": ["id"],
        "properties": {**properties},
    }
    schemas["Deleted"] = {
        **schemas["Memory"],
        "title": "Deleted",
        "description": "The memory that is deleted now, and whether it was so before",
        "required": [*schemas["Memory"]["required"], "outcome"],
        "properties": {**properties, "outcome": DELETION},
    }
    properties.update(REDACTED)
    message = schemas["SessionMessage"]
    message["required"] = [name for name in message["required"] if name != "sent"]
    message["properties"]["parts"] = PARTS


def _shapes() -> dict[str, Schema]:
    """The answers that are no model, by name."""
    return {
        "Anything": {"type": "object"},
        "Text": TEXT,
        "Html": TEXT,
        "File": {},
        "Graph": TEXT,
        "Lines": TEXT,
        **_saved_and_refused(),
        **_found(),
        **_accepted(),
        **_pages(),
        **_access(),
    }


def _saved_and_refused() -> dict[str, Schema]:
    meant = {
        "type": "string",
        "description": (
            "What was probably meant: a field, a call or a setting; absent where nothing comes near"
        ),
    }
    error = _object({"field": TEXT, "message": TEXT, "did_you_mean": meant}, "field", "message")
    problem = {
        "type": TEXT,
        "title": TEXT,
        "status": INTEGER,
        "detail": TEXT,
        "instance": TEXT,
        "correlation_id": TEXT,
    }
    saved = {
        "outcome": {"enum": [outcome.value for outcome in Outcome]},
        "memory": ref("ShownMemory"),
        "conflict": {"anyOf": [ref("ConflictRecord"), {"type": "null"}]},
        "degraded": _list(TEXT),
    }
    deleted = {
        "id": TEXT,
        "key": TEXT,
        "status": INTEGER,
        "outcome": DELETION,
        "problem": ref("Problem"),
    }
    return {
        "Problem": _object(
            {**problem, "errors": _list(error), "did_you_mean": meant}, *problem, "errors"
        ),
        "Saved": _object({**saved, **REDACTED}, *saved),
        "BulkResults": _object(
            {"results": _list({"oneOf": [ref("BulkSaved"), ref("BulkProblem")]}), **REDACTED},
            "results",
        ),
        "BulkSaved": _object({"status": INTEGER, **saved}, "status", *saved),
        "BulkProblem": _object({"status": INTEGER, "problem": ref("Problem")}, "status", "problem"),
        "Cleared": _object({"cleared": INTEGER}, "cleared"),
        "DeleteResults": _object({"results": _list(_object(deleted, "status"))}, "results"),
    }


_EXPLAIN: Schema = {"type": ["object", "null"], "description": "Only when asked for"}


def _hit() -> Schema:
    """A result of a retrieve."""
    number, maybe = {"type": "number"}, {"type": ["number", "null"]}
    passage: Schema = {
        "text": TEXT,
        "actor": {"type": ["string", "null"]},
        "at": MOMENT,
        "message": TEXT,
        "relevance_score": number,
    }
    later: Schema = {"replaced": TEXT, "text": TEXT, "at": MOMENT, "memory_id": TEXT}
    hit: Schema = {"rank": {"type": "integer", "minimum": 1}, "memory": ref("ShownMemory")}
    hit |= dict.fromkeys(
        ("lexical_score", "relevance_score", "importance_score", "composite_score"), number
    )
    hit["score"] = number | {
        "description": (
            "The recipe's, of this memory alone. Results come by rank: a learned order, the turns "
            "around and a reranker may put a lower score before a higher one"
        )
    }
    hit |= dict.fromkeys(
        ("similarity_score", "recency_score", "frequency_score", "confidence_score"), maybe
    )
    hit |= {
        "tier": {"enum": list(get_args(Tier))},
        "age_days": {
            "type": ["integer", "null"],
            "description": "Of a memory that has faded, whole days since what it tells of",
        },
        "matched_by": _list(TEXT),
        "also": _list(TEXT),
        "stale_facts": _list({"type": "object"}),
        "replaced_by": _list(_object(later, *later))
        | {"description": "Later messages that replace a statement of it"},
        "disputed_by": _list(ref("Dispute"))
        | {"description": "The other sides of its open conflicts, the latest first"},
        "passages": _list(_object(passage, "text", "actor", "at", "message"))
        | {"description": "What was said that matched, best first, three at most"},
    }
    return _object(
        {**hit, "explain": _EXPLAIN}, "rank", "memory", "score", "relevance_score", "passages"
    ) | {"description": "With view=full all fields; a brief one says what is not as usual"}


def _found() -> dict[str, Schema]:
    number: Schema = {"type": "number"}
    near = _object(
        {"relevance_score": number, "answer_threshold": number},
        "relevance_score",
        "answer_threshold",
    )
    nearest: Schema = {
        "anyOf": [near, {"type": "null"}],
        "description": (
            "Only beside empty results: how near the nearest memory came, and how near it had to "
            "come; null without a candidate"
        ),
    }
    retrieved: Schema = {
        "results": _list(ref("Hit")),
        "degraded": _list(TEXT),
        "as_of_sequence": INTEGER,
        "nearest": nearest,
    }
    retrieved["next_cursor"] = CURSOR
    retrieved |= {
        "context": TEXT,
        "citations": _list(TEXT),
        "rounds": INTEGER,
        "sufficient": {"type": "boolean"},
        "why": TEXT,
    }
    part: Schema = {
        "kind": {"enum": list(get_args(PartKind))},
        "ids": _list(TEXT),
        "tokens": INTEGER,
    }
    parts = _list(_object(part, *part))
    context: Schema = {"context": TEXT, "parts": parts, "left_out": parts, "degraded": _list(TEXT)}
    not_found = {
        **_list(TEXT),
        "description": "Only when there are any: the ids that no memory of the user has",
    }
    return {
        "Hit": _hit(),
        "Retrieved": _object(
            {**retrieved, "explain": _EXPLAIN, **REDACTED},
            "results",
            "degraded",
            "as_of_sequence",
            "next_cursor",
        ),
        "Context": _object({**context, **IGNORED, **REDACTED}, *context),
        "Foreseen": _object(
            {"counts": {"type": "object"}, "capped": {"type": "boolean"}, "not_found": not_found},
            "counts",
            "capped",
        ),
        "Evolution": _object(
            {"memories": _list(ref("Memory")), "complete": {"type": "boolean"}},
            "memories",
            "complete",
        ),
        "Versions": _object({"versions": _list(ref("VersionView"))}, "versions"),
    }


def _accepted() -> dict[str, Schema]:
    readiness = {
        "status": {"enum": ["ready", "degraded", "unavailable"]},
        "dependencies": {"type": "object"},
        "checked_at": MOMENT,
        "detail": TEXT,
    }
    waits: Schema = {
        "buffered": INTEGER,
        "flush_at": {"type": ["string", "null"], "format": "date-time"},
    }
    accepted: Schema = {"task_id": TEXT, "status": {"const": "accepted"}, "degraded": _list(TEXT)}
    counted: Schema = {"new": INTEGER, "known": INTEGER}
    of_session = {
        "messages": _object(counted, *counted)
        | {"description": "Of a conversation: how many messages were new to its session"}
    }
    return {
        "Accepted": _object({**accepted, **of_session, **IGNORED, **REDACTED}, *accepted),
        "Appended": _object(
            {"memory_ids": _list(TEXT), "task_id": TEXT, "degraded": _list(TEXT), **REDACTED},
            "memory_ids",
            "degraded",
        ),
        "Batch": _object(waits, *waits),
        "Buffered": _object(
            {**waits, "task_id": TEXT, "degraded": _list(TEXT), **IGNORED, **REDACTED},
            *waits,
            "degraded",
        ),
        "Summary": _object(
            {
                "summary": TEXT,
                "structured": {"type": "object"},
                "degraded": _list(TEXT),
                **IGNORED,
                **REDACTED,
            },
            "summary",
            "degraded",
        ),
        "Task": _task(),
        "Readiness": _object(readiness, "status"),
        "Usage": _usage(),
    }


def _usage() -> Schema:
    limit: Schema = {"type": ["integer", "null"], "description": "null where there is none"}
    counted: Schema = {
        "type": ["integer", "null"],
        "description": "What processes have taken today to spend; null where nothing is counted",
    }
    stored: Schema = {"used": INTEGER, "limit": limit}
    tokens: Schema = {"used": counted, "limit": limit, "resets_at": MOMENT}
    usage: Schema = {
        "stored_bytes": _object(stored, *stored),
        "model_tokens": _object(tokens, *tokens),
    }
    return _object(usage, *usage)


def _pages() -> dict[str, Schema]:
    cursor = CURSOR
    as_of = {
        "type": ["integer", "null"],
        "description": (
            "The sequence of the log that this is the state of; null when others kept writing"
        ),
    }
    memories: Schema = {
        "memories": _list(ref("ShownMemory")),
        "as_of_sequence": as_of,
        "next_cursor": cursor,
    }
    damaged = _list(TEXT) | {
        "description": (
            "Only when there are any: ids of memories of this page whose stored documents can't "
            "be read"
        )
    }
    soon: Schema = {"type": ["string", "null"], "format": "date-time", "description": EXPECTED_AT}

    def page(field: str, items: Schema, **beside: Schema) -> Schema:
        return _object({field: _list(items), "next_cursor": cursor, **beside}, field, "next_cursor")

    return {
        "MemoryPage": _object({**memories, "damaged": damaged}, *memories),
        "Fetched": _object(
            {"memories": _list(ref("ShownMemory")), "missing": _list(TEXT), "damaged": damaged},
            "memories",
            "missing",
        ),
        "TagPage": page("tags", TEXT),
        "TaskPage": page("tasks", ref("Task")),
        "OwnedTaskPage": page("tasks", _task(user_id=TEXT)),
        "AgentPage": page("agents", ref("AgentView")),
        "ConflictPage": page("conflicts", ref("ConflictRecord")),
        "ScenePage": page("scenes", ref("SceneView"), expected_at=soon),
        "EventPage": page("events", ref("Event")),
        "SessionPage": page("sessions", ref("SessionView")),
        "MessagePage": page("messages", ref("SessionMessage")),
        "TakenBack": _object(
            {"messages": _list(ref("SessionMessage")), "memories": INTEGER}, "messages", "memories"
        ),
    }


def _access() -> dict[str, Schema]:
    maybe: Schema = {"type": ["string", "null"]}
    until: Schema = {**maybe, "format": "date-time"}
    key: Schema = {
        "key_id": TEXT,
        "app_id": TEXT,
        "name": maybe,
        "rights": _list({"enum": list(RIGHTS)}),
    }
    key |= {
        "user_id": {**maybe, "description": "The only user that it may name; null for any"},
        "created_at": MOMENT,
        "expires_at": until,
    }
    key |= {
        "last_used_at": {**until, "description": "At most an hour behind"},
        "status": {"enum": list(get_args(KeyStatus))},
    }
    secret = {"key": {**TEXT, "description": "The whole key: in this answer only"}}
    target = {
        "type": "object",
        "additionalProperties": TEXT,
        "description": "Ids: key_id, user_id, task_id; user for one who was erased",
    }
    entry: Schema = {
        "id": TEXT,
        "at": MOMENT,
        "actor": {**TEXT, "description": "The id of the key that asked"},
    }
    entry |= {"action": {"enum": list(get_args(Action))}, "target": target, "correlation_id": maybe}
    entry["outcome"] = {
        **TEXT,
        "description": "done; of a task accepted, and its status once it has ended",
    }
    beside: Schema = {
        "counts": {"type": "object", "additionalProperties": INTEGER},
        "mode": {"enum": ["soft", "hard"]},
    }
    cursor = {"next_cursor": CURSOR}
    return {
        "ApiKey": _object(key, *key),
        "NewKey": _object({**secret, **key}, *secret, *key),
        "RotatedKey": _object({**secret, **key, "replaces": TEXT}, *secret, *key, "replaces"),
        "KeyPage": _object({"keys": _list(ref("ApiKey")), **cursor}, "keys", "next_cursor"),
        "AuditEntry": _object({**entry, **beside}, *entry),
        "AuditPage": _object(
            {"entries": _list(ref("AuditEntry")), **cursor}, "entries", "next_cursor"
        ),
    }


def _task(**beside: Schema) -> Schema:
    """A task as it is shown: the fields of `Task.public`, and further fields."""
    whole = TypeAdapter(Task).json_schema(mode="serialization")["properties"]
    fields = {**beside, **{name: whole[name] for name in TASK_FIELDS}}
    return _object(fields, *fields)


def ref(name: str) -> Schema:
    """A reference to the schema of that name."""
    return {"$ref": REF.format(model=name)}


def _list(item: Schema) -> Schema:
    return {"type": "array", "items": item}


def _object(properties: Schema, *required: str) -> Schema:
    return {"type": "object", "properties": properties, "required": list(required)}

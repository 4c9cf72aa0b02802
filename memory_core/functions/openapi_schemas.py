"""The schemas of what is answered, for the OpenAPI document: made from the models, or written down where an answer is no model.

Note: a model's schema is what is stored; what never leaves the product is taken out of it in `_as_shown`.
"""

from __future__ import annotations

from typing import Any, get_args

from pydantic import TypeAdapter

from memory_core.domain.conflict import ConflictRecord
from memory_core.domain.context import PartKind
from memory_core.domain.models import INTERNAL_FIELDS, UNLOGGED_FIELDS, Event, Memory, Outcome
from memory_core.domain.results import AgentView, SessionMessage, SessionView, Tier, VersionView
from memory_core.domain.scene import Profile, SceneView
from memory_core.domain.task import TASK_FIELDS, Task
from memory_core.domain.user_settings import UserSettings

Schema = dict[str, Any]
EXPECTED_AT = "Only where there is nothing yet: by when the run has begun that looks for it; null where nothing waits to be looked at"
REF = "#/components/schemas/{model}"


def answer_schemas() -> dict[str, Schema]:
    """The schemas of all answers, with the models they refer to."""
    schemas: dict[str, Schema] = {}
    for kind in (Memory, Event, ConflictRecord, VersionView, SessionView, SessionMessage, AgentView, SceneView, Profile, UserSettings):
        schema = TypeAdapter(kind).json_schema(mode="serialization", ref_template=REF)
        schemas.update(schema.pop("$defs", {}))
        schemas[kind.__name__] = schema
    _as_shown(schemas)
    schemas["Profile"]["properties"]["expected_at"] = {"type": ["string", "null"], "format": "date-time", "description": EXPECTED_AT}
    schemas.update(_shapes())
    return schemas


def _as_shown(schemas: dict[str, Schema]) -> None:
    """Take out what never leaves the product, and put in what is shown beside it."""
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
    # What no event records is left out of what is told from the log.
    schemas["Memory"]["required"] = [name for name in schemas["Memory"]["required"] if name in properties and name not in UNLOGGED_FIELDS]
    properties["as_of_sequence"] = {"type": ["integer", "null"], "description": "Only with at or known_at"}
    properties["embedding"] = {"type": ["array", "null"], "items": {"type": "number"}, "description": "Only with include=embedding"}


def _shapes() -> dict[str, Schema]:
    number, text, maybe = {"type": "number"}, {"type": "string"}, {"type": ["number", "null"]}
    cursor = {"type": ["string", "null"], "description": "What to send as `cursor` for the next page; null on the last"}
    meant = {"type": "string", "description": "What was probably meant: a field, a call or a setting; absent where nothing comes near"}
    error = _object({"field": text, "message": text, "did_you_mean": meant}, "field", "message")
    problem = {"type": text, "title": text, "status": {"type": "integer"}, "detail": text, "instance": text, "correlation_id": text}
    saved = {
        "outcome": {"enum": [outcome.value for outcome in Outcome]},
        "memory": ref("Memory"),
        "conflict": {"anyOf": [ref("ConflictRecord"), {"type": "null"}]},
        "degraded": _list(text),
    }
    at: Schema = {"type": "string", "format": "date-time"}
    passage: Schema = {"text": text, "actor": {"type": ["string", "null"]}, "at": at, "message": text, "relevance_score": number}
    hit: Schema = {"rank": {"type": "integer", "minimum": 1}, "memory": ref("Memory")}
    hit |= dict.fromkeys(("lexical_score", "relevance_score", "importance_score", "score", "composite_score"), number)
    hit |= dict.fromkeys(("similarity_score", "recency_score", "frequency_score", "confidence_score"), maybe)
    hit |= {
        "tier": {"enum": list(get_args(Tier))},
        "age_days": {"type": ["integer", "null"], "description": "Of a memory that has faded, whole days since what it tells of"},
        "matched_by": _list(text),
        "also": _list(text),
        "stale_facts": _list({"type": "object"}),
        "passages": _list(_object(passage, *passage)) | {"description": "What was said that matched, best first, three at most"},
    }
    retrieved: Schema = {"results": _list(ref("Hit")), "degraded": _list(text), "as_of_sequence": {"type": "integer"}}
    near = _object({"relevance_score": number, "answer_threshold": number}, "relevance_score", "answer_threshold")
    retrieved["nearest"] = {
        "anyOf": [near, {"type": "null"}],
        "description": "Only beside empty results: how near the nearest memory came, and how near it had to come; null without a candidate",
    }
    retrieved |= {"context": text, "citations": _list(text), "rounds": {"type": "integer"}, "sufficient": {"type": "boolean"}, "why": text}
    part: Schema = {"kind": {"enum": list(get_args(PartKind))}, "ids": _list(text), "tokens": {"type": "integer"}}
    parts = _list(_object(part, *part))
    context: Schema = {"context": text, "parts": parts, "left_out": parts, "degraded": _list(text)}
    retrieved["explain"] = {"type": ["object", "null"], "description": "Only when asked for"}
    readiness = {"status": {"enum": ["ready", "degraded", "unavailable"]}, "dependencies": {"type": "object"}}
    checked: Schema = {"checked_at": {"type": "string", "format": "date-time"}}
    waits: Schema = {"buffered": {"type": "integer"}, "flush_at": {"type": ["string", "null"], "format": "date-time"}}
    accepted: Schema = {"task_id": text, "status": {"const": "accepted"}, "degraded": _list(text)}
    counted: Schema = {"new": {"type": "integer"}, "known": {"type": "integer"}}
    of_session = {"messages": _object(counted, *counted) | {"description": "Of a conversation: how many messages were new to its session"}}
    ignored = {"ignored": _list(text) | {"description": "Only when there are any: fields and kinds of the messages that are not known"}}
    as_of = {"type": ["integer", "null"], "description": "The sequence of the log that this is the state of; null when others kept writing"}
    memories: Schema = {"memories": _list(ref("Memory")), "as_of_sequence": as_of, "next_cursor": cursor}
    damaged = _list(text) | {"description": "Only when there are any: ids of memories of this page whose stored documents can't be read"}
    soon: Schema = {"type": ["string", "null"], "format": "date-time", "description": EXPECTED_AT}
    return {
        "Anything": {"type": "object"},
        "Accepted": _object({**accepted, **of_session, **ignored}, *accepted),
        "Batch": _object(waits, *waits),
        "Buffered": _object({**waits, "task_id": text, "degraded": _list(text), **ignored}, *waits, "degraded"),
        "Summary": _object({"summary": text, "structured": {"type": "object"}, "degraded": _list(text), **ignored}, "summary", "degraded"),
        "Task": _task(),
        "TaskPage": _object({"tasks": _list(ref("Task")), "next_cursor": cursor}, "tasks", "next_cursor"),
        "OwnedTaskPage": _object({"tasks": _list(_task(user_id=text)), "next_cursor": cursor}, "tasks", "next_cursor"),
        "AgentPage": _object({"agents": _list(ref("AgentView")), "next_cursor": cursor}, "agents", "next_cursor"),
        "Foreseen": _object({"counts": {"type": "object"}, "capped": {"type": "boolean"}}, "counts", "capped"),
        "Text": text,
        "Graph": text,
        "Lines": text,
        "Problem": _object({**problem, "errors": _list(error), "did_you_mean": meant}, *problem, "errors"),
        "Deleted": {"allOf": [ref("Memory"), _object({"outcome": {"enum": ["deleted", "already_deleted"]}}, "outcome")]},
        "Saved": _object(saved, *saved),
        "BulkResults": _object({"results": _list({"oneOf": [ref("BulkSaved"), ref("BulkProblem")]})}, "results"),
        "BulkSaved": _object({"status": {"type": "integer"}, **saved}, "status", *saved),
        "BulkProblem": _object({"status": {"type": "integer"}, "problem": ref("Problem")}, "status", "problem"),
        "Hit": _object({**hit, "explain": {"type": ["object", "null"], "description": "Only when asked for"}}, *hit),
        "Retrieved": _object(retrieved, "results", "degraded", "as_of_sequence"),
        "Context": _object({**context, **ignored}, *context),
        "Cleared": _object({"cleared": {"type": "integer"}}, "cleared"),
        "MemoryPage": _object({**memories, "damaged": damaged}, *memories),
        "ConflictPage": _object({"conflicts": _list(ref("ConflictRecord")), "next_cursor": cursor}, "conflicts", "next_cursor"),
        "ScenePage": _object({"scenes": _list(ref("SceneView")), "next_cursor": cursor, "expected_at": soon}, "scenes", "next_cursor"),
        "EventPage": _object({"events": _list(ref("Event")), "next_cursor": cursor}, "events", "next_cursor"),
        "SessionPage": _object({"sessions": _list(ref("SessionView")), "next_cursor": cursor}, "sessions", "next_cursor"),
        "MessagePage": _object({"messages": _list(ref("SessionMessage")), "next_cursor": cursor}, "messages", "next_cursor"),
        "TakenBack": _object({"messages": _list(ref("SessionMessage")), "memories": {"type": "integer"}}, "messages", "memories"),
        "Evolution": _object({"memories": _list(ref("Memory")), "complete": {"type": "boolean"}}, "memories", "complete"),
        "Versions": _object({"versions": _list(ref("VersionView"))}, "versions"),
        "Readiness": _object({**readiness, **checked}, *readiness),
    }


def _task(**beside: Schema) -> Schema:
    """A task as it is shown: the fields of `Task.public`, and what is beside them."""
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

"""Parts of the OpenAPI document that no input model has.

They are answers, problems, headers and examples. `ANSWERS` names every function; a test fails for a
function that is missing.
"""

from __future__ import annotations

from pydantic import BaseModel

from memory_core.domain.fields import NAME_SCHEMA, require_fields
from memory_core.domain.requests.memories import SaveInput
from memory_core.functions.openapi_schemas import Schema, ref
from memory_core.functions.registered import Door
from memory_core.functions.responses import GRAPH_MEDIA

BULK_ITEM: type[BaseModel] = SaveInput
LICENSE = {"name": "MIT", "identifier": "MIT"}
TAGS = [
    {"name": "memories", "description": "Save, find, read and change memories."},
    {
        "name": "scenes",
        "description": (
            "What memories add up to: the threads of a life, and the profile of a person."
        ),
    },
    {
        "name": "conflicts",
        "description": "Memories that could not both be true, and what was decided.",
    },
    {"name": "tasks", "description": "What goes on after a call was answered."},
    {
        "name": "people",
        "description": "What a user has a right to: to take along, to bring, to have erased.",
    },
    {
        "name": "admin",
        "description": "What concerns all users of an app, its keys, and the log of what was done.",
    },
    {"name": "time", "description": "What happened, and what was known when."},
    {"name": "sessions", "description": "Memories by session, procedures by key."},
    {"name": "mcp", "description": "The Model Context Protocol, for agents' tools."},
    {"name": "system", "description": "Whether it works and what it does."},
]
SECURITY = {
    "apiKey": {
        "type": "apiKey",
        "in": "header",
        "name": "X-API-Key",
        "description": "`mc_<app>_<key id>_<secret>`",
    },
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": (
            "The same key as a bearer token; an access token of Entra ID where the service "
            "takes these."
        ),
    },
}
HEADERS = {
    "CorrelationId": {
        "description": "Names this request in logs and problems.",
        "schema": {"type": "string"},
    },
    "ETag": {
        "description": "The revision; the next PUT sends it as If-Match.",
        "schema": {"type": "string"},
    },
    "Location": {"description": "Where the task can be looked at.", "schema": {"type": "string"}},
    "NextCursor": {
        "description": (
            "What to send as `cursor` for the next page, beside lines; absent on the last."
        ),
        "schema": {"type": "string"},
    },
    "RateLimit": {
        "description": "What each limit has left: r requests, t seconds until it is full again.",
        "schema": {"type": "string"},
    },
    "RateLimitPolicy": {
        "description": "Each limit: q requests in w seconds.",
        "schema": {"type": "string"},
    },
    "RetryAfter": {
        "description": "Seconds to wait before the next try.",
        "schema": {"type": "integer"},
    },
}
RATE_HEADERS = {"RateLimit": "RateLimit", "RateLimit-Policy": "RateLimitPolicy"}
"""Headers of every answer where requests are limited, by the names of their descriptions."""
SCOPE_FIELDS: dict[str, Schema] = {
    "user_id": {
        **NAME_SCHEMA,
        "description": (
            "Whose memories. None of / \\ # ? or control characters, no white space at its ends."
        ),
    },
    "app_id": {
        "type": "string",
        "maxLength": 64,
        "description": "Comes from the key; if given, it must be the key's.",
    },
}
SCOPE_PARAMETERS: list[Schema] = [
    {
        "name": name,
        "required": name == "user_id",
        "description": field["description"],
        "schema": {
            field_name: value for field_name, value in field.items() if field_name != "description"
        },
    }
    for name, field in SCOPE_FIELDS.items()
]
USER_IN_HEADER: Schema = {
    "name": "X-Memory-User",
    "in": "header",
    "required": False,
    "description": (
        "Whose memories, where the key is not bound to a user and the query does not say it. ASCII."
    ),
    "schema": {"type": "string"},
}
TEXT_BODY: Schema = {"type": "string"}
RAW_BODIES: dict[str, Schema] = {
    "mcp": {
        "type": "object",
        "description": (
            "A request or notification of JSON-RPC 2.0, as the Model Context Protocol has them."
        ),
        "properties": {
            "jsonrpc": {"const": "2.0"},
            "id": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            "method": {"type": "string"},
            "params": {"type": "object"},
        },
        "required": ["jsonrpc", "method"],
    }
}
"""Function → the schema of a body that another library reads."""
CORRELATION_ID: Schema = {
    "name": "X-Correlation-Id",
    "in": "header",
    "required": False,
    "description": (
        "Names the request in logs and answers; one that is not 1-128 characters of A-Z a-z 0-9 . "
        "_ : - gets a new one."
    ),
    "schema": {"type": "string"},
}
IDEMPOTENCY_KEY: Schema = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": (
        "The same key with the same request is done once; the first answer is given again for "
        "24 hours."
    ),
    "schema": {"type": "string", "pattern": "^[\\x21-\\x7e]{1,200}$"},
}
SECRETS_ONCE: Schema = {
    **IDEMPOTENCY_KEY,
    "description": (
        "The same key again is a 409, for good, that names the API key made before: its secret was "
        "in that answer only."
    ),
}
MAKES_SECRETS = frozenset({"key_make", "key_rotate"})
"""Functions whose answer is not given again."""
_ENTITY_TAG = r'(W/)?"[^"]*"'
IF_MATCH: Schema = {
    "name": "If-Match",
    "in": "header",
    "description": "The ETag that the memory must still have, or * for any; another one is a 412.",
    "schema": {"type": "string", "pattern": rf"^\s*(\*|{_ENTITY_TAG}(\s*,\s*{_ENTITY_TAG})*)\s*$"},
}
KEY_SCHEMA: Schema = {"type": "string", "minLength": 1, "maxLength": 200}
CALLBACK_NEEDS_A_USER: Schema = {
    "if": require_fields("callback_url"),
    "then": {"required": ["user_id"]},
}
EXAMPLES: dict[str, Schema] = {
    "memories_converse": {
        "user_id": "ana",
        "session_id": "monday",
        "messages": [
            {
                "role": "user",
                "content": "I moved to Lisbon last week",
                "timestamp": "2026-05-08T13:56:00Z",
            },
            {
                "role": "assistant",
                "content": "How do you like it?",
                "timestamp": "2026-05-08T13:56:10Z",
            },
        ],
    },
    "memories_save": {
        "user_id": "ana",
        "content": "Ana moved to Lisbon",
        "session_id": "monday",
        "event_timestamp": "2026-05-08T13:56:00Z",
    },
    "memories_bulk": {
        "user_id": "ana",
        "memories": [
            {"content": "Ana likes fado"},
            {"type": "procedural", "key": "language", "value": "pt"},
        ],
    },
    "memories_retrieve": {"user_id": "ana", "query": "Where does Ana live?", "limit": 5},
    "memories_get": {
        "user_id": "ana",
        "ids": ["mem_90a3b5f9a83da00868addb3db6"],
        "keys": ["language"],
    },
    "memories_delete": {"user_id": "ana", "keys": ["language"]},
    "session_messages_append": {
        "user_id": "ana",
        "messages": [{"role": "user", "content": "How is the weather in Oslo?"}],
    },
    "memories_clear": {"user_id": "ana", "session_id": "monday"},
    "memories_batch_append": {
        "user_id": "ana",
        "session_id": "monday",
        "messages": [
            {
                "role": "user",
                "content": "I moved to Lisbon last week",
                "timestamp": "2026-05-08T13:56:00Z",
            }
        ],
    },
    "memories_batch_flush": {"user_id": "ana", "session_id": "monday"},
    "agent_memories": {
        "user_id": "ana",
        "agent_id": "travel-agent",
        "messages": "Booked the 9:40 to Porto for Friday, seat 14A.",
    },
    "agent_summaries": {
        "messages": ["I have moved to Lisbon.", "The new flat is in Alfama."],
        "mode": "full",
    },
    "archive": {"user_id": "ana", "dry_run": True},
    "consolidate": {"user_id": "ana", "dry_run": True},
    "decay": {"user_id": "ana", "dry_run": True},
    "reembed": {"user_id": "ana", "dry_run": True},
    "forget": {
        "user_id": "ana",
        "filter": {"tags": ["draft"], "before": "2026-05-08T00:00:00Z"},
        "mode": "hard",
        "dry_run": True,
    },
    "memory_restore": {"user_id": "ana"},
    "memory_update": {
        "user_id": "ana",
        "content": "Ana lives in Porto",
        "change_reason": "she moved",
    },
    "memory_status": {"user_id": "ana", "status": "deleted", "reason": "no longer true"},
    "memory_copy": {"user_id": "ana", "to_agent_id": "travel-agent"},
    "conflict_resolve": {
        "user_id": "ana",
        "decision": "supersede",
        "reason": "she said so herself",
    },
    "user_import_commit": {
        "parts": 3,
        "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    },
    "user_settings_put": {"time_zone": "Europe/Lisbon"},
    "context": {
        "user_id": "ana",
        "query": "Where should we meet?",
        "session_id": "monday",
        "max_tokens": 1000,
    },
    "replay_memories": {"user_id": "ana", "known_at": "2026-05-08T13:56:00Z"},
    "key_make": {"name": "web shop", "rights": ["read", "write"]},
    "key_rotate": {"overlap_seconds": 3600},
}
ANSWERS: dict[str, tuple[dict[str, str], str]] = {
    # function → (status → what it means, schema of the body)
    "memories_save": (
        {"201": "Something new is kept", "200": "An existing memory answers"},
        "Saved",
    ),
    "memories_bulk": ({"207": "One result for each memory, in order"}, "BulkResults"),
    "memories_get": (
        {"200": "The memories, in the order of asking, and the names of which there is none"},
        "Fetched",
    ),
    "memories_delete": ({"207": "One result for each memory, in order"}, "DeleteResults"),
    "tags_list": ({"200": "One page, in order of characters"}, "TagPage"),
    "memories_converse": (
        {
            "202": "It is stored and found, and will be formed into memories",
            "200": "Nothing of it is new; the task of what was told last",
        },
        "Accepted",
    ),
    "memories_batch_append": (
        {
            "202": (
                "They are kept; `task_id` is there when this call handed the batch over to "
                "be formed"
            )
        },
        "Buffered",
    ),
    "memories_batch_state": ({"200": "What waits"}, "Batch"),
    "memories_batch_flush": (
        {"202": "The batch is handed over to be formed", "200": "Nothing waited"},
        "Accepted",
    ),
    "agent_memories": ({"202": "They are stored, and will be one memory"}, "Accepted"),
    "agent_summaries": (
        {"200": "The summary", "202": "It will be sent to the callback address"},
        "Summary",
    ),
    "mcp": (
        {
            "200": "The answer, or what went wrong, as JSON-RPC has it",
            "202": "A notification was taken",
        },
        "Anything",
    ),
    "memories_retrieve": (
        {"200": "The results, best first; none when nothing answers the query"},
        "Retrieved",
    ),
    "memories_query": (
        {"200": "The results, best first; none when nothing answers the query"},
        "Retrieved",
    ),
    "memories_clear": ({"200": "How many were cleared"}, "Cleared"),
    "memories_list": ({"200": "One page"}, "MemoryPage"),
    "memory_get": ({"200": "The memory"}, "Memory"),
    "memory_update": ({"200": "The new version"}, "Memory"),
    "memory_delete": (
        {"200": "The memory, which is deleted now; `outcome` tells whether it was so before"},
        "Deleted",
    ),
    "memory_status": ({"200": "The memory with its new status"}, "Memory"),
    "memory_copy": ({"201": "The copy"}, "Memory"),
    "memory_restore": ({"200": "The memory, as it is now"}, "Memory"),
    "memory_versions": ({"200": "Every version, the oldest first"}, "Versions"),
    "memory_evolution": ({"200": "The memories, in order"}, "Evolution"),
    "memory_evolution_graph": ({"200": "The drawing, in the format that was asked for"}, "Graph"),
    "conflicts_list": ({"200": "One page"}, "ConflictPage"),
    "conflict_get": ({"200": "The conflict"}, "ConflictRecord"),
    "conflict_resolve": ({"200": "The conflict as it is resolved now"}, "ConflictRecord"),
    "conflict_undo": ({"200": "The conflict, which is pending now"}, "ConflictRecord"),
    "scenes_list": ({"200": "One page"}, "ScenePage"),
    "scene_get": ({"200": "The scene"}, "SceneView"),
    "profile_get": ({"200": "The profile; an empty one of somebody unknown"}, "Profile"),
    "tasks_list": ({"200": "One page; it may be short though more follow"}, "TaskPage"),
    "poisoned_tasks_list": (
        {"200": "One page; it may be short though more follow"},
        "OwnedTaskPage",
    ),
    "agents_list": ({"200": "One page; it may be short though more follow"}, "AgentPage"),
    "key_make": ({"201": "The key, with its secret, which is shown this once"}, "NewKey"),
    "keys_list": ({"200": "One page, newest first; it may be short though more follow"}, "KeyPage"),
    "key_withdraw": ({"204": "It is refused from now on"}, "Nothing"),
    "key_rotate": (
        {"201": "The key that takes its place, with its secret, which is shown this once"},
        "RotatedKey",
    ),
    "audit_list": (
        {"200": "One page, newest first; with Accept: application/x-ndjson an entry a line"},
        "AuditPage",
    ),
    "task_get": ({"200": "The task"}, "Task"),
    "task_retry": ({"202": "The task, accepted again"}, "Task"),
    "task_cancel": ({"200": "The task, now cancelled"}, "Task"),
    "timeline_list": ({"200": "One page, oldest first"}, "EventPage"),
    "replay_memories": ({"200": "One page, newest first"}, "MemoryPage"),
    "context": ({"200": "The text, what it is made of, and what did not fit"}, "Context"),
    "user_settings": ({"200": "The settings; null where nothing is set"}, "UserSettings"),
    "user_settings_put": ({"200": "The settings as they are now"}, "UserSettings"),
    "usage": ({"200": "Used and limits"}, "Usage"),
    "usage_app": ({"200": "Used and limits"}, "Usage"),
    "user_export": ({"202": "Everything is being put into a file"}, "Accepted"),
    "user_export_part": ({"200": "The part, whole lines of JSON"}, "Lines"),
    "user_import": ({"202": "The parts of the file may be brought"}, "Accepted"),
    "user_import_part": ({"204": "It is kept"}, "Nothing"),
    "user_import_commit": (
        {"202": "The file is being looked through, and then brought in"},
        "Accepted",
    ),
    "user_erase": (
        {
            "202": (
                "Nothing of this user is read or written from now on; the task empties every store"
            )
        },
        "Accepted",
    ),
    "consolidate": (
        {"202": "It will be done by a task", "200": "What it would do: a dry run"},
        "Accepted",
    ),
    "decay": (
        {"202": "It will be done by a task", "200": "What it would do: a dry run"},
        "Accepted",
    ),
    "reembed": (
        {"202": "It will be done by a task", "200": "What it would do: a dry run"},
        "Accepted",
    ),
    "forget": (
        {"202": "It will be done by a task", "200": "What it would do: a dry run"},
        "Accepted",
    ),
    "archive": (
        {"202": "It will be done by a task", "200": "What it would do: a dry run"},
        "Accepted",
    ),
    "session_messages": ({"200": "One page, in the order of telling"}, "MessagePage"),
    "session_messages_append": (
        {"201": "They are kept; `task_id` is there when memories are formed of them"},
        "Appended",
    ),
    "session_messages_take_back": (
        {"200": "What was taken back, the oldest first; nothing of a session that is empty"},
        "TakenBack",
    ),
    "sessions_list": ({"200": "One page"}, "SessionPage"),
    "session_get": ({"200": "The session"}, "SessionView"),
    "procedure_get": ({"200": "The memory"}, "Memory"),
    "system_root": ({"200": "Name, version, links"}, "Anything"),
    "system_health": ({"200": "It is alive"}, "Anything"),
    "system_ready": ({"200": "Ready or degraded", "503": "Unavailable"}, "Readiness"),
    "system_metrics": ({"200": "Prometheus text"}, "Text"),
    "system_pool_stats": ({"200": "Sizes of the pools"}, "Anything"),
    "system_openapi": ({"200": "The document"}, "Anything"),
    "docs_page": ({"200": "The page"}, "Html"),
    "docs_file": ({"200": "The file"}, "File"),
    "console_page": ({"200": "The page"}, "Html"),
    "console_file": ({"200": "The file"}, "File"),
}
_MEDIA = {
    "Text": ("text/plain",),
    "Html": ("text/html",),
    "File": ("text/javascript", "text/css", "image/png", "image/svg+xml"),
    "Lines": ("application/x-ndjson",),
    "Nothing": (),
    "Graph": tuple(GRAPH_MEDIA.values()),
}
_OTHERWISE = {
    ("memories_batch_flush", "200"): "Batch",
    ("agent_summaries", "202"): "Accepted",
    ("mcp", "202"): "Nothing",
    **{
        (name, "200"): "Foreseen"
        for name in ("archive", "consolidate", "decay", "forget", "reembed")
    },
}
"""(function, status) → the schema of a body that is not the function's usual body."""
_FILES = ("console_file", "docs_file")
"""Functions without a right whose requested file may be missing."""
_OF_KEYS = {
    "key_make": ("409", "413", "415"),
    "key_withdraw": ("404", "409"),
    "key_rotate": ("404", "409", "413", "415"),
}
"""Function of an app's keys → its own problems.

It also has the problems of all calls about a whole app.
"""
_STORES_MORE = {
    *(
        "memories_save",
        "memories_bulk",
        "memories_converse",
        "memories_batch_append",
        "agent_memories",
        "memory_update",
        "memory_copy",
    ),
    *("memory_status", "memory_restore", "conflict_resolve", "conflict_undo"),
    *("session_messages_append", "session_messages_take_back", "user_import_commit"),
}
"""Functions that a limit of stored bytes may refuse."""
_PROBLEMS = {
    "400": "The request can't be read, or its cursor is void",
    "401": "No key, or one that is not known",
    "403": "The key lacks the right, the app or the user",
    "404": "No such thing for this user",
    "409": "The state of the thing forbids it",
    "410": "Removed for good; the detail says what to do instead",
    "412": "If-Match is missing or out of date",
    "413": "Over a size limit",
    "414": "The address is over 16 KiB",
    "415": "The body is not application/json",
    "422": "A field is missing, unknown or wrong",
    "429": "The rate of the key or of its app is used up",
    "500": "Something failed here",
    "503": "A dependency is down; try again",
    "507": "A limit of stored bytes is reached; `detail` says which, and what makes room",
}


def tag(path: str) -> str:
    """The group that a path is shown in."""
    if path == "/mcp":
        return "mcp"
    if path in (
        "/api/v1/tasks/poisoned",
        "/api/v1/agents",
        "/api/v1/audit",
        "/api/v1/usage/app",
    ) or path.startswith("/api/v1/keys"):
        return "admin"
    if path.startswith(("/api/v1/memories", "/api/v1/agent", "/api/v1/context")):
        return "memories"
    if path.startswith("/api/v1/tasks"):
        return "tasks"
    if path.startswith("/api/v1/conflicts"):
        return "conflicts"
    if path.startswith(("/api/v1/scenes", "/api/v1/profile")):
        return "scenes"
    if path.startswith(("/api/v1/users", "/api/v1/usage")):
        return "people"
    if path.startswith(("/api/v1/timeline", "/api/v1/replay")):
        return "time"
    return "sessions" if path.startswith(("/api/v1/sessions", "/api/v1/procedures")) else "system"


def answers(name: str) -> dict[str, Schema]:
    """The successful answers of a function."""
    assert name in ANSWERS, f"describe {name} in ANSWERS of {__name__}"
    statuses, schema = ANSWERS[name]
    return {
        status: _answer(text, _OTHERWISE.get((name, status), schema))
        for status, text in statuses.items()
    }


def _answer(text: str, schema: str) -> Schema:
    headers = {"X-Correlation-Id": {"$ref": "#/components/headers/CorrelationId"}}
    if schema in ("Memory", "Saved", "Deleted"):
        headers["ETag"] = {"$ref": "#/components/headers/ETag"}
    if schema in ("Accepted", "Appended"):
        headers["Location"] = {"$ref": "#/components/headers/Location"}
    if schema == "AuditPage":
        headers["X-Next-Cursor"] = {"$ref": "#/components/headers/NextCursor"}
    content = {
        media_type: {"schema": ref(schema)}
        for media_type in _MEDIA.get(schema, ("application/json",))
    }
    if schema == "AuditPage":
        content["application/x-ndjson"] = {"schema": ref("Lines")}
    return {"description": text, "headers": headers, **({"content": content} if content else {})}


def problems(door: Door, name: str) -> dict[str, Schema]:
    """The problems that a caller of this function may get.

    Args:
        door: Requirements of the function.
        name: Name of the function.

    """
    if door.right is None:
        statuses = ["404", "414", "500"] if name in _FILES else ["414", "500"]
    elif not door.scoped:
        statuses = ["400", "401", "403", "414", "422", "429", "500", "503"]
        statuses = sorted([*statuses, *_OF_KEYS.get(name, ())])
    else:
        statuses = [
            status
            for status in _PROBLEMS
            if door.has_body or door.raw or status not in ("413", "415")
        ]
        statuses = [status for status in statuses if status != "410" or name == "user_export_part"]
        statuses = [status for status in statuses if status != "507" or name in _STORES_MORE]
    return {status: {"$ref": f"#/components/responses/Problem{status}"} for status in statuses}


def problem_responses() -> dict[str, Schema]:
    """The reusable problem responses."""
    responses: dict[str, Schema] = {}
    for status, text in _PROBLEMS.items():
        headers = {"X-Correlation-Id": {"$ref": "#/components/headers/CorrelationId"}}
        if status == "429":
            headers |= {
                name: {"$ref": f"#/components/headers/{title}"}
                for name, title in RATE_HEADERS.items()
            }
        if status in ("429", "503"):
            headers["Retry-After"] = {"$ref": "#/components/headers/RetryAfter"}
        content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
        responses[f"Problem{status}"] = {
            "description": text,
            "headers": headers,
            "content": content,
        }
    return responses

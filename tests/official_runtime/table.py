"""Every function of Memory Core: a call that succeeds, and one that fails. A new function needs
its line here.

Each line gets a user of its own who has one semantic memory in the session "monday", one procedure,
and a batch of the session "tuesday" whose task waits for more messages: the one thing that both
hosts show alike, though only one of them has queues to work on. There is also an empty user,
for whom a file is being brought.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.official_runtime.calls import Http, Queued, Row, Tick, WarmUp

_MEMORIES = "/api/v1/memories"
_TASKS = "/api/v1/tasks"
_NOBODYS = "mem_00000000000000000000000000"
_NOBODYS_TASK = "tsk_00000000000000000000000000"
_CONFLICTS = "/api/v1/conflicts"
_KEYS = "/api/v1/keys"
_NOBODYS_CONFLICT = "cft_00000000000000000000000000"
NO_KEY = {"X-API-Key": ""}
ADMIN_KEY = "mc_shop_a1_0123456789abcdefABCDEF"
IDLE_KEY = "mc_idle_a1_0123456789abcdefABCDEF"
"""An admin's of an app without users: what is said of all users of the other one depends on what
else was called, and on which host.
"""
_LINES = {"Content-Type": "application/x-ndjson"}


@dataclass(frozen=True, slots=True)
class Given:
    """What is there before a call. etag: of the memory. bringing: the task of the file that is
    being brought for the empty user.
    """

    user: str
    memory: str
    etag: str
    task: str = _NOBODYS_TASK
    bringing: str = _NOBODYS_TASK
    conflict: str = _NOBODYS_CONFLICT

    @property
    def empty(self) -> str:
        """The path of the empty user."""
        return f"/api/v1/users/{self.user}-anew"


def post(path: str, status: int, given: Given, **fields: Any) -> Http:
    """A POST about the user."""
    return Http("POST", path, status, {"user_id": given.user, **fields})


def get(path: str, status: int, given: Given, query: str = "") -> Http:
    """A GET about the user."""
    return Http("GET", f"{path}?user_id={given.user}{query}", status)


def one(given: Given) -> str:
    """The path of the memory that is there."""
    return f"{_MEMORIES}/{given.memory}"


def message(content: str = "I have moved to Lisbon.") -> dict[str, str]:
    """A message of a conversation."""
    return {"role": "user", "content": content, "timestamp": "2026-05-08T13:56:00Z"}


def queued(given: Given) -> Queued:
    """A message about a task that is gone: it is to be dropped."""
    return Queued(
        f'{{"app_id": "shop", "user_id": "{given.user}", "task_id": "{_NOBODYS_TASK}", '
        f'"generation": 0}}'
    )


def before(given: Given) -> list[tuple[str, Http]]:
    """The calls that make what is given; the first answers with the memory, the third with the
    conflict, the last two with the tasks.
    """
    memory = {
        "type": "semantic",
        "content": "Ana moved to Lisbon in May",
        "session_id": "monday",
        "tags": ["home"],
    }
    # drawings show the day, which must not change between two hosts
    memory |= {"event_timestamp": "2026-05-08T13:56:00Z"}
    procedure = {
        "type": "procedural",
        "key": "style/langue à table",
        "content": "Answer in French",
        "value": "fr",
    }
    cat = {
        "type": "semantic",
        "subject": "Ana",
        "attribute": "cat",
        "event_timestamp": "2026-05-08T13:56:00Z",
    }
    cats = [{**cat, "content": "Ana's cat is Mia"}, {**cat, "content": "Ana's cat is Kim"}]
    saves = [
        ("memories_save", post(f"{_MEMORIES}/save", 201, given, **fields))
        for fields in (memory, *cats, procedure)
    ]
    batch = post(f"{_MEMORIES}/batch", 202, given, session_id="tuesday", messages=[message()])
    bringing = ("user_import", Http("POST", f"{given.empty}/import", 202))
    return [
        *saves,
        ("memories_batch_append", batch),
        bringing,
        ("tasks_list", get(_TASKS, 200, given)),
    ]


def protocol(given: Given, status: int, **message: Any) -> Http:
    """A message of the Model Context Protocol about the user."""
    headers = {"Accept": "application/json, text/event-stream", "X-Memory-User": given.user}
    return Http("POST", "/mcp", status, {"jsonrpc": "2.0", "id": 1, **message}, headers)


CALLS: dict[str, Callable[[Given], Row]] = {
    "memories_save": lambda g: Row(
        post(
            f"{_MEMORIES}/save",
            201,
            g,
            content="Ana plays the violin",
            event_timestamp="2026-05-08T15:56:00+02:00",
        ),
        post(f"{_MEMORIES}/save", 422, g, content="", colour="red"),
    ),
    "memories_bulk": lambda g: Row(
        post(f"{_MEMORIES}/bulk", 207, g, memories=[{"content": "first"}, {"content": ""}]),
        post(f"{_MEMORIES}/bulk", 422, g, memories=[]),
    ),
    "memories_get": lambda g: Row(
        post(f"{_MEMORIES}/get", 200, g, ids=[g.memory, _NOBODYS], keys=["style/langue à table"]),
        post(f"{_MEMORIES}/get", 422, g),
    ),
    "memories_delete": lambda g: Row(
        post(f"{_MEMORIES}/delete", 207, g, ids=[g.memory, _NOBODYS]),
        post(f"{_MEMORIES}/delete", 422, g, ids=[]),
    ),
    "tags_list": lambda g: Row(
        get("/api/v1/tags", 200, g, "&prefix=a"), get("/api/v1/tags", 422, g, "&limit=0")
    ),
    "memories_converse": lambda g: Row(
        post(_MEMORIES, 202, g, session_id="monday", messages=[message()]),
        post(_MEMORIES, 422, g, messages=[{"content": "?"}]),
    ),
    "memories_batch_append": lambda g: Row(
        post(
            f"{_MEMORIES}/batch",
            202,
            g,
            session_id="tuesday",
            messages=[message("The flat is in Alfama.")],
        ),
        post(f"{_MEMORIES}/batch", 422, g, session_id="tuesday", messages=[]),
    ),
    "memories_batch_state": lambda g: Row(
        get(f"{_MEMORIES}/batch", 200, g, "&session_id=tuesday"),
        get(f"{_MEMORIES}/batch", 422, g, "&session=tuesday"),
    ),
    "memories_batch_flush": lambda g: Row(
        post(f"{_MEMORIES}/batch/flush", 202, g, session_id="tuesday"),
        post(f"{_MEMORIES}/batch/flush", 422, g, session_id="a/b"),
    ),
    "agent_memories": lambda g: Row(
        post(
            "/api/v1/agent/memories",
            202,
            g,
            messages="Booked the 9:40 to Porto.",
            agent_id="planner",
        ),
        post("/api/v1/agent/memories", 422, g, messages=[""]),
    ),
    "agent_summaries": lambda g: Row(
        post(
            "/api/v1/agent/summaries",
            200,
            g,
            messages=["I have moved to Lisbon.", "The flat is in Alfama."],
            mode="full",
        ),
        post(
            "/api/v1/agent/summaries",
            422,
            g,
            messages="I have moved.",
            callback_url="http://169.254.169.254/latest",
        ),
    ),
    "mcp": lambda g: Row(
        protocol(
            g,
            200,
            method="tools/call",
            params={"name": "memory_search", "arguments": {"query": "Where does Ana live?"}},
        ),
        protocol(g, 400, result={}),
    ),
    "conflicts_list": lambda g: Row(
        get(_CONFLICTS, 200, g, "&status=resolved"), get(_CONFLICTS, 422, g, "&status=open")
    ),
    "conflict_get": lambda g: Row(
        get(f"{_CONFLICTS}/{g.conflict}", 200, g), get(f"{_CONFLICTS}/{_NOBODYS_CONFLICT}", 404, g)
    ),
    "conflict_resolve": lambda g: Row(
        post(f"{_CONFLICTS}/{g.conflict}/resolve", 200, g, decision="supersede"),
        post(f"{_CONFLICTS}/{g.conflict}/resolve", 409, g, decision="merge"),
    ),
    "conflict_undo": lambda g: Row(
        post(f"{_CONFLICTS}/{g.conflict}/undo", 200, g),
        post(f"{_CONFLICTS}/{_NOBODYS_CONFLICT}/undo", 404, g),
    ),
    "scenes_list": lambda g: Row(
        get("/api/v1/scenes", 200, g), get("/api/v1/scenes", 422, g, "&limit=0")
    ),
    "scene_get": lambda g: Row(
        get("/api/v1/scenes/scn_00000000000000000000000000", 404, g),
        get("/api/v1/scenes/scn_0", 422, g, "&limit=1"),
    ),
    "profile_get": lambda g: Row(
        get("/api/v1/profile", 200, g), get("/api/v1/profile", 422, g, "&at=yesterday")
    ),
    "tasks_list": lambda g: Row(
        get(_TASKS, 200, g, "&kind=flush"), get(_TASKS, 422, g, "&kind=zork")
    ),
    "poisoned_tasks_list": lambda g: Row(
        Http("GET", f"{_TASKS}/poisoned", 200, headers={"X-API-Key": ADMIN_KEY}),
        Http("GET", f"{_TASKS}/poisoned", 403),
    ),
    "agents_list": lambda g: Row(
        Http("GET", "/api/v1/agents", 200, headers={"X-API-Key": IDLE_KEY}),
        Http("GET", f"/api/v1/agents?user_id={g.user}", 422, headers={"X-API-Key": ADMIN_KEY}),
    ),
    "key_make": lambda g: Row(
        Http("POST", _KEYS, 201, {"name": "shop", "user_id": g.user}, {"X-API-Key": ADMIN_KEY}),
        Http("POST", _KEYS, 422, {"rights": ["all"]}, {"X-API-Key": ADMIN_KEY}),
    ),
    "keys_list": lambda g: Row(
        Http("GET", _KEYS, 200, headers={"X-API-Key": IDLE_KEY}), Http("GET", _KEYS, 403)
    ),
    "key_withdraw": lambda g: Row(
        Http("DELETE", f"{_KEYS}/nobodys", 404, headers={"X-API-Key": ADMIN_KEY}),
        Http("DELETE", f"{_KEYS}/nobodys", 403),
    ),
    "key_rotate": lambda g: Row(
        Http("POST", f"{_KEYS}/nobodys/rotate", 404, {}, {"X-API-Key": ADMIN_KEY}),
        Http(
            "POST",
            f"{_KEYS}/nobodys/rotate",
            422,
            {"overlap_seconds": -1},
            {"X-API-Key": ADMIN_KEY},
        ),
    ),
    "audit_list": lambda g: Row(
        Http("GET", "/api/v1/audit", 200, headers={"X-API-Key": IDLE_KEY}),
        Http("GET", "/api/v1/audit?action=zork", 422, headers={"X-API-Key": IDLE_KEY}),
    ),
    "task_get": lambda g: Row(
        get(f"{_TASKS}/{g.task}", 200, g), get(f"{_TASKS}/{_NOBODYS_TASK}", 404, g)
    ),
    "task_retry": lambda g: Row(
        post(f"{_TASKS}/{g.task}/retry", 202, g), post(f"{_TASKS}/{_NOBODYS_TASK}/retry", 404, g)
    ),
    "task_cancel": lambda g: Row(
        post(f"{_TASKS}/{g.task}/cancel", 200, g), post(f"{_TASKS}/{_NOBODYS_TASK}/cancel", 404, g)
    ),
    "queue_formation": lambda g: Row(queued(g), Queued("an order", fails="not one of ours")),
    "queue_consolidation": lambda g: Row(queued(g), Queued("{}", fails="not one of ours")),
    "queue_webhooks": lambda g: Row(queued(g), Queued("{}", fails="not one of ours")),
    # What is sent here has failed elsewhere; nothing can be so wrong with it that it
    # should come again.
    "queue_formation_poison": lambda g: Row(queued(g), None),
    "queue_consolidation_poison": lambda g: Row(queued(g), None),
    "queue_webhooks_poison": lambda g: Row(queued(g), None),
    "warmup": lambda g: Row(WarmUp(), None),
    "timer_hourly": lambda g: Row(Tick(), None),
    "memories_retrieve": lambda g: Row(
        post(f"{_MEMORIES}/retrieve", 200, g, query="Where did Ana move in May?", explain=True),
        post(f"{_MEMORIES}/retrieve", 422, g, query="Ana", limit=0),
    ),
    "memories_query": lambda g: Row(
        get(f"{_MEMORIES}/query", 200, g, "&query=Lisbon+in+May"),
        get(f"{_MEMORIES}/query", 422, g, "&query="),
    ),
    "memories_clear": lambda g: Row(
        post(f"{_MEMORIES}/clear", 200, g, session_id="monday"),
        post(f"{_MEMORIES}/clear", 422, g, session_id="a/b"),
    ),
    "memories_list": lambda g: Row(
        get(_MEMORIES, 200, g, "&status=all"), get(_MEMORIES, 400, g, "&cursor=zork")
    ),
    "memory_get": lambda g: Row(
        get(one(g), 200, g, "&include=embedding"), get(f"{_MEMORIES}/{_NOBODYS}", 404, g)
    ),
    "memory_update": lambda g: Row(
        Http(
            "PUT",
            one(g),
            200,
            {"user_id": g.user, "content": "Ana moved to Porto", "change_reason": "heard wrong"},
            {"If-Match": g.etag},
        ),
        Http(
            "PUT",
            one(g),
            412,
            {"user_id": g.user, "content": "Ana moved to Faro", "change_reason": "?"},
            {"If-Match": '"of.another"'},
        ),
    ),
    "memory_delete": lambda g: Row(
        Http("DELETE", f"{one(g)}?user_id={g.user}", 200),
        Http("DELETE", f"{_MEMORIES}/{_NOBODYS}?user_id={g.user}", 404),
    ),
    "memory_status": lambda g: Row(
        Http(
            "PATCH",
            f"{one(g)}/status",
            200,
            {"user_id": g.user, "status": "deleted", "reason": "no longer true"},
        ),
        Http(
            "PATCH",
            f"{one(g)}/status",
            422,
            {"user_id": g.user, "status": "gone", "reason": "no longer true"},
        ),
    ),
    "memory_copy": lambda g: Row(
        post(f"{one(g)}/copy", 201, g, to_agent_id="travel-agent"),
        post(f"{_MEMORIES}/{_NOBODYS}/copy", 404, g, to_agent_id="travel-agent"),
    ),
    "memory_restore": lambda g: Row(
        post(f"{one(g)}/restore", 200, g), post(f"{_MEMORIES}/{_NOBODYS}/restore", 404, g)
    ),
    "archive": lambda g: Row(
        post("/api/v1/archive", 202, g), post("/api/v1/archive", 422, g, dry_run="perhaps")
    ),
    "consolidate": lambda g: Row(
        post("/api/v1/consolidate", 202, g), post("/api/v1/consolidate", 422, g, dry_run="perhaps")
    ),
    "decay": lambda g: Row(
        post("/api/v1/decay", 202, g), post("/api/v1/decay", 422, g, dry_run="perhaps")
    ),
    "reembed": lambda g: Row(
        Http("POST", "/api/v1/reembed", 202, {"user_id": g.user}, headers={"X-API-Key": ADMIN_KEY}),
        post("/api/v1/reembed", 403, g),
    ),
    "forget": lambda g: Row(
        post("/api/v1/forget", 202, g, filter={"tags": ["home"]}),
        post("/api/v1/forget", 422, g, filter={}),
    ),
    "memory_versions": lambda g: Row(
        get(f"{one(g)}/versions", 200, g), get(f"{_MEMORIES}/{_NOBODYS}/versions", 404, g)
    ),
    "memory_evolution": lambda g: Row(
        get(f"{one(g)}/evolution", 200, g, "&direction=both"),
        get(f"{_MEMORIES}/{_NOBODYS}/evolution", 404, g),
    ),
    "memory_evolution_graph": lambda g: Row(
        get(f"{one(g)}/evolution/graph", 200, g, "&format=html"),
        get(f"{one(g)}/evolution/graph", 422, g, "&format=png"),
    ),
    "user_export": lambda g: Row(
        Http("POST", f"/api/v1/users/{g.user}/export", 202),
        Http("POST", "/api/v1/users/nobody-at-all/export", 404),
    ),
    # Only a host with queues gets as far as parts to fetch; here the call is a good one,
    # and the task no export.
    "user_export_part": lambda g: Row(
        Http("GET", f"/api/v1/users/{g.user}/export/{g.task}?part=1", 404),
        Http("GET", f"/api/v1/users/{g.user}/export/{g.task}?part=0", 422),
    ),
    "user_import": lambda g: Row(
        Http("POST", f"{g.empty}-too/import", 202, None, {"Idempotency-Key": "once"}),
        Http("POST", f"/api/v1/users/{g.user}/import", 409),
    ),
    "user_import_part": lambda g: Row(
        Http("PUT", f"{g.empty}/import/{g.bringing}?part=1", 204, b'{"format": "?"}\n', _LINES),
        Http("PUT", f"{g.empty}/import/{g.bringing}?part=1", 415, {}),
    ),
    "user_import_commit": lambda g: Row(
        Http(
            "POST",
            f"{g.empty}/import/{_NOBODYS_TASK}/commit",
            404,
            {"parts": 1, "sha256": "0" * 64},
        ),
        Http(
            "POST", f"{g.empty}/import/{g.bringing}/commit", 409, {"parts": 1, "sha256": "0" * 64}
        ),
    ),
    "user_erase": lambda g: Row(
        Http("DELETE", f"/api/v1/users/{g.user}", 202, None, {"X-API-Key": ADMIN_KEY}),
        Http("DELETE", f"/api/v1/users/{g.user}", 403),
    ),
    "timeline_list": lambda g: Row(
        get("/api/v1/timeline", 200, g, "&types=semantic,created"),
        get("/api/v1/timeline", 422, g, "&since=noon"),
    ),
    "replay_memories": lambda g: Row(
        post("/api/v1/replay", 200, g, sequence=1), post("/api/v1/replay", 422, g, sequence=99)
    ),
    "context": lambda g: Row(
        post("/api/v1/context", 200, g, query="Lisbon"),
        post("/api/v1/context", 422, g, max_tokens=0),
    ),
    "sessions_list": lambda g: Row(
        get("/api/v1/sessions", 200, g), get("/api/v1/sessions", 422, g, "&limit=0")
    ),
    "session_messages": lambda g: Row(
        get("/api/v1/sessions/monday/messages", 200, g),
        get("/api/v1/sessions/nowhere/messages", 404, g),
    ),
    "session_messages_append": lambda g: Row(
        post("/api/v1/sessions/monday/messages", 201, g, messages=[message()]),
        post("/api/v1/sessions/monday/messages", 422, g, messages=[{}]),
    ),
    "session_messages_take_back": lambda g: Row(
        Http("DELETE", f"/api/v1/sessions/monday/messages/last?user_id={g.user}&count=1", 200),
        Http("DELETE", f"/api/v1/sessions/nowhere/messages/last?user_id={g.user}", 404),
    ),
    "session_get": lambda g: Row(
        get("/api/v1/sessions/monday", 200, g), get("/api/v1/sessions/nowhere", 404, g)
    ),
    "procedure_get": lambda g: Row(
        get("/api/v1/procedures/style%2Flangue%20%C3%A0%20table", 200, g),
        get("/api/v1/procedures/style%2fzork", 404, g),
    ),
    "usage": lambda g: Row(get("/api/v1/usage", 200, g), get("/api/v1/usage", 422, g, "&limit=1")),
    "usage_app": lambda g: Row(
        Http("GET", "/api/v1/usage/app", 200, headers={"X-API-Key": IDLE_KEY}),
        Http("GET", "/api/v1/usage/app", 403),
    ),
    "user_settings": lambda g: Row(
        Http("GET", f"/api/v1/users/{g.user}/settings", 200),
        Http("GET", "/api/v1/users/a%23b/settings", 422),
    ),
    "user_settings_put": lambda g: Row(
        Http("PUT", f"/api/v1/users/{g.user}/settings", 200, {"time_zone": "Europe/Berlin"}),
        Http("PUT", f"/api/v1/users/{g.user}/settings", 422, {"time_zone": "Europe/Berln"}),
    ),
    "system_metrics": lambda g: Row(
        Http("GET", "/metrics", 200), Http("GET", "/metrics", 401, headers=NO_KEY)
    ),
    "system_pool_stats": lambda g: Row(
        Http("GET", "/api/v1/system/pool-stats", 200),
        Http("GET", "/api/v1/system/pool-stats", 401, headers=NO_KEY),
    ),
    # These take nothing, so nothing can be wrong with what they are sent. How they fare in a
    # process that can't work, a test tells.
    "system_root": lambda g: Row(Http("GET", "/", 200), None),
    "system_health": lambda g: Row(Http("GET", "/health", 200), None),
    "system_ready": lambda g: Row(Http("GET", "/health/ready", 200), None),
    "docs_page": lambda g: Row(Http("GET", "/docs", 200), None),
    "docs_file": lambda g: Row(
        Http("GET", "/docs/start.js", 200), Http("GET", "/docs/index.html", 404)
    ),
    "console_page": lambda g: Row(Http("GET", "/console", 200), None),
    # a client's own default differs between the two: one asks for gzip by itself
    "console_file": lambda g: Row(
        Http("GET", "/console/any/app.js", 200, None, {"Accept-Encoding": "identity"}),
        Http("GET", "/console/any/page.html", 404),
    ),
    "system_openapi": lambda g: Row(Http("GET", "/openapi.json", 200), None),
    "wrong_path": lambda g: Row(
        Http("POST", "/api/v1/memory/retrieve", 404, {"query": "Ana"}),
        Http("GET", "/wp-login.php", 404),
    ),
}

ODD: dict[str, tuple[str, Callable[[Given], Http]]] = {
    # what is odd → (function, request): where two hosts may read one request differently
    "no JSON": (
        "memories_save",
        lambda g: Http(
            "POST", f"{_MEMORIES}/save", 400, b'{"user_id": ', {"Content-Type": "application/json"}
        ),
    ),
    "no UTF-8": (
        "memories_save",
        lambda g: Http(
            "POST", f"{_MEMORIES}/save", 400, b'"\xff"', {"Content-Type": "application/json"}
        ),
    ),
    "another media type": (
        "memories_save",
        lambda g: Http("POST", f"{_MEMORIES}/save", 415, b"hello", {"Content-Type": "text/plain"}),
    ),
    "no body": (
        "memories_save",
        lambda g: Http("POST", f"{_MEMORIES}/save", 400, b"", {"Content-Type": "application/json"}),
    ),
    "a body over the limit": (
        "memories_save",
        lambda g: Http(
            "POST",
            f"{_MEMORIES}/save",
            413,
            b" " * (2**20 + 1),
            {"Content-Type": "application/json"},
        ),
    ),
    "a body where none belongs": (
        "memories_list",
        lambda g: Http("GET", f"{_MEMORIES}?user_id={g.user}", 400, {"limit": 3}),
    ),
    "letters beyond ASCII": (
        "memories_save",
        lambda g: post(
            f"{_MEMORIES}/save", 201, g, content="Zoë zog naar 東京 🎻", session_id="日曜日"
        ),
    ),
    "a query parameter twice": (
        "memories_list",
        lambda g: get(_MEMORIES, 422, g, "&limit=1&limit=2"),
    ),
    "a query parameter without a value": (
        "memories_list",
        lambda g: get(_MEMORIES, 422, g, "&limit="),
    ),
    "a query string that is no UTF-8": (
        "memories_query",
        lambda g: get(f"{_MEMORIES}/query", 400, g, "&query=%ff"),
    ),
    "a part of the path that no id has": (
        "memory_get",
        lambda g: get(f"{_MEMORIES}/mem%2F1", 422, g),
    ),
    "other letter case in the path": ("sessions_list", lambda g: get("/API/v1/Sessions", 200, g)),
    "a key in the other header": (
        "sessions_list",
        lambda g: Http(
            "GET",
            f"/api/v1/sessions?user_id={g.user}",
            401,
            None,
            {"X-API-Key": "", "Authorization": "Bearer mc_zork"},
        ),
    ),
}

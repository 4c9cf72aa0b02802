"""No request sees another user's data, by any path, header, cursor, id or metadata."""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.host import answer_when, memories, problem, save

T = TypeVar("T")
PHRASE = "the name of the vault is swordfish"
QUESTION = "what is the name of the vault"
"""What a thief asks: an answer may repeat the words that it was asked for, so the secret is
not among them.
"""
MESSAGE = {"role": "user", "content": PHRASE, "timestamp": "2026-05-08T13:56:00Z"}


@dataclass(frozen=True)
class Victim:
    """A user with something to hide, and every name by which a thief might ask for it."""

    user_id: str
    memory_id: str
    fact_id: str
    task_id: str
    cursor: str
    etag: str
    conflict_id: str
    scene_id: str

    @property
    def names(self) -> list[str]:
        return [
            self.memory_id,
            self.fact_id,
            self.task_id,
            self.conflict_id,
            self.scene_id,
            self.user_id,
            "vault-session",
            "vault-key",
            "vault-agent",
            self.cursor,
        ]


@pytest.fixture(scope="module")
def victim(host: httpx.Client) -> Victim:
    user = f"victim-{uuid.uuid4().hex[:8]}"
    first = save(
        host, user, PHRASE, session_id="vault-session", agent_id="vault-agent", tags=["vault"]
    )
    secret = {
        "user_id": user,
        "content": PHRASE,
        "type": "semantic",
        "subject": "vault",
        "attribute": "name",
    }
    saved = host.post("/api/v1/memories/save", json=secret)
    rejected = host.post(
        "/api/v1/memories/save",
        json={**secret, "content": f"{PHRASE} too", "on_conflict": "reject_new"},
    ).json()
    assert rejected["conflict"]["rejected_content"] == f"{PHRASE} too"
    etag = host.get(
        f"/api/v1/memories/{saved.json()['memory']['id']}", params={"user_id": user}
    ).headers["etag"]
    save(host, user, PHRASE, type="procedural", key="vault-key", value="swordfish")
    page = host.get("/api/v1/memories", params={"user_id": user, "limit": 1}).json()
    answer = host.post(
        "/api/v1/memories", json={"user_id": f"{user}-told", "messages": [MESSAGE]}
    ).json()
    host.post(
        "/api/v1/memories/batch",
        json={"user_id": f"{user}-told", "session_id": "vault-session", "messages": [MESSAGE]},
    )
    ids = first["id"], saved.json()["memory"]["id"], answer["task_id"]
    return Victim(
        user,
        *ids,
        page["next_cursor"],
        etag,
        rejected["conflict"]["id"],
        settled(host, f"{user}-settled"),
    )


def settled(host: httpx.Client, user: str) -> str:
    """Have a user's memories settled by a run; the id of the scene that they make."""
    save(host, user, PHRASE)
    save(
        host,
        user,
        PHRASE,
        type="semantic",
        subject="user",
        attribute="vault name",
        value="swordfish",
    )
    host.post("/api/v1/consolidate", json={"user_id": user})
    (scene,) = answer_when(
        lambda: host.get("/api/v1/scenes", params={"user_id": user}).json()["scenes"], bool
    )
    return str(scene["id"])


def test_another_users_ids_are_not_found(host: httpx.Client, user: str, victim: Victim) -> None:
    save(host, user, "something of my own")
    for memory_id in (victim.memory_id, victim.fact_id):
        path, mine = f"/api/v1/memories/{memory_id}", {"user_id": user}
        attempts = [
            host.get(path, params=mine),
            host.get(path, params={**mine, "known_at": "2126-05-08T13:56:00Z"}),
            host.get(f"{path}/versions", params=mine),
            host.get(f"{path}/evolution", params=mine),
            host.get(f"{path}/evolution/graph", params=mine),
            host.delete(path, params=mine),
            host.put(path, json={**mine, "content": "mine now"}, headers={"If-Match": victim.etag}),
            host.patch(f"{path}/status", json={**mine, "status": "deleted", "reason": "x"}),
            host.post(f"{path}/copy", json={**mine, "to_agent_id": "me"}),
        ]
        for response in attempts:
            assert problem(response, 404)
            assert "swordfish" not in response.text
    assert {memory["status"] for memory in memories(host, victim.user_id)} == {"active"}


def test_another_users_sessions_and_procedures_are_not_found(
    host: httpx.Client, user: str, victim: Victim
) -> None:
    assert problem(host.get("/api/v1/sessions/vault-session", params={"user_id": user}), 404)
    assert problem(host.get("/api/v1/procedures/vault-key", params={"user_id": user}), 404)
    assert host.get("/api/v1/sessions", params={"user_id": user}).json()["sessions"] == []


def test_another_users_tasks_are_not_found(host: httpx.Client, user: str, victim: Victim) -> None:
    path = f"/api/v1/tasks/{victim.task_id}"
    assert problem(host.get(path, params={"user_id": user}), 404)
    for act in ("retry", "cancel"):
        assert problem(host.post(f"{path}/{act}", json={"user_id": user}), 404)
    assert host.get("/api/v1/tasks", params={"user_id": user}).json()["tasks"] == []


def test_another_users_conflicts_are_not_found(
    host: httpx.Client, user: str, victim: Victim
) -> None:
    save(host, user, "something of my own")
    path = f"/api/v1/conflicts/{victim.conflict_id}"
    assert problem(host.get(path, params={"user_id": user}), 404)
    assert problem(
        host.post(f"{path}/resolve", json={"user_id": user, "decision": "reject_new"}), 404
    )
    assert problem(host.post(f"{path}/undo", json={"user_id": user}), 404)
    assert host.get("/api/v1/conflicts", params={"user_id": user}).json() == {
        "conflicts": [],
        "next_cursor": None,
    }


def test_another_users_scenes_and_profile_are_not_seen(
    host: httpx.Client, user: str, victim: Victim
) -> None:
    theirs = {"user_id": f"{victim.user_id}-settled"}
    assert (
        "swordfish"
        in host.get(f"/api/v1/scenes/{victim.scene_id}", params=theirs).json()["summary"]
    )
    assert "swordfish" in host.get("/api/v1/profile", params=theirs).text
    save(host, user, "something of my own")
    assert problem(host.get(f"/api/v1/scenes/{victim.scene_id}", params={"user_id": user}), 404)
    scenes, profile = (
        host.get(f"/api/v1/{name}", params={"user_id": user}).json()
        for name in ("scenes", "profile")
    )
    assert (scenes["scenes"], scenes["next_cursor"]) == ([], None)
    assert (profile["explicit"], profile["implicit"]) == ([], [])


def test_another_users_memories_are_not_listed_or_retrieved(
    host: httpx.Client, user: str, victim: Victim
) -> None:
    save(host, user, "something of my own")
    for filters in (
        {},
        {"session_id": "vault-session"},
        {"agent_id": "vault-agent"},
        {"tags": ["vault"]},
    ):
        body = {
            "user_id": user,
            "query": PHRASE,
            "similarity_threshold": 0.0,
            "limit": 100,
            **filters,
        }
        assert "swordfish" not in host.post("/api/v1/memories/retrieve", json=body).text
    assert len(memories(host, user)) == 1
    assert memories(host, user, session_id="vault-session") == []
    assert len(memories(host, user, known_at="2126-05-08T13:56:00Z", status="all")) == 1
    assert "swordfish" not in host.get("/api/v1/timeline", params={"user_id": user}).text
    assert host.post(
        "/api/v1/memories/clear", json={"user_id": user, "session_id": "vault-session"}
    ).json() == {"cleared": 0}
    assert len(memories(host, victim.user_id, status="active")) == 3


def test_what_another_user_gathers_is_not_seen_nor_formed(
    host: httpx.Client, user: str, victim: Victim
) -> None:
    mine = {"user_id": user, "session_id": "vault-session"}
    assert host.get("/api/v1/memories/batch", params=mine).json() == {
        "buffered": 0,
        "flush_at": None,
    }
    assert host.post("/api/v1/memories/batch/flush", json=mine).status_code == 200
    assert host.get("/api/v1/tasks", params={"user_id": user}).json()["tasks"] == []


def test_another_users_cursor_is_void(host: httpx.Client, user: str, victim: Victim) -> None:
    for number in range(3):
        save(host, user, f"note {number}")
    assert problem(
        host.get("/api/v1/memories", params={"user_id": user, "limit": 1, "cursor": victim.cursor}),
        400,
        "cursor",
    )
    theirs = {"user_id": victim.user_id, "limit": 1}
    timeline = host.get("/api/v1/timeline", params=theirs).json()["next_cursor"]
    replay = host.post("/api/v1/replay", json={**theirs, "sequence": 3}).json()["next_cursor"]
    assert timeline is not None
    assert replay is not None
    assert problem(
        host.get("/api/v1/timeline", params={"user_id": user, "limit": 1, "cursor": timeline}),
        400,
        "cursor",
    )
    assert problem(
        host.post(
            "/api/v1/replay", json={"user_id": user, "limit": 1, "sequence": 3, "cursor": replay}
        ),
        400,
        "cursor",
    )


def test_another_users_idempotency_key_is_a_key_of_ones_own(
    host: httpx.Client, user: str, victim: Victim
) -> None:
    key = {"Idempotency-Key": f"shared-{uuid.uuid4()}"}
    host.post(
        "/api/v1/memories/save", json={"user_id": victim.user_id, "content": PHRASE}, headers=key
    )
    mine = host.post(
        "/api/v1/memories/save",
        json={"user_id": user, "content": "my own", "view": "full"},
        headers=key,
    )
    assert mine.status_code == 201
    assert mine.json()["memory"]["user_id"] == user


def test_the_same_words_in_another_users_store_change_nothing(
    host: httpx.Client, victim: Victim
) -> None:
    """Scores come from one's own memories only: what others say must not shift them,
    or it could be guessed.
    """
    fresh = [f"twin-{uuid.uuid4().hex[:8]}" for _ in range(2)]
    answers = []
    for number, twin in enumerate(fresh):
        for text in ("the boat is blue", "the vault is green", "lunch is at noon"):
            save(host, twin, text, event_timestamp="2026-05-08T13:56:00Z")
        if number == 0:
            for _ in range(5):
                save(host, victim.user_id, "vault vault boat")
        asked = {"user_id": twin, "query": "vault", "similarity_threshold": 0.0, "view": "full"}
        answer = host.post("/api/v1/memories/retrieve", json=asked).json()
        answers.append(
            [(hit["memory"]["content"], hit["lexical_score"]) for hit in answer["results"]]
        )
    assert answers[0] == answers[1]


SCOPE_HEADERS = ("X-User-Id", "X-App-Id", "X-Forwarded-User", "X-MS-CLIENT-PRINCIPAL-ID", "Cookie")
BODIES: dict[str, dict[str, Any]] = {
    "memories_save": {"content": "mine", "metadata": {}},
    "memories_bulk": {"memories": [{"content": "mine"}]},
    "memories_converse": {"messages": [{**MESSAGE, "content": "mine"}]},
    "memories_batch_append": {
        "session_id": "vault-session",
        "messages": [{**MESSAGE, "content": "mine"}],
    },
    "memories_batch_flush": {"session_id": "vault-session"},
    "agent_memories": {"messages": "mine"},
    "agent_summaries": {"messages": "mine"},
    "memories_retrieve": {
        "query": QUESTION,
        "mode": "reconstruct",
        "similarity_threshold": 0.0,
        "limit": 100,
    },
    "memories_get": {"ids": ["mem_none"], "keys": ["vault"]},
    "memories_delete": {"ids": ["mem_none"], "keys": ["vault"]},
    "session_messages_append": {"messages": [{**MESSAGE, "content": "mine"}]},
    "memories_clear": {"session_id": "vault-session"},
    "memory_update": {"content": "mine"},
    "memory_status": {"status": "deleted", "reason": "x"},
    "memory_copy": {"to_agent_id": "vault-agent"},
    "conflict_resolve": {"decision": "supersede"},
    "conflict_undo": {},
    "context": {"query": QUESTION},
    "replay_memories": {"known_at": "2126-05-08T13:56:00Z", "limit": 100},
    "memory_restore": {},
    "archive": {},
    "consolidate": {},
    "decay": {},
    "reembed": {},
    "forget": {"filter": {"types": ["episodic"]}, "mode": "hard"},
    "task_retry": {},
    "task_cancel": {},
    "user_settings_put": {"time_zone": "Europe/Berlin"},
    "key_make": {"rights": ["read"]},
    "key_rotate": {"overlap_seconds": 0},
    "user_import_commit": {"parts": 1, "sha256": "0" * 64},
}

RAW = {"user_import_part", "mcp"}
"""Those whose body is no JSON object of ours."""


@pytest.fixture(scope="module")
def operations(host: httpx.Client) -> list[tuple[str, str, dict[str, Any]]]:
    """Every route that the service says it has: a new one is walked without anybody
    remembering it.
    """
    paths = host.get("/openapi.json").json()["paths"]
    return [
        (method, path, operation)
        for path, item in sorted(paths.items())
        for method, operation in item.items()
    ]


def test_every_route_with_a_body_is_walked(
    operations: list[tuple[str, str, dict[str, Any]]],
) -> None:
    assert {
        operation["operationId"] for _, _, operation in operations if "requestBody" in operation
    } == set(BODIES) | RAW


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(chances=st.lists(st.integers(0, 999), min_size=60, max_size=60))
def test_a_walk_over_all_routes_never_meets_the_victim(
    host: httpx.Client,
    operations: list[tuple[str, str, dict[str, Any]]],
    victim: Victim,
    chances: list[int],
) -> None:
    """All chances are drawn before the first request, so that nothing the host does has a part in
    what is drawn.
    """
    left = iter(chances)

    def one_of(choices: Sequence[T]) -> T:
        return choices[next(left) % len(choices)]

    thief = f"thief-{uuid.uuid4().hex[:8]}"
    save(host, thief, "something of the thief's own", session_id="s")
    method, path, operation = one_of(operations)
    look_after_the_victim = one_of(range(10)) == 0
    path = re.sub(r"{\w+}", lambda _: one_of(victim.names), path.replace("{user_id}", thief))
    query: dict[str, str] = {}
    body: dict[str, Any] | None = None
    if operation["operationId"] == "mcp":
        tool = {
            "name": "memory_search",
            "arguments": {"query": QUESTION, "session_id": one_of(victim.names)},
        }
        body, query = (
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": tool},
            {"user_id": thief},
        )
    elif operation["operationId"] in RAW:
        query["part"] = "1"
    elif "requestBody" in operation:
        body = {"user_id": thief, **BODIES[operation["operationId"]]}
        extra = one_of(["session_id", "agent_id", "key", "metadata", "tags", "nothing"])
        if extra == "metadata":
            body["metadata"] = {"user_id": victim.user_id}
        elif extra != "nothing":
            body[extra] = [one_of(victim.names)] if extra == "tags" else one_of(victim.names)
    else:
        query = {"user_id": thief}
    for parameter in operation["parameters"]:
        if (
            parameter["in"] == "query"
            and parameter["name"] not in ("user_id", "app_id")
            and one_of([False, True])
        ):
            query[parameter["name"]] = (
                QUESTION if parameter["name"] == "query" else one_of(victim.names)
            )
    headers = {"If-Match": victim.etag, one_of(SCOPE_HEADERS): victim.user_id}
    response = host.request(method, path, params=query, json=body, headers=headers)
    assert response.status_code < 500, response.text
    assert "swordfish" not in response.text, (method, path, query, body)
    if look_after_the_victim:
        memories_left = [
            memory for memory in memories(host, victim.user_id) if memory["content"] == PHRASE
        ]
        assert {memory["status"] for memory in memories_left} == {"active"}

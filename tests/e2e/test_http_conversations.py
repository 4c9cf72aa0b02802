"""Conversations over HTTP, as a user of the development host tells them and watches what becomes of
them; on both profiles.
"""

from __future__ import annotations

import signal
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.host import Host, ended_task, memories, problem

TOLD = [
    {
        "role": "user",
        "content": "I moved to Lisbon last week.",
        "timestamp": "2026-05-08T13:56:00Z",
    },
    {
        "role": "assistant",
        "content": "How do you like it there?",
        "timestamp": "2026-05-08T13:56:10Z",
    },
    {
        "role": "user",
        "content": "I love the food, above all the grilled sardines.",
        "timestamp": "2026-05-08T13:57:00Z",
    },
]


def tell(client: httpx.Client, user_id: str = "ana", **fields: Any) -> httpx.Response:
    headers = {"Idempotency-Key": fields.pop("key")} if "key" in fields else {}
    return client.post(
        "/api/v1/memories", json={"user_id": user_id, "messages": TOLD, **fields}, headers=headers
    )


def test_a_conversation_is_accepted_and_found_as_memories_once_its_task_is_done(
    host: httpx.Client,
) -> None:
    answer = tell(host, session_id="monday")
    assert answer.status_code == 202
    body = answer.json()
    assert body == {
        "task_id": body["task_id"],
        "status": "accepted",
        "degraded": [],
        "messages": {"new": 3, "known": 0},
    }
    assert answer.headers["location"] == f"/api/v1/tasks/{body['task_id']}?user_id=ana"
    task = ended_task(host, answer.headers["location"])
    assert task.keys() == {
        "task_id", "kind", "status", "step", "progress", "attempts", "result", "error",
        "created_at", "updated_at",
    }  # fmt: skip
    assert (task["status"], task["progress"], task["kind"], task["error"]) == (
        "succeeded",
        1.0,
        "converse",
        None,
    )
    made = {memory["id"]: memory for memory in memories(host, "ana")}
    named = [name for cell in task["result"]["cells"] for name in cell["memory_ids"]]
    assert named
    assert set(named) == made.keys()
    assert {memory["conversation_id"] for memory in made.values()} == {
        task["result"]["conversation_id"]
    }
    assert {memory["correlation_id"] for memory in made.values()} == {
        answer.headers["x-correlation-id"]
    }
    assert {memory["session_id"] for memory in made.values()} == {"monday"}
    retrieved = host.post(
        "/api/v1/memories/retrieve", json={"user_id": "ana", "query": "grilled sardines"}
    ).json()["results"]
    assert retrieved[0]["memory"]["id"] in made


def test_a_history_that_is_sent_again_adds_what_is_new(host: httpx.Client) -> None:
    """Without times and ids, as a chat client has it: growing from its first message on, as a
    window, and the last message once more.
    """
    messages = [{"role": message["role"], "content": message["content"]} for message in TOLD]
    front = {"role": "system", "content": "You are a guide."}

    def told(*messages: dict[str, str]) -> dict[str, int]:
        counts: dict[str, int] = tell(host, "again", session_id="s", messages=messages).json()[
            "messages"
        ]
        return counts

    assert told(messages[0]) == {"new": 1, "known": 0}
    assert told(messages[0]) == {"new": 0, "known": 1}
    assert told(*messages[:2]) == {"new": 1, "known": 1}
    assert told(front, *messages[1:]) == {"new": 2, "known": 1}
    assert told(front, messages[2]) == {"new": 0, "known": 2}
    again = {**messages[2], "timestamp": datetime.now(UTC).isoformat()}
    assert told(again) == {"new": 1, "known": 0}


def test_a_users_tasks_are_listed_and_nobody_elses(host: httpx.Client) -> None:
    mine = tell(host, "list one").json()["task_id"]
    tell(host, "list two")
    tasks = host.get("/api/v1/tasks", params={"user_id": "list one", "kind": "converse"}).json()
    assert ([task["task_id"] for task in tasks["tasks"]], tasks["next_cursor"]) == ([mine], None)
    assert problem(host.get(f"/api/v1/tasks/{mine}", params={"user_id": "list two"}), 404)
    assert problem(
        host.get("/api/v1/tasks", params={"user_id": "list one", "status": "done"}), 422, "status"
    )
    assert problem(
        host.get("/api/v1/tasks", params={"user_id": "list one", "cursor": "nonsense"}),
        400,
        "cursor",
    )


def test_a_user_id_that_needs_escaping_is_escaped_in_the_location(host: httpx.Client) -> None:
    answer = tell(host, "zoë & co")
    assert ended_task(host, answer.headers["location"])["status"] == "succeeded"


def test_the_same_key_names_the_same_task_and_another_body_is_refused(host: httpx.Client) -> None:
    first, second = tell(host, "keyed", key="k1"), tell(host, "keyed", key="k1")
    assert second.status_code == 202
    assert first.json() == second.json()
    assert problem(tell(host, "keyed", key="k1", session_id="other"), 409)


def test_a_done_task_is_neither_retried_nor_cancelled(host: httpx.Client) -> None:
    answer = tell(host, "done")
    task = ended_task(host, answer.headers["location"])
    for act in ("retry", "cancel"):
        assert problem(
            host.post(f"/api/v1/tasks/{task['task_id']}/{act}", json={"user_id": "done"}), 409
        )
        assert problem(
            host.post(f"/api/v1/tasks/{task['task_id']}/{act}", json={"user_id": "stranger"}), 404
        )
        assert problem(host.post(f"/api/v1/tasks/{task['task_id']}/{act}", json={}), 422, "user_id")


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"messages": []}, "messages"),
        ({"messages": TOLD * 67}, "messages"),
        ({"messages": [{**TOLD[0], "role": "robot"}]}, "messages.0.role"),
        ({"messages": [{**TOLD[0], "content": " "}]}, "messages.0.content"),
        ({"messages": [{**TOLD[0], "content": "é" * 20_000}]}, "messages.0.content"),
        (
            {"messages": [TOLD[0], {**TOLD[0], "timestamp": "2026-05-08T13:56:00"}]},
            "messages.1.timestamp",
        ),
        ({"messages": [{**TOLD[0], "timestamp": 1_778}]}, "messages.0.timestamp"),
        (
            {"messages": [TOLD[0], {**TOLD[0], "timestamp": "9999-12-31T23:59:00Z"}]},
            "messages.1.timestamp",
        ),
        ({"messages": [{**TOLD[0], "name": ""}]}, "messages.0.name"),
        ({"messages": [{**TOLD[0], "id": "a/b"}]}, "messages.0.id"),
        ({"messages": [{**TOLD[0], "content": None}]}, "messages.0.content"),
        ({"messages": [{**TOLD[0], "content": [{"type": "text"}]}]}, "messages.0.content.0.text"),
        (
            {"messages": [{"role": "assistant", "content": None, "tool_calls": [{"id": "a"}]}]},
            "messages.0.tool_calls.0.name",
        ),
        (
            {
                "messages": [
                    {"role": "assistant", "content": [{"type": "thinking", "thinking": "a"}]}
                ]
            },
            "messages",
        ),
        ({"session_id": "a/b"}, "session_id"),
        ({"callback_url": "ftp://example.com/x"}, "callback_url"),
        ({"callback_url": "http://"}, "callback_url"),
        ({"callback_url": "https://me:secret@example.com/x"}, "callback_url"),
        ({"callback_url": "https://example.com:port/x"}, "callback_url"),
        ({"callback_url": "https://exa mple.com/"}, "callback_url"),
        ({"zork": 1}, "zork"),
    ],
)
def test_bad_input_is_refused_by_name(
    host: httpx.Client, fields: dict[str, Any], field: str
) -> None:
    assert problem(tell(host, "refused", **fields), 422, field)
    assert host.get("/api/v1/tasks", params={"user_id": "refused"}).json()["tasks"] == []


def test_a_body_over_a_mebibyte_is_refused(host: httpx.Client) -> None:
    assert problem(tell(host, "refused", messages=[{**TOLD[0], "content": "x" * 32_000}] * 40), 413)


def test_a_conversation_as_long_as_allowed_is_formed(host: httpx.Client) -> None:
    long = [
        {
            **TOLD[0],
            "content": f"Message {n}: " + "word " * 980,
            "timestamp": f"2026-05-08T13:{n % 60:02}:00Z",
        }
        for n in range(200)
    ]
    answer = tell(host, "long", messages=long)
    assert answer.status_code == 202, answer.text
    task = ended_task(host, answer.headers["location"])
    assert task["status"] == "succeeded", task["error"]
    assert task["result"]["cells"][-1]["last"] == 199
    assert len(task["result"]["cells"]) >= 4


def test_readiness_speaks_of_agents_and_queue(host: httpx.Client) -> None:
    seen = host.get("/health/ready").json()["dependencies"]
    assert {"agents", "queue"} <= seen.keys()


def test_killed_with_conversations_on_their_way_a_new_host_forms_each_once(tmp_path: Path) -> None:
    settings = {"MEMORY_QUEUE_VISIBILITY_S": "1", "MEMORY_TASK_LEASE_S": "1"}
    users = [f"user{n}" for n in range(20)]
    locations = []
    for part in (users[:10], users[10:]):
        host = Host(tmp_path, **settings)
        with httpx.Client(base_url=host.url, timeout=30) as client:
            locations += [tell(client, user).headers["location"] for user in part]
            host.stop(signal.SIGKILL)
    host = Host(tmp_path, **settings)
    try:
        with httpx.Client(base_url=host.url, timeout=30) as client:
            for user, location in zip(users, locations, strict=True):
                task = ended_task(client, location)
                assert (task["status"], task["attempts"]) == ("succeeded", 0), task
                named = [name for cell in task["result"]["cells"] for name in cell["memory_ids"]]
                assert sorted(named) == sorted(memory["id"] for memory in memories(client, user))
    finally:
        host.stop(signal.SIGKILL)

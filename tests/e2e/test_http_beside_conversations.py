"""Agents' words, summaries, batches and webhooks over HTTP, with a real receiver;
on both profiles.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest

from tests.host import memories, problem, running
from tests.profiles import Profile

SECRET = "what both of us know of"
TOLD = [
    {
        "role": "user",
        "content": "I moved to Lisbon last week.",
        "timestamp": "2026-05-08T13:56:00Z",
    },
    {
        "role": "user",
        "content": "I love the grilled sardines there.",
        "timestamp": "2026-05-08T13:57:00Z",
    },
]
END_S = 60


class Receiver:
    """Takes webhooks in. statuses: of the next answers; then 200."""

    def __init__(self) -> None:
        self.received: list[tuple[dict[str, str], bytes]] = []
        self.statuses: list[int] = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.server.server_port}/hook"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.received.append(
                    ({name.lower(): value for name, value in self.headers.items()}, body)
                )
                self.send_response(receiver.statuses.pop(0) if receiver.statuses else 200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args: Any) -> None:
                """Say nothing."""

        return Handler


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture(scope="module")
def host(profile: Profile, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """One that may call this machine, and waits a second for more messages."""
    ours = {
        "MEMORY_WEBHOOK_ALLOW": "127.0.0.1",
        "MEMORY_WEBHOOK_SECRET": SECRET,
        "MEMORY_BATCH_IDLE_S": "1",
        "MEMORY_BATCH_MESSAGES": "4",
    }
    with running(tmp_path_factory.mktemp("host"), **profile.settings() | ours) as client:
        yield client


def until(probe: Callable[[], Any]) -> Any:
    """What a question answers once it answers anything."""
    deadline = time.monotonic() + END_S
    while time.monotonic() < deadline:
        answer = probe()
        if answer:
            return answer
        time.sleep(0.02)
    raise AssertionError("it never comes")


def ended(client: httpx.Client, user_id: str, task_id: str) -> dict[str, Any]:
    """The task, once it is finished and its callback was called."""

    def look() -> dict[str, Any] | None:
        task: dict[str, Any] = client.get(
            f"/api/v1/tasks/{task_id}", params={"user_id": user_id}
        ).json()
        delivered = [
            delivery["status"] != "pending"
            for delivery in (task["result"] or {}).get("deliveries", [])
        ]
        return task if task["status"] not in ("accepted", "running") and all(delivered) else None

    task: dict[str, Any] = until(look)
    return task


def post(client: httpx.Client, path: str, status: int, **body: Any) -> dict[str, Any]:
    response = client.post(f"/api/v1/{path}", json=body)
    assert response.status_code == status, response.text
    answer: dict[str, Any] = response.json()
    return answer


def test_a_callback_address_is_told_of_the_end_and_can_check_who_tells(
    host: httpx.Client, receiver: Receiver, user: str
) -> None:
    receiver.statuses = [503]
    accepted = post(host, "memories", 202, user_id=user, messages=TOLD, callback_url=receiver.url)
    task = ended(host, user, accepted["task_id"])
    assert [request[0]["x-memory-delivery"] for request in receiver.received] == [
        task["result"]["deliveries"][0]["delivery_id"]
    ] * 2
    headers, body = receiver.received[-1]
    stamped = headers["x-memory-timestamp"].encode() + b"." + body
    assert (
        headers["x-memory-signature"]
        == "sha256=" + hmac.new(SECRET.encode(), stamped, hashlib.sha256).hexdigest()
    )
    assert abs(int(headers["x-memory-timestamp"]) - time.time()) < END_S
    body_received = json.loads(body)
    assert (body_received["task_id"], body_received["status"]) == (task["task_id"], "succeeded")
    assert body_received["result"] == {
        name: value for name, value in task["result"].items() if name != "deliveries"
    }
    (log,) = task["result"]["deliveries"]
    assert (log["status"], log["attempts"], log["status_code"], log["url"]) == (
        "delivered",
        2,
        200,
        receiver.url,
    )
    assert [attempt["status_code"] for attempt in log["tries"]] == [503, 200]
    delivery = host.get(f"/api/v1/tasks/{log['task_id']}", params={"user_id": user}).json()
    assert (delivery["kind"], delivery["status"], delivery["result"]["for_task_id"]) == (
        "webhook",
        "succeeded",
        task["task_id"],
    )


@pytest.mark.parametrize(
    "url",
    ["http://169.254.169.254/latest", "http://[::1]:1/", "https://10.0.0.1/", "http://2852039166/"],
)
def test_an_address_within_our_network_is_refused_before_anything_is_promised(
    host: httpx.Client, user: str, url: str
) -> None:
    answer = host.post(
        "/api/v1/memories", json={"user_id": user, "messages": TOLD, "callback_url": url}
    )
    assert "no public address" in problem(answer, 422, "callback_url")["detail"]
    answer = host.post(
        "/api/v1/agent/summaries", json={"user_id": user, "messages": "said", "callback_url": url}
    )
    assert problem(answer, 422, "callback_url")
    assert host.get("/api/v1/tasks", params={"user_id": user}).json()["tasks"] == []


def test_an_agents_words_are_one_memory(host: httpx.Client, user: str) -> None:
    words = "Booked the 9:40 to Porto for Friday, seat 14A."
    accepted = post(
        host,
        "agent/memories",
        202,
        user_id=user,
        messages=words,
        agent_id="planner",
        session_id="trip",
    )
    assert accepted.keys() == {"task_id", "status", "degraded"}
    task = ended(host, user, accepted["task_id"])
    assert (task["kind"], task["status"]) == ("agent_memory", "succeeded")
    (memory,) = memories(host, user)
    assert (memory["type"], memory["category"], memory["agent_id"], memory["episode"]) == (
        "episodic",
        "agent",
        "planner",
        f"planner: {words}",
    )
    assert "Porto" in memory["content"]
    hits = post(host, "memories/retrieve", 200, user_id=user, query="seat to Porto")["results"]
    assert [hit["memory"]["id"] for hit in hits] == [memory["id"]]


def test_a_summary_is_answered_at_once_for_nobody_in_particular(
    host: httpx.Client, user: str
) -> None:
    contents = [message["content"] for message in TOLD]
    fast = post(host, "agent/summaries", 200, messages=contents)
    assert fast.keys() == {"summary", "degraded"}
    assert "Lisbon" in fast["summary"]
    full = post(host, "agent/summaries", 200, messages=TOLD, mode="full", user_id=user)
    assert full["structured"].keys() == {"context", "narrative", "retrieval", "metadata"}
    assert memories(host, user) == []


def test_a_summary_with_a_callback_is_sent_there_and_is_somebodys_task(
    host: httpx.Client, receiver: Receiver, user: str
) -> None:
    assert problem(
        host.post(
            "/api/v1/agent/summaries", json={"messages": "said", "callback_url": receiver.url}
        ),
        422,
        "user_id",
    )
    answer = host.post(
        "/api/v1/agent/summaries",
        json={"user_id": user, "messages": TOLD, "mode": "full", "callback_url": receiver.url},
    )
    assert answer.status_code == 202
    assert answer.headers["location"] == f"/api/v1/tasks/{answer.json()['task_id']}?user_id={user}"
    task = ended(host, user, answer.json()["task_id"])
    (_, body) = receiver.received[0]
    assert json.loads(body)["result"]["structured"]["narrative"] == task["result"]["summary"]


def test_a_batch_waits_for_more_and_is_formed_when_nothing_comes(
    host: httpx.Client, user: str
) -> None:
    asked = {"user_id": user, "session_id": "monday"}
    assert host.get("/api/v1/memories/batch", params=asked).json() == {
        "buffered": 0,
        "flush_at": None,
    }
    first = post(host, "memories/batch", 202, **asked, messages=TOLD[:1])
    assert first.keys() == {"buffered", "flush_at", "degraded"}
    assert (first["buffered"], first["flush_at"][-1]) == (1, "Z")
    (task,) = until(
        lambda: host.get("/api/v1/tasks", params={"user_id": user, "status": "succeeded"}).json()[
            "tasks"
        ]
    )
    assert task["kind"] == "flush"
    assert {memory["session_id"] for memory in memories(host, user)} == {"monday"}
    assert host.get("/api/v1/memories/batch", params=asked).json()["buffered"] == 0


def test_a_batch_that_is_full_or_asked_for_is_formed_at_once(host: httpx.Client, user: str) -> None:
    asked = {"user_id": user, "session_id": "monday"}
    full = post(host, "memories/batch", 202, **asked, messages=TOLD * 2)
    assert (full["buffered"], full["flush_at"]) == (0, None)
    assert ended(host, user, full["task_id"])["status"] == "succeeded"
    assert post(host, "memories/batch/flush", 200, **asked) == {"buffered": 0, "flush_at": None}
    post(
        host,
        "memories/batch",
        202,
        **asked,
        messages=[{**TOLD[0], "content": "Tuesdays I play the violin."}],
    )
    flushed = host.post("/api/v1/memories/batch/flush", json=asked)
    if flushed.status_code == 202:  # else its second was over before we asked
        assert flushed.headers["location"].startswith(f"/api/v1/tasks/{flushed.json()['task_id']}")
    until(lambda: any("violin" in memory["content"] for memory in memories(host, user)))


def test_an_append_with_a_key_is_done_once(host: httpx.Client, user: str) -> None:
    body = {"user_id": user, "session_id": "monday", "messages": TOLD[:1]}
    answers = [
        host.post("/api/v1/memories/batch", json=body, headers={"Idempotency-Key": "k1"})
        for _ in range(3)
    ]
    assert {answer.status_code for answer in answers} == {202}
    other = host.post(
        "/api/v1/memories/batch", json={**body, "messages": TOLD}, headers={"Idempotency-Key": "k1"}
    )
    assert problem(other, 409)
    until(
        lambda: host.get("/api/v1/tasks", params={"user_id": user, "status": "succeeded"}).json()[
            "tasks"
        ]
    )
    assert len(host.get("/api/v1/tasks", params={"user_id": user}).json()["tasks"]) == 1


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("memories/batch", {"messages": TOLD}, "session_id"),
        ("memories/batch", {"session_id": "s", "messages": []}, "messages"),
        (
            "memories/batch",
            {
                "session_id": "s",
                "messages": [{"role": "user", "content": "hi", "timestamp": "2026-05-08T13:56:00"}],
            },
            "messages.0.timestamp",
        ),
        ("memories/batch/flush", {}, "session_id"),
        ("agent/memories", {"messages": ""}, "messages"),
        (
            "agent/memories",
            {"messages": ["ok", {"content": "no", "role": "king"}]},
            "messages.1.role",
        ),
        ("agent/memories", {"messages": [7]}, "messages.0"),
        ("agent/summaries", {"messages": "said", "mode": "slow"}, "mode"),
        ("agent/summaries", {"messages": "said", "callback_url": "ftp://a"}, "callback_url"),
    ],
)
def test_what_is_wrong_is_named(
    host: httpx.Client, user: str, path: str, body: dict[str, Any], field: str
) -> None:
    assert problem(host.post(f"/api/v1/{path}", json={"user_id": user, **body}), 422, field)

"""Over HTTP, in both profiles: what was told last in a session is taken back,
and is found nowhere then.
"""

from __future__ import annotations

from typing import Any

import httpx

from tests.host import memories, problem, until

LAST = "/api/v1/sessions/monday/messages/last"


def tell(host: httpx.Client, user: str, question: str, answered: str, *, day: int) -> None:
    """Tell a turn, and wait until it is formed."""
    messages = [
        {"role": role, "content": content, "timestamp": f"2026-05-{day:02}T13:0{place}:00Z"}
        for place, (role, content) in enumerate((("user", question), ("assistant", answered)))
    ]
    answer = host.post(
        "/api/v1/memories", json={"user_id": user, "session_id": "monday", "messages": messages}
    )
    assert answer.status_code == 202
    until(lambda: host.get(answer.headers["location"]).json()["status"], "succeeded")


def current(host: httpx.Client, user: str) -> list[str]:
    """The facts that hold."""
    return [
        memory["content"]
        for memory in memories(host, user, status="active")
        if memory["category"] == "fact"
    ]


def read_back(host: httpx.Client, user: str) -> list[str]:
    page = host.get("/api/v1/sessions/monday/messages", params={"user_id": user}).json()
    return [message["content"] for message in page["messages"]]


def told_of(host: httpx.Client, user: str, word: str) -> list[Any]:
    """Where a search and a context show a word."""
    hits = host.post("/api/v1/memories/retrieve", json={"user_id": user, "query": word}).json()[
        "results"
    ]
    context = host.post(
        "/api/v1/context", json={"user_id": user, "query": word, "session_id": "monday"}
    ).json()["context"]
    return [text for text in (*hits, context) if word in str(text)]


def test_a_turn_is_taken_back_and_what_it_replaced_holds_again(
    host: httpx.Client, user: str
) -> None:
    tell(host, user, "I live in Lisbon.", "A fine city.", day=8)
    lived = current(host, user)
    tell(host, user, "I live in Oslo now, no longer in Lisbon.", "Cold up there.", day=9)
    assert current(host, user) != lived
    assert told_of(host, user, "Oslo")
    key = {"Idempotency-Key": "take-1"}
    answer = host.delete(LAST, params={"user_id": user}, headers=key)
    assert answer.status_code == 200
    body = answer.json()
    assert [message["content"] for message in body["messages"]] == [
        "I live in Oslo now, no longer in Lisbon.",
        "Cold up there.",
    ]
    assert body["memories"] > 0
    assert body["messages"][0].keys() == {
        "id",
        "memory_id",
        "role",
        "actor",
        "content",
        "parts",
        "timestamp",
    }
    assert current(host, user) == lived
    assert told_of(host, user, "Oslo") == []
    assert read_back(host, user) == ["I live in Lisbon.", "A fine city."]
    assert host.delete(LAST, params={"user_id": user}, headers=key).json() == body
    assert problem(host.delete(LAST, params={"user_id": user, "count": 1}, headers=key), 409)
    assert [
        message["content"]
        for message in host.delete(LAST, params={"user_id": user, "count": 1}).json()["messages"]
    ] == ["A fine city."]
    assert [
        message["content"]
        for message in host.delete(LAST, params={"user_id": user, "count": 9}).json()["messages"]
    ] == ["I live in Lisbon."]
    assert host.delete(LAST, params={"user_id": user}).json() == {"messages": [], "memories": 0}


def test_what_can_not_be_taken_back_is_told(host: httpx.Client, user: str) -> None:
    assert problem(
        host.delete("/api/v1/sessions/nowhere/messages/last", params={"user_id": "nobody"}), 404
    )
    assert problem(host.delete(LAST, params={"user_id": user, "count": 0}), 422, "count")
    assert problem(host.delete(LAST), 422, "user_id")

"""Secrets over HTTP and MCP: answers say what was replaced and where, and nothing
repeats a secret.
"""

from __future__ import annotations

import httpx

from tests.mcp_client import MODES, answer, over_http

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9" * 2
TEXT = f"The zebra deployment uses {TOKEN} until May"
KEPT = "The zebra deployment uses [redacted: github token] until May"


def redacted(response: httpx.Response) -> list[tuple[str, str, int]]:
    """What an answer lists; it holds no secret."""
    assert response.is_success, response.text
    assert TOKEN not in response.text
    return [
        (entry["field"], entry["kind"], entry["count"])
        for entry in response.json().get("redacted", [])
    ]


def test_answers_list_what_was_replaced_in_the_request(host: httpx.Client, user: str) -> None:
    body = {"user_id": user, "content": TEXT, "type": "semantic", "metadata": {"api_key": TOKEN}}
    saved = host.post("/api/v1/memories/save", json=body, headers={"Idempotency-Key": "zebra"})
    expected = [("content", "github token", 1), ("metadata.api_key", "github token", 1)]
    assert (sorted(redacted(saved)), saved.json()["memory"]["content"]) == (expected, KEPT)
    again = host.post("/api/v1/memories/save", json=body, headers={"Idempotency-Key": "zebra"})
    assert (sorted(redacted(again)), again.json()["memory"]["id"]) == (
        expected,
        saved.json()["memory"]["id"],
    )

    items = [{"content": "plain"}, {"content": ""}, {"content": f"second {TEXT}"}]
    bulk = host.post("/api/v1/memories/bulk", json={"user_id": user, "memories": items})
    assert redacted(bulk) == [("memories.2.content", "github token", 1)]
    assert bulk.json()["results"][2]["memory"]["content"] == f"second {KEPT}"

    messages = [
        {"role": "user", "content": "Hello"},
        {"role": "user", "content": f"{TEXT}. My PIN is 4821."},
    ]
    response = host.post(
        "/api/v1/memories", json={"user_id": user, "session_id": "s", "messages": messages}
    )
    assert redacted(response) == [
        ("messages.1.content", "github token", 1),
        ("messages.1.content", "password", 1),
    ]

    identity, etag = saved.json()["memory"]["id"], saved.headers["ETag"]
    edit = {"content": f"Now {TEXT}"}
    edited = host.put(
        f"/api/v1/memories/{identity}",
        params={"user_id": user},
        json=edit,
        headers={"If-Match": etag},
    )
    assert (redacted(edited), edited.json()["content"]) == (
        [("content", "github token", 1)],
        f"Now {KEPT}",
    )
    assert (
        redacted(
            host.post(
                "/api/v1/memories/save", json={"user_id": user, "content": "Ana lives in Porto"}
            )
        )
        == []
    )


def test_no_problem_repeats_a_secret(host: httpx.Client, user: str) -> None:
    for answered in (
        host.post("/api/v1/memories/save", json={"user_id": user, "content": "x", TOKEN: 1}),
        host.get(f"/api/v1/memories/{TOKEN}", params={"user_id": user}),
        host.get("/api/v1/memories", params={"user_id": user, TOKEN: "1"}),
        host.post(
            "/api/v1/memories/retrieve", json={"user_id": user, "query": "x", "weights": {TOKEN: 1}}
        ),
    ):
        assert answered.is_client_error
        assert TOKEN not in answered.text, answered.text


async def test_tools_say_what_they_did_not_keep(host: httpx.Client, user: str) -> None:
    async with over_http(host.base_url, MODES[0], X_Memory_User=user) as client:
        text = await answer(client, "memory_save", content=TEXT)
        assert text.endswith("\nRedacted before anything was kept: github token (content).")
        assert KEPT in await answer(client, "memory_search", query="zebra deployment until May")


def test_no_answer_repeats_a_secret_that_names_something(host: httpx.Client, user: str) -> None:
    message = {"role": "user", "content": "I bought a boat", TOKEN: 1}
    response = host.post("/api/v1/memories", json={"user_id": user, "messages": [message]})
    assert redacted(response) == [("messages", "github token", 1)]
    assert response.json()["ignored"] == ["messages.*.[redacted: github token]"]
    deleted = host.post("/api/v1/memories/delete", json={"user_id": user, "keys": [TOKEN]})
    assert redacted(deleted) == [("keys.0", "github token", 1)]
    named = host.get(
        "/api/v1/memories", params={"user_id": user}, headers={"X-Correlation-Id": TOKEN}
    )
    assert named.headers["x-correlation-id"] != TOKEN

"""ETags keep two writers from overwriting each other; idempotency keys keep one from
writing twice.
"""

from __future__ import annotations

import uuid
from typing import Any

import httpx

from tests.host import memories, problem, save


def saved_fact(host: httpx.Client, user: str) -> httpx.Response:
    return host.post(
        "/api/v1/memories/save",
        json={"user_id": user, "content": "Ana lives in Lisbon", "type": "semantic"},
    )


def test_a_put_needs_the_etag_of_the_version_that_it_replaces(
    host: httpx.Client, user: str
) -> None:
    fact = saved_fact(host, user)
    path = f"/api/v1/memories/{fact.json()['memory']['id']}"
    change = {"user_id": user, "content": "Ana lives in Porto", "change_reason": "she moved"}
    assert problem(host.put(path, json=change), 412)
    assert problem(host.put(path, json=change, headers={"If-Match": '"zork"'}), 412)

    changed = host.put(path, json=change, headers={"If-Match": fact.headers["etag"]})
    assert changed.status_code == 200
    assert (changed.json()["version"], changed.json()["content"]) == (2, "Ana lives in Porto")
    assert changed.headers["etag"] != fact.headers["etag"]
    assert problem(host.put(path, json=change, headers={"If-Match": fact.headers["etag"]}), 412)

    versions = host.get(f"{path}/versions", params={"user_id": user}).json()["versions"]
    assert {version["version"]: version["content"] for version in versions} == {
        1: "Ana lives in Lisbon",
        2: "Ana lives in Porto",
    }
    assert versions[0].keys() == {
        "version", "content", "confidence", "valid_from", "valid_until", "change_reason",
        "metadata_snapshot", "changed_at",
    }  # fmt: skip


def test_a_put_may_name_its_user_in_the_query(host: httpx.Client, user: str) -> None:
    fact = saved_fact(host, user)
    path = f"/api/v1/memories/{fact.json()['memory']['id']}"
    changed = host.put(
        path,
        params={"user_id": user},
        json={"content": "Ana lives in Porto"},
        headers={"If-Match": fact.headers["etag"]},
    )
    assert changed.status_code == 200


def test_reading_does_not_change_the_etag(host: httpx.Client, user: str) -> None:
    fact = saved_fact(host, user)
    path = f"/api/v1/memories/{fact.json()['memory']['id']}"
    host.post("/api/v1/memories/retrieve", json={"user_id": user, "query": "Where does Ana live?"})
    assert host.get(path, params={"user_id": user}).headers["etag"] == fact.headers["etag"]


def test_what_happened_is_never_edited(host: httpx.Client, user: str) -> None:
    response = host.post(
        "/api/v1/memories/save",
        json={"user_id": user, "content": "Ana arrived", "type": "episodic"},
    )
    path = f"/api/v1/memories/{response.json()['memory']['id']}"
    change = {"user_id": user, "content": "Ana left"}
    assert problem(host.put(path, json=change, headers={"If-Match": response.headers["etag"]}), 409)
    assert memories(host, user)[0]["content"] == "Ana arrived"


def keyed() -> dict[str, str]:
    return {"Idempotency-Key": str(uuid.uuid4())}


def test_the_same_save_with_the_same_key_is_done_once(host: httpx.Client, user: str) -> None:
    key, body = keyed(), {"user_id": user, "content": "Ana arrived"}
    answers = [host.post("/api/v1/memories/save", json=body, headers=key) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [201, 201, 201]
    assert len({answer.json()["memory"]["id"] for answer in answers}) == 1
    assert len(memories(host, user)) == 1


def test_the_same_json_in_another_order_is_the_same_request(host: httpx.Client, user: str) -> None:
    key = keyed()
    first = host.post(
        "/api/v1/memories/save",
        json={"user_id": user, "content": "Ana arrived", "tags": ["a"]},
        headers=key,
    )
    second = host.post(
        "/api/v1/memories/save",
        json={"tags": ["a"], "content": "Ana arrived", "user_id": user},
        headers=key,
    )
    assert first.json()["memory"]["id"] == second.json()["memory"]["id"]


def test_a_key_used_for_another_request_is_a_conflict(host: httpx.Client, user: str) -> None:
    key = keyed()
    host.post(
        "/api/v1/memories/save", json={"user_id": user, "content": "Ana arrived"}, headers=key
    )
    assert problem(
        host.post(
            "/api/v1/memories/save", json={"user_id": user, "content": "Ana left"}, headers=key
        ),
        409,
    )
    assert [memory["content"] for memory in memories(host, user)] == ["Ana arrived"]


def test_a_key_used_with_another_query_is_a_conflict(host: httpx.Client, user: str) -> None:
    key, path = keyed(), f"/api/v1/users/{user}/import"
    first, again = (
        host.post(path, params={"of": "conversations"}, headers=key).json()["task_id"]
        for _ in range(2)
    )
    assert first == again
    assert problem(host.post(path, headers=key), 409)


def test_every_writing_post_is_done_once_a_key(host: httpx.Client, user: str) -> None:
    memory = save(host, user, "Ana arrived", session_id="s", agent_id="a")
    calls: list[tuple[str, dict[str, Any]]] = [
        ("bulk", {"memories": [{"content": "one"}, {"content": "two"}]}),
        (f"{memory['id']}/copy", {"to_agent_id": "b"}),
        ("clear", {"session_id": "s"}),
    ]
    for call, body in calls:
        key = keyed()
        first, second = (
            host.post(f"/api/v1/memories/{call}", json={"user_id": user, **body}, headers=key)
            for _ in range(2)
        )
        assert first.status_code < 300, first.text
        assert (first.status_code, ids(first)) == (second.status_code, ids(second)), call
    assert sorted(memory["content"] for memory in memories(host, user)) == [
        "Ana arrived",
        "Ana arrived",
        "one",
        "two",
    ]


def ids(response: httpx.Response) -> object:
    """What of an answer must be the same when it is given again."""
    body = response.json()
    if "results" in body:
        return [
            (result["status"], result["outcome"], result["memory"]["id"])
            for result in body["results"]
        ]
    return body.get("id", body)

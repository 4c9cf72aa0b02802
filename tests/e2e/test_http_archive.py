"""The archive over HTTP, with ages of a fraction of a second in the place of years."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.host import memories, problem, running, save
from tests.profiles import Profile

DEADLINE_S = 60


@pytest.fixture(scope="module")
def host(profile: Profile, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    ours = {"MEMORY_ARCHIVAL_AGE_YEARS": "0.00000001", "MEMORY_MAX_AGE_HOURS": "0.0001"}
    with running(tmp_path_factory.mktemp("archive"), **profile.settings() | ours) as client:
        yield client


def moved(host: httpx.Client, user: str, count: int) -> None:
    """Ask for runs until so many memories were moved."""
    archived, deadline = 0, time.monotonic() + DEADLINE_S
    while archived < count and time.monotonic() < deadline:
        accepted = host.post("/api/v1/archive", json={"user_id": user})
        assert accepted.status_code == 202, accepted.text
        where, task = accepted.headers["location"], dict[str, Any]()
        while (
            task.get("status") not in ("succeeded", "failed", "poisoned")
            and time.monotonic() < deadline
        ):
            task = host.get(where).json()
        assert task["status"] == "succeeded", task
        assert task["kind"] == "archive"
        archived += task["result"]["counts"]["archived"]
    assert archived == count


def test_what_is_archived_is_listed_found_when_asked_for_and_brought_back(
    host: httpx.Client,
) -> None:
    old = save(
        host, "ana", "Ana moved to Lisbon in May. " * 20, metadata={"page": 7}, session_id="s1"
    )
    save(host, "ana", "Ana has a cat", pinned=True)
    moved(host, "ana", 1)
    assert {
        memory["content"]
        for memory in host.get("/api/v1/memories", params={"user_id": "ana"}).json()["memories"]
    } == {"Ana has a cat"}
    (stub,) = memories(host, "ana", status="archived")
    assert (stub["id"], stub["metadata"], len(stub["content"]) <= 200) == (old["id"], {}, True)
    assert "ana" not in stub["archival_location"]
    asked = {"user_id": "ana", "query": "Where did Ana move in May? Lisbon"}
    answer = host.post("/api/v1/memories/retrieve", json=asked).json()
    assert [hit["memory"]["id"] for hit in answer["results"]] != [old["id"]]
    answer = host.post("/api/v1/memories/retrieve", json={**asked, "include_archived": True}).json()
    hit = next(result for result in answer["results"] if result["memory"]["id"] == old["id"])
    assert (hit["tier"], hit["memory"]["content"], hit["memory"]["status"]) == (
        "cold",
        old["content"],
        "archived",
    )
    assert answer["degraded"] == []
    response = host.post(f"/api/v1/memories/{old['id']}/restore", json={"user_id": "ana"})
    assert response.status_code == 200
    back = response.json()
    assert response.headers["etag"]
    assert {name: back[name] for name in ("content", "metadata", "status", "archived_at")} == {
        "content": old["content"], "metadata": {"page": 7}, "status": "active", "archived_at": None,
    }  # fmt: skip


def test_a_dry_run_says_what_would_move(host: httpx.Client) -> None:
    save(host, "bo", "Bo plays chess", pinned=True)
    response = host.post("/api/v1/archive", json={"user_id": "bo", "dry_run": True})
    assert (response.status_code, response.json()) == (
        200,
        {"counts": {"archived": 0, "chains": 0, "too_large": 0}, "capped": False},
    )


def test_what_is_wrong_with_a_call_is_said(host: httpx.Client) -> None:
    assert problem(host.post("/api/v1/archive", json={}), 422, "user_id")
    assert problem(
        host.post("/api/v1/archive", json={"user_id": "bo", "dry_run": "perhaps"}), 422, "dry_run"
    )
    assert problem(
        host.post("/api/v1/archive", json={"user_id": "bo", "session_id": "a/b"}), 422, "session_id"
    )
    assert problem(host.post("/api/v1/memories/mem_nobody/restore", json={"user_id": "bo"}), 404)


def test_the_same_key_is_one_run(host: httpx.Client) -> None:
    headers = {"Idempotency-Key": "once"}
    first, second = [
        host.post("/api/v1/archive", json={"user_id": "cy"}, headers=headers).json()["task_id"]
        for _ in range(2)
    ]
    assert first == second
    assert problem(
        host.post("/api/v1/archive", json={"user_id": "cy", "session_id": "s"}, headers=headers),
        409,
    )

"""Conflicts over HTTP: met at a save, listed, decided, taken back."""

from __future__ import annotations

import uuid
from typing import Any

import httpx
import pytest

from tests.host import memories, problem, save

FIELDS = {
    "id", "status", "similarity", "confidence", "strategy", "reason", "old_id", "new_id", "by",
    "at", "previous", "rejected_content",
}  # fmt: skip
SLOT = {"type": "semantic", "category": "fact", "subject": "Ana", "attribute": "home"}


def told(host: httpx.Client, user: str, town: str, day: int, **fields: Any) -> dict[str, Any]:
    """What a save answers that says where Ana lives."""
    body = {
        "user_id": user,
        "content": f"Ana lives in {town}",
        "event_timestamp": f"2026-05-{day:02}T12:00:00Z",
        **SLOT,
        **fields,
    }
    response = host.post("/api/v1/memories/save", json=body)
    assert response.status_code in (200, 201), response.text
    answer: dict[str, Any] = response.json()
    return answer


@pytest.fixture
def conflict(host: httpx.Client, user: str) -> dict[str, Any]:
    """A pending conflict between two towns."""
    told(host, user, "Lisbon", 1)
    made = told(host, user, "Porto", 2)["conflict"]
    response = host.post(f"/api/v1/conflicts/{made['id']}/undo", json={"user_id": user})
    assert response.status_code == 200, response.text
    undone: dict[str, Any] = response.json()
    return undone


def states(host: httpx.Client, user: str) -> dict[str, tuple[str, str]]:
    return {
        memory["content"]: (memory["status"], memory["conflict_state"])
        for memory in memories(host, user)
    }


def listed(host: httpx.Client, user: str, **query: Any) -> list[dict[str, Any]]:
    response = host.get("/api/v1/conflicts", params={"user_id": user, **query})
    assert response.status_code == 200, response.text
    conflicts: list[dict[str, Any]] = response.json()["conflicts"]
    return conflicts


def test_a_conflict_is_met_undone_decided_and_read(
    host: httpx.Client, user: str, conflict: dict[str, Any]
) -> None:
    assert conflict.keys() == FIELDS
    assert (conflict["status"], conflict["previous"]["strategy"], conflict["previous"]["by"]) == (
        "pending",
        "supersede",
        "rule",
    )
    assert listed(host, user, status="pending") == [conflict]
    assert listed(host, user, status="resolved") == []
    assert {memory["conflict_ids"][0] for memory in memories(host, user)} == {conflict["id"]}
    path = f"/api/v1/conflicts/{conflict['id']}"
    decided = host.post(
        f"{path}/resolve", json={"user_id": user, "decision": "reject_new", "reason": "she said so"}
    )
    assert decided.status_code == 200
    record = decided.json()
    assert (record["status"], record["strategy"], record["reason"], record["by"]) == (
        "resolved",
        "reject_new",
        "she said so",
        "local",
    )
    assert host.get(path, params={"user_id": user}).json() == record
    assert listed(host, user) == listed(host, user, status="resolved") == [record]
    assert states(host, user) == {
        "Ana lives in Lisbon": ("active", "resolved"),
        "Ana lives in Porto": ("deleted", "resolved"),
    }


def test_another_decision_is_a_409_that_says_what_was_decided(
    host: httpx.Client, user: str, conflict: dict[str, Any]
) -> None:
    path = f"/api/v1/conflicts/{conflict['id']}/resolve"
    assert host.post(path, json={"user_id": user, "decision": "merge"}).status_code == 200
    assert host.post(path, json={"user_id": user, "decision": "merge"}).status_code == 200
    refused = problem(host.post(path, json={"user_id": user, "decision": "supersede"}), 409)
    assert "by merge" in refused["detail"]


def test_a_side_that_is_gone_is_named(
    host: httpx.Client, user: str, conflict: dict[str, Any]
) -> None:
    host.delete(f"/api/v1/memories/{conflict['old_id']}", params={"user_id": user})
    path = f"/api/v1/conflicts/{conflict['id']}"
    for call in ("resolve", "undo"):
        body = {"user_id": user, **({"decision": "merge"} if call == "resolve" else {})}
        refused = problem(host.post(f"{path}/{call}", json=body), 409)
        assert f"{conflict['old_id']} is deleted" in refused["detail"]
    assert host.get(path, params={"user_id": user}).json()["status"] == "resolved"


def test_wrong_decisions_and_statuses_are_refused_by_field(
    host: httpx.Client, user: str, conflict: dict[str, Any]
) -> None:
    path = f"/api/v1/conflicts/{conflict['id']}/resolve"
    assert problem(host.post(path, json={"user_id": user, "decision": "auto"}), 422, "decision")
    assert problem(host.post(path, json={"user_id": user}), 422, "decision")
    assert problem(
        host.post(path, json={"user_id": user, "decision": "merge", "reason": ""}), 422, "reason"
    )
    assert problem(
        host.get("/api/v1/conflicts", params={"user_id": user, "status": "open"}), 422, "status"
    )
    assert problem(
        host.get("/api/v1/conflicts", params={"user_id": user, "cursor": "zork"}), 400, "cursor"
    )
    assert problem(
        host.get("/api/v1/conflicts", params={"user_id": user, "limit": 0}), 422, "limit"
    )
    assert problem(host.post("/api/v1/conflicts/cft_none/undo", json={"user_id": user}), 404)
    assert listed(host, user) == [conflict]


def test_a_decision_with_a_key_is_made_once(
    host: httpx.Client, user: str, conflict: dict[str, Any]
) -> None:
    path, key = f"/api/v1/conflicts/{conflict['id']}", {"Idempotency-Key": str(uuid.uuid4())}
    body = {"user_id": user, "decision": "merge"}
    answers = [host.post(f"{path}/resolve", json=body, headers=key).json() for _ in range(2)]
    assert answers[0] == answers[1]
    assert len(memories(host, user)) == 3
    assert problem(
        host.post(f"{path}/resolve", json={**body, "decision": "keep_both"}, headers=key), 409
    )
    key = {"Idempotency-Key": str(uuid.uuid4())}
    assert {
        host.post(f"{path}/undo", json={"user_id": user}, headers=key).json()["status"]
        for _ in range(2)
    } == {"pending"}


def test_a_rejected_text_is_in_the_record_and_comes_back(host: httpx.Client, user: str) -> None:
    told(host, user, "Lisbon", 1)
    record = told(host, user, "Porto", 2, on_conflict="reject_new")["conflict"]
    assert (record["new_id"], record["rejected_content"], record["by"]) == (
        None,
        "Ana lives in Porto",
        "local",
    )
    host.post(f"/api/v1/conflicts/{record['id']}/undo", json={"user_id": user})
    assert states(host, user) == {
        "Ana lives in Lisbon": ("active", "pending"),
        "Ana lives in Porto": ("active", "pending"),
    }


def test_what_is_in_an_undos_way_is_named(host: httpx.Client, user: str) -> None:
    told(host, user, "Lisbon", 1)
    record = told(host, user, "Porto", 2)["conflict"]
    later = told(host, user, "Faro", 3)["memory"]["id"]
    refused = problem(
        host.post(f"/api/v1/conflicts/{record['id']}/undo", json={"user_id": user}), 409
    )
    assert f"{record['new_id']} is superseded by {later} since" in refused["detail"]


def test_the_list_goes_on_where_it_was(host: httpx.Client, user: str) -> None:
    for number in range(5):
        for town, day in (("Lisbon", 1), ("Porto", 2)):
            told(host, user, town, day, attribute=f"home {number}")
    conflicts, cursor = [], None
    while True:
        query = {"user_id": user, "limit": 2, **({"cursor": cursor} if cursor else {})}
        page = host.get("/api/v1/conflicts", params=query).json()
        conflicts += [conflict["id"] for conflict in page["conflicts"]]
        if (cursor := page["next_cursor"]) is None:
            break
    assert len(conflicts) == len(set(conflicts)) == 5
    assert conflicts == [memory["id"] for memory in listed(host, user)]


def test_an_episode_contradicts_nothing(host: httpx.Client, user: str) -> None:
    for text in ("Ana is in Lisbon", "Ana is in Porto"):
        save(host, user, text)
    assert listed(host, user) == []

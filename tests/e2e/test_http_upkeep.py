"""Decay, forgetting and restoring over HTTP: what is answered, what is refused,
and that the bytes are gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.host import ended_task, memories, problem, running, save

USER = "ana"


def done(host: httpx.Client, response: httpx.Response, user: str = USER) -> dict[str, Any]:
    """The task that was accepted, once it has ended."""
    assert response.status_code == 202, response.text
    assert response.headers["location"].startswith("/api/v1/tasks/tsk_")
    task = ended_task(host, response.headers["location"])
    assert task["status"] == "succeeded", task
    return task


def post(host: httpx.Client, call: str, user: str = USER, **fields: Any) -> httpx.Response:
    return host.post(f"/api/v1/{call}", json={"user_id": user, **fields})


def test_decay_is_a_task_and_a_dry_run_an_answer(host: httpx.Client) -> None:
    memory = save(host, "decay", "Ana sings flamenco")
    assert post(host, "decay", "decay", dry_run=True).json() == {
        "counts": {"recalled": 0, "decayed": 0, "compressed": 0},
        "capped": False,
    }
    task = done(host, post(host, "decay", "decay"), "decay")
    assert (task["kind"], task["result"]) == (
        "decay",
        {"counts": {"recalled": 0, "decayed": 0, "compressed": 0}, "capped": False},
    )
    assert (
        host.get(f"/api/v1/memories/{memory['id']}?user_id=decay").json()["importance_base"]
        == memory["importance_base"]
    )


def test_forgetting_says_what_it_would_do_does_it_and_says_what_it_did(host: httpx.Client) -> None:
    for number in range(3):
        save(host, "soft", f"a thing {number}", tags=["draft"])
    save(host, "soft", "another thing")
    chosen = {"tags": ["draft"]}
    assert post(host, "forget", "soft", filter=chosen, dry_run=True).json() == {
        "counts": {"forgotten": 3},
        "capped": False,
    }
    task = done(host, post(host, "forget", "soft", filter=chosen), "soft")
    assert task["result"] == {"counts": {"forgotten": 3}, "mode": "soft", "capped": False}
    assert {
        memory["status"]: memory["status_reason"]
        for memory in memories(host, "soft")
        if "draft" in memory["tags"]
    } == {"deleted": "forgotten"}
    (gone, *_) = [memory for memory in memories(host, "soft") if "draft" in memory["tags"]]
    back = host.post(f"/api/v1/memories/{gone['id']}/restore", json={"user_id": "soft"})
    assert (back.status_code, back.json()["status"]) == (200, "active")
    assert back.headers["etag"]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({}, "filter"),
        ({"filter": {}}, "filter"),
        ({"filter": {"tags": []}}, "filter.tags"),
        ({"filter": {"ids": [""]}}, "filter.ids.0"),
        ({"filter": {"types": ["dream"]}}, "filter.types.0"),
        ({"filter": {"before": "yesterday"}}, "filter.before"),
        ({"filter": {"owner": "x"}}, "filter.owner"),
        ({"filter": {"session_id": "a"}, "session_id": "b"}, "session_id"),
        ({"filter": {"session_id": "a"}, "mode": "gently"}, "mode"),
    ],
)
def test_a_filter_that_says_nothing_or_nonsense_is_refused(
    host: httpx.Client, fields: dict[str, Any], field: str
) -> None:
    assert problem(post(host, "forget", **fields), 422, field)


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[httpx.Client]:
    """A host whose data are files in a folder of the test's own."""
    with running(tmp_path) as client:
        yield client


def test_what_is_forgotten_for_good_is_in_no_byte_of_the_data(
    embedded: httpx.Client, tmp_path: Path
) -> None:
    host, data = embedded, tmp_path / "data"
    memory = save(
        host, "hard", "the vault opens with Swordfish", session_id="s", tags=["quicksilver"]
    )
    save(host, "hard", "and then", session_id="s")
    host.put(
        f"/api/v1/memories/{memory['id']}?user_id=hard",
        json={"content": "x"},
        headers={"If-Match": "*"},
    )
    task = done(
        host, post(host, "forget", "hard", filter={"tags": ["quicksilver"]}, mode="hard"), "hard"
    )
    assert task["result"]["counts"]["forgotten"] == 1
    assert problem(host.get(f"/api/v1/memories/{memory['id']}?user_id=hard"), 404)
    assert [memory["content"] for memory in memories(host, "hard")] == ["and then"]
    contents = [
        file.name
        for file in data.rglob("*")
        if file.is_file() and b"swordfish" in file.read_bytes().lower()
    ]
    assert contents == []
    contents = [
        file.name
        for file in data.rglob("*")
        if file.is_file() and b"quicksilver" in file.read_bytes().lower()
    ]
    assert contents == []
    events = host.get("/api/v1/timeline?user_id=hard").json()["events"]
    assert [
        (event["event_type"], event["redacted"])
        for event in events
        if event["memory_id"] == memory["id"]
    ] == [("created", True), ("forgotten", True)]


@pytest.mark.parametrize("mode", ["soft", "hard"])
def test_ids_that_are_not_there_are_named_and_so_are_those_of_others(
    host: httpx.Client, mode: str
) -> None:
    user = f"mistyped-{mode}"
    mine, other = save(host, user, "Ana sings"), save(host, f"{user}-other", "Bo sings")
    chosen = {"ids": ["mem_none", mine["id"], other["id"], "mem_none"]}
    unknown = ["mem_none", other["id"]]
    foreseen = post(host, "forget", user, filter=chosen, mode=mode, dry_run=True).json()
    assert (foreseen["counts"]["forgotten"], foreseen["not_found"]) == (1, unknown)
    task = done(host, post(host, "forget", user, filter=chosen, mode=mode), user)
    assert (task["result"]["counts"]["forgotten"], task["result"]["not_found"]) == (1, unknown)
    assert [memory["content"] for memory in memories(host, f"{user}-other")] == ["Bo sings"]


def test_a_memory_that_is_forgotten_softly_already_is_found(host: httpx.Client) -> None:
    mine = save(host, "forgotten-twice", "Ana sings")
    for count in (1, 0):
        task = done(
            host, post(host, "forget", "forgotten-twice", filter={"ids": [mine["id"]]}), "twice"
        )
        assert task["result"] == {"counts": {"forgotten": count}, "mode": "soft", "capped": False}


def test_one_key_is_one_task(host: httpx.Client) -> None:
    headers = {"Idempotency-Key": "k1"}
    body = {"user_id": "forgotten-once", "filter": {"types": ["episodic"]}}
    first, again = [
        host.post("/api/v1/forget", json=body, headers=headers).json() for _ in range(2)
    ]
    assert first["task_id"] == again["task_id"]
    assert problem(host.post("/api/v1/forget", json=body | {"mode": "hard"}, headers=headers), 409)


def test_undoing_a_replacement_and_what_can_not_come_back(host: httpx.Client) -> None:
    slot = {"type": "semantic", "subject": "Ana", "attribute": "city"}
    porto = save(host, "undo", "Ana lives in Porto", event_timestamp="2026-05-01T00:00:00Z", **slot)
    lisbon = save(
        host, "undo", "Ana lives in Lisbon", event_timestamp="2026-05-08T00:00:00Z", **slot
    )
    back = host.patch(
        f"/api/v1/memories/{porto['id']}/status",
        json={"user_id": "undo", "status": "active", "reason": "a mistake"},
    )
    assert (back.status_code, back.json()["status"], back.json()["next_id"]) == (
        200,
        "active",
        None,
    )
    fallen = host.get(f"/api/v1/memories/{lisbon['id']}?user_id=undo").json()
    assert (fallen["status"], fallen["status_reason"], fallen["next_id"]) == (
        "deleted",
        "contradicted",
        porto["id"],
    )
    assert problem(host.post("/api/v1/memories/mem_nobodys/restore", json={"user_id": "undo"}), 404)
    assert problem(
        host.post(f"/api/v1/memories/{porto['id']}/restore", json={"user_id": "somebody-else"}), 404
    )

"""Time past over HTTP: what was true, what was known, what happened, and why."""

from __future__ import annotations

import time
from typing import Any

import httpx

from memory_core.domain.memory import UNLOGGED_FIELDS
from tests.host import memories, problem, save

CITY = {"type": "semantic", "subject": "Ana", "attribute": "city"}
DEADLINE_S = 60


def post(host: httpx.Client, path: str, **body: Any) -> dict[str, Any]:
    answer = host.post(f"/api/v1/{path}", json=body)
    assert answer.status_code == 200, answer.text
    page: dict[str, Any] = answer.json()
    return page


def get(host: httpx.Client, path: str, **query: Any) -> dict[str, Any]:
    answer = host.get(f"/api/v1/{path}", params=query)
    assert answer.status_code == 200, answer.text
    page: dict[str, Any] = answer.json()
    return page


def logged(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {name: value for name, value in memory.items() if name not in UNLOGGED_FIELDS}
        for memory in records
    ]


def moved(host: httpx.Client, user: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A user who moved: the old truth and the new one, as they were answered."""
    old = save(host, user, "Ana lives in Oslo", event_timestamp="2026-05-01T12:00:00Z", **CITY)
    return old, save(
        host, user, "Ana lives in Rome", event_timestamp="2026-05-05T12:00:00Z", **CITY
    )


def test_a_replay_answers_what_a_list_did(host: httpx.Client, user: str) -> None:
    save(host, user, "Ana lives in Oslo", event_timestamp="2026-05-01T12:00:00Z", **CITY)
    then = get(host, "memories", user_id=user, status="all", view="full")
    save(host, user, "Ana lives in Rome", event_timestamp="2026-05-05T12:00:00Z", **CITY)
    now = get(host, "memories", user_id=user, status="all", view="full")
    assert (then["as_of_sequence"], now["as_of_sequence"]) == (1, 3)
    for page in (then, now):
        replay = post(host, "replay", user_id=user, sequence=page["as_of_sequence"])
        assert replay == {
            "memories": logged(page["memories"]),
            "as_of_sequence": page["as_of_sequence"],
            "next_cursor": None,
        }
    first = post(host, "replay", user_id=user, sequence=3, limit=1)
    second = post(host, "replay", user_id=user, sequence=3, limit=1, cursor=first["next_cursor"])
    assert [*first["memories"], *second["memories"]] == logged(now["memories"])


def test_the_two_times_are_asked_for_by_two_names(host: httpx.Client, user: str) -> None:
    old, new = moved(host, user)
    event = get(host, "timeline", user_id=user)["events"][0]
    assert "epoch" not in event
    known_at, at = event["occurred_at"], "2026-05-08T12:00:00Z"
    assert [memory["content"] for memory in memories(host, user, at=at)] == ["Ana lives in Rome"]
    assert [memory["content"] for memory in memories(host, user, at=at, known_at=known_at)] == [
        "Ana lives in Oslo"
    ]
    assert [
        memory["id"]
        for memory in post(host, "replay", user_id=user, known_at=known_at, at=at)["memories"]
    ] == [old["id"]]
    memory = get(host, f"memories/{old['id']}", user_id=user, known_at=known_at)
    assert (memory["status"], memory["as_of_sequence"]) == ("active", 1)
    assert get(host, f"memories/{old['id']}", user_id=user)["status"] == "superseded"
    assert get(host, f"memories/{new['id']}", user_id=user, at=at)["as_of_sequence"] == 3
    assert problem(
        host.get(f"/api/v1/memories/{new['id']}", params={"user_id": user, "known_at": known_at}),
        404,
    )


def test_the_timeline_tells_every_change_in_order(host: httpx.Client, user: str) -> None:
    old, new = moved(host, user)
    events = get(host, "timeline", user_id=user)["events"]
    assert [(event["sequence"], event["event_type"], event["memory_id"]) for event in events] == [
        (1, "created", old["id"]),
        (2, "created", new["id"]),
        (3, "superseded", old["id"]),
    ]
    assert events[2]["before"]["status"] == "active"
    assert events[2]["after"]["status"] == "superseded"
    page = get(host, "timeline", user_id=user, limit=2, memory_id=old["id"])
    assert [event["sequence"] for event in page["events"]] == [1, 3]
    assert page["next_cursor"] is None
    assert [
        event["sequence"]
        for event in get(host, "timeline", user_id=user, types="superseded")["events"]
    ] == [3]
    since = events[1]["occurred_at"]
    assert [
        event["sequence"] for event in get(host, "timeline", user_id=user, since=since)["events"]
    ] == [2, 3]
    assert [
        event["sequence"] for event in get(host, "timeline", user_id=user, until=since)["events"]
    ] == [1]


def test_what_can_not_be_asked_is_refused_by_name(host: httpx.Client, user: str) -> None:
    save(host, user, "hello")
    past = "2026-05-08T12:00:00Z"
    for body, field in (
        ({}, "known_at"),
        ({"sequence": 1, "known_at": past}, "known_at"),
        ({"sequence": 99}, "sequence"),
        ({"sequence": -1}, "sequence"),
        ({"known_at": "2026-05-08T12:00:00"}, "known_at"),
        ({"known_at": past, "at": "noon"}, "at"),
    ):
        assert problem(host.post("/api/v1/replay", json={"user_id": user, **body}), 422, field)
    assert problem(
        host.post(
            "/api/v1/memories/retrieve", json={"user_id": user, "query": "hello", "known_at": past}
        ),
        422,
        "known_at",
    )
    memory_id = memories(host, user)[0]["id"]
    query = {"user_id": user, "known_at": past, "include": "embedding"}
    assert problem(host.get(f"/api/v1/memories/{memory_id}", params=query), 422, "include")
    assert problem(host.get("/api/v1/timeline", params={"user_id": user, "types": "no type"}), 422)
    assert problem(
        host.get("/api/v1/timeline", params={"user_id": user, "cursor": "zork"}), 400, "cursor"
    )


def test_a_correlation_id_is_found_again_on_the_task_s_events(
    host: httpx.Client, user: str
) -> None:
    """From the header to the task, and from the task to every event of what was told and
    what it formed.
    """
    named = {"X-Correlation-Id": f"trace-{user}"}
    message = {
        "role": "user",
        "content": "I have moved to Lisbon.",
        "timestamp": "2026-05-08T13:56:00Z",
    }
    response = host.post(
        "/api/v1/memories", json={"user_id": user, "messages": [message]}, headers=named
    )
    assert response.headers["X-Correlation-Id"] == named["X-Correlation-Id"]
    path, end = f"/api/v1/tasks/{response.json()['task_id']}", time.monotonic() + DEADLINE_S
    while host.get(path, params={"user_id": user}).json()["status"] != "succeeded":
        assert time.monotonic() < end
        time.sleep(0.05)
    save(host, user, "something else")
    events = get(host, "timeline", user_id=user, correlation_id=named["X-Correlation-Id"])["events"]
    known = [*memories(host, user), *memories(host, user, category="message")]
    formed = {memory["id"] for memory in known if memory["conversation_id"]}
    assert {event["memory_id"] for event in events} == formed
    assert len(events) < len(get(host, "timeline", user_id=user)["events"])
    changed = host.patch(
        f"/api/v1/memories/{min(formed)}/status",
        json={"user_id": user, "status": "deleted", "reason": "x"},
        headers={"X-Correlation-Id": "by-hand"},
    )
    assert changed.status_code == 200
    (deleted,) = get(host, "timeline", user_id=user, correlation_id="by-hand")["events"]
    assert (deleted["event_type"], deleted["memory_id"]) == ("deleted", min(formed))


def test_a_key_whose_change_is_undone_finds_the_value_that_holds(
    host: httpx.Client, user: str
) -> None:
    """vim since May 1; emacs since May 10, told on the 20th; and a letter of the 15th, that comes
    late, says that it was nano from the 5th to the 12th. Who restores nano takes emacs back.
    """

    def on(day: int) -> str:
        return f"2026-05-{day:02}T12:00:00Z"

    def tell(value: str, day: int, **days: int) -> str:
        times = {name: on(number) for name, number in days.items()}
        fields = {"type": "procedural", "key": "editor", "value": value, **times}
        memory_id: str = save(host, user, value, event_timestamp=on(day), **fields)["id"]
        return memory_id

    vim = tell("vim", 1)
    assert tell("emacs", 20, valid_from=10) == vim
    nano = tell("nano", 15, valid_from=5, valid_until=12)
    assert get(host, "procedures/editor", user_id=user)["value"] == "emacs"
    post(host, f"memories/{nano}/restore", user_id=user)
    value_now = get(host, "procedures/editor", user_id=user)
    assert [value_now[name] for name in ("id", "value", "status")] == [vim, "vim", "active"]
    for day, value in ((3, "vim"), (8, "nano"), (11, "nano"), (13, "vim")):
        page = get(host, "memories", user_id=user, at=on(day))
        assert [memory["value"] for memory in page["memories"]] == [value]

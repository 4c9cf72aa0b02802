"""The shapes and statuses that a client builds on, call by call."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.host import memories, problem, save

HIT = {
    "rank", "memory", "similarity_score", "lexical_score", "relevance_score", "recency_score",
    "importance_score", "frequency_score", "confidence_score", "score", "composite_score", "tier",
    "age_days", "matched_by", "also", "passages", "stale_facts",
    "replaced_by", "disputed_by",
}  # fmt: skip
INTERNAL = {"lexical", "search_text", "embedding", "epoch", "sequence", "revision"}


def test_a_saved_memory_is_found_by_its_words_and_read_by_its_id(
    host: httpx.Client, user: str
) -> None:
    body = {
        "user_id": user,
        "content": "Ana moved to Lisbon in May",
        "session_id": "monday",
        "view": "full",
    }
    saved = host.post("/api/v1/memories/save", json=body)
    assert saved.status_code == 201
    assert saved.json().keys() == {"outcome", "memory", "conflict", "degraded"}
    assert saved.json()["outcome"] == "created"
    memory = saved.json()["memory"]
    assert not INTERNAL & memory.keys()
    assert (memory["app_id"], memory["user_id"], memory["session_id"], memory["status"]) == (
        "local",
        user,
        "monday",
        "active",
    )

    asked = {"user_id": user, "query": "When did Ana move to Lisbon?", "view": "full"}
    answer = host.post("/api/v1/memories/retrieve", json=asked).json()
    assert answer.keys() == {"results", "degraded", "as_of_sequence", "next_cursor"}
    assert answer["results"][0].keys() == HIT
    assert answer["results"][0]["rank"] == 1
    assert answer["results"][0]["memory"]["id"] == memory["id"]

    read = host.get(f"/api/v1/memories/{memory['id']}", params={"user_id": user})
    assert read.json()["content"] == "Ana moved to Lisbon in May"
    assert read.headers["etag"] == saved.headers["etag"]


def test_a_query_string_finds_the_same_as_a_body(host: httpx.Client, user: str) -> None:
    for number in range(3):
        save(host, user, f"Ana drinks coffee number {number}", session_id="s")
    asked: dict[str, Any] = {
        "user_id": user,
        "query": "coffee",
        "session_id": "s",
        "similarity_threshold": 0.0,
    }
    by_body = host.post("/api/v1/memories/retrieve", json={**asked, "limit": 2}).json()
    by_string = host.get("/api/v1/memories/query", params={**asked, "n_results": 2}).json()
    ids = [[hit["memory"]["id"] for hit in answer["results"]] for answer in (by_body, by_string)]
    assert len(ids[0]) == 2
    assert ids[0] == ids[1]


def test_explanations_come_only_when_asked_for(host: httpx.Client, user: str) -> None:
    save(host, user, "Ana plays the violin")
    asked = {"user_id": user, "query": "violin"}
    plain = host.post("/api/v1/memories/retrieve", json=asked).json()
    explained = host.post("/api/v1/memories/retrieve", json={**asked, "explain": True}).json()
    assert "explain" not in plain["results"][0]
    assert explained["results"][0]["explain"]
    assert "explain" in explained


def test_a_memory_shows_its_vector_only_when_asked_for(host: httpx.Client, user: str) -> None:
    memory = save(host, user, "Ana plays the violin")
    read_back = host.get(
        f"/api/v1/memories/{memory['id']}", params={"user_id": user, "include": "embedding"}
    ).json()
    assert len(read_back["embedding"]) > 0
    assert problem(
        host.get(
            f"/api/v1/memories/{memory['id']}", params={"user_id": user, "include": "lexical"}
        ),
        422,
        "include",
    )


def test_a_list_is_paged_newest_first_without_gaps_or_doubles(
    host: httpx.Client, user: str
) -> None:
    ids = [save(host, user, f"note {number}")["id"] for number in range(7)]
    seen: list[str] = []
    cursor = None
    for _ in range(4):
        page = host.get(
            "/api/v1/memories",
            params={"user_id": user, "limit": 3, **({"cursor": cursor} if cursor else {})},
        ).json()
        assert page.keys() == {"memories", "as_of_sequence", "next_cursor"}
        seen += [memory["id"] for memory in page["memories"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert cursor is None
    assert seen == ids[::-1]


def test_each_memory_of_a_bulk_has_its_own_result_in_order(host: httpx.Client, user: str) -> None:
    items = [
        {"content": "first"},
        {"content": "", "zork": 1},
        7,
        {"content": "of another user", "user_id": "somebody-else"},
        {"content": "of another app", "app_id": "other"},
        {"content": "last", "user_id": user, "app_id": "local"},
    ]
    answer = host.post("/api/v1/memories/bulk", json={"user_id": user, "memories": items})
    assert answer.status_code == 207
    results = answer.json()["results"]
    assert [result["status"] for result in results] == [201, 422, 422, 422, 403, 201]
    named = [
        sorted(error["field"] for error in result["problem"]["errors"]) for result in results[1:5]
    ]
    assert named == [
        ["memories.1.content", "memories.1.zork"],
        ["memories.2"],
        ["memories.3.user_id"],
        ["memories.4.app_id"],
    ]
    assert {memory["content"] for memory in memories(host, user)} == {"first", "last"}
    assert memories(host, "somebody-else") == []


def test_a_bulk_of_nothing_but_bad_memories_stores_nothing(host: httpx.Client, user: str) -> None:
    answer = host.post(
        "/api/v1/memories/bulk", json={"user_id": user, "memories": [{}, {"content": 1}]}
    )
    assert [result["status"] for result in answer.json()["results"]] == [422, 422]
    assert memories(host, user) == []


@pytest.mark.parametrize("items", [None, [], {}, [{"content": "x"}] * 101])
def test_a_bulk_needs_between_one_and_a_hundred_memories(
    host: httpx.Client, user: str, items: object
) -> None:
    body = {"user_id": user} if items is None else {"user_id": user, "memories": items}
    assert problem(host.post("/api/v1/memories/bulk", json=body), 422, "memories")
    assert memories(host, user) == []


def test_delete_and_status_move_a_memory_out_of_sight_and_back(
    host: httpx.Client, user: str
) -> None:
    memory = save(host, user, "Ana plays the violin")
    path = f"/api/v1/memories/{memory['id']}"
    assert host.delete(path, params={"user_id": user}).json()["status"] == "deleted"
    assert memories(host, user, status="active") == []
    body = {"user_id": user, "status": "active", "reason": "deleted by mistake"}
    assert host.patch(f"{path}/status", json=body).json()["status"] == "active"
    assert len(memories(host, user, status="active")) == 1


@pytest.mark.parametrize(
    "status", ["archived", "compressed", "updated", "superseded", "decayed", "gone"]
)
def test_a_status_that_only_the_product_sets_is_refused_with_what_may_be_set(
    host: httpx.Client, user: str, status: str
) -> None:
    memory = save(host, user, "Ana plays the violin")
    body = {"user_id": user, "status": status, "reason": "because"}
    answer = host.patch(f"/api/v1/memories/{memory['id']}/status", json=body)
    if status == "gone":
        assert "'archived'" in problem(answer, 422, "status")["detail"], (
            "an unknown one is told which there are"
        )
    else:
        assert problem(answer, 409, "status")["detail"].endswith(
            "can be set by hand to: active, deleted"
        )
    assert problem(
        host.patch("/api/v1/memories/mem_none/status", json=body), 422 if status == "gone" else 404
    )
    assert memories(host, user)[0]["status"] == "active"


def test_a_second_delete_says_that_it_is_one_and_a_delete_of_another_version_is_refused(
    host: httpx.Client, user: str
) -> None:
    memory = save(host, user, "Ana plays the violin", type="semantic")
    path = f"/api/v1/memories/{memory['id']}"
    etag = host.get(path, params={"user_id": user}).headers["etag"]
    assert problem(
        host.delete(path, params={"user_id": user}, headers={"If-Match": '"of.another"'}), 412
    )
    first = host.delete(path, params={"user_id": user}, headers={"If-Match": etag})
    assert (first.status_code, first.json()["status"], first.json()["outcome"]) == (
        200,
        "deleted",
        "deleted",
    )
    assert problem(host.delete(path, params={"user_id": user}, headers={"If-Match": etag}), 412)
    second = host.delete(path, params={"user_id": user})
    assert (second.status_code, second.json()["status"], second.json()["outcome"]) == (
        200,
        "deleted",
        "already_deleted",
    )
    assert second.headers["etag"] == first.headers["etag"] != etag
    events = host.get("/api/v1/timeline", params={"user_id": user}).json()["events"]
    assert [event["event_type"] for event in events] == ["created", "deleted"]


def test_an_answer_without_results_says_how_near_the_nearest_came(
    host: httpx.Client, user: str
) -> None:
    asked = {"user_id": user, "query": "violin"}
    assert host.post("/api/v1/memories/retrieve", json=asked).json() == {
        "results": [],
        "degraded": [],
        "as_of_sequence": 0,
        "next_cursor": None,
        "nearest": None,
    }
    save(host, user, "Ana plays the violin")
    missed = host.post("/api/v1/memories/retrieve", json={**asked, "answer_threshold": 1.0}).json()
    assert missed["results"] == []
    assert missed["nearest"]["answer_threshold"] == 1.0
    assert 0 < missed["nearest"]["relevance_score"] < 1
    short = host.get("/api/v1/memories/query", params={**asked, "similarity_threshold": 1.0}).json()
    assert short["nearest"] == missed["nearest"]


def test_clear_empties_one_session_and_says_how_many(host: httpx.Client, user: str) -> None:
    for number in range(3):
        save(host, user, f"note {number}", session_id="one")
    memory = save(host, user, "another", session_id="two")
    assert host.post(
        "/api/v1/memories/clear", json={"user_id": user, "session_id": "one"}
    ).json() == {"cleared": 3}
    assert [memory["id"] for memory in memories(host, user, status="active")] == [memory["id"]]


def test_a_copy_is_another_agents_memory_with_its_origin(host: httpx.Client, user: str) -> None:
    memory = save(host, user, "Ana plays the violin", agent_id="a")
    copied = host.post(
        f"/api/v1/memories/{memory['id']}/copy", json={"user_id": user, "to_agent_id": "b"}
    )
    assert copied.status_code == 201
    assert (copied.json()["agent_id"], copied.json()["copied_from"]) == ("b", memory["id"])
    assert copied.json()["id"] != memory["id"]


def test_sessions_and_procedures_are_read_by_their_names(host: httpx.Client, user: str) -> None:
    save(host, user, "Hello", session_id="monday")
    save(host, user, "Answer in Portuguese", type="procedural", key="style/language", value="pt")
    listed = host.get("/api/v1/sessions", params={"user_id": user}).json()
    assert listed.keys() == {"sessions", "next_cursor"}
    session = host.get("/api/v1/sessions/monday", params={"user_id": user}).json()
    assert session in listed["sessions"]
    assert session.keys() == {"session_id", "title", "started_at", "last_active_at", "counts"}
    procedure = host.get("/api/v1/procedures/style%2Flanguage", params={"user_id": user})
    assert procedure.json()["value"] == "pt"
    assert procedure.headers["etag"]
    assert problem(host.get("/api/v1/sessions/tuesday", params={"user_id": user}), 404)
    assert problem(host.get("/api/v1/procedures/zork", params={"user_id": user}), 404)

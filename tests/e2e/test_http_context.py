"""Contexts over HTTP: what a retrieve in the mode reconstruct adds to its answer,
and one call for an agent's turn.
"""

from __future__ import annotations

import httpx

from tests.host import save


def test_a_retrieve_answers_with_a_context_only_in_the_mode_reconstruct(
    host: httpx.Client, user: str
) -> None:
    save(
        host,
        user,
        "the red boat sank near Porto",
        session_id="s",
        event_timestamp="2026-05-08T13:56:00Z",
    )
    body = {"user_id": user, "query": "red boat"}
    assert host.post("/api/v1/memories/retrieve", json=body).json().keys() == {
        "results",
        "degraded",
        "as_of_sequence",
        "next_cursor",
    }
    answer = host.post(
        "/api/v1/memories/retrieve",
        json={**body, "mode": "reconstruct", "max_tokens": 200, "explain": True},
    ).json()
    assert answer.keys() == {
        "results", "degraded", "as_of_sequence", "next_cursor", "context", "citations", "rounds",
        "sufficient", "why", "explain",
    }  # fmt: skip
    first, day, line, last = answer["context"].split("\n")
    assert (day, line) == ("2026-05-08", "[1] the red boat sank near Porto")
    assert first.split()[:2] == ["BEGIN", "MEMORIES"]
    assert last.split()[:2] == ["END", "MEMORIES"]
    assert answer["citations"] == [answer["results"][0]["memory"]["id"]]
    assert (answer["rounds"], answer["sufficient"]) == (1, True)
    assert answer["results"][0]["explain"]["terms"]["boat"]["own"] is True


def test_a_turn_is_briefed_in_one_call(host: httpx.Client, user: str) -> None:
    assert host.post("/api/v1/context", json={"user_id": user}).json() == {
        "context": "",
        "parts": [],
        "left_out": [],
        "degraded": [],
    }
    save(
        host,
        user,
        "the red boat sank near Porto",
        session_id="s",
        event_timestamp="2026-05-08T13:56:00Z",
    )
    save(host, user, "lunch was good", session_id="t", event_timestamp="2026-05-09T13:56:00Z")
    answer = host.post(
        "/api/v1/context", json={"user_id": user, "query": "red boat", "session_id": "t"}
    ).json()
    assert [part["kind"] for part in answer["parts"]] == ["memories", "turns"]
    assert all(len(part["ids"]) == 1 and part["tokens"] > 0 for part in answer["parts"])
    assert answer["context"].index("red boat") < answer["context"].index("lunch")


def test_the_query_of_a_turn_is_found_in_its_messages(host: httpx.Client, user: str) -> None:
    save(
        host,
        user,
        "the red boat did sink near Porto",
        session_id="s",
        event_timestamp="2026-05-08T13:56:00Z",
    )
    save(host, user, "Good morning", session_id="t", event_timestamp="2026-05-09T13:55:00Z")
    save(
        host,
        user,
        "where did the red boat sink?",
        session_id="t",
        event_timestamp="2026-05-09T13:56:00Z",
    )
    messages = [
        {"role": "user", "content": "Good morning", "id": "msg_1"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_1", "type": "function"}],
        },
        {"role": "user", "content": [{"type": "text", "text": "where did the red boat sink?"}]},
    ]
    body = {
        "user_id": user,
        "messages": messages,
        "session_id": "t",
        "exclude_session_id": "t",
        "parts": ["memories", "turns"],
    }
    answer = host.post("/api/v1/context", json=body)
    assert answer.status_code == 200, answer.text
    assert [part["kind"] for part in answer.json()["parts"]] == ["memories"]
    assert answer.json()["context"].split("\n")[1:-1] == [
        "Memories:",
        "2026-05-08",
        "[1] the red boat did sink near Porto",
    ]


def test_an_unrelated_message_gets_little_and_that_is_marked(host: httpx.Client, user: str) -> None:
    for number in range(12):
        save(
            host,
            user,
            f"the boat number {number} was painted by a good many people of the town",
            session_id=f"s{number}",
        )
    query = "Could you translate a good morning to my neighbours into Italian for me?"
    answer = host.post(
        "/api/v1/context",
        json={"user_id": user, "query": query, "session_id": "new", "answer_threshold": 0.9},
    ).json()
    assert len(answer["context"].split()) <= 120
    assert "\nMemories:\n" not in answer["context"]


def test_odd_messages_and_parts_are_refused_or_harmless(host: httpx.Client, user: str) -> None:
    refused = (
        {"parts": []},
        {"parts": ["everything"]},
        {"messages": [{"content": "no role"}]},
        {"messages": [{"role": "user", "content": 7}]},
        {"messages": "hello"},
        {"similarity_threshold": 2},
        {"types": ["dream"]},
        {"exclude_session_id": ""},
    )
    for body in refused:
        assert host.post("/api/v1/context", json={"user_id": user, **body}).status_code == 422, body
    for messages in (
        [],
        [{"role": "user", "content": None}],
        [{"role": "user", "content": [{"text": "a\u0000b"}, {"text": 3}]}],
    ):
        assert (
            host.post("/api/v1/context", json={"user_id": user, "messages": messages}).status_code
            == 200
        ), messages

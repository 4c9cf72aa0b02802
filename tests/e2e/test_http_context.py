"""Contexts over HTTP: what a retrieve in the mode reconstruct adds to its answer, and one call for an agent's turn."""

from __future__ import annotations

import httpx

from tests.host import save


def test_a_retrieve_answers_with_a_context_only_in_the_mode_reconstruct(host: httpx.Client, user: str) -> None:
    save(host, user, "the red boat sank near Porto", session_id="s", event_timestamp="2026-05-08T13:56:00Z")
    body = {"user_id": user, "query": "red boat"}
    assert host.post("/api/v1/memories/retrieve", json=body).json().keys() == {"results", "degraded", "as_of_sequence"}
    answer = host.post("/api/v1/memories/retrieve", json={**body, "mode": "reconstruct", "max_tokens": 200, "explain": True}).json()
    assert answer.keys() == {
        "results", "degraded", "as_of_sequence", "context", "citations", "rounds", "sufficient", "why", "explain",
    }  # fmt: skip
    first, day, line, last = answer["context"].split("\n")
    assert (day, line) == ("2026-05-08", "[1] the red boat sank near Porto")
    assert first.split()[:2] == ["BEGIN", "MEMORIES"]
    assert last.split()[:2] == ["END", "MEMORIES"]
    assert answer["citations"] == [answer["results"][0]["memory"]["id"]]
    assert (answer["rounds"], answer["sufficient"]) == (1, True)
    assert answer["results"][0]["explain"]["terms"]["boat"]["own"] is True


def test_a_turn_is_briefed_in_one_call(host: httpx.Client, user: str) -> None:
    assert host.post("/api/v1/context", json={"user_id": user}).json() == {"context": "", "parts": [], "left_out": [], "degraded": []}
    save(host, user, "the red boat sank near Porto", session_id="s", event_timestamp="2026-05-08T13:56:00Z")
    save(host, user, "lunch was good", session_id="t", event_timestamp="2026-05-09T13:56:00Z")
    answer = host.post("/api/v1/context", json={"user_id": user, "query": "red boat", "session_id": "t"}).json()
    assert [part["kind"] for part in answer["parts"]] == ["memories", "turns"]
    assert all(len(part["ids"]) == 1 and part["tokens"] > 0 for part in answer["parts"])
    assert answer["context"].index("red boat") < answer["context"].index("lunch")

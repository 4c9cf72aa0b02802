"""What a caller probably meant by a path and a method that no function answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memory_core.functions.blueprints  # noqa: F401  (registers the calls)
from memory_core.functions.registered import http_functions
from memory_core.functions.suggestions import CALLS_BY_WORD, CALLS_OF_OTHERS, KnownCalls

CALLS = KnownCalls((function.method, function.path) for function in http_functions())


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        # the seeds
        ("POST /api/v1/memory/episodic", "POST /api/v1/memories/save with type"),
        ("POST /api/v1/memory/semantic", "POST /api/v1/memories/save with type"),
        ("POST /api/v1/memory/procedural", "POST /api/v1/memories/save with type"),
        ("GET /api/v1/memory/episodic", "GET /api/v1/memories with type"),
        ("POST /api/v1/memory/retrieve", "POST /api/v1/memories/retrieve"),
        ("POST /memory/retrieve", "POST /api/v1/memories/retrieve"),
        ("PUT /api/v1/memory/semantic/mem_1", "PUT /api/v1/memories/{memory_id}"),
        ("GET /api/v1/memory/procedural/key/editor", "GET /api/v1/procedures/{key}"),
        (
            "GET /api/v1/memory/temporal/evolution/mem_1",
            "GET /api/v1/memories/{memory_id}/evolution",
        ),
        ("POST /api/v1/memory/replay", "POST /api/v1/replay"),
        ("GET /api/v1/memory/timeline", "GET /api/v1/timeline"),
        ("POST /api/v1/memory/consolidate", "POST /api/v1/consolidate"),
        ("POST /api/v1/memory/decay", "POST /api/v1/decay"),
        ("POST /api/v1/memory/forget", "POST /api/v1/forget"),
        ("GET /api/v1/health", "GET /health"),
        ("GET /api/v1/health/ready", "GET /health/ready"),
        # peers
        ("POST /v1/memories", "POST /api/v1/memories"),
        ("POST /v2/memories/search/", "POST /api/v1/memories/retrieve"),
        ("POST /search", "POST /api/v1/memories/retrieve"),
        ("GET /v1/memories/mem_1/history/", "GET /api/v1/memories/{memory_id}/versions"),
        ("POST /v1/long-term-memory/", "POST /api/v1/memories/save"),
        ("POST /v1/long-term-memory/search", "POST /api/v1/memories/retrieve"),
        ("GET /api/v2/threads/t1/context", "POST /api/v1/context"),
        ("POST /api/v2/threads/t1/messages", "POST /api/v1/memories"),
        ("DELETE /v1/users/ana", "DELETE /api/v1/users/{user_id}"),
        # words for what a user told
        ("GET /api/v1/facts", "GET /api/v1/memories with type=semantic"),
        ("GET /api/v1/memory/facts", "GET /api/v1/memories with type=semantic"),
        ("GET /api/v1/episodes", "GET /api/v1/memories with type=episodic"),
        ("GET /api/v1/procedures", "GET /api/v1/memories with type=procedural"),
        ("GET /api/v1/instructions", "GET /api/v1/memories with category=instruction"),
        # words for what is meant, wherever they are
        ("POST /api/v1/conversations", "POST /api/v1/memories"),
        ("GET /api/v1/conversations", "GET /api/v1/sessions"),
        ("GET /api/v1/conversations/c1", "GET /api/v1/sessions/{session_id}"),
        ("DELETE /api/v1/threads/t1", "POST /api/v1/memories/clear"),
        ("POST /api/v1/chat", "POST /api/v1/memories"),
        ("GET /api/v1/messages", "GET /api/v1/sessions/{session_id}/messages"),
        ("POST /api/v1/memories/conversation", "POST /api/v1/memories"),
        ("GET /v1/memories/search", "GET /api/v1/memories/query"),
        ("POST /api/v1/ask", "POST /api/v1/memories/retrieve"),
        ("POST /api/v1/memories/upsert", "POST /api/v1/memories/save"),
        ("PUT /store/items", "POST /api/v1/memories/save"),
        ("POST /api/v1/batch", "POST /api/v1/memories/batch"),
        ("POST /api/v1/summaries", "POST /api/v1/agent/summaries"),
        ("POST /api/v1/memories/update", "PUT /api/v1/memories/{memory_id}"),
        ("POST /api/v1/memories/mem_1/delete", "POST /api/v1/memories/delete"),
        ("DELETE /api/v1/memories", "POST /api/v1/forget"),
        ("GET /api/v1/graph/episodes", "GET /api/v1/memories with type=episodic"),
        ("GET /api/v1/export", "POST /api/v1/users/{user_id}/export"),
        ("GET /api/v1/ready", "GET /health/ready"),
        # a user or an agent in the path
        ("GET /api/v1/users/ana/memories", "GET /api/v1/memories with user_id"),
        ("GET /api/v1/users/ana/facts", "GET /api/v1/memories with type=semantic and user_id"),
        ("POST /api/v1/users/ana/search", "POST /api/v1/memories/retrieve with user_id"),
        ("GET /api/v1/users/ana/export", "POST /api/v1/users/{user_id}/export"),
        ("GET /api/v1/users/ana", "GET /api/v1/profile with user_id"),
        ("GET /api/v1/agents/coder/memories", "GET /api/v1/memories with agent_id"),
        # misspelt, another method, another prefix
        ("POST /api/v1/memories/retreive", "POST /api/v1/memories/retrieve"),
        ("GET /api/v1/memorys", "GET /api/v1/memories"),
        ("GET /api/v1/session/monday", "GET /api/v1/sessions/{session_id}"),
        ("POST /api/v1/timeline", "GET /api/v1/timeline"),
        ("GET /api/v1/replay", "POST /api/v1/replay"),
        ("PATCH /api/v1/memories/mem_1", "PUT /api/v1/memories/{memory_id}"),
        ("POST /api/v1/memories/mem_1/status", "PATCH /api/v1/memories/{memory_id}/status"),
        ("POST /", "GET /"),
        ("GET /api/v1", "GET /"),
        ("GET /healthz", "GET /health"),
        ("GET /openapi", "GET /openapi.json"),
        ("POST /API/V1/Memories/mem_1/Versions/", "GET /api/v1/memories/{memory_id}/versions"),
    ],
)
def test_a_wrong_call_is_told_what_was_meant(asked: str, meant: str) -> None:
    method, path = asked.split()
    assert CALLS.suggest(method, path) == meant


@pytest.mark.parametrize(
    "path",
    [
        "/zork",
        "/favicon.ico",
        "/wp-login.php",
        "/.env",
        "/nowhere/at/all",
        "/a/b/c/d/e/f/g/h/i",
        "/" + "memories/" * 50,
        "/" + "x" * 5000,
    ],
)
def test_a_path_that_resembles_nothing_is_told_nothing(path: str) -> None:
    assert CALLS.suggest("GET", path) is None


def test_no_caller_is_led_to_a_deletion_that_was_not_asked_for() -> None:
    for _, path in ((function.method, function.path) for function in http_functions()):
        for method in ("GET", "POST", "PUT", "PATCH"):
            assert not (
                CALLS.suggest(method, path.replace("{", "").replace("}", "")) or ""
            ).startswith("DELETE")


def test_a_word_of_the_api_where_an_id_belongs_is_known_as_a_wrong_method() -> None:
    assert (
        CALLS.suggest_other_method("GET", "/api/v1/memories/retrieve")
        == "POST /api/v1/memories/retrieve"
    )
    assert (
        CALLS.suggest_other_method("DELETE", "/api/v1/memories/clear/")
        == "POST /api/v1/memories/clear"
    )
    assert (
        CALLS.suggest_other_method("PUT", "/api/v1/memories/save") == "POST /api/v1/memories/save"
    )
    assert CALLS.suggest_other_method("GET", "/api/v1/memories/mem_1") is None
    assert CALLS.suggest_other_method("GET", "/api/v1/memories/query") is None


def test_every_call_that_is_named_is_there() -> None:
    known = {f"{function.method} {function.path}" for function in http_functions()}
    named = [
        *CALLS_OF_OTHERS.values(),
        *(each for row in CALLS_BY_WORD.values() for each in row.values()),
    ]
    assert {text.partition(" with ")[0] for text in named if text is not None} <= known


@given(method=st.sampled_from(["GET", "POST", "DELETE", "ZORK"]), path=st.text(max_size=200))
def test_no_path_is_too_odd_to_be_compared(method: str, path: str) -> None:
    for suggestion in (CALLS.suggest(method, path), CALLS.suggest_other_method(method, path)):
        assert suggestion is None or suggestion.strip()

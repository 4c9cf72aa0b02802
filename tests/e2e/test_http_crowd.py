"""A crowd over HTTP: a few are at work, some wait, the others are told when to come again,
and what was answered is there.
"""

from __future__ import annotations

import socket
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx

from tests.e2e.test_wire import running


def test_a_crowd_is_answered_or_refused_and_afterwards_all_is_as_before(tmp_path: Path) -> None:
    few = {"MEMORY_REQUESTS_AT_ONCE": "1", "MEMORY_REQUESTS_WAITING": "4"}
    with running(tmp_path, **few) as host, ThreadPoolExecutor(60) as threads:

        def save(number: int) -> httpx.Response:
            user = f"user-{number}"
            return host.post(
                "/api/v1/memories/save",
                json={"user_id": user, "content": f"Boat {number}", "type": "semantic"},
            )

        answers = list(threads.map(save, range(120)))
        statuses = Counter(answer.status_code for answer in answers)
        assert set(statuses) == {201, 503}
        refused = [answer for answer in answers if answer.status_code == 503]
        assert {answer.json()["type"] for answer in refused} == {"urn:memory-core:problem:busy"}
        assert {answer.headers["Retry-After"] for answer in refused} == {"2"}
        assert host.get("/api/v1/system/pool-stats").json()["requests"] == {"size": 1, "active": 0}
        for number, answer in enumerate(answers):
            memories = host.get("/api/v1/memories", params={"user_id": f"user-{number}"}).json()[
                "memories"
            ]
            assert len(memories) == (answer.status_code == 201)


def test_a_request_whose_deadline_passes_is_cancelled_and_leaves_its_place(tmp_path: Path) -> None:
    # an embedder that takes what is sent and never answers
    with socket.create_server(("127.0.0.1", 0)) as silent:
        embedder = {
            "EMBEDDING_PROVIDER": "openai",
            "EMBEDDING_BASE_URL": f"http://127.0.0.1:{silent.getsockname()[1]}/v1",
            "EMBEDDING_API_KEY": "secret-key", "EMBEDDING_TIMEOUT": "4",
        }  # fmt: skip
        first_call = {
            "MEMORY_REQUESTS_AT_ONCE": "1",
            "MEMORY_REQUESTS_WAITING": "1",
            "MEMORY_REQUEST_WAIT_S": "30",
            "MEMORY_DEADLINE_S": "1",
        }
        with running(tmp_path, **embedder, **first_call) as host, ThreadPoolExecutor(3) as threads:

            def save(number: int) -> httpx.Response:
                item = {"user_id": "ana", "content": f"Boat {number}", "type": "semantic"}
                return host.post(
                    "/api/v1/memories/save", json=item, headers={"Idempotency-Key": f"k{number}"}
                )

            answers = list(threads.map(save, range(3)))
            assert {answer.status_code for answer in answers} == {503}
            assert all("Retry-After" in answer.headers for answer in answers)
            types = Counter(answer.json()["type"].rpartition(":")[2] for answer in answers)
            assert types == {"unavailable": 2, "busy": 1}, (
                "one at work and one that waited came to their deadline"
            )
            assert host.get("/api/v1/system/pool-stats").json()["requests"]["active"] == 0
            assert host.get("/api/v1/memories", params={"user_id": "ana"}).json()["memories"] == []

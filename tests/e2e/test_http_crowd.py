"""A crowd over HTTP: a few are at work, some wait, the others are told when to come again, and what was answered is there."""

from __future__ import annotations

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
            return host.post("/api/v1/memories/save", json={"user_id": user, "content": f"Boat {number}", "type": "semantic"})

        answers = list(threads.map(save, range(120)))
        statuses = Counter(answer.status_code for answer in answers)
        assert set(statuses) == {201, 503}
        refused = [answer for answer in answers if answer.status_code == 503]
        assert {answer.json()["type"] for answer in refused} == {"urn:memory-core:problem:busy"}
        assert {answer.headers["Retry-After"] for answer in refused} == {"2"}
        assert host.get("/api/v1/system/pool-stats").json()["requests"] == {"size": 1, "active": 0}
        for number, answer in enumerate(answers):
            memories = host.get("/api/v1/memories", params={"user_id": f"user-{number}"}).json()["memories"]
            assert len(memories) == (answer.status_code == 201)

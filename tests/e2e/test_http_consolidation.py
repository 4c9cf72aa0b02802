"""The hour as operators see it: the timer fired, its messages worked by the queues' functions,
runs watched over HTTP.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.host import problem, running, save


@pytest.fixture
def host(tmp_path: Path, settings: dict[str, str]) -> Iterator[httpx.Client]:
    at_once = {
        "MEMORY_CONSOLIDATION_SPREAD_MINUTES": "0",
        "MEMORY_CONSOLIDATION_PAUSE_MINUTES": "0",
    }
    with running(tmp_path, MEMORY_CONSOLIDATION_THRESHOLD="5", **at_once, **settings) as client:
        yield client


def runs(host: httpx.Client, user: str, count: int) -> list[dict[str, Any]]:
    """The runs of a user, once there are so many and all have ended."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        tasks: list[dict[str, Any]] = host.get(
            "/api/v1/tasks", params={"user_id": user, "kind": "consolidate"}
        ).json()["tasks"]
        if len(tasks) == count and all(
            task["status"] not in ("accepted", "running") for task in tasks
        ):
            return tasks
        time.sleep(0.05)
    raise AssertionError(f"{count} runs were expected")


def test_an_hour_consolidates_who_is_due_and_a_threshold_does_not_wait_for_it(
    host: httpx.Client, user: str
) -> None:
    for name in (user, f"{user}-2"):
        save(host, name, "it rains")
    dry = host.post("/api/v1/consolidate", json={"user_id": user, "dry_run": True})
    assert (dry.status_code, dry.json()["capped"]) == (200, False)
    started = host.post("/admin/functions/timer_hourly", headers={"X-Correlation-Id": "hourly"})
    assert (started.status_code, started.headers["X-Correlation-Id"]) == (202, "hourly")
    for name in (user, f"{user}-2"):
        (task,) = runs(host, name, 1)
        assert (task["status"], task["result"]["read"], task["result"]["to"]) == ("succeeded", 1, 1)
    for number in range(5):
        save(host, f"{user}-3", f"the thing numbered {number}")
    (task,) = runs(host, f"{user}-3", 1)
    assert task["result"]["read"] == 5
    accepted = host.post("/api/v1/consolidate", json={"user_id": user})
    assert accepted.status_code == 202
    assert sorted(task["result"]["read"] for task in runs(host, user, 2)) == [0, 1]
    assert 'memory_core_consolidation_total{what="runs"} 4.0' in host.get("/metrics").text
    assert problem(host.post("/api/v1/consolidate", json={"user_id": user, "session_id": ""}), 422)

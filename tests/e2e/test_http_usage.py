"""Limits of stored bytes over HTTP: a 507 that says what to do, while reading and
forgetting go on.
"""

from __future__ import annotations

from pathlib import Path

from tests.e2e.test_http_upkeep import done
from tests.e2e.test_wire import running


def test_a_user_at_the_limit_is_told_so_reads_on_and_makes_room(tmp_path: Path) -> None:
    with running(tmp_path, MEMORY_STORED_BYTES_PER_USER="100000") as host:
        answers = [
            host.post(
                "/api/v1/memories/save",
                json={
                    "user_id": "ana",
                    "content": f"Note {number}: {'tea ' * 4_000}",
                    "type": "semantic",
                },
            )
            for number in range(6)
        ]
        assert [answer.status_code for answer in answers] == [201, 201, 201, 201, 201, 507]
        problem = answers[-1].json()
        assert problem["type"] == "urn:memory-core:problem:quota_exceeded"
        assert "of 100000 are used" in problem["detail"]
        assert "Retry-After" not in answers[-1].headers
        usage = host.get("/api/v1/usage", params={"user_id": "ana"}).json()
        assert 80_000 < usage["stored_bytes"]["used"] <= usage["stored_bytes"]["limit"] == 100_000
        assert usage["model_tokens"]["limit"] is None
        assert host.get("/api/v1/usage/app").json()["stored_bytes"] == {
            "used": usage["stored_bytes"]["used"],
            "limit": None,
        }
        assert host.get("/api/v1/memories", params={"user_id": "ana"}).status_code == 200
        forgotten = host.post(
            "/api/v1/forget",
            json={"user_id": "ana", "filter": {"types": ["semantic"]}, "mode": "hard"},
        )
        done(host, forgotten, "ana")
        assert (
            host.get("/api/v1/usage", params={"user_id": "ana"}).json()["stored_bytes"]["used"] == 0
        )
        assert (
            host.post(
                "/api/v1/memories/save",
                json={"user_id": "ana", "content": "Ana sails", "type": "semantic"},
            ).status_code
            == 201
        )

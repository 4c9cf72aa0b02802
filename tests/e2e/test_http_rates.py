"""Rates of requests over HTTP: what is left is in every answer, and one too many is a 429 that
says when there is room.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

import httpx
import pytest

from tests.e2e.test_wire import running

KEYS = {name: f"mc_shop_{name}_{number * 40}" for number, name in (("a", "web"), ("b", "app"))}
CONFIGURED = [
    {
        "id": name,
        "app": "shop",
        "sha256": hashlib.sha256(key.encode()).hexdigest(),
        "rights": ["read"],
    }
    for name, key in KEYS.items()
]


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    rates = {"MEMORY_RATE_PER_KEY": "3/day", "MEMORY_RATE_PER_APP": "5/day"}
    with running(
        tmp_path_factory.mktemp("limited"), MEMORY_API_KEYS=json.dumps(CONFIGURED), **rates
    ) as client:
        yield client


def test_a_request_too_many_is_a_429_and_counts_for_nothing(limited: httpx.Client) -> None:
    def read(key: str) -> httpx.Response:
        return limited.get(
            "/api/v1/memories", params={"user_id": "ana"}, headers={"X-API-Key": KEYS[key]}
        )

    answers = [read(key) for key in ("web", "web", "web", "web", "app", "app", "app")]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 200, 200, 429]
    assert answers[0].headers["RateLimit-Policy"] == '"key";q=3;w=86400, "app";q=5;w=86400'
    assert [answer.headers["RateLimit"].split(";t=")[0] for answer in answers[:4]] == [
        '"key";r=2',
        '"key";r=1',
        '"key";r=0',
        '"key";r=0',
    ]
    of_key, of_app = answers[3], answers[6]
    assert (of_key.json()["type"], of_app.json()["type"]) == (
        "urn:memory-core:problem:too_many_requests",
    ) * 2
    assert ("this key is" in of_key.json()["detail"], "this app is" in of_app.json()["detail"]) == (
        True,
        True,
    )
    assert (
        17_000
        < int(of_app.headers["Retry-After"])
        <= 17_280
        < int(of_key.headers["Retry-After"])
        <= 28_800
    )


def test_nothing_is_counted_of_what_needs_no_key_or_has_none(limited: httpx.Client) -> None:
    assert "RateLimit" not in limited.get("/health").headers
    refused = limited.get("/api/v1/memories", params={"user_id": "ana"})
    assert (refused.status_code, "RateLimit" in refused.headers) == (401, False)

"""Requests generated from /openapi.json, right and wrong ones for every route,
keep the contract; keys are on.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.generated_requests.run import generate
from tests.host import running

LOG = logging.getLogger(__name__)
KEY = "mc_shop_generator_0123456789abcdefABCDEF"
ALLOWED = {
    "id": "generator",
    "app": "shop",
    "sha256": hashlib.sha256(KEY.encode()).hexdigest(),
    "rights": ["read", "write", "admin"],
}


TAGS = (
    "sessions",
    "tasks",
    "people",
    "admin",
    "system",
    "mcp",
    "scenes",
    "time",
    "conflicts",
    "memories",
)
DRAWN = "220"
"""Requests that are drawn for each route, beside about 6,000 that cover each rule of each field."""


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """Of a host with keys."""
    with running(tmp_path / "host", MEMORY_API_KEYS=json.dumps([ALLOWED])) as client:
        yield str(client.base_url)


def test_every_answer_to_a_generated_request_is_one_that_the_document_declares(
    tmp_path: Path, url: str
) -> None:
    """It neither fails nor accepts what is wrong, and its errors repeat no text of the request."""
    outcome = generate(
        url,
        KEY,
        tmp_path,
        "--phases",
        "coverage",
        *(f"--include-tag={tag}" for tag in TAGS[:4]),
        seed=1,
        limit_s=120,
    )
    assert outcome.code == 0, outcome.report
    assert outcome.requests >= 500, outcome.report


@pytest.mark.long
def test_every_answer_to_20000_generated_requests_is_one_that_the_document_declares(
    tmp_path: Path, url: str
) -> None:
    """Each group of routes is a run of its own, since the generator forgets nothing:
    those of memories take 5 GB.
    """
    with httpx.Client(base_url=url, timeout=30) as client:
        tags = {
            tag
            for item in client.get("/openapi.json").json()["paths"].values()
            for call in item.values()
            for tag in call["tags"]
        }
    assert tags == set(TAGS)
    requests = 0
    for tag in TAGS:
        drawn = ("--phases", "coverage,fuzzing", "--max-examples", DRAWN, "--include-tag", tag)
        outcome = generate(url, KEY, tmp_path, *drawn, seed=1, limit_s=3600)
        LOG.info("%s requests for routes of %s, exit code %s", outcome.requests, tag, outcome.code)
        assert outcome.code == 0, outcome.report
        requests += outcome.requests
    assert requests >= 20_000

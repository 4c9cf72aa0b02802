"""Requests generated from /openapi.json, right and wrong ones for every route, keep the contract; keys are on."""

from __future__ import annotations

import hashlib
import json
import logging
from pathlib import Path

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


EVERY_ROUTE = ("--phases", "coverage,fuzzing", "--max-examples", "220")
"""About 6,000 requests that cover each rule of each field, and 220 drawn ones for each route."""
SHORT = ("--phases", "coverage", *(f"--include-tag={tag}" for tag in ("sessions", "tasks", "people", "admin")))


@pytest.mark.parametrize(
    ("options", "least", "limit_s"),
    [(SHORT, 500, 120), pytest.param(EVERY_ROUTE, 20_000, 3600, marks=pytest.mark.long)],
    ids=["some routes", "every route"],
)
def test_every_answer_to_a_generated_request_is_one_that_the_document_declares(
    tmp_path: Path, options: tuple[str, ...], least: int, limit_s: int
) -> None:
    """It neither fails nor accepts what is wrong, and its errors repeat no text of the request."""
    with running(tmp_path / "host", MEMORY_API_KEYS=json.dumps([ALLOWED])) as client:
        outcome = generate(str(client.base_url), KEY, tmp_path, *options, seed=1, limit_s=limit_s)
    LOG.info("%s requests", outcome.requests)
    assert outcome.code == 0, outcome.report
    assert outcome.requests >= least, outcome.report

"""Runs Schemathesis against a host, and tells how many requests it sent and what they failed on."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

from tests.environments import ROOT
from tests.generated_requests.environment import interpreter

CHECKS = (
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "missing_required_header",
    "ignored_auth",
    "use_after_free",
    "fails_only_as_the_contract_says",
    "refuses_with_a_problem",
    "repeats_no_words_of_the_request",
)
"""Left out: `not_a_server_error`, which knows no 503 of a contract; `positive_data_acceptance`,
since a schema can't say that a cursor is one of this service or that a moment lies ahead;
`unsupported_method`, since Azure's host answers 404 and not 405.
"""
CONFIGURATION = Path(__file__).with_name("schemathesis.toml")
_GENERATED = re.compile(r"^ *(\d+) generated", re.MULTILINE)


class Outcome(NamedTuple):
    """What came of a run. report: all that the program printed."""

    code: int
    requests: int
    report: str


def generate(url: str, key: str, folder: Path, *options: str, seed: int, limit_s: int) -> Outcome:
    """Send valid and invalid requests with this key. options: of Schemathesis,
    which say for what and how many.
    """
    chosen = [*options, "--seed", str(seed), "--checks", ",".join(CHECKS)]
    ways = [
        "--continue-on-failure",
        "--no-shrink",
        "--generation-database",
        "none",
        "--warnings",
        "off",
    ]
    command = [
        str(interpreter()),
        "-m",
        "schemathesis.cli",
        "--config-file",
        str(CONFIGURATION),
        "run",
        f"{url}/openapi.json",
        "--header",
        f"X-API-Key: {key}",
        *chosen,
        *ways,
    ]
    hooks = {
        "SCHEMATHESIS_HOOKS": "tests.generated_requests.checks",
        "PYTHONPATH": str(ROOT),
        "NO_COLOR": "1",
    }
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **hooks},
        capture_output=True,
        text=True,
        timeout=limit_s,
    )
    generated = _GENERATED.search(done.stdout)
    return Outcome(
        done.returncode, int(generated[1]) if generated else 0, f"{done.stdout}\n{done.stderr}"
    )

"""The examples run against a host as `make run` starts it, and an agent's own lines are few."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.host import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
MOST_LINES = 15


@pytest.fixture(scope="module")
def url(host: httpx.Client) -> str:
    return str(host.base_url)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_an_example_remembers_beyond_its_thread(example: Path, url: str) -> None:
    settings = {
        **os.environ,
        "HOST_URL": url,
        "PYTHONPATH": str(ROOT / "memory_core_client" / "src"),
    }
    done = subprocess.run(
        [sys.executable, str(example)], capture_output=True, text=True, env=settings, timeout=120
    )
    assert (done.stdout.splitlines(), done.stderr) == (["I see.", "No peanuts."], "")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_an_agent_has_few_lines_of_its_own(example: Path) -> None:
    assert len(own_lines(example.read_text())) <= MOST_LINES


def own_lines(program: str) -> list[str]:
    """The imports and the agent: not the docstrings, the script in the model's place,
    nor the threads that try it.
    """
    head, agent = program.split("# The agent.")
    imports = [
        line
        for line in head.splitlines()
        if line.startswith(("import ", "from ")) and "testing" not in line
    ]
    body = [
        line
        for line in agent.split("# Two threads")[0].splitlines()
        if line.strip() and '"""' not in line
    ]
    return [*imports, *body]

"""Half a minute of `make chaos` in each profile: nothing that was acknowledged is
lost or doubled.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.host import ROOT

RUN_S = 30
LIMIT_S = 900


@pytest.mark.long
@pytest.mark.parametrize("profile", ["embedded", "azure"])
def test_a_short_run_finds_nothing_wrong(profile: str) -> None:
    command = [
        sys.executable,
        "-m",
        "bench.chaos",
        "--profile",
        profile,
        "--seconds",
        str(RUN_S),
        "--settle",
        "30",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stdout + done.stderr

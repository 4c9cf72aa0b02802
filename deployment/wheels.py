"""The app's packages as Azure runs them, Linux on x86-64 and a version of Python,
installed from whatever Python runs this.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PYTHON = "3.13"
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")


def install(lock: Path, folder: Path, version: str = PYTHON) -> None:
    """Install what a lock names, and nothing else, into `folder`, for that version of Python.

    Raises CalledProcessError, also for a wheel of another hash.
    """
    run_pip(version, folder, "--require-hashes", "--no-deps", f"--requirement={lock}")


def run_pip(version: str, folder: Path, *arguments: str) -> None:
    """Run pip's `install` for Azure's platform. Raises CalledProcessError."""
    platforms = [f"--platform={platform}" for platform in PLATFORMS]
    fixed = [
        "--only-binary=:all:",
        f"--python-version={version}",
        "--implementation=cp",
        "--no-compile",
        "--upgrade",
        "--ignore-requires-python",
        *platforms,
    ]
    quiet = [
        "--quiet",
        "--disable-pip-version-check",
        "--root-user-action=ignore",
        "--no-warn-conflicts",
    ]
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        *quiet,
        *fixed,
        f"--target={folder}",
        *arguments,
    ]
    subprocess.run(command, check=True)

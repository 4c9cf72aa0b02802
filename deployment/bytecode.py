"""Byte code of every module in the package, by the Python that runs it on Azure:
the package is mounted read-only there.

Without it each cold start compiles the app and its packages again. The byte code is never compared
with its source (`unchecked-hash`), so the same sources give the same bytes, and no time of a file
counts. Python ignores byte code of another version than its own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

WHERE_IT_RUNS = "/home/site/wwwroot"
"""The folder that byte code names as its source's. That of the machine which compiled it would
make the bytes differ.
"""


def interpreter(version: str) -> str | None:
    """A Python of this version on this machine; None when there is none."""
    asked = "import sys; print('%d.%d' % sys.version_info[:2])"
    for command in _candidates(version):
        try:
            done = subprocess.run(
                [*command, "-I", "-c", asked + "; print(sys.executable)"],
                capture_output=True,
                text=True,
                timeout=60,
            )
        except OSError:
            continue
        if done.returncode == 0 and done.stdout.splitlines()[:1] == [version]:
            return done.stdout.splitlines()[1]
    return None


def _candidates(version: str) -> Iterator[list[str]]:
    yield [sys.executable]
    if given := os.environ.get("PACKAGE_PYTHON"):
        yield [given]
    if command_path := shutil.which(f"python{version}"):
        yield [command_path]
    if launcher := shutil.which("py"):
        yield [launcher, f"-{version}"]
    for root in (
        Path.home() / ".pyenv" / "versions",
        Path.home() / ".local" / "share" / "uv" / "python",
    ):
        yield from (
            [str(executable)]
            for executable in sorted(root.glob(f"*{version}*/bin/python{version}"))
        )


def compile_folder(folder: Path, python: str) -> None:
    """Write the byte code of each module beside it. Raises CalledProcessError for a module that
    is not Python.
    """
    how = [
        "--invalidation-mode",
        "unchecked-hash",
        "-q",
        "-j",
        "1",
        "-s",
        str(folder),
        "-p",
        WHERE_IT_RUNS,
    ]
    subprocess.run([python, "-I", "-m", "compileall", *how, str(folder)], check=True)

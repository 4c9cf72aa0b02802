"""Schemathesis in an environment of its own: its packages neither meet ours, nor is its plugin
loaded by every run of pytest.

The environment is made at first use (10 s, 60 MB) in `.request_generator/` and kept until the
versions here or Python change.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
CACHE = ROOT / ".request_generator"
PACKAGES = ("schemathesis==4.32.5", "hypothesis==6.170.15")


def interpreter() -> Path:
    """The environment's Python. Raises AssertionError with pip's own words when it can't be made;
    who comes meanwhile waits.
    """
    CACHE.mkdir(exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        folder = (
            CACHE
            / f"{version}-{hashlib.sha256(f'{sys.version}{PACKAGES}'.encode()).hexdigest()[:12]}"
        )
        if not (folder / "complete").exists():
            for older in CACHE.glob(f"{version}-*"):
                shutil.rmtree(older)
            _make(folder)
            (folder / "complete").touch()
    return folder / "bin" / "python"


def _make(folder: Path) -> None:
    venv.create(folder, symlinks=True)
    quiet = ["--quiet", "--no-compile", "--disable-pip-version-check"]
    command = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(folder / "bin" / "python"),
        "install",
        *quiet,
        *PACKAGES,
    ]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600
    )
    if done.returncode != 0:
        raise AssertionError(
            f"the environment of the request generator can't be made:\n{' '.join(command)}\n"
            f"{done.stdout}"
        )


if __name__ == "__main__":
    interpreter()

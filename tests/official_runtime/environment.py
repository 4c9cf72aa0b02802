"""What the official runtime finds around it: the packages that an Azure worker has,
and none that only a laptop has.

The virtual environment holds `requirements.txt` and the runtime; the app comes out of the zip that
is sent to Azure. So an import that works only beside the development packages or the development
host fails here. The environment is made at first use (15 to 25 s) and kept until `requirements.txt`
or the Python version changes.
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
CACHE = ROOT / ".official_runtime"
RUNTIME = "azure-functions-runtime==1.3.0"
REQUIREMENTS = ROOT / "requirements.txt"


def interpreter() -> Path:
    """The environment's Python. Raises AssertionError with pip's own words when it can't be made.

    Test processes that come at the same time wait for the one that makes it.
    """
    CACHE.mkdir(exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder = CACHE / _name()
        complete = folder / "complete"
        if not complete.exists():
            _forget(f"{_version()}-*")
            _make(folder)
            complete.touch()
    return _python(folder)


def _version() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def _name() -> str:
    made_of = f"{sys.version} {RUNTIME}\n{REQUIREMENTS.read_text(encoding='utf-8')}"
    return f"{_version()}-{hashlib.sha256(made_of.encode()).hexdigest()[:12]}"


def _forget(pattern: str) -> None:
    """Remove what an older requirements.txt, or a process that was killed half-way, has left."""
    for folder in CACHE.glob(pattern):
        shutil.rmtree(folder)


def _make(folder: Path) -> None:
    # Without a pip of its own, and with nothing compiled ahead: 15 s instead of 25 s.
    venv.create(folder, symlinks=True)
    _install(folder, "-r", str(REQUIREMENTS))
    # The runtime names Python 3.13 as its oldest and asks for the SDK that goes with that;
    # it runs on 3.11 and 3.12 as well.
    _install(folder, "--no-deps", "--ignore-requires-python", RUNTIME)


def _install(folder: Path, *packages: str) -> None:
    quiet = ["--quiet", "--no-compile", "--disable-pip-version-check"]
    command = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(_python(folder)),
        "install",
        *quiet,
        *packages,
    ]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600
    )
    if done.returncode != 0:
        raise AssertionError(
            f"the official runtime's environment can't be made:\n{' '.join(command)}\n{done.stdout}"
        )


def _python(folder: Path) -> Path:
    return folder / "bin" / "python"


if __name__ == "__main__":
    interpreter()

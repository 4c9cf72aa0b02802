"""Virtual environments beside ours, for programs whose packages must not meet ours.

Each lies in a folder of the project, is made at first use and kept until Python or what it is made
of changes.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]


def environment(cache: str, *installed: Sequence[str], also: str = "") -> Path:
    """The folder of an environment; who comes while it is made waits.

    Args:
        cache: The folder of the project that it lies in.
        installed: What pip gets to install, in this order.
        also: What else it is made of, such as the text of a file of requirements.

    Returns:
        The folder, with `bin/python`.

    Raises:
        AssertionError: It can't be made; with pip's own words.
    """
    place = ROOT / cache
    place.mkdir(exist_ok=True)
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        made_of = hashlib.sha256(f"{sys.version}{installed}{also}".encode()).hexdigest()[:12]
        folder = place / f"{version}-{made_of}"
        if not (folder / "complete").exists():
            # what older versions, or a process that was killed half-way, have left
            for older in place.glob(f"{version}-*"):
                shutil.rmtree(older)
            _make(folder, installed)
            (folder / "complete").touch()
    return folder


def _make(folder: Path, installed: Sequence[Sequence[str]]) -> None:
    # Without a pip of its own, and with nothing compiled ahead: 15 s instead of 25 s.
    venv.create(folder, symlinks=True)
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install"]
    for packages in installed:
        command = [*pip, "--quiet", "--no-compile", "--disable-pip-version-check", *packages]
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600
        )
        if done.returncode != 0:
            raise AssertionError(
                f"the environment in {folder.parent.name} can't be made:\n"
                f"{' '.join(command)}\n{done.stdout}"
            )

"""The app's packages as Azure runs them, Linux on x86-64 and a version of Python, installed from whatever Python runs this.

pip takes wheels for another Python when told, but reads the conditions in requirements (`python_version < "3.13"`)
for the Python that it runs on. So they are read here, for the Python of Azure, and what pip therefore left out is added.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable
from importlib.metadata import Distribution, distributions
from pathlib import Path

from pip._vendor.packaging.requirements import Requirement

PYTHON = "3.13"
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")
AZURE = {
    "implementation_name": "cpython", "os_name": "posix", "platform_machine": "x86_64", "platform_python_implementation": "CPython",
    "platform_system": "Linux", "sys_platform": "linux",
}  # fmt: skip
ROUNDS = 5


def install(requirements: Path, folder: Path, version: str = PYTHON, more: Iterable[str] = ()) -> None:
    """Install what the file and `more` ask for, and what that asks for, into `folder`, for that version of Python.

    Raises RuntimeError when it does not come to an end.
    """
    lines = [line.split("  #")[0].strip() for line in requirements.read_text(encoding="utf-8").splitlines()]
    missing = wanted([*(line for line in lines if line and not line.startswith("#")), *more], version=version)
    for _ in range(ROUNDS):
        _pip(folder, missing, version)
        missing = lacking(distributions(path=[str(folder)]), version)
        if not missing:
            return
    raise RuntimeError(f"still missing after {ROUNDS} rounds: {', '.join(missing)}")


def wanted(lines: Iterable[str], extra: str = "", version: str = PYTHON) -> list[str]:
    """Those requirements that hold on Azure, without their conditions."""
    azure = {**AZURE, "extra": extra, "python_version": version, "python_full_version": f"{version}.0"}
    found = []
    for line in lines:
        one = Requirement(line)
        if one.marker is None or one.marker.evaluate(azure):
            one.marker = None
            found.append(str(one))
    return found


def lacking(installed: Iterable[Distribution], version: str = PYTHON) -> list[str]:
    """What these packages ask for on Azure and none of them is."""
    there = list(installed)
    names = {_plain(one.metadata["Name"]) for one in there}
    asked = {line for one in there for line in wanted(one.requires or [], version=version)}
    return sorted(line for line in asked if _plain(Requirement(line).name) not in names)


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _pip(folder: Path, packages: list[str], version: str) -> None:
    platforms = [f"--platform={one}" for one in PLATFORMS]
    fixed = [
        "--only-binary=:all:",
        f"--python-version={version}",
        "--implementation=cp",
        "--no-compile",
        "--upgrade",
        "--ignore-requires-python",
        *platforms,
    ]
    quiet = ["--quiet", "--disable-pip-version-check", "--root-user-action=ignore", "--no-warn-conflicts"]
    command = [sys.executable, "-m", "pip", "install", *quiet, *fixed, f"--target={folder}", *packages]
    subprocess.run(command, check=True)

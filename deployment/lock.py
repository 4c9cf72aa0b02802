"""Locks of the packages for Azure: `make lock` writes them, the build installs from them.

There is one file for each version of Python that Azure may run the app with, in `deployment/locks`.
It names every package that is installed, also those that packages ask for, each with its version
and the hash of its wheel for Linux on x86-64.

pip takes wheels for another Python when told, but reads the conditions in requirements
(`python_version < "3.13"`) for the Python that it runs on. So they are read here,
for the Python of Azure.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from pip._vendor.packaging.requirements import Requirement

from deployment import licences, wheels
from deployment.app import ROOT

LOCKS = ROOT / "deployment" / "locks"
VERSIONS = ("3.11", "3.12", "3.13")
AZURE = {
    "implementation_name": "cpython", "os_name": "posix", "platform_machine": "x86_64",
    "platform_python_implementation": "CPython", "platform_system": "Linux",
    "sys_platform": "linux",
}  # fmt: skip
ROUNDS = 5
_ENTRY = re.compile(
    r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)==(?P<version>[^\s;]+) --hash=sha256:(?P<sha256>[0-9a-f]{64})"  # noqa: E501
)


class StaleLock(Exception):
    """A lock that does not hold what the requirements ask for; the text says what differs
    and what to do.
    """


@dataclass(frozen=True, slots=True)
class LockedPackage:
    """A package of a lock. name: in its normal form, lower case with hyphens. sha256:
    of its wheel, in hex.
    """

    name: str
    version: str
    sha256: str


def lock_file(version: str) -> Path:
    """Where the lock for a version of Python is."""
    return LOCKS / f"python-{version}.txt"


def read_lock(version: str) -> list[LockedPackage]:
    """The packages of a lock, in the order of their names. Raises StaleLock for a missing file and
    for a line that is no entry.
    """
    try:
        text = lock_file(version).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise StaleLock(
            f"there is no lock for Python {version}; there are those for {', '.join(VERSIONS)}"
        ) from None
    packages = []
    for line in text.splitlines():
        if line and not line.startswith("#"):
            entry = _ENTRY.fullmatch(line)
            if entry is None:
                raise StaleLock(
                    f"{lock_file(version).name} has a line that is no package with a version and a "
                    f"hash: {line}"
                )
            packages.append(LockedPackage(**entry.groupdict()))
    return packages


def check_lock(version: str) -> list[LockedPackage]:
    """The packages of a lock that has each requirement in the version asked for.
    Raises StaleLock.
    """
    packages = read_lock(version)
    locked = {package.name: package.version for package in packages}
    for line in wanted(deployed_requirements(), version=version):
        requirement = Requirement(line)
        name = plain_name(requirement.name)
        if name not in locked or locked[name] not in requirement.specifier:
            raise StaleLock(
                f"the lock for Python {version} has {name} {locked.get(name, 'not at all')}, asked "
                f"for is {line}: make lock"
            )
    return packages


def deployed_requirements() -> list[str]:
    """What the package for Azure asks for: `requirements.txt`, and what MEMORY_TELEMETRY needs, so
    that the setting alone turns it on.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    lines = [
        line.split("  #")[0].strip()
        for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    ]
    return [
        *(line for line in lines if line and not line.startswith("#")),
        *project["project"]["optional-dependencies"]["telemetry"],
    ]


def wanted(
    lines: Iterable[str], extras: Iterable[str] = (), version: str = wheels.PYTHON
) -> list[str]:
    """Those requirements that hold on Azure, for a package with these extras, without
    their conditions.

    Azure chooses the patch of Python. A late one is assumed, since conditions on it are about the
    first ones of 3.11.
    """
    environments = [
        {**AZURE, "extra": extra, "python_version": version, "python_full_version": f"{version}.9"}
        for extra in ("", *sorted(extras))
    ]
    holding = []
    for line in lines:
        requirement = Requirement(line)
        if requirement.marker is None or any(
            requirement.marker.evaluate(environment) for environment in environments
        ):
            requirement.marker = None
            holding.append(str(requirement))
    return holding


def closure(
    lines: Sequence[str], requires: Mapping[str, Sequence[str]], version: str = wheels.PYTHON
) -> tuple[set[str], list[str]]:
    """What is installed on Azure for some requirements.

    Args:
        lines: The requirements.
        requires: What each package asks for, by its plain name.
        version: Of Python.

    Returns:
        The packages that are needed, and the requirements that no package of `requires` meets.

    """
    needed: set[str] = set()
    missing: set[str] = set()
    seen: set[tuple[str, str]] = set()
    queue = wanted(lines, version=version)
    while queue:
        requirement = Requirement(queue.pop())
        name = plain_name(requirement.name)
        if name not in requires:
            missing.add(str(requirement))
            continue
        needed.add(name)
        for extra in ("", *requirement.extras):
            if (name, extra) not in seen:
                seen.add((name, extra))
                queue += wanted(requires[name], [extra], version)
    return needed, sorted(missing)


def plain_name(name: str) -> str:
    """The normal form of a package's name."""
    return re.sub(r"[-_.]+", "-", name).lower()


def resolve(version: str) -> list[LockedPackage]:
    """Let pip choose the newest versions that fit together. Raises RuntimeError when it does not
    come to an end.
    """
    roots = wanted(deployed_requirements(), version=version)
    asked = roots
    for _ in range(ROUNDS):
        chosen = _ask_pip(asked, version)
        needed, missing = closure(
            roots,
            {name: item["metadata"].get("requires_dist", []) for name, item in chosen.items()},
            version,
        )
        if not missing:
            return [_locked(name, chosen[name]) for name in sorted(needed)]
        asked = [*asked, *missing]
    raise RuntimeError(f"still missing after {ROUNDS} rounds: {', '.join(missing)}")


def _ask_pip(packages: Sequence[str], version: str) -> dict[str, dict[str, Any]]:
    with tempfile.TemporaryDirectory() as place:
        report = Path(place) / "report.json"
        wheels.run_pip(
            version,
            Path(place) / "none",
            "--dry-run",
            "--ignore-installed",
            f"--report={report}",
            *packages,
        )
        answer = json.loads(report.read_text(encoding="utf-8"))
    return {plain_name(item["metadata"]["name"]): item for item in answer["install"]}


def _locked(name: str, item: dict[str, Any]) -> LockedPackage:
    return LockedPackage(
        name, item["metadata"]["version"], item["download_info"]["archive_info"]["hashes"]["sha256"]
    )


def lock_text(packages: Iterable[LockedPackage], version: str) -> str:
    """The text of a lock."""
    head = (
        f"# Written by `make lock`: what the package for Azure installs, for Python {version} on "
        "Linux and x86-64.\n"
    )
    return head + "".join(
        f"{package.name}=={package.version} --hash=sha256:{package.sha256}\n"
        for package in packages
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the locks and the list of licences, or print the versions alone."""
    parser = argparse.ArgumentParser(
        description="Lock the packages that Azure gets, and list their licences."
    )
    parser.add_argument(
        "--constraints",
        action="store_true",
        help="print the versions locked for this Python, for pip's --constraint",
    )
    if parser.parse_args(arguments).constraints:
        print(
            "".join(
                f"{package.name}=={package.version}\n"
                for package in read_lock(f"{sys.version_info[0]}.{sys.version_info[1]}")
            ),
            end="",
        )
        return 0
    LOCKS.mkdir(exist_ok=True)
    for version in VERSIONS:
        try:
            packages = resolve(version)
        except subprocess.CalledProcessError:
            print(
                f"pip finds no set of packages for Python {version}; its words are above",
                file=sys.stderr,
            )
            return 1
        lock_file(version).write_text(lock_text(packages, version), encoding="utf-8")
        print(f"{lock_file(version).relative_to(ROOT)}: {len(packages)} packages")
    with tempfile.TemporaryDirectory() as place:
        wheels.install(lock_file(wheels.PYTHON), Path(place), wheels.PYTHON)
        licences.LIST.write_text(licences.list_text(distributions(path=[place])), encoding="utf-8")
    print(licences.LIST.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

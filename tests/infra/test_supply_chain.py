"""What Azure gets from others: locked with hashes, under licences that are allowed,
and listed in a bill of materials.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path
from zipfile import ZipFile

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from deployment import licences, lock, sbom, viewer, wheels
from memory_core.functions.http_docs import VERSION as VIEWER_VERSION
from tests.infra.sources import ROOT

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
INSTALLED = {lock.plain_name(package.metadata["Name"]): package for package in distributions()}


@pytest.mark.parametrize("version", lock.VERSIONS)
def test_a_lock_has_each_requirement_with_a_hash_and_no_address(version: str) -> None:
    packages = lock.check_lock(version)
    assert lock.lock_file(version).read_text(encoding="utf-8") == lock.lock_text(packages, version)
    assert [package.name for package in packages] == sorted({package.name for package in packages})
    assert "://" not in lock.lock_file(version).read_text(encoding="utf-8")


def test_each_version_of_python_that_the_app_may_run_on_has_a_lock() -> None:
    (allowed,) = re.findall(
        r"@allowed\(\[([^]]*)\]\)\n@description\('Version of Python",
        (ROOT / "infra" / "main.bicep").read_text(),
    )
    assert (
        set(re.findall(r"3\.\d+", allowed))
        == set(lock.VERSIONS)
        == {file.stem.removeprefix("python-") for file in lock.LOCKS.iterdir()}
    )


def test_tests_run_on_the_locked_packages_which_are_all_that_they_ask_for() -> None:
    locked = {package.name: package.version for package in lock.check_lock(HERE)}
    assert {name: INSTALLED[name].version for name in locked} == locked
    requires = {name: INSTALLED[name].requires or [] for name in locked}
    assert lock.closure(lock.deployed_requirements(), requires, HERE) == (set(locked), [])


def test_the_build_installs_only_a_file_of_the_locked_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = tmp_path / "wheels" / "a_package-1-py3-none-any.whl"
    wheel.parent.mkdir()
    _write_wheel(wheel)
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    for sha256, is_taken in ((_sha256(wheel), True), ("0" * 64, False)):
        text = lock.lock_text([lock.LockedPackage("a-package", "1", sha256)], wheels.PYTHON)
        (tmp_path / "lock.txt").write_text(text)
        folder = tmp_path / sha256
        if is_taken:
            wheels.install(tmp_path / "lock.txt", folder)
        else:
            with pytest.raises(subprocess.CalledProcessError):
                wheels.install(tmp_path / "lock.txt", folder)
        assert (folder / "a_package.py").exists() == is_taken


def test_a_lock_that_is_behind_the_requirements_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(lock, "LOCKS", tmp_path)
    with pytest.raises(lock.StaleLock, match=re.escape("there is no lock for Python 3.13")):
        lock.check_lock("3.13")
    lock.lock_file("3.13").write_text("aiohttp==1.0\n")
    with pytest.raises(lock.StaleLock, match="no package with a version and a hash"):
        lock.check_lock("3.13")
    lock.lock_file("3.13").write_text(
        lock.lock_text([lock.LockedPackage("aiohttp", "1.0", "0" * 64)], "3.13")
    )
    with pytest.raises(
        lock.StaleLock, match=r"has aiohttp 1\.0, asked for is aiohttp==.*make lock"
    ):
        lock.check_lock("3.13")


def test_conditions_and_extras_are_read_for_the_python_of_azure() -> None:
    lines = [
        'a==1; python_version < "3.13"', 'b==2; python_version >= "3.13"',
        'c; sys_platform == "win32"', "d[x]>=4,<5", 'e; extra == "aio"',
    ]  # fmt: skip
    assert lock.wanted(lines) == ["b==2", "d[x]<5,>=4"]
    assert lock.wanted(lines, version="3.12") == ["a==1", "d[x]<5,>=4"]
    requires = {
        "d": ['F_g>=2; extra == "x"', 'h; extra == "y"', 'i; python_version < "3.13"'],
        "f-g": ["d", "j"],
        "spare": [],
    }
    assert lock.closure(["D[x]"], requires) == ({"d", "f-g"}, ["j"])


def test_licences_are_listed_and_allowed() -> None:
    _, *cells = re.findall(
        r"^\| (\S+) \| (\S+) \| (.+) \|$", licences.LIST.read_text(encoding="utf-8"), re.MULTILINE
    )
    rows = {name: (version, licence) for name, version, licence in cells}
    locked = {package.name: package.version for package in lock.read_lock(wheels.PYTHON)}
    carried = {files.name: files.version for files in licences.CARRIED}
    assert {
        lock.plain_name(name): row[0] for name, row in rows.items() if name not in carried
    } == locked
    assert {name: rows[name][0] for name in carried} == carried
    assert [name for name, row in rows.items() if not licences.is_allowed(row[1])] == []
    packages = [
        INSTALLED[name]
        for name, version in locked.items()
        if name in INSTALLED and INSTALLED[name].version == version
    ]
    assert [
        package.name
        for package in packages
        if licences.licence_of(package) != rows[package.metadata["Name"]][1]
    ] == []
    assert len(packages) > 70
    assert not licences.is_allowed("AGPL-3.0-only OR MIT")
    assert not licences.is_allowed(licences.UNKNOWN)


def test_the_bill_of_materials_is_valid_complete_and_the_same_every_time() -> None:
    locked = lock.read_lock(HERE)
    text = sbom.bill_text(locked, INSTALLED.values(), licences.CARRIED, HERE)
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    assert sbom.bill_text(locked, reversed(INSTALLED.values()), licences.CARRIED, HERE) == text
    bill = json.loads(text)
    components = {component["name"]: component for component in bill["components"]}
    assert set(components) == {package.name for package in locked} | {
        files.name for files in licences.CARRIED
    }
    assert all(
        component["licenses"] and component["hashes"][0]["content"]
        for component in components.values()
    )
    referenced = {reference for entry in bill["dependencies"] for reference in entry["dependsOn"]}
    assert {package.name for package in locked} == {
        components[name]["name"] for name in components if components[name]["purl"] in referenced
    }
    assert bill["metadata"]["component"]["version"] == sbom.app_version()


def test_the_files_of_others_are_listed_as_they_are_carried() -> None:
    (page, _) = licences.CARRIED
    assert (page.version, page.sha256) == (VIEWER_VERSION, viewer.FILES["swagger-ui-bundle.js"])


def _write_wheel(path: Path) -> None:
    info = "a_package-1.dist-info"
    with ZipFile(path, "w") as wheel:
        wheel.writestr("a_package.py", "")
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: a-package\nVersion: 1\n")
        wheel.writestr(
            f"{info}/WHEEL",
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        wheel.writestr(f"{info}/RECORD", "")


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()

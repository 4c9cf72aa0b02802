"""The bill of materials in the package: CycloneDX 1.6 as JSON, of the packages of the lock with
their hashes and licences.

The same packages give the same bytes: there is no time in it, and its serial number is made of
its content.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import Distribution
from typing import Any

from pip._vendor.packaging.requirements import Requirement

from deployment import lock, wheels
from deployment.app import ROOT
from deployment.licences import UNKNOWN, CarriedFiles, licence_of

NAME = "sbom.cdx.json"


def bill_text(
    locked: Sequence[lock.LockedPackage],
    installed: Iterable[Distribution],
    carried: Iterable[CarriedFiles],
    version: str = wheels.PYTHON,
) -> str:
    """The bill of materials.

    Args:
        locked: The packages of the lock.
        installed: The same packages as they are installed; their metadata is read.
        carried: Files in the package that are no Python package.
        version: Of Python.

    """
    packages = {lock.plain_name(package.metadata["Name"]): package for package in installed}
    application = _component(
        "application", "memory-core", app_version(), "MIT", f"pkg:pypi/memory-core@{app_version()}"
    )
    components = [_package(entry, packages[entry.name]) for entry in locked]
    components += [
        {
            **_component("file", files.name, files.version, files.licence, files.purl),
            "hashes": _hashes(files.sha256),
        }
        for files in carried
    ]
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": application},
        "components": sorted(components, key=lambda component: component["bom-ref"]),
        "dependencies": _dependencies(application["bom-ref"], locked, packages, version),
    }
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(bill, sort_keys=True))
    return json.dumps(
        {
            "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
            "serialNumber": f"urn:uuid:{serial}",
            **bill,
        },
        indent=1,
    )


def app_version() -> str:
    """The version of Memory Core, read from its source: importing it would need the packages that
    are about to be installed.
    """
    source = (ROOT / "memory_core" / "__init__.py").read_text(encoding="utf-8")
    version = re.search(r'^__version__ = "([^"]+)"', source, re.MULTILINE)
    assert version is not None
    return version[1]


def _package(entry: lock.LockedPackage, package: Distribution) -> dict[str, Any]:
    component = _component("library", entry.name, entry.version, licence_of(package), _purl(entry))
    return {**component, "hashes": _hashes(entry.sha256)}


def _purl(entry: lock.LockedPackage) -> str:
    return f"pkg:pypi/{entry.name}@{entry.version}"


def _component(kind: str, name: str, version: str, licence: str, purl: str) -> dict[str, Any]:
    return {
        "type": kind,
        "bom-ref": purl,
        "name": name,
        "version": version,
        "licenses": _licences(licence),
        "purl": purl,
    }


def _licences(licence: str) -> list[dict[str, Any]]:
    if licence == UNKNOWN:
        return []
    return [{"license": {"id": licence}}] if " " not in licence else [{"expression": licence}]


def _hashes(sha256: str) -> list[dict[str, str]]:
    return [{"alg": "SHA-256", "content": sha256}]


def _dependencies(
    application: str,
    locked: Sequence[lock.LockedPackage],
    packages: Mapping[str, Distribution],
    version: str,
) -> list[dict[str, Any]]:
    references = {entry.name: _purl(entry) for entry in locked}

    def named(lines: Iterable[str]) -> list[str]:
        names = (
            lock.plain_name(Requirement(line).name) for line in lock.wanted(lines, version=version)
        )
        return sorted({references[name] for name in names if name in references})

    graph = [
        {"ref": references[name], "dependsOn": named(packages[name].requires or [])}
        for name in references
    ]
    return [
        {"ref": application, "dependsOn": named(lock.deployed_requirements())},
        *sorted(graph, key=lambda entry: str(entry["ref"])),
    ]

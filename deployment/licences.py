"""Licences of the packages that Azure gets: read from their metadata, listed in `docs/licences.md`,
checked by a test.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import Distribution

from deployment import vocabulary
from deployment.app import ROOT

LIST = ROOT / "docs" / "licences.md"
ALLOWED = frozenset(
    [
        "0BSD",
        "Apache-2.0",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "CC0-1.0",
        "CNRI-Python",
        "ISC",
        "MIT",
        "MIT-0",
        "MPL-2.0",
        "PSF-2.0",
        "Zlib",
    ]
)
"""Identifiers of SPDX that may be in the package. All ask for no more than their text;
MPL-2.0 asks for changes to its own files.
"""
UNKNOWN = "unknown"
_WORDINGS = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "MIT License": "MIT",
}
"""What metadata says in words of its own, and the identifier of SPDX."""
_READ_IN_LICENCE_FILE = {
    "isodate": "BSD-3-Clause",
    "lz4": "BSD-3-Clause",
    "pystemmer": "MIT AND BSD-3-Clause",
    "redis-entraid": "MIT",
    "tiktoken": "MIT",
}
"""Of packages whose metadata has no short name of a licence: what the licence file in them says."""
_HEAD = """# Licences

Written by `make lock`. What the package for Azure carries for Python 3.13, with the licence that each package names in its metadata, as
[SPDX](https://spdx.org/licenses/) writes it. A test refuses licences that are not on its list; [dependencies](dependencies.md) says why
the packages are there. The same, with hashes, is in the package as a bill of materials, `sbom.cdx.json`.

| package | version | licence |
|---|---|---|
"""  # noqa: E501


@dataclass(frozen=True, slots=True)
class CarriedFiles:
    """Files by other authors in the package that are no Python package. sha256:
    of the largest of them.
    """

    name: str
    version: str
    licence: str
    sha256: str
    purl: str


CARRIED = (
    CarriedFiles(
        "swagger-ui-dist", "5.35.0", "Apache-2.0",
        "e6a898692f2d768e807c3ba4626068a69a2c5dd960dd6c76f3e4d3a3de180af2",
        "pkg:npm/swagger-ui-dist@5.35.0",
    ),
    CarriedFiles("cl100k_base", "1", "MIT", vocabulary.SHA256, "pkg:generic/cl100k_base@1"),
)  # fmt: skip


def licence_of(package: Distribution) -> str:
    """The licence of an installed package as an expression of SPDX; `unknown` where its metadata
    names none that is known here.
    """
    metadata = package.metadata.json
    named = str(metadata.get("license_expression") or metadata.get("license") or "").strip()
    named = _WORDINGS.get(named, named)
    if is_allowed(named):
        return named
    plain = re.sub(r"[-_.]+", "-", str(metadata["name"])).lower()
    # A long text is the licence itself, and its first line is no name.
    return _READ_IN_LICENCE_FILE.get(plain) or (
        named if 0 < len(named) <= 100 and "\n" not in named else UNKNOWN
    )


def is_allowed(expression: str) -> bool:
    """Whether all identifiers of an expression are on the list, also those that it offers
    as a choice.
    """
    identifiers = [
        word for word in re.split(r"[\s()]+", expression) if word not in ("", "AND", "OR")
    ]
    return bool(identifiers) and ALLOWED.issuperset(identifiers)


def list_text(packages: Iterable[Distribution]) -> str:
    """The page that lists the packages."""
    rows = [
        (package.metadata["Name"], package.version, licence_of(package)) for package in packages
    ]
    rows += [(carried.name, carried.version, carried.licence) for carried in CARRIED]
    return _HEAD + "".join(
        f"| {' | '.join(row)} |\n" for row in sorted(rows, key=lambda row: row[0].lower())
    )

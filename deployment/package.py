"""The package that Azure gets: `make package`. The app, the vocabulary, its packages built for
Azure, and byte code of all of it.

azd deploys the folder that this makes (`azure.yaml`), Terraform's page and CI the zip of the same
files; nothing is built on Azure. The same files give the same package, byte for byte.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib.metadata import distributions
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from deployment import bytecode, licences, lock, sbom, vocabulary, wheels
from deployment.app import ROOT, publish

TARGET = ROOT / "dist" / "memory-core.zip"
LIMIT_MB = 80
WHERE_AZURE_LOOKS = Path(".python_packages/lib/site-packages")
IGNORE_FILE = ".funcignore"
_EPOCH = (1980, 1, 1, 0, 0, 0)


class NoPython(Exception):
    """There is no Python of the version that runs on Azure; the text says what to do."""


def assemble(
    app: Path,
    version: str,
    *,
    with_packages: bool = True,
    with_vocabulary: bool = True,
    with_bytecode: bool = True,
) -> None:
    """Make the folder that Azure gets, which must not be there yet, for that version of Python.
    Raises NoPython, StaleLock.
    """
    python = bytecode.interpreter(version) if with_bytecode else None
    if with_bytecode and python is None:
        raise NoPython(
            f"no Python {version} is on this machine, so the package would have no byte code and "
            f"every cold start would compile anew; install one (python{version} in the PATH) or "
            f"name one: PACKAGE_PYTHON=/path/to/python{version}"
        )
    publish(app)
    if with_vocabulary:
        vocabulary_file = vocabulary.fetch(ROOT / ".cache" / vocabulary.FOLDER)
        (app / vocabulary.FOLDER).mkdir(exist_ok=True)
        shutil.copy(vocabulary_file, app / vocabulary.FOLDER)
    if with_packages:
        packages = app / WHERE_AZURE_LOOKS
        locked = lock.check_lock(version)
        wheels.install(lock.lock_file(version), packages, version)
        (app / sbom.NAME).write_text(
            sbom.bill_text(locked, distributions(path=[str(packages)]), licences.CARRIED, version),
            encoding="utf-8",
        )
    if python is not None:
        bytecode.compile_folder(app, python)
    # azd leaves __pycache__ out of a folder that has no such file.
    (app / IGNORE_FILE).write_text(
        "# Everything in this folder is sent to Azure, byte code too.\n", encoding="utf-8"
    )


def build(target: Path, version: str = wheels.PYTHON, **parts: bool) -> Path:
    """Write the zip and return its path; parts: see `assemble`."""
    with tempfile.TemporaryDirectory() as place:
        app = Path(place) / "app"
        assemble(app, version, **parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        pack(app, target)
    return target


def lay_out(folder: Path, version: str, **parts: bool) -> Path:
    """Put what Azure gets in this folder, in the place of what was there, and return it."""
    with tempfile.TemporaryDirectory(dir=_made(folder.parent)) as place:
        app = Path(place) / "app"
        assemble(app, version, **parts)
        shutil.rmtree(folder, ignore_errors=True)
        app.rename(folder)
    return folder


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def pack(folder: Path, target: Path) -> None:
    """All files of a folder, in the order of their names, with one time for all."""
    with ZipFile(target, "w", ZIP_DEFLATED) as archive:
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = ZipInfo(file.relative_to(folder).as_posix(), _EPOCH)
            entry.compress_type = ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, file.read_bytes())


def main(arguments: Sequence[str] | None = None) -> int:
    """Build it and say how large it is: 0, or 1 when it is too large or can't be built."""
    parser = argparse.ArgumentParser(description="Build the package that Azure gets.")
    parser.add_argument("--target", type=Path, default=TARGET, help="the zip")
    parser.add_argument(
        "--folder", type=Path, help="make a folder of it, for azd, instead of a zip"
    )
    version = os.environ.get("APP_PYTHON_VERSION") or wheels.PYTHON
    parser.add_argument(
        "--python", default=version, help="version that runs on Azure (the parameter pythonVersion)"
    )
    parser.add_argument(
        "--no-bytecode",
        action="store_true",
        help="without byte code: every cold start takes twice as long",
    )
    given = parser.parse_args(arguments)
    began = time.perf_counter()
    try:
        if given.folder is not None:
            made = lay_out(given.folder, given.python, with_bytecode=not given.no_bytecode)
            sizes = [path.stat().st_size for path in made.rglob("*") if path.is_file()]
            print(
                f"{made}: {len(sizes)} files, {sum(sizes) / 2**20:.1f} MB, in "
                f"{time.perf_counter() - began:.0f} s"
            )
            return 0
        target = build(given.target, given.python, with_bytecode=not given.no_bytecode)
    except (NoPython, lock.StaleLock) as error:
        print(error, file=sys.stderr)
        return 1
    with ZipFile(target) as archive:
        files, unpacked = (
            len(archive.namelist()),
            sum(entry.file_size for entry in archive.infolist()),
        )
    size = target.stat().st_size / 2**20
    print(
        f"{target}: {size:.1f} MB, {files} files, {unpacked / 2**20:.1f} MB unpacked, in "
        f"{time.perf_counter() - began:.0f} s"
    )
    if size > LIMIT_MB:
        print(f"that is more than {LIMIT_MB} MB")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

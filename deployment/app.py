"""The app's own files: everything but what `.funcignore` names. azd leaves the same behind,
and so does what is tested here.
"""

from __future__ import annotations

import shutil
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[1]


def publish(folder: Path) -> Path:
    """Copy to `folder`, which must not be there yet, what publishing the app would upload;
    and return it.
    """
    lines = (ROOT / ".funcignore").read_text(encoding="utf-8").splitlines()
    patterns = [
        line.strip().rstrip("/") for line in lines if line.strip() and not line.startswith("#")
    ]

    def left_behind(inside: str, names: list[str]) -> set[str]:
        paths = {name: (Path(inside) / name).relative_to(ROOT).as_posix() for name in names}
        return {
            name
            for name in names
            for pattern in patterns
            if fnmatch(name, pattern) or fnmatch(paths[name], pattern)
        }

    return shutil.copytree(ROOT, folder, ignore=left_behind)

"""Names of blobs in the archive: which there may be, and what may be asked for as the beginning of one.

Note: a part may not end with a dot. `.` and `..` would lead out of a folder, and an address may lose the dot of `a.`
on its way to a service.
"""

from __future__ import annotations

import re

MAX_NAME, MAX_PART = 500, 100
"""Characters. A service allows 1,024 and 254; a file name 255 bytes, and a part may need two for each character."""

_NAME = re.compile(r"\A(?:[A-Za-z0-9._-]*[A-Za-z0-9_-])(?:/[A-Za-z0-9._-]*[A-Za-z0-9_-])*")
_PREFIX = re.compile(r"\A(?:[A-Za-z0-9._-]*[A-Za-z0-9_-]/)*[A-Za-z0-9._-]*")


def check_blob_name(name: str) -> str:
    """The name itself; ValueError for one that not every archive could keep."""
    if len(name) > MAX_NAME or _NAME.fullmatch(name) is None or max(map(len, name.split("/"))) > MAX_PART:
        raise ValueError(
            f"{name!r} is no name of a blob: at most {MAX_NAME} characters, parts of 1-{MAX_PART} letters, digits or ._- joined by /,"
            " none ending with a dot"
        )
    return name


def check_blob_prefix(prefix: str) -> str:
    """The prefix itself, which may end anywhere in a name and may be empty; ValueError when no name can begin so."""
    if len(prefix) > MAX_NAME or _PREFIX.fullmatch(prefix) is None:
        raise ValueError(f"no name of a blob begins with {prefix!r}")
    return prefix

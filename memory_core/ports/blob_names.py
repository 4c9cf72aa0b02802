"""Valid names of blobs in the archive, and valid prefixes of names.

Note: a part may not end with a dot. `.` and `..` would lead out of a folder, and a service may drop
the dot of `a.` in an address.
"""

from __future__ import annotations

import re

MAX_NAME, MAX_PART = 500, 100
"""Characters of a blob's name, and of each part of it.

A service allows 1,024 characters and 254 parts. A file name may have 255 bytes, and a part may need
two bytes for each character.
"""

_NAME = re.compile(r"\A(?:[A-Za-z0-9._-]*[A-Za-z0-9_-])(?:/[A-Za-z0-9._-]*[A-Za-z0-9_-])*")
_PREFIX = re.compile(r"\A(?:[A-Za-z0-9._-]*[A-Za-z0-9_-]/)*[A-Za-z0-9._-]*")


def check_blob_name(name: str) -> str:
    """Return the name of a blob if every archive can keep it; otherwise raise ValueError."""
    if (
        len(name) > MAX_NAME
        or _NAME.fullmatch(name) is None
        or max(map(len, name.split("/"))) > MAX_PART
    ):
        raise ValueError(
            f"{name!r} is no name of a blob: at most {MAX_NAME} characters, parts of 1-{MAX_PART} "
            "letters, digits or ._- joined by /, none ending with a dot"
        )
    return name


def check_blob_prefix(prefix: str) -> str:
    """Return the prefix of a blob's name if a name can begin with it.

    A prefix may end anywhere in a name and may be empty. Raises ValueError when no name can begin
    so.
    """
    if len(prefix) > MAX_NAME or _PREFIX.fullmatch(prefix) is None:
        raise ValueError(f"no name of a blob begins with {prefix!r}")
    return prefix

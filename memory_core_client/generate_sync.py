"""Make `sync_client.py` of `async_client.py`: the same calls without `async` and `await`.

`python memory_core_client/generate_sync.py` writes the file; a test fails where it is not
what this makes.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent / "src" / "memory_core_client"
_CHANGES: tuple[tuple[str, str], ...] = (
    (
        r'\A"""The async client\..*?"""',
        '"""The sync client. Made of `async_client.py` by `generate_sync.py`; change that one."""',
    ),
    (r"await asyncio\.sleep\(", "time.sleep("),
    (r"import asyncio\n", ""),
    (r"AsyncIterator", "Iterator"),
    (r"httpx\.AsyncClient", "httpx.Client"),
    (r"AsyncMemoryCore", "MemoryCore"),
    (r"AsyncUser", "User"),
    (r"`async with`", "`with`"),
    (r"\baclose\b", "close"),
    (r"__aenter__", "__enter__"),
    (r"__aexit__", "__exit__"),
    (r"\basync (def|for|with)\b", r"\1"),
    (r"\bawait ", ""),
)


def sync_text(text: str) -> str:
    """The sync client, of the text of the async one."""
    for pattern, replacement in _CHANGES:
        text = re.sub(pattern, replacement, text, flags=re.DOTALL)
    return text


def formatted(text: str) -> str:
    """The text as `ruff format` leaves it."""
    command = [
        sys.executable,
        "-m",
        "ruff",
        "format",
        "--stdin-filename",
        str(FOLDER / "sync_client.py"),
        "-",
    ]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout  # noqa: S603 - our own command


if __name__ == "__main__":
    (FOLDER / "sync_client.py").write_text(
        formatted(sync_text((FOLDER / "async_client.py").read_text()))
    )

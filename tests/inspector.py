"""The inspector of the Model Context Protocol, by its command line; installed from npm at its first
use, as Azurite is.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from tests.host import ROOT
from tests.npm import NODE, npm

INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
LIMIT_S = 120
"""Its own limit for a connection is 15 s, which a program on a busy machine can take to start."""
CACHE = ROOT / ".cache"
_FOLDER = CACHE / "mcp-inspector@2.12.0"
_PROGRAM = Path("node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js")


def inspect(*arguments: str) -> dict[str, Any]:
    """What `inspector --cli` prints. Raises RuntimeError where it fails or can't be installed."""
    with tempfile.TemporaryDirectory() as home:  # it keeps a catalog there
        command = [
            str(NODE),
            str(_installed()),
            "--cli",
            "--connect-timeout",
            str(LIMIT_S * 1000),
            *arguments,
        ]
        done = subprocess.run(
            command,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            env={**os.environ, "HOME": home},
        )
    if done.returncode != 0:
        raise RuntimeError(
            f"the inspector ended with {done.returncode}:\n{done.stdout}{done.stderr}"
        )
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


def _installed() -> Path:
    CACHE.mkdir(exist_ok=True)
    with (CACHE / "mcp-inspector.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _FOLDER.exists():
            unfinished = _FOLDER.with_suffix(".unfinished")
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir()
            options = [
                "--no-audit",
                "--no-fund",
                "--ignore-scripts",
                "--omit=dev",
                "--loglevel=error",
                "--prefix",
                str(unfinished),
            ]
            npm("install", *options, INSPECTOR, where=unfinished)
            unfinished.rename(_FOLDER)
    return _FOLDER / _PROGRAM

"""The TypeScript client: its types are those of the API today, it compiles, and it works
against a host.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import httpx
import pytest

from tests.azurite_server import CACHE
from tests.npm import NODE, npm

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "clients" / "typescript"
LOCKED = ("package.json", "package-lock.json")


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the client, compiled, with the packages of its lock file."""
    packages = _packages()
    folder = tmp_path_factory.mktemp("typescript") / "clients" / "typescript"
    shutil.copytree(CLIENT, folder, ignore=shutil.ignore_patterns("node_modules", "dist"))
    (folder / "node_modules").symlink_to(packages / "node_modules")
    _run(folder, "typescript/bin/tsc")
    return folder


def _packages() -> Path:
    """The locked packages, installed once for each lock file; of two processes that want them,
    one installs and the other waits.
    """
    digest = hashlib.sha256(b"".join((CLIENT / name).read_bytes() for name in LOCKED)).hexdigest()[
        :16
    ]
    folder = CACHE / f"typescript-{digest}"
    CACHE.mkdir(exist_ok=True)
    with (CACHE / "typescript.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            unfinished = folder.with_suffix(".unfinished")
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir()
            for name in LOCKED:
                shutil.copy(CLIENT / name, unfinished)
            npm(
                "ci",
                "--no-audit",
                "--no-fund",
                "--ignore-scripts",
                "--loglevel=error",
                where=unfinished,
            )
            unfinished.rename(folder)
    return folder


def _run(folder: Path, program: str, *arguments: str) -> None:
    done = subprocess.run(
        [NODE, folder / "node_modules" / program, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_types_are_those_of_the_api(built: Path) -> None:
    _run(
        built,
        "openapi-typescript/bin/cli.js",
        str(ROOT / "docs" / "openapi.json"),
        "-o",
        "generated.d.ts",
    )
    assert (built / "generated.d.ts").read_text() == (CLIENT / "src" / "schema.d.ts").read_text(), (
        "`npm run generate` in clients/typescript"
    )


def test_it_works_against_a_host(built: Path, host: httpx.Client) -> None:
    tests = sorted(str(file) for file in (built / "test").glob("*.test.mjs"))
    settings = {**os.environ, "MEMORY_URL": str(host.base_url)}
    done = subprocess.run(
        [NODE, "--test", "--test-reporter=tap", *tests],
        cwd=built,
        env=settings,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("\nok ") >= 5, done.stdout

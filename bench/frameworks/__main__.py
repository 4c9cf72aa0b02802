"""`python -m bench.frameworks`: how many tests of the frameworks' own suites pass on the adapters,
and which fail.

The suites come from the source distributions of the versions that are installed; they, and what
only they need, go to `.cache/frameworks`.
"""

from __future__ import annotations

import argparse
import os
import re
import socket
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from bench.frameworks import DIMENSIONS, EMBEDDER_PORT, HOST_URL
from bench.host import ROOT, Host

CACHE = ROOT / ".cache" / "frameworks"
SQLITE_STORE = "langgraph-checkpoint-sqlite==3.1.2"
NEEDED = (SQLITE_STORE, "aiosqlite==0.22.1", "sqlite-vec==0.1.9", "pytest-mock==3.17.0")
"""What the suites import and the project does not."""
LIMIT_S = 900
_COUNT = re.compile(r"(\d+) (passed|failed|error)")
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Suite:
    """Tests of a source distribution. files: below its folder. settings: of the host
    that it runs on.
    """

    distribution: str
    plugin: str
    files: Sequence[str]
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a suite."""

    passed: int
    failed: Sequence[str]


def suites(embedder_port: int) -> list[Suite]:
    """All of them; LangGraph's host embeds with the suites' own embedder, and remembers no
    vector of it.
    """
    embedder = {
        "EMBEDDING_PROVIDER": "openai",
        "EMBEDDING_BASE_URL": f"http://127.0.0.1:{embedder_port}/v1",
        "EMBEDDING_API_KEY": "none",
        "EMBEDDING_DIMENSIONS": str(DIMENSIONS),
        "MEMORY_SHORT_TERM": "none",
        "MEMORY_VECTOR_CACHE_ENTRIES": "0",
        "MEMORY_VECTOR_CACHE_TTL_S": "0.001",
    }
    installed = {
        name: f"{name}=={version(name)}" for name in ("langgraph-checkpoint", "openai-agents")
    }
    sessions = ("tests/memory/test_session.py", "tests/memory/test_session_limit.py")
    return [
        Suite(
            installed["langgraph-checkpoint"], "langgraph_suite", ("tests/test_store.py",), embedder
        ),
        Suite(SQLITE_STORE, "langgraph_suite", ("tests/test_store.py",), embedder),
        Suite(installed["openai-agents"], "agents_suite", sessions),
    ]


def fetched(distribution: str) -> Path:
    """The unpacked source distribution."""
    name, number = distribution.replace("-", "_").split("==")
    folder = CACHE / f"{name}-{number}"
    if not folder.exists():
        _pip("download", "--no-deps", "--no-binary", ":all:", "--dest", str(CACHE), distribution)
        with tarfile.open(CACHE / f"{name}-{number}.tar.gz") as archive:
            archive.extractall(CACHE, filter="data")
    return folder


def needed() -> Path:
    """The folder of the packages that only the suites need."""
    folder = CACHE / "packages"
    if not folder.exists():
        _pip("install", "--no-deps", "--target", str(folder), *NEEDED)
    return folder


def _pip(*arguments: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments],
        check=True,
    )


def outcome_of(suite: Suite, embedder_port: int) -> Outcome:
    """Run a suite on a host of its own."""
    folder, packages = fetched(suite.distribution), needed()
    with tempfile.TemporaryDirectory() as data:
        host = Host(Path(data), settings=suite.settings)
        try:
            paths = [str(packages), str(ROOT / "memory_core_client" / "src"), str(ROOT)]
            environment = {
                **os.environ,
                "PYTHONPATH": os.pathsep.join(paths),
                HOST_URL: f"http://127.0.0.1:{host.port}",
                EMBEDDER_PORT: str(embedder_port),
            }
            plugins = ["-p", "no:cacheprovider", "-p", f"bench.frameworks.{suite.plugin}"]
            options = [
                "-o",
                "addopts=",
                "-o",
                "asyncio_mode=auto",
                "-o",
                "asyncio_default_fixture_loop_scope=function",
            ]
            command = [
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "--tb=no",
                "-rfE",
                *plugins,
                *options,
                *suite.files,
            ]
            done = subprocess.run(
                command,
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=LIMIT_S,
            )
        finally:
            host.stop()
    return read_outcome(done.stdout + done.stderr)


def read_outcome(printed: str) -> Outcome:
    """What pytest's summary says. Raises RuntimeError where there is none."""
    counts = {
        kind: int(number) for number, kind in _COUNT.findall(printed.strip().rpartition("\n")[2])
    }
    if not counts:
        raise RuntimeError(f"the suite did not run: {printed[-2000:]}")
    return Outcome(
        counts.get("passed", 0), [name.rpartition("::")[2] for name in _FAILED.findall(printed)]
    )


def outcomes(name: str = "") -> Iterator[tuple[str, Outcome]]:
    """What comes of each suite whose distribution begins with a name, one after the other."""
    CACHE.mkdir(parents=True, exist_ok=True)
    port = _free_port()
    for suite in suites(port):
        if suite.distribution.startswith(name):
            yield suite.distribution, outcome_of(suite, port)


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port


def main() -> None:
    """Run all suites, or those whose distribution begins with a name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "name", nargs="?", default="", help="only of distributions whose name begins so"
    )
    for distribution, outcome in outcomes(parser.parse_args().name):
        print(
            f"{distribution}: {outcome.passed} of {outcome.passed + len(outcome.failed)} pass",
            flush=True,
        )
        for failed in outcome.failed:
            print(f"  not: {failed}", flush=True)


if __name__ == "__main__":
    main()

"""What all tests run on: temporary folders in memory, the long files first, and a garbage collector
that looks less often. In the end they say which files took longest.
"""

from __future__ import annotations

import gc
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import browser
from tests.browser import Browser
from tests.profiles import azure_host, azure_stores, embedded_host, host, profile

__all__ = ["azure_host", "azure_stores", "embedded_host", "host", "profile"]

IN_MEMORY = Path("/dev/shm")  # Linux's file system in memory
ENOUGH_BYTES = 4 * 2**30
"""Free there; the folders of all tests together take a fraction of it."""
SLOWEST_FILES = 10
"""So many are named when tests of more files have run."""
LONG_FILES = frozenset(
    {
        "test_azure_profile.py",
        "test_conflicts_model.py",
        "test_dependencies_stopped.py",
        "test_export_import.py",
        "test_expressions_are_linear.py",
        "test_forming_injections.py",
        "test_framework_suites.py",
        "test_http_conversations.py",
        "test_life_changes.py",
        "test_live_suite.py",
        "test_lives_by_moments.py",
        "test_long_texts.py",
        "test_mcp_stdio.py",
        "test_odd_conversations.py",
        "test_official_runtime.py",
        "test_replay_model.py",
        "test_scans.py",
        "test_snapshots.py",
        "test_workers.py",
        "test_year.py",
    }
)
"""Each takes half a minute or more, most of them with few tests. Begun last, one of them would run
alone beside idle processors.
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the long files begin first; what is short comes last, so that all workers
    end together.
    """
    items.sort(key=lambda item: item.path.name not in LONG_FILES)


def pytest_configure() -> None:
    """Let `tmp_path` lie in memory, where there is room: thousands of small databases are made,
    and each would wait for a disk.

    No test cuts the power: a killed process leaves the same files in memory as on a disk.
    """
    if (
        sys.platform == "linux"
        and os.access(IN_MEMORY, os.W_OK)
        and shutil.disk_usage(IN_MEMORY).free >= ENOUGH_BYTES
    ):
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(IN_MEMORY))
    # What the first of many hosts and tools has compiled, the others read: checkov alone compiles
    # for six seconds.
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # and so do the programs of Node: Azurite then starts in three quarters of the processor time
    os.environ.setdefault("NODE_COMPILE_CACHE", str(Path(__file__).parents[1] / ".cache" / "node"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Look for no garbage while tests are collected; there is none to speak of."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Look for garbage less often, and never among what was imported and collected,
    as the development host does.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


_took_s: Counter[str] = Counter()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up what each file takes, with what its tests make ready and take down."""
    _took_s[report.nodeid.partition("::")[0]] += report.duration


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which files took longest, so that growth is seen."""
    if len(_took_s) > SLOWEST_FILES:
        terminalreporter.section("slowest files")
        for file, seconds in _took_s.most_common(SLOWEST_FILES):
            terminalreporter.write_line(f"{seconds:6.1f} s  {file}")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser for the tests of a module."""
    program, reason = browser.found()
    if program is None:
        pytest.skip(reason)
    with browser.running(program) as started:
        yield started

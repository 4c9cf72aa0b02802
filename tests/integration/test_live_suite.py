"""The tests against a live account, run with emulators as the account: what they leave behind,
and when they refuse to begin.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from azure.cosmos import CosmosClient
from azure.storage.queue import QueueServiceClient

from tests import azurite_server
from tests.cosmos_server import KEY, CosmosServer, running
from tests.live.account import Live, Refused, own_database, own_queues

ROOT = Path(__file__).parents[2]
SOME = "read_back or what_was_sent or products_queues or finds_what_a_scan or request_units"
"""Some tests of each contract; the whole takes a minute."""


@pytest.fixture(scope="module")
def cosmos() -> Iterator[CosmosServer]:
    with running() as started:
        yield started


@pytest.fixture
def storage(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A connection string of an account that is not known to be an emulator's,
    so that nothing is made by itself.
    """
    monkeypatch.setenv("AZURITE_ACCOUNTS", f"live:{azurite_server.KEY}")
    with azurite_server.running() as started:
        yield started.connection_string.replace(azurite_server.ACCOUNT, "live")


def ran(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """A run of pytest in an environment that names no account but the given one."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MEMORY_")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env={**clean, **environ}, capture_output=True, text=True, timeout=240
    )


def account_of(cosmos: CosmosServer, **more: str) -> Live:
    return Live.of(
        {"MEMORY_LIVE_COSMOS_ENDPOINT": cosmos.endpoint, "MEMORY_LIVE_COSMOS_KEY": KEY, **more}
    )


def databases(cosmos: CosmosServer) -> set[str]:
    with CosmosClient(cosmos.endpoint, KEY) as client:
        return {database["id"] for database in client.list_databases()}


def test_a_run_passes_measures_and_leaves_the_account_as_it_was(
    cosmos: CosmosServer, storage: str, tmp_path: Path
) -> None:
    with CosmosClient(cosmos.endpoint, KEY) as client:
        client.create_database_if_not_exists("mine")
    before = databases(cosmos)
    report = tmp_path / "kept" / "units.json"
    done = ran(
        "-m", "live", "-k", SOME, "tests/live", MEMORY_LIVE_COSMOS_ENDPOINT=cosmos.endpoint,
        MEMORY_LIVE_COSMOS_KEY=KEY, MEMORY_LIVE_STORAGE_CONNECTION=storage,
        MEMORY_LIVE_SIZES="5,20", MEMORY_LIVE_REPORT=str(report),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert " skipped" not in done.stdout
    assert KEY not in done.stdout + done.stderr
    rows = json.loads(report.read_text())
    assert {(row["vectors"], row["operation"]) for row in rows} == {
        (size, operation)
        for size in (5, 20)
        for operation in (
            "load, a memory",
            "save a turn",
            "save a fact",
            "retrieve 10",
            "list 20",
            "get",
        )
    }
    assert all(row["mean"] > 1 for row in rows)
    assert "retrieve 10" in done.stdout
    assert databases(cosmos) == before >= {"mine"}
    with QueueServiceClient.from_connection_string(storage) as service:
        assert [*service.list_queues()] == []


def test_without_an_account_it_fails_and_says_what_is_missing() -> None:
    done = ran("-m", "live", "tests/live")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "MEMORY_LIVE_COSMOS_ENDPOINT is not set" in done.stderr


@pytest.mark.parametrize("asked", [(), ("-m", "not long")])
def test_other_runs_leave_these_tests_out_even_where_an_account_is_named(
    asked: tuple[str, ...],
) -> None:
    done = ran(
        "--collect-only",
        *asked,
        "tests/live",
        MEMORY_LIVE_COSMOS_ENDPOINT="https://account.example",
    )
    assert done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED
    assert "deselected" in done.stdout


def test_a_database_that_is_there_is_not_touched(cosmos: CosmosServer) -> None:
    live = account_of(cosmos)
    with own_database(live, "theirs"):
        with pytest.raises(Refused, match="theirs is there already"), own_database(live, "theirs"):
            pytest.fail("it was opened")
        assert "theirs" in databases(cosmos)


def test_a_run_that_fails_drops_its_database(cosmos: CosmosServer) -> None:
    before = databases(cosmos)
    with pytest.raises(ZeroDivisionError), own_database(account_of(cosmos)):
        1 / (len(databases(cosmos) - before) - 1)
    assert databases(cosmos) == before


def test_an_account_that_has_the_products_queues_is_refused(
    cosmos: CosmosServer, storage: str
) -> None:
    with QueueServiceClient.from_connection_string(storage) as service:
        service.create_queue("formation")
        refused = pytest.raises(Refused, match="has the queues formation")
        with refused, own_queues(account_of(cosmos, MEMORY_LIVE_STORAGE_CONNECTION=storage)):
            pytest.fail("they were opened")
        assert [queue.name for queue in service.list_queues()] == ["formation"]


def test_a_size_that_is_no_number_is_named(cosmos: CosmosServer) -> None:
    with pytest.raises(Refused, match="MEMORY_LIVE_SIZES=many"):
        account_of(cosmos, MEMORY_LIVE_SIZES="many")


def test_what_may_not_make_a_database_is_told_what_can(cosmos: CosmosServer) -> None:
    cosmos.fault("status", status=403, operations=["database"], times=1)
    try:
        with pytest.raises(Refused, match="give a key"), own_database(account_of(cosmos)):
            pytest.fail("it was opened")
    finally:
        cosmos.heal()

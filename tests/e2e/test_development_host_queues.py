"""Queue functions in the development host as a process: killed, stopped and started again,
on both queues.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.azurite_server import running
from tests.host import ROOT, Host

APP = ROOT / "tests" / "queue_app"


@pytest.fixture(params=["embedded", "storage"])
def queue(request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    """The settings of a queue."""
    if request.param == "embedded":
        yield {}
        return
    with running() as azurite:
        yield {"MEMORY_QUEUE": "storage", "MEMORY_QUEUE_CONNECTION": azurite.connection_string}


def started(folder: Path, settings: dict[str, str]) -> Host:
    given = {
        "CALLS": str(folder),
        "POISON_QUEUE": "formation-poison",
        "MEMORY_QUEUE_VISIBILITY_S": "1",
        "PYTHONPATH": str(ROOT),
    }
    return Host(folder, app=APP, **given | settings)


def send(host: Host, body: str) -> None:
    assert httpx.post(f"{host.url}/send/{body}", timeout=30).status_code == 202


def calls(folder: Path) -> list[str]:
    written = folder / "calls.txt"
    return written.read_text(encoding="utf-8").splitlines() if written.exists() else []


def until(folder: Path, line: str) -> None:
    deadline = time.monotonic() + 30
    while line not in calls(folder):
        assert time.monotonic() < deadline, calls(folder)
        time.sleep(0.02)


def test_what_a_killed_host_worked_on_is_delivered_again(
    tmp_path: Path, queue: dict[str, str]
) -> None:
    host = started(tmp_path, queue)
    try:
        send(host, "wait")
        until(tmp_path, "wait 1")
    finally:
        host.stop(signal.SIGKILL)
    (tmp_path / "go").touch()
    host = started(tmp_path, queue)
    try:
        until(tmp_path, "wait done")
        send(host, "last")
        until(tmp_path, "last done")
    finally:
        assert host.stop() == 0
    assert calls(tmp_path)[:3] == ["wait 1", "wait 2", "wait done"]


def test_a_stop_waits_for_what_runs(tmp_path: Path, queue: dict[str, str]) -> None:
    host = started(tmp_path, queue)
    try:
        send(host, "wait")
        until(tmp_path, "wait 1")
        host.process.send_signal(signal.SIGTERM)
        (tmp_path / "go").touch()
        assert host.process.wait(30) == 0
    finally:
        host.stop(signal.SIGKILL)
    assert calls(tmp_path) == ["wait 1", "wait done"]
    assert "Traceback" not in host.terminal


def test_what_always_fails_ends_in_the_poison_queues_function(tmp_path: Path) -> None:
    host = started(tmp_path, {"AzureFunctionsJobHost__extensions__queues__maxDequeueCount": "3"})
    try:
        send(host, "fail")
        until(tmp_path, "fail poisoned")
        ready = httpx.get(f"{host.url}/health/ready").json()
    finally:
        assert host.stop() == 0
    assert calls(tmp_path) == ["fail 1", "fail 2", "fail 3", "fail poisoned"]
    assert "Described: RuntimeError" in host.terminal
    assert ready["dependencies"]["queue"]["status"] == "ok"
    assert ready["dependencies"]["queue"]["facts"].keys() == {
        "formation-poison",
        "consolidation-poison",
        "webhooks-poison",
    }


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"POISON_QUEUE": "Not_A_Name"}, "give_up: 'Not_A_Name'"),
        ({"AzureFunctionsJobHost__extensions__queues__batchSize": "64"}, "batchSize"),
        ({"AzureFunctionsJobHost__extensions__queues__messageEncoding": "none"}, "messageEncoding"),
    ],
)
def test_queue_triggers_that_can_not_be_served_stop_the_start(
    tmp_path: Path, settings: dict[str, str], says: str
) -> None:
    host = started(tmp_path, settings)
    assert host.process.wait(30) == 2
    assert says in host.terminal.splitlines()[-1]
    assert "Traceback" not in host.terminal

"""The development host as a process of a test's own, and clients for it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any, TypeVar

import httpx

from tests import fork_server

ROOT = Path(__file__).parents[1]
START_S = 60
RECOVERED_S = 30
TASK_S = 90
DIMENSIONS = 384
"""Of the vectors of these hosts' embedder."""
Answer = TypeVar("Answer")
_ADDRESS = re.compile(r"address +(http://\S+)")


class Host:
    """One `python -m memory_core.localhost`, with its data in `folder` and its terminal in
    `folder/terminal.txt`.

    ready: false for one that is expected to answer without being able to work. app: the folder of
    the `function_app.py` that it serves. forked: false for one that imports by itself what it
    needs, as it does for a user; each costs two seconds of a processor.
    """

    def __init__(
        self,
        folder: Path,
        *arguments: str,
        ready: bool = True,
        app: Path = ROOT,
        forked: bool = True,
        **settings: str,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.ready = folder, ready
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("MEMORY_", "EMBEDDING_", "LLM_"))
        }
        program = [
            "memory_core.localhost",
            "--port",
            "0",
            "--data",
            str(folder / "data"),
            *arguments,
        ]
        environment = {**inherited, "EMBEDDING_PROVIDER": "hash", **settings}
        start = fork_server.start if forked else fork_server.start_afresh
        with (folder / "terminal.txt").open("wb") as terminal:
            self.process = start(
                program, cwd=app, env=environment, stdout=terminal, stderr=subprocess.STDOUT
            )

    @property
    def terminal(self) -> str:
        """What it has said so far."""
        return (self.folder / "terminal.txt").read_text()

    @property
    def url(self) -> str:
        """Its address, once it is ready."""
        answer_when(
            lambda: self.terminal,
            lambda text: _ADDRESS.search(text) is not None or self.process.poll() is not None,
            START_S,
        )
        match = _ADDRESS.search(self.terminal)
        assert match is not None, f"the host did not start:\n{self.terminal}"
        path = "/health/ready" if self.ready else "/health"
        answer_when(
            lambda: _status(f"{match[1]}{path}"), lambda status: status == HTTPStatus.OK, START_S
        )
        return match[1]

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to stop; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait(30)


def until(seen: Callable[[], Any], wanted: Any) -> None:
    """Ask again until the answer is the one that is wanted."""
    answer_when(seen, lambda last: last == wanted)


def answer_when(
    ask: Callable[[], Answer], is_wanted: Callable[[Answer], bool], limit_s: float = RECOVERED_S
) -> Answer:
    """Ask again until an answer is wanted; that answer. Fails with the last one after so
    many seconds.

    The pauses grow to a tenth of a second: who asks takes time from who is asked.
    """
    deadline, pause = time.monotonic() + limit_s, 0.01
    while not is_wanted(last := ask()):
        assert time.monotonic() < deadline, last
        time.sleep(pause)
        pause = min(0.1, pause * 1.5)
    return last


def ended_task(client: httpx.Client, location: str, limit_s: float = TASK_S) -> dict[str, Any]:
    """The task at a location, once it has ended."""
    return answer_when(
        lambda: task_at(client, location),
        lambda task: task["status"] not in ("accepted", "running"),
        limit_s,
    )


def task_at(client: httpx.Client, location: str) -> dict[str, Any]:
    """The task at a location."""
    response = client.get(location)
    assert response.status_code == 200, response.text
    task: dict[str, Any] = response.json()
    return task


@contextmanager
def running(
    folder: Path, *arguments: str, ready: bool = True, **settings: str
) -> Iterator[httpx.Client]:
    """A client of a host that runs for as long as the block does."""
    host = Host(folder, *arguments, ready=ready, **settings)
    try:
        with httpx.Client(base_url=host.url, timeout=30, verify=False) as client:
            yield client
    finally:
        host.stop(signal.SIGKILL)


def save(client: httpx.Client, user_id: str, content: str, **fields: Any) -> dict[str, Any]:
    """The memory that a save answers with, every field of it."""
    response = client.post(
        "/api/v1/memories/save",
        json={"user_id": user_id, "content": content, "view": "full", **fields},
    )
    assert response.status_code in (200, 201), response.text
    memory: dict[str, Any] = response.json()["memory"]
    return memory


def memories(client: httpx.Client, user_id: str, **query: str) -> list[dict[str, Any]]:
    """Everything that a user has, every field, deleted memories too, unless the query
    says otherwise.
    """
    response = client.get(
        "/api/v1/memories",
        params={"user_id": user_id, "status": "all", "limit": "100", "view": "full", **query},
    )
    assert response.status_code == 200, response.text
    page: list[dict[str, Any]] = response.json()["memories"]
    return page


def problem(response: httpx.Response, status: int, field: str | None = None) -> dict[str, Any]:
    """The problem in a response, checked to be one of this status that names this field."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    record: dict[str, Any] = response.json()
    assert record.keys() - {"did_you_mean"} == {
        "type",
        "title",
        "status",
        "detail",
        "instance",
        "correlation_id",
        "errors",
    }
    assert record["status"] == status
    assert record["correlation_id"] == response.headers["x-correlation-id"]
    assert "Traceback" not in response.text
    if status in (429, 503):
        assert int(response.headers["retry-after"]) > 0
    if field is not None:
        assert field in [error["field"] for error in record["errors"]], record
    return record


def _status(url: str) -> int | None:
    """The status of an answer; None where there is none yet."""
    try:
        return httpx.get(url, verify=False).status_code
    except httpx.TransportError:
        return None

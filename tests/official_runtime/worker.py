"""A worker process of a test's own: one app in the official runtime, and invocations as the
Functions host would send them.

Routing is the host's business and is not in Microsoft's library: an HTTP function is called here by
its name, and the parameters of its route are read from the path by the development host's rules.
"""

from __future__ import annotations

import base64
import json
import os
import select
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import httpx

from memory_core.localhost.routing import Route, Router
from tests.official_runtime.environment import interpreter

DRIVER = Path(__file__).with_name("driver.py")
ANSWER_S = 60
_NOT_INHERITED = ("MEMORY_", "EMBEDDING_", "LLM_", "PYTHON")


@dataclass(frozen=True, slots=True)
class Invocation:
    """How an invocation ended: whether the host would count it as done, what the function returned,
    and what it raised.
    """

    ok: bool
    returned: dict[str, Any] | None
    error: str


class Worker:
    """One process with one app. Raises AssertionError when the library refuses to index the app,
    with its reasons.
    """

    def __init__(self, app: Path, folder: Path, **settings: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._terminal = folder / "worker.txt"
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(_NOT_INHERITED)
        }
        with self._terminal.open("ab") as terminal:
            self._process = subprocess.Popen(
                # -I: nothing of the surrounding environment on the path
                [str(interpreter()), "-I", str(DRIVER), str(app)],
                cwd=app, env={**environment, "FUNCTIONS_WORKER_RUNTIME": "python", **settings},
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=terminal,
            )  # fmt: skip
        indexed = self._ask({"ask": "index"})
        if indexed["failure"] is not None:
            self.stop()
            raise AssertionError(f"the official runtime can't index {app}:\n{indexed['failure']}")
        self.functions: dict[str, dict[str, Any]] = indexed["functions"]
        """Name → {"id", "script", "bindings": the raw bindings that the host gets, "retry":
        policy or None}.
        """

    @property
    def terminal(self) -> str:
        """What the library and the app have logged so far."""
        return self._terminal.read_text()

    def answer(self, name: str, request: httpx.Request) -> httpx.Response:
        """What the function `name` answers to a request. A failed invocation is the 500 without a
        body that the host makes of it.
        """
        body = request.read()
        http = {
            "method": request.method,
            "url": str(request.url),
            "headers": {key.lower(): text for key, text in request.headers.items()},
            "params": self._parameters(name, request),
            # Of a name that comes twice the host makes one text with commas; empty values
            # it leaves out.
            "query": _joined(parse_qsl(request.url.query.decode("ascii"))),
            "body": base64.b64encode(body).decode("ascii"),
        }
        done = self.invoke(name, {"http": http})
        if not done.ok:
            return httpx.Response(500)
        assert done.returned is not None
        answer = done.returned["http"]
        return httpx.Response(
            int(answer["status"]),
            headers=answer["headers"],
            content=base64.b64decode(answer["body"]),
        )

    def deliver(self, name: str, text: str, *, dequeue_count: int = 1) -> Invocation:
        """Hand a message, as it reads after the host has undone base64, to a queue function."""
        # The host sends whatever is neither a text nor a double as JSON.
        beside = {
            "DequeueCount": dequeue_count,
            "InsertionTime": "2026-05-08T13:56:00+00:00",
            "NextVisibleTime": "2026-05-08T13:56:31+00:00",
            "ExpirationTime": "2026-05-15T13:56:00+00:00",
        }
        texts = {
            "QueueTrigger": text,
            "Id": "b6a1cbe2-66f3-4a38-9d4e-6f4f2c1e9a10",
            "PopReceipt": "AgAAAAMAAAAAAAAA",
        }
        metadata = {field: {"json": json.dumps(value)} for field, value in beside.items()}
        metadata |= {field: {"string": value} for field, value in texts.items()}
        return self.invoke(name, {"string": text}, metadata)

    def tick(self, name: str, *, past_due: bool = False) -> Invocation:
        """Fire a timer function."""
        status = {
            "Last": "2026-05-08T13:00:00+00:00",
            "Next": "2026-05-08T14:00:00+00:00",
            "LastUpdated": "2026-05-08T13:00:00+00:00",
        }
        return self.invoke(
            name,
            {
                "json": json.dumps(
                    {
                        "Schedule": {"AdjustForDST": True},
                        "ScheduleStatus": status,
                        "IsPastDue": past_due,
                    }
                )
            },
        )

    def invoke(
        self, name: str, data: Mapping[str, Any], metadata: Mapping[str, Any] | None = None
    ) -> Invocation:
        """Invoke `name` with `data` for its trigger."""
        function = self.functions[name]
        inputs = {_trigger(function)["name"]: data}
        done = self._ask(
            {"ask": "invoke", "id": function["id"], "inputs": inputs, "metadata": metadata or {}}
        )
        return Invocation(done["ok"], done["returned"], done["error"] or "")

    def stop(self) -> None:
        """End it as the host does: at once."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()

    def _parameters(self, name: str, request: httpx.Request) -> dict[str, str]:
        route = Route.parse(
            name, request.method, _trigger(self.functions[name])["route"], call=print
        )
        match = Router([route]).match(request.method, request.url.raw_path.partition(b"?")[0])
        assert match is not None, f"{request.method} {request.url.path} is not a path of {name}"
        return match.parameters

    def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps(question).encode() + b"\n")
        stdin.flush()
        readable, _, _ = select.select([stdout], [], [], ANSWER_S)
        line = stdout.readline() if readable else b""
        if not line:
            self.stop()
            raise AssertionError(f"the official runtime's process gave no answer:\n{self.terminal}")
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextmanager
def working(app: Path, folder: Path, **settings: str) -> Iterator[Worker]:
    """A worker for as long as the block runs; its log is `folder/worker.txt`."""
    worker = Worker(app, folder, **settings)
    try:
        yield worker
    finally:
        worker.stop()


def _trigger(function: Mapping[str, Any]) -> dict[str, Any]:
    (trigger_binding,) = [
        binding for binding in function["bindings"] if binding["type"].endswith("Trigger")
    ]
    trigger: dict[str, Any] = trigger_binding
    return trigger


def _joined(pairs: list[tuple[str, str]]) -> dict[str, str]:
    places: dict[str, str] = {}
    for name, value in pairs:
        places[name] = f"{places[name]},{value}" if name in places else value
    return places

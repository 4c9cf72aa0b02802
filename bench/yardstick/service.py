"""The host that is measured, as a client sees it."""

from __future__ import annotations

import asyncio
import http.client
import json
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.host import ROOT, Host
from bench.locomo_data import Conversation, Turn

DIMENSIONS = 384
"""Of the local embedder's vectors."""
ANSWER_S = 300
IDLE_S = 2
"""After which a new connection is made: the host ends one that was idle for five seconds."""
BULK, BULK_BYTES = 100, 400_000
"""Most memories, and most bytes of them, in a bulk save."""
FIRST_LOOK_S, LAST_LOOK_S, TASK_S = 0.005, 0.2, 900
"""Between looks at a task, doubled with each; and how long a task may take."""
ENDED = frozenset({"succeeded", "failed", "poisoned", "cancelled"})
TURN = "turn"
"""The metadata that names the turn of a saved memory."""


@dataclass(slots=True)
class Service:
    """One connection to a running host, kept alive. seconds: what the last call took. tasks:
    how many ended in which way.
    """

    port: int
    seconds: float = 0.0
    tasks: dict[str, int] = field(default_factory=dict)
    _connection: http.client.HTTPConnection | None = None
    _ended: float = 0.0

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """The answer to a POST. Raises RuntimeError for one that is refused or fails."""
        return self._call("POST", path, json.dumps(body).encode())

    def get(self, path: str) -> Any:
        """The answer to a GET. Raises RuntimeError for one that is refused or fails."""
        return self._call("GET", path, None)

    def retrieve(self, user: str, query: str, **more: Any) -> list[dict[str, Any]]:
        """The results of a retrieve, best first."""
        results: list[dict[str, Any]] = self.post(
            "/api/v1/memories/retrieve", {"user_id": user, "query": query, **more}
        )["results"]
        return results

    def turns(self, user: str, query: str, **more: Any) -> list[str]:
        """The turns that a retrieve finds where turns were saved."""
        return [result["memory"]["metadata"][TURN] for result in self.retrieve(user, query, **more)]

    def reconstruct(self, user: str, query: str) -> dict[str, Any]:
        """The answer with a context."""
        answer: dict[str, Any] = self.post(
            "/api/v1/memories/retrieve", {"user_id": user, "query": query, "mode": "reconstruct"}
        )
        return answer

    def context(self, user: str, query: str) -> str:
        """What an agent would be given before its turn, in a new session."""
        text: str = self.post("/api/v1/context", {"user_id": user, "query": query})["context"]
        return text

    def save(self, user: str, turns: Sequence[Turn]) -> None:
        """Save every turn as one episodic memory. Raises RuntimeError when one is refused."""
        items = [{"user_id": user, **turn.saved(), "metadata": {TURN: turn.id}} for turn in turns]
        for part in within(items, BULK, BULK_BYTES):
            results = self.post("/api/v1/memories/bulk", {"user_id": user, "memories": part})[
                "results"
            ]
            if refused := [result for result in results if result["status"] >= 300]:
                raise RuntimeError(f"a turn was refused: {refused[0]}")

    def tell(self, user: str, session: str, messages: Sequence[Mapping[str, Any]]) -> str:
        """Tell messages; the id of the task that forms them."""
        task: str = self.post(
            "/api/v1/memories", {"user_id": user, "session_id": session, "messages": messages}
        )["task_id"]
        return task

    def wait(self, user: str, task: str) -> str:
        """The status that a task ends with, which is counted. Raises RuntimeError when it
        does not end.
        """
        pause, until = FIRST_LOOK_S, time.monotonic() + TASK_S
        while (status := self.get(f"/api/v1/tasks/{task}?user_id={user}")["status"]) not in ENDED:
            if time.monotonic() > until:
                raise RuntimeError(f"task {task} has not ended in {TASK_S} s: {status}")
            time.sleep(pause)
            pause = min(2 * pause, LAST_LOOK_S)
        self.tasks[status] = self.tasks.get(status, 0) + 1
        return str(status)

    def close(self) -> None:
        """Hang up."""
        if self._connection is not None:
            self._connection.close()

    def _call(self, method: str, path: str, body: bytes | None) -> Any:
        if self._connection is None or time.perf_counter() - self._ended > IDLE_S:
            self.close()
            self._connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWER_S)
            self._connection.connect()
        began = time.perf_counter()
        self._connection.request(method, path, body, {"Content-Type": "application/json"})
        answer = self._connection.getresponse()
        payload = answer.read()
        self._ended = time.perf_counter()
        self.seconds = self._ended - began
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path} was answered {answer.status}: {payload[:400]!r}")
        return json.loads(payload)


def within(
    items: Sequence[dict[str, Any]], most: int, most_bytes: int
) -> Iterator[list[dict[str, Any]]]:
    """Parts of at most so many items and, but for a single larger item, so many bytes as JSON."""
    part: list[dict[str, Any]] = []
    size = 0
    for item in items:
        length = len(json.dumps(item))
        if part and (len(part) == most or size + length > most_bytes):
            yield part
            part, size = [], 0
        part, size = [*part, item], size + length
    if part:
        yield part


@contextmanager
def running(
    profile: str,
    folder: Path,
    *,
    app: Path = ROOT,
    settings: Mapping[str, str] | None = None,
    workers: int = 1,
) -> Iterator[Service]:
    """A host with the local embedder for as long as the block runs.

    Args:
        profile: `embedded`, or `azure` for emulators of Azure's services.
        folder: Where it keeps its data.
        app: The folder of the app that it serves.
        settings: Further environment variables.
        workers: Processes behind its port.

    """
    with ExitStack() as ending:
        stores: dict[str, str] = {}
        if profile == "azure":
            from tests import azure_stores

            (folder / "stores").mkdir(parents=True, exist_ok=True)
            emulators = ending.enter_context(azure_stores.running((folder / "stores").resolve()))
            asyncio.run(emulators.provision(DIMENSIONS))
            stores = emulators.settings()
        host = Host(
            folder / "data",
            "minilm",
            settings={**stores, **(settings or {})},
            app=app,
            workers=workers,
        )
        ending.callback(host.stop)
        service = Service(host.port)
        ending.callback(service.close)
        yield service


class Users:
    """Who holds which conversation, and who has it already from an earlier run on the same folder.

    Note: what an earlier run did not finish is begun again with another user, since messages sent
    twice would be memories twice.
    """

    def __init__(self, service: Service, folder: Path, name: str) -> None:
        """name: of the conversation set."""
        self._service, self._name = service, name
        self._file = folder / "done.json"
        self._run = uuid.uuid4().hex[:8]

    def saved(self, conversation: Conversation) -> str:
        """A user with every turn of the conversation as a memory."""
        return self.filled(
            conversation, "saved", lambda user: self._service.save(user, conversation.turns)
        )

    def filled(self, conversation: Conversation, way: str, fill: Callable[[str], None]) -> str:
        """A user that holds a conversation in this way.

        Args:
            conversation: What it holds.
            way: How.
            fill: Gives it all of that, where no earlier run has.

        """
        done: dict[str, str] = json.loads(self._file.read_text()) if self._file.exists() else {}
        place = f"{self._name}-{conversation.name}-{way}"
        if place not in done:
            user = self.fresh(conversation, way)
            fill(user)
            done[place] = user
            self._file.write_text(json.dumps(done, indent=1))
        return done[place]

    def fresh(self, conversation: Conversation, way: str) -> str:
        """A user of this run alone."""
        return f"{self._name}-{conversation.name}-{way}-{self._run}"

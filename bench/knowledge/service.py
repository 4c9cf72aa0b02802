"""The calls of the measured host, as an application makes them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from bench.host import ROOT, Host

WAIT_S = 60.0
ANSWER_S = 120.0
"""How long an answer may take."""


@dataclass(frozen=True, slots=True)
class Service:
    """A host over HTTP. wait_s: how long it may take to form what it is told in one call."""

    client: httpx.Client
    wait_s: float = WAIT_S

    def post(self, path: str, **body: Any) -> Any:
        """The answer to a POST. Raises HTTPStatusError."""
        answer = self.client.post(path, json=body)
        answer.raise_for_status()
        return answer.json()

    def get(self, path: str, **query: Any) -> Any:
        """The answer to a GET. Raises HTTPStatusError."""
        answer = self.client.get(path, params=query)
        answer.raise_for_status()
        return answer.json()

    def tell(
        self, user: str, session: str, messages: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any]:
        """Tell messages and wait for what is formed of them; the task."""
        task = self.post("/api/v1/memories", user_id=user, session_id=session, messages=messages)[
            "task_id"
        ]
        until = time.monotonic() + self.wait_s
        while (state := self.get(f"/api/v1/tasks/{task}", user_id=user))["status"] in (
            "accepted",
            "running",
        ):
            if time.monotonic() > until:
                raise TimeoutError(task)
            time.sleep(0.01)
        if state["status"] != "succeeded":
            raise RuntimeError(f"{task}: {state['status']}: {state.get('error')}")
        return dict(state)

    def memories(self, user: str, **where: Any) -> list[dict[str, Any]]:
        """The newest hundred memories."""
        return list(
            self.get("/api/v1/memories", user_id=user, limit=100, view="full", **where)["memories"]
        )

    def facts(self, user: str) -> list[dict[str, Any]]:
        """The facts that were formed, those that hold no more included."""
        facts_by_id = {
            fact["id"]: fact
            for status in (None, "superseded", "deleted")
            for fact in self._facts(user, status)
        }
        return [*facts_by_id.values()]

    def _facts(self, user: str, status: str | None) -> list[dict[str, Any]]:
        where = {} if status is None else {"status": status}
        return [
            memory
            for memory in self.memories(user, type="semantic", **where)
            if memory["category"] != "note"
        ]

    def conflicts(self, user: str) -> list[dict[str, Any]]:
        """All conflict records."""
        return list(self.get("/api/v1/conflicts", user_id=user, limit=100)["conflicts"])

    def context(self, user: str, query: str, **more: Any) -> str:
        """The text for an agent's prompt."""
        return str(self.post("/api/v1/context", user_id=user, query=query, **more)["context"])

    def found(self, user: str, query: str, **more: Any) -> list[str]:
        """The contents of what a query finds, best first."""
        return [
            result["memory"]["content"]
            for result in self.post("/api/v1/memories/retrieve", user_id=user, query=query, **more)[
                "results"
            ]
        ]


@contextmanager
def hosted(
    folder: Path, embedder: str, *, app: Path = ROOT, settings: Mapping[str, str] | None = None
) -> Iterator[httpx.Client]:
    """A client of a host that runs for as long as the block does.

    Args:
        folder: Where the host keeps its data.
        embedder: Of the local ones, `hash` or `minilm`.
        app: The folder of the app that it serves.
        settings: Further environment variables.

    """
    host = Host(folder, embedder, settings=settings, app=app)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{host.port}", timeout=ANSWER_S) as client:
            yield client
    finally:
        host.stop()

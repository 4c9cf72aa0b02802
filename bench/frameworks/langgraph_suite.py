"""A pytest plugin: LangGraph's stores become `MemoryCoreStore` on a host, a user a store.

The host embeds with the embedder that a test hands to its store, so that scores can be compared:
this process serves it.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from threading import Thread
from typing import Any, cast

import langgraph.store.memory
import langgraph.store.sqlite
import pytest
from langgraph.store.base import IndexConfig

from bench.frameworks import DIMENSIONS, EMBEDDER_PORT, HOST_URL
from memory_core_client import MemoryCore
from memory_core_client.langgraph import MemoryCoreStore


class Embedder(BaseHTTPRequestHandler):
    """Answers as the embeddings API does, with the vectors of the embedder that the last
    store was given.
    """

    current: Any = None

    def do_POST(self) -> None:
        """The vectors of a request's texts."""
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        vectors = (
            self.current.embed_documents(texts)
            if self.current is not None
            else [_drawn(text) for text in texts]
        )
        rows = [
            {"object": "embedding", "index": index, "embedding": vector}
            for index, vector in enumerate(vectors)
        ]
        body = json.dumps(
            {
                "object": "list",
                "model": "suite",
                "data": rows,
                "usage": {"prompt_tokens": 1, "total_tokens": 1},
            }
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def _drawn(text: str) -> list[float]:
    draw = Random(text)
    return [draw.gauss() for _ in range(DIMENSIONS)]


class SuiteStore(MemoryCoreStore):
    """Made as the stores of the suites are made."""

    service: MemoryCore

    def __init__(self, *, index: IndexConfig | None = None, user: str | None = None) -> None:
        super().__init__(self.service.user(user or uuid.uuid4().hex), index=index)
        self.embeddings = Embedder.current = (index or {}).get("embed")

    @classmethod
    @contextmanager
    def from_conn_string(
        cls, path: str, *, index: dict[str, Any] | None = None
    ) -> Iterator[SuiteStore]:
        """A store of its own for each database in memory, one for each file."""
        fields = {"fields": index["text_fields"]} if index and index.get("text_fields") else {}
        user = None if path == ":memory:" else Path(path).name
        yield cls(index=cast(IndexConfig, {**index, **fields}) if index else None, user=user)

    def setup(self) -> None:
        """Nothing: a user needs no tables."""


@pytest.fixture(scope="session", autouse=True)
def _connected() -> Iterator[None]:
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ[EMBEDDER_PORT])), Embedder)
    thread = Thread(target=server.serve_forever)
    thread.start()
    with MemoryCore(os.environ[HOST_URL]) as SuiteStore.service:
        yield
    server.shutdown()
    thread.join()
    server.server_close()


langgraph.store.memory.InMemoryStore = SuiteStore  # type: ignore[misc, assignment]
langgraph.store.sqlite.SqliteStore = SuiteStore

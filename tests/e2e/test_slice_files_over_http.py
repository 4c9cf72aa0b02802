"""A user of so many memories that their slice has a file: found as before after a restart,
and in no file once forgotten. Two workers share the folder.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from memory_core.adapters.sqlite.slice_files import LEAST_ROWS
from tests import fork_server
from tests.host import Host, ended_task, until

pytestmark = pytest.mark.skipif(os.name != "posix", reason="there are no such files elsewhere")
MEMORIES = LEAST_ROWS + 100
USER = "ana"
QUERIES = ("Where was word17 seen?", "What of word4040 and shelf 3?", "shelf 7", "word99 word98")


@contextmanager
def hosted(folder: Path) -> Iterator[tuple[Host, list[httpx.Client]]]:
    """A host of two workers, a client at each."""
    host = Host(folder, "--workers", "2", **{fork_server.PYTHON: fork_server.python()})
    limits = httpx.Limits(max_connections=1, keepalive_expiry=None)
    clients = [httpx.Client(base_url=host.url, timeout=120, limits=limits) for _ in range(2)]
    try:
        yield host, clients
    finally:
        for client in clients:
            client.close()
        host.stop(signal.SIGTERM)


def fill(client: httpx.Client) -> list[str]:
    """Save so many memories, a hundred a call; their ids."""
    ids = []
    for start in range(0, MEMORIES, 100):
        items = [
            {
                "content": f"word{number} stands on shelf {number % 40} beside tea",
                "type": "episodic",
            }
            for number in range(start, start + 100)
        ]
        answer = client.post("/api/v1/memories/bulk", json={"user_id": USER, "memories": items})
        assert answer.status_code == 207, answer.text
        ids += [result["memory"]["id"] for result in answer.json()["results"]]
    return ids


def found(client: httpx.Client, query: str) -> list[tuple[str, str]]:
    body = {"user_id": USER, "query": query, "similarity_threshold": 0.0, "limit": 20}
    answer = client.post("/api/v1/memories/retrieve", json=body)
    assert answer.status_code == 200, answer.text
    return [
        (result["memory"]["id"], result["memory"]["content"]) for result in answer.json()["results"]
    ]


def files(host: Host) -> list[Path]:
    folder = host.folder / "data" / "slices"
    return sorted(folder.iterdir()) if folder.is_dir() else []


def answers(clients: list[httpx.Client]) -> list[Any]:
    first, second = ([found(client, query) for query in QUERIES] for client in clients)
    assert first == second
    return first


def test_a_large_user_is_found_as_before_after_a_restart_and_in_no_file_once_forgotten(
    tmp_path: Path,
) -> None:
    with hosted(tmp_path) as (host, clients):
        ids = fill(clients[0])
        before = answers(clients)
        until(lambda: [file.suffix for file in files(host)], [""])
        assert answers(clients) == before
    names = files(host)
    with hosted(tmp_path) as (host, clients):
        assert answers(clients) == before
        assert files(host) == names
        hidden = {"user_id": USER, "filter": {"ids": [ids[17]]}, "mode": "hard"}
        forgotten = clients[1].post("/api/v1/forget", json=hidden)
        assert forgotten.status_code == 202, forgotten.text
        assert ended_task(clients[0], forgotten.headers["location"])["status"] == "succeeded"
        for client in clients:
            assert ids[17] not in {name for name, _ in found(client, QUERIES[0])}
        for file in files(host):
            assert ids[17].encode() not in file.read_bytes()
        erased = clients[0].delete(f"/api/v1/users/{USER}")
        assert ended_task(clients[1], erased.headers["location"])["status"] == "succeeded"
        assert files(host) == []
        for client in clients:
            assert found(client, QUERIES[0]) == []

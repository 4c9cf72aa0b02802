"""Several processes behind one port: what one of them has answered, every other knows.

A parent hands each new connection to the worker that has the fewest, so two clients that keep their
connections are at two workers. Which file the stores are in has no part in it: embedded only.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests import fork_server
from tests.host import Host, answer_when, ended_task, memories, save, until

ADMIN = "mc_shop_boss_00000000000000000000000000000000"
WORKERS = 2


def workers_of(pid: int) -> list[int]:
    """The processes that a process has started."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, check=True, text=True)
    pairs = [tuple(map(int, line.split())) for line in listed.stdout.splitlines()]
    return [child for child, parent in pairs if parent == pid]


def is_alive(pid: int) -> bool:
    """Whether there is such a process that has not ended."""
    listed = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
    return bool(listed.stdout.strip()) and not listed.stdout.startswith("Z")


@contextmanager
def connected(url: str, **options: Any) -> Iterator[list[httpx.Client]]:
    """A client at each worker; each has one connection and keeps it."""
    limits = httpx.Limits(max_connections=1, keepalive_expiry=None)
    clients = [
        httpx.Client(base_url=url, timeout=30, limits=limits, **options) for _ in range(WORKERS)
    ]
    try:
        for client in clients:
            assert client.get("/health").status_code == 200
        yield clients
    finally:
        for client in clients:
            client.close()


def with_workers(folder: Path, *, afresh: bool = False, **settings: str) -> Host:
    """A host of several processes.

    afresh: whether its workers are interpreters of their own, as they are for a user; each takes
    seconds of a processor to import what it needs.
    """
    forking = {} if afresh else {fork_server.PYTHON: fork_server.python()}
    return Host(folder, "--workers", str(WORKERS), **forking, **settings)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    started = with_workers(tmp_path_factory.mktemp("workers"))
    try:
        assert started.url
        yield started
    finally:
        started.stop(signal.SIGTERM)


@pytest.fixture
def clients(host: Host) -> Iterator[list[httpx.Client]]:
    with connected(host.url) as at_each:
        yield at_each


def found(client: httpx.Client, user: str, query: str, **fields: Any) -> list[str]:
    """The contents that a search finds."""
    body = {"user_id": user, "query": query, "similarity_threshold": 0.0, **fields}
    answer = client.post("/api/v1/memories/retrieve", json=body)
    assert answer.status_code == 200, answer.text
    return [result["memory"]["content"] for result in answer.json()["results"]]


def served_by(client: httpx.Client) -> float:
    """How many requests the worker of a client has answered, itself excluded."""
    lines = client.get("/metrics").text.splitlines()
    return sum(
        float(line.split()[-1])
        for line in lines
        if line.startswith("memory_core_operations_total") and 'operation="query_memory"' in line
    )


def test_two_connections_are_at_two_workers(clients: list[httpx.Client], user: str) -> None:
    first, second = clients
    before = served_by(second)
    for _ in range(3):
        found(first, user, "where")
    assert served_by(second) == before
    found(second, user, "where")
    assert served_by(second) == before + 1


def test_what_one_worker_saves_the_other_finds_at_once(
    clients: list[httpx.Client], user: str
) -> None:
    first, second = clients
    for number in range(20):
        content = f"Ana bought {number + 3} postcards in Lisbon"
        save(first, user, content, session_id="trip")
        assert content in found(second, user, content, limit=50)
        assert content in found(second, user, content, limit=50, session_id="trip")
        first, second = second, first
    assert len(memories(first, user)) == len(memories(second, user)) == 20


def test_what_one_worker_deletes_the_other_finds_no_more(
    clients: list[httpx.Client], user: str
) -> None:
    first, second = clients
    for number in range(10):
        content = f"Bruno's locker has the number {number + 40}"
        saved = save(first, user, content, session_id="gym")
        for client in clients:
            assert content in found(client, user, content, session_id="gym")
        answer = first.delete(f"/api/v1/memories/{saved['id']}", params={"user_id": user})
        assert answer.status_code in (200, 204), answer.text
        assert content not in found(second, user, content, session_id="gym")
        assert content not in found(second, user, content)
        first, second = second, first


def test_what_one_worker_changes_the_other_shows_as_changed(
    clients: list[httpx.Client], user: str
) -> None:
    first, second = clients
    slot = {"type": "semantic", "subject": "user", "attribute": "city", "session_id": "chat"}
    save(first, user, "The user lives in Porto", value="Porto", **slot)
    assert found(second, user, "Where does the user live", session_id="chat") == [
        "The user lives in Porto"
    ]
    save(first, user, "The user lives in Faro", value="Faro", **slot)
    for client in (second, first):
        assert found(client, user, "Where does the user live", session_id="chat") == [
            "The user lives in Faro"
        ]


def test_a_call_that_is_sent_again_to_another_worker_is_done_once(
    clients: list[httpx.Client], user: str
) -> None:
    body = {"user_id": user, "content": "Carla plays the cello"}
    headers = {"Idempotency-Key": f"key-of-{user}"}
    answers = [
        client.post("/api/v1/memories/save", json=body, headers=headers) for client in clients
    ]
    ids = {answer.json()["memory"]["id"] for answer in answers}
    assert len(ids) == 1
    assert len(memories(clients[0], user)) == 1


@pytest.mark.parametrize("told_at", range(WORKERS))
def test_a_conversation_told_to_any_worker_is_formed_and_found_at_all(
    clients: list[httpx.Client], user: str, told_at: int
) -> None:
    accepted = clients[told_at].post(
        "/api/v1/memories",
        json={
            "user_id": user,
            "session_id": "talk",
            "messages": [{"role": "user", "content": "I moved to Coimbra last year with my dog."}],
        },
    )
    assert accepted.status_code == 202, accepted.text
    for client in clients:
        task = ended_task(client, accepted.headers["location"])
        assert task["status"] == "succeeded", task
        assert any("Coimbra" in content for content in found(client, user, "Coimbra"))


def test_a_user_erased_by_one_worker_is_gone_at_the_other(
    clients: list[httpx.Client], user: str
) -> None:
    first, second = clients
    save(first, user, "Dina keeps a secret recipe", session_id="kitchen")
    for client in clients:
        assert found(client, user, "secret recipe", session_id="kitchen")
    erased = second.delete(f"/api/v1/users/{user}")
    assert erased.status_code == 202, erased.text
    assert ended_task(first, erased.headers["location"])["status"] == "succeeded"
    for client in clients:
        assert found(client, user, "secret recipe", session_id="kitchen") == []
        assert memories(client, user) == []


def test_what_is_forgotten_for_good_is_in_no_file_although_all_workers_have_it_open(
    host: Host, clients: list[httpx.Client], user: str
) -> None:
    first, second = clients
    word = f"xylophone{os.getpid()}"
    saved = save(first, user, f"Emil hid the {word} in the cellar")
    assert found(second, user, word)
    forgotten = second.post(
        "/api/v1/forget", json={"user_id": user, "filter": {"ids": [saved["id"]]}, "mode": "hard"}
    )
    assert forgotten.status_code == 202, forgotten.text
    assert ended_task(first, forgotten.headers["location"])["status"] == "succeeded"
    for client in clients:
        assert all(word not in content for content in found(client, user, word))
    for file in (host.folder / "data").glob("memory.db*"):
        assert word.encode() not in file.read_bytes(), file


def test_a_key_withdrawn_at_one_worker_opens_no_other(tmp_path: Path) -> None:
    digest = hashlib.sha256(ADMIN.encode()).hexdigest()
    admin = {"id": "boss", "app": "shop", "sha256": digest, "rights": ["admin"]}
    host = with_workers(tmp_path, MEMORY_API_KEYS=json.dumps([admin]))
    try:
        with connected(host.url, headers={"X-API-Key": ADMIN}) as (first, second):
            made = first.post("/api/v1/keys", json={"name": "app", "rights": ["read"]}).json()
            key = {"X-API-Key": made["key"]}
            listed = {"user_id": "ana"}
            for client in (first, second):
                assert client.get("/api/v1/memories", params=listed, headers=key).status_code == 200
            gone = first.delete(f"/api/v1/keys/{made['key_id']}")
            assert gone.status_code == 204, gone.text
            until(
                lambda: second.get("/api/v1/memories", params=listed, headers=key).status_code, 401
            )
    finally:
        host.stop()


def test_a_killed_worker_takes_nothing_acknowledged_along_and_another_takes_its_place(
    tmp_path: Path,
) -> None:
    host = with_workers(tmp_path)
    try:
        url = host.url
        for number in range(WORKERS):
            before = workers_of(host.process.pid)
            with connected(url) as clients:
                for client in clients:
                    save(client, "ana", f"Ana read book {number} of {client!r}")
            os.kill(before[number], signal.SIGKILL)
            for _ in range(20):
                with suppress(httpx.TransportError):  # handed to the one that was just killed
                    assert len(memories_of(url, "ana")) == WORKERS * (number + 1)
            answer_when(
                lambda before=before: workers_of(host.process.pid),
                lambda now, before=before: len(now) == WORKERS and now != before,
            )
        with connected(url) as clients:
            accepted = clients[1].post(
                "/api/v1/memories",
                json={
                    "user_id": "ana",
                    "messages": [{"role": "user", "content": "I live in Evora now."}],
                },
            )
            task = ended_task(clients[0], accepted.headers["location"])
            assert task["status"] == "succeeded"
        assert host.terminal.count("another one takes its place") == WORKERS
        assert host.stop(signal.SIGINT) == 0
    finally:
        host.stop(signal.SIGKILL)


@pytest.mark.parametrize("number", range(WORKERS))
def test_a_worker_killed_before_it_was_ready_is_started_again(tmp_path: Path, number: int) -> None:
    host = with_workers(tmp_path)
    try:
        started = answer_when(lambda: workers_of(host.process.pid), lambda now: len(now) == WORKERS)
        os.kill(started[number], signal.SIGKILL)
        assert memories_of(host.url, "ana") == []
        assert started[number] not in workers_of(host.process.pid)
        assert host.terminal.count("another one takes its place") == 1
        assert host.stop(signal.SIGINT) == 0
    finally:
        host.stop(signal.SIGKILL)


def memories_of(url: str, user: str) -> list[dict[str, Any]]:
    """All memories of a user, over a new connection."""
    with httpx.Client(base_url=url, timeout=30) as client:
        return memories(client, user)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_all_in_good_order(tmp_path: Path, how: signal.Signals) -> None:
    host = with_workers(tmp_path, afresh=how == signal.SIGTERM)
    try:
        assert host.url
        assert f"{WORKERS} processes" in host.terminal
        workers = workers_of(host.process.pid)
        assert len(workers) == WORKERS
        assert host.stop(how) == 0
        assert not any(map(is_alive, workers))
        assert host.terminal.splitlines()[-1] == "Stopped."
    finally:
        host.stop(signal.SIGKILL)


def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    host = with_workers(tmp_path)
    assert host.url
    workers = workers_of(host.process.pid)
    host.stop(signal.SIGKILL)
    until(lambda: any(map(is_alive, workers)), False)


@pytest.mark.parametrize(
    ("arguments", "settings", "code", "says"),
    [
        ([], {"MEMORY_AUTH": "maybe"}, 2, "MEMORY_AUTH"),
        (["--workers", "many"], {}, 2, "--workers"),
        (["--workers", "0"], {}, 2, "--workers"),
        ([], {"EMBEDDING_PROVIDER": "openai"}, 2, "EMBEDDING_API_KEY"),
    ],
)
def test_what_is_wrong_is_said_once(
    tmp_path: Path, arguments: list[str], settings: dict[str, str], code: int, says: str
) -> None:
    host = Host(tmp_path, *(arguments or ["--workers", str(WORKERS)]), **settings)
    assert host.process.wait(60) == code
    assert host.terminal.count("did not start") == 1
    assert says in host.terminal
    assert "Traceback" not in host.terminal


def test_a_file_that_is_none_of_ours_is_named_once(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "memory.db").write_bytes(b"this is no database, and it is longer than a header" * 99)
    host = with_workers(tmp_path)
    assert host.process.wait(60) == 1
    assert host.terminal.count("did not start") == 1
    assert "Traceback" not in host.terminal


def test_a_function_that_no_worker_can_serve_is_named_once(tmp_path: Path) -> None:
    app = tmp_path / "app"
    app.mkdir()
    (app / "host.json").write_text("{}")
    (app / "function_app.py").write_text(
        "import azure.functions as func\n"
        "app = func.FunctionApp()\n"
        "@app.blob_trigger(arg_name='blob', path='some/{name}', connection='Some')\n"
        "def look(blob): pass\n"
    )
    host = Host(
        tmp_path, "--workers", str(WORKERS), app=app, **{fork_server.PYTHON: fork_server.python()}
    )
    assert host.process.wait(60) == 2
    assert host.terminal.count("did not start") == 1
    assert "blobTrigger" in host.terminal


def test_a_rate_that_only_one_process_can_keep_is_kept_by_one(tmp_path: Path) -> None:
    host = Host(tmp_path, "--workers", "auto", MEMORY_RATE_PER_APP="1000/second")
    try:
        assert host.url
        assert workers_of(host.process.pid) == []
    finally:
        host.stop()

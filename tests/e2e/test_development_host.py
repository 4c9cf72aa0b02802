"""The development host as a person meets it: starting, refusing to start, answering, stopping.

Some are started as a person does, by an interpreter that imports everything again; the others are
forks of one that has. What happens before a store is opened (settings, data folder, first lines) is
tried in the embedded profile only: no store has a part in it.
"""

from __future__ import annotations

import asyncio
import json
import shlex
import signal
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.host import Host, ended_task, problem, running, save


def test_the_first_lines_say_where_it_is_and_what_to_try(tmp_path: Path) -> None:
    host = Host(tmp_path, forked=False)
    try:
        url = host.url
        output = host.terminal
        assert f"{tmp_path / 'data'} (new: no memories were here)\n" in output
        assert 'every caller is the app "local"' in output
        commands = [
            line.strip() for line in output.splitlines() if line.strip().startswith("curl ")
        ]
        assert len(commands) == 2
        for command in commands:
            assert url in command
            answer = subprocess.run(
                shlex.split(command), capture_output=True, check=True, timeout=30
            )
            assert "Lisbon" in json.dumps(json.loads(answer.stdout))
    finally:
        assert host.stop() == 0
    assert "Stopped." in host.terminal
    again = Host(tmp_path)
    try:
        assert again.url
        assert f"{tmp_path / 'data'}\n" in again.terminal
    finally:
        again.stop()


def test_a_damaged_file_stops_the_start_and_the_doctor_is_named(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "memory.db").write_bytes(b"not a database" * 1000)
    host = Host(tmp_path)
    assert host.process.wait(30) == 1
    assert "not a database" in host.terminal
    assert "memory-core doctor" in host.terminal.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "settings", "code", "says"),
    [
        (["--host", "0.0.0.0"], {"MEMORY_AUTH": "off"}, 2, "loopback"),
        ([], {"MEMORY_AUTH": "maybe"}, 2, "MEMORY_AUTH"),
        ([], {"MEMORY_API_KEYS": "zork"}, 2, "MEMORY_API_KEYS"),
    ],
)
def test_wrong_settings_stop_the_start_with_one_line(
    tmp_path: Path, arguments: list[str], settings: dict[str, str], code: int, says: str
) -> None:
    host = Host(tmp_path, *arguments, forked=False, **settings)
    assert host.process.wait(30) == code
    assert says in host.terminal.splitlines()[-1]
    assert "Traceback" not in host.terminal


def test_a_variable_of_another_memory_service_is_named_once_without_its_value(
    tmp_path: Path,
) -> None:
    host = Host(tmp_path, OMNIMEMORY_LINK_THRESHOLD="0.6789", QDRANT_HOST="db.example")
    try:
        httpx.get(f"{host.url}/health")
        assert (
            host.terminal.count(
                "OMNIMEMORY_LINK_THRESHOLD is not read: the setting is MEMORY_LINK_THRESHOLD"
            )
            == 1
        )
        assert host.terminal.count("QDRANT_HOST is not read") == 1
        assert "0.6789" not in host.terminal
        assert "db.example" not in host.terminal
    finally:
        host.stop()


def test_a_taken_port_is_named_with_a_way_out(tmp_path: Path, host: httpx.Client) -> None:
    port = urlsplit(str(host.base_url)).port
    second = Host(tmp_path, "--port", str(port), forked=False)
    assert second.process.wait(30) == 1
    assert second.terminal.count("\n") == 1
    assert f"port {port} is taken" in second.terminal
    assert "--port" in second.terminal


def test_data_of_another_embedder_are_found_by_words_and_embedded_anew(tmp_path: Path) -> None:
    query = {"user_id": "ana", "query": "Ana moved to Lisbon", "view": "full"}

    def hit(client: httpx.Client) -> dict[str, Any]:
        (retrieved,) = client.post("/api/v1/memories/retrieve", json=query).json()["results"]
        return dict(retrieved)

    with running(tmp_path, EMBEDDING_PROVIDER="hash") as client:
        saved = save(client, "ana", "Ana moved to Lisbon", type="semantic")
        assert hit(client)["similarity_score"] == pytest.approx(1.0)
    with running(tmp_path, EMBEDDING_PROVIDER="hash", EMBEDDING_DIMENSIONS="256") as client:
        assert hit(client)["similarity_score"] is None
        long_term = client.get("/health/ready").json()["dependencies"]["long_term"]
        assert long_term["status"] == "degraded"
        assert "384" in long_term["detail"]
        assert "256" in long_term["detail"]
        dry = client.post("/api/v1/reembed", json={"user_id": "ana", "dry_run": True})
        assert (dry.status_code, dry.json()) == (200, {"counts": {"embedded": 1}, "capped": False})
        accepted = client.post("/api/v1/reembed", json={"user_id": "ana"})
        assert accepted.status_code == 202
        task = ended_task(client, accepted.headers["location"])
        assert (task["kind"], task["status"], task["progress"]) == ("reembed", "succeeded", 1.0)
        assert task["result"] == {
            "counts": {"read": 1, "embedded": 1},
            "model": "hash-1",
            "dimensions": 256,
        }
        assert hit(client)["similarity_score"] == pytest.approx(1.0)
        after = client.get(f"/api/v1/memories/{saved['id']}", params={"user_id": "ana"}).json()
        assert after == {
            **saved,
            "embedding_dimensions": 256,
            **{name: after[name] for name in ("access_count", "last_accessed_at")},
        }


def test_a_query_that_names_no_limit_has_as_many_results_as_the_settings_say(
    tmp_path: Path,
) -> None:
    with running(tmp_path, MEMORY_DEFAULT_N_RESULTS="2") as client:
        for number in range(4):
            save(client, "ana", f"apple {number}")
        query = {"user_id": "ana", "query": "apple"}
        assert len(client.get("/api/v1/memories/query", params=query).json()["results"]) == 2
        assert len(client.post("/api/v1/memories/retrieve", json=query).json()["results"]) == 2


@pytest.mark.parametrize("secret", [b"", b"short"])
def test_a_secret_too_short_to_sign_with_stops_the_start(tmp_path: Path, secret: bytes) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "secret").write_bytes(secret)
    host = Host(tmp_path)
    assert host.process.wait(30) == 2
    assert str(tmp_path / "data" / "secret") in host.terminal.splitlines()[-1]


def test_a_data_folder_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("not a folder")
    host = Host(tmp_path)
    assert host.process.wait(30) == 1
    assert f"the data folder {tmp_path / 'data'} can't be used" in host.terminal.splitlines()[-1]
    assert "Traceback" not in host.terminal


def test_what_a_client_puts_in_the_wrong_place_is_told(host: httpx.Client, user: str) -> None:
    where = f"/api/v1/memories?user_id={user}&at=2026-01-01T00:00:00+02:00"
    assert problem(host.get(where), 422)["detail"].endswith('in a URL, "+" is written "%2B"')
    plain = problem(host.get("/api/v1/memories", params={"user_id": user, "at": "soon"}), 422)
    assert "%2B" not in plain["detail"]
    answer = host.request("DELETE", "/api/v1/memories/mem_none", json={"user_id": user})
    assert "query: ?user_id=" in problem(answer, 400)["detail"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PUT", "/api/v1/memories"),
        ("GET", "/api/v1/memories/save/x"),
        ("POST", "/health"),
        ("GET", "/zork"),
        ("TRACE", "/"),
    ],
)
def test_a_wrong_method_or_path_is_not_found(host: httpx.Client, method: str, path: str) -> None:
    assert problem(host.request(method, path), 404)


def test_a_wrong_method_or_path_is_told_what_was_meant_and_not_repeated(
    host: httpx.Client, user: str
) -> None:
    for method, path, meant in (
        ("POST", "/api/v1/memory/episodic", "POST /api/v1/memories/save with type"),
        ("POST", "/memory/retrieve", "POST /api/v1/memories/retrieve"),
        ("GET", "/memory/timeline", "GET /api/v1/timeline"),
        ("GET", "/api/v1/health", "GET /health"),
        ("POST", "/health", "GET /health"),
        ("GET", "/api/v1/agent/summaries", "POST /api/v1/agent/summaries"),
        ("GET", f"/api/v1/memories/retrieve?user_id={user}", "POST /api/v1/memories/retrieve"),
    ):
        assert problem(host.request(method, path), 404)["did_you_mean"] == meant
    answer = problem(
        host.get("/api/v1/memories/retrieve", params={"user_id": user, "query": "violin"}), 422
    )
    assert answer["did_you_mean"] == "POST /api/v1/memories/retrieve"
    for path in ("/my-salary", "/api/v1/memories/mem_none/evolution/graph/svg"):
        assert problem(host.get(path), 404)["detail"] == "No call has this path and method"
    assert "did_you_mean" not in problem(
        host.get("/api/v1/memories/mem_none", params={"user_id": user}), 404
    )


def test_paths_match_whatever_their_case_and_a_slash_at_the_end(
    host: httpx.Client, user: str
) -> None:
    assert host.get(f"/API/v1/Memories/?user_id={user}").json()["memories"] == []


def test_every_answer_carries_the_correlation_id_it_was_asked_with(
    host: httpx.Client, user: str
) -> None:
    asked = {"X-Correlation-Id": "trace-7"}
    for response in (
        host.get("/", headers=asked),
        host.get("/zork", headers=asked),
        host.get("/api/v1/memories", headers=asked),
    ):
        assert response.headers["x-correlation-id"] == "trace-7"
    assert len(host.get("/").headers["x-correlation-id"]) >= 16
    assert host.get("/", headers={"X-Correlation-Id": "a b"}).headers["x-correlation-id"] != "a b"


def test_a_page_in_a_browser_cannot_reach_it_under_another_name(
    host: httpx.Client, user: str
) -> None:
    assert problem(
        host.get("/api/v1/memories", params={"user_id": user}, headers={"Host": "evil.example"}),
        403,
    )


def test_a_function_that_is_no_timer_is_not_fired_by_hand(host: httpx.Client) -> None:
    assert problem(host.post("/admin/functions/memories_save"), 404)


def test_the_service_describes_itself(host: httpx.Client) -> None:
    root = host.get("/").json()
    assert root["name"] == "Memory Core"
    for name, link in root["links"].items():
        # to /mcp one posts
        assert host.get(link).status_code == (405 if name == "mcp" else 200), link
    ready = host.get("/health/ready").json()
    assert ready["status"] == "ready"
    assert {"long_term", "short_term", "embedder"} <= ready["dependencies"].keys()


async def _save_until_it_ends(url: str, host: Host, how: signal.Signals) -> list[str]:
    """Ids of the saves that were acknowledged by a host that is told to stop in the
    middle of them.
    """
    acknowledged: list[str] = []
    async with httpx.AsyncClient(base_url=url, timeout=30) as client:

        async def one(number: int) -> None:
            try:
                response = await client.post(
                    "/api/v1/memories/save", json={"user_id": "ana", "content": f"note {number}"}
                )
            except httpx.TransportError:
                return
            assert response.status_code == 201, response.text
            acknowledged.append(response.json()["memory"]["id"])
            if len(acknowledged) == 20:
                host.process.send_signal(how)

        await asyncio.gather(*(one(number) for number in range(200)))
    return acknowledged


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
async def test_a_stop_in_the_middle_of_saves_loses_nothing_that_was_acknowledged(
    tmp_path: Path, how: signal.Signals, settings: dict[str, str]
) -> None:
    host = Host(tmp_path, **settings, MEMORY_REQUESTS_AT_ONCE="200")
    acknowledged = await _save_until_it_ends(host.url, host, how)
    assert host.process.wait(30) == 0
    assert "Traceback" not in host.terminal
    assert len(acknowledged) >= 20
    with running(tmp_path, **settings) as client:
        for memory_id in acknowledged:
            assert (
                client.get(f"/api/v1/memories/{memory_id}", params={"user_id": "ana"}).status_code
                == 200
            )

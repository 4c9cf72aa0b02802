"""Export, import and erasure over HTTP, as a user needs them who takes their memories elsewhere;
on both profiles.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.host import ended_task, memories, problem, running, save

ROOT = Path(__file__).resolve().parents[2]
LINES = {"Content-Type": "application/x-ndjson"}
KEYS = {
    "admin": ("mc_shop_a1_0123456789abcdefABCDEF", ["admin"], None),
    "writer": ("mc_shop_w1_0123456789abcdefABCDEF", ["read", "write"], None),
    "reader": ("mc_shop_r1_0123456789abcdefABCDEF", ["read"], None),
    "ana": ("mc_shop_u1_0123456789abcdefABCDEF", ["read", "write"], "ana"),
    "ana-reads": ("mc_shop_u2_0123456789abcdefABCDEF", ["read"], "ana"),
}


@pytest.fixture(scope="module")
def eraser(profile: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client of a host whose workers are gone at once, so that an erasure need not
    wait for them.
    """
    settings = {**profile.settings(), "MEMORY_ERASE_SETTLE_S": "0"}
    with running(tmp_path_factory.mktemp("eraser"), **settings) as client:
        yield client


def ended(client: httpx.Client, answer: httpx.Response) -> dict[str, Any]:
    """The task that an answer leads to, once it has ended."""
    assert answer.status_code == 202, answer.text
    return ended_task(client, answer.headers["location"])


def exported(client: httpx.Client, user: str) -> list[bytes]:
    """The parts of a user's file."""
    task = ended(client, client.post(f"/api/v1/users/{user}/export"))
    assert task["status"] == "succeeded", task
    parts = []
    for number in range(1, task["result"]["parts"] + 1):
        answer = client.get(
            f"/api/v1/users/{user}/export/{task['task_id']}", params={"part": number}
        )
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/x-ndjson")
        parts.append(answer.content)
    assert hashlib.sha256(b"".join(parts)).hexdigest() == task["result"]["sha256"]
    return parts


def brought(
    client: httpx.Client,
    user: str,
    parts: list[bytes],
    sha256: str | None = None,
    of: str = "export",
) -> dict[str, Any]:
    """The task of the import of these parts."""
    begun = client.post(f"/api/v1/users/{user}/import", params={"of": of})
    assert begun.status_code == 202, begun.text
    path = f"/api/v1/users/{user}/import/{begun.json()['task_id']}"
    for number, part in reversed([*enumerate(parts, 1)]):
        assert (
            client.put(path, params={"part": number}, content=part, headers=LINES).status_code
            == 204
        )
    upload = {"parts": len(parts), "sha256": sha256 or hashlib.sha256(b"".join(parts)).hexdigest()}
    return ended(client, client.post(f"{path}/commit", json=upload))


def test_somebody_takes_everything_along_brings_it_elsewhere_and_has_the_rest_erased(
    eraser: httpx.Client, user: str
) -> None:
    save(eraser, user, "I keep bees", session_id="monday")
    save(eraser, user, "Answer in Portuguese", type="procedural", key="style/language", value="pt")
    save(eraser, user, "Ana lives in Lisbon", type="semantic", subject="Ana", attribute="city")
    save(eraser, user, "Ana lives in Porto", type="semantic", subject="Ana", attribute="city")
    parts = exported(eraser, user)
    elsewhere = f"{user}-elsewhere"
    task = brought(eraser, elsewhere, parts)
    assert task["status"] == "succeeded", task
    unlike = ("user_id",)
    before, after = (
        [{k: v for k, v in memory.items() if k not in unlike} for memory in memories(eraser, owner)]
        for owner in (user, elsewhere)
    )
    assert after == before
    assert (
        b"".join(exported(eraser, elsewhere)).splitlines()[1:] == b"".join(parts).splitlines()[1:]
    )

    answer = eraser.delete(f"/api/v1/users/{user}")
    assert ended(eraser, answer)["status"] == "succeeded"
    receipt = eraser.get(answer.headers["location"]).json()["result"]
    assert receipt["counts"]["memory"] == 4
    assert {"user", "began_at", "erased_at", "counts", "remains"} == receipt.keys()
    assert memories(eraser, user) == []
    save(eraser, user, "I begin anew")
    assert [memory["content"] for memory in memories(eraser, user)] == ["I begin anew"]
    assert len(memories(eraser, elsewhere)) == 4
    assert (
        eraser.get("/api/v1/procedures/style%2Flanguage", params={"user_id": elsewhere}).json()[
            "value"
        ]
        == "pt"
    )


def test_a_tampered_file_is_refused_with_its_line_and_the_user_stays_empty(
    eraser: httpx.Client, user: str
) -> None:
    save(eraser, user, "I keep bees")
    parts = exported(eraser, user)
    elsewhere = f"{user}-elsewhere"
    broken = [parts[0], *parts[1:-1], parts[-1].replace(b'"id"', b'"di"', 1)]
    task = brought(eraser, elsewhere, broken)
    assert task["status"] == "failed"
    assert task["error"].startswith("line ")
    assert memories(eraser, elsewhere) == []
    assert brought(eraser, elsewhere, parts, "0" * 64)["status"] == "failed"
    assert brought(eraser, elsewhere, parts)["status"] == "succeeded"
    assert problem(eraser.post(f"/api/v1/users/{elsewhere}/import"), 409)


def a_conversation(day: int, **fields: Any) -> bytes:
    """A line of a file of conversations."""
    messages = [
        {
            "role": "user",
            "content": f"On day {day} I saw heron number {day}",
            "timestamp": f"2025-05-{day:02}T09:00:00Z",
        },
        {"role": "assistant", "content": [{"type": "text", "text": f"What did heron {day} do?"}]},
    ]
    return json.dumps({"session_id": f"day-{day}", "messages": messages, **fields}).encode() + b"\n"


def test_an_import_keeps_no_secret_that_names_a_field(host: httpx.Client, user: str) -> None:
    token, redaction = "ghp_" + "a1B2c3D4e5F6g7H8i9" * 2, "[redacted: github token]"
    message = {"role": "user", "content": "I bought a boat", token: 1}
    task = brought(host, user, [json.dumps({"messages": [message]}).encode()], of="conversations")
    assert task["result"]["ignored"] == [f"messages.*.{redaction}"]
    refused = brought(host, user, [a_conversation(1, **{token: 1})], of="conversations")
    assert refused["error"] == f"line 1: {redaction}: is not a field of a conversation"
    assert token not in json.dumps([task, refused])


def test_somebody_brings_their_conversations_who_has_memories_already_and_finds_them(
    host: httpx.Client, user: str
) -> None:
    save(host, user, "I keep bees", session_id="monday")
    lines = [a_conversation(day) for day in (9, 3, 12, 1, 7, 5, 8, 2)]
    file = b"".join(lines)
    task = brought(host, user, [file[:500], file[500:]], of="conversations")
    assert task["status"] == "succeeded", task
    assert {name: task["result"][name] for name in ("conversations", "of", "messages",
        "ignored")} == {
        "conversations": 8, "of": 8, "messages": {"new": 16, "known": 0}, "ignored": [],
    }  # fmt: skip
    asked = {"user_id": user, "query": "heron number 12", "limit": 1}
    (hit,) = host.post("/api/v1/memories/retrieve", json=asked).json()["results"]
    assert "heron number 12" in hit["memory"]["content"]
    assert brought(host, user, [file], of="conversations")["result"]["messages"] == {
        "new": 0,
        "known": 16,
    }
    bad = [*lines[:6], a_conversation(4, callback_url="https://secret.example"), a_conversation(6)]
    refused = brought(host, user, [b"".join(bad)], of="conversations")
    assert (refused["status"], refused["error"]) == (
        "failed",
        "line 7: callback_url: is not a field of a conversation",
    )
    assert problem(
        host.post(f"/api/v1/users/{user}/import", params={"of": "everything"}), 422, "of"
    )
    assert any(memory["content"] == "I keep bees" for memory in memories(host, user))


def test_the_example_of_the_documents_brings_a_file_of_several_parts(
    host: httpx.Client, user: str, tmp_path: Path
) -> None:
    (example,) = re.findall(
        r"```bash\n(import=.*?)```",
        (ROOT / "docs" / "api.md").read_text(encoding="utf-8"),
        re.DOTALL,
    )
    here = str(host.base_url).rstrip("/")
    changes = {
        "http://127.0.0.1:7071": here,
        "users/ana": f"users/{user}",
        "user_id=ana": f"user_id={user}",
        "-b 1048576": "-b 700",
    }
    for placeholder, meant in changes.items():
        assert placeholder in example
        example = example.replace(placeholder, meant)
    file = b"".join(a_conversation(day) for day in range(1, 9))
    (tmp_path / "year.jsonl").write_bytes(file)
    done = subprocess.run(
        ["bash", "-euc", example], capture_output=True, text=True, cwd=tmp_path, timeout=60
    )
    assert done.returncode == 0, done.stderr
    task_id = re.findall(r'"task_id": ?"(tsk_\w+)"', done.stdout)[-1]
    conversation = {
        "parts": len(list(tmp_path.glob("year.part.*"))),
        "sha256": hashlib.sha256(file).hexdigest(),
    }
    task = ended(
        host, host.post(f"/api/v1/users/{user}/import/{task_id}/commit", json=conversation)
    )
    assert (task["status"], task["result"]["conversations"]) == ("succeeded", 8)


def test_while_a_user_is_erased_reads_are_empty_and_saves_are_refused(
    host: httpx.Client, user: str
) -> None:
    """This host waits for its last worker, ten seconds at least."""
    memory = save(host, user, "I keep bees", session_id="monday")
    answer = host.delete(f"/api/v1/users/{user}")
    assert answer.status_code == 202
    mine = {"user_id": user}
    assert memories(host, user) == []
    assert host.get("/api/v1/sessions", params=mine).json()["sessions"] == []
    assert problem(host.get(f"/api/v1/memories/{memory['id']}", params=mine), 404)
    refused = host.post("/api/v1/memories/save", json={**mine, "content": "hello"})
    assert problem(refused, 409)
    assert "retry-after" not in refused.headers
    task = host.get(answer.headers["location"]).json()
    assert (task["kind"], task["status"] in ("accepted", "running")) == ("erase", True)
    assert problem(host.post(f"/api/v1/tasks/{task['task_id']}/cancel", json=mine), 409)
    assert host.delete(f"/api/v1/users/{user}").json()["task_id"] == task["task_id"]


def test_bad_requests_are_refused_with_what_is_wrong(host: httpx.Client, user: str) -> None:
    save(host, user, "I keep bees")
    path, unknown_path = f"/api/v1/users/{user}", f"/api/v1/users/nobody-{uuid.uuid4().hex}"
    assert problem(host.post(f"{unknown_path}/export"), 404)
    assert problem(host.post(f"{path}/import"), 409)
    assert problem(host.get(f"{path}/export/tsk_1"), 422, "part")
    assert problem(host.get(f"{path}/export/tsk_1", params={"part": 1}), 404)
    assert problem(host.delete(path, params={"user_id": "somebody"}), 422, "user_id")
    assert problem(host.delete("/api/v1/users/a%23b"), 422, "user_id")
    bringing = f"{unknown_path}/import/{host.post(f'{unknown_path}/import').json()['task_id']}"
    assert problem(
        host.put(
            bringing, params={"part": 1}, content=b"x", headers={"Content-Type": "application/json"}
        ),
        415,
    )
    assert problem(host.put(bringing, params={"part": 1}, content=b"", headers=LINES), 400)
    assert problem(host.put(bringing, params={"part": 0}, content=b"x", headers=LINES), 422, "part")
    assert problem(
        host.put(bringing, params={"part": 1}, content=b"x" * (2**20 + 1), headers=LINES), 413
    )
    assert problem(
        host.put(f"{unknown_path}/import/tsk_1", params={"part": 1}, content=b"x", headers=LINES),
        404,
    )
    assert problem(host.post(f"{bringing}/commit", json={"parts": 1, "sha256": "0" * 64}), 409)
    assert problem(host.post(f"{bringing}/commit", json={"parts": 1, "sha256": "x"}), 422, "sha256")


def test_erasing_needs_an_admin_or_oneself(tmp_path: Path) -> None:
    keys = [
        {
            "id": key.split("_")[2],
            "app": "shop",
            "sha256": hashlib.sha256(key.encode()).hexdigest(),
            "rights": rights,
            "user": bound,
        }
        for key, rights, bound in KEYS.values()
    ]
    with running(
        tmp_path, MEMORY_AUTH="on", MEMORY_API_KEYS=json.dumps(keys), MEMORY_ERASE_SETTLE_S="0"
    ) as client:

        def status(key_name: str, method: str, path: str) -> int:
            return client.request(
                method, path, headers={"X-API-Key": KEYS[key_name][0]}
            ).status_code

        for user in ("ana", "bo"):
            body = {"user_id": user, "content": "I keep bees"}
            assert (
                client.post(
                    "/api/v1/memories/save", json=body, headers={"X-API-Key": KEYS["writer"][0]}
                ).status_code
                == 201
            )
        asked = {
            key_name: [
                status(key_name, "DELETE", f"/api/v1/users/{user}") for user in ("bo", "ana")
            ]
            for key_name in ("reader", "writer", "ana-reads", "ana")
        }
        assert asked == {
            "reader": [403, 403],
            "writer": [403, 403],
            "ana-reads": [403, 403],
            "ana": [403, 202],
        }
        assert status("admin", "DELETE", "/api/v1/users/bo") == 202
        assert [
            status(key_name, "POST", "/api/v1/users/cy/import")
            for key_name in ("reader", "ana", "writer")
        ] == [403, 403, 202]
        assert [
            status(key_name, "POST", "/api/v1/users/ana/export")
            for key_name in ("ana-reads", "reader")
        ] != [403, 403]


def test_a_time_zone_is_set_read_and_used_and_an_unknown_one_is_refused_with_what_was_meant(
    host: httpx.Client,
) -> None:
    user = f"zoned-{uuid.uuid4().hex[:8]}"
    path = f"/api/v1/users/{user}/settings"
    assert host.get(path).json() == {"time_zone": None}
    assert host.put(path, json={"time_zone": "Europe/Berlin"}).json() == {
        "time_zone": "Europe/Berlin"
    }
    assert host.get(path).json() == {"time_zone": "Europe/Berlin"}
    refused = problem(host.put(path, json={"time_zone": "Berlin"}), 422)
    assert refused["did_you_mean"] == "Europe/Berlin"
    assert refused["errors"][0]["field"] == "time_zone"
    expected = {
        "user_id": user,
        "messages": [{"role": "user", "content": "Hi", "timestamp": "2026-05-08T12:00:00Z"}],
        "time_zone": "berlin",
    }
    assert (
        problem(host.post("/api/v1/memories", json=expected), 422)["did_you_mean"]
        == "Europe/Berlin"
    )
    assert problem(host.put(path, json={}), 422)["errors"][0]["field"] == "time_zone"
    assert host.put(path, json={"time_zone": None}).json() == {"time_zone": None}

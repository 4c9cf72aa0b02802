"""The commands of `memory-core`, each way: over HTTP with a key, in both profiles,
and on a data folder without a host.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from typer.testing import CliRunner

from memory_core.cli.application import app
from tests import fork_server
from tests.exported_chats import CLAUDE, MEM0, MEMORY_LINES, MESSAGE_LINES, chatgpt_conversation
from tests.host import ROOT, answer_when, running
from tests.profiles import Profile

if TYPE_CHECKING:
    from tests.azure_stores import AzureStores

SECRET = "4f7d9a31c05e8b26" * 2
KEYS = {"admin": "mc_shop_root_" + SECRET, "reader": "mc_shop_r1_" + SECRET}
RIGHTS = {"admin": ["admin"], "reader": ["read"]}
LOCKED = {
    "MEMORY_API_KEYS": json.dumps(
        [
            {
                "id": key.split("_")[2],
                "app": "shop",
                "sha256": hashlib.sha256(key.encode()).hexdigest(),
                "rights": RIGHTS[name],
            }
            for name, key in KEYS.items()
        ]
    ),
    "MEMORY_ERASE_SETTLE_S": "0",
}
"""The settings of a host that asks for keys."""
MANY = 120
"""Conversations, each of which is a call: enough to be interrupted in the middle of them."""


CTRL_C_ENDS = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
"""For a child: a shell starts what runs behind it with Ctrl-C ignored."""


class Commands:
    """Commands of one memory, for one user."""

    def __init__(
        self,
        folder: Path,
        monkeypatch: pytest.MonkeyPatch,
        variables: dict[str, str],
        *options: str,
    ) -> None:
        for name in [
            name for name in os.environ if name.startswith(("MEMORY_", "MEMORYCORE_", "LLM_"))
        ]:
            monkeypatch.delenv(name)
        variables = {
            "EMBEDDING_PROVIDER": "hash",
            "XDG_STATE_HOME": str(folder / "state"),
            "MEMORY_CORE_USER": "ana",
            **variables,
        }
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        self.options = options

    def run(self, *arguments: str, code: int = 0, user_input: str | None = None) -> Any:
        """The result of a command that ends with this exit code."""
        ours = logging.getLogger("memory_core")
        level = ours.level
        result = CliRunner().invoke(app, [*arguments, *self.options], input=user_input)
        ours.setLevel(level)  # a command is a process of its own, but here
        assert result.exit_code == code, (
            result.exit_code,
            result.stdout,
            result.stderr,
            result.exception,
        )
        assert "Traceback" not in result.stderr
        return result

    def json(self, *arguments: str) -> Any:
        """What a command prints with --json."""
        result = self.run(*arguments, "--json")
        assert "\x1b" not in result.stdout
        return json.loads(result.stdout)


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client of a host that asks for keys."""
    with running(tmp_path_factory.mktemp("locked"), **LOCKED) as client:
        client.headers["X-API-Key"] = KEYS["admin"]
        yield client


@pytest.fixture(scope="module")
def locked_azure(
    tmp_path_factory: pytest.TempPathFactory, azure_stores: AzureStores
) -> Iterator[httpx.Client]:
    """The same on the stores of Azure."""
    with running(
        tmp_path_factory.mktemp("azure"), **LOCKED, **Profile(azure_stores).settings()
    ) as client:
        client.headers["X-API-Key"] = KEYS["admin"]
        yield client


def sent_to(host: httpx.Client, user: str) -> dict[str, str]:
    """The variables that make commands send to a host."""
    return {
        "MEMORY_CORE_URL": str(host.base_url),
        "MEMORY_CORE_KEY": KEYS["admin"],
        "MEMORY_CORE_USER": user,
    }


@pytest.fixture
def remote(
    locked: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user: str
) -> Commands:
    return Commands(tmp_path, monkeypatch, sent_to(locked, user))


@pytest.fixture(params=["remote", "azure", "local"])
def commands(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user: str
) -> Commands:
    """Over HTTP in both profiles, and on a folder."""
    if request.param == "local":
        return Commands(
            tmp_path,
            monkeypatch,
            {"MEMORY_DATA": str(tmp_path / "data"), "MEMORY_ERASE_SETTLE_S": "0"},
        )
    host = request.getfixturevalue("locked" if request.param == "remote" else "locked_azure")
    return Commands(tmp_path, monkeypatch, sent_to(host, user))


def test_what_is_saved_is_found_shown_and_erased(commands: Commands, tmp_path: Path) -> None:
    where = (
        f"at {os.environ['MEMORY_CORE_URL']}"
        if "MEMORY_CORE_URL" in os.environ
        else f"in the folder {tmp_path / 'data'}"
    )
    assert f"has no memories here, {where.rstrip('/')}" in commands.run("search", "cello").stderr
    saved = commands.json(
        "save",
        "I play the cello",
        "--subject",
        "user",
        "--attribute",
        "instrument",
        "--tag",
        "music",
        "--agent",
        "coach",
    )
    memory_id = saved["memory"]["id"]
    assert [
        result["memory"]["id"] for result in commands.json("search", "I play the cello")["results"]
    ] == [memory_id]
    header, row = commands.run("search", "I play the cello").stdout.splitlines()
    assert header.split("\t") == ["rank", "relevance", "id", "day", "type", "content"]
    assert row.split("\t")[2::3] == [memory_id, "I play the cello"]
    nothing = commands.run("search", "Which tyres fit my bicycle?", "--type", "episodic")
    assert nothing.stdout == ""
    assert "Leave out --session, --type" in nothing.stderr
    assert "I play the cello" in commands.run("context", "I play the cello").stdout
    replacing = commands.run(
        "save", "I play the harp", "--subject", "user", "--attribute", "instrument"
    )
    assert replacing.stdout.startswith("created mem_")
    assert f'It replaced {memory_id} "I play the cello" (until 20' in replacing.stderr
    harp_id = replacing.stdout.split()[1]
    assert f'{harp_id} "I play the harp"' in commands.run("show", memory_id).stdout
    row = commands.run("timeline", "--types", "superseded").stdout.splitlines()[1].split("\t")
    assert row[2:] == [memory_id, f"I play the cello → {harp_id}"]
    record = commands.json("show", memory_id, "--versions")
    assert (record["status"], record["tags"]) == ("superseded", ["music"])
    assert [event["event_type"] for event in commands.json("timeline")["events"]][:1] == ["created"]
    assert [
        memory["content"]
        for memory in commands.json("replay", "--known-at", "2020-01-01")["memories"]
    ] == []
    assert len(commands.json("replay", "--known-at", "2999-01-01")["memories"]) == 2
    (conflict,) = commands.json("conflicts", "list", "--status", "resolved")["conflicts"]
    assert commands.json("conflicts", "undo", conflict["id"])["status"] == "pending"
    pending = commands.run("conflicts", "list").stdout.splitlines()[1].split("\t")
    assert pending[3:] == [f'{memory_id} "I play the cello"', f'{harp_id} "I play the harp"']
    day = record["event_timestamp"][:10]
    row = commands.run("search", "I play the cello", "--limit", "1").stdout.splitlines()[1]
    mark = f"I play the harp (in conflict with what was said on {day}: I play the cello)"
    assert row.split("\t")[5] == mark
    assert f" (disputed on {day}: I play the " in commands.run("profile").stdout
    assert "(supersede)" in commands.run("conflicts", "decide", conflict["id"], "supersede").stdout
    assert commands.json("delete", harp_id)["status"] == "deleted"
    assert commands.run("restore", harp_id).stdout == f"restored {harp_id}: active\n"
    bees = commands.json("save", "I keep bees")["memory"]["id"]
    assert commands.json("forget", "--id", bees, "--hard", "--dry-run")["counts"]["forgotten"] == 1
    assert "say --yes" in commands.run("forget", "--id", bees, "--hard", code=2).stderr
    assert (
        "    forgotten: 1"
        in commands.run("forget", "--id", bees, "--hard", "--yes").stdout.splitlines()
    )
    commands.run("show", bees, code=3)
    assert (
        commands.json("audit", "--action", "memories_forgotten", "--limit", "1")["entries"][0][
            "target"
        ]["user_id"]
        == record["user_id"]
    )
    assert commands.json("consolidate")["status"] == "succeeded"
    assert "No scenes yet" in commands.run("scenes").stderr
    commands.json("profile")
    (agent,) = [
        agent for agent in commands.json("users")["agents"] if agent["user_id"] == record["user_id"]
    ]
    assert (agent["agent_id"], agent["memories"]) == ("coach", 0), (
        "what is superseded is not counted"
    )
    done = commands.json("tasks", "list", "--kind", "consolidate")["tasks"][0]
    assert commands.json("tasks", "show", done["task_id"], "--wait")["status"] == "succeeded"
    assert commands.run("tasks", "cancel", done["task_id"], code=1).stderr.startswith(
        "memory-core: "
    )

    file = tmp_path / "ana.jsonl"
    assert commands.json("export", str(file))["counts"]["memory"] == 2
    assert "--overwrite replaces it" in commands.run("export", str(file), code=2).stderr
    assert "say --yes" in commands.run("erase", record["user_id"], code=2).stderr
    assert "two users" in commands.run("erase", "ben", "--user", "ana", "--yes", code=2).stderr
    assert "whose data" in commands.run("erase", "--yes", code=2).stderr
    assert commands.json("erase", "--user", record["user_id"], "--yes")["status"] == "succeeded"
    commands.run("show", memory_id, code=3)
    assert commands.json("import", str(file), "--no-wait")["new"] == 2
    assert commands.json("show", memory_id)["content"] == "I play the cello"


def test_each_format_is_imported_once_however_often_it_is_sent(
    commands: Commands, tmp_path: Path
) -> None:
    files: dict[str, tuple[str, int]] = {
        "chatgpt": (json.dumps([chatgpt_conversation()]), 2),
        "claude": (json.dumps(CLAUDE), 2),
        "mem0": (json.dumps(MEM0), 1),
        "messages": ("\n".join(MESSAGE_LINES), 3),
        "memories": ("\n".join(MEMORY_LINES), 1),
    }
    for kind, (content, count) in files.items():
        file = tmp_path / f"{kind}.json"
        file.write_text(content, encoding="utf-8")
        looked_at = commands.json("import", str(file), "--dry-run")
        assert (looked_at["format"], looked_at["items"]) == (kind, count)
        report = commands.json("import", str(file), "--no-wait")
        assert (report["new"], report["known"], report["sent"]) == (count, 0, count), kind
        assert report["skipped"] == looked_at["skipped"] != []
        assert commands.json("import", str(file), "--no-wait")["sent"] == 0
        if kind not in ("mem0", "memories"):
            again = commands.json("import", str(file), "--no-wait", "--again")
            assert (again["new"], again["known"]) == (0, count), kind
    # waits until all of it is formed
    report = commands.json("import", str(tmp_path / "chatgpt.json"))
    assert report["conflicts_to_decide"] == 0
    assert commands.json("tasks", "list", "--status", "accepted")["tasks"] == []
    (tmp_path / "broken.json").write_text('[{"mapping": {', encoding="utf-8")
    assert "broken or ends" in commands.run("import", str(tmp_path / "broken.json"), code=1).stderr
    commands.run("import", str(tmp_path / "missing.json"), code=2)


def test_an_import_tells_messages_by_a_name_and_counts_what_is_to_be_decided(
    remote: Commands, tmp_path: Path
) -> None:
    chat = tmp_path / "chat.jsonl"
    chat.write_text(
        '{"role": "user", "content": "I drive a Golf.", "timestamp": "2026-03-02T12:00:00Z"}',
        encoding="utf-8",
    )
    instrument = ("--subject", "Noah", "--attribute", "instrument")
    remote.run("save", "Noah plays the cello", *instrument)
    remote.run(
        "conflicts",
        "undo",
        remote.json("save", "Noah plays the harp", *instrument)["conflict"]["id"],
    )
    assert (
        "Conflicts to decide: 1 (memory-core conflicts list)"
        in remote.run("import", str(chat), "--actor", "Noah").stdout
    )
    assert "Noah drives a Golf" in remote.run("timeline", "--types", "semantic").stdout
    assert remote.json("import", str(chat), "--actor", "Noah")["sent"] == 0
    (tmp_path / "memories.jsonl").write_text(MEMORY_LINES[0], encoding="utf-8")
    assert (
        "--actor is for messages"
        in remote.run("import", str(tmp_path / "memories.jsonl"), "--actor", "Noah", code=2).stderr
    )


def test_an_import_that_is_interrupted_and_killed_goes_on_and_doubles_nothing(
    remote: Commands, locked: httpx.Client, user: str, tmp_path: Path
) -> None:
    file, states = tmp_path / "conversations.json", tmp_path / "state" / "memory-core" / "imports"
    file.write_text(
        json.dumps([chatgpt_conversation(f"c{number}") for number in range(MANY)]), encoding="utf-8"
    )
    command = fork_server.command("memory_core.cli", "import", str(file), "--no-wait")

    def ended_after(calls: int, how: signal.Signals) -> subprocess.CompletedProcess[str]:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=CTRL_C_ENDS,
        )
        answer_when(
            lambda: acknowledged(states), lambda count: count > calls or process.poll() is not None
        )
        process.send_signal(how)
        out, err = process.communicate(timeout=60)
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    interrupted = ended_after(0, signal.SIGINT)
    assert interrupted.returncode == 130, interrupted
    assert "the same command goes on from there" in interrupted.stderr
    killed = ended_after(acknowledged(states), signal.SIGKILL)
    assert killed.returncode == -signal.SIGKILL, (
        "the file was sent before it could be killed: take more conversations"
    )
    report = remote.json("import", str(file), "--no-wait")
    assert (report["new"], report["known"]) == (2 * MANY, 0)
    assert 0 < report["sent"] < 2 * MANY
    for number in (0, MANY // 3, MANY - 1):
        path = f"/api/v1/sessions/chatgpt-c{number}/messages"
        assert len(locked.get(path, params={"user_id": user}).json()["messages"]) == 2


def test_an_import_that_fails_after_its_first_items_says_how_it_goes_on(
    remote: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key may send the messages, and may not look at the tasks that are waited for."""
    (tmp_path / "chat.jsonl").write_text('{"role": "user", "content": "I keep bees"}')
    key = remote.json("keys", "make", "--name", "sender", "--right", "write")["key"]
    monkeypatch.setenv("MEMORY_CORE_KEY", key)
    failed = remote.run("import", str(tmp_path / "chat.jsonl"), code=4)
    assert "Interrupted after 1 items: the same command goes on from there." in failed.stderr


def acknowledged(states: Path) -> int:
    """The calls that the only state file counts."""
    return sum(json.loads(file.read_bytes())["calls"] for file in states.glob("*.json"))


def test_what_a_service_refuses_is_reported_and_the_rest_is_sent(
    remote: Commands, tmp_path: Path
) -> None:
    (tmp_path / "lines.jsonl").write_text(
        "\n".join(
            [
                '{"role": "user", "content": "I keep bees", "timestamp": "2026-05-08T12:00:00Z"}',
                (
                    '{"role": "user", "content": "I will keep hens", "timestamp": '
                    '"2999-05-08T12:00:00Z"}'
                ),
            ]
        ),
        encoding="utf-8",
    )
    report = remote.json("import", str(tmp_path / "lines.jsonl"), "--no-wait")
    assert report["new"] == 1
    (skipped,) = report["skipped"]
    assert skipped["reason"].startswith("refused: timestamp: ")


def test_errors_have_an_exit_code_a_reason_and_the_name_of_the_request(remote: Commands) -> None:
    missing = remote.run("show", "mem_nothing", code=3)
    assert "correlation id" in missing.stderr
    error = json.loads(remote.run("show", "mem_nothing", "--json", code=3).stderr)["error"]
    assert (error["status"], error["exit_code"]) == (404, 3)
    assert error["correlation_id"]
    remote.run("search", "x", "--user", "", code=2)
    remote.run("search", "x", "--limit", "0", code=2)
    remote.run("search", "x", "--data", "here", "--url", "http://127.0.0.1:1", code=2)
    remote.run("save", "x", "--type", "nonsense", code=2)
    assert remote.run("save", "x", "--at", "2024", code=2).stderr.startswith(
        "memory-core: --at: must be "
    )
    remote.run("nonsense", code=2)
    assert "admin" in remote.run("users", "--key", KEYS["reader"], code=4).stderr
    remote.run("search", "x", "--key", "mc_shop_x_" + SECRET, code=4)
    assert "does not answer" in remote.run("doctor", "--url", "http://127.0.0.1:1", code=1).stdout


def test_keys_are_made_rotated_and_withdrawn(remote: Commands) -> None:
    made = remote.json("keys", "make", "--name", "laptop", "--right", "read")
    listed = {key["key_id"]: key for key in remote.json("keys", "list")["keys"]}
    assert "key" not in listed[made["key_id"]]
    rotated = remote.json("keys", "rotate", made["key_id"], "--overlap", "0")
    assert rotated["replaces"] == made["key_id"]
    remote.run("search", "x", "--key", rotated["key"])
    remote.run("keys", "withdraw", rotated["key_id"])
    remote.run("search", "x", "--key", rotated["key"], code=4)


def test_the_doctor_finds_nothing_wrong_and_then_a_wrong_setting(
    commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_PORT", "0")
    report = commands.json("doctor")
    assert report["ok"], report
    assert {check["status"] for check in report["checks"]} <= {"ok", "warning"}
    if "MEMORY_CORE_URL" not in os.environ:
        monkeypatch.setenv("MEMORY_LONG_TERM", "paper")
        monkeypatch.setenv("MEMORY_DATA", "/dev/null/folder")
        wrong = [
            check
            for check in json.loads(commands.run("doctor", "--json", code=1).stdout)["checks"]
            if check["status"] == "wrong"
        ]
        assert [check["name"] for check in wrong] == ["settings", "data folder"]
        assert "MEMORY_LONG_TERM" in wrong[0]["detail"]


def test_the_doctor_takes_what_a_setting_switched_off_for_well(
    commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_PORT", "0")
    monkeypatch.setenv("MEMORY_SHORT_TERM", "none")
    report = commands.json("doctor")
    assert report["ok"], report


def test_a_served_folder_is_found_from_anywhere(tmp_path: Path) -> None:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("MEMORY_")
    }
    environment |= {
        "EMBEDDING_PROVIDER": "hash",
        "XDG_DATA_HOME": str(tmp_path / "share"),
        "PYTHONPATH": str(ROOT),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "memory_core.cli", "serve", "--port", "0"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = next(line.split()[1] for line in process.stdout if line.startswith("  address"))
        answer_when(
            lambda: httpx.get(f"{address}/health/ready").status_code, lambda status: status == 200
        )
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 0
    assert (tmp_path / "share" / "memory-core").is_dir()

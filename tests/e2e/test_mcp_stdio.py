"""`memory-core mcp`: the same tools over stdin and stdout, of a folder on this machine or of a
memory elsewhere.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from mcp import MCPError

from memory_core.cli.__main__ import main
from tests import fork_server
from tests.e2e.test_http_keys_on import KEYS, as_settings
from tests.host import ROOT, Host, running, save
from tests.mcp_client import MODES, Person, answer, over_stdio, refusal
from tests.ports import kept_for

TOOLS = 6
ANSWERED_S = 180
each_mode = pytest.mark.parametrize(
    "mode", [MODES[0], pytest.param(MODES[1], marks=pytest.mark.long)]
)
"""Over HTTP each test is run in both generations; here each costs a process or two, of which the
older has its turn in `make test-long`.
"""


on_one_profile = pytest.mark.parametrize("profile", ["embedded"], indirect=True)
"""For what passes calls on to a host: that host's stores are no concern of it."""


def id_in(text: str) -> str:
    match = re.search(r"mem_\w+", text)
    assert match is not None, text
    return match[0]


@each_mode
async def test_a_folder_on_this_machine_is_a_memory(tmp_path: Path, mode: str) -> None:
    folder = str(tmp_path / "data")
    async with over_stdio("--data", folder, mode=mode) as client:
        assert len((await client.list_tools()).tools) == TOOLS
        await answer(
            client,
            "memory_save",
            content="I play the cello",
            subject="user",
            attribute="instrument",
        )
        assert "cello" in await answer(client, "memory_search", query="I play the cello")
        assert "query: is required" in await refusal(client, "memory_search")
        assert "I play the cello" in await answer(
            client, "memory_context", query="Which instrument do I play?"
        )
    async with over_stdio("--data", folder, "--user", "somebody-else", mode=mode) as client:
        assert "cello" not in await answer(client, "memory_search", query="I play the cello")


@each_mode
async def test_conversations_are_formed_although_no_host_runs(tmp_path: Path, mode: str) -> None:
    turns = [
        {"role": "user", "content": "I moved to Lisbon."},
        {"role": "assistant", "content": "How do you like it?"},
    ]
    async with over_stdio("--data", str(tmp_path / "data"), mode=mode) as client:
        await answer(client, "memory_converse", messages=turns, session_id="monday")
        changes = ""
        for _ in range(500):
            changes = await answer(client, "memory_timeline", types=["semantic"], limit=100)
            if "Lisbon" in changes:
                break
        assert "Lisbon" in changes


@each_mode
async def test_forgetting_asks_the_person_behind_the_client(tmp_path: Path, mode: str) -> None:
    person = Person(agrees=False)
    async with over_stdio("--data", str(tmp_path / "data"), mode=mode, person=person) as client:
        memory_id = id_in(await answer(client, "memory_save", content="The alarm code is 4711"))
        assert (await answer(client, "memory_forget", ids=[memory_id], confirm="true")).startswith(
            "The user did not agree"
        )
        person.change_mind()
        assert (await answer(client, "memory_forget", ids=[memory_id], confirm="true")).startswith(
            "Being forgotten now"
        )
    assert all("The alarm code is 4711" in question for question in person.asked)
    assert len(person.asked) == 2


async def test_two_processes_work_on_one_folder_which_outlives_them(tmp_path: Path) -> None:
    folder = str(tmp_path / "data")
    async with over_stdio("--data", folder) as first, over_stdio("--data", folder) as second:
        await answer(first, "memory_save", content="My locker is number 12")
        assert "number 12" in await answer(
            second, "memory_search", query="Which number is my locker?"
        )
        await answer(second, "memory_save", content="My bicycle is red")
        assert "red" in await answer(first, "memory_search", query="My bicycle is red")
    async with over_stdio("--data", folder) as third:
        assert "red" in await answer(third, "memory_search", query="My bicycle is red")


@on_one_profile
@each_mode
@pytest.mark.parametrize("can_ask", [True, False])
async def test_a_memory_elsewhere_is_served_as_if_it_were_here(
    host: httpx.Client, user: str, mode: str, can_ask: bool
) -> None:
    person = Person(agrees=False) if can_ask else None
    async with over_stdio(
        "--url", str(host.base_url), "--user", user, mode=mode, person=person
    ) as client:
        assert len((await client.list_tools()).tools) == TOOLS
        assert len((await client.list_resources()).resources) == 2
        assert len((await client.list_resource_templates()).resource_templates) == 1
        assert len((await client.list_prompts()).prompts) == 2
        memory_id = id_in(await answer(client, "memory_save", content="The alarm code is 4711"))
        assert "4711" in await answer(client, "memory_search", query="What is the alarm code?")
        assert "query: is required" in await refusal(client, "memory_search")
        assert (await refusal(client, "memory_save", content="x" * 2**20)).startswith(
            "Not done. Too large: body: is over 1048576 bytes"
        )
        assert (await client.read_resource("memory://profile")).contents
        assert (await client.get_prompt("recall", {"topic": "the alarm code"})).messages
        done = await answer(client, "memory_forget", ids=[memory_id])
        if person is None:
            assert done.startswith("1 memory would be hidden, and could be restored.")
        else:
            assert done.startswith("The user did not agree")
            person.change_mind()
            assert (await answer(client, "memory_forget", ids=[memory_id])).startswith(
                "Being forgotten now"
            )
            assert all("4711" in question for question in person.asked)
            assert len(person.asked) == 2


async def test_a_key_from_the_environment_opens_a_memory_elsewhere(tmp_path: Path) -> None:
    with running(tmp_path, MEMORY_API_KEYS=as_settings()) as locked:
        key, url = KEYS["anas"][0], str(locked.base_url)
        async with over_stdio("--url", url, MEMORYCORE_KEY=key) as client:
            assert (await answer(client, "memory_save", content="I keep bees")).startswith(
                "Saved as"
            )
        with httpx.Client(base_url=locked.base_url, headers={"X-API-Key": key}) as beside:
            save(beside, "ana", "I keep hens")
        assert "API key is needed" in failed("--url", url)
        assert "not known" in failed("--url", url, "--key", key + "x")
        assert "bound to another user" in failed("--url", url, "--key", key, "--user", "ben")


class Place:
    """Whose port stays its own while no host listens there."""


@each_mode
async def test_an_outage_of_a_memory_elsewhere_ends_nothing_but_the_calls_that_it_meets(
    tmp_path: Path, mode: str
) -> None:
    place = Place()
    port = str(kept_for(place))
    host = Host(tmp_path, "--port", port)
    try:
        async with over_stdio("--url", host.url, "--user", "ana", mode=mode) as client:
            await answer(client, "memory_save", content="I keep bees")
            host.stop()
            refused = await refusal(client, "memory_search", query="I keep bees")
            assert re.search(
                r"can't be reached just now \(.*no answer.*\)\. Go on without it", refused
            )
            with pytest.raises(MCPError, match="can't be reached just now"):
                await client.read_resource("memory://scenes")
            host = Host(tmp_path, "--port", port)
            assert host.url
            assert "bees" in await answer(client, "memory_search", query="I keep bees")
    finally:
        host.stop()


def failed(*arguments: str) -> str:
    """What a start that fails says, in one line."""
    command = fork_server.command("memory_core.cli", "mcp", *arguments)
    done = subprocess.run(command, cwd=ROOT, input="", capture_output=True, text=True, timeout=180)
    assert done.returncode in (2, 4, 5), done  # wrong usage, refused, not available
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("memory-core: ")
    return line


def test_a_start_that_fails_says_why_in_one_line(tmp_path: Path) -> None:
    assert "http://127.0.0.1:1/mcp: no answer" in failed("--url", "http://127.0.0.1:1")
    assert "--url should be an address" in failed("--url", "nonsense")
    assert "--user must not contain" in failed("--user", "a/b", "--data", str(tmp_path / "data"))


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--url", "http://127.0.0.1:1", "--data", "x"], "give either --data or --url"),
        (["--key", "mc_x"], "--key is for --url"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    capsys: pytest.CaptureFixture[str], arguments: list[str], why: str
) -> None:
    assert main(["mcp", *arguments]) == 2
    assert why in capsys.readouterr().err


def test_stdout_has_nothing_but_messages_and_an_end_of_stdin_ends_it(tmp_path: Path) -> None:
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "memory_save", "arguments": {"content": "x"}},
        },
    ]
    given = "".join(json.dumps(line) + "\n" for line in lines) + "no json\n"
    command = [sys.executable, "-m", "memory_core.cli", "mcp", "--data", str(tmp_path / "data")]
    env = {**os.environ, "LOG_LEVEL": "debug", "EMBEDDING_PROVIDER": "hash"}
    done = subprocess.run(
        command, cwd=ROOT, input=given, capture_output=True, text=True, timeout=180, env=env
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0
    assert {1} <= {line.get("id") for line in answers}
    assert all(line["jsonrpc"] == "2.0" for line in answers)
    assert "Traceback" not in done.stderr
    assert "no json" not in done.stderr


@contextmanager
def ended(process: subprocess.Popen[str]) -> Iterator[None]:
    """Kill the process after a while, so that reading its answers ends."""
    timer = threading.Timer(ANSWERED_S, process.kill)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def test_each_line_that_is_no_message_is_answered_with_an_error(tmp_path: Path) -> None:
    check_refused_lines("--data", str(tmp_path / "data"))


@on_one_profile
def test_a_memory_elsewhere_answers_each_line_that_is_no_message_with_an_error(
    host: httpx.Client,
) -> None:
    check_refused_lines("--url", str(host.base_url), "--user", "ana")


def check_refused_lines(*where: str) -> None:
    refused: list[tuple[str, int, int | str | None]] = [
        ("garbage", -32700, None),
        ("[]", -32600, None),
        (
            '{"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"x": "\\ud800"}}',
            -32600,
            4,
        ),
        ('{"jsonrpc": "1.0", "id": "five", "method": "ping"}', -32600, "five"),
        ('{"jsonrpc": "2.0", "id": [6], "method": "ping"}', -32600, None),
        ('{"jsonrpc": "2.0", "id": "\\ud800", "method": "ping"}', -32600, None),
        ("[" * 100_000, -32700, None),
    ]
    ping = '{"jsonrpc": "2.0", "id": 9, "method": "ping"}'
    command = fork_server.command("memory_core.cli", "mcp", *where)
    env = {**os.environ, "EMBEDDING_PROVIDER": "hash"}
    with (
        subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, text=True
        ) as process,
        ended(process),
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        for line, code, request_id in refused:
            process.stdin.write(f"{line}\n")
            process.stdin.flush()
            answered = json.loads(process.stdout.readline())
            assert (answered["error"]["code"], answered["id"]) == (code, request_id), line[:80]
            assert "garbage" not in answered["error"]["message"]
        process.stdin.write(f"\n{ping}\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 9
        process.stdin.close()
        assert process.wait(60) == 0


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_although_stdin_is_open(tmp_path: Path, how: signal.Signals) -> None:
    command = fork_server.command("memory_core.cli", "mcp", "--data", str(tmp_path / "data"))
    env = {**os.environ, "EMBEDDING_PROVIDER": "hash"}
    with (
        subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, text=True
        ) as process,
        ended(process),
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write('{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        process.send_signal(how)
        assert process.wait(60) == -how


def test_help_and_version_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, word in (
        (["--version"], "memory-core "),
        (["--help"], "mcp"),
        (["mcp", "--help"], "--url"),
    ):
        assert main(arguments) == 0
        assert word in capsys.readouterr().out

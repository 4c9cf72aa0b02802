"""`make run-azure`, by the command behind it: it ends with nothing left behind,
however it ends, and finds its memories again.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from memory_core.config import Settings
from tests import fork_server
from tests.host import ROOT, memories, save

START_S = 90
GONE_S = 60


class Command:
    """One run of it, on a free port. under: a program that starts it and waits, as make does."""

    def __init__(self, data: Path, *under: str) -> None:
        self.said = data / f"terminal-{time.monotonic_ns()}.txt"
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("MEMORY_")
        }
        arguments = ["--port", "0", "--data", str(data)]
        environment["EMBEDDING_PROVIDER"] = "hash"
        with self.said.open("wb") as terminal:
            self.process = (
                subprocess.Popen(
                    [sys.executable, *under, *arguments],
                    cwd=ROOT,
                    env=environment,
                    stdout=terminal,
                    stderr=subprocess.STDOUT,
                )
                if under
                else fork_server.start(
                    ["tests.azure_profile", *arguments],
                    env=environment,
                    stdout=terminal,
                    stderr=subprocess.STDOUT,
                )
            )

    def terminal(self) -> str:
        return self.said.read_text()

    def client(self) -> httpx.Client:
        """Of its host, once that says that it is ready."""
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline and self.process.poll() is None:
            if "Stop with Ctrl+C" in self.terminal():
                assert "status    ready" in self.terminal()
                return httpx.Client(
                    base_url=re.findall(r"address +(http://\S+)", self.terminal())[0], timeout=30
                )
            time.sleep(0.05)
        raise AssertionError(f"it did not start:\n{self.terminal()}")

    def host(self) -> int:
        """The process of its host."""
        listed = subprocess.run(
            ["ps", "-A", "-o", "pid=,args="], capture_output=True, text=True, check=True
        ).stdout
        rows = [line.split(None, 1) for line in listed.splitlines()]
        family = descendants(self.process.pid)
        (pid_of_host,) = [
            int(pid)
            for pid, line in rows
            if int(pid) in family
            and re.search(r"-m memory_core\.localhost", line)
            and "child.py" not in line
        ]
        return pid_of_host

    def end(self, how: signal.Signals) -> int:
        """Its exit code, once none of its processes is left."""
        family = descendants(self.process.pid)
        assert len(family) >= 8  # three servers and the host, each with its watcher
        self.process.send_signal(how)
        code = self.process.wait(GONE_S)
        deadline = time.monotonic() + GONE_S
        while left := family & processes().keys():
            assert time.monotonic() < deadline, f"{len(left)} processes are left"
            time.sleep(0.05)
        return code


UNDER = ("-c", (
    "import os, subprocess, sys; subprocess.run([sys.executable, '-m', 'tests.azure_profile', "
    "*sys.argv[1:], '--parent-pid', str(os.getpid())])"
))  # fmt: skip


def processes() -> dict[int, int]:
    """The parent of every process that runs."""
    listed = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid=,stat="], capture_output=True, text=True, check=True
    ).stdout
    rows = [line.split() for line in listed.splitlines()]
    return {int(pid): int(parent) for pid, parent, state in rows if not state.startswith("Z")}


def descendants(pid: int) -> set[int]:
    parents = processes()
    pids = {pid}
    while more := {child for child, parent in parents.items() if parent in pids} - pids:
        pids |= more
    return pids - {pid}


@pytest.fixture
def commands(tmp_path: Path) -> Iterator[list[Command]]:
    started: list[Command] = []
    yield started
    for command in started:
        if command.process.poll() is None:
            command.process.kill()
            command.process.wait()


def test_however_it_ends_nothing_is_left_and_the_next_one_finds_the_memories(
    tmp_path: Path, commands: list[Command]
) -> None:
    ends = [(signal.SIGKILL, ()), (signal.SIGKILL, UNDER), (signal.SIGINT, ())]
    codes = []
    for number, (how, under) in enumerate(ends):
        commands.append(Command(tmp_path, *under))
        with commands[-1].client() as client:
            assert len(memories(client, "ana")) == number
            save(client, "ana", f"note {number}")
        frozen = re.search(r"redis://.*process (\d+)", commands[-1].terminal())
        assert frozen is not None
        # one that can't answer can't be left behind, either
        os.kill(int(frozen[1]), signal.SIGSTOP)
        codes.append(commands[-1].end(how))
    assert codes == [-signal.SIGKILL, -signal.SIGKILL, 0]
    assert "Stopped; nothing is left running." in commands[-1].terminal()


def test_a_second_one_on_the_same_folder_says_so(tmp_path: Path, commands: list[Command]) -> None:
    commands.append(Command(tmp_path))
    with commands[-1].client() as client:
        values = json.loads((tmp_path / "local.settings.json").read_text())["Values"]
        assert str(Settings.from_env(values).cosmos_endpoint) in commands[-1].terminal()
        # as this run, whose vectors are in the container
        assert values["EMBEDDING_PROVIDER"] == "hash"
        second = Command(tmp_path)
        assert second.process.wait(START_S) == 1
        assert f"another one runs on {tmp_path}" in second.terminal()
        assert client.get("/health/ready").json()["status"] == "ready"
    assert commands[-1].end(signal.SIGTERM) == 0


def test_a_host_that_is_killed_takes_the_rest_along_and_that_is_said(
    tmp_path: Path, commands: list[Command]
) -> None:
    commands.append(Command(tmp_path))
    with commands[-1].client():
        family = descendants(commands[-1].process.pid)
        os.kill(commands[-1].host(), signal.SIGKILL)
        assert commands[-1].process.wait(GONE_S) == 1
    assert "The host was ended by SIGKILL" in commands[-1].terminal()
    deadline = time.monotonic() + GONE_S
    while family & processes().keys():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_wrong_settings_stop_it_with_one_line_and_nothing_left(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.azure_profile", "--port", "0", "--data", str(tmp_path)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "MEMORY_AUTH": "maybe"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "MEMORY_AUTH" in done.stderr

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
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import httpx
import pytest

from memory_core.config import Settings
from tests import child, fork_server
from tests.host import ROOT, memories, save

START_S = 90
GONE_S = 60
READY = "Stop with Ctrl+C"


class Terminal:
    """What a program and all that it starts print, read as it comes."""

    def __init__(self, output: IO[bytes]) -> None:
        self._text, self._is_closed = "", False
        self._changed = threading.Condition()
        threading.Thread(target=self._read, args=(output,), daemon=True).start()

    def _read(self, output: IO[bytes]) -> None:
        with output:
            for line in output:
                with self._changed:
                    self._text += line.decode()
                    self._changed.notify_all()
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def until(self, words: str) -> str:
        """What is printed, once it has these words, or all that print have ended."""
        with self._changed:
            self._changed.wait_for(lambda: words in self._text or self._is_closed, START_S)
            return self._text

    def whole(self) -> str:
        """All that was printed, once all that print have ended."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._is_closed, GONE_S)
            return self._text


class Command:
    """One run of it, on a free port. under: a program that starts it and waits, as make does; then
    it and its host are interpreters of their own, as for a user, else forks.
    """

    def __init__(self, data: Path, *under: str) -> None:
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("MEMORY_")
        }
        arguments = ["--port", "0", "--data", str(data)]
        environment["EMBEDDING_PROVIDER"] = "hash"
        self.process = (
            subprocess.Popen(
                [sys.executable, *under, *arguments],
                cwd=ROOT,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
            if under
            else fork_server.start(
                ["tests.azure_profile", *arguments],
                env=environment | {fork_server.PYTHON: fork_server.python()},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
        )
        assert self.process.stdout is not None
        self.terminal = Terminal(self.process.stdout)

    def client(self) -> httpx.Client:
        """Of its host, once that says that it is ready."""
        printed = self.terminal.until(READY)
        assert READY in printed, f"it did not start:\n{printed}"
        assert "status    ready" in printed
        return httpx.Client(base_url=re.findall(r"address +(http://\S+)", printed)[0], timeout=30)

    def host(self) -> int:
        """The process of its host."""
        listed = subprocess.run(
            ["ps", "-A", "-ww", "-o", "pid=,args="], capture_output=True, text=True, check=True
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
        with all_ended(family):
            self.process.send_signal(how)
            return self.process.wait(GONE_S)


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


@contextmanager
def all_ended(pids: Iterable[int]) -> Iterator[None]:
    """Wait at its end until these processes have ended, too."""
    files: list[int] = []
    for pid in pids:
        with suppress(ProcessLookupError):
            files.append(os.pidfd_open(pid))
    try:
        yield
        deadline = time.monotonic() + GONE_S
        left = [file for file in files if not child.is_readable(file, deadline - time.monotonic())]
        assert not left, f"{len(left)} processes are left"
    finally:
        for file in files:
            os.close(file)


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
        frozen = re.search(r"redis://.*process (\d+)", commands[-1].terminal.until(READY))
        assert frozen is not None
        # one that can't answer can't be left behind, either
        os.kill(int(frozen[1]), signal.SIGSTOP)
        codes.append(commands[-1].end(how))
    assert codes == [-signal.SIGKILL, -signal.SIGKILL, 0]
    assert "Stopped; nothing is left running." in commands[-1].terminal.whole()


def test_a_second_one_on_the_same_folder_says_so(tmp_path: Path, commands: list[Command]) -> None:
    commands.append(Command(tmp_path))
    with commands[-1].client() as client:
        values = json.loads((tmp_path / "local.settings.json").read_text())["Values"]
        assert str(Settings.from_env(values).cosmos_endpoint) in commands[-1].terminal.until(READY)
        # as this run, whose vectors are in the container
        assert values["EMBEDDING_PROVIDER"] == "hash"
        second = Command(tmp_path)
        assert second.process.wait(START_S) == 1
        assert f"another one runs on {tmp_path}" in second.terminal.whole()
        assert client.get("/health/ready").json()["status"] == "ready"
    assert commands[-1].end(signal.SIGTERM) == 0


def test_a_host_that_is_killed_takes_the_rest_along_and_that_is_said(
    tmp_path: Path, commands: list[Command]
) -> None:
    commands.append(Command(tmp_path))
    with commands[-1].client(), all_ended(descendants(commands[-1].process.pid)):
        os.kill(commands[-1].host(), signal.SIGKILL)
        assert commands[-1].process.wait(GONE_S) == 1
    assert "The host was ended by SIGKILL" in commands[-1].terminal.whole()


def test_wrong_settings_stop_it_with_one_line_and_nothing_left(tmp_path: Path) -> None:
    command = fork_server.command("tests.azure_profile", "--port", "0", "--data", str(tmp_path))
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

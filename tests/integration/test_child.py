"""What a server has started ends with it, also what is frozen, however its starter ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests import child
from tests.host import ROOT, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="sessions are read from /proc")

# A server with a process of its own, in a group of its own as workers are, which outlives it.
SERVER = """
import os, signal
if os.fork() == 0:
    os.setpgid(0, 0)
    signal.pause()
print(os.getpid(), flush=True)
signal.pause()
"""
STARTER = f"""
import subprocess, sys
from tests import child
server = child.start([sys.executable, "-c", {SERVER!r}], stdout=subprocess.PIPE)
print(server.stdout.readline().decode(), end="", flush=True)
server.wait()
sys.stdin.read()
"""


@pytest.fixture
def server() -> Iterator[subprocess.Popen[bytes]]:
    process = child.start([sys.executable, "-c", SERVER], stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        assert int(process.stdout.readline()) == process.pid
        yield process
    finally:
        child.end(process)


def test_members_are_the_server_and_what_it_started(server: subprocess.Popen[bytes]) -> None:
    first, second = child.members(server.pid)
    assert first == server.pid
    assert os.getsid(second) == server.pid


def test_what_a_server_started_is_gone_once_it_is_ended(server: subprocess.Popen[bytes]) -> None:
    _, worker = child.members(server.pid)
    os.kill(worker, signal.SIGSTOP)
    assert child.end(server) == -signal.SIGKILL
    assert child.members(server.pid) == []


def test_what_a_killed_server_started_may_go_on_until_that_is_ended(
    server: subprocess.Popen[bytes],
) -> None:
    _, worker = child.members(server.pid)
    server.kill()
    assert server.wait() == -signal.SIGKILL
    assert child.members(server.pid) == [worker]
    child.end(server)
    assert child.members(server.pid) == []


@pytest.mark.parametrize("is_server_killed", [False, True])
def test_what_is_frozen_ends_when_the_starter_is_killed(is_server_killed: bool) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STARTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    ) as starter:
        assert starter.stdout is not None
        server = int(starter.stdout.readline())
        _, worker = child.members(server)
        if is_server_killed:
            os.kill(server, signal.SIGKILL)
            until(lambda: child.members(server), [worker])
            os.kill(worker, signal.SIGSTOP)
        else:
            for pid in (server, worker):
                os.kill(pid, signal.SIGSTOP)
        starter.kill()
    until(lambda: child.members(server), [])

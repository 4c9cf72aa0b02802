"""Run a server that must not outlive who started it, however that one dies.

The server takes the place of this program's process, so the starter knows its pid. Beside it stays
a watcher, which reads the standard input: the starter holds the other end open for as long as it
lives. What a reader would get wrong: a watcher that looked from time to time whether the starter's
pid is still there would be simpler, but a stranger may have got the number since.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.fork_server import Program

GRACE_S = 3.0
"""How long a server may take to write down what it holds, once its starter is gone."""
STOP_S = 20.0
"""How long it may take to stop when it is asked to."""


def start(
    command: Sequence[str], *, alone: Path | None = None, **options: Any
) -> subprocess.Popen[bytes]:
    """`subprocess.Popen(command, **options)` of a server that ends when this process does.
    It can't be sent any input.

    alone: a file; of all servers started with it, the next begins when the last has ended. So the
    data of one that is still ending, because its starter was killed, are never opened by two. The
    server has a session of its own: Ctrl+C reaches the starter only.
    """
    if alone is not None:
        alone.parent.mkdir(parents=True, exist_ok=True)
    program = [
        sys.executable,
        "-S",
        str(Path(__file__).resolve()),
        str(alone.resolve()) if alone else "",
        *command,
    ]
    return subprocess.Popen(program, stdin=subprocess.PIPE, start_new_session=True, **options)


def end(process: Program, how: signal.Signals = signal.SIGKILL) -> int:
    """End a server of `start`, or a fork, and let go of its pipes; its exit code. A frozen one,
    too; one that does not stop is killed.
    """
    if process.poll() is None:
        process.send_signal(how)
        process.send_signal(signal.SIGCONT)
    try:
        code = process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        code = process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
    return code


def _watch(server: int) -> None:
    """Wait for the starter's end; then end the server, unless it has ended already and this process
    has another parent.
    """
    nowhere = os.open(os.devnull, os.O_RDWR)
    # else whoever reads the server's output would wait for the watcher to end, too
    for output in (1, 2):
        os.dup2(nowhere, output)
    while os.read(0, 1):
        pass
    for how, wait_s in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, 0.0)):
        if os.getppid() != server:
            return
        os.kill(server, how)
        os.kill(server, signal.SIGCONT)
        deadline = time.monotonic() + wait_s
        while os.getppid() == server and time.monotonic() < deadline:
            time.sleep(0.05)


def _main(alone: str, command: list[str]) -> None:
    server = os.getpid()
    if os.fork() == 0:
        _watch(server)
        os._exit(0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    if alone:
        lock = os.open(alone, os.O_RDWR | os.O_CREAT, 0o600)
        os.set_inheritable(lock, True)  # held by the server itself, until it is gone
        fcntl.flock(lock, fcntl.LOCK_EX)
    os.execvp(command[0], command)


if __name__ == "__main__":
    _main(sys.argv[1], sys.argv[2:])

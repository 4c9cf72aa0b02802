"""Run a server that must not outlive who started it, however that one dies.

The server takes the place of this program's process, so the starter knows its pid. Beside it stays
a watcher, which reads the standard input: the starter holds the other end open for as long as it
lives. A watcher that looked from time to time whether the starter's pid is still there would be
simpler, but another process may have got the number since.

What the server starts itself has its session, and ends with it, also where the server has died
before; that needs Linux. The watcher is of that session, too, so the number stays the session's.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.fork_server import Program

GRACE_S = 3.0
"""How long a server may take to write down what it holds, once its starter is gone."""
STOP_S = 20.0
"""How long it may take to stop when it is asked to."""
_NAME = Path(__file__).name.encode()


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
    too; one that does not stop is killed, as is what it has left running.
    """
    if process.poll() is None:
        process.send_signal(how)
        process.send_signal(signal.SIGCONT)
    try:
        code = process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        code = process.wait()
    deadline = time.monotonic() + STOP_S
    while (left := members(process.pid)) and time.monotonic() < deadline:
        for pid in left:
            _kill(pid, deadline)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
    return code


def members(session: int) -> list[int]:
    """The processes of a server of `start` that run or are frozen, itself first where it does, but
    for its watcher; none where there is no /proc.
    """
    pids = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            state, _, _, its_session = (
                (folder / "stat").read_text().rpartition(")")[2].split(maxsplit=4)[:4]
            )
            if int(its_session) != session or state in "ZX":
                continue
            is_watcher = int(folder.name) != session and _NAME in (folder / "cmdline").read_bytes()
            if not is_watcher:
                pids.append(int(folder.name))
    return sorted(pids, key=lambda pid: (pid != session, pid))


def _kill(pid: int, deadline: float) -> None:
    """Kill a process that is no child of this one, and wait until it has ended."""
    with suppress(ProcessLookupError):
        file = os.pidfd_open(pid)
        try:
            signal.pidfd_send_signal(file, signal.SIGKILL)
            is_readable(file, deadline - time.monotonic())
        finally:
            os.close(file)


def is_readable(file: int, seconds: float) -> bool:
    """Whether a file has something to read, or has ended, within so many seconds; whatever its
    number is, of which `select` takes none above 1,023.
    """
    poll = select.poll()
    poll.register(file, select.POLLIN)
    return bool(poll.poll(max(0.0, seconds) * 1000))


def _send_all(session: int, signal_number: signal.Signals) -> None:
    for pid in members(session):
        with suppress(ProcessLookupError):
            os.kill(pid, signal_number)


def _watch(server: int) -> None:
    """Wait for the starter's end; then end the server, unless it has ended already and this process
    has another parent.
    """
    nowhere = os.open(os.devnull, os.O_RDWR)
    # else a reader of the server's output would wait for the watcher to end, too
    for output in (1, 2):
        os.dup2(nowhere, output)
    while os.read(0, 1):
        pass
    for how, wait_s in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, 0.0)):
        if os.getppid() == server:
            os.kill(server, how)
            os.kill(server, signal.SIGCONT)
        # its own processes end by themselves then, unless they are frozen
        _send_all(server, signal.SIGCONT if how is signal.SIGTERM else how)
        deadline = time.monotonic() + wait_s
        while (os.getppid() == server or members(server)) and time.monotonic() < deadline:
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

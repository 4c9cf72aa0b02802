"""Run a server that must not outlive who started it: `python tests/child.py redis-server --port 0 …`.

The server takes this process's place, so its pid is the one the starter knows. Beside it stays a watcher, which reads the
standard input: the starter holds the other end open for as long as it lives, however it dies. What a reader would get wrong:
a watcher that compared process ids from time to time would be simpler, but it could end a stranger that got the number since.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

GRACE_S = 3.0
"""How long the server may take to write down what it holds, once its starter is gone."""


def start(command: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
    """`subprocess.Popen(command, **options)` of a server that ends when this process does. It can't be sent any input."""
    return subprocess.Popen([sys.executable, "-S", str(Path(__file__).resolve()), *command], stdin=subprocess.PIPE, **options)


def end(process: subprocess.Popen[bytes], how: signal.Signals = signal.SIGKILL) -> int:
    """End a server of `start`, frozen or not, and let go of its pipes; its exit code."""
    if process.poll() is None:
        process.send_signal(how)
        process.send_signal(signal.SIGCONT)
    code = process.wait(30)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
    return code


def _watch(server: int) -> None:
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.SIG_IGN)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for output in (1, 2):  # else whoever reads the server's output would wait for the watcher to end, too
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


def _main(command: list[str]) -> None:
    server = os.getpid()
    if os.fork() == 0:
        _watch(server)
        os._exit(0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.execvp(command[0], command)


if __name__ == "__main__":
    _main(sys.argv[1:])

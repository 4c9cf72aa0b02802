"""Programs of this project as forks of one process that has imported already what they import: a
start costs a tenth of the time.

`start` is `subprocess.Popen` of `python -m module`: folder, environment, input and output are the
program's own, and so are its pid, its signals and its exit code. Note:
nothing that a start does after its imports is shared. The server opens no store, starts no thread
and reads no setting; what depends on the environment is read by each fork, in its own.

A program ends when the process that asked for it is gone, or its server. Where forks are not safe
(macOS), each gets an interpreter of its own.
"""

from __future__ import annotations

import atexit
import ctypes
import fcntl
import gc
import importlib
import json
import os
import pkgutil
import runpy
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO, NoReturn

import memory_core
from tests.forked import ask, line

ROOT = Path(__file__).parents[1]
CAN_FORK = sys.platform == "linux"
IMPORTED_LATER = (
    "azure.cosmos.aio",
    "azure.storage.blob.aio",
    "azure.storage.queue.aio",
    "redis.asyncio",
    "tests.cosmos_emulator.server",
    "uvicorn",
    "uvloop",
)
"""What the project imports only where settings ask for it, and the emulator."""
READ_AT_IMPORT = ("LANG", "LC_", "OTEL_", "PROMETHEUS_", "PYTHON", "SSL", "TYPER_")
"""How variables begin that libraries and the interpreter read once, so that a fork comes too late
for another value. Ours come later.
"""
HEEDED_OR_HARMLESS = {"PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "PYTHONUNBUFFERED", "PYTHONUTF8"}
MOST_FILES = 64
"""So many a program can be given."""
PYTHON = "TESTS_PYTHON"
"""A variable for a fork: the interpreter of the processes that it starts in its turn."""
_LIBC = ctypes.CDLL(None)
_END_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of Linux."""


class Fork:
    """One program, used as `subprocess.Popen` is. Its input is empty where no pipe is asked for;
    its output is this process's.
    """

    def __init__(
        self,
        address: Path,
        arguments: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        stdin: int | None = None,
        stdout: int | IO[bytes] | None = None,
        stderr: int | IO[bytes] | None = None,
    ) -> None:
        self.args, self.returncode = arguments, None
        self.stdin: IO[bytes] | None = None
        self.stdout: IO[bytes] | None = None
        self.stderr: IO[bytes] | None = None
        with _ends() as opened:
            given = os.open(os.devnull, os.O_RDWR)
            opened.append(given)
            files = [given, 1, 2]
            if stdin == subprocess.PIPE:
                files[0], far = os.pipe()
                opened.append(files[0])
                self.stdin = os.fdopen(far, "wb", 0)
            if stdout == subprocess.PIPE:
                near, files[1] = os.pipe()
                opened.append(files[1])
                self.stdout = os.fdopen(near, "rb")
            elif stdout is not None:
                files[1] = stdout if isinstance(stdout, int) else stdout.fileno()
            if stderr == subprocess.STDOUT:
                files[2] = files[1]
            elif stderr is not None:
                files[2] = stderr if isinstance(stderr, int) else stderr.fileno()
            numbered = [(file, number) for number, file in enumerate(files)]
            self._server = ask(str(address), list(arguments), str(cwd), dict(env), numbered)
        self.pid = int(line(self._server))

    def poll(self) -> int | None:
        """Its exit code, minus a signal's number where a signal ended it; None while it runs."""
        return self._ended(0)

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, once it has ended. Raises subprocess.TimeoutExpired after so
        many seconds.
        """
        code = self._ended(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(list(self.args), timeout or 0)
        return code

    def send_signal(self, how: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            # it may end, and be waited for, in between
            with suppress(ProcessLookupError):
                os.kill(self.pid, how)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def _ended(self, timeout: float | None) -> int | None:
        if self.returncode is None:
            self._server.settimeout(timeout)
            try:
                self.returncode = int(line(self._server))
            except (TimeoutError, BlockingIOError):
                return None
            self._server.close()
        return self.returncode


Program = Fork | subprocess.Popen[bytes]


@contextmanager
def _ends() -> Iterator[list[int]]:
    """Ends of pipes that are the program's, closed here once it has them."""
    opened: list[int] = []
    try:
        yield opened
    finally:
        for end in opened:
            os.close(end)


def start(
    arguments: Sequence[str],
    *,
    cwd: Path = ROOT,
    env: Mapping[str, str],
    stdin: int | None = None,
    stdout: int | IO[bytes] | None = None,
    stderr: int | IO[bytes] | None = None,
) -> Program:
    """Start `python -m` with these arguments. stdin: none, or PIPE; stdout and stderr:
    as for `subprocess.Popen`.

    With a variable of its own that is read at import it gets an interpreter of its own.
    """
    if CAN_FORK and not _own(env):
        return Fork(
            _server_here()[0],
            arguments,
            cwd=cwd,
            env=env,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
        )
    return start_afresh(arguments, cwd=cwd, env=env, stdin=stdin, stdout=stdout, stderr=stderr)


def start_afresh(
    arguments: Sequence[str],
    *,
    cwd: Path = ROOT,
    env: Mapping[str, str],
    stdin: int | None = None,
    stdout: int | IO[bytes] | None = None,
    stderr: int | IO[bytes] | None = None,
) -> subprocess.Popen[bytes]:
    """The same by an interpreter of its own, for what a start itself does."""
    return subprocess.Popen(
        [sys.executable, "-m", *arguments],
        cwd=cwd,
        env=env,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
    )


def command(*arguments: str) -> list[str]:
    """A command that does what `python -m` with these arguments does, for tests that start
    processes themselves.

    Its process passes its input, its output and the signals that it gets on to a fork, and ends as
    that does. Not for variables that are read at import.
    """
    if CAN_FORK:
        return [
            sys.executable,
            "-I",
            "-S",
            str(Path(__file__).with_name("forked.py")),
            str(_server_here()[0]),
            *arguments,
        ]
    return [sys.executable, "-m", *arguments]


@cache
def python() -> str:
    """An interpreter for what starts processes by itself: it does what `python -m` does as
    `command` does, and anything else as the real one.
    """
    if not CAN_FORK:
        return sys.executable
    address = _server_here()[0]
    program = address.with_name("python")
    stand_in = Path(__file__).with_name("forked.py")
    program.write_text(
        f"#!{sys.executable} -IS\n"
        "import os, runpy, sys\n"
        "if sys.argv[1:2] != ['-m']:\n"
        f"    os.execv({sys.executable!r}, [{sys.executable!r}, *sys.argv[1:]])\n"
        f"sys.argv[1:2] = [{str(address)!r}]\n"
        f"runpy.run_path({str(stand_in)!r}, run_name='__main__')\n"
    )
    program.chmod(0o700)
    return str(program)


@cache
def _server_here() -> tuple[Path, Mapping[str, str]]:
    """Where this process's server listens, and its environment; it ends with this process."""
    address = Path(tempfile.mkdtemp(prefix="fork-")) / "socket"
    # A number of threads would be the parent's only, and what tests set in their own environment is
    # no concern of the forks.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.fork_server", str(address)],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )

    def end() -> None:
        assert server.stdin is not None
        server.stdin.close()
        server.wait()

    atexit.register(end)
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n", "the fork server did not start"
    server.stdout.close()
    return address, environment


def _own(env: Mapping[str, str]) -> list[str]:
    """The variables that are read at import and whose value is another one than at the imports
    of the server.
    """
    imported = _server_here()[1]
    return [
        name
        for name in env.keys() - HEEDED_OR_HARMLESS
        if name.startswith(READ_AT_IMPORT) and env[name] != imported.get(name)
    ]


class _Server:
    """Forks when asked, and says how the forks ended."""

    def __init__(self, address: str) -> None:
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(address)
        self._listening.listen(64)
        self._asked: dict[int, socket.socket] = {}  # by the pid of the fork
        self._woken, self._waking = socket.socketpair()
        for end in (self._woken, self._waking):
            end.setblocking(False)
        self._selector = selectors.DefaultSelector()

    def run(self) -> None:
        """Serve until its starter closes the input or is gone; then no fork lives on."""
        # Ctrl+C is for who started it, who then closes the input
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._waking.fileno())
        for readable in (self._listening, self._woken, 0):
            self._selector.register(readable, selectors.EVENT_READ)
        while True:
            for key, _ in self._selector.select():
                if key.fd == 0:
                    self._end_all()
                    return
                if key.fileobj is self._woken:
                    self._woken.recv(4096)
                elif key.fileobj is self._listening:
                    self._accept()
                else:
                    self._drop(key.data)
            self._reap()

    def _accept(self) -> None:
        connection, _ = self._listening.accept()
        head, files, _, _ = socket.recv_fds(connection, 4, MOST_FILES)
        length = int.from_bytes(head)
        assert len(head) == 4, "a request begins with its length"
        request = b""
        while len(request) < length:
            piece = connection.recv(length - len(request))
            if not piece:
                break
            request += piece
        asked = json.loads(request)
        pid = os.fork()
        if pid == 0:
            self._become(connection, files, asked)
        for file in files:
            os.close(file)
        self._asked[pid] = connection
        self._selector.register(connection, selectors.EVENT_READ, pid)
        connection.sendall(f"{pid}\n".encode())

    def _become(
        self, connection: socket.socket, files: list[int], asked: dict[str, object]
    ) -> NoReturn:
        """Go on as the program that was asked for. Nothing of the server is left open in it."""
        _LIBC.prctl(_END_WITH_PARENT, signal.SIGKILL)
        os.setsid()  # Ctrl+C is for who asked, who ends it
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._selector.close()
        for inherited in (
            self._listening,
            self._woken,
            self._waking,
            connection,
            *self._asked.values(),
        ):
            inherited.close()
        numbers = asked["files"]
        assert isinstance(numbers, list)
        # out of the way first: the number of one may be another's in the program
        above = max(numbers) + 1
        copies = [fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, above) for file in files]
        for file in files:
            os.close(file)
        for number, file in zip(numbers, copies, strict=True):
            os.dup2(file, number)
            os.close(file)
        _run(asked)

    def _drop(self, pid: int) -> None:
        """The process that asked for this fork is gone, so it ends."""
        os.kill(pid, signal.SIGKILL)
        self._selector.unregister(self._asked[pid])

    def _reap(self) -> None:
        for pid in list(self._asked):
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                connection = self._asked.pop(pid)
                if connection in self._selector.get_map():
                    self._selector.unregister(connection)
                with suppress(BrokenPipeError):  # where who asked for it is gone
                    connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
                connection.close()

    def _end_all(self) -> None:
        for pid in self._asked:
            os.kill(pid, signal.SIGKILL)
        for pid in self._asked:
            os.waitpid(pid, 0)


def _run(asked: dict[str, object]) -> NoReturn:
    """Run a program as `python -m` does, and end as it ends."""
    arguments, cwd, env = asked["arguments"], asked["cwd"], asked["env"]
    assert isinstance(arguments, list)
    assert isinstance(cwd, str)
    assert isinstance(env, dict)
    code: object = 1
    try:
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(env)
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        time.tzset()
        sys.stdin, sys.stdout, sys.stderr = (
            os.fdopen(
                number,
                mode,
                1 if number == 2 else -1,
                stream.encoding,
                stream.errors,
                closefd=False,
            )
            for number, mode, stream in (
                (0, "r", sys.stdin),
                (1, "w", sys.stdout),
                (2, "w", sys.stderr),
            )
        )
        sys.executable = os.environ.pop(PYTHON, sys.executable)
        sys.path[0] = cwd
        importlib.invalidate_caches()
        sys.argv = arguments
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as end:
        code = end.code
        if isinstance(code, str):
            sys.stderr.write(f"{code}\n")
    except KeyboardInterrupt:
        traceback.print_exc()
        code = -signal.SIGINT
    except BaseException:
        traceback.print_exc()
    _end(code)


def _end(code: object) -> NoReturn:
    """End as an interpreter does, without taking all objects apart one by one."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            code = code or 120  # what Python itself says where its output can't be written
    if code == -signal.SIGINT:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(code if isinstance(code, int) else int(code is not None))


def main(address: str) -> None:
    """Import, say "ready", serve, and remove the folder of the socket.

    Raises AssertionError where an import has left a thread, for a fork would be without it.
    """
    for module in pkgutil.walk_packages(memory_core.__path__, f"{memory_core.__name__}."):
        if not module.name.endswith(".__main__"):
            importlib.import_module(module.name)
    for name in IMPORTED_LATER:
        importlib.import_module(name)
    assert len(os.listdir("/proc/self/task")) == 1, (
        "something that was imported has started a thread"
    )
    server = _Server(address)
    gc.collect()
    gc.freeze()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    try:
        server.run()
    finally:
        shutil.rmtree(Path(address).parent)


if __name__ == "__main__":
    main(sys.argv[1])

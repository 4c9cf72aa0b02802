"""Azurite, Microsoft's emulator of Azure Storage, as a process of a test's own: started on ports
that stay its, killed, brought back.

It comes from npm and needs Node, which comes from PyPI: both in fixed versions, whatever the
machine has. The first use installs it into `.cache` beside the project's files (about 20 s); later
ones start it in about a second.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests import child
from tests.npm import NODE, npm
from tests.ports import kept_for

AZURITE = "azurite@3.35.0"
CACHE = Path(__file__).parents[1] / ".cache"
START_S = 60
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""The account and the key that every Azurite has. They are published, and open nothing else."""

_PROGRAM = Path("node_modules/azurite/dist/src/azurite.js")
_SERVICES = ("blob", "queue", "table")
_LISTENS = "service is successfully listening at"


class AzuriteServer:
    """One Azurite on 127.0.0.1 that ends with the process that started it.

    Without a `data` folder it keeps nothing: after `kill` and `start` it is empty, on the same
    ports. With one, `stop` and `start` bring everything back, and so does the death
    of the process that started it; what was written in the five seconds before a `kill` may be
    lost, for Azurite writes its lists every five seconds. certificate: a PEM file with a key; then
    it speaks HTTPS and takes tokens too.
    """

    def __init__(self, data: Path | None = None, certificate: Path | None = None) -> None:
        self._data, self._certificate = data, certificate
        self._ports = {name: kept_for(self) for name in _SERVICES}
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def connection_string(self) -> str:
        """Names the account, its key, its blobs and its queues."""
        endpoints = (f"{name.capitalize()}Endpoint={self.url(name)};" for name in ("blob", "queue"))
        return f"DefaultEndpointsProtocol={self._scheme};AccountName={ACCOUNT};AccountKey={KEY};{''.join(endpoints)}"  # noqa: E501

    def url(self, service: str) -> str:
        """Address of the account's `blob` or `queue` service."""
        return f"{self._scheme}://127.0.0.1:{self._ports[service]}/{ACCOUNT}"

    @property
    def _scheme(self) -> str:
        return "https" if self._certificate else "http"

    @property
    def pid(self) -> int:
        """Of the server that runs now."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start and return once it accepts connections."""
        location = (
            ["--location", str(self._data.resolve())] if self._data else ["--inMemoryPersistence"]
        )
        ports = [
            part
            for name in _SERVICES
            for part in (f"--{name}Host", "127.0.0.1", f"--{name}Port", str(self._ports[name]))
        ]
        options = ["--skipApiVersionCheck", "--disableTelemetry", "--silent"]
        if self._certificate is not None:
            options += [
                "--oauth",
                "basic",
                "--cert",
                str(self._certificate),
                "--key",
                str(self._certificate),
            ]
        command = [str(NODE), str(_installed()), *location, *ports, *options]
        # Not into a pipe: Azurite says that it closes, and a pipe whose reader was killed would end
        # it there, with nothing written down.
        with tempfile.TemporaryFile() as output:
            self._process = child.start(
                command,
                alone=self._data and self._data / "lock",
                cwd=CACHE,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
            self._wait_until_listening(self._process, output.fileno(), time.monotonic() + START_S)

    def kill(self) -> None:
        """End it at once, as a crash would."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Ask it to end, and wait until it has written down what it holds."""
        self._end(signal.SIGTERM)

    def freeze(self) -> None:
        """Stop answering, with all connections left open."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Answer again."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            child.end(self._process, how)
            self._process = None

    @staticmethod
    def _wait_until_listening(
        process: subprocess.Popen[bytes], output: int, deadline: float
    ) -> None:
        while True:
            ended = process.poll() is not None
            # the place to write at is shared with Azurite, so it must not move
            seen = os.pread(output, 65536, 0).decode(errors="replace")
            if seen.count(_LISTENS) == len(_SERVICES):
                return
            if ended or time.monotonic() > deadline:
                child.end(process)
                raise RuntimeError(f"Azurite did not start:\n{seen}")
            time.sleep(0.02)


@contextmanager
def running(data: Path | None = None, certificate: Path | None = None) -> Iterator[AzuriteServer]:
    """An Azurite for as long as the block runs."""
    server = AzuriteServer(data, certificate)
    server.start()
    try:
        yield server
    finally:
        server.kill()


def _installed() -> Path:
    """Azurite's program, installed if it is not there; of two processes that want it,
    one installs and the other waits.
    """
    folder = CACHE / AZURITE
    CACHE.mkdir(exist_ok=True)
    with (CACHE / f"{AZURITE}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            _install(folder)
    return folder / _PROGRAM


def _install(folder: Path) -> None:
    """Install beside and rename, so that a folder of this name is always a whole one."""
    unfinished = folder.with_suffix(".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    options = [
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        "--omit=dev",
        "--loglevel=error",
        "--prefix",
        str(unfinished),
    ]
    npm("install", *options, AZURITE, where=unfinished)
    unfinished.rename(folder)
    # where tests/conftest.py has Node keep what it compiles: it does at an end of its own accord,
    # and tests kill Azurite
    subprocess.run(
        [str(NODE), str(folder / _PROGRAM), "--version"], check=True, capture_output=True
    )

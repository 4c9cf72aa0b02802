"""The development host as a process of its own, on a free port and a folder of the bench's.

It ends with the bench, however that ends. Note: `stop` is graceful, `kill` is not; only what is
there after a kill was really kept.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from tests import child

ROOT = Path(__file__).resolve().parent.parent


class Host:
    """One running host. `started_s`: seconds from the start of the process until it listened."""

    def __init__(
        self,
        data: Path,
        embedder: str = "hash",
        *,
        settings: Mapping[str, str] | None = None,
        app: Path = ROOT,
        workers: int = 1,
    ) -> None:
        """Start it and wait until it listens.

        Args:
            data: Its folder; what it logs is in `host.log` there.
            embedder: Of the local ones, `hash` or `minilm`.
            settings: Further environment variables.
            app: The folder of the `function_app.py` that it serves; the code beside it is the
                one that runs.
            workers: How many processes answer.

        Raises:
            RuntimeError: It did not start; with what it said.

        """
        began = time.perf_counter()
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("MEMORY_", "EMBEDDING_", "LLM_"))
        }
        environment |= {"EMBEDDING_PROVIDER": embedder, "LOG_LEVEL": "WARNING", **(settings or {})}
        data = data.resolve()
        command = [
            sys.executable,
            "-m",
            "memory_core.localhost",
            "--port",
            "0",
            "--data",
            str(data),
            *(["--workers", str(workers)] if workers > 1 else []),
        ]
        data.mkdir(parents=True, exist_ok=True)
        with (data / "host.log").open("ab") as log:
            self._process = child.start(
                command, cwd=app, env=environment, stdout=subprocess.PIPE, stderr=log
            )
        self.port = self._read_port(data)
        self.started_s = time.perf_counter() - began

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    def _read_port(self, data: Path) -> int:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            words = line.decode().split()
            if words[:1] == ["address"]:
                return int(words[1].rpartition(":")[2])
        self.kill()
        raise RuntimeError(
            f"the host did not start: {(data / 'host.log').read_text().strip()[-500:]}"
        )

    def rss_mb(self) -> float | None:
        """Resident memory of the process and those that it started; None where there is
        no /proc.
        """
        try:
            return sum(map(_rss_mb, self._processes()))
        except FileNotFoundError:
            return None

    def cpu_s(self) -> float | None:
        """Seconds of a processor that they have taken; None where there is no /proc."""
        try:
            return sum(map(_cpu_s, self._processes()))
        except FileNotFoundError:
            return None

    def _processes(self) -> list[int]:
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text()
        return [self.pid, *map(int, children.split())]

    def stop(self) -> None:
        """Ask it to finish, as Ctrl+C does."""
        child.end(self._process, signal.SIGINT)

    def kill(self) -> None:
        """End it without a chance to write anything more."""
        child.end(self._process, signal.SIGKILL)


def _rss_mb(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:")), 0.0)


def _cpu_s(pid: int) -> float:
    """User and system time, the fields after the name, which may have spaces."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

"""The Cosmos DB emulator as a process of a test's own: started on ports that stay its own,
steered, killed and started again.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests import child, fork_server
from tests.ports import kept_for

ROOT = Path(__file__).parents[1]
START_S = 30
KEY = "ZW11bGF0b3I="
"""An account key. The emulator takes any."""
IGNORES_RANK, REFUSES_DISTANCE = "--ignore-rank-with-key", "--refuse-distance-beside-rank"
"""What a live account may make of a query by words with a partition key, and of
similarities beside it.
"""
STORM = (
    "throttle",
    "retry_with",
    "gone",
    "unavailable",
    "timeout",
    "slow",
    "cut_before",
    "cut_after",
)
"""Every way in which a request can fail or hang, the last one after it was carried out."""


class Steered(ABC):
    """An emulator that tests steer and look at, wherever it runs."""

    endpoint: str

    def __init__(self) -> None:
        self.provisioned: dict[int, tuple[str, str]] = {}
        """By the length of vectors, a database and a container that the product has made here."""

    def fault(self, kind: str, **rule: Any) -> None:
        """Let requests fail: see `faults.Rule` for what a rule may say."""
        self._control("POST", "faults", {"kind": kind, **rule})

    def storm(self, share: float = 0.2) -> None:
        """Let this share of all requests for documents fail, by faults of every kind in
        equal parts.
        """
        for number, kind in enumerate(STORM):
            self.fault(
                kind,
                operations=["documents"],
                probability=share / len(STORM),
                seed=number,
                retry_after_ms=5,
                delay_ms=20,
            )

    def faults(self) -> list[dict[str, Any]]:
        """The rules in force, with how often each has struck."""
        rules: list[dict[str, Any]] = self._control("GET", "faults")
        return rules

    def heal(self) -> None:
        """End all faults."""
        self._control("DELETE", "faults")

    def requests(self) -> list[dict[str, Any]]:
        """What was asked since the last `forget_requests`, in order."""
        requests: list[dict[str, Any]] = self._control("GET", "requests")
        return requests

    def forget_requests(self) -> None:
        """Begin the log again."""
        self._control("DELETE", "requests")

    def lag(self, *, milliseconds: float = 0.0, commits: int = 0) -> None:
        """Let the replica's port be this far behind from now on."""
        self._control("POST", "lag", {"milliseconds": milliseconds, "commits": commits})

    def catch_up(self) -> None:
        """Let the replica have everything again."""
        self._control("DELETE", "lag")

    def advance(self, seconds: float) -> None:
        """Move the emulator's clock forward."""
        self._control("POST", "clock", {"advance_s": seconds})

    def copy_container(self, of: tuple[str, str], to: tuple[str, str]) -> None:
        """Make an empty container with the policies of another, and its database where it
        is missing; each is named by its database and itself.
        """
        self._control("POST", "containers", {"of": of, "to": to})

    @abstractmethod
    def _control(self, method: str, resource: str, body: Any = None) -> Any:
        """Ask the emulator for something that its tests alone may ask for."""


class CosmosServer(Steered):
    """One emulator. With a `data` file, `kill` and `start` bring it back on the same ports with
    its documents.
    """

    def __init__(
        self,
        data: Path | None = None,
        *,
        consistency: str = "Strong",
        ranges: int = 1,
        certificate: Path | None = None,
        flags: Sequence[str] = (),
    ) -> None:
        super().__init__()
        self._data = data
        self._options = ["--consistency", consistency, "--ranges", str(ranges), *flags]
        if certificate is not None:
            self._options += ["--certificate", str(certificate)]
        self._ports = [kept_for(self), kept_for(self)]
        self._process: fork_server.Program | None = None
        self._door: httpx.Client | None = None
        self.endpoint = ""
        self.replica = ""

    @property
    def pid(self) -> int:
        """Of the server that runs now."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start and return once it answers."""
        where = ["--port", str(self._ports[0]), "--replica-port", str(self._ports[1])]
        data_options = ["--data", str(self._data)] if self._data else []
        program = ["tests.cosmos_emulator", *where, *data_options, *self._options]
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        if self._data is None and fork_server.CAN_FORK:
            self._process = fork_server.start(program, env=environment, stdout=subprocess.PIPE)
        else:
            alone = self._data and self._data.with_name(f"{self._data.name}.lock")
            self._process = child.start(
                [sys.executable, "-m", *program],
                alone=alone,
                cwd=ROOT,
                env=environment,
                stdout=subprocess.PIPE,
            )
        assert self._process.stdout is not None
        started = child.is_readable(self._process.stdout.fileno(), START_S)
        line = self._process.stdout.readline() if started else b""
        if not line:
            self.kill()
            raise RuntimeError("the Cosmos emulator did not start")
        addresses = json.loads(line)
        self.endpoint, self.replica = addresses["endpoint"], addresses["replica"]
        self._wait_until_ready(time.monotonic() + START_S)

    def kill(self) -> None:
        """End it at once, as a crash would."""
        if self._process is not None:
            child.end(self._process)
            self._process = None
        if self._door is not None:
            self._door.close()
            self._door = None
        self.provisioned.clear()

    def _control(self, method: str, resource: str, body: Any = None) -> Any:
        # A rule set in one call is in force in the next request: the emulator answers one at a
        # time. Without `verify=False` a client would read the list of authorities, 60 ms,
        # to speak plain HTTP.
        if self._door is None:
            self._door = httpx.Client(timeout=10, trust_env=False, verify=False)
        response = self._door.request(method, f"{self.endpoint}_emulator/{resource}", json=body)
        response.raise_for_status()
        return response.json() if response.content else None

    def _wait_until_ready(self, deadline: float) -> None:
        while time.monotonic() < deadline:
            try:
                self._control("GET", "ready")
                return
            except httpx.TransportError:
                time.sleep(0.02)
        raise RuntimeError("the Cosmos emulator does not answer")


@contextmanager
def running(data: Path | None = None, **options: Any) -> Iterator[CosmosServer]:
    """An emulator for as long as the block runs."""
    server = CosmosServer(data, **options)
    server.start()
    try:
        yield server
    finally:
        server.kill()

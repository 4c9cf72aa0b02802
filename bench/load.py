"""The load: clients on keep-alive connections, each with its requests made before the clock starts.

Note: the client shares the machine with the server. An ordinary HTTP client tops out at some 500
requests a second and would measure itself; this one writes bytes, reads a length and parses
nothing, and its ceiling is printed beside what it measures.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import orjson


class Ask(NamedTuple):
    """One request, ready for the wire; `kind` says under what its time is counted."""

    kind: str
    wire: bytes


def ask(kind: str, method: str, path: str, body: Any = None) -> Ask:
    """A request; `body` becomes JSON."""
    payload = b"" if body is None else orjson.dumps(body)
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(payload)}\r\n\r\n"
    )
    return Ask(kind, head.encode("ascii") + payload)


class Answer(NamedTuple):
    """Status and body."""

    status: int
    body: bytes


class Connection:
    """One keep-alive connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def to(cls, port: int) -> Self:
        """Connect to this machine."""
        return cls(*await asyncio.open_connection("127.0.0.1", port, limit=2**22))

    async def send(self, wire: bytes) -> Answer:
        """One request and its whole answer. Raises OSError, asyncio.IncompleteReadError when the
        connection breaks.
        """
        self._writer.write(wire)
        head = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        length = head.index(b"content-length:") + 15
        body = await self._reader.readexactly(int(head[length : head.index(b"\r\n", length)]))
        return Answer(int(head[9:12]), body)

    def close(self) -> None:
        """Hang up."""
        self._writer.close()


@dataclass(slots=True)
class Measured:
    """What came of a run: seconds by kind, errors by kind, bodies of the answers to kept kinds,
    seconds in all.
    """

    times: dict[str, list[float]] = field(default_factory=dict)
    errors: dict[str, int] = field(default_factory=dict)
    bodies: dict[str, list[bytes]] = field(default_factory=dict)
    took: float = 0.0


async def drive(port: int, clients: Sequence[Sequence[Ask]], seconds: float) -> Measured:
    """Let each client send its requests one after the other until `seconds` have passed or it
    has no more.
    """
    measured = Measured()
    connections = [await Connection.to(port) for _ in clients]
    began = time.perf_counter()
    work = [
        _client(port, connection, asks, began + seconds, measured)
        for connection, asks in zip(connections, clients, strict=True)
    ]
    await asyncio.gather(*work)
    measured.took = time.perf_counter() - began
    return measured


async def _client(
    port: int, connection: Connection, asks: Sequence[Ask], until: float, measured: Measured
) -> None:
    """One client. A broken connection is an error of that request; the next one gets a
    new connection.
    """
    for kind, wire in asks:
        began = time.perf_counter()
        if began >= until:
            break
        try:
            answer = await connection.send(wire)
        except (OSError, asyncio.IncompleteReadError):
            measured.errors[kind] = measured.errors.get(kind, 0) + 1
            connection.close()
            connection = await Connection.to(port)
            continue
        if answer.status >= 300:
            measured.errors[kind] = measured.errors.get(kind, 0) + 1
            continue
        measured.times.setdefault(kind, []).append(time.perf_counter() - began)
        measured.bodies.setdefault(kind, []).append(answer.body)
    connection.close()

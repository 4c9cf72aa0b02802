"""A receiver of webhooks: a real HTTP server on this machine, which answers as a test says,
well or badly.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

Answer = bytes | Callable[[asyncio.StreamWriter], Awaitable[None]]
"""What is written back: bytes, or whatever a function writes."""


def status(code: int, *headers: str) -> bytes:
    """An answer of this status without a body."""
    return "\r\n".join([f"HTTP/1.1 {code} So", "Content-Length: 0", *headers, "", ""]).encode()


@dataclass(frozen=True, slots=True)
class Request:
    """One request, as it came over the wire."""

    line: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """answers: for the next requests, in order; then 200."""

    port: int = 0
    host: str = "127.0.0.1"
    answers: list[Answer] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    serving: set[asyncio.Task[None]] = field(default_factory=set)

    def url(self, path: str = "/hook", host: str | None = None) -> str:
        """Where it is."""
        return f"http://{host or self.host}:{self.port}{path}"

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection, apart."""
        self.connections += 1
        task = asyncio.ensure_future(self._serve(reader, writer))
        self.serving.add(task)
        task.add_done_callback(self.serving.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(OSError, asyncio.IncompleteReadError):
                await self._answer(reader, writer)
                writer.close()
                await writer.wait_closed()
        finally:
            writer.transport.abort()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        line, *rows = head.strip().split("\r\n")
        headers = {name.lower(): value for name, value in (row.split(": ", 1) for row in rows)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        self.requests.append(Request(line, headers, body))
        answer = self.answers.pop(0) if self.answers else status(200)
        if isinstance(answer, bytes):
            writer.write(answer)
            await writer.drain()
        else:
            await answer(writer)


@asynccontextmanager
async def receiving(
    host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
) -> AsyncIterator[Receiver]:
    """A receiver for as long as the block runs."""
    receiver = Receiver(host=host)
    server = await asyncio.start_server(receiver.accept, host, 0, ssl=tls, limit=2**20)
    receiver.port = server.sockets[0].getsockname()[1]
    try:
        yield receiver
    finally:
        server.close()
        for task in receiver.serving:
            task.cancel()
        await asyncio.gather(*receiver.serving, return_exceptions=True)

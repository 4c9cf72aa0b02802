"""Connections that `bench.chaos` can cut and delay: a port that passes everything on to
another one.
"""

from __future__ import annotations

import asyncio
import contextlib

PIECE = 2**16
SLOW_S = (0.05, 0.4)
"""How long each piece may be held while connections are delayed; more than a few pieces' worth is
longer than some callers wait.
"""


class Wire:
    """Passes connections on to a port of this machine, as long as it is whole. delay_s:
    how long each piece is held.
    """

    def __init__(self, port: int) -> None:
        self._to = port
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._passing: set[asyncio.Task[None]] = set()
        self._is_whole = True
        self.delay_s = 0.0

    @property
    def port(self) -> int:
        """Where it listens."""
        assert self._server is not None
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def start(self) -> None:
        """Listen on a free port."""
        self._loop = asyncio.get_running_loop()
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)

    async def stop(self) -> None:
        """Hang up everything, and listen no more."""
        if self._server is not None:
            self._server.close()
            self.cut()
            await asyncio.gather(*self._passing, return_exceptions=True)
            await self._server.wait_closed()

    def cut(self) -> None:
        """Break all connections, and each new one at once. Any thread may call it."""
        self._is_whole = False
        self._loop.call_soon_threadsafe(self._break_all)

    def _break_all(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    def mend(self) -> None:
        """Pass everything on again, without delay."""
        self._is_whole, self.delay_s = True, 0.0

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._passing.add(task)
        self._writers.add(writer)
        try:
            with contextlib.suppress(OSError):
                if self._is_whole:
                    await self._pass_on(reader, writer)
        finally:
            await self._hang_up(writer)
            self._passing.discard(task)

    async def _hang_up(self, writer: asyncio.StreamWriter) -> None:
        self._writers.discard(writer)
        writer.transport.abort()
        with contextlib.suppress(OSError):
            await writer.wait_closed()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Both ways, until one end hangs up."""
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._to)
        self._writers.add(far_writer)
        ways = [
            asyncio.ensure_future(self._carry(reader, far_writer)),
            asyncio.ensure_future(self._carry(far_reader, writer)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            await self._hang_up(far_writer)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while piece := await reader.read(PIECE):
                if self.delay_s:
                    await asyncio.sleep(self.delay_s)
                writer.write(piece)
                await writer.drain()

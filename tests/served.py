"""A small web server of a test's own, on a free port of this machine."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from aiohttp import web

START_S = 10


class Served:
    """Serves its `routes` between `start` and `stop`."""

    def routes(self) -> Iterable[web.RouteDef]:
        """What it answers; each server has its own."""
        return ()

    async def start(self) -> None:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.add_routes(self.routes())
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.port: int = self._runner.addresses[0][1]

    async def stop(self) -> None:
        await self._runner.cleanup()

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def serving(server: Served) -> Iterator[None]:
    """Run a server in a thread of its own for as long as the block runs."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.start(), loop).result(START_S)
        try:
            yield
        finally:
            asyncio.run_coroutine_threadsafe(server.stop(), loop).result(START_S)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

"""A small web server of a test's own, on a free port of this machine."""

from __future__ import annotations

from collections.abc import Iterable

from aiohttp import web


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

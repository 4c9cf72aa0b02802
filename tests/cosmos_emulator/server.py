"""The wire: HTTP in, the answer of the desk out.

Two ports: one is the account, the other the same account through a replica that may lag.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass

from aiohttp import web

from tests.cosmos_emulator.desk import Desk, asked_of
from tests.cosmos_emulator.exchange import Answer
from tests.cosmos_emulator.store import Account

MAX_BODY = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Ports:
    """Where it listens."""

    account: int
    replica: int


class Server:
    """One account on two ports of 127.0.0.1. tls: the account speaks HTTPS; without it, HTTP."""

    def __init__(self, account: Account, tls: ssl.SSLContext | None = None) -> None:
        self._desk, self._tls = Desk(account), tls
        self._runners: list[web.AppRunner] = []

    async def start(self, ports: Ports) -> Ports:
        """Listen; port 0 means any. Returns the ports there are."""
        return Ports(
            await self._listen(ports.account, behind=False),
            await self._listen(ports.replica, behind=True),
        )

    async def stop(self) -> None:
        """Close all connections."""
        for runner in self._runners:
            await runner.cleanup()

    async def _listen(self, port: int, *, behind: bool) -> int:
        app = web.Application(client_max_size=MAX_BODY)

        async def respond(request: web.Request) -> web.StreamResponse:
            return await self._respond(request, behind)

        app.router.add_route("*", "/{path:.*}", respond)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        self._runners.append(runner)
        await web.TCPSite(runner, "127.0.0.1", port, ssl_context=self._tls).start()
        bound: int = runner.addresses[0][1]
        return bound

    async def _respond(self, request: web.Request, behind: bool) -> web.StreamResponse:
        asked = asked_of(
            request.method,
            request.rel_url.raw_path,
            request.headers,
            await request.read(),
            behind,
            f"{request.scheme}://{request.host}/",
        )
        made = await self._desk.respond(asked)
        if made is not None:
            return _response(made)
        assert request.transport is not None
        request.transport.abort()
        return web.Response()


def _response(made: Answer) -> web.Response:
    return web.Response(
        status=made.status,
        body=made.body or None,
        headers=made.headers,
        content_type="application/json",
    )

"""The wire: HTTP in, the answer of `resources` out, with the headers that every answer has,
and faults on the way.

Two ports: one is the account, the other the same account through a replica that may lag.
"""

from __future__ import annotations

import asyncio
import ssl
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import unquote

from aiohttp import web

from tests.cosmos_emulator import charges
from tests.cosmos_emulator.control import ROOT, Control
from tests.cosmos_emulator.exchange import CONSISTENCY, KEY, RANGE, Answer, Asked
from tests.cosmos_emulator.faults import Rule
from tests.cosmos_emulator.items import dumps
from tests.cosmos_emulator.refused import Refused
from tests.cosmos_emulator.resources import handle
from tests.cosmos_emulator.store import Account

MAX_BODY = 16 * 1024 * 1024
STATEMENT = 8_000
"""Characters of a query that the log keeps."""


@dataclass(frozen=True, slots=True)
class Ports:
    """Where it listens."""

    account: int
    replica: int


class Server:
    """One account on two ports of 127.0.0.1. tls: the account speaks HTTPS; without it, HTTP."""

    def __init__(self, account: Account, tls: ssl.SSLContext | None = None) -> None:
        self._account, self._tls = account, tls
        self._control = Control(account)
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
        asked = Asked(
            request.method,
            tuple(unquote(part) for part in request.rel_url.raw_path.split("/") if part),
            {name.casefold(): value for name, value in request.headers.items()},
            await request.read(),
            behind,
            f"{request.scheme}://{request.host}/",
        )
        if asked.path[:1] == (ROOT,):
            return _response(_or_refusal(lambda: self._control.handle(asked)))
        rule = self._control.faults.for_(asked)
        if rule is not None and rule.delay_ms:
            await asyncio.sleep(rule.delay_ms / 1000)
        if rule is not None and rule.kind == "cut_before":
            return self._cut(request, asked, Answer(0), rule)
        made = _or_refusal(lambda: self._answer(asked, rule))
        if rule is not None and rule.kind == "cut_after":
            return self._cut(request, asked, made, rule)
        self._note(asked, made, rule)
        return _response(_finished(asked, made))

    def _answer(self, asked: Asked, rule: Rule | None) -> Answer:
        refusal = rule.refusal() if rule is not None else None
        if refusal is not None:
            raise refusal
        return handle(asked, self._account)

    def _cut(
        self, request: web.Request, asked: Asked, made: Answer, rule: Rule
    ) -> web.StreamResponse:
        self._note(asked, made, rule)
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    def _note(self, asked: Asked, made: Answer, rule: Rule | None) -> None:
        self._control.log.append(
            {
                "operation": asked.operation,
                "path": "/".join(asked.path),
                "key": asked.headers.get(KEY),
                "range": asked.headers.get(RANGE),
                "behind": asked.behind,
                "consistency": asked.headers.get(CONSISTENCY),
                "status": made.status,
                "charge": made.charge,
                "fault": rule.kind if rule is not None else None,
                "statement": _statement(asked) if asked.operation in ("query", "plan") else None,
            }
        )


def _statement(asked: Asked) -> str:
    try:
        return str(asked.json()["query"])[:STATEMENT]
    except (Refused, KeyError, TypeError):
        return ""  # it was refused for that


def _or_refusal(make: Callable[[], Answer]) -> Answer:
    try:
        return make()
    except Refused as refused:
        substatus = {"x-ms-substatus": str(refused.substatus)} if refused.substatus else {}
        return Answer(
            refused.status, dumps(refused.body), {**refused.headers, **substatus}, charges.REFUSED
        )


def _finished(asked: Asked, made: Answer) -> Answer:
    """The answer with the headers that all have."""
    made.headers |= {
        "x-ms-activity-id": str(uuid.uuid4()),
        "x-ms-request-charge": str(made.charge),
        "x-ms-version": "2020-07-15",
    }
    if len(asked.path) >= 4:
        made.headers["x-ms-alt-content-path"] = "/".join(asked.path[:4])
    return made


def _response(made: Answer) -> web.Response:
    return web.Response(
        status=made.status,
        body=made.body or None,
        headers=made.headers,
        content_type="application/json",
    )

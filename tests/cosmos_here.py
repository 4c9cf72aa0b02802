"""The Cosmos DB emulator within the tests' own process, without HTTP: what the product asks by
the SDK is answered at once, faults and all. The adapter's own tests go over HTTP.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import orjson
from azure.core.exceptions import ServiceResponseError
from azure.core.pipeline.transport import AsyncHttpResponse, AsyncHttpTransport, HttpRequest
from multidict import CIMultiDict

from tests.cosmos_emulator.control import ROOT
from tests.cosmos_emulator.desk import Desk, asked_of
from tests.cosmos_emulator.exchange import Answer
from tests.cosmos_emulator.file import File
from tests.cosmos_emulator.store import Account, Clock, Ranking
from tests.cosmos_server import IGNORES_RANK, REFUSES_DISTANCE, Steered


class CosmosHere(Steered):
    """One emulator in this process. flags: as for `CosmosServer`."""

    endpoint = "http://127.0.0.1/"

    def __init__(self, *, flags: Sequence[str] = ()) -> None:
        super().__init__()
        ranking = Ranking(IGNORES_RANK in flags, REFUSES_DISTANCE in flags)
        self._account = Account(File(None), Clock(), "Strong", 1, ranking)
        self.desk = Desk(self._account)

    def transport(self) -> Transport:
        """What a client of the SDK sends its requests by."""
        return Transport(self.desk)

    def drop_databases(self) -> None:
        """Forget what tests have written, but for the containers that others are copies of."""
        templates = {database for database, _ in self.provisioned.values()}
        for database in self._account.rids.keys() - templates:
            self._account.delete_database(database)

    def _control(self, method: str, resource: str, body: Any = None) -> Any:
        made = self.desk.steer(
            asked_of(method, f"/{ROOT}/{resource}", {}, orjson.dumps(body), False, self.endpoint)
        )
        assert made.status < 400, made.body
        return orjson.loads(made.body) if made.body else None


class Transport(AsyncHttpTransport[HttpRequest, AsyncHttpResponse]):
    """Hands each request over to a desk. Others have their turn before and after its answer, as
    they have while bytes are on the wire.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def open(self) -> None:
        """Nothing to connect to."""

    async def close(self) -> None:
        """Nothing to close."""

    async def __aenter__(self) -> Transport:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    async def send(self, request: HttpRequest, **_: Any) -> AsyncHttpResponse:
        """The answer of the desk; raises ServiceResponseError where the connection is cut."""
        url = urlsplit(request.url)
        body = request.data or b""
        asked = asked_of(
            request.method,
            url.path,
            request.headers,
            body.encode() if isinstance(body, str) else bytes(body),
            False,
            f"{url.scheme}://{url.netloc}/",
        )
        await asyncio.sleep(0)
        made = await self._desk.respond(asked)
        await asyncio.sleep(0)
        if made is None:
            raise ServiceResponseError("the connection was cut")
        return Response(request, made)


class Response(AsyncHttpResponse):
    """An answer as the SDK reads it."""

    def __init__(self, request: HttpRequest, made: Answer) -> None:
        super().__init__(request, made)
        self.status_code = made.status
        self.content_type = "application/json"
        self.headers = CIMultiDict({**made.headers, "content-type": self.content_type})
        self._body = made.body

    def body(self) -> bytes:
        """All of it."""
        return self._body

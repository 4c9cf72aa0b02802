"""The Cosmos DB emulator within the tests' own process, without HTTP: what the product asks is
answered at once, faults and all. The adapter's own tests go over HTTP.

Most requests are point reads, queries of one partition and batches that succeed. For these the SDK
takes half of a test's time, so `Direct` sends the request that the SDK would send. Whatever does
not succeed is answered by the SDK, which is given the answer for its own request.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from urllib.parse import urlsplit

import orjson
from azure.core.exceptions import ServiceResponseError
from azure.core.pipeline.transport import AsyncHttpResponse, AsyncHttpTransport, HttpRequest
from azure.cosmos._base import _format_batch_operations
from azure.cosmos._cosmos_responses import CosmosDict, CosmosList
from azure.cosmos.aio import ContainerProxy
from azure.cosmos.exceptions import CosmosResourceNotFoundError
from multidict import CIMultiDict

from memory_core.adapters.cosmos.client import CosmosConnection
from tests.cosmos_emulator.control import ROOT
from tests.cosmos_emulator.desk import Desk, asked_of
from tests.cosmos_emulator.exchange import CONSISTENCY, KEY, Answer, Asked
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

    def serve(self, connection: CosmosConnection) -> None:
        """Answer what a connection asks, which is not open yet."""
        connection._transport = lambda: Transport(self.desk)  # type: ignore[method-assign]
        by_sdk = connection.container

        async def container() -> Any:
            return Direct(await by_sdk(), self.desk)

        connection.container = container  # type: ignore[method-assign]

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
        made = await answered(self._desk, asked)
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


_given: ContextVar[list[tuple[Asked, Answer | None]]] = ContextVar("given")
"""An answer that the SDK's next request of this kind gets."""


async def answered(desk: Desk, asked: Asked) -> Answer | None:
    """The answer of a desk, or the one that was given before; None: the connection is cut.

    Others have their turn before and after it, as they have while bytes are on the wire.
    """
    given = _given.get([])
    if given and (given[0][0].operation, given[0][0].path) == (asked.operation, asked.path):
        return given.pop()[1]
    await asyncio.sleep(0)
    made = await desk.respond(asked)
    await asyncio.sleep(0)
    return made


@contextmanager
def giving(asked: Asked, made: Answer | None) -> Iterator[None]:
    """Let the SDK have an answer that was made already."""
    given = [(asked, made)]
    _given.set(given)
    try:
        yield
    finally:
        given.clear()


class Direct:
    """A container whose usual requests go to a desk without the SDK; all else is the SDK's."""

    def __init__(self, container: ContainerProxy, desk: Desk) -> None:
        self._container, self._desk = container, desk
        _, self._database, _, self._name = container.container_link.strip("/").split("/")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._container, name)

    async def read_item(self, item: str, **options: Any) -> CosmosDict:
        """A point read."""
        asked = self._asked("GET", item, b"", options)
        if asked is None:
            return await self._container.read_item(item, **options)
        made = await answered(self._desk, asked)
        if made is not None and made.status == 200:
            return CosmosDict(orjson.loads(made.body), response_headers=made.headers)
        if made is not None and made.status == 404 and "x-ms-substatus" not in made.headers:
            response = Response(HttpRequest("GET", asked.url), made)
            raise CosmosResourceNotFoundError(message=made.body.decode(), response=response)
        with giving(asked, made):
            return await self._container.read_item(item, **options)

    async def query_items(self, query: str, **options: Any) -> AsyncIterator[Any]:
        """The rows of a query."""
        body = {"query": query, "parameters": options["parameters"]}
        asked = None
        if "partition_key" in options and "RANK" not in query:
            asked = self._asked(
                "POST", None, orjson.dumps(body), options,
                **{
                    "x-ms-documentdb-isquery": "true",
                    "x-ms-max-item-count": str(options["max_item_count"]),
                },
            )  # fmt: skip
        if asked is None:
            async for row in self._container.query_items(query, **options):
                yield row
            return
        made = await answered(self._desk, asked)
        if made is not None and made.status == 200 and "x-ms-continuation" not in made.headers:
            content = orjson.loads(made.body)
            options["response_hook"](made.headers, content)
            for row in content["Documents"]:
                yield row
            return
        with giving(asked, made):
            async for row in self._container.query_items(query, **options):
                yield row

    async def execute_item_batch(
        self, operations: list[tuple[Any, ...]], **options: Any
    ) -> CosmosList:
        """A transactional batch."""
        # the SDK takes the conditions out of what it is given
        written = [(kind, parts, *map(dict, rest)) for kind, parts, *rest in operations]
        body = json.dumps(
            _format_batch_operations(written), separators=(",", ":"), ensure_ascii=False
        )
        asked = self._asked(
            "POST", None, body.encode(), options,
            **{
                "x-ms-cosmos-is-batch-request": "True",
                "x-ms-cosmos-batch-atomic": "True",
                "x-ms-cosmos-batch-continue-on-error": "False",
            },
        )  # fmt: skip
        if asked is None:
            return await self._container.execute_item_batch(operations, **options)
        made = await answered(self._desk, asked)
        if made is not None and made.status == 200:
            return CosmosList(orjson.loads(made.body), response_headers=made.headers)
        with giving(asked, made):
            return await self._container.execute_item_batch(operations, **options)

    def _asked(
        self, method: str, item: str | None, body: bytes, options: dict[str, Any], **headers: str
    ) -> Asked | None:
        """The SDK's request; None before the SDK has read which container has the name now."""
        known = self._container.client_connection._container_properties_cache
        if self._container.container_link not in known:
            return None
        headers["authorization"] = "of no account"
        headers[KEY] = json.dumps([options["partition_key"]])
        headers["x-ms-cosmos-intended-collection-rid"] = known[self._container.container_link][
            "_rid"
        ]
        level = options.get("request_options", {}).get("consistencyLevel")
        if level is not None:
            headers |= {CONSISTENCY: level, "x-ms-session-token": options["session_token"]}
        place = ("dbs", self._database, "colls", self._name, "docs", *([item] if item else []))
        return Asked(method, place, headers, body, False, CosmosHere.endpoint)

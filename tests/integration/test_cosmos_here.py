"""What the product's tests ask of the emulator without the SDK is what the SDK asks, and is
answered as the SDK answers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from copy import deepcopy
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from azure.core.exceptions import AzureError

from tests import cosmos_emulator
from tests.builders import DIMENSIONS, StillClock
from tests.contract.conftest import Copying
from tests.cosmos_here import CosmosHere, Direct

READ_BY_EMULATOR = "\n".join(
    file.read_text() for file in Path(cosmos_emulator.__path__[0]).glob("*.py")
)
EACH_ANEW = {
    "authorization", "x-ms-activity-id", "x-ms-cosmos-intended-collection-rid", "x-ms-version",
}  # fmt: skip
SYSTEM_FIELDS = {"_etag", "_rid", "_self", "_ts"}
PARTITION = 'ap"p/jürgen'
FRESH = {"request_options": {"consistencyLevel": "Session"}, "session_token": "0:-1#1"}
ITEM = {"id": "it's ü?1", "owner": PARTITION, "n": 1e-05, "text": "だ\x01", "embedding": [0.1, 2]}
Call = Callable[[Any], Awaitable[Any]]


def read(name: str, **options: Any) -> Call:
    return lambda container: container.read_item(name, partition_key=PARTITION, **options)


def query(statement: str, rows_a_page: int = 1000, **parameters: Any) -> Call:
    async def rows(container: Any) -> Any:
        charges: list[str] = []
        items = container.query_items(
            statement,
            parameters=[{"name": f"@{name}", "value": value} for name, value in parameters.items()],
            max_item_count=rows_a_page,
            response_hook=lambda headers, _: charges.append(headers["x-ms-request-charge"]),
            full_text_score_scope="Local",
            partition_key=PARTITION,
            session_token=None,
        )
        return [row async for row in items], charges

    return rows


def batch(*operations: tuple[Any, ...]) -> Call:
    # the SDK takes the conditions out of what it is given
    return lambda container: container.execute_item_batch(
        deepcopy([*operations]), partition_key=PARTITION
    )


STALE = {"if_match_etag": '"of another"'}
CREATED = [("create", ({"id": f"i{n}", "owner": PARTITION, "n": n},)) for n in range(5)]
CALLS: dict[str, Call] = {
    "a batch": batch(("create", (ITEM,)), *CREATED),
    "an item": read(ITEM["id"]),
    "an item as new as a state": read("i1", **FRESH),
    "an item that is missing": read("i9", session_token=None),
    "an item that exists": batch(("create", (ITEM,)), ("delete", ("i1",))),
    "an item that has changed": batch(("replace", ("i1", CREATED[1][1][0]), STALE)),
    "changes": batch(
        ("upsert", ({"id": "i1", "owner": PARTITION, "n": 7},)),
        ("patch", ("i2", [{"op": "set", "path": "/n", "value": 8}])),
        ("delete", ("i3",)),
    ),
    "too many changes": batch(*[("delete", ("i1",))] * 101),
    "rows": query("SELECT * FROM c WHERE c.n > @n ORDER BY c.n", n=1),
    "rows of several pages": query("SELECT c.id FROM c", 2),
    "values": query("SELECT VALUE COUNT(1) FROM c"),
    "a wrong query": query("SELECT nothing FROM"),
}
FAULTS = ("throttle", "retry_with", "gone", "unavailable", "timeout", "cut_before", "cut_after")


class Recorded:
    """A container, and the requests that it made."""

    def __init__(self, *, direct: bool) -> None:
        self.here, self._direct = CosmosHere(), direct
        self._store = Copying(
            self.here,
            uuid4().hex,
            dimensions=DIMENSIONS,
            clock=StillClock(),
            embedding_model="test",
        )

    async def open(self) -> None:
        await self._store.open()
        container = await self._store._connection.container()
        assert isinstance(container, Direct)
        await container.read()  # which container has the name
        self._container = container if self._direct else container._container

    async def close(self) -> None:
        await self._store.close()

    async def call(self, call: Call) -> tuple[Any, Any, list[Any]]:
        """The result, the charge and the requests of a call."""
        respond, asked = self.here.desk.respond, list[Any]()

        async def recording(request: Any) -> Any:
            asked.append(
                (
                    request.method,
                    request.path[2:],  # each has a database of its own
                    request.body,
                    {
                        name: value.casefold()
                        for name, value in request.headers.items()
                        if name in READ_BY_EMULATOR and name not in EACH_ANEW
                    },
                )
            )
            return await respond(request)

        self.here.desk.respond = recording  # type: ignore[method-assign]
        headers: Any = {}
        try:
            result = await call(self._container)
            if hasattr(result, "get_response_headers"):
                headers = result.get_response_headers()
        except AzureError as error:
            result = type(error), getattr(error, "status_code", None), str(error.message)
            headers = getattr(error, "headers", None) or {}
        finally:
            self.here.desk.respond = respond  # type: ignore[method-assign]
        header_values = {
            name: headers.get(name) for name in ("x-ms-request-charge", "x-ms-session-token")
        }
        return without_system_fields(result), header_values, asked


def without_system_fields(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: without_system_fields(part)
            for name, part in value.items()
            if name not in SYSTEM_FIELDS | {"eTag"}
        }
    if isinstance(value, list | tuple):
        return [without_system_fields(part) for part in value]
    return value


@pytest.mark.parametrize("fault", [None, *FAULTS])
async def test_each_call_is_asked_and_answered_as_by_the_sdk(fault: str | None) -> None:
    direct, by_sdk = Recorded(direct=True), Recorded(direct=False)
    try:
        for recorded in (direct, by_sdk):
            await recorded.open()
        for name, call in CALLS.items():
            for recorded in (direct, by_sdk):
                recorded.here.heal()
                if fault is not None:
                    recorded.here.fault(fault, times=1, retry_after_ms=1)
            assert await direct.call(call) == await by_sdk.call(call), name
    finally:
        for recorded in (direct, by_sdk):
            await recorded.close()

"""What a store on Cosmos DB is asked, counted on the wire and reckoned in request units by one
formula for every version of the product.

The formula is `bench.counted`'s, with what Strong consistency and indexes make of it: a read and a
query count twice unless they ask for Session consistency, and so does a document that replaces
another. Note: what a query compares is known to the emulator alone, so a query's charge is the
emulator's, which counts it twice by itself.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import aiohttp
import orjson
from aiohttp import web

from bench.counted import read_units, write_units

STRONG_READS, REPLACED = 2, 2
LARGEST = 16 * 2**20
_HOP = frozenset(
    {"transfer-encoding", "content-length", "connection", "keep-alive", "content-encoding"}
)
_KEY = "x-ms-documentdb-partitionkey"
_LEVEL = "x-ms-consistency-level"
_POSTS = (
    ("x-ms-cosmos-is-query-plan-request", "plan"),
    ("x-ms-documentdb-isquery", "query"),
    ("x-ms-cosmos-is-batch-request", "batch"),
    ("x-ms-documentdb-is-upsert", "upsert"),
)


class Meter:
    """Counts requests for documents. stored: bytes of the documents that stay;
    those with an end of their own are in `passing`. spent: request units by what they were for:
    reads, queries, and documents by kind, created, replaced or patched.
    """

    def __init__(self, vector_numbers: int) -> None:
        """vector_numbers: length of a vector; a document with a list of so many numbers has one."""
        self._vector_numbers = vector_numbers
        self._stays: dict[tuple[str, str], int] = {}
        self._ends: dict[tuple[str, str], int] = {}
        self.counts = Counter[str]()
        self.spent: defaultdict[str, float] = defaultdict(float)
        self._kinds: dict[tuple[str, str], str] = {}
        self.requests = self.written = 0
        self.units = 0.0
        self.bytes_in = self.bytes_out = 0
        self.asked_at = time.monotonic()
        self.counting = True

    @property
    def documents(self) -> int:
        """How many stay."""
        return len(self._stays)

    @property
    def passing(self) -> int:
        """How many expire by themselves."""
        return len(self._ends)

    @property
    def stored(self) -> int:
        """Bytes of those that stay, as JSON."""
        return sum(self._stays.values())

    def read(self, size: int, replicas: int = STRONG_READS) -> None:
        """A point read of a document of so many bytes, of so many replicas."""
        units = replicas * read_units(size)
        self.spent["reads"] += units
        self._request("read", units)

    def query(self, charge: float) -> None:
        """A query that the emulator charged so much for, of all replicas that were asked."""
        self.spent["queries"] += charge
        self._request("query", charge)

    def write(self, key: str, document: Mapping[str, Any]) -> None:
        """A document written alone. key: of its partition."""
        self._request("write", self._written(key, document))

    def batch(self, key: str, operations: Sequence[Mapping[str, Any]]) -> None:
        """Operations in one transaction."""
        self._request("batch", sum(self._operation(key, operation) for operation in operations))

    def delete(self, key: str, name: str) -> None:
        """A document deleted alone."""
        self._request("delete", self._deleted(key, name))

    def _request(self, name: str, units: float) -> None:
        self.counts[name] += 1
        self.requests += 1
        self.units += units

    def _operation(self, key: str, operation: Mapping[str, Any]) -> float:
        name = operation.get("id", "")
        match operation["operationType"]:
            case "Delete":
                return self._deleted(key, name)
            case "Read":
                units = STRONG_READS * read_units(self._size(key, name))
                self.spent["reads"] += units
                return units
            case "Patch":
                self.written += 1
                units = REPLACED * write_units(self._size(key, name))
                self.spent[f"{self._kinds.get((key, name), 'document')}, patched"] += units
                return units
        return self._written(key, operation["resourceBody"])

    def _written(self, key: str, document: Mapping[str, Any]) -> float:
        place, size = (key, str(document["id"])), len(orjson.dumps(document))
        known = place in self._stays or place in self._ends
        self._stays.pop(place, None)
        self._ends.pop(place, None)
        ends = isinstance(ttl := document.get("ttl"), int) and ttl > 0
        (self._ends if ends else self._stays)[place] = size
        self.written += 1
        units = (REPLACED if known else 1) * write_units(size, int(self._has_vector(document)))
        kind = self._kinds[place] = _kind_of(document)
        self.spent[f"{kind}, {'replaced' if known else 'created'}"] += units
        return units

    def _deleted(self, key: str, name: str) -> float:
        size = self._size(key, name)
        self._stays.pop((key, name), None)
        self._ends.pop((key, name), None)
        self.spent["deletions"] += write_units(size)
        return write_units(size)

    def _size(self, key: str, name: str) -> int:
        return self._stays.get((key, name)) or self._ends.get((key, name), 0)

    def _has_vector(self, document: Mapping[str, Any]) -> bool:
        return any(
            isinstance(value, list) and len(value) == self._vector_numbers
            for value in document.values()
        )

    def note(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: bytes,
        status: int,
        answer: bytes,
        charge: float,
    ) -> None:
        """Count a request that came over the wire. One that is refused counts as what it
        was charged. In a pause of the count, documents are known all the same.
        """
        self.asked_at = time.monotonic()
        parts = [part for part in path.split("/") if part]
        if parts[4:5] != ["docs"]:
            return
        so_far = self._so_far()
        self._note(method, parts, headers, body, status, answer, charge)
        if not self.counting:
            self.counts, self.spent, *numbers = so_far
            self.requests, self.written, self.units, self.bytes_in, self.bytes_out = numbers

    def _so_far(self) -> tuple[Any, ...]:
        numbers = self.requests, self.written, self.units, self.bytes_in, self.bytes_out
        return self.counts.copy(), self.spent.copy(), *numbers

    def _note(
        self,
        method: str,
        parts: Sequence[str],
        headers: Mapping[str, str],
        body: bytes,
        status: int,
        answer: bytes,
        charge: float,
    ) -> None:
        self.bytes_in += len(body)
        self.bytes_out += len(answer)
        key, kind = headers.get(_KEY, ""), _kind(method, parts, headers)
        replicas = 1 if headers.get(_LEVEL) == "Session" else STRONG_READS
        if status == 404:
            self.read(0, replicas)
        elif status >= 300 or (kind == "batch" and status == 207):
            self.spent["refusals"] += charge
            self._request("refused", charge)
        elif kind == "read":
            self.read(len(answer), replicas)
        elif kind == "batch":
            self.batch(key, orjson.loads(body))
        elif kind in ("create", "upsert", "replace"):
            self.write(key, orjson.loads(body))
        elif kind == "patch":
            self._request("write", self._operation(key, {"operationType": "Patch", "id": parts[5]}))
        elif kind == "delete":
            self.delete(key, parts[5])
        elif kind != "plan":
            self.query(charge)


def _kind_of(document: Mapping[str, Any]) -> str:
    """A document's kind; of a memory its category, where it has one."""
    kind = str(document.get("kind", "document"))
    return str(document.get("category") or kind) if kind == "memory" else kind


def _kind(method: str, parts: Sequence[str], headers: Mapping[str, str]) -> str:
    if len(parts) == 6:
        return {"GET": "read", "PUT": "replace", "PATCH": "patch", "DELETE": "delete"}[method]
    if method == "GET":
        return "feed"
    return next(
        (kind for header, kind in _POSTS if headers.get(header, "").lower() == "true"), "create"
    )


@contextmanager
def metered(endpoint: str, meter: Meter) -> Iterator[str]:
    """A door before the emulator that counts what passes, for as long as the block runs;
    its address.

    Args:
        endpoint: The emulator's address.
        meter: What counts.

    """
    loop, ready = asyncio.new_event_loop(), threading.Event()
    addresses: list[str] = []

    async def pass_on(request: web.Request) -> web.Response:
        body = await request.read()
        headers = {
            name: value for name, value in request.headers.items() if name.lower() not in _HOP
        }
        address = endpoint.rstrip("/") + request.raw_path
        async with request.app[_SESSION].request(
            request.method, address, data=body, headers=headers, skip_auto_headers=_AUTO
        ) as answer:
            payload = await answer.read()
            charge = float(answer.headers.get("x-ms-request-charge", 0))
            meter.note(
                request.method, request.path, request.headers, body, answer.status, payload, charge
            )
            answer_headers = {
                name: value for name, value in answer.headers.items() if name.lower() not in _HOP
            }
            return web.Response(status=answer.status, body=payload, headers=answer_headers)

    async def serve() -> web.AppRunner:
        app = web.Application(client_max_size=LARGEST)
        app[_SESSION] = aiohttp.ClientSession(auto_decompress=False)
        app.router.add_route("*", "/{path:.*}", pass_on)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        addresses.append(f"http://127.0.0.1:{runner.addresses[0][1]}/")
        ready.set()
        return runner

    async def end(runner: web.AppRunner) -> None:
        await runner.app[_SESSION].close()
        await runner.cleanup()

    def work() -> None:
        asyncio.set_event_loop(loop)
        runner = loop.run_until_complete(serve())
        loop.run_forever()
        loop.run_until_complete(end(runner))
        loop.close()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    ready.wait()
    try:
        yield addresses[0]
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


_SESSION: web.AppKey[aiohttp.ClientSession] = web.AppKey("session", aiohttp.ClientSession)
_AUTO = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")

"""Many clients append to one session and pop from it:
`python -m bench.session_pops --profile azure`, and what came of it.

Each client appends items, one or three a call, and pops one as often; every call has an
Idempotency-Key and is sent again until it is answered. Then the session is read. The exit code is 1
where an item was popped twice, or is lost, or is there without having been appended, or where the
order is not that of appending: what is left, and what each pop took while a later item surely was
there.

Note: of two calls that overlapped in time either may be the first. Only what was answered before
another was sent counts.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from uuid import uuid4

import httpx

from bench.host import Host
from bench.tables import percentile
from tests.azure_stores import AzureStores

MESSAGES = "/api/v1/sessions/shared/messages"
USER = "crowd"
DIMENSIONS = 384
AGAIN = frozenset({429, 502, 503, 504})
PAUSE_S = 0.2
NEVER = float("inf")


@dataclass(frozen=True, slots=True)
class Span:
    """When a call was sent, and when it was answered."""

    sent: float
    answered: float


@dataclass
class Record:
    """What all clients did. appended: by item; popped: each item and the call that took it. left:
    the items of the session at the end.
    """

    appended: dict[str, Span] = field(default_factory=dict)
    batches: list[list[str]] = field(default_factory=list)
    popped: list[tuple[str, Span]] = field(default_factory=list)
    empty_pops: int = 0
    sent_again: int = 0
    left: list[str] = field(default_factory=list)


def faults(record: Record) -> dict[str, int]:
    """How often each promise was broken."""
    taken = Counter(item for item, _ in record.popped)
    items = [*taken, *record.left]
    return {
        "popped twice": sum(count - 1 for count in taken.values()),
        "popped and still there": sum(item in taken for item in record.left),
        "twice in the session": len(record.left) - len(set(record.left)),
        "lost": len(record.appended.keys() - set(items)),
        "not appended by anybody": len(set(items) - record.appended.keys()),
        "left out of order": _disorder(record),
        "popped below a later item": _pops_below(record),
    }


def _disorder(record: Record) -> int:
    """Items that stand after one which was appended later: in a later call, or later in
    the same one.
    """
    places = {item: place for place, item in enumerate(record.left)}
    count, earliest = 0, NEVER
    for span in (
        record.appended[item] for item in reversed(record.left) if item in record.appended
    ):
        count += earliest < span.sent
        earliest = min(earliest, span.answered)
    for batch in record.batches:
        positions = [places[item] for item in batch if item in places]
        count += sum(later < earlier for earlier, later in pairwise(positions))
    return count


def _pops_below(record: Record) -> int:
    """Pops that took an item while one surely stood after it all the time that the pop took."""
    removed = {item: span.sent for item, span in record.popped}
    stays = [(span, removed.get(item, NEVER)) for item, span in record.appended.items()]
    count = 0
    for item, pop in record.popped:
        own = record.appended.get(item)
        count += own is not None and any(
            own.answered < span.sent and span.answered < pop.sent and pop.answered < gone
            for span, gone in stays
        )
    return count


class Client:
    """One client of the crowd."""

    def __init__(self, number: int, http: httpx.AsyncClient, record: Record) -> None:
        self._number, self._http, self._record = number, http, record
        self._random, self._made = random.Random(number), 0

    async def run(self, until: float) -> None:
        """Append and pop in turn, each by chance, until the end."""
        while time.perf_counter() < until:
            await (self.pop() if self._random.random() < 0.6 else self.append())

    async def append(self) -> None:
        """Append one item or three."""
        names = [
            f"item {self._number}-{self._made + place}"
            for place in range(self._random.choice((1, 3)))
        ]
        self._made += len(names)
        body = {"user_id": USER, "messages": [{"role": "user", "content": name} for name in names]}
        _, span = await self._send("POST", MESSAGES, json=body)
        self._record.batches.append(names)
        self._record.appended.update(dict.fromkeys(names, span))

    async def pop(self) -> None:
        """Pop one item."""
        answer, span = await self._send(
            "DELETE", f"{MESSAGES}/last", params={"user_id": USER, "count": 1}
        )
        taken = [message["content"] for message in answer.json()["messages"]]
        self._record.empty_pops += not taken
        self._record.popped.extend((item, span) for item in taken)

    async def _send(self, method: str, path: str, **options: object) -> tuple[httpx.Response, Span]:
        """The answer of a call that is sent until it has one. Raises httpx.HTTPStatusError where
        that is a refusal for good.
        """
        began, headers = time.perf_counter(), {"Idempotency-Key": uuid4().hex}
        while True:
            try:
                answer = await self._http.request(method, path, headers=headers, **options)  # type: ignore[arg-type]
            except httpx.TransportError:
                answer = None
            if answer is not None and answer.status_code not in AGAIN:
                return answer.raise_for_status(), Span(began, time.perf_counter())
            self._record.sent_again += 1
            await asyncio.sleep(
                float(answer.headers.get("Retry-After", PAUSE_S)) if answer is not None else PAUSE_S
            )


async def crowd(url: str, clients: int, seconds: float) -> Record:
    """Let them all at the session, then read what is left."""
    record = Record()
    async with httpx.AsyncClient(
        base_url=url, timeout=90, limits=httpx.Limits(max_connections=clients)
    ) as http:
        until = time.perf_counter() + seconds
        # a session begins with its first message; before, a pop is a 404
        await Client(clients, http, record).append()
        await asyncio.gather(
            *(Client(number, http, record).run(until) for number in range(clients))
        )
        cursor: str | None = ""
        while cursor is not None:
            query = {"user_id": USER, "limit": "100"} | ({"cursor": cursor} if cursor else {})
            page = (await http.get(MESSAGES, params=query)).raise_for_status().json()
            record.left += [message["content"] for message in page["messages"]]
            cursor = page["next_cursor"]
    return record


@contextmanager
def address(profile: str, folder: Path) -> Iterator[str]:
    """The address of a host of its own, on stores of the profile."""
    stores = AzureStores(folder / "stores") if profile == "azure" else None
    settings: dict[str, str] = {}
    try:
        if stores is not None:
            (folder / "stores").mkdir()
            stores.start()
            asyncio.run(stores.provision(DIMENSIONS))
            settings = stores.settings()
        host = Host(folder / "data", settings=settings)
        try:
            yield f"http://127.0.0.1:{host.port}"
        finally:
            host.stop()
    finally:
        if stores is not None:
            stores.stop()


def main(arguments: Sequence[str]) -> int:
    """Run it, print what came of it, and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.session_pops", description="Many clients pop from one session."
    )
    parser.add_argument(
        "--profile",
        choices=("embedded", "azure"),
        default="embedded",
        help="what the host stands on",
    )
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=120)
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder, address(asked.profile, Path(folder)) as url:
        record = asyncio.run(crowd(url, asked.clients, asked.seconds))
    broken = faults(record)
    times = sorted(span.answered - span.sent for _, span in record.popped)
    print(f"{asked.profile}: {asked.clients} clients, {asked.seconds:.0f} s")
    print(
        f"  appended {len(record.appended)}, popped {len(record.popped)}, left {len(record.left)}"
    )
    print(f"  pops of an empty session {record.empty_pops}, calls sent again {record.sent_again}")
    print(f"  a pop: p50 {percentile(times, 0.5):.2f} s, p95 {percentile(times, 0.95):.2f} s")
    for name, count in broken.items():
        print(f"  {name}: {count}")
    return 1 if any(broken.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Memory Core over HTTP: one client of one user, then eight clients of eight users at once,
against a host of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import orjson

from bench import library
from bench.host import Host
from bench.load import Ask, Measured, ask, drive
from bench.tables import Row
from bench.texts import memories, queries

CLIENTS = 8
USER_MEMORIES = 1_000
CEILING_SECONDS = 2.0
PER_CLIENT_AND_SECOND = 500
"""Requests made ready for each client: more than the server can answer."""


async def ceiling(port: int, clients: int) -> Row:
    """What client and host manage together when there is nothing to do: `GET /`,
    which no gate checks.
    """
    asks = [ask("GET /", "GET", "/")] * int(CEILING_SECONDS * 20_000)
    measured = await drive(port, [asks] * clients, CEILING_SECONDS)
    return _row(measured, "GET /", 0, clients)


async def measure_one(data: Path, user: str, size: int, seconds: float) -> list[Row]:
    """One client: retrieves, then saves, of a user who has `size` memories; read back after the
    host was killed.
    """
    host = Host(data)
    try:
        retrieves = [
            _retrieve(user, text)
            for text in islice(queries(library.SEED, user, size), int(seconds * 1_500))
        ]
        # the first one reads the user's memories into memory
        await drive(host.port, [retrieves[:20]], 60.0)
        retrieved = await drive(host.port, [retrieves], seconds)
        saves = [
            _save(user, body)
            for body in islice(memories(library.SEED + 2 * size, "http"), library.MAX_SAVES)
        ]
        saved = await drive(host.port, [saves], seconds)
        rss = host.rss_mb()
    finally:
        host.kill()
    lost = await lost_after_kill(data, saved)
    return [
        _row(retrieved, "retrieve", size, 1, rss_mb=rss),
        _row(saved, "save", size, 1, lost=lost, rss_mb=rss),
    ]


async def measure_many(
    data: Path, seconds: float, workers: Sequence[int] = (1,), rounds: int = 1
) -> list[Row]:
    """Eight clients, one user each of USER_MEMORIES, half saves and half retrieves;
    read back after the host was killed. By hosts of so many workers in turns, each on data of
    its own.
    """
    rows = []
    for number in range(rounds):
        for count in workers:
            folder = data / f"{count}-workers-{number}"
            rows += await _measure_many(folder, seconds, count, is_shown=len(workers) > 1)
    return rows


async def _measure_many(data: Path, seconds: float, workers: int, *, is_shown: bool) -> list[Row]:
    async with library.opened(data) as core:
        for number in range(CLIENTS):
            await library.load(core, f"user-{number}", USER_MEMORIES)
    clients = [
        _half_and_half(f"user-{number}", number, int(seconds * PER_CLIENT_AND_SECOND))
        for number in range(CLIENTS)
    ]
    host = Host(data, workers=workers)
    try:
        rows = [await ceiling(host.port, 1), await ceiling(host.port, CLIENTS)]
        # each worker has each user in memory, whichever client is connected to it
        for turn in range(workers):
            warm = [
                [ask_of_client for ask_of_client in asks if ask_of_client.kind == "retrieve"][:5]
                for asks in clients
            ]
            await drive(host.port, warm[turn:] + warm[:turn], 60.0)
        cpu_before = host.cpu_s()
        measured = await drive(host.port, clients, seconds)
        cpu_after, rss = host.cpu_s(), host.rss_mb()
    finally:
        host.kill()
    lost = await lost_after_kill(data, measured)
    rows += [_row(measured, kind, USER_MEMORIES, CLIENTS) for kind in ("retrieve", "save")]
    both = [time for times in measured.times.values() for time in times]
    errors = sum(measured.errors.values())
    if cpu_before is not None and cpu_after is not None and both:
        per_call_ms = 1000 * (cpu_after - cpu_before) / len(both)
        print(f"{workers} workers: {per_call_ms:.2f} ms of a processor a call", flush=True)
    rows.append(
        Row.of("both", USER_MEMORIES, CLIENTS, both, measured.took, errors, lost=lost, rss_mb=rss)
    )
    if is_shown:
        return [replace(row, name=f"{row.name}, {workers} workers") for row in rows]
    return rows


async def lost_after_kill(data: Path, measured: Measured) -> int:
    """How many acknowledged saves a new host does not show as they were answered."""
    saved = [orjson.loads(body)["memory"] for body in measured.bodies.get("save", ())]
    host = Host(data)
    try:
        asks = [
            ask("get", "GET", f"/api/v1/memories/{memory['id']}?user_id={memory['user_id']}")
            for memory in saved
        ]
        read = await drive(host.port, [asks], 600.0)
    finally:
        host.stop()
    contents = {
        memory["id"]: memory["content"] for memory in map(orjson.loads, read.bodies.get("get", ()))
    }
    return sum(contents.get(memory["id"]) != memory["content"] for memory in saved)


def _half_and_half(user: str, number: int, count: int) -> list[Ask]:
    saves = (_save(user, body) for body in memories(1_000 + number, "mixed"))
    retrieves = (_retrieve(user, text) for text in queries(library.SEED, user, USER_MEMORIES))
    pairs = (
        zip(saves, retrieves, strict=False) if number % 2 else zip(retrieves, saves, strict=False)
    )
    return [ask_of_pair for pair in islice(pairs, count // 2) for ask_of_pair in pair]


def _retrieve(user: str, text: str) -> Ask:
    body = {"user_id": user, "query": text, "limit": library.RESULTS, "similarity_threshold": 0.0}
    return ask("retrieve", "POST", "/api/v1/memories/retrieve", body)


def _save(user: str, body: dict[str, object]) -> Ask:
    return ask("save", "POST", "/api/v1/memories/save", {"user_id": user, "view": "full", **body})


def _row(
    measured: Measured,
    kind: str,
    size: int,
    clients: int,
    *,
    lost: int | None = None,
    rss_mb: float | None = None,
) -> Row:
    times, errors = measured.times.get(kind, []), measured.errors.get(kind, 0)
    return Row.of(kind, size, clients, times, measured.took, errors, lost=lost, rss_mb=rss_mb)

"""The load of the chaos run goes on while no host answers."""

from __future__ import annotations

import asyncio
import contextlib
import time
from pathlib import Path

from bench.chaos_clients import Notebook
from bench.chaos_load import Load
from bench.chaos_servers import Host, System

RATE, MOST = 200.0, 10
LIMIT_S = 60.0


async def test_calls_begin_while_none_is_answered_up_to_the_most_that_may_wait(
    tmp_path: Path,
) -> None:
    system = System(tmp_path, "embedded", "hash", 1)
    system.hosts = [Host("host", tmp_path, tmp_path, {}, 1)]
    connections: list[asyncio.StreamWriter] = []
    server = await asyncio.start_server(
        lambda _, writer: connections.append(writer), "127.0.0.1", system.hosts[0].port
    )
    notebook = Notebook()
    load = Load(RATE, MOST, 1, system, notebook, time.monotonic() + LIMIT_S)
    running = asyncio.ensure_future(load.run())
    async with server, asyncio.timeout(LIMIT_S):
        while notebook.counts["not begun"] < MOST or len(connections) < MOST:
            await asyncio.sleep(1 / RATE)
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running
        for connection in connections:
            connection.close()
    assert load.clients == MOST
    assert notebook.counts["requests"] >= MOST

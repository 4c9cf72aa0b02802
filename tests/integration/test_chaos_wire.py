"""The wire of the chaos run passes on what it gets, cuts it, and is whole again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest

from bench.chaos_wire import Wire


async def closed(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while piece := await reader.read(100):
                writer.write(piece)
                await writer.drain()
        await closed(writer)

    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    wire = Wire(server.sockets[0].getsockname()[1])
    await wire.start()
    yield wire
    await wire.stop()
    server.close()
    await server.wait_closed()


async def test_a_wire_passes_on_cuts_and_is_whole_again(wire: Wire) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", wire.port)
    writer.write(b"before")
    assert await reader.readexactly(6) == b"before"
    wire.cut()
    with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
        await reader.readexactly(1)
    await closed(writer)
    reader, writer = await asyncio.open_connection("127.0.0.1", wire.port)
    with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
        await reader.readexactly(1)
    await closed(writer)
    wire.mend()
    reader, writer = await asyncio.open_connection("127.0.0.1", wire.port)
    writer.write(b"after")
    assert await reader.readexactly(5) == b"after"
    await closed(writer)

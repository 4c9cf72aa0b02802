"""Where a phrase could still be after its user was erased: every byte of every store, as
a search for it would find it.
"""

from __future__ import annotations

import gzip
import sqlite3
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

from memory_core.adapters.redis.protocol import from_bytes
from memory_core.ports import Archive, TaskQueue


def in_files(folder: Path, phrases: Iterable[str]) -> list[str]:
    """The files below a folder that hold a phrase, packed or not, with the phrase."""
    lines = []
    for path in folder.rglob("*"):
        if path.is_file():
            lines += in_file(path, phrases)
    return lines


def in_file(path: Path, phrases: Iterable[str]) -> list[str]:
    """The phrases that a file holds, with its name."""
    return [f"{path.name}: {phrase}" for phrase in within(path.read_bytes(), phrases)]


def within(data: bytes, phrases: Iterable[str]) -> list[str]:
    """The phrases in some bytes, or in what they are packed from."""
    packed = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else b""
    return [phrase for phrase in phrases if phrase.encode() in data or phrase.encode() in packed]


def in_the_emulator(file: Path, phrases: Iterable[str]) -> list[str]:
    """What is in the file of the emulator of Cosmos DB, once its write-ahead log has been
    moved into it.
    """
    connection = sqlite3.connect(file, timeout=30)
    try:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        connection.close()
    return [line for path in file.parent.glob(f"{file.name}*") for line in in_file(path, phrases)]


async def in_redis(client: Any, phrases: Iterable[str]) -> list[str]:
    """What a Redis holds, in its keys and in its values, unpacked where they are memories."""
    lines: list[str] = []
    async for key in client.scan_iter():
        kind = (await client.type(key)).decode()
        values: list[bytes] = [key]
        if kind == "hash":
            fields = await client.hgetall(key)
            values += [*fields, *fields.values()]
            values += [
                _unpacked(value) for name, value in fields.items() if name.startswith(b"mem_")
            ]
        elif kind == "string":
            values.append(await client.get(key))
        elif kind == "zset":
            values += await client.zrange(key, 0, -1)
        elif kind == "set":
            values += await client.smembers(key)
        lines += [
            f"{key.decode()}: {phrase}" for value in values for phrase in within(value, phrases)
        ]
    return lines


async def in_blobs(archive: Archive, phrases: Iterable[str]) -> list[str]:
    """What an archive holds, in the names and in the blobs."""
    lines: list[str] = []
    last: str | None = None
    while page := await archive.names("", last, 500):
        for name in page:
            lines += [
                f"{name}: {phrase}"
                for phrase in within(name.encode() + (await archive.get(name) or b""), phrases)
            ]
        last = page[-1]
    return lines


async def in_queues(queue: TaskQueue, phrases: Iterable[str]) -> list[str]:
    """What waits in the queues."""
    lines: list[str] = []
    for name in ("formation", "consolidation", "webhooks"):
        for full in (name, f"{name}-poison"):
            for message in await queue.receive(full, 32, timedelta(seconds=1)):
                lines += within(message.body.encode(), phrases)
    return lines


def _unpacked(value: bytes) -> bytes:
    return from_bytes(value).model_dump_json().encode()

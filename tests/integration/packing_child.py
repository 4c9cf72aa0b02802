"""A process that saves, and writes the file of its slice after each save, until it is killed."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from memory_core.adapters.sqlite.store import SqliteStore
from tests.builders import ALICE, DIMENSIONS, StillClock, memory, query, save, unit


async def main(path: str, folder: str, name: str) -> None:
    store = SqliteStore(
        Path(path), clock=StillClock(), embedding_model="one", dimensions=DIMENSIONS,
        synchronous="normal", slices=Path(folder), slice_file_rows=1,
    )  # fmt: skip
    await store.open()
    number = 0
    while True:
        made = [
            memory(f"tea {name}", id=f"{name}_{number}_{each}", embedding=unit(each))
            for each in range(40)
        ]
        await save(store, *made)
        await store.search(ALICE, query("tea", unit(1)))
        sys.stdout.write("saved\n")
        sys.stdout.flush()
        number += 1


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

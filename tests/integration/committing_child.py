"""A process that commits to a file until it is killed or has done its share; says each commit's id
once it is acknowledged.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from memory_core.adapters.sqlite.store import SqliteStore
from memory_core.domain.errors import HeadMoved
from memory_core.ports import Document, Write
from tests.builders import ALICE, DIMENSIONS, StillClock, batch, document, memory, unit


async def main(path: str, name: str, commits: int) -> None:
    store = SqliteStore(
        Path(path), clock=StillClock(), embedding_model="test", dimensions=DIMENSIONS
    )
    await store.open()
    done = 0
    while done < commits:
        snapshot = await store.snapshot(ALICE, ["counter"])
        counted = snapshot.documents["counter"].body["n"] if snapshot.documents else 0
        commit_id = f"{name}-{done}"
        pair = [
            memory("tea " * 50, id=f"mem_{commit_id}_{half}", embedding=unit(done)) for half in "ab"
        ]
        writes = [
            Write("put", Document("counter", "marker", {"n": counted + 1})),
            *(Write("create", document(memory)) for memory in pair),
        ]
        try:
            await store.commit(ALICE, batch(snapshot.head, writes, commit_id=commit_id))
        except HeadMoved:
            continue
        sys.stdout.write(f"{commit_id}\n")
        sys.stdout.flush()
        done += 1
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))

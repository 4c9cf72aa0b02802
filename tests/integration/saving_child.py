"""A process that saves through MemoryCore until it is killed; says each memory's id once its save
is acknowledged.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.memory import MemoryType
from memory_core.domain.requests.memories import SaveInput
from memory_core.domain.results import Saved
from tests.builders import ALICE


async def main(folder: str, name: str) -> None:
    settings = Settings(embedding_provider="hash", data=Path(folder), commit_deadline_s=60)
    async with MemoryCore(settings) as core:

        async def talk(session: str) -> None:
            for n in range(100_000):
                turns = [
                    SaveInput(content=f"{name} {session} {n} {half}", session_id=session)
                    for half in "ab"
                ]
                fact = SaveInput(
                    content=f"{name} {session} stands at {n}",
                    type=MemoryType.SEMANTIC,
                    subject=f"{name} {session}",
                    attribute="count",
                )
                for error in [
                    await core.save(ALICE, turns[0]),
                    *await core.bulk(ALICE, [turns[1], fact]),
                ]:
                    assert isinstance(error, Saved)
                    sys.stdout.write(f"{error.memory.id}\n")
                sys.stdout.flush()

        await asyncio.gather(talk("s1"), talk("s2"))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))

"""A process that puts blobs into a folder until it is killed or has done its share; says of each,
once it knows, whether it was first.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from tests.archives import Folder


async def main(folder: str, worker: str, below: str, count: int) -> None:
    archive = Folder(Path(folder)).process()
    await archive.open()
    for number in range(count):
        name = f"{below}/{number % 7}/{number}"
        won = await archive.put(name, f"{worker} {name};".encode() * 20_000)
        sys.stdout.write(f"{name} {'won' if won else 'lost'}\n")
        sys.stdout.flush()
    await archive.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])))

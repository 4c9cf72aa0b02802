"""A process on the embedded queue: `send` sends until it is killed, `drain` takes what there is;
both say each body once it is certain.
"""

from __future__ import annotations

import asyncio
import sys
from datetime import timedelta
from pathlib import Path

from memory_core.adapters.sqlite.queue import SqliteQueue
from memory_core.adapters.system import SystemClock


async def main(action: str, path: str, name: str) -> None:
    queue = SqliteQueue(Path(path), clock=SystemClock(), synchronous="normal")
    await queue.open()
    if action == "send":
        for number in range(1_000_000):
            await queue.send("formation", f"{name}-{number}")
            say(f"{name}-{number}")
    while got := await queue.receive("formation", 3, timedelta(hours=1)):
        for delivery in got:
            if await queue.complete("formation", delivery):
                say(delivery.body)
    await queue.close()


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

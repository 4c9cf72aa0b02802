"""A timeout that counts only the time in which this process ran."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

PARTS = 4
"""The parts in which a timeout is counted.

A part is the longest that an answer which has arrived may wait for its reader without a timeout.
"""


@asynccontextmanager
async def running_timeout(seconds: float | None) -> AsyncIterator[None]:
    """A timeout that does not count while the event loop is held up.

    An answer may have arrived while other work kept the loop, or the machine kept the process, from
    reading it. `asyncio.timeout` would fail that call and blame the service. Raises TimeoutError
    when the loop ran for that long without the end of the body. With None there is no limit.
    """
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(None) as timeout:
        if seconds is None:
            yield
            return
        part = seconds / PARTS
        timer: asyncio.TimerHandle

        def wait(parts: int) -> asyncio.TimerHandle:
            due = loop.time() + part
            return loop.call_at(due, count, parts, due)

        def count(parts: int, due: float) -> None:
            nonlocal timer
            left = parts - 1 if loop.time() < due + part else parts
            if left:
                timer = wait(left)
            else:
                timeout.reschedule(loop.time())

        timer = wait(PARTS)
        try:
            yield
        finally:
            timer.cancel()

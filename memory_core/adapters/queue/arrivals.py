"""Tells waiting receivers in this process that something was just sent here.

Then they need not wait for their next look. Note: an arrival is a hint. Another process's messages and delayed ones are found by looking
alone.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta


class Arrivals:
    """One flag a queue: raised by sending, lowered by the receiver that waited for it."""

    def __init__(self) -> None:
        self._flags: dict[str, asyncio.Event] = {}

    def tell(self, queue: str) -> None:
        """Something is there to be received now."""
        self._flag(queue).set()

    async def wait(self, queue: str, within: timedelta) -> None:
        """Return after the next `tell`, at once when there was one since the last wait, or when the time is up."""
        flag = self._flag(queue)
        try:
            async with asyncio.timeout(within.total_seconds()):
                await flag.wait()
        except TimeoutError:
            return
        flag.clear()

    def _flag(self, queue: str) -> asyncio.Event:
        return self._flags.setdefault(queue, asyncio.Event())

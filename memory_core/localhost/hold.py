"""Holds a message while its function runs: its visibility is renewed when half of it is over.

Note: every renewal makes a new receipt, so a renewal under way is waited for and not cut off. A worker that completes with
the receipt before it does not complete.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta

from memory_core.domain.errors import Unavailable
from memory_core.ports import Delivery, TaskQueue

log = logging.getLogger(__name__)


class Hold:
    """Renews from its making until `end`."""

    def __init__(self, queue: TaskQueue, name: str, delivery: Delivery, visibility: timedelta) -> None:
        self._queue, self._name, self._visibility = queue, name, visibility
        self._delivery = delivery
        self._over = asyncio.Event()
        self._renewing = asyncio.ensure_future(self._renew())

    async def end(self) -> Delivery:
        """Stop renewing; the delivery with the receipt that is good now."""
        self._over.set()
        await self._renewing
        return self._delivery

    async def _renew(self) -> None:
        while not await self._is_over_within(self._visibility / 2):
            try:
                renewed = await self._queue.extend(self._name, self._delivery, self._visibility)
            except Unavailable as error:
                log.warning("message %s of %s could not be held: %s", self._delivery.id, self._name, error.detail)
                continue
            if renewed is None:
                log.warning("message %s of %s is somebody else's now, while its function still runs here", self._delivery.id, self._name)
                return
            self._delivery = renewed

    async def _is_over_within(self, time: timedelta) -> bool:
        try:
            async with asyncio.timeout(time.total_seconds()):
                return await self._over.wait()
        except TimeoutError:
            return False

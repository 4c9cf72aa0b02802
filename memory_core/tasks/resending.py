"""A queue that sends again, from this process and within seconds, what it could not send at once.

Note: this is best effort. A process that ends takes its waiting messages with it; the tasks
themselves are stored, and the hourly sweep finds those that no message asks for.
So nothing is kept here that could be lost.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime, timedelta

from memory_core.domain.errors import Unavailable
from memory_core.ports import Clock, Delivery, Health, TaskQueue

MAX_WAITING = 1_000
"""Messages that wait in one process; further ones are left to the sweep."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 60.0
"""Before a queue that refused a message is tried again; doubled each time."""
log = logging.getLogger(__name__)

_Message = tuple[str, str]
"""The queue's name and the body."""


class ResendingQueue:
    """The queue `inner`, whose `send` fails as that does and is repeated in the background until
    it succeeds.

    A message may so be there twice, which receivers must bear anyway.
    """

    def __init__(self, inner: TaskQueue, clock: Clock) -> None:
        self._inner, self._clock = inner, clock
        self._waiting: dict[_Message, datetime] = {}
        self._resending: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Connect."""
        await self._inner.open()

    async def close(self) -> None:
        """Stop sending again, and release everything."""
        if self._resending is not None:
            self._resending.cancel()
            await asyncio.gather(self._resending, return_exceptions=True)
            self._resending = None
        self._waiting.clear()
        await self._inner.close()

    async def send(self, queue: str, body: str, *, delay: timedelta = timedelta(0)) -> None:
        """Add a message. Raises Unavailable: then it is sent again later. So it is when the caller
        waits no longer. Raises TooLarge.
        """
        due = self._clock.now() + delay
        try:
            await self._inner.send(queue, body, delay=delay)
        except (Unavailable, asyncio.CancelledError):
            self._wait((queue, body), due)
            raise

    async def receive(self, queue: str, limit: int, visibility: timedelta) -> list[Delivery]:
        """Up to `limit` visible messages."""
        return await self._inner.receive(queue, limit, visibility)

    async def extend(
        self, queue: str, delivery: Delivery, visibility: timedelta
    ) -> Delivery | None:
        """Keep it, or hand it back."""
        return await self._inner.extend(queue, delivery, visibility)

    async def complete(self, queue: str, delivery: Delivery) -> bool:
        """Remove a message that is done."""
        return await self._inner.complete(queue, delivery)

    async def arrival(self, queue: str, within: timedelta) -> None:
        """Wait for this process's next `send` without delay."""
        await self._inner.arrival(queue, within)

    async def length(self, queue: str) -> int:
        """About how many messages there are."""
        return await self._inner.length(queue)

    async def check(self) -> Health:
        """A cheap round trip, for readiness."""
        return await self._inner.check()

    def pool(self) -> tuple[int, int]:
        """Connections or threads: held at most, in use."""
        return self._inner.pool()

    def _wait(self, message: _Message, due: datetime) -> None:
        if len(self._waiting) < MAX_WAITING:
            self._waiting[message] = due
            if self._resending is None or self._resending.done():
                self._resending = asyncio.ensure_future(self._send_again())

    async def _send_again(self) -> None:
        """Send what waits, the oldest first, until nothing is left; a longer pause after
        each refusal.
        """
        pause_s = FIRST_PAUSE_S
        while self._waiting:
            await self._clock.sleep(pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
            while self._waiting:
                message = next(iter(self._waiting))
                due = self._waiting[message]
                queue, body = message
                try:
                    await self._inner.send(
                        queue, body, delay=max(due - self._clock.now(), timedelta(0))
                    )
                except Unavailable as error:
                    log.info(
                        "%d messages wait for their queue: %s", len(self._waiting), error.detail
                    )
                    break
                except Exception:
                    log.exception(
                        "a message of the queue %s can't be sent again, and is left to the sweep",
                        queue,
                    )
                if self._waiting.get(message) == due:
                    del self._waiting[message]
                pause_s = FIRST_PAUSE_S

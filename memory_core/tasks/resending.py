"""A queue that repeats failed sends within seconds.

Note: this is best effort. A process that ends loses its waiting messages. The tasks themselves are
stored, and the hourly sweep finds tasks without a message. So no task can be lost here.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime, timedelta

from memory_core.domain.errors import Unavailable
from memory_core.ports import Clock, Delivery, Health, TaskQueue

MAX_WAITING = 1_000
"""Messages that wait in a process; further messages are left to the sweep."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 60.0
"""The pauses before a queue that refused a message is tried again; doubled each time."""
log = logging.getLogger(__name__)

_Message = tuple[str, str]
"""The queue's name and the body."""


class ResendingQueue:
    """The queue `inner`, with failed sends repeated in the background.

    A failed `send` still raises its error. A message may so arrive twice, which receivers must bear
    anyway.
    """

    def __init__(self, inner: TaskQueue, clock: Clock) -> None:
        self._inner, self._clock = inner, clock
        self._waiting: dict[_Message, datetime] = {}
        self._resending: asyncio.Task[None] | None = None
        self._is_closed = False

    async def open(self) -> None:
        """Connect."""
        self._is_closed = False
        await self._inner.open()

    async def close(self) -> None:
        """Stop sending again, and release all resources.

        A send that is under way and fails afterwards is left to the sweep.
        """
        self._is_closed = True
        if self._resending is not None:
            self._resending.cancel()
            await asyncio.gather(self._resending, return_exceptions=True)
            self._resending = None
        self._waiting.clear()
        await self._inner.close()

    async def send(self, queue: str, body: str, *, delay: timedelta = timedelta(0)) -> None:
        """Add a message; after a failure, it is sent again later.

        That includes a caller that gives up waiting.

        Args:
            queue: Name of the queue.
            body: Body of the message.
            delay: Until the message is visible.

        Raises:
            Unavailable: The queue is down.
            TooLarge: The message is too long.

        """
        due = self._clock.now() + delay
        try:
            await self._inner.send(queue, body, delay=delay)
        except (Unavailable, asyncio.CancelledError):
            self._wait((queue, body), due)
            raise

    async def receive(self, queue: str, limit: int, visibility: timedelta) -> list[Delivery]:
        """Up to `limit` visible messages.

        Args:
            queue: Name of the queue.
            limit: Messages at most.
            visibility: How long the messages stay hidden from other receivers.

        """
        return await self._inner.receive(queue, limit, visibility)

    async def extend(
        self, queue: str, delivery: Delivery, visibility: timedelta
    ) -> Delivery | None:
        """Keep a message hidden for longer, or hand it back.

        Args:
            queue: Name of the queue.
            delivery: Delivery of the message.
            visibility: How long the message stays hidden from now on.

        Returns:
            As the inner queue's `extend`.

        """
        return await self._inner.extend(queue, delivery, visibility)

    async def complete(self, queue: str, delivery: Delivery) -> bool:
        """Remove a message that is done.

        Args:
            queue: Name of the queue.
            delivery: Delivery of the message.

        Returns:
            As the inner queue's `complete`.

        """
        return await self._inner.complete(queue, delivery)

    async def arrival(self, queue: str, within: timedelta) -> None:
        """Wait for this process's next `send` without delay.

        Args:
            queue: Name of the queue.
            within: How long to wait at most.

        """
        await self._inner.arrival(queue, within)

    async def length(self, queue: str) -> int:
        """About how many messages there are."""
        return await self._inner.length(queue)

    async def check(self) -> Health:
        """Check readiness by a cheap round trip."""
        return await self._inner.check()

    def pool(self) -> tuple[int, int]:
        """The connections or threads: their limit, and how many are in use."""
        return self._inner.pool()

    def _wait(self, message: _Message, due: datetime) -> None:
        if not self._is_closed and len(self._waiting) < MAX_WAITING:
            self._waiting[message] = due
            if self._resending is None or self._resending.done():
                self._resending = asyncio.ensure_future(self._send_again())

    async def _send_again(self) -> None:
        """Send waiting messages, the oldest first, until none is left.

        The pause grows after each refusal.
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

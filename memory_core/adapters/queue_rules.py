"""Rules that all queues share: the limits of messages, and how receivers are woken.

Note: base64, in which the Functions host expects messages, takes a third of the service's 64 KiB.
"""

from __future__ import annotations

import asyncio
import re
from datetime import timedelta
from typing import get_args

from memory_core.domain.errors import TooLarge
from memory_core.ports import POISON, QueueName

DEPENDENCY = "queue"
WORK_QUEUES: tuple[str, ...] = get_args(QueueName)
POISON_QUEUES = tuple(name + POISON for name in WORK_QUEUES)
QUEUES = WORK_QUEUES + POISON_QUEUES
MAX_BODY_BYTES = 48 * 1024
LIFE = timedelta(days=7)
"""How long a message waits, from the moment when it is first visible."""
LONGEST = timedelta(days=7)
"""The longest time that the service hides a message."""
MOST_AT_ONCE = 32
_NAME = re.compile(r"(?=.{3,63}$)[a-z0-9]+(?:-[a-z0-9]+)*")


def encoded(body: str) -> bytes:
    """The body in UTF-8.

    Raises TooLarge over 48 KiB, and ValueError for a body that is empty or not Unicode text.
    """
    data = body.encode()
    if len(data) > MAX_BODY_BYTES:
        raise TooLarge(f"a message may have {MAX_BODY_BYTES} bytes, this one has {len(data)}")
    if not data:
        raise ValueError("a message has to say something")
    return data


def checked_name(queue: str) -> str:
    """The name itself, if the service accepts it.

    Raises ValueError for any name but 3-63 of a-z, 0-9 and single hyphens between them.
    """
    if not _NAME.fullmatch(queue):
        raise ValueError(
            f"{queue!r} can't be the name of a queue: 3-63 lower-case letters, digits and "
            "single hyphens"
        )
    return queue


def checked_limit(limit: int) -> int:
    """The limit itself. Raises ValueError when it is not 1-32."""
    if not 1 <= limit <= MOST_AT_ONCE:
        raise ValueError(f"1 to {MOST_AT_ONCE} messages can be received at once, not {limit}")
    return limit


def whole_seconds(duration: timedelta, *, least: int = 0) -> int:
    """A duration in seconds, rounded up, as the service counts.

    Args:
        duration: The duration.
        least: The shortest duration in seconds.

    Raises:
        ValueError: The duration is under `least` seconds or over 7 days.

    """
    seconds = -(-duration // timedelta(seconds=1))
    if seconds < least or duration < timedelta(0) or duration > LONGEST:
        raise ValueError(f"a message can be hidden for {least} s to 7 days, not for {duration}")
    return seconds


# Wake receivers of this process that wait for messages, when this process sends a message.
#
# They then need not wait for their next poll. Note: an arrival is only a hint. Delayed messages and
# messages of other processes are found by polling.


class Arrivals:
    """A flag for each queue.

    A send sets it, and the receiver that waited for it clears it.
    """

    def __init__(self) -> None:
        self._flags: dict[str, asyncio.Event] = {}

    def tell(self, queue: str) -> None:
        """Report that a message can be received now."""
        self._flag(queue).set()

    async def wait(self, queue: str, within: timedelta) -> None:
        """Return after the next `tell`, or when the time is over.

        It returns at once when there was a `tell` since the last wait.

        Args:
            queue: The name of the queue.
            within: The longest time to wait.

        """
        flag = self._flag(queue)
        try:
            async with asyncio.timeout(within.total_seconds()):
                await flag.wait()
        except TimeoutError:
            return
        flag.clear()

    def _flag(self, queue: str) -> asyncio.Event:
        return self._flags.setdefault(queue, asyncio.Event())

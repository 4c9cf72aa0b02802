"""Rules that all queues share: what may be sent, and how receivers are woken.

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
"""How long a message waits, from when it can first be seen."""
LONGEST = timedelta(days=7)
"""The longest that the service hides a message."""
MOST_AT_ONCE = 32
_NAME = re.compile(r"(?=.{3,63}$)[a-z0-9]+(?:-[a-z0-9]+)*")


def encoded(body: str) -> bytes:
    """The body in UTF-8. Raises TooLarge over 48 KiB, ValueError for an empty one or one that is
    not Unicode text.
    """
    data = body.encode()
    if len(data) > MAX_BODY_BYTES:
        raise TooLarge(f"a message may have {MAX_BODY_BYTES} bytes, this one has {len(data)}")
    if not data:
        raise ValueError("a message has to say something")
    return data


def checked_name(queue: str) -> str:
    """The name itself. Raises ValueError for one that the service would refuse: 3-63 of a-z,
    0-9 and single hyphens between.
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
    """A duration in seconds, rounded up, as the service counts. Raises ValueError when it is under
    `least` seconds or over 7 days.
    """
    seconds = -(-duration // timedelta(seconds=1))
    if seconds < least or duration < timedelta(0) or duration > LONGEST:
        raise ValueError(f"a message can be hidden for {least} s to 7 days, not for {duration}")
    return seconds


# Tells waiting receivers in this process that something was just sent here.
#
# Then they need not wait for their next look. Note: an arrival is a hint. Another process's
# messages and delayed ones are found by looking alone.


class Arrivals:
    """One flag a queue: raised by sending, lowered by the receiver that waited for it."""

    def __init__(self) -> None:
        self._flags: dict[str, asyncio.Event] = {}

    def tell(self, queue: str) -> None:
        """Something is there to be received now."""
        self._flag(queue).set()

    async def wait(self, queue: str, within: timedelta) -> None:
        """Return after the next `tell`, at once when there was one since the last wait,
        or when the time is up.
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

"""How a run gives way: it rests after each chunk while callers are served.

It rests many times as long as the chunk took. A run and the calls of users share one event loop
and its cores. Measured on two cores, for a user of 100,000 memories beside a run: a retrieve took
60 ms of processor time with the run's share, 21 without. Note: no caller waits for a run, but it
must end. So it rests for `IN_ALL_S` altogether, and then goes on as if it were alone.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final, NamedTuple

TIMES: Final = 40
"""The factor between the time of a chunk and the rest after it.

Of 25 calls at most a single call then meets a chunk, so the chunk is not among the 95 %.
"""
LONGEST_S: Final = 2.0
IN_ALL_S: Final = 180.0
"""The rests of a run altogether.

That is well within the ten minutes of a queue's function: a run of 2,000 turns is 67 chunks of some
40 ms.
"""
LULL_S: Final = 0.05
"""Seconds without a call after which no caller needs the run to wait."""


class UserCalls(NamedTuple):
    """The users' calls that this process serves.

    Attributes:
        under_way: How many are being served now.
        begun: How many have begun since the process started.

    """

    under_way: int
    begun: int


class Throttle:
    """The rests of a single run."""

    def __init__(
        self,
        calls: Callable[[], UserCalls],
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._calls, self._now, self._sleep = calls, now, sleep
        self._left_s = IN_ALL_S

    @asynccontextmanager
    async def chunk(self) -> AsyncIterator[None]:
        """Run a chunk; if calls were served meanwhile, rest until a lull or long enough."""
        began, before = self._now(), self._calls().begun
        yield
        if self._is_called(before):
            await self._rest(min(TIMES * (self._now() - began), LONGEST_S, self._left_s))

    async def _rest(self, at_most_s: float) -> None:
        began = self._now()
        while (rested := self._now() - began) < at_most_s:
            before = self._calls().begun
            await self._sleep(min(LULL_S, at_most_s - rested))
            if not self._is_called(before):
                break
        self._left_s -= self._now() - began

    def _is_called(self, begun: int) -> bool:
        """Whether a call is being served, or has begun since `begun` calls had."""
        return self._calls() != UserCalls(0, begun)

"""Limit how many requests a process works on at once, and how many wait.

The rest is refused at once, so that a crowd delays other callers for a short time only.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from math import ceil
from typing import Final

from memory_core.domain.errors import Overloaded

SHARE: Final = 0.75
"""The part of the places, at work and waiting, that a single app may fill.

The rest is for the other apps.
"""


@dataclass(frozen=True, slots=True)
class AdmissionRules:
    """The limits of admission.

    Attributes:
        at_once: How many requests are at work.
        waiting: How many requests wait for a place at work.
        wait_s: How many seconds a request waits.

    """

    at_once: int
    waiting: int
    wait_s: float


class Admission:
    """Places at work, which apps take in turn, each its share at most.

    An app with a thousand waiting requests delays no other app's.
    """

    def __init__(self, rules: AdmissionRules) -> None:
        self._rules = rules
        self._waiting = 0
        self._at_work: Counter[str] = Counter()
        self._queues: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @asynccontextmanager
    async def place(self, app_id: str) -> AsyncIterator[None]:
        """Hold a place at work until the block ends.

        Raises Overloaded if there is no place and none is expected soon.
        """
        await self._enter(app_id)
        try:
            yield
        finally:
            self._leave(app_id)

    def pool(self) -> tuple[int, int]:
        """Return the places at work, and the requests that are at work or wait."""
        return self._rules.at_once, self._at_work.total() + self._waiting

    async def _enter(self, app_id: str) -> None:
        rules = self._rules
        if self._has_place_for(app_id):  # apps that still wait have their share at work
            self._at_work[app_id] += 1
            return
        if self._waiting >= rules.waiting or len(self._queues.get(app_id, ())) >= max(
            1, rules.waiting * SHARE
        ):
            raise self._refusal()
        turn = asyncio.get_running_loop().create_future()
        self._queues.setdefault(app_id, deque()).append(turn)
        self._waiting += 1
        try:
            async with asyncio.timeout(rules.wait_s):
                await turn
        except (TimeoutError, asyncio.CancelledError) as error:
            if turn.done() and not turn.cancelled():
                self._leave(app_id)  # it got a place while it gave up
            else:
                self._give_up(app_id, turn)
            if isinstance(error, TimeoutError):
                raise self._refusal() from None
            raise

    def _has_place_for(self, app_id: str) -> bool:
        share = max(1, int(self._rules.at_once * SHARE))
        return self._at_work.total() < self._rules.at_once and self._at_work[app_id] < share

    def _leave(self, app_id: str) -> None:
        """Hand the place to the next app that has less than its share."""
        self._at_work[app_id] -= 1
        if not self._at_work[app_id]:
            del self._at_work[app_id]
        while (following := next(filter(self._has_place_for, self._queues), None)) is not None:
            queue = self._queues.pop(following)
            turn = queue.popleft()
            self._waiting -= 1
            if queue:
                self._queues[following] = queue  # behind all others
            if not turn.cancelled():
                self._at_work[following] += 1
                turn.set_result(None)

    def _give_up(self, app_id: str, turn: asyncio.Future[None]) -> None:
        queue = self._queues.get(app_id, deque())
        if turn in queue:
            queue.remove(turn)
            self._waiting -= 1
        if not queue:
            self._queues.pop(app_id, None)

    def _refusal(self) -> Overloaded:
        return Overloaded(
            f"{self._at_work.total()} requests are at work here and {self._waiting} wait: "
            "try again",
            retry_after_s=max(1, ceil(self._rules.wait_s)),
        )

"""The hour: from one timer to the users whose run is due, by messages. No user is looked at who is not due.

The timer sends a message for each range that users lie in; a range's work reads who is due there, page by page, and sends a message for
each, spread over most of the hour; a user's message begins their run, which is a task like others. Note: nothing here must
happen once. Messages come twice, ticks overlap, a timer is late: a user who is not due any more when the message comes is left alone.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime, timedelta
from typing import Any, Final
from zlib import crc32

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from memory_core.consolidation.begin_run import RunBeginning
from memory_core.domain.errors import HeadMoved, Unavailable
from memory_core.domain.scope import Owner
from memory_core.ports import Clock, Due, LongTermStore, QueueName, TaskQueue
from memory_core.tasks.leases import pause
from memory_core.tasks.lifecycle import DueMessage

QUEUE: Final[QueueName] = "consolidation"
PAGE = 100
PAGES_A_MESSAGE = 10
"""So a message is worked on for a second or two, far from a function's time limit; the next thousand users are another message's."""
SENT_AT_ONCE = 16
GIVEN_UP_AFTER = timedelta(hours=1)
"""From the tick on; the next one has found the same users by then."""
log = logging.getLogger(__name__)


class RangeMessage(BaseModel):
    """Asks for the users of one range who were due at `tick`, from a place on: since when the last one was due, and who that was."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    within: str
    tick: datetime
    after: tuple[datetime, str, str] | None = None
    waits: int = 0


class FanOut:
    """Sends out what is due. spread: over how long the users of one tick are spread."""

    def __init__(self, store: LongTermStore, queue: TaskQueue, beginning: RunBeginning, clock: Clock, spread: timedelta) -> None:
        self._store, self._queue, self._beginning = store, queue, beginning
        self._clock, self._spread = clock, spread

    async def tick(self) -> int:
        """Send a message for each range; how many. Raises Unavailable."""
        now, ranges = self._clock.now(), await self._store.ranges()
        await self._send_all([(RangeMessage(within=range_name, tick=now), timedelta(0)) for range_name in ranges])
        return len(ranges)

    async def work(self, body: str) -> bool:
        """Do what one of these messages asks for, or put it off; False when it is none of them.

        Raises Unavailable when it can't even be put off.
        """
        message = _message_in(body)
        if message is None:
            return False
        try:
            if isinstance(message, RangeMessage):
                await self._send_due(message)
            else:
                await self._begin(message.owner)
        except (Unavailable, HeadMoved, TimeoutError) as error:
            await self._put_off(message, error)
        return True

    async def _begin(self, owner: Owner) -> None:
        begun = await self._beginning.begin_due(owner)
        if begun is None:
            log.debug("a user's run is not due any more, or under way")

    async def _send_due(self, message: RangeMessage) -> None:
        after = None if message.after is None else Due(Owner(*message.after[1:]), message.after[0])
        for _ in range(PAGES_A_MESSAGE):
            page = await self._store.due(message.within, message.tick, after, PAGE)
            await self._send_all([(_due_message(due.owner, message.tick), self._delay(due.owner, message.tick)) for due in page])
            if len(page) < PAGE:
                return
            after = page[-1]
        if after is not None:
            further = message.model_copy(update={"after": (after.at, *after.owner), "waits": 0})
            await self._queue.send(QUEUE, further.model_dump_json())

    def _delay(self, owner: Owner, tick: datetime) -> timedelta:
        """The same part of the hour for a user each time, so that overlapping ticks don't bring them twice in a row."""
        share = crc32("\0".join(owner).encode()) / 2**32
        return max(tick + share * self._spread - self._clock.now(), timedelta(0))

    async def _send_all(self, messages: list[tuple[BaseModel, timedelta]]) -> None:
        """Send them, some at once. When one can't be sent, the others have been tried before that is raised."""
        room = asyncio.Semaphore(SENT_AT_ONCE)

        async def send(message: BaseModel, delay: timedelta) -> None:
            async with room:
                await self._queue.send(QUEUE, message.model_dump_json(), delay=delay)

        ended = await asyncio.gather(*(send(*arguments) for arguments in messages), return_exceptions=True)
        for outcome in ended:
            if isinstance(outcome, BaseException):
                raise outcome

    async def _put_off(self, message: RangeMessage | DueMessage, error: BaseException) -> None:
        if self._clock.now() - message.tick >= GIVEN_UP_AFTER:
            log.warning("a message of the hour that began at %s is left to the next hour: %s", message.tick, error)
            return
        again = message.model_copy(update={"waits": message.waits + 1})
        await self._queue.send(QUEUE, again.model_dump_json(), delay=pause(message.waits, error))


def _due_message(owner: Owner, tick: datetime) -> DueMessage:
    return DueMessage(app_id=owner.app_id, user_id=owner.user_id, tick=tick)


def _message_in(body: str) -> RangeMessage | DueMessage | None:
    """One of the fan-out's messages; None for what is none, be it a task's or unknown."""
    kinds: tuple[type[Any], ...] = (RangeMessage, DueMessage)
    try:
        given = orjson.loads(body)
        kind = next(
            (message_kind for message_kind in kinds if isinstance(given, dict) and message_kind.model_fields.keys() >= given.keys()), None
        )
        return None if kind is None or "tick" not in given else kind.model_validate(given)
    except (orjson.JSONDecodeError, ValidationError):
        return None

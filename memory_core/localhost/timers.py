"""Timer triggers: when a schedule is due, and a loop that calls its function then.

All times are in UTC. NCRONTAB is not cron: it has six fields, the first being seconds, and when
day of month and day of week are both given, both must fit (cron takes either).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from azure.functions import HttpRequest, HttpResponse
from azure.functions.timer import TimerRequest

from memory_core.domain.errors import NotFound, PlainError
from memory_core.domain.skew import is_written_ahead
from memory_core.functions import runtime
from memory_core.functions.gate import correlation_id

log = logging.getLogger(__name__)


def next_due(schedule: str, after: datetime) -> datetime:
    """The first time after `after` that fits a schedule.

    Args:
        schedule: NCRONTAB with six fields.
        after: Aware UTC, whole seconds.

    Raises:
        ValueError: The schedule is wrong or impossible.

    """
    from cronsim import CronSim, CronSimError

    try:
        if len(schedule.split()) != 6:
            raise CronSimError("it needs six fields: second minute hour day month day-of-week")
        times = CronSim(schedule, after.astimezone(timezone.utc))
        times.day_and = True
        return next(times).replace(tzinfo=timezone.utc)
    except (CronSimError, StopIteration) as error:
        raise PlainError(
            f"the schedule {schedule!r} can't be served: {error or 'it never comes'}"
        ) from None


@dataclass(frozen=True, slots=True)
class Timer:
    """A function that a timer triggers."""

    name: str
    schedule: str
    argument: str
    call: Callable[..., Awaitable[None]]

    async def fire(self, *, past_due: bool = False) -> None:
        """Call the function once.

        Its errors are logged: on Azure too, the next tick comes nevertheless.
        """
        try:
            await self.call(**{self.argument: TimerRequest(past_due=past_due)})
        except Exception:
            log.exception("timer %s failed", self.name)


class Timers:
    """The timers of an app.

    They run by themselves between `start` and `stop`, and on request through `fire`.
    """

    def __init__(self, timers: list[Timer], now: Callable[[], datetime]) -> None:
        self._timers = {timer.name: timer for timer in timers}
        self._now = now
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Begin to wait for each timer's next time."""
        for timer in self._timers.values():
            self._spawn(_keep_firing(timer, self._now))

    async def stop(self) -> None:
        """Cancel the waiting and running timers, and wait until they have ended."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def fire(self, name: str, request: HttpRequest) -> HttpResponse:
        """Start a timer on request, and answer 202.

        If keys are in use, the request needs a key with the right `admin` that is not bound to a
        user, since a timer works for all users.

        Args:
            name: Name of the function.
            request: The request, for its key.

        Raises:
            NotFound: There is no such timer.
            Unauthenticated: The key is missing or unknown.
            Forbidden: The key lacks the right, or is bound to a user.

        """
        here = await runtime.current()
        caller = await here.caller(request.method, request.url, request.headers)
        caller.require("admin")
        caller.require_any_user()
        timer = self._timers.get(name)
        if timer is None:
            raise NotFound(f"There is no timer function {name}")
        self._spawn(timer.fire())
        headers = {"X-Correlation-Id": correlation_id(request.headers)}
        return HttpResponse(status_code=202, headers=headers)

    def _spawn(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _keep_firing(timer: Timer, now: Callable[[], datetime]) -> None:
    due = next_due(timer.schedule, now())
    while True:
        await asyncio.sleep(max(0.0, (due - now()).total_seconds()))
        # A laptop that slept wakes up late: one call then, and not one for every time
        # that was missed.
        await timer.fire(past_due=now() - due > timedelta(seconds=5))
        woke_at = now()
        # Woken a little early, it must not fire twice; after a clock was set back it must not wait
        # until that clock comes to `due` again.
        due = next_due(
            timer.schedule, woke_at if is_written_ahead(due, woke_at) else max(due, woke_at)
        )

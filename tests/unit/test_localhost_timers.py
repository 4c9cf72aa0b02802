from __future__ import annotations

import asyncio
from datetime import datetime, timedelta, timezone

import pytest
from azure.functions.timer import TimerRequest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.localhost.host_settings import resolved
from memory_core.localhost.timers import Timer, Timers, next_due

FRIDAY = datetime(2026, 5, 8, 13, 56, 7, 500_000, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("schedule", "due"),
    [
        ("0 0 * * * *", "2026-05-08T14:00:00+00:00"),
        ("*/10 * * * * *", "2026-05-08T13:56:10+00:00"),
        ("8 56 13 8 5 *", "2026-05-08T13:56:08+00:00"),
        ("7 56 13 * * *", "2026-05-09T13:56:07+00:00"),
        ("30 5 9-17 * * 1-5", "2026-05-08T14:05:30+00:00"),
        ("0 30 9 * Jan Mon", "2027-01-04T09:30:00+00:00"),
        ("0 0 0 29 2 *", "2028-02-29T00:00:00+00:00"),
    ],
)
def test_the_next_time_of_a_schedule(schedule: str, due: str) -> None:
    assert next_due(schedule, FRIDAY).isoformat() == due


def test_day_of_month_and_day_of_week_must_both_fit() -> None:
    assert next_due("0 0 4 13 * 5", FRIDAY) == datetime(2026, 11, 13, 4, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    "schedule", ["", "0 * * * *", "0 0 * * * * *", "60 * * * * *", "0 0 0 31 2 *", "x 0 * * * *"]
)
def test_a_bad_or_impossible_schedule_is_refused(schedule: str) -> None:
    with pytest.raises(ValueError, match="can't be served"):
        next_due(schedule, FRIDAY)


def test_a_schedule_may_come_from_an_app_setting() -> None:
    assert resolved("%HOURLY%", {"HOURLY": "0 5 * * * *"}) == "0 5 * * * *"
    with pytest.raises(ValueError, match="HOURLY"):
        resolved("%HOURLY%", {})


@given(
    seconds=st.floats(946_684_800, 4_102_444_800),
    second=st.integers(0, 59),
    minute=st.integers(0, 59),
)
def test_an_hourly_schedule_is_always_due_within_the_hour_that_follows(
    seconds: float, second: int, minute: int
) -> None:
    after = datetime.fromtimestamp(seconds, timezone.utc)
    due = next_due(f"{second} {minute} * * * *", after)
    assert timedelta(0) < due - after <= timedelta(hours=1)
    assert (due.second, due.minute, due.microsecond) == (second, minute, 0)


class MovingClock:
    """A clock that is just before each full minute, one minute further at every tick
    of the timer.
    """

    def __init__(self) -> None:
        self.moment = datetime(2026, 5, 8, 13, 59, 59, 999_000, tzinfo=timezone.utc)

    def now(self) -> datetime:
        return self.moment


async def test_a_timer_keeps_firing_at_its_times_even_when_its_function_fails() -> None:
    clock, calls, enough = MovingClock(), list[bool](), asyncio.Event()

    async def tick(timer: TimerRequest) -> None:
        calls.append(timer.past_due)
        clock.moment += timedelta(minutes=1)
        if len(calls) == 3:
            enough.set()
        raise RuntimeError("this tick failed")

    timers = Timers([Timer("hourly", "0 * * * * *", "timer", tick)], clock.now)
    timers.start()
    async with asyncio.timeout(10):
        await enough.wait()
    await timers.stop()
    assert calls[:3] == [False, False, False]


async def test_a_timer_fires_by_the_clock_as_it_is_after_that_was_set_back_by_hours() -> None:
    clock, moments, enough = MovingClock(), list[datetime](), asyncio.Event()

    async def tick(timer: TimerRequest) -> None:
        moments.append(clock.moment)
        if len(moments) == 1:
            clock.moment -= timedelta(hours=3)
        else:
            enough.set()

    timers = Timers([Timer("hourly", "0 0 * * * *", "timer", tick)], clock.now)
    timers.start()
    async with asyncio.timeout(10):
        await enough.wait()
    await timers.stop()
    assert moments[1] == moments[0] - timedelta(hours=3)


async def test_a_stopped_timer_fires_no_more() -> None:
    clock, calls = MovingClock(), list[str]()

    async def tick(timer: TimerRequest) -> None:
        calls.append("tick")

    clock.moment = datetime(2026, 5, 8, 12, tzinfo=timezone.utc)
    timers = Timers([Timer("yearly", "0 0 0 1 1 *", "timer", tick)], clock.now)
    timers.start()
    await asyncio.sleep(0)
    await timers.stop()
    assert calls == []

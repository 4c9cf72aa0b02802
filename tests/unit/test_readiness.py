import asyncio
from typing import Any

import pytest

from memory_core.ports import Health
from memory_core.telemetry import SharedReadiness, readiness
from tests.memories import MovableClock


class Answers:
    def __init__(self, health: Health | None) -> None:
        self.health = health

    async def check(self) -> Health:
        if self.health is None:
            await asyncio.Event().wait()
        assert self.health is not None
        return self.health


OK = Answers(Health("sqlite", "ok", 0.12345))


@pytest.mark.parametrize(
    ("long_term", "queue", "status"),
    [
        (OK, OK, "ready"),
        (OK, Answers(Health("storage", "off")), "ready"),
        (OK, Answers(Health("storage", "unavailable")), "degraded"),
        (OK, Answers(None), "degraded"),
        (Answers(None), OK, "unavailable"),
    ],
    ids=["all answer", "one is off", "one is down", "one hangs", "the truth hangs"],
)
async def test_what_does_not_answer_in_time_is_unavailable(
    long_term: Answers, queue: Answers, status: str
) -> None:
    report = await readiness(
        {"long_term": ("sqlite", long_term), "queue": ("storage", queue)}, wait_s=0.05
    )
    assert report["status"] == status
    if queue.health is None:
        assert report["dependencies"]["queue"]["detail"] == "did not answer within 0.05 s"
        assert report["dependencies"]["queue"]["adapter"] == "storage"


class Broken:
    async def check(self) -> Health:
        raise FileNotFoundError(2, "No such file or directory", "/data/of/ana")


async def test_a_check_that_fails_is_a_dependency_that_is_unavailable() -> None:
    seen = await readiness({"long_term": ("sqlite", OK), "queue": ("sqlite", Broken())})
    assert (seen["status"], seen["dependencies"]["queue"]["status"]) == ("degraded", "unavailable")
    assert "ana" not in str(seen)


class Counted:
    """Checks that end when they are let, and count how often they were begun."""

    def __init__(self) -> None:
        self.runs = 0
        self.let = asyncio.Event()

    async def __call__(self) -> dict[str, Any]:
        self.runs += 1
        await self.let.wait()
        return {"status": "ready", "run": self.runs}


async def test_callers_that_ask_at_once_share_one_run_also_when_the_first_goes_away() -> None:
    checks, clock = Counted(), MovableClock()
    shared = SharedReadiness(checks, clock)
    first, *others = [asyncio.create_task(shared.latest()) for _ in range(20)]
    await asyncio.sleep(0)
    first.cancel()
    checks.let.set()
    answers = await asyncio.gather(*others)
    assert answers == [{"status": "ready", "run": 1, "checked_at": clock.now()}] * 19


async def test_an_answer_serves_the_second_after_it_and_no_longer() -> None:
    checks, clock = Counted(), MovableClock()
    checks.let.set()
    shared = SharedReadiness(checks, clock)
    checked_at = (await shared.latest())["checked_at"]
    clock.advance(seconds=0.9)
    assert await shared.latest() == {"status": "ready", "run": 1, "checked_at": checked_at}
    clock.advance(seconds=0.2)
    assert (await shared.latest())["run"] == 2
    clock.advance(hours=-1)
    assert (await shared.latest())["run"] == 3


async def test_a_caller_may_do_with_an_older_answer() -> None:
    checks, clock = Counted(), MovableClock()
    checks.let.set()
    shared = SharedReadiness(checks, clock)
    await shared.latest(within_s=10)
    clock.advance(seconds=9.9)
    assert (await shared.latest(within_s=10))["run"] == 1
    assert (await shared.latest())["run"] == 2
    clock.advance(seconds=10.1)
    assert (await shared.latest(within_s=10))["run"] == 3


async def test_a_run_that_failed_serves_nobody_else() -> None:
    checks = iter([ZeroDivisionError(), None])

    async def check() -> dict[str, Any]:
        if error := next(checks):
            raise error
        return {"status": "ready"}

    shared = SharedReadiness(check, MovableClock())
    with pytest.raises(ZeroDivisionError):
        await shared.latest()
    assert (await shared.latest())["status"] == "ready"

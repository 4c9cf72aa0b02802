import asyncio

import pytest

from memory_core.ports import Health
from memory_core.readiness import readiness


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
async def test_what_does_not_answer_in_time_is_unavailable(long_term: Answers, queue: Answers, status: str) -> None:
    told = await readiness({"long_term": ("sqlite", long_term), "queue": ("storage", queue)}, wait_s=0.05)
    assert told["status"] == status
    if queue.health is None:
        assert told["dependencies"]["queue"]["detail"] == "did not answer within 0.05 s"
        assert told["dependencies"]["queue"]["adapter"] == "storage"

"""What holds comes before what is only announced, and makes way on its day."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.requests.memories import ContextInput, RetrieveInput
from tests.builders import ALICE, NOW, StillClock
from tests.world import fact, rule

DAY = timedelta(days=1)
JOB = {"subject": "user", "attribute": "employer"}


async def announce(core: MemoryCore, more: str = "") -> None:
    first = f"User works at Acme{more}"
    await core.save(ALICE, fact(first, event_timestamp=NOW - 90 * DAY, **JOB))
    await core.save(
        ALICE,
        fact(
            f"User works at Globex{more}",
            event_timestamp=NOW - DAY,
            valid_from=NOW + 20 * DAY,
            **JOB,
        ),
    )


async def employers(core: MemoryCore, query: str, limit: int = 10) -> list[str]:
    answer = await core.retrieve(
        ALICE, RetrieveInput(query=query, limit=limit, similarity_threshold=0.0)
    )
    return [hit.memory.content.split()[-1] for hit in answer.results]


@pytest.mark.parametrize(
    "query",
    [
        "User works at Globex",
        "Who is the employer of User?",
        "Where does User work now?",
        "Does User work at Globex in New York?",
        "Does User work with Will at Globex?",
    ],
)
async def test_the_present_value_comes_before_the_announced_one(
    core: MemoryCore, query: str
) -> None:
    await announce(core)
    assert await employers(core, query) == ["Acme", "Globex"]
    assert await employers(core, query, limit=1) == ["Acme"]


async def test_the_value_of_a_key_that_holds_comes_before_the_announced_one(
    core: MemoryCore,
) -> None:
    await core.save(ALICE, rule("deploy-branch", "main", event_timestamp=NOW - 90 * DAY))
    await core.save(
        ALICE,
        rule("deploy-branch", "release", event_timestamp=NOW - DAY, valid_from=NOW + 20 * DAY),
    )
    answer = await core.retrieve(
        ALICE, RetrieveInput(query="deploy-branch release", limit=1, similarity_threshold=0.0)
    )
    assert [hit.memory.value for hit in answer.results] == ["main"]


@pytest.mark.parametrize(
    ("query", "value"), [("User works at Globex", "Acme"), ("User will work at Globex", "Globex")]
)
async def test_a_context_with_room_for_one_tells_what_holds(
    core: MemoryCore, query: str, value: str
) -> None:
    more = ", " + ", ".join(f"with desk {place} by the window" for place in range(3))
    await announce(core, more)
    asked = ContextInput(query=query, max_tokens=100, parts=["memories"])
    context = (await core.context(ALICE, asked)).context
    assert [name for name in ("Acme", "Globex") if f"works at {name}" in context] == [value]


async def test_a_question_about_the_future_keeps_its_order(core: MemoryCore) -> None:
    await announce(core)
    assert (await employers(core, "User will work at Globex"))[0] == "Globex"


async def test_the_announced_value_comes_first_from_its_day_on(
    core: MemoryCore, clock: StillClock
) -> None:
    await announce(core)
    clock.moment = NOW + 21 * DAY
    assert await employers(core, "Who is the employer of User?") == ["Globex"]

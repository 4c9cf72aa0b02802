"""A truth that was saved without a value is ended by a retraction that names words of its text."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.memory import Status
from tests.builders import ALICE, NOW
from tests.world import fact, listed

DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("text", "ended"),
    [
        ("User works at Acme", "User works at Acme"),
        ("User works at Acme", "Acme"),
        ("User drives the red Golf", "red golf"),
        ("Nutzerin wohnt in Kiel", "Kiel"),
    ],
)
async def test_a_retraction_ends_the_truth_whose_words_it_names(
    core: MemoryCore, text: str, ended: str
) -> None:
    slot = {"subject": "user", "attribute": "matter"}
    before = await core.save(ALICE, fact(text, event_timestamp=NOW - 90 * DAY, **slot))
    await core.save(
        ALICE, fact("It is over", value={"no_longer": ended}, event_timestamp=NOW - DAY, **slot)
    )
    memory = await core.get(ALICE, before.memory.id)
    assert (memory.status, memory.valid_until) == (Status.SUPERSEDED, NOW - DAY)


@pytest.mark.parametrize("ended", ["Globex", "User works at Acme Bank", "Ac"])
async def test_a_retraction_of_other_words_leaves_the_truth(core: MemoryCore, ended: str) -> None:
    slot = {"subject": "user", "attribute": "employer"}
    before = await core.save(
        ALICE, fact("User works at Acme", event_timestamp=NOW - 90 * DAY, **slot)
    )
    await core.save(
        ALICE, fact("It is over", value={"no_longer": ended}, event_timestamp=NOW - DAY, **slot)
    )
    assert before.memory.id in {memory.id for memory in await listed(core)}

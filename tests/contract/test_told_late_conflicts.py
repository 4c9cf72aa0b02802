"""A pair without a slot of which the second is told of an earlier time has its sides by time."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory_core.domain.memory import Status
from tests.builders import ALICE, NOW
from tests.conflicts import asking, check_questions
from tests.world import WordsEmbedder, World, fact

YEAR = timedelta(days=365)

PAIRS = [
    ("User drives a Golf", "User sold the Golf"),
    ("User plays the cello", "User gave up the cello"),
    (
        "The nightly backup of the archive begins at 3 o clock",
        "The nightly backup of the archive begins at 4 o clock",
    ),
]


async def told_late(world: World, early: str, late: str) -> tuple[str, str, str]:
    core = await world.core(embedder=WordsEmbedder())
    last = await core.save(ALICE, fact(late, event_timestamp=NOW - timedelta(days=9)))
    first = await core.save(ALICE, fact(early, event_timestamp=NOW - YEAR))
    assert first.conflict is not None
    assert first.conflict.open
    return first.memory.id, last.memory.id, first.conflict.id


@pytest.mark.parametrize(("early", "late"), PAIRS)
async def test_the_one_that_tells_of_the_later_time_supersedes(
    world: World, early: str, late: str
) -> None:
    first, last, name = await told_late(world, early, late)
    core = world.cores[-1]
    record = await core.conflict(ALICE, name)
    assert record.sides == (first, last)
    await core.resolve_conflict(ALICE, name, asking("supersede"))
    old, new = await core.get(ALICE, first), await core.get(ALICE, last)
    assert (old.status, old.next_id, new.status) == (Status.SUPERSEDED, last, Status.ACTIVE)
    assert (old.valid_from, old.valid_until) == (NOW - YEAR, new.valid_from)
    await core.undo_conflict(ALICE, name)
    await check_questions(world, core)
    assert (await core.conflict(ALICE, name)).sides == (first, last)


async def test_the_later_one_is_what_a_rejection_takes_away(world: World) -> None:
    first, last, name = await told_late(world, *PAIRS[0])
    core = world.cores[-1]
    await core.resolve_conflict(ALICE, name, asking("reject_new"))
    assert (await core.get(ALICE, first)).status is Status.ACTIVE
    assert (await core.get(ALICE, last)).status is Status.DELETED

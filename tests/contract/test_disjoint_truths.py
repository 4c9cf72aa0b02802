"""One truth of a slot at each moment, also after merges, decisions, edits before a decision, and in
a slot that is told very often.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from memory_core.core import MemoryCore
from memory_core.domain.memory import Memory
from memory_core.domain.requests.maintenance import ConflictsInput, ReplayInput
from memory_core.domain.requests.memories import UpdateInput
from memory_core.domain.results import Saved
from tests.builders import ALICE, NOW
from tests.conflicts import asking
from tests.world import World, fact, listed

CITY: dict[str, Any] = {"subject": "Ana", "attribute": "city"}
START = NOW - timedelta(days=200)


def day(number: float) -> datetime:
    """A day of the story; all of them are past."""
    return START + timedelta(days=number)


async def save(core: MemoryCore, city: str, day_told: float, **fields: Any) -> Saved:
    return await core.save(
        ALICE,
        fact(f"Ana lives in {city}", value=city, event_timestamp=day(day_told), **CITY, **fields),
    )


async def cities(core: MemoryCore, *days: float) -> list[str]:
    """What held at these moments, by a list and by a replay; several at one moment with a slash
    between them.
    """
    answers = []
    for number in days:
        contents = [memory.content for memory in await listed(core, at=day(number))]
        replayed = await core.replay(
            ALICE, ReplayInput(known_at=NOW + timedelta(days=900), at=day(number), limit=100)
        )
        assert sorted(contents) == sorted(memory.content for memory in replayed.memories)
        answers.append(
            "/".join(
                content.replace("Ana lives in ", "").replace("\n", "+")
                for content in sorted(contents)
            )
        )
    return answers


async def decide(core: MemoryCore, decision: str) -> str:
    """Decide the one conflict that is open; its id."""
    (record,) = (await core.conflicts(ALICE, ConflictsInput(status="pending"))).conflicts
    return (await core.resolve_conflict(ALICE, record.id, asking(decision))).id


async def edit(core: MemoryCore, memory: Memory, city: str) -> Memory:
    current = await core.get(ALICE, memory.id)
    return await core.update(
        ALICE, memory.id, UpdateInput(content=f"Ana lives in {city}", value=city), current.etag
    )


async def test_truths_that_waited_for_a_decision_share_no_moment_once_a_third_one_ends_both(
    core: MemoryCore,
) -> None:
    await save(core, "Lima", 4)
    await save(core, "Bonn", 6)
    (decided,) = (await core.conflicts(ALICE, ConflictsInput(status="resolved"))).conflicts
    await core.undo_conflict(ALICE, decided.id)
    assert await cities(core, 5, 7) == ["Lima", "Bonn/Lima"]
    await save(core, "Oslo", 9)
    assert await cities(core, 5, 7, 9.5) == ["Lima", "Bonn/Lima", "Oslo"]


async def test_a_truth_told_late_ends_one_that_was_merged_since(core: MemoryCore) -> None:
    await save(core, "Kiev", 0)
    await save(core, "Bonn", 9, on_conflict="merge")
    await save(core, "Rome", 5)
    assert await cities(core, 0.5, 5.5, 9.5) == ["Kiev", "Rome", "Kiev+Bonn"]


async def test_a_truth_told_late_ends_the_old_version_of_one_that_was_merged(
    core: MemoryCore,
) -> None:
    kiev = await save(core, "Kiev", 4)
    await core.update(
        ALICE, kiev.memory.id, UpdateInput(content="Ana lives in Kiev"), kiev.memory.etag
    )
    await save(core, "Oslo", 6, on_conflict="merge")
    await save(core, "Bonn", 8)
    assert await cities(core, 4.5, 6.5, 8.5, 210) == ["Kiev", "Kiev+Oslo", "Bonn", "Bonn"]


async def test_a_decision_lets_the_old_version_of_the_winner_end_the_one_that_falls(
    core: MemoryCore,
) -> None:
    await save(core, "Lima", 1)
    bonn = await save(core, "Bonn", 4)
    assert bonn.conflict is not None
    await core.undo_conflict(ALICE, bonn.conflict.id)
    await edit(core, bonn.memory, "Rome")
    await decide(core, "supersede")
    assert await cities(core, 1.5, 4.5, 201) == ["Lima", "Bonn", "Bonn"]


async def test_a_truth_that_overrules_sixty_others_shares_no_day_with_any(
    core: MemoryCore, world: World
) -> None:
    """The last twenty were left as they were, by a cap of which no answer spoke."""
    for number in range(1, 61):
        await save(core, f"City {number}", number)
    result = await save(core, "Bern", 100, valid_from=day(0))
    assert await cities(core, *(number + 0.5 for number in range(61))) == ["Bern"] * 61
    assert [memory.value for memory in await listed(core)] == ["Bern"]
    assert result.conflict is not None
    await world.check_slots()


async def test_what_is_kept_side_by_side_stays_so_where_both_fall_together(
    core: MemoryCore,
) -> None:
    await save(core, "Kiev", 2)
    await save(core, "Bonn", 5, on_conflict="keep_both")
    assert await cities(core, 2.5, 5.5) == ["Kiev", "Bonn/Kiev"]
    await save(core, "Lima", 9)
    assert await cities(core, 2.5, 5.5, 9.5) == ["Kiev", "Bonn/Kiev", "Lima"]
    await save(core, "Rome", 7)
    assert await cities(core, 2.5, 5.5, 7.5, 9.5) == ["Kiev", "Bonn/Kiev", "Rome", "Lima"]

"""A memory stays in the slot that it was saved in."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.errors import Invalid
from memory_core.domain.memory import Memory
from memory_core.domain.requests.maintenance import ReplayInput
from memory_core.domain.requests.memories import UpdateInput
from tests.builders import ALICE, NOW
from tests.world import fact, listed

CITY: dict[str, Any] = {"subject": "Ana", "attribute": "city"}
HOME: dict[str, Any] = {"subject": "Ana", "attribute": "home"}
ON_ONE_STORE = pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
"""Of logic that knows no store."""


async def told(
    core: MemoryCore, city: str, day: int, slot: dict[str, Any] = CITY, **fields: Any
) -> Memory:
    return (
        await core.save(
            ALICE,
            fact(
                f"Ana lives in {city}", event_timestamp=NOW + timedelta(days=day), **slot, **fields
            ),
        )
    ).memory


def since(day: int) -> dict[str, Any]:
    return {"valid_from": NOW + timedelta(days=day)}


async def held(core: MemoryCore, slot: dict[str, Any], *days: int) -> list[str]:
    """What was true in a slot in the middle of each of these days, by a list and by a replay."""
    answers = []
    for day in days:
        at = NOW + timedelta(days=day, hours=12)
        page = await core.replay(ALICE, ReplayInput(known_at=NOW + timedelta(days=900), at=at))
        listing = await listed(core, at=at)
        assert [memory.id for memory in listing] == [memory.id for memory in page.memories]
        answers.append(
            "/".join(
                memory.content.removeprefix("Ana lives in ")
                for memory in listing
                if memory.attribute == slot["attribute"]
            )
        )
    return answers


@ON_ONE_STORE
@pytest.mark.parametrize("change", [HOME, {"subject": "Ben"}, {"subject": None, "attribute": None}])
async def test_another_slot_is_refused_and_the_answer_says_how(
    core: MemoryCore, change: dict[str, Any]
) -> None:
    rome = await told(core, "Rome", -20)
    with pytest.raises(Invalid) as refused:
        await core.update(ALICE, rome.id, UpdateInput(**change), rome.etag)
    assert {error.field for error in refused.value.errors} <= {"subject", "attribute"}
    assert "save the statement anew" in refused.value.errors[0].message
    assert (await core.get(ALICE, rome.id)).version == 1


@ON_ONE_STORE
async def test_a_first_slot_is_refused(core: MemoryCore) -> None:
    rome = await told(core, "Rome", -20, {})
    with pytest.raises(Invalid):
        await core.update(ALICE, rome.id, UpdateInput(**CITY), rome.etag)


@ON_ONE_STORE
async def test_the_same_slot_in_other_letters_is_an_edit_like_others(core: MemoryCore) -> None:
    rome = await told(core, "Rome", -20)
    edited = await core.update(ALICE, rome.id, UpdateInput(subject="ANA"), rome.etag)
    assert (edited.subject, edited.version) == ("ANA", 1)


async def test_a_text_put_right_takes_its_value_along(core: MemoryCore) -> None:
    oslo = await told(core, "Oslo", 0, value="Oslo")
    edited = await core.update(ALICE, oslo.id, UpdateInput(content="Ana lives in Bergen"), "*")
    assert edited.value == "Bergen"
    again = await core.save(ALICE, fact("Ana lives in Bergen", value="Bergen", **CITY))
    assert (again.outcome, again.memory.id) == ("reinforced", oslo.id)
    back = await core.save(ALICE, fact("Ana lives in Oslo", value="Oslo", **CITY))
    assert back.outcome == "superseded"

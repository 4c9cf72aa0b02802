"""What many lives of slots, drawn by chance, brought up: two truths at one moment, or one refused
for good. Each as short as it gets.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.memory import Status
from memory_core.domain.requests.memories import UpdateInput
from tests.builders import ALICE, NOW
from tests.contract.test_one_truth_a_moment import CITY, held, since, told
from tests.world import fact

pytestmark = pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)


async def test_an_ending_that_is_said_to_hold_later_than_it_was_told_holds_no_earlier(
    core: MemoryCore,
) -> None:
    await told(core, "Rome", 13, **since(6))
    await told(core, "Linz", 1, value={"no_longer": None}, **since(10))
    await told(core, "Oslo", 7, **since(25))
    assert await held(core, 1, 5, 6, 9, 13) == ["", "", "Rome", "Rome", "Rome"]


async def test_who_repeats_a_truth_without_its_slot_says_nothing_of_when_it_took_its_place(
    core: MemoryCore,
) -> None:
    await told(core, "Rome", 4)
    await told(core, "Oslo", 21)
    item = fact("Ana lives in Oslo", event_timestamp=NOW + timedelta(days=3), **since(2))
    assert (await core.save(ALICE, item)).outcome.value == "reinforced"
    assert await held(core, 2, 3, 4, 20, 21) == ["", "", "Rome", "Rome", "Oslo"]
    await told(core, "Oslo", 1)
    assert await held(core, 1, 3, 4, 20, 21) == ["Oslo", "Oslo", "Rome", "Rome", "Oslo"]


async def test_what_was_corrected_to_begin_later_never_held_before(core: MemoryCore) -> None:
    oslo = await told(core, "Oslo", 20, **since(17))
    await core.update(ALICE, oslo.id, UpdateInput(valid_from=NOW + timedelta(days=23)), oslo.etag)
    await told(core, "Rome", 23)
    await told(core, "Bern", 15)
    assert await held(core, 15, 16, 17, 22, 23) == ["Bern", "Bern", "Bern", "Bern", "Rome"]
    await told(core, "Rome", 22, **since(16))
    assert await held(core, 15, 16, 17, 22, 23) == ["Bern", "Rome", "Rome", "Rome", "Rome"]


async def test_what_was_split_off_at_the_very_moment_at_which_another_was_told_stays_before_that(
    core: MemoryCore,
) -> None:
    await told(core, "Bern", 23)
    await told(core, "Linz", 11, value={"no_longer": None})
    for city, day in (("Bern", 16), ("Bern", 21), ("Oslo", 21), ("Rome", 25)):
        await told(core, city, day)
    assert await held(core, 11, 16, 20, 21, 23, 25) == [
        "Linz",
        "Bern",
        "Bern",
        "Oslo",
        "Bern",
        "Rome",
    ]


async def test_what_was_split_off_ends_where_one_began_that_was_told_after_it(
    core: MemoryCore,
) -> None:
    for city, day, begins in (("Oslo", 12, 12), ("Oslo", 5, 5), ("Rome", 26, 9), ("Bern", 10, 10)):
        await told(core, city, day, **since(begins))
    assert await held(core, 5, 8, 9, 11, 13) == ["Oslo", "Oslo", "Rome", "Rome", "Rome"]


async def test_what_was_told_twice_holds_twice_also_where_nobody_stands_any_more(
    core: MemoryCore,
) -> None:
    for city, day in (("Rome", 25), ("Rome", 11)):
        await told(core, city, day)
    bern = await told(core, "Bern", 30)
    await core.delete(ALICE, bern.id)
    await told(core, "Oslo", 24, **since(14))
    assert await held(core, 11, 13, 14, 24, 25, 30) == ["Rome", "Rome", "Oslo", "Oslo", "Rome", ""]


async def test_what_is_kept_beside_one_that_stands_ends_the_past(core: MemoryCore) -> None:
    await told(core, "Rome", 3)
    await told(core, "Bern", 14, **since(18))
    await core.save(
        ALICE,
        fact(
            "Ana lives in Oslo",
            event_timestamp=NOW + timedelta(days=13),
            on_conflict="keep_both",
            **CITY,
            **since(5),
        ),
    )
    assert await held(core, 3, 4, 5, 17) == ["Rome", "Rome", "Oslo/Rome", "Oslo/Rome"]


async def test_what_stood_when_it_was_deleted_is_history_again_where_others_were_told_since(
    core: MemoryCore,
) -> None:
    oslo = await told(core, "Oslo", 12)
    await core.delete(ALICE, oslo.id)
    await told(core, "Rome", 21)
    bern = await told(core, "Bern", 26)
    await core.delete(ALICE, bern.id)
    assert (await core.restore(ALICE, oslo.id)).status is Status.SUPERSEDED
    assert await held(core, 12, 20, 21, 25, 26) == ["Oslo", "Oslo", "Rome", "Rome", ""]


async def test_what_an_ending_was_passed_over_for_stands_again_when_it_comes_back(
    core: MemoryCore,
) -> None:
    oslo = await told(core, "Oslo", 8)
    await told(core, "Linz", 23, value={"no_longer": "Linz"})
    await core.delete(ALICE, oslo.id)
    assert (await core.restore(ALICE, oslo.id)).status is Status.ACTIVE
    assert await held(core, 8, 24) == ["Oslo", "Oslo"]


async def test_history_that_an_ending_was_passed_over_for_comes_back(core: MemoryCore) -> None:
    await told(core, "Linz", 21, value={"no_longer": "Linz"})
    await told(core, "Rome", 21)
    oslo = await told(core, "Oslo", 17)
    await core.delete(ALICE, oslo.id)
    # it was refused: it would have led back to itself
    assert (await core.restore(ALICE, oslo.id)).status is Status.SUPERSEDED
    assert await held(core, 16, 17, 20, 21) == ["", "Oslo", "Oslo", "Rome"]

"""What many more lives of slots brought up: two truths at one moment, by an undo, an ending,
or two that were told at once.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.memory import Status
from memory_core.domain.requests.memories import UpdateInput
from tests.builders import ALICE, NOW
from tests.contract.test_one_truth_a_moment import held, said, since, spoken, told

pytestmark = pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)


async def test_history_comes_late_where_only_an_ending_of_another_value_stands(
    core: MemoryCore,
) -> None:
    await told(core, "Rome", 19)
    bern = await told(core, "Bern", 25)
    await core.delete(ALICE, bern.id)
    await told(core, "Linz", 23, value={"no_longer": "Linz"})
    assert (await told(core, "Oslo", 17)).status is Status.SUPERSEDED
    assert await held(core, 16, 17, 18, 19, 22) == ["", "Oslo", "Oslo", "Rome", "Rome"]


async def test_an_ending_that_is_said_to_hold_since_before_others_ends_what_was_told_before_it(
    core: MemoryCore,
) -> None:
    await told(core, "Oslo", 26, value={"no_longer": "Oslo"}, **since(3))
    await told(core, "Rome", 8, value="Rome")
    await told(core, "Oslo", 22, value="Oslo")
    assert all("/" not in value for value in await held(core, *range(2, 29)))


async def test_an_ending_told_last_of_a_deleted_past_lets_nothing_late_hold_into_its_time(
    core: MemoryCore,
) -> None:
    bern = await told(core, "Bern", 1, value="Bern", **since(2))
    await core.delete(ALICE, bern.id)
    await told(core, "Oslo", 24, value={"no_longer": "Oslo"}, **since(12))
    for day in (21, 18):
        await told(core, "Bern", day, value="Bern")
    assert await held(core, 1, 2, 11, 12, 17, 18, 27) == [
        "",
        "",
        "",
        "Oslo",
        "Oslo",
        "Bern",
        "Bern",
    ]


async def test_what_holds_again_by_an_undo_ends_what_was_told_before_it_where_an_old_version_of_it_begins(  # noqa: E501
    core: MemoryCore,
) -> None:
    oslo = await told(core, "Oslo", 3, **since(8))
    await core.update(ALICE, oslo.id, UpdateInput(valid_from=NOW + timedelta(days=25)), oslo.etag)
    for city, day in (("Rome", 7), ("Bern", 1)):
        await told(core, city, day)
    await core.restore(ALICE, oslo.id)
    assert await held(core, 1, 7, 8, 24, 25) == ["Bern", "Bern", "Bern", "Bern", "Oslo"]


async def test_an_ending_that_turns_out_to_have_been_told_before_holds_up_to_what_stands(
    core: MemoryCore,
) -> None:
    ended = {"value": {"no_longer": "Linz"}}
    await told(core, "Linz", 11, **ended)
    await told(core, "Oslo", 26, **since(3))
    await told(core, "Linz", 6, **ended, **since(25))
    await told(core, "Rome", 20)
    assert await held(core, 2, 3, 6, 10, 20, 26) == ["", *["Oslo"] * 5]


async def test_a_value_of_a_key_that_was_told_at_the_end_of_another_ends_it_whatever_comes_late(
    core: MemoryCore,
) -> None:
    for value, day in (("de", 23), ("de", 16), ("de", 21), ("fr", 21), ("it", 25)):
        await said(core, value, day)
    await said(core, "pt", 19)
    assert await spoken(core, 16, 18, 19, 20, 21, 22, 23, 25) == [
        "de",
        "de",
        "pt",
        "pt",
        "fr",
        "fr",
        "de",
        "it",
    ]


async def test_an_ending_is_passed_over_where_what_it_leads_to_turns_out_to_have_begun_before_it(
    core: MemoryCore,
) -> None:
    await told(core, "Oslo", 9, value="Oslo", **since(16))
    await told(core, "Rome", 12, value={"no_longer": "Rome"})
    await told(core, "Rome", 24, value="Rome")
    await told(core, "Oslo", 7, value="Oslo")
    assert await held(core, 6, 7, 12, 15, 16, 24) == ["", "Oslo", "Oslo", "Oslo", "Oslo", "Rome"]

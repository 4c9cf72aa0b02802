"""The values of a key, told in every order: each moment has the one that was told last before it,
and the key the latest.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import permutations
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.memory import Status
from memory_core.domain.requests.memories import UpdateInput
from memory_core.domain.results import Saved
from memory_core.domain.scope import Owner
from tests.builders import ALICE, NOW
from tests.world import listed, rule

SQLITE = pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)


def day(number: float) -> datetime:
    return NOW - timedelta(days=100 - number)


async def check(core: MemoryCore, owner: Owner, values: str) -> None:
    for number, value in enumerate(values):
        assert [memory.value for memory in await listed(core, owner, at=day(number + 0.5))] == [
            value
        ], (values, number)
    assert await listed(core, owner, at=day(-1)) == []
    (present,) = await listed(core, owner)
    assert (present.value, present.id) == (values[-1], (await core.procedure(owner, "editor")).id)
    memories = {memory.id: memory for memory in await listed(core, owner, status="all")}
    for memory in memories.values():
        assert (memory.next_id in memories) is (memory.status is Status.SUPERSEDED)


@SQLITE
@pytest.mark.parametrize("values", ["ABC", "ABA", "AAB", "ABAB", "ABAC", "ABBA", "ABCA"])
async def test_a_keys_values_are_right_at_every_moment_in_whatever_order_they_are_told(
    core: MemoryCore, values: str
) -> None:
    for number, order in enumerate(permutations(enumerate(values))):
        owner = Owner("app", f"user{number}")
        for place, value in order:
            await core.save(owner, rule("editor", value, event_timestamp=day(place)))
        await check(core, owner, values)


async def test_so_they_are_when_they_are_told_in_one_call(core: MemoryCore) -> None:
    for number, order in enumerate(list(permutations(enumerate("ABAC")))[::5]):
        owner = Owner("app", f"user{number}")
        answers = await core.bulk(
            owner, [rule("editor", value, event_timestamp=day(place)) for place, value in order]
        )
        assert all(isinstance(answer, Saved) for answer in answers)
        await check(core, owner, "ABAC")


async def test_a_value_that_was_confirmed_later_is_not_undone_by_one_that_was_told_in_between(
    core: MemoryCore,
) -> None:
    for place in (0, 10):
        await core.save(ALICE, rule("editor", "vim", event_timestamp=day(place)))
    between = await core.save(ALICE, rule("editor", "nano", event_timestamp=day(5)))
    assert (between.outcome, between.memory.status) == ("created", Status.SUPERSEDED)
    present = await core.procedure(ALICE, "editor")
    assert (present.value, present.valid_from, present.supersedes_id) == (
        "vim",
        day(10),
        between.memory.id,
    )
    assert [[memory.value for memory in await listed(core, at=day(at))] for at in (1, 6, 11)] == [
        ["vim"],
        ["nano"],
        ["vim"],
    ]


async def test_a_value_told_late_has_its_place_among_what_was_set_by_hand(core: MemoryCore) -> None:
    memory = (await core.save(ALICE, rule("editor", "vim", event_timestamp=day(0)))).memory
    change: dict[str, Any] = {"value": "emacs", "valid_from": day(10)}
    edited = await core.update(ALICE, memory.id, UpdateInput(**change), memory.etag)
    await core.update(ALICE, edited.id, UpdateInput(value="vim", valid_from=day(20)), edited.etag)
    for place, value in ((15, "nano"), (5, "ed"), (25, "vim")):
        await core.save(ALICE, rule("editor", value, event_timestamp=day(place)))
    moments = [
        [memory.value for memory in await listed(core, at=day(at))] for at in (2, 7, 12, 17, 22, 27)
    ]
    assert moments == [["vim"], ["ed"], ["emacs"], ["emacs"], ["vim"], ["vim"]]


async def test_what_was_set_by_hand_stands_before_what_it_replaced_also_where_that_told_of_a_later_time(  # noqa: E501
    core: MemoryCore,
) -> None:
    memory = (
        await core.save(ALICE, rule("editor", "vim", event_timestamp=NOW + timedelta(days=5)))
    ).memory
    await core.update(ALICE, memory.id, UpdateInput(value="emacs"), memory.etag)
    await core.save(ALICE, rule("editor", "nano", event_timestamp=day(0)))
    present = await core.procedure(ALICE, "editor")
    assert (present.value, present.status, present.next_id) == ("emacs", Status.ACTIVE, None)


async def test_a_confirmed_value_whose_tags_were_edited_is_told_apart_by_what_held_in_between(
    core: MemoryCore,
) -> None:
    for place in (0, 10):
        memory = (await core.save(ALICE, rule("editor", "vim", event_timestamp=day(place)))).memory
    await core.update(ALICE, memory.id, UpdateInput(tags=["tools"]), memory.etag)
    await core.save(ALICE, rule("editor", "nano", event_timestamp=day(5)))
    moments = [
        [memory.value for memory in await listed(core, at=day(at))] for at in (2, 7, 12, 100)
    ]
    assert moments == [["vim"], ["nano"], ["vim"], ["vim"]]

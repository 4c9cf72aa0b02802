"""Past values of a key that are brought back: one value holds at each moment, whatever fell, came
back and was told late meanwhile.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.errors import NotFound
from memory_core.domain.memory import Memory, Status
from memory_core.domain.requests.memories import CopyInput, StatusInput, UpdateInput
from tests.builders import ALICE, NOW
from tests.world import Meanwhile, World, fact, listed, rule

SQLITE = pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
ACTIVE = StatusInput(status="active", reason="asked for")


async def told(core: MemoryCore, value: str, day: float, **fields: Any) -> Memory:
    return (
        await core.save(
            ALICE, rule("editor", value, event_timestamp=NOW + timedelta(days=day), **fields)
        )
    ).memory


async def said(core: MemoryCore, city: str, day: int) -> Memory:
    item = fact(
        f"Ana lives in {city}",
        value=city,
        subject="Ana",
        attribute="city",
        event_timestamp=NOW + timedelta(days=day),
    )
    return (await core.save(ALICE, item)).memory


async def held(core: MemoryCore, *days: float) -> list[str]:
    return [
        "/".join(
            str(memory.value)
            for memory in await listed(core, at=NOW + timedelta(days=day, hours=1))
        )
        for day in days
    ]


async def found(core: MemoryCore) -> str:
    """The active value: the list and the key say the same."""
    (memory,) = await listed(core)
    assert (await core.procedure(ALICE, "editor")).id == memory.id
    return str(memory.value)


async def state(core: MemoryCore, memory: Memory) -> tuple[Status, str]:
    now = await core.get(ALICE, memory.id)
    return now.status, now.status_reason


async def test_two_past_values_brought_back_one_after_the_other_never_stand_together(
    core: MemoryCore,
) -> None:
    for by_status in (False, True):
        await told(core, "nano", 20)
        vim, emacs = await told(core, "vim", 1), await told(core, "emacs", 5)
        for memory in (emacs, vim):
            await (
                core.set_status(ALICE, memory.id, ACTIVE)
                if by_status
                else core.restore(ALICE, memory.id)
            )
            assert await found(core) == memory.value
        assert await held(core, 0, 1, 5, 20) == ["", "vim", "vim", "vim"]
        assert await state(core, emacs) == (Status.DELETED, "contradicted")
        for memory in await listed(core):
            await core.delete(ALICE, memory.id)


async def test_what_was_told_of_a_key_since_a_value_that_holds_again_falls(
    core: MemoryCore,
) -> None:
    await told(core, "nano", 20)
    vim, emacs = await told(core, "vim", 1), await told(core, "emacs", 5)
    await core.restore(ALICE, vim.id)
    assert await state(core, emacs) == (Status.DELETED, "contradicted")
    assert await held(core, 1, 5, 20) == ["vim", "vim", "vim"]
    await told(core, "ed", 3)
    assert await held(core, 1, 3, 5, 20) == ["vim", "ed", "ed", "ed"]


async def test_a_key_finds_what_stands_however_long_the_chain_to_it_is(core: MemoryCore) -> None:
    nano = await told(core, "nano", 20)
    past = [await told(core, value, day) for value, day in (("vim", 1), ("ed", 5), ("emacs", 9))]
    for memory in reversed(past):
        await core.restore(ALICE, memory.id)
        assert await found(core) == memory.value
    await core.delete(ALICE, past[0].id)
    with pytest.raises(NotFound):
        await core.procedure(ALICE, "editor")
    await core.restore(ALICE, past[0].id)
    new = await told(core, "helix", 30)
    assert (new.id, await found(core)) == (nano.id, "helix")
    assert await held(core, 1, 9, 20, 30) == ["vim", "vim", "vim", "helix"]


async def test_a_value_that_an_undo_took_away_comes_back_to_its_place_in_time(
    core: MemoryCore,
) -> None:
    nano, vim = await told(core, "nano", 20), await told(core, "vim", 1)
    await core.restore(ALICE, vim.id)
    await core.restore(ALICE, nano.id)
    assert (await found(core), await state(core, vim)) == (
        "nano",
        (Status.SUPERSEDED, "contradicted"),
    )
    assert await held(core, 1, 20) == ["vim", "nano"]
    await core.restore(ALICE, vim.id)
    await told(core, "ed", 30)
    await core.restore(ALICE, vim.id)
    assert await held(core, 1, 20, 30) == ["vim", "vim", "vim"]


async def test_an_old_version_that_comes_back_leaves_what_was_told_late_its_time(
    core: MemoryCore,
) -> None:
    await told(core, "nano", 2)
    vim = await told(core, "vim", 1)
    stands = await core.procedure(ALICE, "editor")
    await core.update(
        ALICE,
        stands.id,
        UpdateInput(value="pico", valid_from=NOW + timedelta(days=20)),
        stands.etag,
    )
    await core.restore(ALICE, vim.id)
    await told(core, "ed", 5)
    assert await held(core, 1, 2, 5, 20) == ["vim", "vim", "ed", "ed"]
    late = await told(core, "joe", 3)
    assert await held(core, 1, 2, 3, 5, 20) == ["vim", "vim", "joe", "ed", "ed"]
    assert late.status is Status.SUPERSEDED


@SQLITE
async def test_a_value_told_late_beside_one_that_holds_again_is_history_and_the_same_one_reinforces_it(  # noqa: E501
    core: MemoryCore,
) -> None:
    await told(core, "nano", 20)
    vim = await told(core, "vim", 5)
    await core.restore(ALICE, vim.id)
    late = await core.save(ALICE, rule("editor", "ed", event_timestamp=NOW + timedelta(days=2)))
    assert (late.outcome, late.memory.status) == ("created", Status.SUPERSEDED)
    assert (await found(core), await held(core, 2, 5, 20)) == ("vim", ["ed", "vim", "vim"])
    again = await core.save(ALICE, rule("editor", "vim", event_timestamp=NOW + timedelta(days=9)))
    assert (again.outcome, again.memory.id, again.memory.reinforcement_count) == (
        "reinforced",
        vim.id,
        1,
    )
    assert (await found(core), await held(core, 2, 5, 20)) == ("vim", ["ed", "vim", "vim"])


@SQLITE
async def test_what_was_told_of_a_key_before_a_value_that_holds_again_stays_true_for_its_time(
    core: MemoryCore,
) -> None:
    for value, day in (("vim", 1), ("nano", 20)):
        await told(core, value, day)
    emacs = await told(core, "emacs", 11)
    assert await held(core, 1, 11, 20) == ["vim", "emacs", "nano"]
    await core.restore(ALICE, emacs.id)
    assert await held(core, 1, 10, 11, 20) == ["vim", "vim", "emacs", "emacs"]
    await told(core, "ed", 5)
    assert await held(core, 1, 4, 5, 10, 11, 20) == ["vim", "vim", "ed", "ed", "emacs", "emacs"]
    await told(core, "joe", 30)
    assert await held(core, 1, 4, 5, 10, 11, 20, 30) == [
        "vim",
        "vim",
        "ed",
        "ed",
        "emacs",
        "emacs",
        "joe",
    ]


@SQLITE
async def test_values_of_two_keys_told_late_in_one_call_leave_each_others_times_alone(
    core: MemoryCore,
) -> None:
    for key in ("editor", "shell"):
        await core.save(ALICE, rule(key, f"{key} now", event_timestamp=NOW + timedelta(days=20)))
        await core.save(ALICE, rule(key, f"{key} then", event_timestamp=NOW + timedelta(days=1)))
    late = [(key, day) for key, day in (("editor", 5), ("shell", 9), ("editor", 12))]
    await core.bulk(
        ALICE,
        [rule(key, f"{key} {day}", event_timestamp=NOW + timedelta(days=day)) for key, day in late],
    )
    for day, editor, shell in (
        (1, "then", "then"),
        (5, "5", "then"),
        (9, "5", "9"),
        (12, "12", "9"),
        (20, "now", "now"),
    ):
        assert {*(await held(core, day))[0].split("/")} == {f"editor {editor}", f"shell {shell}"}


@SQLITE
async def test_a_value_under_many_versions_is_brought_back(core: MemoryCore) -> None:
    for day in range(1, 40):
        await told(core, f"editor {day}", day)
    late, later = await told(core, "vim", 0.5), await told(core, "nano", 30.5)
    await core.restore(ALICE, later.id)
    assert (await found(core), await held(core, 0.5, 30.5, 40)) == ("nano", ["vim", "nano", "nano"])
    await core.restore(ALICE, late.id)
    assert (await found(core), await held(core, 0.5, 29, 30.5, 40)) == ("vim", ["vim"] * 4)


@SQLITE
async def test_a_copy_for_another_agent_is_no_value_of_the_key(core: MemoryCore) -> None:
    nano = await told(core, "nano", 20)
    vim = await told(core, "vim", 5)
    copied = await core.copy(ALICE, nano.id, CopyInput(to_agent_id="planner"))
    await core.restore(ALICE, vim.id)
    assert (await state(core, copied))[0] is Status.ACTIVE
    assert (await core.procedure(ALICE, "editor")).id == vim.id
    await core.delete(ALICE, copied.id)
    assert (await core.restore(ALICE, copied.id)).status is Status.ACTIVE


@SQLITE
async def test_a_value_that_another_process_tells_while_one_is_brought_back_is_seen(
    world: World,
) -> None:
    there = await world.core()
    await told(there, "nano", 20)
    vim, emacs = await told(there, "vim", 1), await told(there, "emacs", 5)
    stores: list[Meanwhile] = []

    def watched(store: Any) -> Meanwhile:
        stores.append(Meanwhile(store, "snapshot"))
        return stores[0]

    here = await world.core(wrap=watched)
    looks = 0

    async def meanwhile() -> None:
        nonlocal looks
        looks += 1
        if looks < 4:
            stores[0].then = meanwhile
        else:
            await told(there, "ed", 9)

    stores[0].then = meanwhile
    await here.restore(ALICE, vim.id)
    assert looks == 4
    assert (await found(there), await held(there, 1, 5, 9, 20)) == (
        "vim",
        ["vim", "vim", "vim", "vim"],
    )
    assert await state(there, emacs) == (Status.DELETED, "contradicted")


async def test_an_old_version_of_a_truth_that_comes_back_leaves_what_was_told_late_its_time(
    core: MemoryCore,
) -> None:
    oslo, rome = await said(core, "Oslo", 1), await said(core, "Rome", 4)
    edit = UpdateInput(
        content="Ana lives in Bern", value="Bern", valid_from=NOW + timedelta(days=30)
    )
    await core.update(ALICE, rome.id, edit, rome.etag)
    await core.restore(ALICE, oslo.id)
    ulm = await said(core, "Ulm", 10)
    await core.delete(ALICE, ulm.id)
    await core.restore(ALICE, rome.id)
    assert await held(core, 1, 4, 10, 30) == ["Oslo", "Rome", "", "Bern"]


async def test_an_old_version_of_a_truth_that_comes_back_ends_where_what_stands_since_begins(
    core: MemoryCore,
) -> None:
    oslo, rome = await said(core, "Oslo", 1), await said(core, "Rome", 4)
    edit = UpdateInput(
        content="Ana lives in Bern", value="Bern", valid_from=NOW + timedelta(days=30)
    )
    await core.update(ALICE, rome.id, edit, rome.etag)
    await core.restore(ALICE, oslo.id)
    await said(core, "Ulm", 10)
    await core.restore(ALICE, rome.id)
    assert await held(core, 1, 4, 10) == ["Oslo", "Rome", "Ulm"]

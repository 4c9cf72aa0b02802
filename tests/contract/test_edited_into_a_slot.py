"""An edit that gives a memory another slot: what it meets there, and what stays of it where it was."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.conflict import ConflictRecord
from memory_core.domain.conflict_requests import ConflictsInput, ResolveInput
from memory_core.domain.models import Memory, Status
from memory_core.domain.requests import UpdateInput
from memory_core.domain.results import Call
from memory_core.domain.time_requests import ReplayInput
from tests.builders import ALICE, NOW
from tests.world import Meanwhile, World, fact, listed

CITY: dict[str, Any] = {"subject": "Ana", "attribute": "city"}
HOME: dict[str, Any] = {"subject": "Ana", "attribute": "home"}
ON_ONE_STORE = pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
"""Of logic that knows no store."""


async def told(core: MemoryCore, city: str, day: int, slot: dict[str, Any] = CITY, **fields: Any) -> Memory:
    return (await core.save(ALICE, fact(f"Ana lives in {city}", event_timestamp=NOW + timedelta(days=day), **slot, **fields))).memory


def since(day: int) -> dict[str, Any]:
    return {"valid_from": NOW + timedelta(days=day)}


async def held(core: MemoryCore, slot: dict[str, Any], *days: int) -> list[str]:
    """What was true in a slot in the middle of each of these days, by a list and by a replay."""
    answers = []
    for day in days:
        at = NOW + timedelta(days=day, hours=12)
        page = await core.replay(ALICE, ReplayInput(known_at=NOW + timedelta(days=900), at=at))
        listing = await listed(core, at=at)
        assert [one.id for one in listing] == [one.id for one in page.memories]
        answers.append("/".join(one.content.removeprefix("Ana lives in ") for one in listing if one.attribute == slot["attribute"]))
    return answers


async def questions(core: MemoryCore) -> list[ConflictRecord]:
    return list((await core.conflicts(ALICE, ConflictsInput(status="pending"))).conflicts)


async def states(core: MemoryCore, *memories: Memory) -> list[tuple[Status, str]]:
    return [(one.status, one.conflict_state) for one in [await core.get(ALICE, memory.id) for memory in memories]]


@pytest.mark.parametrize("slot", [HOME, {}], ids=["of another slot", "of none"])
async def test_where_another_truth_stands_both_wait_to_be_decided(core: MemoryCore, world: World, slot: dict[str, Any]) -> None:
    oslo, rome = await told(core, "Oslo", -9), await told(core, "Rome", -20, slot)
    edited = await core.update(ALICE, rome.id, UpdateInput(**CITY), rome.etag)
    assert (edited.version, edited.conflict_state, edited.event_timestamp, edited.valid_from) == (2, "pending", NOW, NOW)
    assert await states(core, oslo, rome) == [(Status.ACTIVE, "pending")] * 2
    (asked,) = await questions(core)
    assert (asked.sides, asked.confidence, asked.by) == ((oslo.id, rome.id), 1.0, "rule")
    assert edited.conflict_ids == [asked.id]
    head = await world.head()
    assert head is not None
    assert head.pending_count == 1
    await core.resolve_conflict(ALICE, asked.id, ResolveInput(decision="supersede"))
    assert await held(core, CITY, -10, -9, -1, 0, 9) == ["", "Oslo", "Oslo", "Rome", "Rome"]
    assert await states(core, oslo, rome) == [(Status.SUPERSEDED, "resolved"), (Status.ACTIVE, "resolved")]


@ON_ONE_STORE
async def test_the_next_truth_replaces_both(core: MemoryCore) -> None:
    await told(core, "Oslo", -9)
    rome = await told(core, "Rome", -20, {})
    await core.update(ALICE, rome.id, UpdateInput(**CITY), rome.etag)
    await told(core, "Bern", 3)
    assert await held(core, CITY, -1, 3, 9) == ["Oslo", "Bern", "Bern"]
    assert await questions(core) == []


@ON_ONE_STORE
async def test_one_that_says_the_same_is_kept_beside_it_and_nobody_is_asked(core: MemoryCore) -> None:
    oslo, again = await told(core, "Oslo", -9), await told(core, "Oslo", -5, HOME)
    await core.update(ALICE, again.id, UpdateInput(**CITY), again.etag)
    assert await questions(core) == []
    assert await states(core, oslo, again) == [(Status.ACTIVE, "resolved")] * 2
    await core.update(ALICE, again.id, UpdateInput(attribute="CITY"), "*")  # case does not count: it is the same slot
    assert await questions(core) == []


@ON_ONE_STORE
async def test_those_that_share_no_moment_are_not_asked_about(core: MemoryCore) -> None:
    oslo, rome = await told(core, "Oslo", -9, valid_until=NOW - timedelta(days=2)), await told(core, "Rome", -20, {})
    await core.update(ALICE, rome.id, UpdateInput(**CITY), rome.etag)
    assert await states(core, oslo, rome) == [(Status.ACTIVE, "none")] * 2
    assert await held(core, CITY, -9, -3, -1, 0) == ["Oslo", "Oslo", "", "Rome"]


@ON_ONE_STORE
async def test_the_past_of_the_slot_ends_where_it_is_said_to_hold_from(core: MemoryCore) -> None:
    for city, day in (("Oslo", -20), ("Rome", -10)):
        await told(core, city, day)
    bern = await told(core, "Bern", -5)
    linz = await told(core, "Linz", -30, {})
    await core.delete(ALICE, bern.id)
    edited = await core.update(ALICE, linz.id, UpdateInput(**CITY, **since(-15)), linz.etag)
    assert (edited.event_timestamp, edited.conflict_state) == (NOW - timedelta(days=15), "none")
    assert await held(core, CITY, -20, -16, -15, -8, 0) == ["Oslo", "Oslo", "Linz", "Linz", "Linz"]
    await told(core, "Graz", -17)
    assert await held(core, CITY, -18, -17, -15, 0) == ["Oslo", "Graz", "Linz", "Linz"]


async def test_what_it_held_in_the_slot_that_it_leaves_stays_there(core: MemoryCore) -> None:
    oslo, rome = await told(core, "Oslo", -20), await told(core, "Rome", -10, session_id="s")
    moved = await core.update(ALICE, rome.id, UpdateInput(**HOME), rome.etag)
    assert await held(core, CITY, -20, -10, -1, 0) == ["Oslo", "Rome", "Rome", ""]
    assert await held(core, HOME, -10, -1, 0) == ["", "", "Rome"]
    left = await core.get(ALICE, str(moved.supersedes_id))
    assert (left.status, left.attribute, left.supersedes_id, left.next_id) == (Status.SUPERSEDED, "city", oslo.id, rome.id)
    assert (await core.get(ALICE, oslo.id)).next_id == left.id
    first, _ = await core.versions(ALICE, rome.id)
    assert (first.content, first.metadata_snapshot["attribute"], first.valid_until) == ("Ana lives in Rome", "city", first.valid_from)
    for city, day in (("Bern", -15), ("Graz", -5), ("Linz", 2)):  # the line of the slot goes on, whatever is told when
        await told(core, city, day)
    assert await held(core, CITY, -20, -15, -10, -5, 0, 2) == ["Oslo", "Bern", "Rome", "Graz", "Graz", "Linz"]
    assert await held(core, HOME, -15, -1, 0, 9) == ["", "", "Rome", "Rome"]


@ON_ONE_STORE
async def test_what_was_replaced_in_the_slot_that_it_left_holds_again_without_it(core: MemoryCore) -> None:
    oslo, rome = await told(core, "Oslo", -20), await told(core, "Rome", -10)
    await core.update(ALICE, rome.id, UpdateInput(**HOME), rome.etag)
    await core.restore(ALICE, oslo.id)
    assert await held(core, CITY, -20, -5, 0) == ["Oslo", "Oslo", "Oslo"]
    assert await held(core, HOME, -5, 0) == ["", "Rome"]


@ON_ONE_STORE
async def test_each_version_in_the_slot_that_it_leaves_stays_for_its_time(core: MemoryCore) -> None:
    oslo = await told(core, "Oslo", -20)
    for city, day in (("Rome", -10), ("Bern", -5)):
        await core.update(ALICE, oslo.id, UpdateInput(content=f"Ana lives in {city}", **since(day)), "*")
    await core.update(ALICE, oslo.id, UpdateInput(subject=None, attribute=None), "*")
    assert await held(core, CITY, -20, -10, -5, 0) == ["Oslo", "Rome", "Bern", ""]
    await told(core, "Graz", -7)
    assert await held(core, CITY, -20, -10, -7, -5, 0) == ["Oslo", "Rome", "Graz", "Bern", ""]


@ON_ONE_STORE
async def test_what_was_told_between_its_versions_stays_between_them(core: MemoryCore) -> None:
    bern = await told(core, "Bern", -20)
    await core.update(ALICE, bern.id, UpdateInput(content="Ana lives in Rome"), bern.etag)
    oslo = await told(core, "Oslo", -15)
    moved = await core.update(ALICE, bern.id, UpdateInput(subject=None, attribute=None, **since(-10)), "*")
    assert (await core.get(ALICE, oslo.id)).next_id == moved.supersedes_id
    await told(core, "Oslo", -14)  # it was refused: it would have led back to itself
    await told(core, "Graz", -17)
    assert await held(core, CITY, -20, -17, -15, -14, -11) == ["Bern", "Graz", "Oslo", "Oslo", "Oslo"]


@ON_ONE_STORE
async def test_it_may_come_back(core: MemoryCore, world: World) -> None:
    oslo = await told(core, "Oslo", -20)
    await core.update(ALICE, oslo.id, UpdateInput(**HOME), "*")
    world.clock.forward(86_400)
    await told(core, "Rome", 0)
    await core.update(ALICE, oslo.id, UpdateInput(**CITY), "*")
    assert [one.sides[1] for one in await questions(core)] == [oslo.id]
    await told(core, "Bern", 4)
    assert await held(core, CITY, -20, -1, 4) == ["Oslo", "Oslo", "Bern"]
    assert await held(core, HOME, -1, 0, 1, 4) == ["", "Oslo", "", ""]


@ON_ONE_STORE
async def test_asked_twice_under_one_key_there_is_one_question(core: MemoryCore, world: World) -> None:
    await told(core, "Oslo", -9)
    rome = await told(core, "Rome", -20, {})
    call = Call(idempotency_key="k")
    answers = [await core.update(ALICE, rome.id, UpdateInput(**CITY), rome.etag, call) for _ in range(2)]
    assert [one.version for one in answers] == [2, 2]
    assert len(await questions(core)) == 1


@pytest.mark.parametrize("first", ["save", "edit"])
async def test_of_an_edit_and_a_save_into_one_slot_at_once_none_goes_unnoticed(world: World, first: str) -> None:
    """Whichever commits while the other decides: what stands in the end stands alone, or is asked about."""
    other = await world.core()
    rome = await told(other, "Rome", -20, {})

    async def save(core: MemoryCore) -> Any:
        return await told(core, "Oslo", -9)

    async def edit(core: MemoryCore) -> Any:
        return await core.update(ALICE, rome.id, UpdateInput(**CITY), rome.etag)

    quick, slow = (save, edit) if first == "save" else (edit, save)
    core = await world.core(wrap=lambda store: Meanwhile(store, "snapshot", lambda: quick(other)))
    await slow(core)
    standing = [one for one in await listed(other) if one.attribute == "city"]
    asked = await questions(other)
    assert len(standing) == (2 if asked else 1)
    assert {side for record in asked for side in record.sides} in (set(), {one.id for one in standing})
    assert (first, len(standing)) in (("save", 2), ("edit", 1))


async def beside(core: MemoryCore) -> tuple[Memory, Memory]:
    """Oslo and Rome in one slot; it waits to be decided which holds."""
    oslo, rome = await told(core, "Oslo", -9), await told(core, "Rome", -20, HOME)
    rome = await core.update(ALICE, rome.id, UpdateInput(**CITY), rome.etag)
    assert len(await questions(core)) == 1
    return oslo, rome


async def answered(core: MemoryCore, world: World, *memories: Memory) -> ConflictRecord:
    """The one record, decided; nothing waits, in head, records or memories."""
    (record,) = (await core.conflicts(ALICE, ConflictsInput())).conflicts
    head = await world.head()
    assert head is not None
    assert (record.status, head.pending_count, await questions(core)) == ("resolved", 0, [])
    assert await states(core, *memories) == [(Status.ACTIVE, "resolved")] * len(memories)
    assert [(await core.get(ALICE, one.id)).conflict_ids for one in memories] == [[]] * len(memories)
    return record


@ON_ONE_STORE
@pytest.mark.parametrize("slot", [HOME, {"subject": None, "attribute": None}], ids=["into another slot", "into none"])
@pytest.mark.parametrize("which", [0, 1])
async def test_a_question_is_answered_by_moving_one_of_the_two(core: MemoryCore, world: World, slot: dict[str, Any], which: int) -> None:
    both = await beside(core)
    await core.update(ALICE, both[which].id, UpdateInput(**slot), "*")
    record = await answered(core, world, *both)
    assert record.reason.endswith(f"{both[which].id} is about something else now")
    await core.update(ALICE, both[which].id, UpdateInput(**CITY), "*")
    assert len(await questions(core)) == 1


@ON_ONE_STORE
async def test_a_question_is_answered_by_an_edit_that_makes_both_say_the_same(core: MemoryCore, world: World) -> None:
    oslo, rome = await beside(core)
    await core.update(ALICE, rome.id, UpdateInput(content="Ana lives in  OSLO"), "*")
    record = await answered(core, world, oslo, rome)
    assert (record.strategy, record.reason.endswith("both say the same now")) == ("keep_both", True)


@ON_ONE_STORE
async def test_an_edit_that_leaves_both_in_doubt_leaves_the_question(core: MemoryCore) -> None:
    _, rome = await beside(core)
    await core.update(ALICE, rome.id, UpdateInput(content="Ana lives in Bern", attribute="CITY"), "*")
    assert len(await questions(core)) == 1

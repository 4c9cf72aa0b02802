"""One truth of a slot at each moment, also where one says that it holds from before it was told, or
where some were deleted between.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from memory_core.core import MemoryCore
from memory_core.domain.memory import Memory, Status
from memory_core.domain.requests.maintenance import ReplayInput
from memory_core.domain.requests.memories import CopyInput, UpdateInput
from tests.builders import ALICE, NOW
from tests.conflicts import lives
from tests.world import World, fact, listed, rule

CITY: dict[str, Any] = {"subject": "Ana", "attribute": "city"}


async def told(core: MemoryCore, city: str, day: int, **fields: Any) -> Memory:
    saved = await core.save(
        ALICE,
        fact(f"Ana lives in {city}", event_timestamp=NOW + timedelta(days=day), **CITY, **fields),
    )
    return saved.memory


def since(day: int) -> dict[str, Any]:
    return {"valid_from": NOW + timedelta(days=day)}


async def held(core: MemoryCore, *days: int) -> list[str]:
    """What was true in the middle of each of these days, by a list and by a replay."""
    answers = []
    for day in days:
        at = NOW + timedelta(days=day, hours=12)
        cities = [
            memory.content.removeprefix("Ana lives in ") for memory in await listed(core, at=at)
        ]
        page = await core.replay(ALICE, ReplayInput(known_at=NOW + timedelta(days=900), at=at))
        assert cities == [memory.content.removeprefix("Ana lives in ") for memory in page.memories]
        answers.append("/".join(cities))
    return answers


async def test_what_holds_since_before_it_was_told_ends_all_that_was_told_before(
    core: MemoryCore,
) -> None:
    for city, day in (("Oslo", 1), ("Rome", 10)):
        await told(core, city, day)
    bern = await core.save(
        ALICE,
        fact("Ana lives in Bern", event_timestamp=NOW + timedelta(days=12), **CITY, **since(5)),
    )
    assert await held(core, 1, 4, 5, 9, 10, 20) == ["Oslo", "Oslo", "Bern", "Bern", "Bern", "Bern"]
    await told(core, "Graz", 3)
    assert await held(core, 1, 2, 3, 4, 5, 20) == ["Oslo", "Oslo", "Graz", "Graz", "Bern", "Bern"]
    assert bern.conflict is not None


async def test_taking_it_back_gives_back_what_it_ended(core: MemoryCore) -> None:
    for by_hand in (True, False):
        await told(core, "Oslo", 1)
        rome = await told(core, "Rome", 10)
        bern = await core.save(
            ALICE,
            fact("Ana lives in Bern", event_timestamp=NOW + timedelta(days=12), **CITY, **since(5)),
        )
        assert bern.conflict is not None
        if by_hand:
            await core.restore(ALICE, rome.id)
        else:
            await core.undo_conflict(ALICE, bern.conflict.id)
            await core.delete(ALICE, bern.memory.id)
        gap = "Oslo" if by_hand else ""  # what is deleted still ends what was said before it
        assert await held(core, 4, 5, 9, 10, 20) == ["Oslo", gap, gap, "Rome", "Rome"]
        for memory in await listed(core):
            await core.delete(ALICE, memory.id)
        for memory in await listed(core, status="superseded"):
            await core.delete(ALICE, memory.id)


async def test_what_is_told_late_where_one_was_deleted_ends_the_one_before_and_ends_itself_when_that_comes_back(  # noqa: E501
    core: MemoryCore,
) -> None:
    _, rome, *_ = [
        await told(core, city, day) for city, day in (("Oslo", 1), ("Rome", 8), ("Bern", 15))
    ]
    await core.delete(ALICE, rome.id)
    linz = await told(core, "Linz", 4)
    assert await held(core, 3, 4, 8, 15) == ["Oslo", "Linz", "Linz", "Bern"]
    await core.restore(ALICE, rome.id)
    assert await held(core, 3, 4, 8, 15) == ["Oslo", "Linz", "Rome", "Bern"]
    assert (await core.get(ALICE, linz.id)).status is Status.SUPERSEDED


async def test_what_is_told_late_where_nobody_stands_has_its_place_among_the_past(
    core: MemoryCore,
) -> None:
    *_, bern = [
        await told(core, city, day) for city, day in (("Oslo", 1), ("Rome", 8), ("Bern", 15))
    ]
    await core.delete(ALICE, bern.id)
    late = await told(core, "Linz", 4)
    assert (late.status, late.status_reason) == (Status.SUPERSEDED, "contradicted")
    assert await held(core, 3, 4, 8, 15) == ["Oslo", "Linz", "Rome", ""]
    later = await told(core, "Graz", 12)
    assert later.status is Status.ACTIVE
    assert await held(core, 3, 4, 8, 12, 15) == ["Oslo", "Linz", "Rome", "Graz", "Graz"]


async def test_the_first_of_three_holds_again_also_where_the_last_was_said_to_hold_since_before_it(
    core: MemoryCore,
) -> None:
    oslo = await told(core, "Oslo", 2)
    await told(core, "Rome", 5)
    await told(core, "Bern", 7, **since(1))
    assert await held(core, 1, 2, 6) == ["Bern", "Bern", "Bern"]
    back = await core.restore(ALICE, oslo.id)
    assert (back.status, back.valid_until) == (Status.ACTIVE, None)
    assert await held(core, 1, 2, 6, 9) == ["", "Oslo", "Oslo", "Oslo"]


async def test_each_of_those_that_hold_again_with_one_ends_where_the_next_of_them_begins(
    core: MemoryCore,
) -> None:
    *_, bern = [
        await told(core, city, day) for city, day in (("Oslo", 1), ("Rome", 5), ("Bern", 10))
    ]
    await told(core, "Graz", 20, **since(1))
    await core.restore(ALICE, bern.id)
    assert await held(core, 0, 1, 4, 5, 9, 10, 21) == [
        "",
        "Oslo",
        "Oslo",
        "Rome",
        "Rome",
        "Bern",
        "Bern",
    ]


async def test_an_edit_that_says_since_when_it_holds_ends_the_truth_before_it_there(
    core: MemoryCore,
) -> None:
    await told(core, "Oslo", 1)
    rome = await told(core, "Rome", 10)
    bern = UpdateInput(content="Ana lives in Bern", valid_from=NOW + timedelta(days=5))
    await core.update(ALICE, rome.id, bern, rome.etag)
    assert await held(core, 4, 5, 9, 10, 20) == ["Oslo", "Bern", "Bern", "Bern", "Bern"]


async def test_what_is_told_again_of_an_earlier_day_ends_whatever_held_then(
    core: MemoryCore,
) -> None:
    await told(core, "Rome", 2)
    bern = await told(core, "Bern", 9)
    await core.delete(ALICE, bern.id)
    await told(core, "Oslo", 8)
    assert await held(core, 2, 5, 8) == ["Rome", "Rome", "Oslo"]
    await told(core, "Oslo", 4)
    assert await held(core, 2, 3, 4, 5, 8) == ["Rome", "Rome", "Oslo", "Oslo", "Oslo"]


async def test_what_comes_late_and_holds_only_later_lets_nothing_hold_into_what_was_told_after_it(
    core: MemoryCore,
) -> None:
    for city, day in (("Oslo", 1), ("Rome", 20), ("Bern", 12)):
        await told(core, city, day)
    ended = {"value": {"no_longer": "Graz"}}
    await told(core, "Ulm", 14, **ended)
    await told(core, "Linz", 8, **since(17))
    assert await held(core, 1, 11, 12, 13, 18, 20) == [
        "Oslo",
        "Oslo",
        "Bern",
        "Bern",
        "Bern",
        "Rome",
    ]


async def said(core: MemoryCore, value: str, day: int, **fields: Any) -> Memory:
    return (
        await core.save(
            ALICE, rule("style/lang", value, event_timestamp=NOW + timedelta(days=day), **fields)
        )
    ).memory


async def spoken(core: MemoryCore, *days: int) -> list[str]:
    return [
        "/".join(
            str(memory.value)
            for memory in await listed(core, at=NOW + timedelta(days=day, hours=1))
        )
        for day in days
    ]


async def test_a_key_that_begins_anew_in_its_own_past_leaves_what_was_told_of_later_days(
    core: MemoryCore,
) -> None:
    for value, day in (("pt", 21), ("en", 20), ("de", 7)):
        await said(core, value, day)
    memory = next(memory for memory in await listed(core) if memory.value == "pt")
    await core.delete(ALICE, memory.id)
    await said(core, "it", 17)
    assert await spoken(core, 7, 16, 17, 20, 22) == ["de", "de", "it", "en", ""]
    await said(core, "fr", 10)
    assert await spoken(core, 7, 10, 17, 20, 22) == ["de", "fr", "it", "en", ""]


async def test_what_is_told_late_of_a_key_after_an_edit_of_its_past_does_not_lead_in_a_circle(
    core: MemoryCore,
) -> None:
    """The edit says since when it holds; what had been told of a later day before it,
    counts no more.
    """

    await said(core, "pt", 1)
    memory = await said(core, "en", 10)
    for value, day in (("de", 5), ("sv", 7)):
        await said(core, value, day)
    assert await spoken(core, 1, 5, 7, 10) == ["pt", "de", "sv", "en"]
    current = await core.get(ALICE, memory.id)
    await core.update(
        ALICE, memory.id, UpdateInput(value="it", valid_from=NOW + timedelta(days=6)), current.etag
    )
    assert await spoken(core, 1, 5, 6, 7, 10) == ["pt", "de", "it", "it", "it"]
    await said(core, "fr", 3)
    assert await spoken(core, 1, 3, 5, 6, 7, 10) == ["pt", "fr", "de", "it", "it", "it"]
    assert (await core.get(ALICE, memory.id)).value == "it"


async def test_what_is_told_of_a_slot_after_an_edit_of_its_past_is_not_put_before_what_that_overruled(  # noqa: E501
    core: MemoryCore,
) -> None:
    await told(core, "Oslo", 1)
    await told(core, "Rome", 7)
    bern = await told(core, "Bern", 10)
    await core.update(
        ALICE,
        bern.id,
        UpdateInput(content="Ana lives in Bonn", valid_from=NOW + timedelta(days=5)),
        bern.etag,
    )
    await told(core, "Linz", 3)
    assert await held(core, 1, 3, 5, 7, 10) == ["Oslo", "Linz", "Bonn", "Bonn", "Bonn"]
    await told(core, "Graz", 6)
    # an edit is said when it is made
    assert await held(core, 1, 3, 5, 6, 7, 10) == ["Oslo", "Linz", "Bonn", "Bonn", "Bonn", "Bonn"]


async def test_a_value_that_is_told_again_of_an_earlier_day_ends_the_old_version_of_its_key_there(
    core: MemoryCore,
) -> None:
    for value, day in (("pt", 6), ("en", 16), ("de", 12), ("de", 10)):
        await said(core, value, day)
    assert await spoken(core, 6, 9, 10, 11, 12, 16) == ["pt", "pt", "de", "de", "de", "en"]


async def test_a_value_of_a_key_that_begins_late_lets_none_before_it_hold_into_the_next(
    core: MemoryCore,
) -> None:
    for value, day in (("pt", 1), ("en", 20), ("de", 12), ("sv", 2)):
        await said(core, value, day)
    await said(core, "fr", 8, **since(17))
    assert await spoken(core, 1, 2, 11, 12, 17, 20) == ["pt", "sv", "sv", "de", "de", "en"]


async def test_what_is_told_of_a_time_before_what_an_undo_put_in_the_place_of_its_key_is_history_there(  # noqa: E501
    core: MemoryCore,
) -> None:
    await said(core, "en", 25)
    await said(core, "de", 6)
    past = await said(core, "pt", 11)
    await core.restore(ALICE, past.id)
    await said(core, "sv", 8)
    assert await spoken(core, 6, 7, 8, 10, 12, 26) == ["de", "de", "sv", "sv", "pt", "pt"]
    await said(core, "fr", 15)
    assert await spoken(core, 6, 7, 8, 10, 12, 26) == ["de", "de", "sv", "sv", "pt", "fr"]


async def test_a_value_that_holds_again_takes_the_place_of_its_key_also_where_what_it_led_to_was_deleted(  # noqa: E501
    core: MemoryCore,
) -> None:
    await said(core, "en", 14)
    late = await said(core, "de", 12)
    past = await said(core, "pt", 6)
    await core.delete(ALICE, late.id)
    await core.restore(ALICE, past.id)
    assert [(memory.value, memory.id) for memory in await listed(core)] == [("pt", past.id)]
    assert await spoken(core, 5, 6, 12, 15) == ["", "pt", "pt", "pt"]


async def test_the_next_truth_is_taken_where_a_deletion_left_an_ending_that_ends_nothing(
    core: MemoryCore,
) -> None:
    """Rome, told late, led to the retraction, and the retraction, ignored, to Rome:
    whatever was told next was refused.
    """
    await told(core, "Graz", 15, value={"no_longer": "Graz"})
    bern = await told(core, "Bern", 18)
    await core.delete(ALICE, bern.id)
    for city, day in (("Rome", 10), ("Ulm", 24), ("Linz", 25)):
        await told(core, city, day, value=city)
    assert await held(core, 9, 11, 24, 25) == ["", "Rome", "Ulm", "Linz"]


async def test_a_copy_for_another_agent_holds_beside_its_source_until_another_value_is_told(
    core: MemoryCore,
) -> None:
    source = (await lives(core, "Oslo", -3)).memory
    copied = await core.copy(ALICE, source.id, CopyInput(to_agent_id="a2"))
    assert {memory.id for memory in await listed(core)} == {source.id, copied.id}
    new = (await lives(core, "Bergen", -1)).memory
    assert [memory.id for memory in await listed(core)] == [new.id]


async def test_a_commit_is_known_as_a_whole_from_the_moment_of_its_first_event_on(
    world: World, core: MemoryCore
) -> None:
    """A commit's events are a microsecond apart; between them none of it is known alone."""
    oslo, rome = await told(core, "Oslo", 1), await told(core, "Rome", 10)
    at = NOW + timedelta(days=20)
    first, second, *rest = [event.occurred_at for event in await world.log()]
    assert rest
    for known_at, holding in (
        (first, oslo),
        (second - timedelta(microseconds=1), oslo),
        (second, rome),
        (rest[-1], rome),
    ):
        memories = await listed(core, at=at, known_at=known_at)
        assert [memory.id for memory in memories] == [holding.id]
    page = await core.replay(ALICE, ReplayInput(known_at=second))
    assert page.as_of_sequence == 2 + len(rest)
    was = await core.get(ALICE, oslo.id, known_at=second)
    assert (was.status, was.next_id) == (Status.SUPERSEDED, rome.id)

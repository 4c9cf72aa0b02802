"""What people correct by hand: when something ended, which slot it fills,
a value that is no more.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.errors import Invalid, NotFound
from memory_core.domain.memory import Memory, OnConflict, Outcome
from memory_core.domain.requests.memories import ListInput, RetrieveInput, SaveInput, UpdateInput
from tests.builders import ALICE, NOW
from tests.telling import Tellers, tell
from tests.world import WordsEmbedder, World, fact, listed, rule

JOB = {"subject": "Ana", "attribute": "job"}
A_YEAR_AGO, HALF_A_YEAR_AGO, TWO_YEARS_AGO = (
    NOW - timedelta(days=days) for days in (365, 180, 730)
)


async def test_an_end_in_the_past_ends_the_truth_then_and_leaves_its_beginning(
    core: MemoryCore,
) -> None:
    memory = (
        await core.save(ALICE, fact("Ana works at the mill", event_timestamp=TWO_YEARS_AGO, **JOB))
    ).memory
    ended = await core.update(
        ALICE, memory.id, UpdateInput(valid_until=HALF_A_YEAR_AGO), memory.etag
    )
    assert (ended.version, ended.valid_from, ended.valid_until) == (
        1,
        TWO_YEARS_AGO,
        HALF_A_YEAR_AGO,
    )
    assert (await core.get(ALICE, memory.id, at=A_YEAR_AGO)).version == 1
    assert [memory.version for memory in await listed(core, at=A_YEAR_AGO)] == [1]
    with pytest.raises(NotFound):
        await core.get(ALICE, memory.id, at=NOW - timedelta(days=1))
    with pytest.raises(Invalid) as refused:
        await core.update(ALICE, memory.id, UpdateInput(valid_until=TWO_YEARS_AGO), ended.etag)
    assert [error.field for error in refused.value.errors] == ["valid_until"]


async def test_a_value_is_not_cleared_into_a_text_that_says_nothing(core: MemoryCore) -> None:
    memory = (await core.save(ALICE, rule("tabs", 4))).memory
    with pytest.raises(Invalid) as refused:
        await core.update(ALICE, memory.id, UpdateInput(value=None), memory.etag)
    assert [error.field for error in refused.value.errors] == ["value"]
    cleared = await core.update(
        ALICE, memory.id, UpdateInput(value=None, content="tabs as you like"), memory.etag
    )
    assert (cleared.value, cleared.value_text, cleared.content) == (None, None, "tabs as you like")


async def test_what_was_merged_away_is_no_longer_true_beside_what_it_went_into(
    world: World,
) -> None:
    core = await world.core(embedder=WordsEmbedder())
    await core.save(ALICE, fact("Ana plays the violin", event_timestamp=TWO_YEARS_AGO, **JOB))
    later = fact(
        "Ana plays the viola", event_timestamp=A_YEAR_AGO, on_conflict=OnConflict.MERGE, **JOB
    )
    merged = await core.save(ALICE, later)
    assert merged.outcome is Outcome.MERGED
    for at, contents in (
        (A_YEAR_AGO - timedelta(days=1), ["Ana plays the violin"]),
        (HALF_A_YEAR_AGO, [merged.memory.content]),
        (NOW, [merged.memory.content]),
    ):
        answer = await core.retrieve(
            ALICE, RetrieveInput(query="What does Ana play?", at=at, similarity_threshold=0)
        )
        assert [hit.memory.content for hit in answer.results] == contents
        assert [memory.content for memory in await listed(core, at=at)] == contents


@pytest.mark.parametrize(
    ("subject", "attribute"),
    [("Ana ", "job"), ("ana", " JOB"), ("A\u0301na", "job"), ("Ana  Lee", "job")],
)
async def test_a_slot_is_the_same_however_its_name_is_typed(
    core: MemoryCore, subject: str, attribute: str
) -> None:
    plain = {"Ana ": "Ana", "ana": "Ana", "A\u0301na": "\u00c1na", "Ana  Lee": "Ana Lee"}[subject]
    await core.save(
        ALICE, fact("Ana is a miller", event_timestamp=A_YEAR_AGO, subject=plain, attribute="job")
    )
    new = await core.save(ALICE, fact("Ana is a baker", subject=subject, attribute=attribute))
    assert new.outcome is Outcome.SUPERSEDED
    assert [memory.content for memory in await listed(core)] == ["Ana is a baker"]


async def test_a_value_told_late_is_history_and_not_the_keys_present_value(
    core: MemoryCore,
) -> None:
    """Truth follows event time: what was so in January does not undo what was said in June,
    however late it is told.
    """
    june, january = (
        datetime(2026, 4, 1, tzinfo=timezone.utc),
        datetime(2026, 1, 1, tzinfo=timezone.utc),
    )
    await core.save(
        ALICE, SaveInput(type="procedural", key="theme", value="dark", event_timestamp=june)
    )
    late = await core.save(
        ALICE, SaveInput(type="procedural", key="theme", value="light", event_timestamp=january)
    )
    assert (late.outcome, late.memory.status) == ("created", "superseded")
    current = await core.procedure(ALICE, "theme")
    assert current.value == "dark"
    assert late.memory.next_id == current.id
    again = await core.save(
        ALICE, SaveInput(type="procedural", key="theme", value="light", event_timestamp=january)
    )
    assert (again.outcome, again.memory.id) == ("reinforced", late.memory.id)
    then = await core.list(ALICE, ListInput(at=datetime(2026, 3, 1, tzinfo=timezone.utc)))
    assert [memory.value for memory in then.memories] == ["light"]


CITY = {"subject": "Ana", "attribute": "city"}


async def edited(world: World, **change: Any) -> tuple[MemoryCore, Memory]:
    """Oslo, told two years ago, and an edit of that."""
    core = await world.core(agents=Tellers())
    memory = (
        await core.save(
            ALICE, fact("Ana's city is Oslo", value="Oslo", event_timestamp=TWO_YEARS_AGO, **CITY)
        )
    ).memory
    return core, await core.update(ALICE, memory.id, UpdateInput(**change), memory.etag)


@pytest.mark.parametrize(
    "change", [{"content": "Ana's city is Turku", "value": "Turku"}, {"value": "Turku"}]
)
async def test_what_was_told_of_before_an_edit_does_not_undo_it(
    world: World, change: dict[str, Any]
) -> None:
    core, memory = await edited(world, **change)
    assert (memory.event_timestamp, memory.valid_from) == (NOW, NOW)
    await tell(core, "Ana's city is Bergen", at=A_YEAR_AGO)
    standing = [memory for memory in await listed(core) if memory.attribute == "city"]
    assert [(memory.id, memory.value, memory.version) for memory in standing] == [
        (memory.id, "Turku", 2)
    ]
    world.clock.forward(2 * 86_400)
    await tell(core, "Ana's city is Bergen", at=NOW + timedelta(days=1))
    assert [memory.value for memory in await listed(core) if memory.attribute == "city"] == [
        "Bergen"
    ]


async def test_an_edit_that_says_since_when_is_of_that_time(world: World) -> None:
    core, memory = await edited(
        world, content="Ana's city is Turku", value="Turku", valid_from=A_YEAR_AGO
    )
    assert (memory.event_timestamp, memory.valid_from) == (NOW, A_YEAR_AGO)
    await tell(core, "Ana's city is Bergen", at=HALF_A_YEAR_AGO)
    assert [memory.value for memory in await listed(core) if memory.attribute == "city"] == [
        "Turku"
    ], "it was said when it was made"


@pytest.mark.parametrize(
    "change",
    [
        {"tags": ["home"]},
        {"confidence": 0.5},
        {"content": "Ana's city is Oslo", "value": "Oslo"},
        {"pinned": True},
    ],
)
async def test_an_edit_that_says_nothing_else_is_not_said_anew(
    world: World, change: dict[str, Any]
) -> None:
    _, memory = await edited(world, **change)
    assert memory.event_timestamp == TWO_YEARS_AGO


async def test_an_edited_text_is_found_by_the_day_it_was_said(world: World) -> None:
    _, memory = await edited(world, content="Ana's city is Turku", value="Turku")
    assert {"2026", "may"} <= {*memory.lexical.date}
    assert "2024" not in memory.lexical.date


async def test_a_value_set_by_hand_is_not_undone_by_one_that_was_told_before_it(
    core: MemoryCore,
) -> None:
    memory = (await core.save(ALICE, rule("theme", "dark", event_timestamp=TWO_YEARS_AGO))).memory
    await core.update(ALICE, memory.id, UpdateInput(value="sepia"), memory.etag)
    late = await core.save(ALICE, rule("theme", "light", event_timestamp=A_YEAR_AGO))
    assert late.memory.status == "superseded"
    assert (await core.procedure(ALICE, "theme")).value == "sepia"


def city_at(moment: datetime, value: str) -> SaveInput:
    return fact(
        f"Ana's city is {value}", value=value, category="fact", event_timestamp=moment, **CITY
    )


async def cities(core: MemoryCore, *moments: datetime) -> list[list[Any]]:
    return [
        [memory.value for memory in await listed(core, at=moment) if memory.attribute == "city"]
        for moment in moments
    ]


async def test_what_is_told_late_of_a_time_before_an_edit_ends_what_the_edited_one_said_then(
    world: World,
) -> None:
    core, memory = await edited(world, value="Turku", content="Ana's city is Turku")
    await tell(core, "Ana's city is Bergen", at=A_YEAR_AGO)
    months = [NOW - timedelta(days=days) for days in (600, 200, 60)]
    assert await cities(core, *months, NOW) == [["Oslo"], ["Bergen"], ["Bergen"], ["Turku"]]
    await core.save(ALICE, city_at(NOW - timedelta(days=90), "Oslo"))
    assert await cities(core, *months, NOW) == [["Oslo"], ["Bergen"], ["Oslo"], ["Turku"]]
    await core.save(ALICE, city_at(NOW - timedelta(days=400), "Rome"))
    assert await cities(core, NOW - timedelta(days=380), *months, NOW) == [
        ["Rome"],
        ["Oslo"],
        ["Bergen"],
        ["Oslo"],
        ["Turku"],
    ]
    assert [version.version for version in await core.versions(ALICE, memory.id)] == [1, 2]


@pytest.mark.parametrize("late", [("Oslo", "Turku"), ("Turku", "Bergen")])
async def test_what_is_told_late_of_a_time_between_two_edits_has_its_place_between_them(
    world: World, late: tuple[str, str]
) -> None:
    core, memory = await edited(
        world, value="Turku", content="Ana's city is Turku", valid_from=A_YEAR_AGO
    )
    await core.update(
        ALICE, memory.id, UpdateInput(value="Oslo", content="Ana's city is Oslo"), memory.etag
    )
    for days, value in zip((200, 500), late, strict=True):
        await core.save(ALICE, city_at(NOW - timedelta(days=days), value))
    moments = [NOW - timedelta(days=days) for days in (600, 450, 300, 100, 0)]
    assert await cities(core, *moments) == [["Oslo"], [late[1]], ["Turku"], ["Turku"], ["Oslo"]], (
        "edits are said when they are made"
    )


async def test_a_truth_that_began_before_the_tags_of_the_other_were_edited_ends_what_stood_then(
    world: World,
) -> None:
    core, _ = await edited(world, tags=["home"])
    await tell(core, "Ana's city is Bergen", at=A_YEAR_AGO)
    assert await cities(core, *(NOW - timedelta(days=days) for days in (600, 200, 0))) == [
        ["Oslo"],
        ["Bergen"],
        ["Bergen"],
    ]

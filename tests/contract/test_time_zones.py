"""Whose days are meant: a conversation's time zone, and a user's setting, through forming,
finding and contexts.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import orjson

from memory_core.core import MemoryCore
from memory_core.domain.requests.maintenance import (
    AgentMemoryInput,
    BatchInput,
    ConsolidateInput,
    ImportInput,
    SettingsInput,
    UserSettings,
)
from memory_core.domain.requests.memories import ContextInput, RetrieveInput
from tests.builders import ALICE
from tests.exports import brought, exported, gathered, of_kind, parsed, worked
from tests.exports import filled as fill
from tests.tasks import Hand, conversation, ended, stored
from tests.telling import of_category, talk, tell
from tests.world import BOB, World

BERLIN, NEW_YORK = (
    SettingsInput(time_zone="Europe/Berlin"),
    SettingsInput(time_zone="America/New_York"),
)
LATE = datetime(2026, 5, 7, 22, 30, tzinfo=timezone.utc)
"""Half past midnight of 8 May in Berlin, the evening of the 7th in New York."""


async def tell_in(core: MemoryCore, text: str, zone: str | None, at: datetime = LATE) -> None:
    batch = talk(text, at=at, session="s1").model_copy(update={"time_zone": zone})
    await core.converse(ALICE, batch)
    await Hand(core).work_all()


async def begins(core: MemoryCore) -> list[datetime]:
    return [
        foresight.start_time
        for cell in await of_category(core, "cell")
        for foresight in cell.foresight
    ]


async def test_a_conversation_is_formed_in_the_zone_that_it_names(world: World) -> None:
    core = await world.core_by_rules()
    await tell_in(core, "I have a dentist appointment tomorrow.", "Europe/Berlin")
    assert await begins(core) == [datetime(2026, 5, 8, 22, tzinfo=timezone.utc)]


async def test_without_one_it_is_formed_in_the_users_and_without_that_in_utc(world: World) -> None:
    core = await world.core_by_rules()
    await tell_in(core, "I have a dentist appointment tomorrow.", None)
    assert await core.set_user_settings(ALICE, NEW_YORK) == UserSettings(
        time_zone="America/New_York"
    )
    await tell_in(core, "I have an exam tomorrow.", None)
    assert sorted(await begins(core)) == [
        datetime(2026, 5, 8, tzinfo=timezone.utc),
        datetime(2026, 5, 8, 4, tzinfo=timezone.utc),
    ]


async def test_the_zone_is_kept_with_the_conversation_and_a_later_setting_does_not_change_it(
    core: MemoryCore, world: World
) -> None:
    await core.set_user_settings(ALICE, BERLIN)
    accepted = await core.converse(ALICE, conversation("I have an exam tomorrow."))
    await core.set_user_settings(ALICE, NEW_YORK)
    await Hand(core).work_all()
    task = await core.task(ALICE, accepted.task_id)
    assert (await stored(world, task.subject_id)).time_zone == "Europe/Berlin"


async def test_batches_and_agents_own_words_take_a_zone_too(core: MemoryCore, world: World) -> None:
    messages = talk("I have an exam tomorrow.", at=LATE).messages
    await core.set_user_settings(ALICE, NEW_YORK)
    await core.batch(
        ALICE, BatchInput(session_id="b1", messages=messages, time_zone="Europe/Berlin")
    )
    flushed = await core.batch_flush(ALICE, "b1")
    await core.batch(ALICE, BatchInput(session_id="b2", messages=messages))
    second = await core.batch_flush(ALICE, "b2")
    words = await core.agent_memory(
        ALICE,
        AgentMemoryInput.model_validate({"messages": "Booked it.", "time_zone": "Asia/Tokyo"}),
    )
    await Hand(core).work_all()
    assert flushed is not None
    assert second is not None
    zones = [
        (await stored(world, (await core.task(ALICE, answer.task_id)).subject_id)).time_zone
        for answer in (flushed, second, words)
    ]
    assert zones == ["Europe/Berlin", "America/New_York", "Asia/Tokyo"]


async def test_an_imported_conversation_has_the_zone_of_its_line(world: World) -> None:
    core = await world.core_by_rules()
    line = {
        "messages": [
            {"role": "user", "content": "I have an exam tomorrow.", "timestamp": LATE.isoformat()}
        ],
        "time_zone": "Europe/Berlin",
    }
    await gathered(
        core, orjson.dumps(line) + b"\n", ALICE, import_input=ImportInput(of="conversations")
    )
    await Hand(core, "consolidation").work_all()
    await Hand(core).work_all()
    assert await begins(core) == [datetime(2026, 5, 8, 22, tzinfo=timezone.utc)]


async def test_yesterday_is_a_day_of_who_asks(world: World) -> None:
    core = await world.core_by_rules()
    await tell_in(core, "We baked a lemon cake for Tom.", None, at=LATE)
    world.clock.moment = datetime(2026, 5, 8, 20, tzinfo=timezone.utc)
    asked = RetrieveInput(query="What happened yesterday?")
    assert (await core.retrieve(ALICE, asked)).results  # the 7th in UTC
    assert not (
        await core.retrieve(ALICE, asked.model_copy(update={"time_zone": "Europe/Berlin"}))
    ).results
    assert "2026-05-07" in (await core.context(ALICE, ContextInput(query="lemon cake"))).context
    await core.set_user_settings(ALICE, BERLIN)
    assert not (await core.retrieve(ALICE, asked)).results
    context = (await core.context(ALICE, ContextInput(query="lemon cake"))).context
    assert "2026-05-08" in context
    assert "2026-05-07" not in context
    assert (
        "2026-05-07"
        in (
            await core.context(
                ALICE, ContextInput(query="lemon cake", time_zone="America/New_York")
            )
        ).context
    )


async def test_the_date_words_of_a_turn_are_of_the_day_where_it_was_told(core: MemoryCore) -> None:
    await tell_in(core, "We baked a lemon cake for Tom.", "Europe/Berlin")
    dates = {
        memory.category: memory.lexical.date
        for memory in [*await of_category(core, "cell"), *await of_category(core, "note")]
    }
    assert "cell" in dates
    assert all("8" in " ".join(terms) for terms in dates.values())


async def test_after_a_year_the_days_are_still_those_of_the_zone(world: World) -> None:
    core = await world.core_by_rules()
    await core.set_user_settings(ALICE, NEW_YORK)
    world.clock.moment = LATE + timedelta(days=400)
    await tell_in(core, "I have a dentist appointment tomorrow.", None, at=world.clock.moment)
    (start,) = await begins(core)
    assert start == datetime(2027, 6, 12, 4, tzinfo=timezone.utc)
    assert (await core.user_settings(ALICE)) == UserSettings(time_zone="America/New_York")


async def test_settings_are_of_one_user_and_can_be_unset(core: MemoryCore) -> None:
    assert await core.user_settings(ALICE) == UserSettings()
    await core.set_user_settings(ALICE, BERLIN)
    assert await core.user_settings(BOB) == UserSettings()
    assert await core.set_user_settings(ALICE, BERLIN) == UserSettings(time_zone="Europe/Berlin")
    await core.set_user_settings(ALICE, SettingsInput(time_zone=None))
    assert await core.user_settings(ALICE) == UserSettings()


async def test_settings_are_exported_imported_and_erased(world: World) -> None:
    core = await world.core()
    await fill(core)
    await core.set_user_settings(ALICE, BERLIN)
    file = await exported(world, core)
    assert [line["body"]["time_zone"] for line in of_kind(parsed(file)[1], "settings")] == [
        "Europe/Berlin"
    ]
    task = await brought(world, core, file)
    assert task.status == "succeeded", task.error
    assert await core.user_settings(BOB) == UserSettings(time_zone="Europe/Berlin")
    assert (await exported(world, core, BOB)).splitlines()[1:] == file.splitlines()[1:]
    await ended(world, core, (await core.erase(BOB)).task_id, BOB, apart_s=700)
    assert await core.user_settings(BOB) == UserSettings()
    await tell(core, "I like flamenco.", owner=BOB)
    assert await core.user_settings(BOB) == UserSettings()
    assert await (await world.look_on()).strays(BOB, 1000) == []
    assert await core.user_settings(ALICE) == UserSettings(time_zone="Europe/Berlin")


async def test_a_run_changes_no_settings(world: World) -> None:
    core = await world.core()
    await fill(core)
    await core.set_user_settings(ALICE, BERLIN)
    begun = await core.consolidate(ALICE, ConsolidateInput())
    await worked(world, core, begun.task_id)  # type: ignore[union-attr]
    assert await core.user_settings(ALICE) == UserSettings(time_zone="Europe/Berlin")

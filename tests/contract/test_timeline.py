"""The log as users read it: in order, a page at a time, by memory, type, time and cause;
and what was known at a moment.
"""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from memory_core.core import MemoryCore
from memory_core.domain.errors import Invalid, Malformed, NotFound
from memory_core.domain.memory import Event
from memory_core.domain.requests.maintenance import (
    ForgetFilter,
    ForgetInput,
    ReplayInput,
    TimelineInput,
)
from memory_core.domain.requests.memories import ListInput, UpdateInput
from memory_core.domain.results import Call
from memory_core.ports import EventFilter, LongTermStore
from tests.builders import ALICE, NOW, StillClock
from tests.past import as_of, full_read, logged, replayed
from tests.tasks import Hand
from tests.telling import talk
from tests.world import BOB, Meanwhile, World, fact, listed, rule, turn

CITY = {"subject": "Ana", "attribute": "city"}


async def timeline(core: MemoryCore, limit: int = 100, **query: Any) -> list[Event]:
    """Every page of it."""
    events: list[Event] = []
    cursor = None
    while True:
        page = await core.timeline(ALICE, TimelineInput(limit=limit, cursor=cursor, **query))
        events += page.events
        cursor = page.next_cursor
        if cursor is None:
            return events


async def some_past(core: MemoryCore, clock: StillClock) -> list[datetime]:
    """A few changes, an hour apart; when each was made."""
    made = []
    memory = (await core.save(ALICE, fact("Ana lives in Oslo", **CITY))).memory
    for step in (
        lambda: core.save(ALICE, turn("we met")),
        lambda: core.save(
            ALICE, fact("Ana lives in Rome", event_timestamp=NOW + timedelta(hours=9), **CITY)
        ),
        lambda: core.save(ALICE, rule("tabs", 4)),
        lambda: core.save(ALICE, rule("tabs", 8)),
        lambda: core.delete(ALICE, memory.id),
    ):
        made.append(clock.now())
        clock.forward(3600)
        await step()
    return [*made, clock.now()]


async def test_events_come_in_order_and_page_by_page(
    core: MemoryCore, clock: StillClock, world: World
) -> None:
    await some_past(core, clock)
    await core.save(BOB, turn("not yours"))
    whole = await timeline(core)
    assert [event.event_type for event in whole] == [
        "created",
        "created",
        "created",
        "preceded",
        "created",
        "upserted",
        "deleted",
    ]
    assert whole == await world.log()
    for limit in (1, 3, 7):
        assert await timeline(core, limit) == whole
    assert "embedding" not in str([event.after.keys() for event in whole])


async def test_events_are_found_by_memory_type_time_and_cause(
    core: MemoryCore, clock: StillClock
) -> None:
    await some_past(core, clock)
    await core.save(ALICE, turn("asked for"), Call(correlation_id="why"))
    whole = await timeline(core)
    oslo = whole[0].memory_id
    assert [event.event_type for event in await timeline(core, memory_id=oslo)] == [
        "created",
        "preceded",
        "deleted",
    ]
    assert [event.event_type for event in await timeline(core, types="procedural")] == [
        "created",
        "upserted",
    ]
    assert [
        event.event_type for event in await timeline(core, types="semantic, superseded,deleted")
    ] == ["deleted"]
    assert [event.event_type for event in await timeline(core, 1, types=["episodic"])] == [
        "created",
        "created",
    ]
    assert [event.correlation_id for event in await timeline(core, correlation_id="why")] == ["why"]
    for since, until in (
        (whole[1].occurred_at, None),
        (None, whole[4].occurred_at),
        (whole[2].occurred_at, whole[6].occurred_at),
    ):
        wanted = [
            event
            for event in whole
            if (since is None or since <= event.occurred_at)
            and (until is None or event.occurred_at < until)
        ]
        assert await timeline(core, 2, since=since, until=until) == wanted


async def test_a_store_s_filter_of_events_means_what_it_says(
    core: MemoryCore, clock: StillClock, world: World
) -> None:
    await some_past(core, clock)
    store: LongTermStore = await world.look_on()
    whole = await store.events(ALICE, 0, 100)
    assert await store.events(ALICE, 0, 100, EventFilter()) == whole
    assert await store.events(ALICE, 2, 2, EventFilter(up_to=6)) == whole[2:4]
    assert await store.events(ALICE, 3, 9, EventFilter(up_to=5)) == whole[3:5]
    assert await store.events(ALICE, 0, 1, EventFilter(since=whole[3].occurred_at)) == whole[3:4]
    assert (
        await store.events(
            ALICE, 0, 1, EventFilter(since=whole[3].occurred_at + timedelta(microseconds=1))
        )
        == whole[4:5]
    )
    assert await store.events(
        ALICE, 0, 9, EventFilter(types=frozenset({"semantic"}), event_types=frozenset({"created"}))
    ) == [whole[0], whole[2]]
    assert await store.events(BOB, 0, 9, EventFilter()) == []


async def test_a_cursor_of_another_question_is_void(core: MemoryCore, clock: StillClock) -> None:
    await some_past(core, clock)
    cursor = (await core.timeline(ALICE, TimelineInput(limit=2))).next_cursor
    replay = (await core.replay(ALICE, ReplayInput(sequence=5, limit=1))).next_cursor
    assert cursor is not None
    assert replay is not None
    for wrong in (
        TimelineInput(cursor=replay),
        TimelineInput(cursor=cursor, types=["semantic"]),
        TimelineInput(cursor="x"),
    ):
        with pytest.raises(Malformed):
            await core.timeline(ALICE, wrong)
    await core.save(BOB, turn("hello"))
    with pytest.raises(Malformed):
        await core.timeline(BOB, TimelineInput(cursor=cursor))
    for asked in (
        ReplayInput(sequence=4, cursor=replay),
        ReplayInput(sequence=5, at=NOW, cursor=replay),
        ReplayInput(sequence=5, cursor=cursor),
    ):
        with pytest.raises(Malformed):
            await core.replay(ALICE, asked)


async def test_the_events_of_a_conversation_carry_what_its_caller_named(core: MemoryCore) -> None:
    call = Call(correlation_id="trace-1")
    await core.converse(ALICE, talk("I live in Lisbon"), call)
    await Hand(core).work_all()
    events = await timeline(core)
    assert events
    assert {event.correlation_id for event in events} == {"trace-1"}
    assert await timeline(core, correlation_id="trace-1") == events


async def test_what_was_known_is_told_as_it_was(core: MemoryCore, clock: StillClock) -> None:
    answers: dict[datetime, list[Any]] = {}
    memory = (await core.save(ALICE, fact("Ana lives in Oslo", **CITY))).memory
    for city in ("Rome", "Bonn", "Faro"):
        clock.forward(3600)
        answers[clock.now()] = await full_read(core)
        clock.forward(1)
        await core.save(ALICE, fact(f"Ana lives in {city}", event_timestamp=clock.now(), **CITY))
    for known_at, answer in answers.items():
        assert [
            logged(memory) for memory in await listed(core, status="all", known_at=known_at)
        ] == answer
        assert await replayed(core, known_at=known_at, limit=1) == answer
        assert [memory.status for memory in await listed(core, known_at=known_at)] == ["active"]
    then = await core.look_at(ALICE, memory.id, known_at=min(answers))
    assert (then.memory.status, then.as_of_sequence) == ("active", 1)
    assert (await core.get(ALICE, memory.id)).status == "superseded"
    with pytest.raises(NotFound):
        await core.get(ALICE, memory.id, known_at=NOW - timedelta(seconds=1))
    assert await listed(core, known_at=NOW - timedelta(seconds=1)) == []


async def test_the_two_times_are_two(core: MemoryCore, clock: StillClock) -> None:
    """On the 10th we learnt that Ana had moved on the 5th: on the 8th we took her to be
    in Oslo still.
    """
    day = timedelta(days=1)
    oslo = (await core.save(ALICE, fact("Ana lives in Oslo", event_timestamp=NOW, **CITY))).memory
    clock.forward(10 * 86400)
    await core.save(ALICE, fact("Ana lives in Rome", event_timestamp=NOW + 5 * day, **CITY))
    clock.forward(86400)

    async def said(**times: datetime) -> list[str]:
        return [memory.content for memory in await listed(core, **times)]

    assert await said(at=NOW + 8 * day) == ["Ana lives in Rome"]
    assert await said(at=NOW + 3 * day) == ["Ana lives in Oslo"]
    assert await said(at=NOW + 8 * day, known_at=NOW + 9 * day) == ["Ana lives in Oslo"]
    assert await said(at=NOW + 8 * day, known_at=NOW + 11 * day) == ["Ana lives in Rome"]
    assert (
        await core.get(ALICE, oslo.id, at=NOW + 8 * day, known_at=NOW + 9 * day)
    ).content == "Ana lives in Oslo"
    with pytest.raises(NotFound):
        await core.get(ALICE, oslo.id, at=NOW + 8 * day, known_at=NOW + 11 * day)


async def test_what_had_expired_is_not_in_what_was_known_then(
    core: MemoryCore, clock: StillClock
) -> None:
    await core.save(
        ALICE, fact("Ana has a cold", valid_from=NOW, valid_until=NOW + timedelta(hours=1))
    )
    for hours, count in ((0, 1), (1, 0)):
        assert len(await listed(core, known_at=NOW + timedelta(hours=hours))) == count
        clock.moment = NOW + timedelta(hours=hours)
        assert len(await listed(core)) == count


async def test_an_old_version_is_known_by_its_own_words(
    core: MemoryCore, clock: StillClock
) -> None:
    memory = (await core.save(ALICE, fact("the code is red"))).memory
    clock.forward(3600)
    known_at = clock.now()
    clock.forward(1)
    await core.update(
        ALICE,
        memory.id,
        UpdateInput(content="the code is blue", change_reason="changed"),
        memory.etag,
    )
    past = await core.get(ALICE, memory.id, known_at=known_at)
    assert (past.content, past.version, past.etag) == ("the code is red", 1, memory.etag)
    now = await core.look_at(ALICE, memory.id, known_at=clock.now(), at=NOW)
    assert (now.memory.content, now.memory.id, now.memory.version, now.as_of_sequence) == (
        "the code is red",
        memory.id,
        1,
        2,
    )


async def test_a_page_belongs_to_the_moment_of_the_first(
    core: MemoryCore, clock: StillClock
) -> None:
    """A moment yet to come is settled by the first page: what is written meanwhile is on none
    of the others.
    """
    for n in range(5):
        await core.save(ALICE, turn(f"turn {n}"))
    asked = {"known_at": clock.now() + timedelta(days=1), "limit": 2}
    first = await core.replay(ALICE, ReplayInput(**asked))
    await core.save(ALICE, turn("meanwhile"))
    second = await core.replay(ALICE, ReplayInput(**asked, cursor=first.next_cursor))
    assert (first.as_of_sequence, second.as_of_sequence) == (5, 5)
    assert [memory.content for memory in (*first.memories, *second.memories)] == [
        "turn 4",
        "turn 3",
        "turn 2",
        "turn 1",
    ]


async def test_a_sequence_yet_to_come_is_refused_and_the_beginning_is_empty(
    core: MemoryCore,
) -> None:
    assert await replayed(core, sequence=0) == []
    assert await timeline(core) == []
    await core.save(ALICE, turn("hello"))
    assert await replayed(core, sequence=0) == []
    for wrong in (2, 2**53):
        with pytest.raises(Invalid):
            await core.replay(ALICE, ReplayInput(sequence=wrong))
    for fields in (
        {},
        {"sequence": 1, "known_at": NOW},
        {"sequence": -1},
        {"known_at": "2026-05-08T13:56:00"},
    ):
        with pytest.raises(ValidationError):
            ReplayInput(**fields)


async def test_a_list_says_which_sequence_it_is_the_state_of(
    world: World, core: MemoryCore
) -> None:
    assert await as_of(core) == 0
    await core.bulk(ALICE, [turn("one"), turn("two")])
    assert await as_of(core) == 2
    late = await world.core(
        wrap=lambda store: Meanwhile(store, "page", lambda: core.save(ALICE, turn("meanwhile")))
    )
    page = await late.list(ALICE, ListInput(status="all"))
    assert [logged(memory) for memory in page.memories] == await replayed(
        core, sequence=page.as_of_sequence
    )
    assert page.as_of_sequence == 3


async def test_a_list_that_others_write_into_all_the_while_claims_no_sequence(
    world: World, core: MemoryCore
) -> None:
    class Busy(Meanwhile):
        def __getattr__(self, name: str) -> Any:
            if name == self.name:
                self.then = lambda: core.save(ALICE, turn("again", None))
            return super().__getattr__(name)

    await core.save(ALICE, turn("one"))
    late = await world.core(wrap=lambda store: Busy(store, "page"))
    page = await late.list(ALICE, ListInput())
    assert page.as_of_sequence is None
    assert len(page.memories) >= 1


async def test_the_past_may_be_read_while_others_write(world: World) -> None:
    cores = [await world.core() for _ in range(2)]
    await cores[0].bulk(ALICE, [turn(f"turn {n}") for n in range(20)])
    answer = await full_read(cores[0])

    async def write() -> None:
        for n in range(20):
            await cores[1].save(ALICE, turn(f"later {n}"))

    answers = await asyncio.gather(
        *(replayed(cores[0], sequence=20, limit=7) for _ in range(5)), write()
    )
    assert answers[:5] == [answer] * 5


async def test_a_memory_asked_for_as_known_before_its_first_event_is_a_404_that_names_that_moment(
    core: MemoryCore,
) -> None:
    """`created_at` is when the save began, the event is the commit after it; under a still clock a
    microsecond later.
    """
    await core.save(ALICE, fact("Ana keeps bees"))
    saved = (await core.save(ALICE, fact("Ana lives in Lisbon"))).memory
    with pytest.raises(NotFound, match="its first event occurred at ") as refused:
        await core.get(ALICE, saved.id, known_at=saved.created_at)
    first = datetime.fromisoformat(refused.value.detail.rpartition(" ")[2])
    assert first > saved.created_at
    assert (await core.get(ALICE, saved.id, known_at=first)).content == "Ana lives in Lisbon"


async def test_a_memory_that_is_forgotten_for_good_has_no_first_moment(core: MemoryCore) -> None:
    saved = (await core.save(ALICE, fact("Ana lives in Lisbon"))).memory
    await core.forget(ALICE, ForgetInput(filter=ForgetFilter(ids=[saved.id]), mode="hard"))
    await Hand(core, "consolidation").work_all()
    with pytest.raises(NotFound) as refused:
        await core.get(ALICE, saved.id, known_at=saved.created_at)
    assert "first event" not in refused.value.detail

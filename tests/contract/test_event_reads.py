"""Events are read one by one, whether their commit had one or many."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from memory_core.domain.memory import Event, MemoryType
from memory_core.ports import Document, EventFilter, LongTermStore, Place, Write
from tests.builders import ALICE, NOW, batch, event

COMMITS = (3, 1, 4, 1, 1, 12, 2)
"""How many events each commit has."""
TYPES = (MemoryType.EPISODIC, MemoryType.SEMANTIC, MemoryType.PROCEDURAL)
FILTERS = (
    None,
    EventFilter(memory_id="mem_2"),
    EventFilter(types=frozenset({"semantic"})),
    EventFilter(types=frozenset({"semantic", "procedural"}), event_types=frozenset({"updated"})),
    EventFilter(memory_id="mem_1", types=frozenset({"procedural"})),
    EventFilter(correlation_id="call-5"),
    EventFilter(correlation_id="semantic"),
    EventFilter(since=NOW + timedelta(seconds=2, microseconds=2)),
    EventFilter(until=NOW + timedelta(seconds=5, microseconds=4)),
    EventFilter(up_to=14, types=frozenset({"episodic"})),
    EventFilter(up_to=2),
)


@pytest.fixture
async def log(store: LongTermStore) -> list[Event]:
    """Events of several commits, of mixed memories, types and kinds."""
    whole, head = list[Event](), None
    for number, size in enumerate(COMMITS):
        made = batch(head, events=size, commit_id=f"c{number}")
        events = tuple(
            event(
                f"c{number}",
                place,
                len(whole) + place + 1,
                f"mem_{place % 4}",
                memory_type=TYPES[place % 3],
                event_type="updated" if place % 2 else "created",
                correlation_id=f"call-{number}",
                session_id=None if place else "s",
                occurred_at=NOW + timedelta(seconds=number, microseconds=place),
                after={"content": f"said {number} {place}"},
                epoch=made.head.epoch,
            )
            for place in range(size)
        )
        head = made.head
        whole += events
        await store.commit(ALICE, replace(made, events=events))
    return whole


def passes(logged_event: Event, asked: EventFilter | None) -> bool:
    return asked is None or (
        asked.memory_id in (None, logged_event.memory_id)
        and asked.correlation_id in (None, logged_event.correlation_id)
        and (not asked.types or logged_event.memory_type.value in asked.types)
        and (not asked.event_types or logged_event.event_type in asked.event_types)
        and (asked.since is None or logged_event.occurred_at >= asked.since)
        and (asked.until is None or logged_event.occurred_at < asked.until)
        and (asked.up_to is None or logged_event.sequence <= asked.up_to)
    )


@pytest.mark.parametrize("asked", FILTERS, ids=range(len(FILTERS)))
async def test_from_any_place_as_many_as_are_asked_for_come_in_order(
    store: LongTermStore, log: list[Event], asked: EventFilter | None
) -> None:
    for after in range(len(log) + 1):
        wanted = [event for event in log[after:] if passes(event, asked)]
        for limit in (1, 2, 5, 100):
            assert await store.events(ALICE, after, limit, asked) == wanted[:limit]


@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.parametrize("limit", [1, 3, 7, 100])
async def test_pages_of_events_show_each_once(
    store: LongTermStore, log: list[Event], limit: int, *, newest_first: bool
) -> None:
    seen, after = list[Document](), None
    while page := await store.page(ALICE, "event", None, after, limit, newest_first=newest_first):
        assert len(page) <= limit
        seen += page
        after = Place(page[-1].body["sequence"], page[-1].id)
    wanted = [event.model_dump(mode="json") for event in log]
    assert [document.body for document in seen] == (wanted[::-1] if newest_first else wanted)
    assert {document.kind for document in seen} == {"event"}


async def test_each_event_is_read_by_its_id(store: LongTermStore, log: list[Event]) -> None:
    for logged_event in log:
        seen = await store.snapshot(ALICE, [logged_event.id, "evt_none_3", "evt_none_0"])
        assert {name: document.body for name, document in seen.documents.items()} == {
            logged_event.id: logged_event.model_dump(mode="json")
        }
    all_of_them = await store.snapshot(ALICE, [event.id for event in log])
    assert set(all_of_them.documents) == {event.id for event in log}


async def test_events_that_are_emptied_leave_those_beside_them_as_they_are(
    store: LongTermStore, log: list[Event]
) -> None:
    emptied = {
        event.id: event.model_copy(update={"after": {}, "redacted": True, "session_id": None})
        for event in (log[1], log[2], log[3], log[10], log[-1])
    }
    head = (await store.snapshot(ALICE)).head
    writes = [
        Write("put", Document(name, "event", event.model_dump(mode="json")))
        for name, event in emptied.items()
    ]
    await store.commit(ALICE, batch(head, writes, events=0, commit_id="emptying"))
    wanted = [emptied.get(event.id, event) for event in log]
    assert await store.events(ALICE, 0, 100) == wanted
    seen = await store.snapshot(ALICE, [log[2].id])
    assert seen.documents[log[2].id].body == emptied[log[2].id].model_dump(mode="json")
    assert [
        event.id for event in await store.events(ALICE, 0, 100, EventFilter(memory_id="mem_2"))
    ] == [event.id for event in log if event.memory_id == "mem_2"]


async def test_events_that_were_written_one_by_one_are_read_beside_others(
    store: LongTermStore, log: list[Event]
) -> None:
    """An earlier version wrote each event of a commit alone, and an import still does."""
    head = (await store.snapshot(ALICE)).head
    assert head is not None
    earlier = [
        event("old", place, len(log) + place + 1, f"mem_{place}", epoch=head.epoch)
        for place in range(3)
    ]
    writes = [
        Write("put", Document(event.id, "event", event.model_dump(mode="json")))
        for event in earlier
    ]
    moved = {"sequence": head.sequence + len(earlier)}
    await store.commit(ALICE, batch(head, writes, events=0, commit_id="import", head=moved))
    assert await store.events(ALICE, 0, 100) == [*log, *earlier]
    assert await store.events(ALICE, 2, 100, EventFilter(memory_id="mem_1")) == [
        event for event in [*log, *earlier][2:] if event.memory_id == "mem_1"
    ]
    assert set((await store.snapshot(ALICE, [event.id for event in earlier])).documents) == {
        event.id for event in earlier
    }
    gone = earlier[1].model_copy(update={"redacted": True})
    head = (await store.snapshot(ALICE)).head
    put = Write("put", Document(gone.id, "event", gone.model_dump(mode="json")))
    await store.commit(ALICE, batch(head, [put], events=0, commit_id="emptying"))
    assert await store.events(ALICE, len(log), 100) == [earlier[0], gone, earlier[2]]


async def test_events_beside_long_ones_are_emptied_in_one_commit(store: LongTermStore) -> None:
    """What is written again with them may be more than one commit holds."""
    log, head = list[Event](), None
    for number in range(4):
        made = batch(head, events=2, commit_id=f"long{number}")
        short, long = made.events
        events = (short, long.model_copy(update={"after": {"content": "long " * 140_000}}))
        await store.commit(ALICE, replace(made, events=events))
        log += events
        head = made.head
    emptied = [event.model_copy(update={"redacted": True}) for event in log[::2]]
    writes = [
        Write("put", Document(event.id, "event", event.model_dump(mode="json")))
        for event in emptied
    ]
    await store.commit(ALICE, batch(head, writes, events=0, commit_id="emptying"))
    wanted = [event for pair in zip(emptied, log[1::2], strict=True) for event in pair]
    assert await store.events(ALICE, 0, 100) == wanted
    for logged_event in wanted:
        seen = await store.snapshot(ALICE, [logged_event.id])
        assert seen.documents[logged_event.id].body == logged_event.model_dump(mode="json")


async def test_a_long_log_is_read_in_parts_of_any_size(store: LongTermStore) -> None:
    log, head = list[Event](), None
    for number in range(30):
        made = batch(head, events=1 + 13 * (number % 3), commit_id=f"part{number}")
        await store.commit(ALICE, made)
        log += made.events
        head = made.head
    assert len(log) == 420
    for limit in (7, 60, 150, 1000):
        read = list[Event]()
        while part := await store.events(ALICE, len(read), limit):
            assert part == log[len(read) : len(read) + limit]
            read += part
        assert read == log
        seen, after = list[str](), None
        while page := await store.page(ALICE, "event", None, after, limit, newest_first=False):
            seen += [document.id for document in page]
            after = Place(page[-1].body["sequence"], page[-1].id)
        assert seen == [event.id for event in log]

"""Whose run is due, and what time alone brings: told by both stores' indexes, page by page,
range by range.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from memory_core.domain.archival import NextDue
from memory_core.domain.fading import Fading
from memory_core.domain.memory import Memory, MemoryType, Status
from memory_core.domain.scope import Owner
from memory_core.ports import Due, LongTermStore, Write
from tests.builders import ALICE, NOW, batch, commit, document, memory
from tests.world import BOB

HOUR, DAY, YEARS = timedelta(hours=1), timedelta(days=1), timedelta(days=3652)
RULES = Fading(long_characters=20)


async def due(store: LongTermStore, now: datetime, page: int = 2) -> list[Due]:
    """All pages of all ranges."""
    dues: list[Due] = []
    for within in await store.ranges():
        after: Due | None = None
        while batch_of_dues := await store.due(within, now, after, page):
            dues += batch_of_dues
            after = batch_of_dues[-1]
    return dues


async def test_those_whose_time_has_come_are_found_page_by_page_the_longest_due_first(
    store: LongTermStore,
) -> None:
    when = {
        "zoë": NOW,
        "ana": NOW,
        "bob": None,
        "eve": NOW + HOUR,
        "kim": NOW - DAY,
        "lee": NOW + timedelta(microseconds=1),
    }
    for name, moment in when.items():
        await store.commit(Owner("app", name), batch(None, head={"due_at": moment}))
    await store.commit(Owner("another", "zed"), batch(None, head={"due_at": NOW}))
    assert [(entry.owner.user_id, entry.at) for entry in await due(store, NOW)] == [
        ("kim", NOW - DAY),
        ("zed", NOW),
        ("ana", NOW),
        ("zoë", NOW),
    ]
    later = [entry.owner.user_id for entry in await due(store, NOW + HOUR, page=1)]
    assert later == ["kim", "zed", "ana", "zoë", "lee", "eve"]


async def test_who_is_due_later_or_never_again_is_found_no_more(store: LongTermStore) -> None:
    first = batch(None, head={"due_at": NOW})
    await store.commit(ALICE, first)
    second = batch(first.head, head={"due_at": NOW + HOUR})
    await store.commit(ALICE, second)
    assert await due(store, NOW) == []
    assert await due(store, NOW + HOUR) == [Due(ALICE, NOW + HOUR)]
    await store.commit(ALICE, batch(second.head, head={"due_at": None}))
    assert await due(store, NOW + DAY) == []


async def coming(
    store: LongTermStore, after: datetime, owner: Owner = ALICE, rules: Fading = RULES
) -> NextDue:
    return await store.coming(owner, rules, YEARS, after)


def kept(place: int, **fields: Any) -> Write:
    made: Memory = memory(f"text {place}", id=f"mem_{place:03}", sequence=place + 1, **fields)
    return Write("put", document(made))


async def test_nothing_comes_where_nothing_is(store: LongTermStore) -> None:
    assert await coming(store, NOW) == NextDue()
    await commit(store, ALICE)
    assert await coming(store, NOW) == NextDue()
    assert NextDue().first is None
    assert await store.foresight_ended(BOB, NOW, NOW + DAY) == 0


def near(moment: datetime | None, other: datetime) -> bool:
    return moment is not None and abs(moment - other) < timedelta(seconds=1)


async def test_the_next_crossing_is_the_next_after_a_moment_whoever_is_past_theirs(
    store: LongTermStore,
) -> None:
    procedure: dict[str, Any] = {"type": MemoryType.PROCEDURAL, "key": "k"}
    await commit(
        store,
        ALICE,
        kept(0, importance_base=0.4),  # three halvings over the floor: 90 days
        kept(1, importance_base=0.8),  # 120 days
        kept(2, importance_base=0.1, pinned=True),
        kept(3, importance_base=0.1, **procedure),
        kept(4, importance_base=0.1, status=Status.DECAYED),
        kept(5, importance_base=0.0),  # at once, and so never again
    )
    await commit(store, BOB, kept(0, importance_base=0.1))
    assert near((await coming(store, NOW)).fades, NOW + 90 * DAY)
    assert near((await coming(store, NOW + 90 * DAY + HOUR)).fades, NOW + 120 * DAY)
    assert (await coming(store, NOW + 121 * DAY)).fades is None
    assert (await coming(store, NOW, rules=Fading(floor=0.0))).fades is None


async def test_a_long_text_comes_when_it_may_be_shortened_and_again_when_it_fades(
    store: LongTermStore,
) -> None:
    long = memory(
        "x" * 50,
        id="mem_1",
        consolidation_run="run_1",
        importance_base=0.4,
        created_at=NOW - 80 * DAY,
        last_accessed_at=NOW,
    )
    await commit(store, ALICE, Write("put", document(long)))
    assert near((await coming(store, NOW)).fades, NOW + 30 * DAY)
    assert near((await coming(store, NOW + 31 * DAY)).fades, NOW + 90 * DAY)
    young = long.model_copy(update={"created_at": NOW - DAY, "importance_base": 0.2})
    await commit(
        store, BOB, Write("put", document(young.model_copy(update={"user_id": BOB.user_id})))
    )
    assert near((await coming(store, NOW, BOB)).fades, NOW + 60 * DAY)


async def test_what_grows_old_comes_by_its_last_change_and_what_the_archive_never_takes_not_at_all(
    store: LongTermStore,
) -> None:
    await commit(
        store,
        ALICE,
        kept(0, updated_at=NOW - DAY, created_at=NOW - 9 * DAY),
        kept(1, created_at=NOW - 5 * DAY, updated_at=NOW, status=Status.SUPERSEDED),
        kept(2, created_at=NOW - 9 * DAY, updated_at=NOW - 9 * DAY, status=Status.DELETED),
        kept(3, created_at=NOW - 9 * DAY, updated_at=NOW - 9 * DAY, pinned=True),
    )
    assert (await coming(store, NOW)).ages == NOW - DAY + YEARS
    assert (await coming(store, NOW - DAY + YEARS)).ages == NOW + YEARS
    assert (await coming(store, NOW + YEARS)).ages is None


async def test_foresight_comes_with_the_end_of_a_memorys_last_and_is_counted(
    store: LongTermStore,
) -> None:
    def until(*days: int | None) -> list[dict[str, Any]]:
        return [
            {
                "description": "a cold",
                "start_time": NOW,
                "end_time": None if day is None else NOW + day * DAY,
            }
            for day in days
        ]

    await commit(
        store,
        ALICE,
        kept(0, foresight=until(3, 5, None)),
        kept(1, foresight=until(7)),
        kept(2, foresight=until(None)),
    )
    await commit(store, ALICE, kept(3, foresight=until(4), status=Status.SUPERSEDED))
    assert (await coming(store, NOW)).foresight == NOW + 5 * DAY
    assert (await coming(store, NOW + 5 * DAY)).foresight == NOW + 7 * DAY
    assert (await coming(store, NOW + 7 * DAY)).foresight is None
    counted = [
        await store.foresight_ended(ALICE, NOW + a * DAY, NOW + b * DAY)
        for a, b in ((0, 4), (0, 5), (5, 7), (0, 9))
    ]
    assert counted == [0, 1, 1, 2]

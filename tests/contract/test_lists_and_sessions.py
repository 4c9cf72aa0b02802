"""Lists, sessions, and cursors that are honest."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.errors import Malformed, NotFound
from memory_core.domain.memory import MemoryType
from memory_core.domain.requests.maintenance import ConsolidateInput
from memory_core.domain.requests.memories import ClearInput, ListInput, StatusInput, UpdateInput
from memory_core.signing import cursor_secret
from tests.builders import ALICE, NOW
from tests.tasks import Hand, converse
from tests.world import BOB, World, fact, listed, turn

ACTIVE = StatusInput(status="active")


async def test_a_list_narrows_by_each_of_its_filters(core: MemoryCore) -> None:
    await core.bulk(
        ALICE,
        [
            turn(
                "one",
                "s1",
                agent_id="a1",
                category="trip",
                tags=["sea", "red"],
                event_timestamp=NOW - timedelta(days=2),
            ),
            turn("two", "s2", agent_id="a2", tags=["sea"]),
            fact("three", category="trip"),
        ],
    )
    gone = (await core.save(ALICE, turn("four", "s1"))).memory
    await core.delete(ALICE, gone.id)
    for fields, content in (
        ({}, "three two one"),
        ({"status": "all"}, "four three two one"),
        ({"status": "deleted"}, "four"),
        ({"type": MemoryType.SEMANTIC}, "three"),
        ({"category": "trip"}, "three one"),
        ({"session_id": "s1"}, "one"),
        ({"agent_id": "a2"}, "two"),
        ({"tag": "sea"}, "two one"),
        ({"since": NOW}, "three two"),
        ({"until": NOW}, "one"),
        ({"at": NOW - timedelta(days=1)}, "one"),
    ):
        assert " ".join(memory.content for memory in await listed(core, **fields)) == content, (
            fields
        )


async def test_pages_are_stable_while_memories_come_and_go(core: MemoryCore) -> None:
    done = await core.bulk(ALICE, [turn(f"{n}", None) for n in range(25)])
    seen: list[str] = []
    cursor = None
    while True:
        page = await core.list(ALICE, ListInput(limit=4, cursor=cursor, status="all"))
        seen += [memory.content for memory in page.memories]
        cursor = page.next_cursor
        if cursor is None:
            break
        await core.save(ALICE, turn(f"new {len(seen)}", None))
        await core.delete(ALICE, done[len(seen) % 25].memory.id)  # type: ignore[union-attr]
        # reinforces: moves no place
        await core.save(ALICE, turn(f"{len(seen) % 7}", None, event_timestamp=NOW))
    assert seen == [f"{n}" for n in reversed(range(25))]


async def test_a_list_at_a_moment_pages_through_versions_without_doubles(
    core: MemoryCore, world: World
) -> None:
    memories = [(await core.save(ALICE, fact(f"fact {n}"))).memory for n in range(9)]
    world.clock.forward(3600)
    for memory in memories[::2]:
        await core.update(
            ALICE, memory.id, UpdateInput(content=f"{memory.content}, changed"), memory.etag
        )
    world.clock.forward(3600)
    for minutes, changed in ((30, 0), (90, 5)):
        seen: list[tuple[str, str]] = []
        cursor = None
        while True:
            page = await core.list(
                ALICE, ListInput(limit=2, cursor=cursor, at=NOW + timedelta(minutes=minutes))
            )
            seen += [(memory.id, memory.content) for memory in page.memories]
            cursor = page.next_cursor
            if cursor is None:
                break
        assert [name for name, _ in seen] == [memory.id for memory in reversed(memories)]
        assert sum("changed" in content for _, content in seen) == changed


@pytest.mark.parametrize(
    "spoil", ["owner", "query", "letter", "cut", "empty", "junk", "list", "padding"]
)
async def test_a_cursor_that_is_not_of_this_list_is_refused(core: MemoryCore, spoil: str) -> None:
    for owner in (ALICE, BOB):
        await core.bulk(owner, [turn(f"{n}", f"s{n}") for n in range(5)])
    cursor = (await core.list(ALICE, ListInput(limit=2))).next_cursor
    assert cursor is not None
    owner, fields, given = ALICE, {}, cursor
    if spoil == "owner":
        owner = BOB
    elif spoil == "query":
        fields = {"session_id": "s1"}
    elif spoil == "letter":
        given = cursor[:30] + ("A" if cursor[30] != "A" else "B") + cursor[31:]
    elif spoil == "cut":
        given = cursor[:-3]
    elif spoil == "empty":
        given = ""
    elif spoil == "padding":
        given = cursor + "="
    elif spoil == "junk":
        given = "é💥 not base64"
    else:
        given = (await core.sessions(ALICE, limit=2)).next_cursor or ""
    with pytest.raises(Malformed) as refused:
        await core.list(owner, ListInput(limit=2, cursor=given, **fields))
    assert [error.field for error in refused.value.errors] == ["cursor"]
    assert len((await core.list(ALICE, ListInput(limit=3, cursor=cursor))).memories) == 3, (
        "another limit is the same list"
    )


async def test_a_cursor_is_good_in_every_process_on_the_same_data(world: World) -> None:
    cores = [await world.core() for _ in range(2)]
    await cores[0].bulk(ALICE, [turn(f"{n}") for n in range(5)])
    cursor = (await cores[0].list(ALICE, ListInput(limit=2))).next_cursor
    assert [
        memory.content
        for memory in (await cores[1].list(ALICE, ListInput(limit=2, cursor=cursor))).memories
    ] == ["2", "1"]


async def test_sessions_are_paged_the_one_begun_last_first(core: MemoryCore, world: World) -> None:
    for number in range(7):
        await core.save(ALICE, turn("hello", f"s{number}"))
        world.clock.forward(60)
    await core.save(ALICE, fact("held", session_id="s0"))
    seen: list[Any] = []
    cursor = None
    while True:
        page = await core.sessions(ALICE, cursor, 3)
        seen += page.sessions
        cursor = page.next_cursor
        if cursor is None:
            break
    assert [view.session_id for view in seen] == [f"s{n}" for n in reversed(range(7))]
    first = seen[-1]
    assert (first.started_at, first.last_active_at) == (NOW, NOW + timedelta(minutes=7))
    assert first.counts == {"episodic": 1, "semantic": 1}
    assert (await core.session(ALICE, "s0")) == first
    with pytest.raises(NotFound):
        await core.session(ALICE, "s99")


async def test_a_session_counts_what_was_saved_and_not_deleted(core: MemoryCore) -> None:
    memory, two = [(await core.save(ALICE, turn(text))).memory for text in ("one", "two")]
    await core.delete(ALICE, memory.id)
    assert (await core.session(ALICE, "s1")).counts == {"episodic": 1}
    await core.set_status(ALICE, memory.id, ACTIVE)
    await core.clear(ALICE, ClearInput(session_id="s1"))
    assert (await core.session(ALICE, "s1")).counts == {}
    await core.set_status(ALICE, two.id, ACTIVE)
    assert (await core.session(ALICE, "s1")).counts == {"episodic": 1}


async def test_the_secret_that_signs_cursors_is_whole_for_whoever_reads_it_first(
    tmp_path: Path,
) -> None:
    settings = Settings(embedding_provider="hash", data=tmp_path / "new")
    read = await asyncio.gather(*(asyncio.to_thread(cursor_secret, settings) for _ in range(16)))
    assert len(set(read)) == 1
    assert len(read[0]) == 64
    (path,) = (tmp_path / "new").iterdir()
    assert path.stat().st_mode & 0o077 == 0


async def test_a_clock_that_goes_back_ends_no_session_before_it_began(
    core: MemoryCore, world: World
) -> None:
    await core.save(ALICE, turn("hello", "s1"))
    world.clock.forward(-86_400)
    await core.save(ALICE, turn("hello again", "s1"))
    view = await core.session(ALICE, "s1")
    assert (view.started_at, view.last_active_at) == (NOW, NOW)
    world.clock.forward(86_460)
    await core.save(ALICE, turn("and again", "s1"))
    assert (await core.session(ALICE, "s1")).last_active_at == NOW + timedelta(seconds=60)


async def test_a_session_was_active_when_it_was_told_something_not_when_that_was_formed(
    core: MemoryCore, world: World
) -> None:
    """The task of a session told on Monday may end on Tuesday, and the upkeep of the night changes
    its memories too.
    """
    await converse(core, session="monday")
    world.clock.forward(60)
    await converse(core, "The ferry was late", session="monday")
    told_last = world.clock.now()
    world.clock.forward(86_400)
    await Hand(core).work_all()
    await core.consolidate(ALICE, ConsolidateInput())
    await Hand(core, "consolidation").work_all()
    view = await core.session(ALICE, "monday")
    assert view.counts["semantic"] >= 1, "its facts are formed"
    assert (view.started_at, view.last_active_at) == (NOW, told_last)


async def test_what_is_done_with_memories_of_a_session_by_hand_is_no_activity_of_it(
    core: MemoryCore, world: World
) -> None:
    memory = (await core.save(ALICE, turn("hello", "s1"))).memory
    world.clock.forward(60)
    await core.delete(ALICE, memory.id)
    world.clock.forward(60)
    await core.set_status(ALICE, memory.id, ACTIVE)
    world.clock.forward(60)
    await core.clear(ALICE, ClearInput(session_id="s1"))
    assert (await core.session(ALICE, "s1")).last_active_at == NOW
    world.clock.forward(60)
    await core.save(ALICE, turn("hello again", "s1"))
    assert (await core.session(ALICE, "s1")).last_active_at == NOW + timedelta(minutes=4)

"""A key whose memory was deleted is told again, perhaps in another session: it begins a new life
there, and every session counts right.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.errors import NotFound
from memory_core.domain.memory import Memory, Status
from memory_core.domain.requests.memories import ClearInput, SaveInput
from memory_core.domain.results import Call
from tests.builders import ALICE, NOW
from tests.world import fact, listed, rule

SQLITE = pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
MOVES = pytest.mark.parametrize(
    ("first", "then"),
    [("monday", "tuesday"), ("monday", None), (None, "tuesday"), ("monday", "monday")],
)


async def check(core: MemoryCore) -> None:
    """Each session counts what the list shows of it."""
    memories = await listed(core, status="all")
    for name in ("monday", "tuesday"):
        alive = [
            memory
            for memory in memories
            if memory.session_id == name and memory.status is not Status.DELETED
        ]
        try:
            counts = (await core.session(ALICE, name)).counts
        except NotFound:
            counts = {}
        assert sum(counts.values()) == len(alive), name


async def told(core: MemoryCore, item: SaveInput) -> Memory:
    saved = await core.save(ALICE, item)
    assert saved.outcome == "created"
    return saved.memory


@SQLITE
@MOVES
async def test_a_deleted_key_comes_back_where_it_is_told_again(
    core: MemoryCore, first: str | None, then: str | None
) -> None:
    old = await told(core, rule("editor", "vim", session_id=first))
    await core.delete(ALICE, old.id)
    new = await told(core, rule("editor", "nano", session_id=then, agent_id="planner"))
    assert (new.id, new.status, new.session_id, new.agent_id) == (
        old.id,
        Status.ACTIVE,
        then,
        "planner",
    )
    await check(core)


async def test_a_key_that_was_cleared_with_its_session_comes_back_in_another(
    core: MemoryCore,
) -> None:
    old = await told(core, rule("editor", "vim", session_id="monday"))
    await core.clear(ALICE, ClearInput(session_id="monday"))
    new = await told(core, rule("editor", "nano", session_id="tuesday"))
    assert (new.id, new.session_id) == (old.id, "tuesday")
    assert [memory.id for memory in await listed(core, session_id="tuesday")] == [old.id]
    await check(core)


@SQLITE
@MOVES
async def test_a_deleted_value_of_the_past_comes_back_where_it_is_told_again(
    core: MemoryCore, first: str | None, then: str | None
) -> None:
    before = NOW - timedelta(days=9)
    await told(core, rule("editor", "nano"))
    old = await told(core, rule("editor", "vim", session_id=first, event_timestamp=before))
    await core.delete(ALICE, old.id)
    new = await told(core, rule("editor", "vim", session_id=then, event_timestamp=before))
    assert (new.id, new.status, new.session_id) == (old.id, Status.SUPERSEDED, then)
    assert [memory.value for memory in await listed(core, at=before)] == ["vim"]
    assert [memory.value for memory in await listed(core)] == ["nano"]
    await check(core)


@SQLITE
async def test_a_value_between_two_tellings_of_another_can_be_deleted_and_told_again(
    core: MemoryCore,
) -> None:
    days = [NOW - timedelta(days=number) for number in (10, 5, 1)]
    for moment in (days[0], days[2]):
        await core.save(ALICE, rule("editor", "vim", event_timestamp=moment))
    for _ in range(3):
        old = await told(core, rule("editor", "nano", event_timestamp=days[1]))
        assert [[memory.value for memory in await listed(core, at=moment)] for moment in days] == [
            ["vim"],
            ["nano"],
            ["vim"],
        ]
        await core.delete(ALICE, old.id)
    memories = await listed(core, status="all")
    assert all(
        memory.next_id in {other.id for other in memories}
        for memory in memories
        if memory.status is Status.SUPERSEDED
    )


async def test_an_earlier_value_that_holds_again_is_what_the_key_finds_until_another_is_told(
    core: MemoryCore,
) -> None:
    await told(core, rule("editor", "nano"))
    past = await told(core, rule("editor", "vim", event_timestamp=NOW - timedelta(days=9)))
    await core.restore(ALICE, past.id, Call())
    assert (await core.procedure(ALICE, "editor")).value == "vim"
    new = await told(core, rule("editor", "emacs"))
    assert [(memory.id, memory.next_id) for memory in await listed(core)] == [(new.id, None)]
    assert (await core.procedure(ALICE, "editor")).value == "emacs"
    assert [memory.value for memory in await listed(core, at=NOW - timedelta(days=5))] == ["vim"]
    assert (await core.get(ALICE, past.id)).next_id == new.id


async def test_truths_of_two_sessions_become_one_and_each_session_counts_right(
    core: MemoryCore,
) -> None:
    await told(
        core, fact("Ann lives in Rome", subject="Ann", attribute="city", session_id="monday")
    )
    merging = fact(
        "Ann lives in Paris",
        subject="Ann",
        attribute="city",
        session_id="tuesday",
        on_conflict="merge",
    )
    assert (await core.save(ALICE, merging)).outcome == "merged"
    await check(core)


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ({"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"d": 3, "c": 2}, "a": 1}),
        (1, 1.0),
        ([1.5, 2.0], [1.5, 2]),
    ],
)
async def test_equal_json_is_no_new_version_of_a_key(
    core: MemoryCore, first: object, then: object
) -> None:
    old = await told(core, SaveInput(type="procedural", key="limits", value=first))
    again = await core.save(ALICE, SaveInput(type="procedural", key="limits", value=then))
    assert (again.outcome, again.memory.id, again.memory.version) == ("reinforced", old.id, 1)


async def test_a_truth_is_no_whole_number_and_a_huge_number_is_as_it_is(core: MemoryCore) -> None:
    for value in (1, True, 1e300, 10**15):
        saved = await core.save(ALICE, SaveInput(type="procedural", key="flag", value=value))
        assert saved.outcome in ("created", "upserted")

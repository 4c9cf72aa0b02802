"""Conflicts through the library: what is recorded, how they are listed and decided,
alone and beside others.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.errors import Conflict, Malformed, NotFound
from memory_core.domain.memory import MAX_CONTENT_BYTES, OnConflict, Status
from memory_core.domain.requests.maintenance import ConflictsInput
from memory_core.domain.results import Call
from tests.builders import ALICE, NOW
from tests.conflicts import OSLO, asking, check_questions, lives, now, open_conflict, port, warring
from tests.world import BOB, Meanwhile, WordsEmbedder, World, fact, find, listed


@pytest.fixture
async def words(world: World) -> MemoryCore:
    """A core that calls texts near which share most of their words."""
    return await warring(world)


CALLER = Call(actor="key7", correlation_id="c-1")


async def test_every_strategy_at_a_save_leaves_a_record_that_says_who_chose_it(
    core: MemoryCore,
) -> None:
    await lives(core, "Oslo")
    for strategy in OnConflict:
        item = fact(
            "Ana lives in Bergen",
            on_conflict=strategy,
            event_timestamp=NOW + timedelta(days=1),
            **{**OSLO, "attribute": strategy},
        )
        await core.save(
            ALICE, fact("Ana lives in Oslo", event_timestamp=NOW, **{**OSLO, "attribute": strategy})
        )
        record = (await core.save(ALICE, item, CALLER)).conflict
        assert record is not None
        assert record.by == ("rule" if strategy is OnConflict.AUTO else "key7")
        assert record.strategy == ("supersede" if strategy is OnConflict.AUTO else strategy)
        assert (record.status, record.confidence, record.previous) == ("resolved", 1.0, None)
        assert record.similarity is not None
        assert record.reason
        assert record.at is not None
        assert await core.conflict(ALICE, record.id) == record


async def test_the_events_of_a_decision_name_its_record(core: MemoryCore, world: World) -> None:
    await lives(core, "Oslo")
    new = await lives(core, "Bergen", 1)
    assert new.conflict is not None
    events = (await world.log())[1:]
    assert {event.metadata["conflict_id"] for event in events} == {new.conflict.id}


async def test_the_new_one_wins_when_somebody_says_so(words: MemoryCore, world: World) -> None:
    old, new, name = await open_conflict(words)
    record = await words.resolve_conflict(
        ALICE, name, asking("supersede", "I looked it up"), CALLER
    )
    assert (record.status, record.strategy, record.reason, record.by) == (
        "resolved",
        "supersede",
        "I looked it up",
        "key7",
    )
    fallen, holds = await now(words, old, new)
    assert (fallen.status, fallen.next_id, fallen.valid_until) == (
        Status.SUPERSEDED,
        holds.id,
        holds.valid_from,
    )
    assert (holds.status, holds.supersedes_id, holds.conflict_state) == (
        Status.ACTIVE,
        fallen.id,
        "resolved",
    )
    assert await find(words, "old server port") == [holds.content]
    await check_questions(world, words)
    decided = [
        event for event in await world.log() if event.metadata.get("decision") == "supersede"
    ]
    assert {event.memory_id for event in decided} == {old.memory.id, new.memory.id}
    assert {
        (event.actor, event.correlation_id, event.metadata["conflict_id"]) for event in decided
    } == {("key7", "c-1", name)}


async def test_a_rejected_one_was_never_true(words: MemoryCore, world: World) -> None:
    old, new, name = await open_conflict(words)
    await words.resolve_conflict(ALICE, name, asking("reject_new"))
    memory, gone = await now(words, old, new)
    assert (memory.status, memory.next_id, gone.status, gone.next_id) == (
        Status.ACTIVE,
        None,
        Status.DELETED,
        None,
    )
    for days in (0, 2):
        assert [
            memory.content for memory in await listed(words, at=NOW + timedelta(days=days))
        ] == [memory.content]
    await check_questions(world, words)


async def test_a_merge_makes_a_third_memory_to_which_both_lead(
    words: MemoryCore, world: World
) -> None:
    old, new, name = await open_conflict(words, tags=["net"], session_id="s1")
    await words.resolve_conflict(ALICE, name, asking("merge"))
    first, second = await now(words, old, new)
    (merged,) = await listed(words)
    assert merged.content == f"{first.content}\n{second.content}"
    assert (merged.source_ids, merged.tags, merged.valid_from) == (
        [first.id, second.id],
        ["net"],
        second.valid_from,
    )
    assert {(memory.status, memory.next_id) for memory in (first, second)} == {
        (Status.UPDATED, merged.id)
    }
    assert await find(words, "old server port") == [merged.content]
    assert (await words.session(ALICE, "s1")).counts == {"semantic": 3}
    await check_questions(world, words)


async def test_two_that_are_too_long_for_one_are_not_merged(world: World) -> None:
    core = await world.core()
    long = [f"{number}: " + "word " * (MAX_CONTENT_BYTES // 12) for number in (1, 2)]
    await core.save(ALICE, fact(long[0], **OSLO))
    result = await core.save(
        ALICE,
        fact(
            long[1],
            on_conflict=OnConflict.KEEP_BOTH,
            event_timestamp=NOW + timedelta(days=1),
            **OSLO,
        ),
    )
    assert result.conflict is not None
    await core.undo_conflict(ALICE, result.conflict.id)
    with pytest.raises(Conflict, match="too long"):
        await core.resolve_conflict(ALICE, result.conflict.id, asking("merge"))


async def test_a_decision_stands_until_it_is_undone(words: MemoryCore, world: World) -> None:
    _, _, name = await open_conflict(words)
    first = await words.resolve_conflict(ALICE, name, asking("reject_new"))
    assert await words.resolve_conflict(ALICE, name, asking("reject_new", "again")) == first
    for other in ("supersede", "keep_both", "merge"):
        with pytest.raises(Conflict, match="resolved already, by reject_new"):
            await words.resolve_conflict(ALICE, name, asking(other))
    undone = await words.undo_conflict(ALICE, name, CALLER)
    assert (undone.status, undone.by) == ("pending", "key7")
    assert undone.previous is not None
    assert (undone.previous.strategy, undone.previous.by, undone.previous.at) == (
        "reject_new",
        "system",
        first.at,
    )
    assert await words.undo_conflict(ALICE, name) == undone
    await words.resolve_conflict(ALICE, name, asking("supersede"))
    await check_questions(world, words)


async def test_another_users_conflict_is_none(words: MemoryCore) -> None:
    await words.save(BOB, fact("Bob is here"))
    _, _, name = await open_conflict(words)
    assert (await words.conflicts(BOB)).conflicts == ()
    for owner, wanted in ((BOB, name), (ALICE, "cft_none"), (ALICE, (await listed(words))[0].id)):
        for call in (words.conflict(owner, wanted), words.undo_conflict(owner, wanted)):
            with pytest.raises(NotFound):
                await call
        with pytest.raises(NotFound):
            await words.resolve_conflict(owner, wanted, asking("supersede"))
    assert (await words.conflict(ALICE, name)).open


async def test_conflicts_are_listed_newest_first_by_status_and_page(
    words: MemoryCore, world: World
) -> None:
    names = []
    for n in range(7):
        server = f"server{n} s{n} v{n} w{n}"
        await port(words, 8080, server=server)
        made = (await port(words, 8081, server=server)).conflict
        assert made is not None
        names.append(made.id)
    for name in names[::3]:
        await words.resolve_conflict(ALICE, name, asking("keep_both"))
    records, cursor = [], None
    while True:
        page = await words.conflicts(ALICE, ConflictsInput(limit=2, cursor=cursor))
        records += [conflict.id for conflict in page.conflicts]
        if (cursor := page.next_cursor) is None:
            break
    assert records == names[::-1]
    resolved = await words.conflicts(ALICE, ConflictsInput(status="resolved"))
    assert [conflict.id for conflict in resolved.conflicts] == names[::3][::-1]
    first = await words.conflicts(ALICE, ConflictsInput(status="pending", limit=2))
    second = await words.conflicts(
        ALICE, ConflictsInput(status="pending", limit=2, cursor=first.next_cursor)
    )
    assert [conflict.id for conflict in (*first.conflicts, *second.conflicts)] == [
        name for name in names[::-1] if name not in names[::3]
    ]
    assert second.next_cursor is None
    for wrong in (
        ConflictsInput(status="resolved", cursor=first.next_cursor),
        ConflictsInput(cursor="damaged"),
    ):
        with pytest.raises(Malformed):
            await words.conflicts(ALICE, wrong)


async def test_of_two_who_decide_at_once_one_wins(world: World) -> None:
    """The other gets the same answer when it wanted the same, and a 409 otherwise."""
    cores = [await world.core(embedder=WordsEmbedder(), duplicate_threshold=0.7) for _ in range(2)]
    for decisions in (
        ("supersede", "supersede"),
        ("supersede", "reject_new"),
        ("merge", "keep_both"),
        ("merge", "merge"),
    ):
        *_, name = await open_conflict(cores[0], server=" ".join(decisions))
        calls = [
            core.resolve_conflict(ALICE, name, asking(decision))
            for core, decision in zip(cores, decisions, strict=True)
        ]
        done = await asyncio.gather(*calls, return_exceptions=True)
        record = await cores[0].conflict(ALICE, name)
        for answer, decision in zip(done, decisions, strict=True):
            if decision == record.strategy:
                assert answer == record
            else:
                assert isinstance(answer, Conflict)
        await check_questions(world, cores[0])


@pytest.mark.parametrize("after", ["snapshot", "commit"])
async def test_a_save_that_lets_a_side_fall_meanwhile_is_met_by_a_409(
    world: World, after: str
) -> None:
    other = await world.core()
    results = [await lives(other, where, day) for day, where in enumerate(("Oslo", "Bergen"))]
    assert results[1].conflict is not None
    name = results[1].conflict.id
    await other.undo_conflict(ALICE, name)

    async def meanwhile() -> None:
        await lives(other, "Turku", 5)

    core = await world.core(wrap=lambda store: Meanwhile(store, "snapshot", meanwhile))
    if after == "commit":
        await meanwhile()
    with pytest.raises(Conflict, match="superseded"):
        await core.resolve_conflict(ALICE, name, asking("merge"))
    assert [memory.content for memory in await listed(core)] == ["Ana lives in Turku"]
    await check_questions(world, core)


async def test_an_unrelated_save_meanwhile_changes_nothing(world: World) -> None:
    other = await world.core(embedder=WordsEmbedder(), duplicate_threshold=0.7)
    old, new, name = await open_conflict(other)

    async def meanwhile() -> None:
        await other.save(ALICE, fact("it rains today in Rome"))

    core = await world.core(
        embedder=WordsEmbedder(), wrap=lambda store: Meanwhile(store, "snapshot", meanwhile)
    )
    assert (await core.resolve_conflict(ALICE, name, asking("supersede"))).strategy == "supersede"
    assert [memory.status for memory in await now(core, old, new)] == [
        Status.SUPERSEDED,
        Status.ACTIVE,
    ]
    await check_questions(world, core)

"""The archive run: what goes, what stays, what is left, and that it comes back as it was."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory_core.consolidation import archive
from memory_core.core import MemoryCore
from memory_core.domain.errors import Conflict, NotFound
from memory_core.domain.memory import MemoryType, Status
from memory_core.domain.requests.maintenance import ArchiveInput, DecayInput
from memory_core.domain.requests.memories import (
    ListInput,
    RetrieveInput,
    StatusInput,
    TasksInput,
    UpdateInput,
)
from memory_core.domain.results import Accepted, Call, Foreseen
from tests.builders import ALICE, NOW
from tests.cold import archived, blobs, done, equal, everything, saved, years_go_by
from tests.runs import hour
from tests.world import BOB, World, fact, listed, rule, turn

LONG = "I moved to the old house by the sea. " * 30


@pytest.fixture
def world(cold_world: World) -> World:
    return cold_world


async def test_what_is_old_goes_and_a_stub_stays(world: World, core: MemoryCore) -> None:
    (old,) = await saved(core, turn(LONG, metadata={"page": 7}))
    years_go_by(world)
    await saved(core, turn("a new day", "s2"))
    assert await archived(world, core) == {"archived": 1, "chains": 1}
    stub = await core.get(ALICE, old.id)
    assert (stub.status, stub.status_reason, stub.archived_at) == (
        Status.ARCHIVED,
        "age_decay",
        world.clock.now(),
    )
    assert (stub.embedding is None, stub.embedding_model, stub.metadata) == (False, "hash-1", {})
    assert LONG.startswith(stub.content[:-1])
    assert len(stub.content) <= 200
    assert [stub.archival_location] == await blobs(world)
    assert [memory.content for memory in await listed(core)] == ["a new day"]
    assert [memory.id for memory in await listed(core, status="archived")] == [old.id]
    (event,) = [event for event in await world.log() if event.event_type == "archived"]
    assert event.after["archival_location"] == stub.archival_location


@pytest.mark.parametrize(("years", "goes"), [(9.99, 0), (10.0, 1)])
async def test_ten_years_untouched_is_old(
    world: World, core: MemoryCore, years: float, goes: int
) -> None:
    await saved(core, fact("the sky is blue"))
    years_go_by(world, years)
    assert (await archived(world, core)).get("archived", 0) == goes


async def test_the_age_is_a_setting_but_what_has_some_recency_stays(world: World) -> None:
    """1 % of recency are 5.75 years."""
    core = await world.core(archival_age_years=1.0)
    await saved(core, fact("the sky is blue"))
    years_go_by(world, 5.7)
    assert await archived(world, core) == {}
    years_go_by(world, 0.1)
    assert await archived(world, core) == {"archived": 1, "chains": 1}


async def test_pinned_memories_and_procedures_stay(world: World, core: MemoryCore) -> None:
    await saved(
        core, fact("allergic to nuts", pinned=True), rule("greeting", "formal"), turn("hello")
    )
    years_go_by(world)
    assert await archived(world, core) == {"archived": 1, "chains": 1}
    assert sorted(memory.type.value for memory in await listed(core)) == ["procedural", "semantic"]
    assert (await core.procedure(ALICE, "greeting")).value == "formal"


async def test_what_is_kept_for_good_stays_and_is_told_after_the_archive_took_the_rest(
    world: World, core: MemoryCore
) -> None:
    (memory, _) = await saved(core, turn("I'm allergic to penicillin."), turn("It rained all day."))
    years_go_by(world)
    assert await archived(world, core) == {"archived": 1, "chains": 1}
    assert [memory.id for memory in await listed(core)] == [memory.id]


async def test_what_was_asked_for_lately_stays(world: World, core: MemoryCore) -> None:
    (asked, _) = await saved(core, turn("the boat is red"), turn("it rains"))
    years_go_by(world, 6)
    answer = await core.retrieve(ALICE, RetrieveInput(query="boat red"))
    assert [hit.memory.id for hit in answer.results] == [asked.id]
    await core.flush_accesses()
    years_go_by(world, 6)
    assert await archived(world, core) == {"archived": 1, "chains": 1}
    assert (await core.get(ALICE, asked.id)).status is Status.ACTIVE


async def test_every_status_but_deleted_and_archived_goes(world: World, core: MemoryCore) -> None:
    memories = await saved(core, turn("one"), turn("two"), turn("three"))
    await core.delete(ALICE, memories[0].id)
    years_go_by(world)
    assert (await archived(world, core))["archived"] == 2
    assert await archived(world, core) == {}
    assert {memory.id: memory.status for memory in await listed(core, status="all")}[
        memories[0].id
    ] is Status.DELETED


async def test_a_chain_goes_when_all_of_it_is_old(world: World, core: MemoryCore) -> None:
    first, second = await saved(
        core, fact("Ana lives in Oslo", subject="Ana", attribute="city"), fact("unrelated")
    )
    years_go_by(world, 6)
    third = (
        await core.save(ALICE, fact("Ana lives in Bergen", subject="Ana", attribute="city"))
    ).memory
    years_go_by(world, 6)
    assert await archived(world, core) == {"archived": 1, "chains": 1}
    assert (await core.get(ALICE, second.id)).status is Status.ARCHIVED
    years_go_by(world, 6)
    assert await archived(world, core) == {"archived": 2, "chains": 1}
    stubs = [await core.get(ALICE, memory.id) for memory in (first, third)]
    assert stubs[0].archival_location == stubs[1].archival_location
    assert stubs[0].next_id == third.id
    assert len(await blobs(world)) == 2


async def test_a_session_alone_can_be_archived_and_takes_what_its_chains_hold(
    world: World, core: MemoryCore
) -> None:
    await saved(core, fact("Ana lives in Oslo", subject="Ana", attribute="city", session_id="s1"))
    world.clock.forward(60)
    await saved(
        core,
        fact("Ana lives in Bergen", subject="Ana", attribute="city", session_id="s2"),
        turn("hello", "s3"),
    )
    years_go_by(world)
    assert await archived(world, core, session_id="s2") == {"archived": 2, "chains": 1}
    assert await archived(world, core, session_id="s1") == {}
    assert await archived(world, core) == {"archived": 1, "chains": 1}


async def test_a_dry_run_counts_and_writes_nothing(world: World, core: MemoryCore) -> None:
    await saved(core, fact("Ana lives in Oslo", subject="Ana", attribute="city"), turn("hello"))
    years_go_by(world)
    before = await world.head()
    seen = await core.archive(ALICE, ArchiveInput(dry_run=True))
    assert isinstance(seen, Foreseen)
    assert (seen.counts, seen.capped) == ({"archived": 2, "chains": 2, "too_large": 0}, False)
    assert await world.head() == before
    assert await blobs(world) == []


async def test_many_pages_go_in_one_run_and_only_one_users(world: World, core: MemoryCore) -> None:
    for start in range(0, 240, 80):
        await core.bulk(
            ALICE, [turn(f"word{n} told", f"s{n % 3}") for n in range(start, start + 80)]
        )
    await core.bulk(BOB, [turn("mine")])
    years_go_by(world)
    await core.bulk(ALICE, [turn(f"new{n}") for n in range(60)])
    assert await archived(world, core) == {"archived": 240, "chains": 240}
    assert len(await blobs(world)) == 240
    assert len(await listed(core)) == 60
    assert [memory.content for memory in await listed(core, BOB, status="active")] == ["mine"]


async def test_what_an_hours_run_leaves_over_goes_in_the_next_one(
    world: World, core: MemoryCore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "MOST", 1)
    monkeypatch.setattr(archive, "MEMORIES_A_PAGE", 1)
    await saved(core, turn("one"), turn("two"), turn("three"))
    years_go_by(world)
    await hour(core)
    assert {memory.status for memory in await listed(core, status="all")} == {Status.ARCHIVED}
    tasks = (await core.tasks(ALICE, TasksInput(kind="archive"))).tasks
    assert {task.status for task in tasks} == {"succeeded"}


async def test_the_same_call_twice_is_one_run(world: World, core: MemoryCore) -> None:
    await saved(core, turn("hello"))
    years_go_by(world)
    call = Call(idempotency_key="k1")
    first, second = [await core.archive(ALICE, ArchiveInput(), call) for _ in range(2)]
    assert first == second
    with pytest.raises(Conflict):
        await core.archive(ALICE, ArchiveInput(session_id="s1"), call)


async def test_everything_comes_back_as_it_was(world: World, core: MemoryCore) -> None:
    """A chain of three with versions, values and links: the same content, vectors, versions,
    statuses; nothing else has changed.
    """
    (first,) = await saved(
        core,
        fact(
            LONG,
            subject="Ana",
            attribute="home",
            metadata={"a": [1, {"b": "ü"}]},
            tags=["x"],
            foresight=[],
        ),
    )
    world.clock.forward(60)
    changed = await core.update(
        ALICE, first.id, UpdateInput(content=LONG + " By the lake now."), first.etag
    )
    world.clock.forward(60)
    later = await saved(core, fact("Ana lives in a tent", subject="Ana", attribute="home"))
    world.clock.forward(60)
    last = await saved(core, fact("Ana lives on a boat", subject="Ana", attribute="home"))
    before = await everything(world)
    assert len(before) == 4
    years_go_by(world)
    assert await archived(world, core) == {"archived": 3, "chains": 1}
    stubs = await everything(world)
    assert all(stub.archived_at and len(stub.content) <= 200 for stub in stubs.values())
    back = await core.restore(ALICE, later[0].id)
    assert back.status is Status.SUPERSEDED
    after = await everything(world)
    assert after.keys() == before.keys()
    for identity, was in before.items():
        moved = (
            ()
            if "." in identity
            else ("updated_at", "revision", "status_reason", "last_accessed_at")
        )
        assert equal(after[identity], was, *moved), identity
    assert after[last[0].id].status_reason == "restored"
    assert after[changed.id].status_reason == "contradicted"
    assert [memory.content for memory in await listed(core)] == ["Ana lives on a boat"]
    hits = (await core.retrieve(ALICE, RetrieveInput(query="Ana lives on a boat"))).results
    assert [hit.memory.id for hit in hits][:1] == [last[0].id]


@pytest.mark.parametrize("before", ["active", "decayed", "deleted in the archive"])
async def test_what_is_brought_back_after_years_is_offered_again(
    world: World, core: MemoryCore, before: str
) -> None:
    (old,) = await saved(core, turn("the boat is red"))
    years_go_by(world)
    if before == "decayed":
        marking = await core.decay(ALICE, DecayInput())
        assert isinstance(marking, Accepted)
        await done(world, core, marking)
    await archived(world, core)
    if before == "deleted in the archive":
        await core.delete(ALICE, old.id)
    await core.restore(ALICE, old.id)
    assert [memory.id for memory in await listed(core)] == [old.id]
    (hit,) = (
        await core.retrieve(ALICE, RetrieveInput(query="boat red", include_decayed=False))
    ).results
    assert (hit.memory.id, hit.tier) == (old.id, "long")


async def test_a_truth_that_held_before_and_after_another_goes_with_all_its_times_and_comes_back(
    world: World, core: MemoryCore
) -> None:
    slot = {"subject": "Ana", "attribute": "city"}
    between = {"valid_from": NOW + timedelta(days=2), "valid_until": NOW + timedelta(days=4)}
    await saved(core, fact("Ana lives in Oslo", **slot))
    world.clock.forward(9 * 86_400)
    (rome,) = await saved(core, fact("Ana lives in Rome", **slot, **between))
    before = {name: memory.status for name, memory in (await everything(world)).items()}
    assert len(before) == 3, "the time before Rome is a memory of its own"
    years_go_by(world)
    assert await archived(world, core) == {"archived": 3, "chains": 1}
    await core.restore(ALICE, rome.id)
    after = await everything(world)
    assert {name: memory.status for name, memory in after.items()} == before
    assert not any(memory.archived_at for memory in after.values())


async def test_restoring_twice_is_restoring_once_and_the_copy_is_swept_by_the_next_run(
    world: World, core: MemoryCore
) -> None:
    (old,) = await saved(core, turn("hello"))
    years_go_by(world)
    await archived(world, core)
    assert len(await blobs(world)) == 1
    first = await core.restore(ALICE, old.id)
    second = await core.restore(ALICE, old.id)
    assert first.etag == second.etag
    assert (first.status, first.content) == (Status.ACTIVE, "hello")
    assert len([event for event in await world.log() if event.event_type == "restored"]) == 1
    assert len(await blobs(world)) == 1
    assert await archived(world, core) == {"swept": 1}
    assert await blobs(world) == []
    assert (await core.get(ALICE, old.id)).content == "hello"


async def test_a_superseded_truth_that_came_back_stays_so_however_often_it_is_asked_for(
    world: World, core: MemoryCore
) -> None:
    slot = {"subject": "Ana", "attribute": "city"}
    (old,) = await saved(core, fact("Ana lives in Oslo", **slot))
    world.clock.forward(60)
    await saved(core, fact("Ana lives in Bergen", **slot))
    years_go_by(world)
    await archived(world, core)
    first, second = [await core.restore(ALICE, old.id) for _ in range(2)]
    assert (first.status, first.etag) == (Status.SUPERSEDED, second.etag)


async def test_restore_is_also_for_what_was_deleted(core: MemoryCore) -> None:
    (old,) = await saved(core, turn("hello"))
    await core.delete(ALICE, old.id)
    assert (await core.restore(ALICE, old.id)).status is Status.ACTIVE
    assert (await core.restore(ALICE, old.id)).status is Status.ACTIVE


async def test_what_came_back_is_not_taken_away_by_the_next_run(
    world: World, core: MemoryCore
) -> None:
    (old,) = await saved(core, turn("hello"))
    years_go_by(world)
    await archived(world, core)
    await core.restore(ALICE, old.id)
    assert await archived(world, core) == {"swept": 1}
    years_go_by(world)
    assert await archived(world, core) == {"archived": 1, "chains": 1}


async def test_nobody_restores_what_is_not_theirs(world: World, core: MemoryCore) -> None:
    (old,) = await saved(core, turn("hello"))
    years_go_by(world)
    await archived(world, core)
    with pytest.raises(NotFound):
        await core.restore(BOB, old.id)
    with pytest.raises(NotFound):
        await core.restore(ALICE, "mem_nobody")


async def test_what_was_deleted_in_the_archive_comes_back_deleted_with_its_chain_and_active_when_asked_for(  # noqa: E501
    world: World, core: MemoryCore
) -> None:
    (first,) = await saved(
        core, fact("Ana lives in Oslo", subject="Ana", attribute="city", session_id="s1")
    )
    world.clock.forward(60)
    (second,) = await saved(
        core, fact("Ana lives in Bergen", subject="Ana", attribute="city", session_id="s1")
    )
    before = await everything(world)
    years_go_by(world)
    await archived(world, core)
    await core.delete(ALICE, second.id)
    assert (await core.session(ALICE, "s1")).counts == {"semantic": 1}
    await core.restore(ALICE, first.id)
    after = await everything(world)
    assert (after[second.id].status, after[second.id].content) == (
        Status.DELETED,
        "Ana lives in Bergen",
    )
    assert after[first.id].status is Status.SUPERSEDED
    assert equal(
        after[second.id],
        before[second.id],
        "status",
        "status_reason",
        "revision",
        "updated_at",
        "change_reason",
    )


async def test_asking_for_what_was_deleted_in_the_archive_brings_it_into_use(
    world: World, core: MemoryCore
) -> None:
    (old,) = await saved(core, turn("hello"))
    years_go_by(world)
    await archived(world, core)
    await core.delete(ALICE, old.id)
    assert (await core.session(ALICE, "s1")).counts == {"episodic": 0} or (
        await core.session(ALICE, "s1")
    ).counts == {}
    back = await core.restore(ALICE, old.id)
    assert (back.status, back.status_reason, back.content) == (Status.ACTIVE, "restored", "hello")
    assert (await core.session(ALICE, "s1")).counts == {"episodic": 1}


async def test_the_later_truth_stands_when_one_was_told_meanwhile(
    world: World, core: MemoryCore
) -> None:
    slot = {"subject": "Ana", "attribute": "city"}
    (old,) = await saved(core, fact("Ana lives in Oslo", **slot))
    years_go_by(world)
    await archived(world, core)
    (new,) = await saved(core, fact("Ana lives in Bergen", **slot))
    back = await core.restore(ALICE, old.id)
    assert (back.status, back.status_reason, back.next_id) == (
        Status.SUPERSEDED,
        "contradicted",
        new.id,
    )
    assert [memory.content for memory in await listed(core)] == ["Ana lives in Bergen"]
    assert [
        memory.content
        for memory in (await core.list(ALICE, ListInput(at=NOW + timedelta(days=1)))).memories
    ] == ["Ana lives in Oslo"]


async def test_a_truth_about_an_earlier_time_gives_way_to_the_one_that_comes_back(
    world: World, core: MemoryCore
) -> None:
    slot = {"subject": "Ana", "attribute": "city"}
    (old,) = await saved(core, fact("Ana lives in Oslo", **slot))
    years_go_by(world)
    await archived(world, core)
    (late,) = await saved(
        core, fact("Ana lives in Bergen", **slot, event_timestamp=NOW - timedelta(days=700))
    )
    await core.restore(ALICE, old.id)
    assert [memory.content for memory in await listed(core)] == ["Ana lives in Oslo"]
    assert (await core.get(ALICE, late.id)).next_id == old.id


async def test_it_takes_its_place_in_the_line_of_truths_told_meanwhile(
    world: World, core: MemoryCore
) -> None:
    slot = {"subject": "Ana", "attribute": "city"}
    (oslo,) = await saved(core, fact("Ana lives in Oslo", **slot))
    years_go_by(world)
    await archived(world, core)
    (bergen,) = await saved(core, fact("Ana lives in Bergen", **slot))
    world.clock.forward(3600)
    (kiel,) = await saved(core, fact("Ana lives in Kiel", **slot))
    back = await core.restore(ALICE, oslo.id)
    assert (back.next_id, back.valid_until) == (bergen.id, bergen.valid_from)
    line = (await core.evolution(ALICE, oslo.id)).memories
    assert [memory.id for memory in line] == [oslo.id, bergen.id, kiel.id]
    store = await world.look_on()
    (record,) = [
        document.body
        for document in await store.page(ALICE, "conflict", None, None, 10)
        if oslo.id in (document.body["old_id"], document.body["new_id"])
    ]
    assert (record["status"], record["strategy"]) == ("resolved", "supersede")


async def test_what_comes_back_against_a_pinned_truth_that_was_said_before_holds(
    world: World, core: MemoryCore
) -> None:
    slot = {"subject": "Ana", "attribute": "city"}
    (oslo,) = await saved(core, fact("Ana lives in Oslo", **slot))
    years_go_by(world)
    await archived(world, core)
    await saved(
        core,
        fact("Ana lives in Bergen", **slot, pinned=True, event_timestamp=NOW - timedelta(days=700)),
    )
    back = await core.restore(ALICE, oslo.id)
    assert back.status is Status.ACTIVE, "it was said after what is pinned"
    head = await world.head()
    assert head is not None
    assert head.pending_count == 0


async def test_two_that_stood_side_by_side_before_do_so_again(
    world: World, core: MemoryCore
) -> None:
    slot = {"subject": "Ana", "attribute": "city"}
    (oslo,) = await saved(core, fact("Ana lives in Oslo", **slot))
    years_go_by(world)
    await saved(core, fact("Ana lives in Bergen", **slot, on_conflict="keep_both", pinned=True))
    years_go_by(world)
    await archived(world, core)
    assert (await core.get(ALICE, oslo.id)).status is Status.ARCHIVED
    assert (await core.restore(ALICE, oslo.id)).status is Status.ACTIVE
    assert len(await listed(core)) == 2


async def test_the_same_truth_told_again_meanwhile_is_one(world: World, core: MemoryCore) -> None:
    slot = {"subject": "Ana", "attribute": "city"}
    (old,) = await saved(core, fact("Ana lives in Oslo", **slot))
    years_go_by(world)
    await archived(world, core)
    (new,) = await saved(core, fact("Ana lives in Oslo", **slot))
    back = await core.restore(ALICE, old.id)
    assert (back.status, back.next_id) == (Status.SUPERSEDED, new.id)
    assert len(await listed(core)) == 1


@pytest.mark.parametrize(
    ("sentence", "becomes"),
    [("Ana lives in Oslo", Status.SUPERSEDED), ("Ana lives in Bergen", Status.SUPERSEDED)],
)
@pytest.mark.parametrize("by_status", [True, False])
async def test_a_truth_that_was_deleted_in_the_archive_comes_back_beside_what_was_saved_since(
    world: World, core: MemoryCore, sentence: str, becomes: Status, by_status: bool
) -> None:
    """It was refused with a 409 for ever: from `deleted` a memory may only become `active`."""
    slot = {"subject": "Ana", "attribute": "city"}
    (old,) = await saved(core, fact("Ana lives in Oslo", **slot))
    years_go_by(world)
    await archived(world, core)
    await core.delete(ALICE, old.id)
    (new,) = await saved(core, fact(sentence, **slot))
    if by_status:
        back = await core.set_status(
            ALICE, old.id, StatusInput(status="active", reason="asked for")
        )
    else:
        back = await core.restore(ALICE, old.id)
    assert (back.status, back.next_id) == (becomes, new.id)
    assert [memory.id for memory in await listed(core)] == [new.id]
    types = [event.event_type for event in await world.log() if event.memory_id == old.id]
    assert types[-2] == "restored"


async def test_a_turn_that_is_told_again_while_it_is_cold_is_reinforced_and_comes_back_so(
    world: World, core: MemoryCore
) -> None:
    (old,) = await saved(core, turn(LONG, event_timestamp=NOW))
    years_go_by(world)
    await archived(world, core)
    again = await core.save(ALICE, turn(LONG, event_timestamp=NOW))
    assert (again.outcome.value, again.memory.id) == ("reinforced", old.id)
    back = await core.restore(ALICE, old.id)
    assert (back.content, back.reinforcement_count) == (LONG.strip(), 1) or back.content == LONG
    assert back.type is MemoryType.EPISODIC


async def test_a_chain_that_would_not_come_back_in_one_commit_stays(
    world: World, core: MemoryCore
) -> None:
    (memory,) = await saved(core, fact("version 1"))
    for number in range(2, 92):
        memory = await core.update(
            ALICE, memory.id, UpdateInput(content=f"version {number}"), memory.etag
        )
    await saved(core, turn("hello"))
    years_go_by(world)
    assert await archived(world, core) == {"archived": 1, "chains": 1, "too_large": 1}
    assert (await core.get(ALICE, memory.id)).status is Status.ACTIVE

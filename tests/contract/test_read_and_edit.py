"""Reading one by one and in versions; changing by hand, with ETags."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.errors import (
    Conflict,
    Invalid,
    MemoryCoreError,
    NotFound,
    PreconditionFailed,
)
from memory_core.domain.memory import OnConflict, Outcome, Status
from memory_core.domain.requests.memories import CopyInput, RetrieveInput, StatusInput, UpdateInput
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from tests.builders import ALICE, NOW
from tests.world import BOB, Meanwhile, WordsEmbedder, World, fact, listed, rule, turn

OSLO = {"subject": "Ana", "attribute": "city"}
DELETED, ACTIVE = StatusInput(status=Status.DELETED), StatusInput(status=Status.ACTIVE)


async def test_another_user_s_memory_is_as_unknown_as_none(core: MemoryCore) -> None:
    theirs = (await core.save(BOB, fact("Ben lives in Oslo", session_id="s1"))).memory
    await core.save(BOB, rule("tabs", 4))
    for name in (theirs.id, "mem_none", f"{theirs.id}.v1", theirs.id.upper()):
        for call in (
            core.get(ALICE, name),
            core.get(ALICE, name, at=NOW),
            core.versions(ALICE, name),
            core.update(ALICE, name, UpdateInput(content="x"), theirs.etag),
            core.delete(ALICE, name),
            core.set_status(ALICE, name, DELETED),
            core.set_status(ALICE, name, ACTIVE),
            core.copy(ALICE, name, CopyInput(to_agent_id="a")),
        ):
            with pytest.raises(NotFound):
                await call
    with pytest.raises(NotFound):
        await core.procedure(ALICE, "tabs")
    with pytest.raises(NotFound):
        await core.session(ALICE, "s1")
    assert await listed(core, status="all") == []
    assert (await core.sessions(ALICE)).sessions == ()
    assert (await core.get(BOB, theirs.id)).etag == theirs.etag


async def test_ids_of_bookkeeping_are_no_memories(core: MemoryCore, world: World) -> None:
    await core.save(ALICE, turn("hello"))
    (event,) = await world.log()
    for name in (event.id, "head", "ses_none"):
        with pytest.raises(NotFound):
            await core.get(ALICE, name)


async def test_an_update_is_a_new_version_and_the_old_one_stays_readable(
    core: MemoryCore, world: World
) -> None:
    first = (await core.save(ALICE, fact("the code is red", tags=["gate"], confidence=0.5))).memory
    world.clock.forward(3600)
    second = await core.update(
        ALICE,
        first.id,
        UpdateInput(content="the code is blue", change_reason="changed"),
        first.etag,
    )
    world.clock.forward(3600)
    third = await core.update(
        ALICE, first.id, UpdateInput(tags=["door"], confidence=1.0), second.etag
    )
    assert (third.id, third.version, third.content, third.tags) == (
        first.id,
        3,
        "the code is blue",
        ["door"],
    )
    assert third.created_at == first.created_at
    views = await core.versions(ALICE, first.id)
    assert [(view.version, view.content, view.confidence) for view in views] == [
        (1, "the code is red", 0.5),
        (2, "the code is blue", 0.5),
        (3, "the code is blue", 1.0),
    ]
    assert [view.change_reason for view in views] == [None, "changed", None]
    assert [view.metadata_snapshot["tags"] for view in views] == [["gate"], ["gate"], ["door"]]
    assert [view.valid_until for view in views[:-1]] == [view.valid_from for view in views[1:]]
    for minutes, version in ((30, 1), (90, 2), (150, 3)):
        at = NOW + timedelta(minutes=minutes)
        assert (await core.get(ALICE, first.id, at=at)).version == version
        assert [(memory.id, memory.version) for memory in await listed(core, at=at)] == [
            (first.id, version)
        ]
    with pytest.raises(NotFound):
        await core.get(ALICE, first.id, at=NOW - timedelta(days=1))


async def test_an_updated_text_is_found_by_its_new_words_only(world: World) -> None:
    core = await world.core(embedder=WordsEmbedder())
    first = (await core.save(ALICE, fact("the code is red", session_id="s1"))).memory
    await core.update(ALICE, first.id, UpdateInput(content="the code is blue"), first.etag)
    for session in (None, "s1"):
        assert (
            await core.retrieve(ALICE, RetrieveInput(query="red", session_id=session))
        ).results == ()
        assert (
            len(
                (
                    await core.retrieve(ALICE, RetrieveInput(query="blue", session_id=session))
                ).results
            )
            == 1
        )


async def test_an_update_needs_the_current_etag(core: MemoryCore) -> None:
    first = (await core.save(ALICE, fact("the code is red"))).memory
    change = UpdateInput(content="the code is blue")
    for tag in (None, '"wrong.1"', f'"{first.epoch}.99"', ""):
        with pytest.raises(PreconditionFailed):
            await core.update(ALICE, first.id, change, tag)
    second = await core.update(ALICE, first.id, change, first.etag)
    with pytest.raises(PreconditionFailed, match="as it is now"):
        await core.update(ALICE, first.id, change, first.etag)
    assert (await core.update(ALICE, first.id, UpdateInput(pinned=True), "*")).version == 3
    assert second.version == 2


async def test_of_two_updates_with_one_etag_one_wins(world: World) -> None:
    other = await world.core()
    first = (await other.save(ALICE, fact("the code is red"))).memory
    blue, green = UpdateInput(content="the code is blue"), UpdateInput(content="the code is green")
    core = await world.core(
        wrap=lambda store: Meanwhile(
            store, "snapshot", lambda: other.update(ALICE, first.id, green, first.etag)
        )
    )
    with pytest.raises(PreconditionFailed):
        await core.update(ALICE, first.id, blue, first.etag)
    assert (await core.get(ALICE, first.id)).content == "the code is green"


async def test_what_a_memory_may_not_become_is_refused(core: MemoryCore) -> None:
    episode = (await core.save(ALICE, turn("we met"))).memory
    with pytest.raises(Conflict, match="episodic"):
        await core.update(ALICE, episode.id, UpdateInput(content="we parted"), episode.etag)
    memory = (await core.save(ALICE, fact("Ana lives in Oslo"))).memory
    for change, field in (
        (UpdateInput(content=None), "content"),
        (UpdateInput(tags=None), "tags"),
        (UpdateInput(subject="Ana"), "subject"),
        (UpdateInput(valid_until=NOW - timedelta(days=1)), "valid_until"),
    ):
        with pytest.raises(Invalid) as refused:
            await core.update(ALICE, memory.id, change, memory.etag)
        assert [error.field for error in refused.value.errors] == [field]
    gone = (await core.delete(ALICE, memory.id)).memory
    with pytest.raises(Conflict, match="deleted"):
        await core.update(ALICE, memory.id, UpdateInput(content="x"), gone.etag)


async def test_an_etag_moves_with_events_and_with_nothing_else(core: MemoryCore) -> None:
    first = (await core.save(ALICE, turn("we met"))).memory
    await core.save(ALICE, turn("we parted"))
    await core.retrieve(ALICE, RetrieveInput(query="met", session_id="s1"))
    assert (await core.get(ALICE, first.id)).etag == first.etag
    again = await core.save(ALICE, turn("we met", event_timestamp=NOW))
    assert again.outcome is Outcome.REINFORCED
    assert again.memory.etag != first.etag


async def test_deleting_and_restoring_follow_the_table(core: MemoryCore, world: World) -> None:
    memory = (await core.save(ALICE, turn("we met"))).memory
    deleted = await core.delete(ALICE, memory.id)
    gone = deleted.memory
    assert (gone.status, gone.status_reason, deleted.outcome) == (
        Status.DELETED,
        "manual_delete",
        "deleted",
    )
    again = await core.delete(ALICE, memory.id)
    assert (again.memory.etag, again.outcome) == (gone.etag, "already_deleted")
    assert [event.event_type for event in await world.log()] == ["created", "deleted"], (
        "no second event"
    )
    assert (await core.get(ALICE, memory.id)).status is Status.DELETED
    back = await core.set_status(ALICE, memory.id, ACTIVE)
    assert (back.status, back.status_reason) == (Status.ACTIVE, "restored")
    assert (await core.set_status(ALICE, memory.id, ACTIVE)).etag == back.etag
    assert (await core.session(ALICE, "s1")).counts == {"episodic": 1}


async def test_a_delete_that_names_a_version_deletes_no_other(core: MemoryCore) -> None:
    """Of two clients that take the same memory with If-Match, one is told that it came too late."""
    memory = (await core.save(ALICE, fact("we met"))).memory
    changed = await core.update(ALICE, memory.id, UpdateInput(content="we parted"), memory.etag)
    for outdated in (memory.etag, "", "we met"):
        with pytest.raises(PreconditionFailed, match=changed.etag):
            await core.delete(ALICE, memory.id, if_match=outdated)
    assert (await core.get(ALICE, memory.id)).status is Status.ACTIVE
    assert (await core.delete(ALICE, memory.id, if_match=changed.etag)).outcome == "deleted"
    with pytest.raises(PreconditionFailed, match="deleted"):
        await core.delete(ALICE, memory.id, if_match=changed.etag)
    assert (await core.delete(ALICE, memory.id, if_match="*")).outcome == "already_deleted"
    with pytest.raises(NotFound):
        await core.delete(ALICE, "mem_none", if_match="*")


async def test_of_two_deletes_of_one_version_at_once_one_is_refused(core: MemoryCore) -> None:
    memory = (await core.save(ALICE, fact("we met"))).memory
    answers = await asyncio.gather(
        *(core.delete(ALICE, memory.id, if_match=memory.etag) for _ in range(4)),
        return_exceptions=True,
    )
    assert sorted(type(answer).__name__ for answer in answers) == [
        "Deleted",
        *["PreconditionFailed"] * 3,
    ]


async def test_a_delete_sent_again_with_its_idempotency_key_has_the_first_answer(
    core: MemoryCore,
) -> None:
    memory = (await core.save(ALICE, fact("we met"))).memory
    call = Call(idempotency_key="once")
    first, again = [
        await core.delete(ALICE, memory.id, call, if_match=memory.etag) for _ in range(2)
    ]
    assert (first.outcome, again.outcome) == ("deleted", "deleted")
    assert first.memory.etag == again.memory.etag
    late = Call(idempotency_key="late")
    assert [(await core.delete(ALICE, memory.id, late)).outcome for _ in range(2)] == [
        "already_deleted"
    ] * 2


async def test_an_edit_by_hand_is_why_a_memory_is_active(core: MemoryCore) -> None:
    memory = (await core.save(ALICE, fact("we met"))).memory
    assert memory.status_reason == "created"
    changed = await core.update(ALICE, memory.id, UpdateInput(tags=["home"]), memory.etag)
    assert (changed.status, changed.status_reason) == (Status.ACTIVE, "manual_update")
    (before, after) = await core.versions(ALICE, memory.id)
    assert (before.version, after.version) == (1, 2)


@pytest.mark.parametrize(
    "wanted",
    [Status.ARCHIVED, Status.COMPRESSED, Status.UPDATED, Status.SUPERSEDED, Status.DECAYED],
)
async def test_a_status_that_only_the_product_sets_is_refused_with_those_that_may_be_set(
    core: MemoryCore, wanted: Status
) -> None:
    memory = (await core.save(ALICE, turn("we met"))).memory
    change = StatusInput(status=wanted)
    with pytest.raises(Conflict, match=r"active can be set by hand to: active, deleted") as refused:
        await core.set_status(ALICE, memory.id, change)
    assert [error.field for error in refused.value.errors] == ["status"]
    await core.delete(ALICE, memory.id)
    with pytest.raises(Conflict, match=r"deleted can be set by hand to: active, deleted"):
        await core.set_status(ALICE, memory.id, change)
    for owner, name in ((BOB, memory.id), (ALICE, "mem_none")):
        with pytest.raises(NotFound):
            await core.set_status(owner, name, change)


async def test_a_superseded_one_that_is_deleted_is_read_at_no_time(core: MemoryCore) -> None:
    old = (
        await core.save(
            ALICE, fact("Ana lives in Oslo", event_timestamp=NOW - timedelta(days=9), **OSLO)
        )
    ).memory
    await core.save(ALICE, fact("Ana lives in Bergen", **OSLO))
    assert (
        await core.get(ALICE, old.id, at=NOW - timedelta(days=5))
    ).content == "Ana lives in Oslo"
    await core.set_status(ALICE, old.id, DELETED)
    with pytest.raises(NotFound):
        await core.get(ALICE, old.id, at=NOW - timedelta(days=5))


async def test_a_deleted_memory_s_old_versions_are_not_read_at_any_time(
    core: MemoryCore, world: World
) -> None:
    first = (await core.save(ALICE, fact("the code is red"))).memory
    world.clock.forward(3600)
    await core.update(ALICE, first.id, UpdateInput(content="the code is blue"), first.etag)
    await core.delete(ALICE, first.id)
    for minutes in (30, 90):
        with pytest.raises(NotFound):
            await core.get(ALICE, first.id, at=NOW + timedelta(minutes=minutes))
        assert await listed(core, at=NOW + timedelta(minutes=minutes)) == []


async def test_a_copy_belongs_to_the_other_agent_and_is_made_once(core: MemoryCore) -> None:
    source = (await core.save(ALICE, turn("we met", agent_id="a1", tags=["t"]))).memory
    made = await core.copy(ALICE, source.id, CopyInput(to_agent_id="a2"))
    again = await core.copy(ALICE, source.id, CopyInput(to_agent_id="a2"))
    assert (made.id, made.etag) == (again.id, again.etag)
    assert made.id != source.id
    assert (made.agent_id, made.copied_from, made.content, made.tags, made.version) == (
        "a2",
        source.id,
        "we met",
        ["t"],
        1,
    )
    assert (await core.get(ALICE, source.id)).etag == source.etag
    assert len(await listed(core)) == 2
    assert (await core.session(ALICE, "s1")).counts == {"episodic": 2}
    with pytest.raises(Invalid):
        await core.copy(ALICE, source.id, CopyInput(to_agent_id="a1"))
    await core.delete(ALICE, source.id)
    with pytest.raises(Conflict):
        await core.copy(ALICE, source.id, CopyInput(to_agent_id="a3"))


async def test_a_procedure_is_read_by_its_key_until_it_is_deleted(core: MemoryCore) -> None:
    memory = (await core.save(ALICE, rule("how to/brew tea?", ["boil", "wait"]))).memory
    assert (await core.procedure(ALICE, "how to/brew tea?")).id == memory.id
    await core.delete(ALICE, memory.id)
    with pytest.raises(NotFound):
        await core.procedure(ALICE, "how to/brew tea?")


async def test_a_restored_truth_of_a_slot_stands_until_the_next_one(core: MemoryCore) -> None:
    first = (await core.save(ALICE, fact("Ana lives in Oslo", **OSLO))).memory
    await core.delete(ALICE, first.id)
    second = await core.save(ALICE, fact("Ana lives in Bergen", **OSLO))
    assert second.outcome is Outcome.CREATED
    await core.set_status(ALICE, first.id, ACTIVE)
    third = await core.save(
        ALICE, fact("Ana lives in Paris", on_conflict=OnConflict.SUPERSEDE, **OSLO)
    )
    assert third.outcome is Outcome.SUPERSEDED
    assert [memory.content for memory in await listed(core)] == ["Ana lives in Paris"]


async def test_the_library_s_own_door_refuses_ids_that_no_store_could_keep_apart(
    core: MemoryCore,
) -> None:
    for owner in (
        Owner("", "a"),
        Owner("app", ""),
        Owner("app", "a/b"),
        Owner("a b", "c"),
        Owner("app", "a\nb"),
    ):
        for call in (core.get(owner, "mem_x"), core.save(owner, turn("x")), core.sessions(owner)):
            with pytest.raises((ValueError, MemoryCoreError)):
                await call


async def test_a_hundred_versions_are_all_kept_and_read(core: MemoryCore, world: World) -> None:
    for n in range(100):
        await core.save(ALICE, rule("tabs", n))
        world.clock.forward(60)
    memory = await core.procedure(ALICE, "tabs")
    views = await core.versions(ALICE, memory.id)
    assert [(view.version, view.metadata_snapshot["value"]) for view in views] == [
        (n + 1, n) for n in range(100)
    ]
    assert (await core.get(ALICE, memory.id, at=NOW + timedelta(seconds=90))).value == 1


async def test_twenty_values_for_one_key_at_once_are_twenty_versions(world: World) -> None:
    cores = [await world.core(commit_deadline_s=60) for _ in range(2)]
    done = await asyncio.gather(*(cores[n % 2].save(ALICE, rule("tabs", n)) for n in range(20)))
    assert sorted(result.outcome for result in done) == [Outcome.CREATED] + [Outcome.UPSERTED] * 19
    views = await cores[0].versions(ALICE, done[0].memory.id)
    assert sorted(view.metadata_snapshot["value"] for view in views) == list(range(20))
    assert [view.version for view in views] == list(range(1, 21))

"""What is exported and brought in is the same again, or nothing of it is there."""

from __future__ import annotations

import codecs
import hashlib
from typing import Any

import pytest

from memory_core.domain.errors import Conflict
from memory_core.domain.requests.maintenance import ConsolidateInput, ImportCommitInput
from memory_core.domain.requests.memories import RetrieveInput
from memory_core.domain.results import Accepted
from memory_core.domain.scope import Owner
from memory_core.tasks.lifecycle import message_for
from tests.builders import ALICE
from tests.cold import archived, blobs, years_go_by
from tests.conflicts import open_conflict, warring
from tests.exports import (
    Before,
    brought,
    exported,
    fetched,
    filled,
    gathered,
    more,
    of_kind,
    parsed,
    worked,
)
from tests.mortal import killed_at_each_write
from tests.tasks import MADE, Hand, converse, task_of
from tests.world import BOB, World, fact, listed, rule, turn

ELSEWHERE = Owner("another-app", "carol")


async def test_what_comes_back_out_of_another_app_and_user_is_the_same(world: World) -> None:
    core = await world.core()
    await filled(core)
    file = await exported(world, core)
    task = await brought(world, core, file, ELSEWHERE, size=3_000)
    assert task.status == "succeeded", task.error
    first, lines = parsed(file)
    copied = await exported(world, core, ELSEWHERE)
    again, same = parsed(copied)
    assert same == lines
    assert copied.splitlines()[1:] == file.splitlines()[1:]
    changing = ("app_id", "user_id", "exported_at")
    assert {name: value for name, value in again.items() if name not in changing} == {
        name: value for name, value in first.items() if name not in changing
    }
    assert (again["app_id"], again["user_id"]) == ELSEWHERE
    assert first["counts"]["memory"] == len(of_kind(lines, "memory")) == 10 + 4
    assert not any(word in file for word in (b"embedding", b"epoch"))
    heads = [await world.head(owner) for owner in (ALICE, ELSEWHERE)]
    assert len({head.kept_bytes for head in heads if head}) == 1, (
        "what it counts as stored is the same"
    )


async def test_what_was_found_and_looked_at_by_a_run_comes_back_out_the_same_and_the_runs_report_with_it(  # noqa: E501
    world: World,
) -> None:
    core = await warring(world)
    await filled(core)
    await open_conflict(core)
    assert (await core.retrieve(ALICE, RetrieveInput(query="the big old server"))).results
    # how many it says is less where an answer was lost; what was written is seen below
    await core.flush_accesses()
    begun = await core.consolidate(ALICE, ConsolidateInput())
    assert isinstance(begun, Accepted)
    await worked(world, core, begun.task_id)
    file = await exported(world, core)
    _, lines = parsed(file)
    assert any(line["body"]["access_count"] for line in of_kind(lines, "memory"))
    assert any(line["body"]["looked_at"] for line in of_kind(lines, "conflict"))
    assert len(of_kind(lines, "run")) == 1
    task = await brought(world, core, file, ELSEWHERE)
    assert task.status == "succeeded", task.error
    assert (await exported(world, core, ELSEWHERE)).splitlines()[1:] == file.splitlines()[1:]


async def test_what_was_brought_in_works_like_what_it_was(world: World) -> None:
    core = await world.core()
    await filled(core)
    await brought(world, core, await exported(world, core))
    for ask in (lambda owner: listed(core, owner, status="all"), lambda owner: listed(core, owner)):
        here, there = await ask(ALICE), await ask(BOB)
        assert [(memory.id, memory.content, memory.status) for memory in there] == [
            (memory.id, memory.content, memory.status) for memory in here
        ]
    assert (await core.procedure(BOB, "language")).value == "en"
    assert (await core.save(BOB, rule("language", "fr"))).memory.version == 3
    assert (await core.save(BOB, turn("They sting", actor="Ana"))).memory.session_id == "s1"
    before, after = (await core.session(ALICE, "s1")).counts, (await core.session(BOB, "s1")).counts
    assert after == {**before, "episodic": before["episodic"] + 1}
    here, there = (
        await core.get(ALICE, (await listed(core))[0].id),
        await core.get(BOB, (await listed(core))[0].id),
    )
    assert here.embedding is not None
    assert there.embedding is not None
    assert here.embedding.tolist() == there.embedding.tolist()


async def test_a_document_longer_than_a_part_comes_in_pieces(world: World) -> None:
    core = await world.core()
    messages = [f"{number} " + 'é"' * 9_000 for number in range(40)]
    await converse(core, *messages)
    file = await exported(world, core)
    assert len([line for line in parsed(file)[1] if "piece" in line]) > 2
    task = await brought(world, core, file)
    assert task.status == "succeeded", task.error
    assert (await exported(world, core, BOB)).splitlines()[1:] == file.splitlines()[1:]


@pytest.mark.parametrize("given_up", [False, True])
async def test_what_was_waiting_to_be_formed_is_formed_where_it_was_brought(
    world: World, *, given_up: bool
) -> None:
    core = await world.core()
    task = await task_of(core, await converse(core))
    if given_up:
        await core.give_up(message_for(ALICE, task).model_dump_json())
    file = await exported(world, core)
    assert (await brought(world, core, file)).status == "succeeded"
    world.clock.forward(3600)
    assert (await core.sweep()).sent >= 1
    await Hand(core).work_all()
    assert sorted(memory.content for memory in await listed(core, BOB)) == MADE
    head = await world.head(BOB)
    assert head is not None
    assert head.pending_tasks == 0


async def test_a_part_that_is_brought_again_replaces_itself_and_none_may_be_missing(
    world: World,
) -> None:
    core = await world.core()
    await filled(core)
    file = await exported(world, core)
    task_id = (await core.begin_import(BOB)).task_id
    half = len(file) // 2
    await core.import_part(BOB, task_id, 2, b"something else")
    with pytest.raises(Conflict, match="the parts 1 "):
        await core.commit_import(BOB, task_id, ImportCommitInput(parts=2, sha256="0" * 64))
    await core.import_part(BOB, task_id, 1, file[:half])
    await core.import_part(BOB, task_id, 2, file[half:])
    commit_input = ImportCommitInput(parts=2, sha256=hashlib.sha256(file).hexdigest())
    await core.commit_import(BOB, task_id, commit_input)
    await core.commit_import(BOB, task_id, commit_input)
    with pytest.raises(Conflict):
        await core.import_part(BOB, task_id, 1, b"late")
    assert (await worked(world, core, task_id, BOB)).status == "succeeded"


@pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
async def test_a_file_may_begin_with_a_byte_order_mark(world: World, adapter: str) -> None:
    core = await world.core()
    await filled(core)
    task = await brought(world, core, codecs.BOM_UTF8 + await exported(world, core))
    assert (task.status, task.error) == ("succeeded", None)
    assert len(await listed(core, BOB)) == len(await listed(core, ALICE))


async def test_only_an_empty_user_can_be_imported_into(world: World) -> None:
    core = await world.core()
    await filled(core)
    with pytest.raises(Conflict):
        await core.begin_import(ALICE)
    await core.begin_import(BOB)
    with pytest.raises(Conflict):
        await core.begin_import(BOB)
    await converse(core, owner=ELSEWHERE)
    with pytest.raises(Conflict):
        await core.begin_import(ELSEWHERE)


@pytest.mark.parametrize("at", [1, 2, 3, 4])
async def test_a_user_who_began_to_save_meanwhile_keeps_that_and_nothing_else(
    world: World, at: int
) -> None:
    """Before the `at`-th commit of the work. What was stored by then goes."""
    other = await world.core()
    await filled(other)
    await more(other)
    file = await exported(world, other)

    async def save() -> None:
        await other.save(BOB, turn("I was here first"))

    store: list[Before] = []
    core = await world.core(
        wrap=lambda inner: store.append(Before(inner, "commit", save)) or store[0]
    )
    task_id = await gathered(core, file)
    store[0].left = at
    task = await worked(world, core, task_id, BOB)
    assert store[0].left <= 0
    assert task.status == "failed", task
    assert task.error is not None
    assert "only an empty user" in task.error
    assert [memory.content for memory in await listed(core, BOB, status="all")] == [
        "I was here first"
    ]
    assert len(await world.log(BOB)) == 1
    assert await (await world.look_on()).strays(BOB, 100) == []


async def test_while_it_is_stored_nothing_of_it_is_seen_and_cancelled_it_leaves_nothing(
    world: World,
) -> None:
    other = await world.core()
    await filled(other)
    await more(other)
    file = await exported(world, other)
    seen: list[Any] = []

    async def look() -> None:
        seen.append((await listed(other, BOB, status="all"), await world.log(BOB)))
        assert (
            await other.retrieve(
                BOB, RetrieveInput(query="bees Lisbon hive", similarity_threshold=0.0)
            )
        ).results == ()
        assert await (await world.look_on()).strays(BOB, 100)
        await other.cancel(BOB, task_id)

    store: list[Before] = []
    core = await world.core(
        wrap=lambda inner: store.append(Before(inner, "commit", look)) or store[0]
    )
    task_id = await gathered(core, file)
    store[0].left = 4
    task = await worked(world, core, task_id, BOB)
    assert seen == [([], [])]
    assert task.status == "cancelled"
    assert await listed(core, BOB, status="all") == []
    assert await (await world.look_on()).strays(BOB, 100) == []
    assert not [
        blob for blob in await blobs(world) if blob.startswith("people/") and task.task_id in blob
    ]
    assert (await brought(world, core, file)).status == "succeeded"


@pytest.mark.parametrize("after", [False, True])
async def test_a_worker_that_is_killed_at_any_write_is_followed_by_one_that_ends_it(
    world: World, after: bool
) -> None:
    """Nothing doubled, nothing half there."""
    other = await world.core()
    await filled(other)
    await more(other)
    file = await exported(world, other)
    async for owner, task_id in killed_at_each_write(
        world, after, lambda mortal, owner: gathered(mortal, file, owner)
    ):
        task = await worked(world, other, task_id, owner)
        assert task.status == "succeeded", (owner.user_id, task.error)
        assert [memory.content for memory in await listed(other, owner, status="all")] == [
            memory.content for memory in await listed(other, ALICE, status="all")
        ]
    assert (await exported(world, other, owner)).splitlines()[1:] == file.splitlines()[1:]


async def test_what_lies_in_the_archive_is_in_the_file_and_lies_in_the_archive_again(
    world: World,
) -> None:
    core = await world.core()
    for number in range(3):
        await core.save(
            ALICE,
            fact(f"Ana lives in city {number} {'and on ' * 60}", subject="Ana", attribute="city"),
        )
    years_go_by(world)
    assert await archived(world, core)
    await core.save(ALICE, turn("I keep bees"))
    stubs = await listed(core, status="archived")
    file = await exported(world, core)
    first, _ = parsed(file)
    assert first["counts"]["cold"] == 1
    assert f"city 2 {'and on ' * 60}" in file.decode(), "whole"
    task = await brought(world, core, file)
    assert task.status == "succeeded", task.error
    assert (await exported(world, core, BOB)).splitlines()[1:] == file.splitlines()[1:]
    assert len(stubs) == 3
    back = await core.restore(BOB, stubs[0].id)
    assert (
        back.content == f"Ana lives in city 2 {'and on ' * 60}".strip() or len(back.content) > 400
    )
    assert await listed(core, BOB, status="archived") == [], "the whole chain is back"
    assert await listed(core, status="archived") == stubs, "that of the first user is not"


async def test_a_chain_whose_last_was_deleted_before_the_rest_went_into_the_archive_comes_in_too(
    world: World,
) -> None:
    core = await world.core()
    await core.save(ALICE, fact("Ana lives in Oslo", subject="Ana", attribute="city"))
    last = await core.save(ALICE, fact("Ana lives in Bergen", subject="Ana", attribute="city"))
    await core.delete(ALICE, last.memory.id)
    years_go_by(world)
    assert await archived(world, core)
    file = await exported(world, core)
    assert (await brought(world, core, file)).status == "succeeded"
    assert (await exported(world, core, BOB)).splitlines()[1:] == file.splitlines()[1:]
    (stub,) = await listed(core, BOB, status="archived")
    assert (await core.restore(BOB, stub.id)).content == "Ana lives in Oslo"


async def test_what_lies_in_the_archive_chain_by_chain_fills_parts_like_everything_else(
    world: World,
) -> None:
    core = await world.core()
    await core.bulk(ALICE, [turn(f"note {number}") for number in range(30)])
    years_go_by(world)
    assert await archived(world, core)
    task = await worked(world, core, (await core.export(ALICE)).task_id, ALICE)
    assert task.result is not None
    assert (task.result["counts"]["cold"], task.result["parts"]) == (30, 1)
    assert (await brought(world, core, await fetched(core, task))).status == "succeeded"


async def test_an_import_that_is_refused_late_leaves_nothing_in_the_archive(world: World) -> None:
    core = await world.core()
    await core.save(ALICE, fact(f"Ana lives in Lisbon {'and on ' * 60}"))
    years_go_by(world)
    await archived(world, core)
    file = await exported(world, core)
    names = await blobs(world)
    task_id = await gathered(core, file)
    await core.save(BOB, turn("I was here first"))
    assert (await worked(world, core, task_id, BOB)).status == "failed"
    assert [blob for blob in await blobs(world) if not blob.startswith("due/")] == [
        name for name in names if not name.startswith("due/")
    ]

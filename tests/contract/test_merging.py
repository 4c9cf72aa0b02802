"""Near-duplicates as their users see them: of two memories that say one thing one stays,
with what the other knew.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from memory_core.adapters.offline.agents import OfflineAgents
from memory_core.core import MemoryCore
from memory_core.domain.memory import MAX_CONTENT_BYTES, Memory, Status
from memory_core.domain.requests.maintenance import ConsolidateInput
from memory_core.domain.requests.memories import SaveInput, UpdateInput
from memory_core.domain.results import Accepted, Foreseen
from memory_core.domain.scope import Owner
from memory_core.ports import Agents
from tests.builders import ALICE, NOW
from tests.mortal import Moment, Mortal
from tests.past import told_by_the_log
from tests.patterns import consolidated
from tests.tasks import Hand, task_of
from tests.world import BOB, Killed, WordsEmbedder, World, fact, listed, turn

here = pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
"""What is decided without asking what the store is."""
TEA = "User likes green tea in the garden"
OTHER = "Dogs bark at night"


async def opened(world: World, **options: Any) -> MemoryCore:
    """A core for which near is what has nine of ten words in common."""
    return await world.core(
        **{
            "embedder": WordsEmbedder(),
            "rules": OfflineAgents(),
            "duplicate_threshold": 0.85,
            **options,
        }
    )


@pytest.fixture
async def core(world: World) -> MemoryCore:
    return await opened(world)


async def two(
    core: MemoryCore, first: SaveInput, second: str, **fields: Any
) -> tuple[Memory, Memory]:
    """Two memories, the second of which is edited to say what it does: a save alone would not
    have made it.
    """
    memory = (await core.save(ALICE, first)).memory
    other = (await core.save(ALICE, fact(OTHER, **{"category": first.category, **fields}))).memory
    return memory, await rewritten(core, other.id, second)


async def rewritten(
    core: MemoryCore, memory_id: str, content: str, *, owner: Owner = ALICE, **fields: Any
) -> Memory:
    """Another text by hand."""
    memory = await core.get(owner, memory_id)
    return await core.update(owner, memory_id, UpdateInput(content=content, **fields), memory.etag)


def counts(task: Any) -> dict[str, int]:
    return {
        name: number
        for name, number in task.result["counts"].items()
        if name in ("merged", "linked")
    }


async def test_of_two_that_say_one_thing_one_stays_with_what_the_other_knew(
    core: MemoryCore, world: World
) -> None:
    memory, other = await two(
        core,
        fact(TEA, tags=["drinks"], confidence=0.5),
        f"{TEA}.",
        tags=["leisure"],
        confidence=0.5,
        entities=["Ana"],
    )
    assert counts(await consolidated(core)) == {"merged": 1}
    stays, goes = await core.get(ALICE, memory.id), await core.get(ALICE, other.id)
    assert (goes.status, goes.status_reason, goes.next_id, goes.consolidated_into_ids) == (
        "updated",
        "consolidated",
        memory.id,
        [memory.id],
    )
    assert (stays.status, stays.content, stays.version) == (Status.ACTIVE, TEA, 1)
    assert (stays.tags, stays.entities, stays.reinforcement_count) == (
        ["drinks", "leisure"],
        ["Ana"],
        1,
    )
    assert stays.source_ids == [other.id]
    chain = await core.evolution(ALICE, other.id)
    assert [step.id for step in chain.memories] == [other.id, memory.id]
    await told_by_the_log(core, world)
    before = await world.log()
    assert counts(await consolidated(core)) == {}
    assert await world.log() == before


@here
async def test_who_stays_does_not_depend_on_who_is_new(world: World) -> None:
    for edited in (0, 1):
        core = await opened(world)
        owner = Owner("app", f"user {edited}")
        ids = [(await core.save(owner, fact(text))).memory.id for text in (TEA, OTHER)]
        if edited == 0:
            await rewritten(core, ids[0], OTHER + "!", owner=owner)
        else:
            await rewritten(core, ids[1], TEA + "!", owner=owner)
        await consolidated(core, owner)
        assert [memory.id for memory in await listed(core, owner)] == [ids[0]]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            "The backup runs every day at 3 in the night",
            "The backup runs every day at 4 in the night",
        ),
        ("User likes green tea in the garden", "User doesn't like green tea in the garden"),
        ("We met with Ana in the garden house today", "We met with Tom in the garden house today"),
        ("User prefers tea over coffee", "User prefers coffee over tea"),
        ("port = 8080", "port = 8081"),
        ("User likes green tea in the garden", "User likes black tea in the garden"),
    ],
)
@here
async def test_digits_negations_names_and_order_keep_two_apart(
    core: MemoryCore, first: str, second: str
) -> None:
    await two(core, fact(first), second)
    assert counts(await consolidated(core)) == {}
    assert len(await listed(core)) == 2


@here
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"category": "note"}, {"category": "fact"}),
        ({"agent_id": "a"}, {"agent_id": "b"}),
        ({"pinned": True}, {"pinned": True}),
        ({"entities": ["Ana"]}, {"entities": ["Tom"]}),
        ({"subject": "User", "attribute": "drink"}, {"subject": "User", "attribute": "garden"}),
        ({"valid_until": NOW + timedelta(days=1)}, {"valid_from": NOW + timedelta(days=2)}),
    ],
)
async def test_what_stands_beside_the_text_keeps_two_apart(
    core: MemoryCore, first: dict[str, Any], second: dict[str, Any]
) -> None:
    begins = {} if "valid_from" not in second else {"valid_from": second["valid_from"]}
    memory = (await core.save(ALICE, fact(TEA, **first))).memory
    other = (await core.save(ALICE, fact(OTHER, **second))).memory
    await rewritten(core, other.id, f"{TEA}.", **begins)
    assert counts(await consolidated(core)) == {}
    assert (await core.get(ALICE, memory.id)).next_id is None


@here
async def test_what_is_pinned_stays(core: MemoryCore) -> None:
    memory, other = await two(core, fact(TEA), f"{TEA}.", pinned=True)
    await consolidated(core)
    assert [memory.id for memory in await listed(core)] == [other.id]
    assert (await core.get(ALICE, memory.id)).next_id == other.id


@here
async def test_a_truth_in_a_slot_takes_in_what_is_said_beside_it(core: MemoryCore) -> None:
    plain, slotted = await two(
        core,
        fact("User lives in Oslo"),
        "User lives in Oslo.",
        subject="User",
        attribute="home city",
        value="Oslo",
    )
    await consolidated(core)
    assert [memory.id for memory in await listed(core)] == [slotted.id]
    memory = await core.get(ALICE, slotted.id)
    assert (memory.value, memory.event_timestamp, memory.valid_from) == (
        "Oslo",
        slotted.event_timestamp,
        slotted.valid_from,
    )
    assert (await core.get(ALICE, plain.id)).next_id == slotted.id


NOTE = "Ana plants roses along the long south wall of the old garden every year in early spring."
MORE = (
    "Ana plants roses along the long south wall of the old garden every year in early spring, "
    "with compost."
)


async def test_two_notes_of_which_each_adds_become_one_and_the_old_text_is_its_history(
    core: MemoryCore, world: World
) -> None:
    memory, other = await two(core, fact(NOTE, category="note"), MORE)
    world.clock.forward(60)
    assert counts(await consolidated(core)) == {"merged": 1}
    (stored_memory,) = await listed(core)
    assert (stored_memory.id, stored_memory.version, stored_memory.status) == (
        memory.id,
        2,
        Status.ACTIVE,
    )
    assert all(text.rstrip(".") in stored_memory.content for text in (NOTE, MORE))
    assert [
        version.content for version in await core.versions(ALICE, memory.id) if version.version == 1
    ] == [NOTE]
    assert (await core.get(ALICE, memory.id, at=NOW + timedelta(seconds=30))).content == NOTE
    assert (await core.get(ALICE, other.id)).next_id == memory.id
    await told_by_the_log(core, world)


@here
async def test_notes_too_long_for_one_are_linked_once(core: MemoryCore, world: World) -> None:
    long = " ".join(
        f"Ana planted rose {word} along the wall." for word in ("alpha", "beta", "gamma") * 40
    )
    long = (long + " ") * (int(0.4 * MAX_CONTENT_BYTES) // len(long) + 1)
    first, second = await two(core, fact(long, category="note"), f"{long} It was lovely.")
    assert counts(await consolidated(core)) == {"linked": 1}
    newer = await core.get(ALICE, second.id)
    assert [(link.memory_id, link.relationship_type) for link in newer.links] == [
        (first.id, "duplicate")
    ]
    await rewritten(core, second.id, f"{long} It was lovely indeed.")
    await consolidated(core)
    assert len([event for event in await world.log() if event.event_type == "linked"]) == 1
    assert len(await listed(core)) == 2


@here
async def test_three_become_one(core: MemoryCore) -> None:
    first, second = await two(core, fact(TEA), f"{TEA}!")
    third = (await core.save(ALICE, fact("Cats sleep by day"))).memory
    await rewritten(core, third.id, f"{TEA}.")
    assert counts(await consolidated(core)) == {"merged": 2}
    assert [memory.id for memory in await listed(core)] == [first.id]
    assert {(await core.get(ALICE, memory.id)).next_id for memory in (second, third)} == {first.id}


@here
async def test_only_neighbours_of_what_is_new_are_looked_at(core: MemoryCore) -> None:
    memory, other = await two(core, fact(TEA), f"{TEA}.")
    await core.delete(ALICE, other.id)
    assert counts(await consolidated(core)) == {}
    await core.restore(ALICE, other.id)  # by hand: news, and a duplicate
    assert counts(await consolidated(core)) == {"merged": 1}
    assert [memory.id for memory in await listed(core)] == [memory.id]
    await core.save(ALICE, turn("Nothing of the kind"))
    assert counts(await consolidated(core)) == {}


@here
async def test_what_was_merged_and_somebody_brought_back_is_not_merged_again(
    core: MemoryCore,
) -> None:
    first, second = await two(core, fact(TEA), f"{TEA}!")
    third = await rewritten(
        core, (await core.save(ALICE, fact("Cats sleep by day"))).memory.id, f"{TEA}."
    )
    assert counts(await consolidated(core)) == {"merged": 2}
    for memory in (second, third):
        await core.restore(ALICE, memory.id)
        assert counts(await consolidated(core)) == {}
    assert {memory.id: memory.reinforcement_count for memory in await listed(core)} == {
        first.id: 2,
        second.id: 0,
        third.id: 0,
    }


@here
async def test_what_changed_before_the_commit_is_judged_as_it_is_then(world: World) -> None:
    other = await opened(world)

    class Slow(OfflineAgents):
        async def synthesise(self, app_id: str, notes: Sequence[Any]) -> Any:
            await rewritten(other, changed[0], "Tom sells boats")
            return await super().synthesise(app_id, notes)

    rules: Agents = Slow()
    core = await opened(world, rules=rules)
    memory, two_ = await two(core, fact(NOTE, category="note"), MORE)
    changed = [memory.id]
    assert counts(await consolidated(core)) == {}
    assert sorted(memory.content for memory in await listed(core)) == sorted(
        ["Tom sells boats", MORE]
    )
    assert (await core.get(ALICE, two_.id)).status is Status.ACTIVE


@here
async def test_a_deleted_one_is_not_merged_into(world: World) -> None:
    other = await opened(world)

    class Slow(OfflineAgents):
        async def synthesise(self, app_id: str, notes: Sequence[Any]) -> Any:
            await other.delete(ALICE, gone[0])
            return await super().synthesise(app_id, notes)

    core = await opened(world, rules=Slow())
    memory, second = await two(core, fact(NOTE, category="note"), MORE)
    gone = [memory.id]
    assert counts(await consolidated(core)) == {}
    assert [memory.id for memory in await listed(core)] == [second.id]


@here
async def test_killed_at_any_write_exactly_one_of_two_stays(cold_worlds: Any) -> None:
    at, after = 1, False
    while True:
        world, moment = cold_worlds(), Moment(at, after)
        mortal = await opened(world, wrap=lambda store, moment=moment: Mortal(store, moment))
        rescuer = await opened(world)
        memory, _ = await two(rescuer, fact(TEA), f"{TEA}.")
        accepted = await rescuer.consolidate(ALICE, ConsolidateInput())
        assert isinstance(accepted, Accepted)
        with contextlib.suppress(Killed):
            await Hand(mortal, "consolidation").work_all()
        for _ in range(3):
            world.clock.forward(1000)
            await rescuer.sweep()
            await Hand(rescuer, "consolidation").work_all()
        assert (await task_of(rescuer, accepted)).status == "succeeded"
        (merged,) = await listed(rescuer)
        assert (merged.id, merged.reinforcement_count) == (memory.id, 1)
        finished, moment.dead = not moment.dead, False
        await world.close()
        if finished:
            assert at > 1
            return
        at, after = (at + 1, False) if after else (at, True)


@here
async def test_another_users_twin_is_nobodys_duplicate(core: MemoryCore) -> None:
    await core.save(BOB, fact(TEA))
    await core.save(ALICE, fact(TEA))
    await consolidated(core, ALICE)
    await consolidated(core, BOB)
    assert [len(await listed(core, owner)) for owner in (ALICE, BOB)] == [1, 1]


@here
async def test_a_dry_run_counts_and_changes_nothing(core: MemoryCore, world: World) -> None:
    await two(core, fact(TEA), f"{TEA}.")
    before = await world.log()
    seen = await core.consolidate(ALICE, ConsolidateInput(dry_run=True))
    assert isinstance(seen, Foreseen)
    assert seen.counts["near_duplicates"] == 1
    assert await world.log() == before

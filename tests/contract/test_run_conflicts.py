"""What a run of consolidation does about open conflicts: decided by rule, decided by an agent that
code can agree to, or left open.
"""

from __future__ import annotations

import contextlib
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.errors import AgentFailed, Conflict, Unavailable
from memory_core.domain.memory import Status
from memory_core.domain.requests.maintenance import ConsolidateInput, ResolveInput
from memory_core.domain.requests.memories import StatusInput, UpdateInput
from memory_core.domain.results import Accepted
from tests.builders import ALICE
from tests.conflicts import (
    check_questions,
    lives,
    now,
    open_conflict,
    open_ids,
    port,
    records_of,
    standing,
)
from tests.tasks import Hand
from tests.telling import Tellers, on_all
from tests.world import DiesAfter, Killed, WordsEmbedder, World, fact

EACH = pytest.mark.parametrize("adapter", ["sqlite", "cosmos"], indirect=True)
SQLITE = pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)


async def core_of(world: World, agents: Tellers | None = None, **options: Any) -> MemoryCore:
    """A core that calls texts near which share most of their words; its agents say that whatever
    they are asked about contradicts.
    """
    agents = agents or Tellers(rulings=on_all("DELETE"))
    return await world.core(
        embedder=WordsEmbedder(), duplicate_threshold=0.7, agents=agents, **options
    )


async def run(core: MemoryCore) -> dict[str, int]:
    """Consolidate; what it counted."""
    accepted = await core.consolidate(ALICE, ConsolidateInput())
    assert isinstance(accepted, Accepted)
    await Hand(core, "consolidation").work_all()
    task = await core.task(ALICE, accepted.task_id)
    assert task.status == "succeeded", task
    counts: dict[str, int] = (task.result or {})["counts"]
    return {name: count for name, count in counts.items() if name.startswith("conflicts")}


@EACH
async def test_of_two_that_an_agent_sets_against_each_other_the_one_told_last_holds_and_an_undo_restores_both(  # noqa: E501
    world: World,
) -> None:
    core = await core_of(world)
    old, new, name = await open_conflict(core)
    before = await now(core, old, new)
    assert await run(core) == {"conflicts_decided": 1}
    fallen, holds = await now(core, old, new)
    assert (fallen.status, fallen.next_id, holds.status) == (
        Status.SUPERSEDED,
        new.memory.id,
        Status.ACTIVE,
    )
    record = await core.conflict(ALICE, name)
    assert (record.open, record.strategy, record.by) == (False, "supersede", "scripted")
    await check_questions(world, core)
    await core.undo_conflict(ALICE, name)
    assert [standing(memory) for memory in await now(core, old, new)] == [
        standing(memory) for memory in before
    ]
    assert await run(core) == {}, "whoever takes a decision back does not want it made again"
    await check_questions(world, core)


@SQLITE
async def test_what_was_told_later_holds_also_where_it_arrived_first(world: World) -> None:
    core = await core_of(world)
    late, early = await port(core, 8080, days=3), await port(core, 8081, days=1)
    await run(core)
    fallen, holds = await now(core, early, late)
    assert (fallen.status, fallen.next_id, holds.status, holds.next_id) == (
        Status.SUPERSEDED,
        late.memory.id,
        Status.ACTIVE,
        None,
    )
    await check_questions(world, core)


@SQLITE
@pytest.mark.parametrize("operation", ["UPDATE", "SKIP", "KEEP"])
async def test_a_contradiction_that_a_model_denies_is_left_to_a_person_with_both_reasons(
    world: World, operation: str
) -> None:
    core = await core_of(world, Tellers(rulings=on_all(operation)))
    old, new, name = await open_conflict(core)
    counts = await run(core)
    assert {memory.status for memory in await now(core, old, new)} == {Status.ACTIVE}
    record = await core.conflict(ALICE, name)
    assert (record.open, record.by) == (True, "scripted")
    assert record.reason.startswith("near-equal, but different in numbers; but scripted says: ")
    assert counts == {"conflicts_left_open": 1}
    world.clock.forward(25 * 3600)
    assert await run(core) == {}, "it is a person's question now"
    await check_questions(world, core)


@SQLITE
async def test_what_nobody_can_decide_comes_up_again_after_a_day_or_when_a_side_changes_and_no_model_is_asked_twice(  # noqa: E501
    world: World,
) -> None:
    agents = Tellers(rulings=on_all("DELETE", confidence=0.5))
    core = await core_of(world, agents)
    old, _, name = await open_conflict(core)
    assert await run(core) == {"conflicts_left_open": 1}
    for _ in range(23):
        world.clock.forward(3600)
        assert await run(core) == {}
    world.clock.forward(3600)
    assert await run(core) == {"conflicts_left_open": 1}
    await core.set_status(ALICE, old.memory.id, StatusInput(status="deleted", reason="oops"))
    assert await open_ids(world) == set(), "the question ended with its side"
    assert await run(core) == {}
    assert agents.calls["conflicts"] == 1
    assert (await core.conflict(ALICE, name)).public().keys().isdisjoint({"looked_at", "moves"})


@SQLITE
async def test_a_side_that_changes_is_looked_at_at_once(world: World) -> None:
    agents = Tellers(rulings=on_all("DELETE", confidence=0.5))
    core = await core_of(world, agents)
    old, _, _ = await open_conflict(core)
    await run(core)
    await core.update(
        ALICE,
        old.memory.id,
        UpdateInput(content="the big old server listens on port 9090"),
        (await now(core, old))[0].etag,
    )
    assert await run(core) == {"conflicts_left_open": 1}
    assert agents.calls["conflicts"] == 2


@SQLITE
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
async def test_contradictions_in_a_chain_leave_the_last_one_and_a_way_to_it(
    world: World, order: tuple[int, ...]
) -> None:
    core = await core_of(world)
    saved = {number: await port(core, 8000 + number, days=number) for number in order}
    await run(core)
    await run(core)
    first, second, last = await now(core, *(saved[number] for number in range(3)))
    assert [memory.status for memory in (first, second, last)] == [
        Status.SUPERSEDED,
        Status.SUPERSEDED,
        Status.ACTIVE,
    ]
    forward = {memory.id: memory.next_id for memory in (first, second, last)}
    assert forward[last.id] is None
    assert {forward[first.id], forward[second.id]} <= {second.id, last.id}
    assert forward[second.id] == last.id
    await check_questions(world, core)


@SQLITE
@pytest.mark.parametrize("first", [0, 1])
async def test_the_decisions_of_a_chain_are_taken_back_in_any_order(
    world: World, first: int
) -> None:
    core = await core_of(world)
    # 8005 lies nearest to both others
    saved = {number: await port(core, 8003 + number, days=number) for number in (1, 2, 0)}
    await run(core)
    decided = [
        record
        for record in await records_of(world)
        if not record.open and record.strategy == "supersede"
    ]
    for record in 2 * (decided[first:] + decided[:first]):
        with contextlib.suppress(Conflict):  # another one is to be taken back before it
            await core.undo_conflict(ALICE, record.id)
    assert {(memory.status, memory.next_id) for memory in await now(core, *saved.values())} == {
        (Status.ACTIVE, None)
    }
    await check_questions(world, core)


@SQLITE
async def test_a_question_about_one_that_falls_is_asked_about_who_took_its_place(
    world: World,
) -> None:
    core = await core_of(world)
    first, second, last = [
        await core.save(ALICE, fact(f"the big old server listens on port {8000 + number}"))
        for number in range(3)
    ]
    about = {
        frozenset((record.old_id, record.new_id))
        for record in await records_of(world)
        if record.open
    }
    assert len(about) == 2
    (middle,) = frozenset.intersection(*about)
    record = next(record for record in await records_of(world) if record.old_id == middle)
    await core.resolve_conflict(ALICE, record.id, ResolveInput(decision="supersede"))
    standing = [
        memory for memory in await now(core, first, second, last) if memory.status is Status.ACTIVE
    ]
    assert len(standing) == 2
    assert [
        {record.old_id, record.new_id} for record in await records_of(world) if record.open
    ] == [{memory.id for memory in standing}]
    await check_questions(world, core)


@SQLITE
async def test_what_is_pinned_falls_to_no_run_and_by_rule_once_it_is_not_pinned_any_more(
    world: World,
) -> None:
    core = await core_of(world)
    old, new = await lives(core, "Oslo", pinned=True), await lives(core, "Lisbon", days=1)
    assert await run(core) == {"conflicts_left_open": 1}
    assert {memory.status for memory in await now(core, old, new)} == {Status.ACTIVE}
    await core.update(
        ALICE, old.memory.id, UpdateInput(pinned=False), (await now(core, old))[0].etag
    )
    assert await run(core) == {"conflicts_decided": 1}
    fallen, _ = await now(core, old, new)
    assert (fallen.status, fallen.next_id) == (Status.SUPERSEDED, new.memory.id)
    assert (await records_of(world))[0].by == "rule"


@SQLITE
async def test_an_agent_that_fails_leaves_the_question_to_the_rules_and_one_that_is_down_to_later(
    world: World,
) -> None:
    broken = Tellers(failing={"conflicts": [Unavailable("agents", "down"), AgentFailed("garbage")]})
    core = await core_of(world, broken)
    _, _, name = await open_conflict(core)
    accepted = await core.consolidate(ALICE, ConsolidateInput())
    assert isinstance(accepted, Accepted)
    await Hand(core, "consolidation").work_all()
    head = await world.head()
    assert head is not None
    assert ((await core.task(ALICE, accepted.task_id)).finished, head.consolidated_sequence) == (
        False,
        0,
    )
    world.clock.forward(3600)
    await core.sweep()
    await Hand(core, "consolidation").work_all()
    assert (await core.task(ALICE, accepted.task_id)).status == "succeeded"
    assert (await core.conflict(ALICE, name)).open, "the rules of this test decide nothing"


@SQLITE
async def test_killed_between_any_two_commits_a_run_ends_as_one_that_was_not(world: World) -> None:
    agents = Tellers(rulings=on_all("DELETE"))
    core = await core_of(world, agents)
    saved = [
        await port(core, 8000 + number, days=number, server=server)
        for server in ("big", "small", "third")
        for number in range(2)
    ]
    accepted = await core.consolidate(ALICE, ConsolidateInput())
    assert isinstance(accepted, Accepted)
    await world.end(core)
    for kill in range(12):
        dying = await core_of(
            world, agents, wrap=lambda store, kill=kill: DiesAfter(store, 1, applied=bool(kill % 2))
        )
        with contextlib.suppress(Killed):
            await Hand(dying, "consolidation").work_all()
        await world.end(dying)
        world.clock.forward(3600)
        core = await core_of(world, agents)
        await core.sweep()
        await world.end(core)
    core = await core_of(world, agents)
    await Hand(core, "consolidation").work_all()
    assert (await core.task(ALICE, accepted.task_id)).status == "succeeded"
    statuses = [memory.status for memory in await now(core, *saved)]
    assert statuses == [Status.SUPERSEDED, Status.ACTIVE] * 3
    assert agents.calls["conflicts"] == 3
    await check_questions(world, core)


@EACH
async def test_a_dry_run_counts_the_conflicts_and_asks_nobody(world: World) -> None:
    agents = Tellers(rulings=on_all("DELETE"))
    core = await core_of(world, agents)
    await open_conflict(core)
    foreseen = await core.consolidate(ALICE, ConsolidateInput(dry_run=True))
    assert foreseen.counts["conflicts"] == 1  # type: ignore[union-attr]
    assert agents.calls["conflicts"] == 0
    await check_questions(world, core)
